"""Guards of the attributes that objects have: in slots, in a `__dict__`, or in both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag
from tests import outcomes


class Slots:
    __slots__ = ("x", "y", "z")


class Private:
    __slots__ = ("__hidden", "x", "y", "z")


class Both(Slots):
    """Has a `__dict__`, too."""


class Keyword:
    __slots__ = ("class", "x", "y", "z")


class Default:
    """Its slot `z` gives another value while it is empty."""

    __slots__ = ("x", "y", "z")

    def __getattr__(self, name: str) -> Any:
        print("no", name)
        return 5


class Covered(Slots):
    """Hides the slot `z`."""

    @property
    def z(self) -> Any:  # type: ignore[override]
        return 7


KINDS = [Slots, Private, Both, Keyword, Default, Covered]


def made(kind: Any, **parts: Any) -> Any:
    thing = kind()
    for name, part in {"x": 1, "y": 2.5, **parts}.items():
        setattr(thing, name, part)
    return thing


def add(thing: Any, step: Any) -> Any:
    thing.x += step
    return thing.x + thing.y


def ask(thing: Any, step: Any) -> Any:
    thing.x += step
    return hasattr(thing, "z"), thing.x


def read(thing: Any, step: Any) -> Any:
    thing.x += step
    return thing.z


def change(thing: Any, name: str) -> None:
    if name == "y":
        del thing.y
    elif type(thing) is Covered and name == "z":
        Slots.z.__set__(thing, 1)  # type: ignore[attr-defined]
    elif name == "z" or hasattr(thing, "__dict__"):
        setattr(thing, name, 4)


@pytest.mark.parametrize("function", [add, ask, read])
@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind in KINDS for name in ("z", "y", "other") if kind is not Default or name == "z"],
)
def test_slots_that_are_emptied_and_filled_between_calls(function: Any, kind: Any, name: str) -> None:
    def run(decorate: Callable[[Any], Any]) -> list[Any]:
        done = []
        function_ = decorate(function)
        for full in ({}, {"z": 3} if kind is not Covered else {}):
            thing = made(kind, **full)
            names = {"function": function_, "thing": thing}
            done += [outcomes.run(lambda thing, step: function_(thing, step), "thing, 1", names) for _ in range(3)]
            if name == "z" and full:
                del thing.z
            else:
                change(thing, name)
            done += [outcomes.run(lambda thing, step: function_(thing, step), "thing, 2", names) for _ in range(3)]
            if name == "y":
                thing.y = 9
                done.append(outcomes.run(lambda thing, step: function_(thing, step), "thing, 2", names))
        return done

    assert run(ag.function) == run(lambda function: function)


def test_a_trace_serves_all_objects_whose_slots_are_filled() -> None:
    staged = ag.function(add)
    for each in range(5):
        assert staged(made(Slots, y=each + 0.5, z=None), 1) == each + 2.5
    assert len(staged.traces) <= 3


def test_lists_of_objects_that_change_their_kinds_of_attributes() -> None:
    def total(things: Any) -> Any:
        found = 0
        for thing in things:
            thing.x += 1
            found += thing.x * thing.y
        return found

    def run(function: Any) -> list[Any]:
        done = []
        things = [made(Slots, x=k, y=k / 2) for k in range(6)]
        for step in range(8):
            if step == 3:
                things[2].y = 4
            if step == 4:
                things[1] = things[0]
            if step == 5:
                things[3] = made(Both, y=1.5)
            if step == 6:
                del things[4].y
            if step == 7:
                things[4].y = 1.0
            done.append(outcomes.run(lambda things: function(things), "things", {"things": things}))
        return done

    assert run(ag.function(total)) == run(total)


class Stepping:
    __slots__ = ("extra", "x")

    def step(self) -> Any:
        self.x += 1
        return getattr(self, "extra", 0) + self.x


class Named(Stepping):
    """Its objects may hide a method."""


@pytest.mark.parametrize("kind", [Stepping, Named])
def test_names_of_the_class_that_an_object_comes_to_hide(kind: Any) -> None:
    def run(function: Any) -> list[Any]:
        thing, done = kind(), []
        thing.x = 1
        for step in range(6):
            if step == 2:
                thing.extra = 100
            if step == 4 and kind is Named:
                thing.step = lambda: "hidden"
            done.append(function(thing))
        return done

    assert run(ag.function(lambda thing: thing.step())) == run(lambda thing: thing.step())
