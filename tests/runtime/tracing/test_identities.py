"""`is` tells which array, container or dataclass instance it is, also of those that are globals."""

from __future__ import annotations

import functools
from collections import Counter, deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import autograph as ag


class Holder:
    def __init__(self) -> None:
        self.array = ARRAY


@dataclass
class Point:
    x: int


class Row(list):  # type: ignore[type-arg]
    pass


ARRAY, OTHER = np.arange(3.0), np.arange(3.0)
HOLDER = Holder()
KNOWN: Any = None  # what the program compares with
SECOND: Any = None
MAKERS = {
    "list": lambda: [1], "dict": lambda: {"k": 1}, "set": lambda: {1}, "dataclass": lambda: Point(1),
    "list subclass": lambda: Row([1]), "deque": lambda: deque([1]), "Counter": lambda: Counter("a"),
    "bytearray": lambda: bytearray(b"a"), "array": lambda: np.zeros(2), "object": Holder, "iterator": lambda: iter([1]),
}  # fmt: skip


def of_globals(x: Any) -> Any:
    return HOLDER.array is ARRAY, HOLDER.array is OTHER, HOLDER.array is not ARRAY, x


def of_an_argument(x: Any) -> Any:
    return x is ARRAY, x is OTHER, x is not HOLDER.array


def test_arrays_that_are_globals() -> None:
    for function, examples in ((of_globals, [1]), (of_an_argument, [ARRAY, OTHER, ARRAY + 0, 2.0, ARRAY])):
        staged = ag.function(function)
        for each in examples:
            assert staged(each) == function(each)


def compared(x: Any, n: Any) -> Any:
    return x is KNOWN, x is not SECOND


def in_a_branch(x: Any, n: Any) -> Any:
    if x is KNOWN:
        return n + 1
    return n


def bound_anew(x: Any, n: Any) -> Any:
    if n > 1:
        x = KNOWN
    return x is KNOWN, x is SECOND


def chosen(x: Any, n: Any) -> Any:
    return (x if n > 1 else SECOND) is KNOWN, (kept := x) is KNOWN, kept is SECOND


def items(x: Any, n: Any) -> Any:
    return [x, SECOND][n % 2] is KNOWN, {"k": x}["k"] is KNOWN, (x, n)[0] is not KNOWN


def called(x: Any, n: Any) -> Any:
    def same(y: Any) -> Any:
        return y

    return same(x) is KNOWN, (lambda: x)() is SECOND, {"k": x}.get("k") is KNOWN


@pytest.mark.parametrize("function", [compared, in_a_branch, bound_anew, chosen, items, called])
@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_what_is_a_global(make: Any, function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known, second, other = make(), make(), make()
    monkeypatch.setitem(globals(), "KNOWN", known)
    monkeypatch.setitem(globals(), "SECOND", second)
    staged = ag.function(function)
    for x in (other, known, second, make(), known):
        for n in (1, 2):
            assert staged(x, n) == function(x, n)


def exception(x: Any) -> Any:
    return ValueError(x)


def inner_function(x: Any) -> Any:
    return lambda: x


def around_a_list(x: Any) -> Any:
    parts = [x]
    return lambda: parts


def around_another_function(x: Any) -> Any:
    first = inner_function(x)
    return lambda y=x: first() + y


def partial(x: Any) -> Any:
    return functools.partial(max, x)


def method_of_a_list(x: Any) -> Any:
    return [x].append


def stored_in_a_loop(thing: Any, n: Any) -> Any:
    stored = [thing, None]
    for _ in range(n):
        stored.append(thing)
    return stored[n] is thing, thing in stored, stored.count(thing), stored.index(thing), stored


def stored_in_a_branch(thing: Any, n: Any) -> Any:
    stored = []
    if n > 1:
        stored.append(thing)
    stored.append(thing)
    return stored[0] is thing, stored[-1] is stored[0], stored


def stored_where_another_branch_raises(thing: Any, n: Any) -> Any:
    stored = []
    if n < 0:
        raise ValueError(n)
    else:
        stored.append(thing)
    stored.append(thing)
    return stored[0] is thing, stored


def at_two_places(thing: Any, n: Any) -> Any:
    holder = Holder()
    holder.array, holder.other = thing, [thing]  # type: ignore[attr-defined]
    return holder.array is holder.other[0], [thing, holder.array, *holder.other] * n  # type: ignore[attr-defined]


@pytest.mark.parametrize("store", [
    stored_in_a_loop, stored_in_a_branch, stored_where_another_branch_raises, at_two_places,
])  # fmt: skip
@pytest.mark.parametrize("make", [
    exception, inner_function, around_a_list, around_another_function, partial, method_of_a_list,
])  # fmt: skip
def test_what_traced_code_makes_once(make: Any, store: Any) -> None:
    staged = ag.function(lambda x, n: store(make(x), n))
    for n in (0, 1, 3):
        *reported, stored = staged(2.5, n)
        *wanted, plain = store(make(2.5), n)
        assert reported == wanted and _numbered(stored) == _numbered(plain)
    assert not any(trace.plain for trace in staged.traces)


def _numbered(things: list[Any]) -> list[int]:
    """Things of a list, as the positions where each is first."""
    first: dict[int, int] = {}
    return [first.setdefault(id(thing), position) for position, thing in enumerate(things)]


def one_for_each_iteration(x: Any, n: Any) -> Any:
    stored = []
    for i in range(n):
        made = lambda: x + 1  # noqa: E731
        if i % 2:
            stored.append(made)
        stored.append(made)
    return [first is second for first, second in zip(stored, stored[1:])]


def one_of_two(x: Any, n: Any) -> Any:
    stored, first, second = [], inner_function(x), inner_function(n)
    for i in range(n):
        stored.append(second if i % 2 else first)
    stored.append(first)
    return [each is first for each in stored], [each is second for each in stored], stored[0] is stored[-1]


def read_with_two_values(x: Any, n: Any) -> Any:
    def key(y: Any) -> Any:
        return y * sign

    sign, found = 1, []
    for _ in range(n):
        sign = -sign
        found.append(max([x, 1, 2], key=key))
    return found, sorted([x, 1, 2], key=key)


@pytest.mark.parametrize("function", [one_for_each_iteration, one_of_two, read_with_two_values])
def test_functions_that_are_made_at_several_places(function: Any) -> None:
    staged = ag.function(function)
    for n in (0, 1, 4):
        assert staged(2.5, n) == function(2.5, n)
    assert not any(trace.plain for trace in staged.traces)


SLICE = slice(1, 3)


def slices(x: Any, n: Any) -> Any:
    own, stored = slice(x, n), []
    for _ in range(n):
        stored.append(SLICE)
    stored += [own, SLICE]
    return stored[0] is SLICE, stored[0] is own, stored[-1] is SLICE, stored


def test_slices_that_are_stored() -> None:
    staged = ag.function(slices)
    for n in (0, 1, 3):
        assert staged(2.5, n) == slices(2.5, n)
