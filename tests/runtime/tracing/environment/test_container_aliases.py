"""Lists and dicts that a function gets at by several ways are one thing, whichever way it changes them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag


class Holder:
    items: list[float]


LIST: list[float]
OTHER: list[float]
TABLE: dict[str, Any]
HOLDER: Holder


def set_up() -> None:
    global LIST, OTHER, TABLE, HOLDER
    LIST, OTHER, HOLDER = [1.0, 2.0], [7.0, 8.0], Holder()
    HOLDER.items = LIST
    TABLE = {"list": LIST}


def by_an_attribute(x: float) -> Any:
    HOLDER.items.append(x)
    return len(LIST), LIST[-1]


def by_a_global(x: float) -> Any:
    LIST.append(x)
    return len(HOLDER.items), HOLDER.items[-1]


def an_item(x: float) -> Any:
    LIST[0] = x
    return HOLDER.items[0] * 2


def in_a_dict(x: float) -> Any:
    TABLE["list"].append(x)
    return len(LIST), len(HOLDER.items)


def argument_and_global(xs: list[float]) -> Any:
    xs.append(1.0)
    return len(LIST), LIST[-1]


def global_and_argument(xs: list[float]) -> Any:
    LIST.append(3.0)
    return len(xs), xs[-1]


def attribute_of_an_argument(holder: Holder) -> Any:
    holder.items.append(3.0)
    return len(LIST)


def global_and_attribute_of_an_argument(holder: Holder) -> Any:
    LIST.append(3.0)
    return len(holder.items)


def argument_and_attribute_of_another(xs: list[float], holder: Holder) -> Any:
    xs.append(3.0)
    return len(holder.items)


def attribute_and_argument(holder: Holder, xs: list[float]) -> Any:
    holder.items[0] = 7.0
    return xs[0], xs


NUMBER: Callable[[], Any] = lambda: (5.0,)
CASES: list[tuple[Callable[..., Any], Callable[[], Any]]] = [
    (by_an_attribute, NUMBER),
    (by_a_global, NUMBER),
    (an_item, NUMBER),
    (in_a_dict, NUMBER),
    (argument_and_global, lambda: (LIST,)),
    (global_and_argument, lambda: (LIST,)),
    (attribute_of_an_argument, lambda: (HOLDER,)),
    (global_and_attribute_of_an_argument, lambda: (HOLDER,)),
    (argument_and_attribute_of_another, lambda: (LIST, HOLDER)),
    (attribute_and_argument, lambda: (HOLDER, LIST)),
]


def ran(function: Callable[..., Any], arguments: Callable[[], Any]) -> list[Any]:
    set_up()
    found = []
    for _ in range(3):
        found.append((copy.deepcopy(function(*arguments())), list(LIST)))
        assert HOLDER.items is LIST and TABLE["list"] is LIST
    return found


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[case[0].__name__ for case in CASES])
def test_several_names(function: Callable[..., Any], arguments: Callable[[], Any]) -> None:
    staged = ag.function(function)
    assert ran(staged, arguments) == ran(function, arguments)
    assert "runs as plain Python: a list is changed that is " in str(staged.explain(*arguments()))


def only_read(x: float) -> Any:
    return LIST[0] + HOLDER.items[1] * x


def changes_one_of_two(x: float) -> Any:
    HOLDER.items[0] += x
    return LIST[0] + HOLDER.items[0]


def test_what_is_only_read_or_apart_is_staged() -> None:
    staged = ag.function(only_read, strict=("plain",))
    assert ran(staged, NUMBER) == ran(only_read, NUMBER)
    staged = ag.function(changes_one_of_two, strict=("plain",))
    set_up()
    HOLDER.items = [10.0]
    assert [staged(2.0), staged(3.0)] == [13.0, 16.0]


def two_globals(x: float) -> Any:
    LIST[0] = x
    return OTHER[0]


def in_an_argument(table: dict[str, Any]) -> Any:
    table["list"][0] = 3.0
    return LIST[0], table


def in_lists(rows: list[list[float]]) -> Any:
    LIST[0] = 5.0
    return rows[1][0], rows


def test_two_globals_that_are_one() -> None:
    global OTHER
    staged = ag.function(two_globals)
    set_up()
    OTHER = LIST
    assert [staged(5.0), staged(6.0)] == [5.0, 6.0]


def make_one(function: Callable[..., Any]) -> tuple[Any, ...]:
    """The arguments of a call in which two lists are one that were not before."""
    global OTHER
    HOLDER.items = LIST if function is not argument_and_attribute_of_another else OTHER
    if function is two_globals:
        OTHER = LIST
    if function in (in_an_argument, in_lists):
        return ({"list": LIST},) if function is in_an_argument else ([[1.0], LIST],)
    return next((arguments() for each, arguments in CASES if each is function), (5.0,))


def make_apart(function: Callable[..., Any]) -> tuple[Any, ...]:
    found = copy.deepcopy(make_one(function))
    set_up()
    HOLDER.items = [4.0, 5.0]
    return found


LATER = [*(function for function, _ in CASES if function is not in_a_dict), two_globals, in_an_argument, in_lists]


@pytest.mark.parametrize("function", LATER)
def test_several_names_in_a_later_call_only(function: Callable[..., Any]) -> None:
    staged, found = ag.function(function), {}
    for each in (function, staged):
        found[each] = []
        for arrange in (make_apart, make_apart, make_one, make_one, make_apart):
            set_up()
            arguments = arrange(function)
            result = each(*arguments)
            left = [vars(part) if isinstance(part, Holder) else part for part in arguments]
            found[each].append(copy.deepcopy((result, left, LIST, OTHER, HOLDER.items)))
    assert found[staged] == found[function]


def test_the_reason_is_reported() -> None:
    staged = ag.function(in_an_argument)
    set_up()
    staged({"list": [1.0, 2.0]})
    staged({"list": LIST})
    assert staged.traces[1].reason == "table['list'] and LIST are no longer different objects"
