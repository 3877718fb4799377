"""Objects of the user's classes that a staged function makes: the graph runs no code of the class to make them."""

from __future__ import annotations

import dataclasses
import gc
import math
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests import outcomes


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x: Any) -> None:
        self.x, self.y = math.cos(x), x + 1


class Plain:
    def __init__(self, x: Any) -> None:
        self.y = x + 1
        self.x = x * 2.0


class Child(Slotted):
    """Has a slot, and a `__dict__` as well."""

    def __init__(self, x: Any) -> None:
        super().__init__(x)
        self.z = self.x


@dataclasses.dataclass
class Point:
    x: Any
    y: Any = 2.5


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: Any
    y: Any = 2.5


class Checked:
    """Its `__setattr__` is the user's, which must not run a second time."""

    def __init__(self, x: Any) -> None:
        self.x = x

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value * 3)


class Hidden:
    """Its property hides what the `__dict__` has under that name."""

    def __init__(self, x: Any) -> None:
        self.__dict__["x"] = x

    @property
    def x(self) -> Any:
        return self.__dict__["x"] + 1


class Oddly:
    """Has attributes whose names Python code cannot write after a dot."""

    def __init__(self, x: Any) -> None:
        self.__dict__["a b"] = x
        self.__dict__["class"] = x + 1
        self.__private = x + 2

    def private(self) -> Any:
        return self.__private


class Empty:
    pass


CLASSES = [Slotted, Plain, Child, Point, Frozen, Checked, Hidden, Oddly]


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("staged", [False, True])
def test_objects_made_in_a_loop_are_those_of_plain_python(kind: Any, staged: bool) -> None:
    def make(n: Any) -> Any:
        found = []
        for k in range(n):
            found.append(kind(k))
        return found

    def contents(made: Any) -> Any:
        held = getattr(made, "__dict__", None)
        return type(made), held, list(held or ()), [getattr(made, name, None) for name in ("x", "y", "z")]

    made = (ag.function(make) if staged else make)(30)
    assert [contents(each) for each in made] == [contents(kind(k)) for k in range(30)]
    assert len(set(map(id, made))) == 30


def test_the_graph_sets_attributes_as_the_user_would() -> None:
    def make(n: Any) -> Any:
        found = []
        for k in range(n):
            found.append(Slotted(k))
        return found

    text = str(ag.function(make).lower(30))
    assert "new(Slotted)" in text
    assert ".x = " in text
    assert ".y = " in text


def test_the_graph_does_not_run_a_setter_of_the_user_again() -> None:
    text = str(ag.function(lambda x: Checked(x)).lower(2.0))
    assert "set_attribute(" in text


@pytest.mark.parametrize("kind", [Point, Frozen])
def test_a_list_comprehension_of_dataclasses(kind: Any) -> None:
    def make(n: Any) -> Any:
        return [kind(k, k * 0.5) for k in range(n)]

    staged = ag.function(make)
    assert staged(30) == make(30)
    assert f"new({kind.__name__})" in str(staged.lower(30))


def test_a_variable_of_the_same_name_as_its_part() -> None:
    def make(n: Any) -> Any:
        thing = 0.0
        for k in range(n):
            thing = thing + k
            thing = Point(thing, thing).x
        kept = Point(thing)
        kept = Point(kept, kept)
        return kept, [kept]

    def nested(n: Any) -> Any:
        found: list[Any] = []
        for k in range(n):
            b = k * 2.0
            b = Point(b, b)  # type: ignore[assignment]
            found.append(b)
        return [(each.x, each.y) for each in found]

    for function in (make, nested):
        assert ag.function(function)(30) == function(30)


def test_a_constructor_that_raises_midway() -> None:
    def make(n: Any) -> Any:
        found = []
        for k in range(n):
            found.append(Slotted(math.sqrt(20 - k)))
        return found

    assert outcomes.run(ag.function(make), "30") == outcomes.run(make, "30")


def test_an_object_within_try_is_staged() -> None:
    def make(x: Any) -> Any:
        try:
            made = Empty()
        except ValueError:
            made = None
        return made, x + 1

    staged = ag.function(make)
    assert type(staged(2.0)[0]) is Empty
    assert not staged.traces[-1].plain
    assert staged(2.0)[0] is not staged(2.0)[0]


def test_lifetimes_are_those_of_plain_python() -> None:
    done: list[Any] = []

    class Mortal:
        def __init__(self, x: Any) -> None:
            self.x = x

        def __del__(self) -> None:
            done.append(self.x)

    def make(n: Any) -> Any:
        found = []
        for k in range(n):
            found.append(Mortal(k))
        return found

    def run(function: Callable[..., Any]) -> list[Any]:
        done.clear()
        made = function(5)
        alive = weakref.ref(made[3])
        del made
        gc.collect()
        return [sorted(done), alive()]

    run(staged := ag.function(make))
    assert run(staged) == run(make)


def patched_set(self: Any, name: str, value: Any) -> None:
    object.__setattr__(self, name, value + 100)


@pytest.mark.parametrize("name", ["__setattr__", "x", "__init__"])
def test_a_class_that_is_patched_between_calls(name: str, monkeypatch: Any) -> None:
    class Patched:
        def __init__(self, x: Any) -> None:
            self.x = x
            self.y = x

    def make(n: Any) -> Any:
        found = []
        for k in range(n):
            found.append(Patched(k))
        return found

    def contents(function: Any) -> Any:
        return [(each.x, each.__dict__) for each in function(30)]

    new = {
        "__setattr__": patched_set,
        "x": property(lambda self: self.y * 7, lambda self, value: self.__dict__.update(y=value - 1)),
        "__init__": lambda self, x: patched_set(self, "x", x),
    }[name]
    staged = ag.function(make)
    for _ in range(2):
        assert contents(staged) == contents(make)
        with monkeypatch.context() as patch:
            patch.setattr(Patched, name, new, raising=False)
            assert contents(staged) == contents(make)


def test_parts_that_are_arrays_are_kept_and_not_copied() -> None:
    def make(x: Any) -> Any:
        y = x * 2
        made = Point(y, [y])
        y += 1
        return made, y

    for function in (make, ag.function(make)):
        made, y = function(np.arange(3.0))
        assert made.x is y
        assert made.y[0] is y
        assert y.tolist() == [1.0, 3.0, 5.0]
