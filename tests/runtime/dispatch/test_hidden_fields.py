"""Fields that a class hides behind something else, always or from some call on, are what the class gives."""

from __future__ import annotations

import argparse
import sys
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from types import MemberDescriptorType, SimpleNamespace
from typing import Any

import pytest

import autograph as ag
from tests import outcomes


class Setting:
    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, thing: Any, kind: type | None = None) -> Any:
        return self if thing is None else 70

    def __set__(self, thing: Any, value: Any) -> None:
        print("set", self.name, value)


class OnlySet:
    factor = 1

    def __set__(self, thing: Any, value: Any) -> None:
        print("set", value * self.factor)


class OnlyDelete:
    factor = 1

    def __delete__(self, thing: Any) -> None:
        print("delete", thing.n * self.factor)


class Foreign:
    __slots__ = ("items", "n", "p")


HIDING: dict[str, Callable[[str], dict[str, Any]]] = {
    "property": lambda name: {name: property(lambda self: 18, lambda self, value: None)},
    "read-only": lambda name: {name: property(lambda self: 18)},
    "raising": lambda name: {name: property(lambda self: 1 // 0)},
    "descriptor": lambda name: {name: Setting()},
    "only set": lambda name: {name: OnlySet()},
    "method": lambda name: {name: lambda self: 4},
    "value": lambda name: {name: 3},
    "__getattribute__": lambda name: {
        "__getattribute__": lambda self, asked: 44 if asked == name else object.__getattribute__(self, asked)
    },
    "__setattr__": lambda name: {"__setattr__": lambda self, asked, value: print("set", asked)},
}
if sys.version_info >= (3, 11):     # Python 3.10 itself reads memory that is not the slot's, and may crash
    HIDING["slot of another class"] = lambda name: {name: vars(Foreign)[name]}


def make_data() -> Any:
    @dataclass
    class Data:
        n: int
        items: list[int] = field(default_factory=list)
        p: int = 5

    return Data(1, [5])


def make_derived() -> Any:
    @dataclass
    class Derived(type(make_data())):  # type: ignore[misc]
        q: int = 3

    return Derived(1, [5])


def make_object() -> Any:
    class Box:
        def __init__(self) -> None:
            self.n, self.items, self.p = 1, [5], 5

    return Box()


def make_slots() -> Any:
    class Slots:
        __slots__ = ("items", "n", "p")

        def __init__(self) -> None:
            self.n, self.items, self.p = 1, [5], 5

    return Slots()


def make_tuple() -> Any:
    class Point(namedtuple("Point", "n items p")):
        pass

    return Point(1, [5], 5)


def append(a, n):
    a.items.append(n)
    return a.n + n, a.p


def append_to_part(a, n):
    xs = [(a, n)]
    xs[0][0].items.append(n)
    return xs[0][0].n * n


def write(a, n):
    a.p = n * 2
    a.n = n + 1
    return a.p


def count(a, n):
    for i in range(n):
        a.n += i
    return a.n, a.p


def give(a, n):
    a.items.append(n)
    return a.p, a


@pytest.mark.parametrize("how", HIDING)
@pytest.mark.parametrize("make", [make_data, make_derived, make_object, make_slots, make_tuple])
def test_fields_that_are_hidden_later(make: Callable[[], Any], how: str) -> None:
    def run(decorate: Callable[[Any], Any]) -> list[Any]:
        done = []
        for name in ("p", "items", "n"):
            for function in (append, append_to_part, write, count, give):
                thing = make()
                content = reader(thing)
                held = SimpleNamespace(thing=thing)
                staged = decorate(function)
                captured = decorate(lambda n, function=function, held=held: function(held.thing, n))
                for step in range(3):
                    if step == 1:
                        for member, value in HIDING[how](name).items():
                            setattr(type(thing), member, value)
                    done.append(outcomes.run(lambda f=staged, a=thing: f(a, 1)))
                    done.append(outcomes.run(lambda f=captured: f(1)))
                    done.append(content())
        return done

    assert run(ag.function) == run(lambda function: function)


def reader(thing: Any) -> Callable[[], Any]:
    """What tells what an instance holds, whatever its class says of that later."""
    slots = [member for member in vars(type(thing)).values() if type(member) is MemberDescriptorType]
    if isinstance(thing, tuple):
        return lambda: list(tuple.__iter__(thing))
    if slots:
        return lambda: [slot.__get__(thing) for slot in slots]
    return lambda: repr(object.__getattribute__(thing, "__dict__"))


class Doubled(namedtuple("Doubled", "x y")):
    x = property(lambda self: self[0] * 2)

    def total(self):
        return self[0] + self.y


class Renamed(namedtuple("Renamed", "x y")):
    def y(self):
        return self[1] * 3


class Swapped(namedtuple("Swapped", "x y")):
    pass


Swapped.x, Swapped.y = Swapped.y, Swapped.x


def read(a, n):
    return a.x if n > 9 else a[0] + n, a


def read_all(a, n):
    one, two = a
    return one * n, two * n, a[1], a.x, type(a)


@pytest.mark.parametrize("kind", [Doubled, Renamed, Swapped])
@pytest.mark.parametrize("function", [read, read_all])
def test_fields_of_named_tuples_that_a_class_hides(kind: Any, function: Callable[..., Any]) -> None:
    thing = kind(2, 3)
    for n in (1, 10):
        assert outcomes.run(lambda n=n: ag.function(function)(thing, n)) == outcomes.run(lambda n=n: function(thing, n))
    staged = ag.function(lambda n: function(thing, n))
    assert outcomes.run(lambda: staged(4)) == outcomes.run(lambda: function(thing, 4))


def set_held(held, n):
    held.thing.p = n * 2
    return held.thing.n


def delete_held(held, n):
    del held.thing.p
    return held.thing.n + n


@pytest.mark.parametrize(("function", "kind"), [(set_held, OnlySet), (delete_held, OnlyDelete)])
@pytest.mark.parametrize("holder", [SimpleNamespace, argparse.Namespace])
def test_descriptors_that_read_nothing(function: Callable[..., Any], kind: Any, holder: Any) -> None:
    """What such a descriptor, or another one in its place, has come to hold is seen."""

    def run(decorate: Callable[[Any], Any]) -> list[Any]:
        held = holder(thing=make_object())
        owner = type(held.thing)
        del held.thing.p
        owner.p = kind()
        staged = decorate(lambda n: function(held, n))
        done = [outcomes.run(lambda: staged(2)) for _ in range(2)]
        owner.p.factor = 3
        done += [outcomes.run(lambda: staged(2)) for _ in range(2)]
        owner.p = type("Other", (kind,), {"factor": 7})()
        return done + [outcomes.run(lambda: staged(2)) for _ in range(2)]

    assert run(ag.function) == run(lambda function: function)


def test_plain_fields_are_still_taken_apart() -> None:
    """A change of the class that hides none of its fields makes no difference to that."""
    thing = make_data()
    staged = ag.function(append)
    staged(thing, 1)
    type(thing).total = lambda self: self.n
    staged(thing, 1)
    assert thing.items == [5, 1, 1]
    assert "(%0: py.int, %1: list, %2: py.int, n: py.int)" in str(staged.graph(thing, 1))
