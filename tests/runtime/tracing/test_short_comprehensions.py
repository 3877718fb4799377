"""Comprehensions over short ranges: lists of traced code, or loops of the graph if an element takes a loop."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.graph.graph import walk
from autograph.runtime.graph.traits import LOOP
from tests.comparing import assert_same


def weighted(xs, k):
    total = 0.0
    for x in xs:
        total += x * k
    return total


def refused(xs, k):
    if weighted(xs, k) > 60:
        raise ValueError(f"{k} is too much")
    return k


def listed(xs):
    return [weighted(xs, k) for k in range(30)]


def taken(xs):
    found = [weighted(xs, k) for k in range(30)]
    return found[3] + found[-1], len(found), sorted(found)[:2]


def chosen(xs):
    return [weighted(xs, k) for k in range(30) if k % 3]


def chosen_by_elements(xs):
    return [k for k in range(30) if weighted(xs, k) > 20]


def of_array(xs):
    return np.array([weighted(xs, k) for k in range(30)]).reshape(5, 6)


def nested(xs):
    return [[weighted(xs, i + j) for j in range(9)] for i in range(9)]


def of_dict(xs):
    return {k: weighted(xs, k) for k in range(30)}


def of_set(xs):
    return {weighted(xs, k // 2) for k in range(30)}


def summed(xs):
    return sum(weighted(xs, k) for k in range(30)), max(weighted(xs, -k) for k in range(30))


def mapped(xs):
    return list(map(lambda k: weighted(xs, k), range(30)))


def with_effects(xs):
    seen = []

    def noted(k):
        seen.append(k)
        print("at", k)
        return weighted(xs, k)

    return [noted(k) for k in range(12)], seen


def with_draws(xs):
    return [weighted(xs, random.random()) for _ in range(20)]


def never_taken(xs):
    found = (refused(xs, k) for k in range(100, 120))
    return xs.sum() if found is not None else 0


def raises_at_first(xs):
    return [refused(xs, k) for k in range(100, 120)]


def raises_later(xs):
    return [refused(xs, k) for k in range(20)]


FUNCTIONS = [
    listed, taken, chosen, chosen_by_elements, of_array, nested, of_dict, of_set, summed, mapped, with_effects,
    with_draws, never_taken, raises_at_first, raises_later,
]  # fmt: skip


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_are_those_of_python(function: Callable[..., Any], engine: str, capsys: Any) -> None:
    staged = ag.function(function, engine=engine)
    for xs in (np.arange(4.0), np.arange(6.0) - 2, np.zeros(0)):
        results = []
        for each in (function, staged):
            random.seed(5)
            try:
                results.append((each(xs), random.getstate(), capsys.readouterr()))
            except ValueError as error:
                results.append((str(error), random.getstate(), capsys.readouterr()))
        np.testing.assert_equal(*results)
    if function is not with_draws:
        assert_same(staged, np.arange(5.0), names=["refused"])


def loops_in(staged: ag.function) -> int:
    return sum(node.op in LOOP for node in walk(staged.traces[0].graph.block))


@pytest.mark.parametrize("function", [listed, taken, chosen, of_array, of_dict, summed, mapped])
def test_a_loop_in_each_element_is_in_the_graph_once(function: Callable[..., Any]) -> None:
    staged = ag.function(function, strict="plain")
    staged(np.arange(4.0))
    assert loops_in(staged) == (4 if function is summed else 2)


def test_short_elements_stay_a_list_of_traced_code() -> None:
    @ag.function(strict="plain")
    def parts(xs):
        found = [xs[k] * 2 for k in range(30)]
        return found[3] + found[-1]

    assert parts(np.arange(30.0)) == 64
    assert loops_in(parts) == 0


def test_elements_that_need_their_number_are_computed_one_by_one() -> None:
    names = ["a", "b"] * 10

    @ag.function
    def described(xs):
        return [names[k] + str(weighted(xs, k)) for k in range(20)]

    assert described(np.arange(3.0)) == [names[k] + str(weighted(np.arange(3.0), k)) for k in range(20)]
