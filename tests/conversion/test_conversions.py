"""Conversions are shared, and made anew where what they took for builtins are names of the module."""

from types import FunctionType

import numpy as np
import pytest

import autograph as ag


def measured(xs):
    return len(xs) + 1


def repeated(x):
    total = 0.0
    for i in range(3):
        total += x * i
    return total


def largest(x):
    return max(x, 2)


def nested(x):
    def inner(y):
        return abs(y)

    return inner(x) + 1


def summed(x):
    return sum([x, x])


def bound(x):
    return float(x)


CASES = [
    (measured, "len", (np.ones(3),), lambda xs: 42),
    (repeated, "range", (2.0,), lambda n: [10, 20]),
    (largest, "max", (3,), lambda *values: -1),
    (nested, "abs", (-3,), lambda x: x),
    (summed, "sum", (3,), lambda values: 0),
    (bound, "float", (3,), lambda x: "float"),
]


@pytest.mark.parametrize(("function", "name", "args", "own"), CASES)
@pytest.mark.parametrize("stage", [ag.function, ag.convert])
def test_names_that_a_module_defines_later(function, name, args, own, stage, monkeypatch):
    before = stage(function)(*args)
    assert np.array_equal(before, function(*args))
    monkeypatch.setitem(globals(), name, own)
    assert stage(function)(*args) == function(*args) != before
    monkeypatch.undo()
    assert stage(function)(*args) == before


def test_traces_made_later(monkeypatch):
    staged = ag.function(largest)
    assert staged(3) == 3
    monkeypatch.setitem(globals(), "max", lambda *values: -1)
    assert staged(2.5) == -1


def test_one_code_in_two_modules():
    names = {**globals(), "max": lambda *values: -1}
    other = FunctionType(largest.__code__, names, "largest")
    for _ in range(2):
        assert [ag.convert(largest)(3), ag.convert(other)(3)] == [3, -1]
        assert [ag.function(largest)(3), ag.function(other)(3)] == [3, -1]
