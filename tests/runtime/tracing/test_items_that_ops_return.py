"""An op that returns an item of a container, or something that holds it, returns the object that traced code knows."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag


def greatest(p: Any, v: Any, n: Any) -> Any:
    c = max(p, key=len)
    v[1] = n
    return c[1], c is v


def greatest_of_two(p: Any, v: Any, n: Any) -> Any:
    c = max(v, p[1], key=len)
    c[1] = n
    return v[1]


def first_sorted(p: Any, v: Any, n: Any) -> Any:
    c = sorted(p, key=lambda x: -len(x))[0]
    v[1] += n
    return c[1]


def of_a_tuple(p: Any, v: Any, n: Any) -> Any:
    c = (v, p[1])[n - n]
    v[1] = n
    return c[1]


def within_a_tuple(p: Any, v: Any, n: Any) -> Any:
    c = max([(len(x) * n, x) for x in p])[1]
    v[1] = n
    return c[1]


def joined(p: Any, v: Any, n: Any) -> Any:
    c = sum([p, [[n]]], [])[n - n]
    v[1] = n
    return c[1]


def zipped(p: Any, v: Any, n: Any) -> Any:
    c = list(zip(p, [n, n]))[0][0]
    v[1] = n
    return c[1]


def largest(p: Any, v: Any, n: Any) -> Any:
    c = heapq.nlargest(1, p, key=len)[0]
    v[1] = n
    return c[1]


def chosen(p: Any, v: Any, n: Any) -> Any:
    random.seed(1)
    c = random.choice([v, v])
    v[1] = n
    return c[1]


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("kind", [list, lambda items: dict(enumerate(items))], ids=["list", "dict"])
@pytest.mark.parametrize(
    "function", [greatest, greatest_of_two, first_sorted, of_a_tuple, within_a_tuple, joined, zipped, largest, chosen]
)
def test_changes_show_by_all_names(function: Callable[..., Any], kind: Any, engine: str) -> None:
    if function is within_a_tuple:      # dicts have no order
        kind = list
    staged = ag.function(function, engine=engine)
    for n in (5, 6, 7):
        results = []
        for each in (function, staged):
            v, w = kind([10, 20, 30]), kind([1])
            p = [v, w]
            results.append((each(p, v, n), p, p[0] is v))
        assert results[0] == results[1]
    is_plain = any(trace.plain for trace in staged.traces)
    assert not is_plain or function in (greatest_of_two, largest)
