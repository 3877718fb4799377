"""`copy.copy` and `copy.deepcopy` are staged, and give what they give in plain Python."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag

HOW = [copy.copy, copy.deepcopy]
TABLE = [[1, 2.5], (3, [4])]


def chains(how: Any, x: Any) -> Any:
    best = [[each] for each in x]
    for i in range(1, len(x)):
        for j in range(i):
            if x[j] <= x[i] and len(best[j]) + 1 > len(best[i]):
                best[i] = how(best[j])
                best[i].append(x[i])
    return best


def nested(how: Any, x: Any) -> Any:
    rows = [[x[0], x[1]], (x[2], [x[3]])]
    other = how(rows)
    rows[0][0] = 7
    rows[1][1].append(8)
    return rows, other, other[0] is rows[0], other[1] is rows[1]


def repeated(how: Any, x: Any) -> Any:
    rows = how([[x[0]] * 2] * 2)
    rows[0][1] = x[1]
    return rows


def dicts_and_sets(how: Any, x: Any) -> Any:
    found = {"a": [x[0]], x[1]: {2, 3}}
    other = how(found)
    found["a"].append(x[3])
    return found, other


def grown(how: Any, x: Any) -> Any:
    found = []
    for each in x:
        if each > 20:
            found.append(each)
    other = how(found)
    other.append(1)
    return found, other


def rows_that_grow(how: Any, x: Any) -> Any:
    rows: list[Any] = []
    for each in x:
        if each > 20:
            rows.append([each])
    other = how(rows)
    other[0][0] = 3
    return rows, other


def numbers_and_texts(how: Any, x: Any) -> Any:
    pair = x[0], "a"
    return how(x[0]), how("a"), how(None), how(pair), how(math.inf), how(True), how(pair) is pair


def arrays(how: Any, x: Any) -> Any:
    square = np.arange(6.0).reshape(2, 3).T * x[0]
    other = how(square)
    square[0, 0] = 5
    return other, other.flags.f_contiguous, how(square[0]), how(square[1, 1]), how([square, 1])


def one_array_twice(how: Any, x: Any) -> Any:
    row = np.arange(3.0) * x[0]
    rows = how([row, row])
    rows[0][1] = 1
    return rows, row


def a_global(how: Any, x: Any) -> Any:
    other = how(TABLE)
    other.append(x[0])
    return other, other[0] is TABLE[0], other[1] is TABLE[1]


def an_item_in_a_loop(how: Any, x: Any) -> Any:
    rows = [[1], [2.5], [3]]
    for i in range(len(x)):
        rows[i % 3] = how(rows[(i + 1) % 3])
        rows[i % 3][0] += x[i]
    return rows, rows[0] is rows[1]


def typed(value: Any) -> Any:
    return repr(value)


FUNCTIONS = [
    chains, nested, repeated, dicts_and_sets, grown, rows_that_grow, numbers_and_texts, arrays, one_array_twice,
    a_global, an_item_in_a_loop,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_copies(function: Callable[..., Any], how: Any, engine: str) -> None:
    staged = ag.function(function, strict=("plain",), engine=engine)
    for x in [[10, 22, 9, 33], [10, 22.5, math.inf, 41], [33, 21, 50, 2]]:
        assert typed(staged(how, x)) == typed(function(how, x))


class Point:
    def __init__(self, x: Any) -> None:
        self.x = [x]


class Own(Point):
    def __copy__(self) -> Own:
        return Own(self.x[0] + 1)

    def __deepcopy__(self, memo: Any) -> Own:
        return Own(self.x[0] + 2)


def objects(how: Any, x: Any) -> Any:
    points = [Point(x[0]), Own(x[1])]
    others = how(points), how(points[0]), how(points[1])
    points[0].x.append(5)
    return [each.x for each in (*points, *others[0], *others[1:])]


@pytest.mark.parametrize("how", HOW)
def test_copies_of_objects(how: Any) -> None:
    staged = ag.function(objects)
    assert staged(how, [1.5, 2]) == objects(how, [1.5, 2])


def test_arguments_of_the_user() -> None:
    def with_memo(x: Any) -> Any:
        memo: dict[int, Any] = {}
        rows = [[x]]
        return copy.deepcopy(rows, memo), len(memo), copy.deepcopy(x=rows)

    def wrong(x: Any) -> Any:
        return copy.copy(x, x)  # type: ignore[call-arg]

    assert ag.function(with_memo)(2.5) == with_memo(2.5)
    with pytest.raises(TypeError, match="positional"):
        ag.function(wrong)(1.5)
