"""Methods of lists, dicts and sets as values: each is bound to the very container that the program has."""

from __future__ import annotations

import types
from typing import Any

import autograph as ag
from tests.runtime.objects import check

LOG: list[Any] = []
APPEND = LOG.append


class Keeper:
    def __init__(self) -> None:
        self.keep = [].append       # of a list that is nowhere else
        self.items: list[Any] = []
        self.add = self.items.append


def bound_to_what_is_made(x: Any) -> Any:
    items, found = [x], {}
    add, put = items.append, found.setdefault
    add(x * 2)
    put("x", x)
    return add, add.__self__ is items, items, put, found


def made_in_a_list(x: Any) -> Any:
    both = {"add": [x].append, "all": [[].append, {}.get, set().add]}
    both["add"](x + 1)
    return both["add"].__self__, both


def of_attributes(keeper: Any, x: Any) -> Any:
    keeper.keep(x)
    keeper.add(x)
    keeper.items.append(-x)
    return keeper.keep.__self__, keeper.items


def test_methods_of_containers() -> None:
    check(bound_to_what_is_made, "1", "2", "2.5")
    check(made_in_a_list, "1", "2", "2.5")
    check(of_attributes, "Keeper(), 1", "Keeper(), 2", "Keeper(), 2.5")


def test_a_method_is_of_the_container_that_is_given_back() -> None:
    staged = ag.function(bound_to_what_is_made)
    add, _, items, put, found = staged(1)
    again = staged(1)
    add("more")
    put("y", 2)
    assert (items, found) == ([1, 2, "more"], {"x": 1, "y": 2})
    assert (again[2], again[4]) == ([1, 2], {"x": 1})


def with_a_default(x: Any, add: Any = APPEND) -> None:
    add(x)


def test_what_a_method_changes_that_is_a_global() -> None:
    LOG.clear()
    add = LOG.append
    called = [lambda x: APPEND(x), lambda x: list(map(APPEND, [x])), lambda x: add(x), with_a_default]
    for function in called:
        staged = ag.function(function)
        for x in (1, 2, 2.5):
            staged(x)
    assert LOG == [1, 2, 2.5] * len(called)


def makes_modules(x: Any) -> Any:
    made = types.ModuleType("made")
    made.x = x  # type: ignore[attr-defined]
    cell = types.CellType([x])
    cell.cell_contents.append(x)
    return made, made.x, cell.cell_contents  # type: ignore[attr-defined]


def test_modules_are_made_anew() -> None:
    staged = ag.function(makes_modules)
    (one, *rest), (other, *more) = staged(1), staged(2)
    assert one is not other
    assert [one.x, other.x, rest, more] == [1, 2, [1, [1, 1]], [2, [2, 2]]]


class Settings:
    step: Any = None


def updates_attributes(x: Any) -> Any:
    settings = Settings()
    settings.__dict__.update(step=x * 2)
    return settings.step * x


def test_update_with_keywords_looks_at_no_value() -> None:
    assert ag.function(updates_attributes, strict=True)(0.5) == 0.5
    assert ag.grad(updates_attributes)(0.5) == 2.0


def unpacks_a_dict(x: Any, key: Any) -> Any:
    found = {}
    found[x] = 1
    found[key] = 2
    first, second = found
    return first * second


def unpacks_a_list(x: Any) -> Any:
    found = [1.0]
    found.insert(int(x), 2.0)
    first, second = found
    return first, second


def test_what_only_the_graph_knows_the_length_of_is_unpacked() -> None:
    for _ in range(2):
        assert ag.function(unpacks_a_dict)(0.5, 3.0) == 1.5
        assert ag.function(unpacks_a_list)(0.5) == unpacks_a_list(0.5)
