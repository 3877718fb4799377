"""An object that a function has by one attribute may be in others, too: the graph never fails for reading those."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.aliasing_programs import shape


class Items(list):  # type: ignore[type-arg]
    pass


class Part:
    def __init__(self, mark: int, items: Any = None) -> None:
        self.mark = mark
        self.items = items
        self.data = np.arange(2.0) + mark
        self.other: Any = None


class Owner:
    def __init__(self, first: Part, second: Part) -> None:
        self.first, self.second, self.way = first, second, 0


def choose(owner: Owner, mark: int) -> None:
    owner.way = 1 if owner.first.mark == mark else 2


def write_to_the_second(owner: Owner, mark: int) -> Any:
    owner.second.mark += mark
    return owner.first.mark


def write_in_a_branch(owner: Owner, mark: int) -> Any:
    if mark > 0:
        owner.second.mark = owner.first.mark + mark
    return owner.second.mark


def give_the_second(owner: Owner, mark: int) -> Any:
    owner.way += mark
    return [owner.second, owner.first.mark]


def write_to_an_array(owner: Owner, mark: int) -> Any:
    owner.second.data[0] += mark
    return owner.first.data[0] + owner.second.data.sum()


def store_the_second(owner: Owner, mark: int) -> Any:
    owner.first.other = owner.second
    owner.first.other.mark = mark
    return owner.second.mark


def swap(owner: Owner, mark: int) -> None:
    owner.first, owner.second = owner.second, owner.first
    owner.first.mark -= mark


# Further holders of the second part; and their values in calls without such a holder.
HOLDERS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "list subclass": (lambda part: Items([Owner(part, part)]), Items()),
    "others": (lambda part: Items([Owner(Part(0), Owner(Part(5), part))]), Items()),
    "list": (lambda part: [Owner(part, part)], []),
    "dict": (lambda part: {"key": part}, {}),
    "tuple": (lambda part: (0, (part,)), ()),
    "deque": (lambda part: deque([part]), deque()),
    "object": (lambda part: Owner(part, part), None),
    "itself": (lambda part: part, 0),
}
FUNCTIONS = [choose, write_to_the_second, write_in_a_branch, give_the_second, write_to_an_array, store_the_second, swap]


def found(function: Any, holder: str) -> list[Any]:
    hold, empty = HOLDERS[holder]
    results = []
    for mark, is_held in zip((0, 1, 0, 1, 2, 0, 1, 1, 3), (0, 1, 0, 0, 1, 0, 0, 1, 0)):
        first, second = Part(mark), Part(5)
        first.items = hold(second) if is_held else empty
        owner = Owner(first, second)
        result = function(owner, 1)
        results.append(shape((result, owner, first, second)))
    return results


@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_an_object_that_another_attribute_holds_at_times(function: Any, holder: str, engine: str) -> None:
    assert found(ag.function(function, engine=engine), holder) == found(function, holder)


def test_nothing_is_read_that_the_function_does_not_need() -> None:
    staged = ag.function(choose)
    part = Part(1, Items([1]))
    staged(Owner(Part(0), Part(1)), 1)
    staged(Owner(part, Part(2)), 1)
    assert "second" not in staged.lower(Owner(part, Part(2)), 1).source


class Setter:
    """A descriptor that reading a class attribute gives as it is."""

    def __set__(self, thing: Any, value: Any) -> None:
        raise AttributeError


class Settings:
    def __init__(self) -> None:
        self.numbers = [1]


@pytest.mark.parametrize("make", [Setter, Settings, lambda: [1], lambda: {"a": Settings()}, lambda: (Settings(),)])
@pytest.mark.parametrize("kept", ["alone", "in a list", "behind a change"])
def test_what_a_class_holds_is_given_as_it_is(make: Callable[[], Any], kept: str) -> None:
    class Holder:
        shared = make()

        def __init__(self) -> None:
            self.items = [1]

    def alone(holder):
        return holder.shared

    def in_a_list(holder):
        return [holder.shared]

    def behind_a_change(holder):
        holder.items.append(2)
        return holder.shared

    holder = Holder()
    function = {"alone": alone, "in a list": in_a_list, "behind a change": behind_a_change}[kept]
    for _ in range(2):
        found = ag.function(function)(holder)
        assert (found[0] if kept == "in a list" else found) is Holder.shared
