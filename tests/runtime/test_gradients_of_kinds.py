"""Gradients in variables whose kind changes: None, a text or a tuple before a loop, and a number in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
import autograph.compat.tensorflow as tf

ROWS = np.array([[1.0, 2.0], [3.0, 5.0]])
W = np.array([0.5, 0.5])


class Box:
    def __init__(self, y: Any) -> None:
        self.y = y


def last_loss(w, rows):
    loss = None
    for row in rows:
        loss = np.sum((w - row) ** 2)
    return loss


def squared(x, n):
    y = None
    for _ in range(n):
        y = x * 2.0
    return y * y


def summed(x, n):
    y = ""
    for _ in range(n):
        y = x * 2.0
    return y + x


def with_floor(x, n):
    y = ()
    for _ in range(n):
        y = x * 2.0
    return max(y, 0.1)


def sine(x, n):
    y = {}
    i = 0
    while i < n:
        y = x * i
        i += 1
    return math.sin(y)


def item(x, n):
    t = [None]
    for i in range(n):
        t[0] = x * (i + 1)
    return t[0] * x


def entry(x, n):
    d = {"p": None}
    for i in range(n):
        d["p"] = x * (i + 1)
    return d["p"] * x


def attribute(x, n):
    box = Box("")
    i = 0
    while True:
        if i >= n:
            break
        i += 1
        box.y = x * i
    return box.y * x


def nonlocal_(x, n):
    y = None

    def put(v):
        nonlocal y
        y = v * v

    for i in range(n):
        put(x * (i + 1))
    return y


def nested(x, n):
    y = None
    for i in range(n):
        z = None
        for j in range(i + 1):
            z = x * (j + 1)
        y = z * x
    return y


def branches(x, n):
    y = None
    if n > 1:
        y = x * x
    elif n > 0:
        y = x * 3.0
    if n > 2:
        y = y * x
    return y * 2.0


def other_shapes(x, n):
    y = np.ones((2, 2))
    for i in range(n):
        y = x * y if i % 2 else np.stack([np.sum(y) * x, x * x])
    return np.sum(y)


@pytest.mark.parametrize(
    "function", [squared, summed, with_floor, sine, item, entry, attribute, nonlocal_, nested, branches, other_shapes]
)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_gradients_are_those_of_finite_differences(function: Callable[..., Any], n: int):
    x, step = 0.7, 1e-6
    wanted = (function(x + step, n) - function(x - step, n)) / (2 * step)
    assert ag.grad(function)(x, n) == pytest.approx(wanted, rel=1e-6)
    value, gradient = ag.value_and_grad(function)(x, n)
    assert (value, gradient) == (function(x, n), pytest.approx(wanted, rel=1e-6))
    staged = ag.function(lambda x, n: ag.vjp(lambda x: function(x, n), x)[1](2.0)[0])
    assert staged(x, n) == pytest.approx(2 * wanted, rel=1e-6)
    second = (ag.grad(function)(x + step, n) - ag.grad(function)(x - step, n)) / (2 * step)
    assert ag.grad(ag.grad(function))(x, n) == pytest.approx(second, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("function", [squared, item, entry])
def test_without_an_iteration_the_plain_exception_is_raised(function: Callable[..., Any]):
    with pytest.raises(TypeError, match="unsupported operand"):
        ag.grad(function)(0.7, 0)


def test_every_transform_of_a_loss_that_is_none_before_the_loop():
    np.testing.assert_allclose(ag.grad(last_loss)(W, ROWS), 2 * (W - ROWS[-1]))
    value, change = ag.jvp(last_loss, (W, ROWS), (np.ones(2), np.zeros((2, 2))))
    assert (value, change) == (last_loss(W, ROWS), pytest.approx(np.sum(2 * (W - ROWS[-1]))))
    np.testing.assert_allclose(ag.hessian(last_loss)(W, ROWS), 2 * np.eye(2))
    np.testing.assert_allclose(ag.jacobian(lambda w: last_loss(w, ROWS))(W), 2 * (W - ROWS[-1]))


def test_a_gradient_tape_follows_variables_that_begin_as_none():
    v = tf.Variable(0.5)

    @tf.function
    def loss(v):
        y = None
        for r in [1.0, 2.0, 5.0]:
            y = v * r
        return y

    with tf.GradientTape() as tape:
        found = loss(v)
    assert float(tape.gradient(found, v)) == 5.0
