"""Functions that are handed to code which is not staged, and change what the function that hands them reads."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag
from autograph.runtime.tracing.calls import handed_functions
from autograph.runtime.tracing.calls.handed_functions import may_change_others


class Counter:
    """Counts the reports that it gets."""

    def __init__(self) -> None:
        self.count, self.seen = 0, []

    def step(self, x: Any) -> Any:
        self.count += 1
        self.seen.append(x)
        return x

    @property
    def twice(self) -> Any:
        self.count += 2
        return self.count


class Calling:
    def __init__(self, counter: Counter) -> None:
        self.counter = counter

    def __call__(self, p: Any, x: Any) -> Any:
        return self.counter.step(x)


COUNTER, NUMBERS, TOTAL = Counter(), [0], 0


def step(x):
    return COUNTER.step(x)


def note(x):
    NUMBERS.append(x)
    return x


def add(x):
    global TOTAL
    TOTAL += 1
    return x


def by_a_lambda(n, t):
    before = t.count
    functools.reduce(lambda p, x: p + t.step(x), range(n), 0)
    return t.count - before


def by_a_property(n, t):
    before = t.count
    found = sorted(range(n), key=lambda x: x * t.twice)
    return t.count - before, found


def by_a_global_object(n, t):
    before = COUNTER.count
    functools.reduce(lambda p, x: p + step(x), range(n), 0)
    return COUNTER.count - before


def by_a_global_list(n, t):
    before = len(NUMBERS)
    functools.reduce(lambda p, x: p + note(x), range(n), 0)
    return len(NUMBERS) - before, NUMBERS[-1]


def by_a_global(n, t):
    before = TOTAL
    functools.reduce(lambda p, x: p + add(x), range(n), 0)
    return TOTAL - before


def by_an_argument(n, t):
    before = len(t.seen)
    seen = t.seen
    functools.reduce(lambda p, x: seen.append(x), range(n), 0)
    return len(t.seen) - before


def by_a_partial(n, t):
    before = t.count
    functools.reduce(functools.partial(lambda t, p, x: t.step(x), t), range(n), 0)
    return t.count - before


def by_an_object(n, t):
    before = t.count
    functools.reduce(Calling(t), range(n), 0)
    return t.count - before


def by_a_key(n, t):
    before = t.count
    found = max(range(n), key=lambda x: t.step(x), default=0)
    return t.count - before, found, list(map(lambda x: t.step(x), range(n))), t.count - before


def by_a_pattern(n, t):
    before = t.count
    return re.sub("a", lambda match: str(t.step(n)), "aba"), t.count - before


def by_accumulating(n, t):
    before = t.count
    return list(itertools.accumulate(range(n), lambda p, x: t.step(x))), t.count - before


PROGRAMS = [
    by_a_lambda, by_a_property, by_a_global_object, by_a_global_list, by_a_global, by_an_argument, by_a_partial,
    by_an_object, by_a_key, by_a_pattern, by_accumulating,
]  # fmt: skip


@pytest.mark.parametrize("engine", ["numpy", "auto"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_changes_are_seen(program: Callable[..., Any], engine: str) -> None:
    staged = ag.function(program, engine=engine)
    for n in (2, 3, 0):
        assert staged(n, Counter()) == program(n, Counter())


def test_changes_by_a_function_that_is_not_converted_are_seen() -> None:
    @ag.do_not_convert
    def touch(x):
        COUNTER.count += x
        COUNTER.seen.append(x)

    def reported(x):
        before, length = COUNTER.count, len(COUNTER.seen)
        touch(x)
        return COUNTER.count - before, len(COUNTER.seen) - length

    staged = ag.function(reported)
    assert [staged(x) for x in (1, 2, 2.5)] == [(1, 1), (2, 1), (2.5, 1)]


def test_what_changes_nothing_is_staged() -> None:
    t, scale = Counter(), 2.0
    assert not may_change_others(lambda x: x * scale + t.count)
    assert not may_change_others(abs)
    assert may_change_others(lambda x: t.step(x))
    assert may_change_others(functools.partial(Counter.step, t))
    staged = ag.function(lambda n, t: sorted(range(n), key=lambda x: -x * t.count), strict="plain")
    assert staged(3, t) == [0, 1, 2]


class Link:
    def __init__(self, following: Any) -> None:
        self.following = following


def test_each_object_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The names in code lead from one to the next."""
    looked: list[Any] = []
    whole = handed_functions.attributes
    monkeypatch.setattr(handed_functions, "attributes", lambda thing: looked.append(thing) or whole(thing))
    head = None
    for _ in range(2000):
        head = Link(head)
    found = handed_functions.Changes(lambda: head.following)  # type: ignore[attr-defined]
    assert len(looked) == len(found.objects) == 2000 and not found.has_effects
