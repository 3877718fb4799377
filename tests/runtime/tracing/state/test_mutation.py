"""Traced code that replaces what sets an attribute of instances: slots, properties and other descriptors of a class."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag


class Doubling:
    def __get__(self, thing, kind=None):
        return self if thing is None else vars(thing)["x"]

    def __set__(self, thing, value):
        vars(thing)["x"] = value * 2


def classes() -> tuple[Any, Any]:
    """An object whose attributes are slots, and one that has a `__dict__`, of new classes."""

    class Slots:
        __slots__ = ("x", "y")

        def __init__(self, x, y):
            self.x, self.y = x, y

    class Plain(Slots):
        half = property(lambda self: self.x / 2, lambda self, value: setattr(self, "x", value * 2))

    return Slots(1.5, -0.5), Plain(2.5, 4.5)


def exchanged(thing, _):
    thing.y -= thing.x
    kind = type(thing)
    kind.x, kind.y = kind.y, kind.x
    thing.x += 10
    return thing.x, thing.y


def renamed(thing, _):
    thing.x = 7.0
    setattr(type(thing), "x", type(thing).y)
    return thing.x, thing.y


def deleted(thing, _):
    thing.x, slot = 7.0, type(thing).x
    del type(thing).x
    return slot.__get__(thing), thing.y, hasattr(thing, "x")


def property_added(_, thing):
    thing.z = 3.0
    type(thing).z = property(lambda self: 5.0, lambda self, value: None)
    return thing.z, vars(thing)


def property_removed(_, thing):
    thing.half = 3.0
    del type(thing).half
    thing.half = 1.0
    return thing.x, thing.half, vars(thing)


def descriptor_added(_, thing):
    vars(thing)["x"] = thing.x
    type(thing).x = Doubling()
    thing.x = thing.x + 1.0
    return thing.x, thing.y


def looped(thing, _):
    kind = type(thing)
    for k in range(3):
        thing.x += k
        kind.x, kind.y = kind.y, kind.x
    return thing.x, thing.y


FUNCTIONS = [exchanged, renamed, deleted, property_added, property_removed, descriptor_added, looped]


def attributes(thing: Any) -> list[Any]:
    return [getattr(thing, name, None) for name in ("x", "y", "half", "z")]


@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_is_as_in_plain_python(function: Callable[..., Any], engine: str) -> None:
    staged = ag.function(function, engine=engine)
    for _ in range(2):
        expected, given = classes(), classes()
        assert staged(*given) == function(*expected)
        assert [*map(attributes, given)] == [*map(attributes, expected)]


def test_it_is_reported() -> None:
    reported = str(ag.function(exchanged).explain(*classes()).where(kind="plain"))
    assert "x` is set or deleted, which decides how that attribute of instances is set" in reported
