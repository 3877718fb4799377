"""Unpacking of a list in a container that the graph fills: the error is Python's, wherever it is handled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag
from tests import outcomes


def unpack_items(n):
    xs = [[]]
    for i in range(n):
        xs[0].append(i)
    try:
        for p, q in xs:
            pass
    except ValueError as e:
        return repr(e)
    return p + q


def unpack_nested(n):
    xs = [[], 1]
    for i in range(n):
        xs[0].append(i)
    try:
        (p, q), z = xs
    except ValueError:
        return 7
    return p + q + z


def unpack_with_rest(n):
    d = {"k": []}
    for i in range(n):
        d["k"].append(i)
    try:
        for p, q, *rest in d.values():
            pass
    except (TypeError, ValueError) as e:
        return e.args
    return p + q, rest


def unpack_in_function(n):
    xs = [[]]
    for i in range(n):
        xs[0].append(i)

    def take(pair):
        p, q = pair
        return p + q

    try:
        return take(xs[0])
    except ValueError as e:
        return repr(e)


def unpack_at_last(n):
    xs = [[]]
    for i in range(n):
        xs[0].append(i)
    p = n
    try:
        [[p]] = xs
    finally:
        print(p)
    return p


def unpack_unhandled(n):
    xs = [[], 1]
    for i in range(n):
        xs[0].append(i)
    (p, q), z = xs
    return p + q + z


def unpack_list(n):
    xs = []
    for i in range(n):
        xs.append(i)
    try:
        p, q = xs
    except ValueError as e:
        return str(e)
    return p + q


FUNCTIONS = [unpack_items, unpack_nested, unpack_with_rest, unpack_in_function, unpack_at_last, unpack_unhandled]


@pytest.mark.parametrize("function", [*FUNCTIONS, unpack_list], ids=lambda function: function.__name__)
def test_unpacking_of_what_the_graph_fills(function: Callable[[int], Any]) -> None:
    staged = ag.function(function)
    for n in (3, 2, 1, 0, 20):
        assert outcomes.run(lambda n=n: staged(n)) == outcomes.run(lambda n=n: function(n))


def test_unpacking_of_other_things_is_staged() -> None:
    @ag.function
    def pairs(n):
        xs, total = [[]], 0
        for i in range(n):
            xs[0].append(i)
        for p, q in [(1, 2), (3, 4)]:
            total += p * q * n
        return xs, total

    assert pairs(3) == ([[0, 1, 2]], 42)
    assert "graph pairs" in str(pairs.graph(3))
