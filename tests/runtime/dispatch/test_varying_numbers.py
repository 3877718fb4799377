"""Numbers around a function that change from call to call: two traces, and then one for all values."""

from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import autograph as ag

RATE, PLACE = 1.0, 0


class Layer:
    def __init__(self, size):
        self.size = size

    @ag.function
    def scaled(self, x):
        return self.size * x

    @ag.function
    def zeros(self):
        return np.zeros(self.size)

    @ag.function
    def summed(self, x):
        total = 0
        for i in range(self.size):
            total += i * x
        return total

    @ag.function
    def sign(self, x):
        return x if self.size > 2 else -x

    @ag.function
    def grown(self, x):
        self.size += 1
        return self.size * x

    @ag.function
    def named(self, x):
        return getattr(x, "real" if self.size % 2 else "imag")


class Net:
    def __init__(self, size):
        self.layer = Layer(size)

    @ag.function
    def scaled(self, x):
        return self.layer.size * x


METHODS = [Layer.scaled, Layer.summed, Layer.sign, Layer.grown]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__name__)
@pytest.mark.parametrize("x", [2, 0.5])
def test_of_objects(method, x):
    for size in [1, 2, 3, 7, 2, 1]:
        staged, plain = Layer(size), Layer(size)
        result, wanted = method(staged, x), method.python_function(plain, x)
        assert (type(result), result) == (type(wanted), wanted)
        assert staged.size == plain.size
    assert len([trace for trace in method.traces if trace.calls]) <= 2
    assert all("self" not in trace.reason or "from now on" in trace.reason for trace in method.traces)


def test_of_objects_in_objects():
    assert [Net(size).scaled(2) for size in range(9)] == [*range(0, 18, 2)]
    assert [trace.number for trace in Net.scaled.traces] == [2]
    assert Net(1.5).scaled(2) == 3.0
    assert "the class of self.layer.size changed" in Net.scaled.traces[-1].reason


def test_of_shapes():
    assert [Layer(size).zeros().shape for size in range(9)] == [(size,) for size in range(9)]
    assert len(Layer.zeros.traces) == 1


def test_that_a_trace_needs_to_know():
    assert [Layer(size).named(2) for size in range(4)] == [0, 2, 0, 2]


def test_of_modules_and_closures(monkeypatch):
    factor = 0

    @ag.function
    def f(x, xs):
        return x * RATE + factor, xs[PLACE]

    for step in range(6):
        monkeypatch.setitem(globals(), "RATE", step / 2)
        monkeypatch.setitem(globals(), "PLACE", step)
        factor = step * 10
        assert f(3, (0, 1, 2, 3, 4, 5)) == (3 * step / 2 + step * 10, step)
    assert len(f.traces) == 1 and f.traces[0].number <= 4


def test_flags_are_told_apart():
    class Mode:
        fast = True

    mode = Mode()
    f = ag.function(lambda mode, x: x + 1 if mode.fast else x - 1)
    for mode.fast in [True, False, True, False]:
        assert f(mode, 1) == (2 if mode.fast else 0)
    assert len(f.traces) == 2


@pytest.mark.parametrize("make", [Fraction, Decimal, lambda n: timedelta(days=n), lambda n: Path(str(n)), np.float32])
def test_quantities_of_objects(make):
    @ag.function
    def f(layer, other):
        return layer.size, layer.size == other

    for n in range(5):
        assert f(Layer(make(n)), make(2)) == (make(n), n == 2)
    assert len(f.traces) == 1 and f.traces[0].number <= 2


class Holder:
    """Its containers have other contents in each instance; two attributes are one list."""

    def __init__(self, size):
        self.size = size
        self.items = self.same = list(range(size))
        self.table = {"size": size}
        self.pair = size, 2 * size


def change_by_another_name(self, x):
    self.same[0] = x
    return self.items[0], self.items is self.same


def replace(self, x):
    self.items = [item * x for item in self.items]
    return self.items, self.same


def change_in_branches(self, x):
    if x > 2:
        self.items.append(x)
    else:
        self.table["size"] += self.items.pop()
    return self.items


def iterate(self, x):
    total = 0
    for item in self.items:
        total += item * x
    first, second = self.pair
    return total, first, second, self.pair


def call(self, x):
    def shifted(item):
        return item + self.size

    return [shifted(item) for item in self.items], sorted(self.items, reverse=True), x in self.items, len(self.items)


def look_up(self, x):
    return self.items[x], self.items[1:x], self.table["size"], self.pair == (3, 6)


def fail(self, x):
    return self.items[100]


PROGRAMS = [change_by_another_name, replace, change_in_branches, iterate, call, look_up, fail]


def outcome(function, size, x):
    holder = Holder(size)
    try:
        result = repr(function(holder, x))
    except IndexError as error:
        result = repr(error)
    return result, vars(holder), holder.items is holder.same


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_containers_of_objects(program):
    staged = ag.function(program)
    for size in [3, 4, 5, 6, 3, 4]:
        for x in (2, 3):
            assert outcome(staged, size, x) == outcome(program, size, x)
    assert staged.traces[-1].number <= 5
