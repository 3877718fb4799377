"""What has no machine code is called from it: the same outcomes, no references lost, no memory lost."""

import functools
import gc
import sys
import tracemalloc
import weakref

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.loops import python_calls
from tests import outcomes
from tests.runtime.engines.native.objects import PROGRAMS, with_changing
from tests.runtime.engines.native.programs import regions

NAMES = {"np": np, "with_changing": with_changing}


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """Let loops be machine code even if that is no gain."""
    monkeypatch.setattr(python_calls, "LOSS", 0)


def same(function, name, arguments):
    plain = PROGRAMS[name][0]
    wanted, found = outcomes.run(plain, arguments, NAMES), outcomes.run(function, arguments, NAMES)
    found.warnings = [each for each in found.warnings if each[0] != "RetraceWarning"]
    assert found == wanted
    if found.exception:
        in_numpy_too = outcomes.run(in_numpy(plain), arguments, NAMES)
        assert raised_at(found) == raised_at(in_numpy_too)


@functools.cache
def in_numpy(plain):
    return ag.function(plain)


def raised_at(outcome):
    return [place for place in outcome.places if place[2] != "warning"]


@pytest.mark.parametrize("name", PROGRAMS)
def test_same_as_python(name):
    plain, examples = PROGRAMS[name]
    function = ag.function(plain, engine="native")
    for arguments in (*examples, *reversed(examples)):
        for _ in range(3):      # what comes of Python callbacks is learned
            same(function, name, arguments)


@pytest.mark.parametrize("name", PROGRAMS)
def test_left_anywhere(name, fuel):
    """Whatever node it is left at, Python goes on as if nothing had happened."""
    plain, examples = PROGRAMS[name]
    function = ag.function(plain, engine="native")
    for _ in range(4):
        fuel.value = -1
        same(function, name, examples[0])
    for nodes in (*range(1, 40), *range(40, 400, 7)):
        fuel.value = nodes
        same(function, name, examples[0])
        if fuel.value > 0:
            break


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_is_lost(name):
    """No references, so no memory, however often it runs and wherever it ends."""
    plain, examples = PROGRAMS[name]
    function = ag.function(plain, engine="native")

    def run(times):
        for _ in range(times):
            for arguments in examples:
                outcomes.run(function, arguments, NAMES)
        gc.collect()
        return np.array([tracemalloc.get_traced_memory()[0] / 1000, sys.getrefcount(None), len(gc.get_objects())])

    run(5)
    tracemalloc.start()
    before, after = run(3), run(25)
    tracemalloc.stop()
    assert np.all(after - before < 20), after - before


def test_memory_does_not_grow():
    def iterations(n):
        total = 0.0
        for i in range(n):
            a = np.zeros(100_000)
            b = a[1:] + i
            total += b[i] * 2 + a[0]
            if i % 2:
                total += b[0] - len(a[::2])
        return total

    function = ag.function(iterations, engine="native")
    for _ in range(3):
        assert function(9) == iterations(9)
    tracemalloc.start()
    function(50)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * 800_000


def test_references_of_what_goes_in_and_out():
    def last(things, x, n):
        found = None
        for i in range(n):
            found = things[i % 3]
            x[i] += i * 2
            if i == 7:
                found.nothing
        return found, x

    function = ag.function(last, engine="native")
    things, x = [np.ones(2), np.ones(3), np.arange(4)], np.zeros(9)

    def counts(times):
        for _ in range(times):
            assert function(things, x, 5)[0] is things[1]
            with pytest.raises(AttributeError):
                function(things, x, 9)
        return [sys.getrefcount(each) for each in (*things, x, things)]

    before = counts(5)
    assert counts(50) == before


def test_objects_die_in_time():
    """At the latest when what they were the value of is another one's."""

    class Thing:
        pass

    alive = []

    def make(i):
        thing = Thing()
        things.append(weakref.ref(thing))
        alive.append(sum(each() is not None for each in things))
        return thing

    def iterations(n):
        total = 0
        for i in range(n):
            thing = ag.do_not_convert(make)(i)
            total += i * 3
        return total

    function = ag.function(iterations, engine="native")
    for _ in range(3):
        things = []
        alive.clear()
        assert function(6) == 45
        assert max(alive) <= 2


def test_what_is_no_gain_stays_in_python(monkeypatch):
    """Where most is Python's, calling it from machine code takes longer than Python does."""
    monkeypatch.undo()

    def count(xs):
        found = []
        for i in range(len(xs)):
            for j in range(len(xs) - 1 - i):
                found.append(f"{xs[j]}")
        return found

    def total(xs):
        found = 0.0
        for x in xs:
            found += x * x - 1
        return found

    reasons = []
    for function in (count, total):
        native = ag.function(function, engine="native")
        for _ in range(3):
            native([0.5 * i for i in range(99)])
        reasons.append("all its operations call Python" in str(native.explain([1.5] * 99)))
    assert reasons == [True, False]


def test_there_is_an_end_to_learning():
    """What is of another kind each time is an object like any other in the end."""

    def iterations(things):
        found = []
        for x in things:
            y = x[0]
            y = y * 2
            found.append((y, x[1]))
        return found

    function = ag.function(iterations, engine="native")
    kinds = [1, 2.5, np.float32(3), np.arange(3), np.ones((2, 2)), "ab", np.arange(6.0)[::2], np.int8(3), 2**70, 1j]
    things = [(a, b) for a in kinds for b in kinds]
    for _ in range(3):
        assert repr(function(things)) == repr(iterations(things))
    (region,) = regions(function)
    assert sum(region.left.values()) < 60


class Countdown:
    """An iterator that is no iterable."""

    def __init__(self, start):
        self.left = start

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        return self.left


class Counted:
    def __init__(self, start):
        self.start = start

    def __iter__(self):
        return Countdown(self.start)


def test_iterators_that_are_no_iterables(fuel):
    def total(things):
        found = 0
        for x in things:
            found = found * 2 + x
        return found

    function = ag.function(total, engine="native")
    for nodes in (-1, -1, -1, *range(1, 12)):
        fuel.value = nodes
        assert function(Counted(5)) == total(Counted(5))
