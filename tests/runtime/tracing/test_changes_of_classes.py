"""Objects that change their class, and classes that change what their instances are, while a staged function runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag


class Idle:
    def __init__(self, x):
        self.x = x

    def step(self, limit):
        self.x += 1
        if self.x > limit:
            self.__class__ = Busy
        return 1


class Busy(Idle):
    def step(self, limit):
        self.x += 2
        return 5


class Routed(Idle):
    """Changes its class by an attribute of another name."""

    def __setattr__(self, name, value):
        super().__setattr__("__class__" if name == "kind" else name, value)


class Pair:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y


class Crossed(Pair):
    __slots__ = ()


Crossed.x, Crossed.y = Pair.y, Pair.x


class Doubled(Pair):
    alias = Pair.x


def by_its_method(a, n):
    total = 0
    for _ in range(n):
        total += a.step(2)
    return total, type(a).__name__


def at_once(a, n):
    a.__class__ = Busy
    return a.step(n), isinstance(a, Busy)


def under_a_condition(a, n):
    if n > 2:
        a.__class__ = Busy
    return a.step(n)


def of_a_new_object(a, n):
    b = Idle(n)
    if n > 2:
        b.__class__ = Busy
    return b.step(n), b


def by_setattr(a, n):
    for i in range(n):
        setattr(a, "__class__", Busy if i % 2 else Idle)
        a.step(100)
    return a.x


def past_its_class(a, n):
    for i in range(n):
        if i > 1:
            object.__setattr__(a, "__class__", Busy)
        a.step(100)
    return a.x


def by_another_name(a, n):
    b = Routed(0)
    for i in range(n):
        if i > 1:
            b.kind = Busy
        b.step(100)
    return b.x, b


def of_many(a, n):
    team = [a, Idle(3)]
    for each in team:
        each.__class__ = Busy
    return [each.step(n) for each in team], team


def as_a_target(a, n):
    for a.__class__ in (Idle, Busy, Busy)[: n % 4]:
        a.step(100)
    return a.x


def method_in_a_loop(a, n):
    total = 0
    for i in range(n):
        if i > 1:
            type(a).step = lambda self, limit: 40
        total += a.step(n)
    return total


def method_in_a_branch(a, n):
    if n > 2:
        Idle.step = Busy.step
    return a.step(n)


def name_of_a_class(a, n):
    if n > 2:
        Idle.__name__ = "Renamed"
    return type(a).__name__


def bases_of_a_class(a, n):
    for i in range(n):
        if i > 2:
            Busy.__bases__ = (Routed,)
    return issubclass(Busy, Routed)


def slots_under_other_names(a, n):
    best = Crossed(0, 0)
    for i in range(n):
        other = Crossed(i, best.y + 1)
        if other.y > best.x:
            best = other
        best.y += 1
    return best.x, best.y, Pair.x.__get__(best)


def slots_under_two_names(a, n):
    p = Doubled(1, 2)
    for i in range(n):
        p.alias += i
        p.x *= 2
    return p.x, p.alias


PROGRAMS = [each for each in list(globals().values()) if callable(each) and each.__name__.islower()]


STEP = Idle.step


@pytest.mark.parametrize("engine", ["numpy", "native", None])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_programs(program: Callable[..., Any], engine: str | None) -> None:
    def outcome(function: Callable[..., Any], n: int) -> Any:
        a = Idle(1)
        try:
            return flat((function(a, n), a))
        finally:
            Idle.step, Idle.__name__, Busy.__bases__ = STEP, "Idle", (Idle,)

    staged = ag.function(program, engine=engine)
    for n in (5, 5, 1, 3):
        assert outcome(staged, n) == outcome(program, n)


def flat(value: Any) -> Any:
    if isinstance(value, Idle):
        return type(value).__name__, vars(value)
    return [flat(part) for part in value] if isinstance(value, (list, tuple)) else value
