"""Element types of lists that grow: known only where they are certain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph import nn

X = np.arange(6.0).reshape(3, 2)


def read_where_it_grows(xs, more):
    found = [np.tanh(xs[0])]
    for x in xs:
        found.append(np.tanh(found[-1] * 0.5 + x))
    return np.shape(np.stack(found)), np.sum(found[-1])


def pairs_that_grow(xs, more):
    states = [(xs[0], xs[0])]
    for x in xs:
        h, c = states[-1]
        states.append((np.tanh(c) * x, c * 0.5 + h))
    return states[-1][0]


def a_stack(xs, more):
    rest, total = [xs], 0.0
    while rest:
        block = rest.pop()
        total = total + np.sum(block)
        if np.sum(block) > 1:
            rest.append(block / 2)
            rest.append(block / 3)
    return total


def looked_up_by_iteration(xs, more):
    found = [xs[0]]
    iteration = 0
    while np.sum(found[iteration]) < 50 and iteration < 20:
        found.append(found[iteration] * 1.5)
        iteration += 1
    total = 0.0
    for each in found:
        total = total + np.sum(each)
    return total


def growing_shapes(xs, more):
    found = [xs[0]]
    for x in xs:
        found.append(np.concatenate([found[-1], x]))
    return np.shape(found[-1])


def another_type_later_on(xs, more):
    found = [xs[0]]
    for x in xs:
        found.append(found[-1] * x)
        if x[0] > more:
            found.append(1)
    return found[-1]


def by_another_name(xs, more):
    found, others = [xs[0]], [1]
    for x in xs:
        others.append(found[0] * x)
        found, others = others, found
    return found[-1], others[-1]


def another_type_behind_an_inner_loop(xs, more):
    found = [xs[0]]
    for x in xs:
        for y in xs:
            found.append(found[-1] + y)
        found.append(1)
    return found[-1]


def another_type_while_iterated(xs, more):
    found, iterations = [xs[0]], 0
    for x in xs:
        found.append(found[-1] * x)
    for each in found:
        iterations += 1
        if iterations < 20:
            found.append(each > 1)
    return found[-1]


def stacked(xs, more):
    found = []
    for x in xs:
        found.append(np.tanh(x))
    return np.shape(np.stack(found)), found[-1], np.array(found), np.concatenate(found), np.sum(found, axis=0)


def maybe_empty(xs, more):
    found = []
    for x in xs:
        if x[0] > more:
            found.append(x)
    return np.shape(np.array(found)), np.array([len(found)])


def changed_by_name(xs, more):
    found = []
    for x in xs:
        found.append(x)
    other = [found]
    other[0].append(more)
    return np.shape(found[-1])


def changed_in_a_branch(xs, more):
    found, other = [], []
    for x in xs:
        found.append(x)
        other.append(more)
    last = found if more > 1 else other
    last[0] = more
    return np.shape(found[0]), np.shape(other[0])


def changed_by_extending(xs, more):
    found = []
    for x in xs:
        found.append(x)
    found[:1] = [more, more]
    return np.shape(found[0]), found


def changed_in_the_next_iteration(xs, more):
    shapes, found = [], [xs[0]]
    for x in xs:
        shapes.append(np.shape(found[-1]))
        found.append(more)
    return shapes


def reshaped(xs, more):
    found = []
    for x in xs * 1:
        found.append(x * 1)
    found[0].shape = (2, 1)
    return np.shape(found[0]), np.shape(found[-1])


def rows_of_lists(xs, more):
    rows = []
    for x in xs:
        row = []
        for value in xs[:more]:
            row.append(np.sum(value * x))
        rows.append(np.array(row))
    return np.stack(rows), np.array(rows).shape, np.concatenate(rows)


def whole_numbers(xs, more):
    found = []
    for x in xs:
        found.append(2**63 if x[0] > 1 else 1)
    return np.array(found)


def iterated_while_it_grows(xs, more):
    found = []
    for x in xs:
        found.append(x)
    shapes = []
    for x in found:
        shapes.append(np.shape(x))
        if len(found) < 5:
            found.append(more)
    return shapes


PROGRAMS = [
    stacked, maybe_empty, changed_by_name, changed_in_a_branch, changed_by_extending, changed_in_the_next_iteration,
    reshaped, rows_of_lists, whole_numbers, iterated_while_it_grows, read_where_it_grows, pairs_that_grow, a_stack,
    looked_up_by_iteration, growing_shapes, another_type_later_on, by_another_name, another_type_behind_an_inner_loop,
    another_type_while_iterated,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_same(function: Callable[..., Any]) -> None:
    staged = ag.function(function)
    for xs, more in ((X, 1), (X, 2), (X, 9), (X[:1], 0)):
        found, wanted = staged(xs, more), function(xs, more)
        assert repr(found) == repr(wanted)


def test_types() -> None:
    graph = str(ag.function(stacked).graph(X, 1))
    assert "f64[?,2] = np.stack" in graph and "f64[2] = %0[-1]" in graph and "f64[?] = np.concatenate" in graph
    assert "object = np.array" in str(ag.function(maybe_empty).graph(X, 1))


@pytest.mark.parametrize(
    "function", [read_where_it_grows, pairs_that_grow, a_stack, looked_up_by_iteration, growing_shapes]
)
def test_lists_that_are_read_where_they_grow_have_types(function: Callable[..., Any]) -> None:
    assert "object = %" not in str(ag.function(function).graph(X, 1))


@pytest.mark.parametrize("make", [lambda: nn.MultiHeadAttention(2, 1, rng=0), lambda: nn.BatchNorm(2)])
def test_layers_behind_lists_that_grow(make: Callable[[], Any]) -> None:
    def loss(w: Any, layer: Any) -> Any:
        state, states = np.zeros(2), []
        for x in X:
            state = np.tanh(x + w @ state)
            states.append(state)
        return np.sum(layer(np.stack(states)) ** 3)

    w, layer = np.array([[0.3, -0.2], [0.5, 0.1]]), make()
    found = ag.grad(loss)(w, layer)
    steps = np.eye(4).reshape(4, 2, 2) * 1e-6
    wanted = [(loss(w + step, layer) - loss(w - step, layer)) / 2e-6 for step in steps]
    assert np.allclose(found.ravel(), wanted, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize(
    "split, parts",
    [
        (lambda x: np.split(x, 2), "f64[1,4,6]"),
        (lambda x: np.array_split(x, 2, 1), "f64[2,2,6]"),
        (lambda x: np.array_split(x, 4, 2), "f64[2,4,?]"),
        (lambda x: np.split(x, [1, 3], -1), "f64[2,4,?]"),
        (lambda x: np.hsplit(x, 2), "f64[2,2,6]"),
        (lambda x: np.vsplit(x, 2), "f64[1,4,6]"),
        (lambda x: np.dsplit(x, 3), "f64[2,4,2]"),
    ],
)
def test_the_parts_of_an_array_that_was_split_have_types(split: Callable[..., Any], parts: str) -> None:
    def function(x: Any) -> Any:
        total = 0.0
        for part in split(x):
            total += np.sum(part)
        return total, split(x)[0]

    x = np.arange(48.0).reshape(2, 4, 6)
    staged = ag.function(function)
    assert f"(part: {parts}," in str(staged.graph(x))
    assert np.array_equal(staged(x)[1], function(x)[1]) and staged(x)[0] == function(x)[0]
