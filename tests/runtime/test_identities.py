"""`is` tells which array, container or dataclass instance it is, also of those that are globals."""

from __future__ import annotations

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


def stored_exceptions(x: Any, n: Any) -> Any:
    error = ValueError(x)
    stored = [error, None]
    for _ in range(n):
        stored.append(error)
    return stored[n] is error, [each is error for each in stored], stored


def test_exceptions_that_are_made_once() -> None:
    staged = ag.function(stored_exceptions)
    for n in (0, 1, 3):
        *told, stored = staged(2.5, n)
        *wanted, _ = stored_exceptions(2.5, n)
        assert told == wanted and len({id(each) for each in stored}) == 2
