"""When an iterator that traced code makes is one of the graph, and what is left of it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag

ENGINES = pytest.mark.parametrize("engine", ["numpy", "native", "auto"])


def rest(xs: list[Any], n: Any) -> list[Any]:
    it = iter(xs)
    for v in it:
        if v > n:
            break
    return list(it)


@ENGINES
def test_what_a_loop_has_not_taken_is_left(engine: Any) -> None:
    staged = ag.function(rest, engine=engine)
    for xs, n in (([1, 2, 3, 4, 5], 2), ([1, 2, 3, 4, 5], 9), ([], 1), ([5, 1], 3)) * 2:
        assert staged(xs, n) == rest(xs, n)
    assert not any(trace.plain for trace in staged.traces)


def test_the_iterator_is_one_of_the_graph() -> None:
    graph = str(ag.function(rest).graph([1, 2, 3], 2))
    assert "it: list_iterator<object> = iter(xs)" in graph
    assert "for(it, False, target=0, until=True)" in graph


def test_explain_names_the_iterator_for_which_a_list_is_taken_as_one_object() -> None:
    staged = ag.function(rest)
    staged([1, 2, 3], 2)
    assert "the iterator over `xs` is staged, as staged values decide" in str(staged.explain([1, 2, 3], 2))


def first_above(xs: list[Any], n: Any) -> int:
    for i, v in enumerate(xs):
        if v > n:
            return i
    return -1


def test_one_that_nobody_else_has_is_unrolled() -> None:
    graph = str(ag.function(first_above).graph([1, 2, 3], 2))
    assert "enumerate" not in graph and "for(" not in graph


def kept_and_left(xs: list[Any], n: Any) -> tuple[int, Any]:
    numbered = [enumerate(xs)]
    for i, v in numbered[0]:
        if v > n:
            return i, next(numbered[0], None)
    return -1, None


def test_one_in_a_list_is_not_unrolled() -> None:
    staged = ag.function(kept_and_left)
    assert "enumerate" in str(staged.graph([1, 2, 3], 1))
    assert staged([1, 2, 3], 1) == (1, (2, 3))


def of_a_name(xs: list[Any], n: Any) -> tuple[int, list[Any]]:
    it = iter(xs)
    for i, v in enumerate(it):
        if v > n:
            return i, list(it)
    return -1, []


def test_a_source_with_a_name_counts() -> None:
    assert ag.function(of_a_name)([1, 2, 3], 1) == (1, [3])


def rest_of_products(x: Any) -> Any:
    it = iter([x, 2 * x, 3 * x, 4 * x])
    total = 0.0
    for v in it:
        total += v
        if total > 2:
            break
    return total * sum(it)


@pytest.mark.parametrize("x, slope", [(1.5, 42 * 1.5), (3.0, 18 * 3.0), (0.3, 0.0)])
def test_gradient_through_what_is_left(x: float, slope: float) -> None:
    """Two items are taken, one, or all."""
    assert ag.grad(rest_of_products)(x) == pytest.approx(slope)


def pairs_of_one(x: Any, n: Any) -> Any:
    it = iter([x, x * x, x**3, x**4])
    total = 0.0
    for a, b in zip(it, it):
        total += a * b
        if n < 2:
            break
    return total + sum(it)


@pytest.mark.parametrize("n, slope", [(1, 3 * 2.0**2 + 3 * 2.0**2 + 4 * 2.0**3), (2, 3 * 2.0**2 + 7 * 2.0**6)])
def test_gradient_through_a_zip_of_one_iterator_twice(n: int, slope: float) -> None:
    assert ag.grad(pairs_of_one)(2.0, n) == pytest.approx(slope)


def next_of_what_is_left(x: Any) -> Any:
    it = iter([x, 2 * x, 3 * x])
    for v in it:
        if v > 1:
            break
    return next(it)


@pytest.mark.parametrize("x, slope", [(1.5, 2.0), (0.75, 3.0)])
def test_gradient_of_what_next_gives_then(x: float, slope: float) -> None:
    assert ag.function(next_of_what_is_left)(x) == next_of_what_is_left(x)
    assert ag.grad(next_of_what_is_left)(x) == pytest.approx(slope)


def following(it: Any) -> Any:
    return next(it)


class Account:
    def __init__(self, numbers: Any) -> None:
        self.numbers = numbers
        self.opened: list[int] = []

    def open(self, amount: Any) -> None:
        if amount > 0:
            self.opened.append(following(self.numbers))


def open_all(amounts: list[Any]) -> tuple[list[int], int]:
    account = Account(itertools.count(10))
    for amount in amounts:
        account.open(amount)
    return account.opened, following(account.numbers)


@ENGINES
def test_a_counter_goes_on_in_a_method_on_one_path(engine: Any) -> None:
    staged = ag.function(open_all, engine=engine)
    for amounts in ([1, -1, 2], [0], [3, 3, 3, 3]):
        assert staged(amounts) == open_all(amounts)


def takes(it: Any, n: Any) -> int:
    total = 0
    for v in it:
        total += 12 // v
        if total > n:
            break
    return total


@ENGINES
@pytest.mark.parametrize("items, n", [([1, 2, 3], 13), ([4, 0, 5], 99), ([], 1), ([6, 6], 99)])
def test_the_callers_is_taken_from_as_far_as_plain_does(engine: Any, items: list[int], n: int) -> None:
    def run(function: Callable[..., Any]) -> tuple[Any, list[int]]:
        it = iter(items)
        try:
            return function(it, n), list(it)
        except ZeroDivisionError as error:
            return str(error), list(it)

    assert run(ag.function(takes, engine=engine)) == run(takes)


def generator_on_one_path(n: Any) -> list[int]:
    it = (v * v for v in [1, 2, 3])
    if n > 1:
        first, *_ = it
        return [first]
    return list(it)


def test_a_generator_that_goes_on_on_one_path_runs_plain() -> None:
    staged = ag.function(generator_on_one_path)
    assert [staged(n) for n in (2, 0)] == [[1], [1, 4, 9]]
    assert "an iterator (of class generator) goes on in a branch" in staged.traces[-1].plain
