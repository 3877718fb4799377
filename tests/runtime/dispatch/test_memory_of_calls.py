"""What calls of staged functions leave behind, of each kind there is: nothing."""

from __future__ import annotations

import contextlib
import gc
import weakref

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.loops import tiering
from tests.runtime.dispatch.test_memory import growth

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("few_objects")]


class Counter:
    def __init__(self):
        self.weights, self.count = np.ones(3), 0

    @ag.function
    def step(self, x):
        if x.sum() > 0:
            self.count += 1
        return x * self.weights


@ag.function
def halved(x, iterations):
    for _ in range(iterations):
        x = x - 1 if x > 3 else x * 2
    return x


@ag.function
def changed(x):
    y = x * 2
    y[0] = 5
    return y


@ag.function
def regrouped(parts, pair):
    a, b = pair
    return {"sum": parts["a"] + a, "list": [b, parts["b"]]}


@ag.function
def grown(count):
    found = []
    while len(found) < count:
        found.append(count)
    return found


@ag.function
def refused(x):
    if x > 0:
        raise ValueError("positive")
    return x


@ag.function
def unbound(x):
    if x < 0:
        y = x
    return y


@ag.function
def plain(x):
    try:
        return np.linalg.inv(x)
    except np.linalg.LinAlgError:
        return 0


@ag.function(static_argnames="n", max_traces=8)
def static(x, n):
    return x + n if x > n else x


def fresh(number):
    return ag.function(lambda x: x + number if x > 0 else x)(1.5)


COUNTER, ARRAY = Counter(), np.arange(3.0)
CALLS = {
    "numbers": lambda i: halved(i % 7 + 0.5, 3),
    "integers of any length": lambda i: halved(i << i % 90, 2),
    "arrays": lambda i: changed(ARRAY),
    "shapes": lambda i: changed(np.ones(1 + i % 50)),
    "methods": lambda i: COUNTER.step(ARRAY),
    "objects": lambda i: Counter().step(ARRAY),
    "structures": lambda i: regrouped({"a": i, "b": ARRAY}, (1, 2.0)),
    "lists that grow": lambda i: grown(i % 5),
    "errors": lambda i: refused(1.0),
    "unbound variables": lambda i: unbound(1.0),
    "plain Python": lambda i: plain(np.eye(2)),
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    """Let there be all machine code from the beginning, if there will be any."""
    monkeypatch.setattr(tiering, "PATIENCE", 0)


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("times", [2000, pytest.param(1_000_000, marks=pytest.mark.slow)])
def test_calls_leave_nothing(kind, times):
    def call(number):
        with contextlib.suppress(ValueError, UnboundLocalError):
            CALLS[kind](number)

    assert growth(call, times) < 5000


@pytest.mark.filterwarnings("ignore::autograph.errors.RetraceWarning")
@pytest.mark.parametrize("times", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_signatures_leave_nothing_but_the_traces_that_are_kept(times):
    for number in range(8):
        static(1.5, number)
    assert growth(lambda number: static(1.5, number + 8), times) < 250_000  # what the kept ones take
    assert len(static.traces) == 8


@pytest.mark.parametrize("times", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_functions_leave_nothing(times):
    assert growth(fresh, times) < 10_000


class Box:
    def __init__(self):
        self.items = np.ones(3)


def handles(box):
    try:
        return box.items[0]
    except IndexError:
        return 0


def defines(box):
    class Inner:
        items = box.items

    return Inner.items


def asks(box):
    if box.items[0] > 3:
        raise  # noqa: PLE0704
    return {box.items[0]: 1}


def refuses(box):
    return ag.no_such_thing(box)


@pytest.mark.parametrize("function", [handles, defines, asks, refuses, lambda box: box.items + 1])
def test_no_object_is_kept_by_a_trace_whatever_becomes_of_it(function):
    staged, box = ag.function(function), Box()
    kept = weakref.ref(box)
    with contextlib.suppress(AttributeError):
        staged(box)
    del box
    gc.collect()
    assert kept() is None
