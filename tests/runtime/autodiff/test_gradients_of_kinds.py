"""Gradients in variables whose kind changes: None, a text or a tuple before a loop, and a number in it."""

from __future__ import annotations

import json
import math
import pickle
import re
import struct
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import autograph as ag
import autograph.compat.tensorflow as tf
from autograph.errors import DerivativeError
from tests import outcomes

pytestmark = pytest.mark.once

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


# Texts, bytes and integers that tell a float --------------------------------------------------------------------------


def mixed(x, n):
    y = None
    for i in range(n):
        y = str(x) if i > 1 else x * 2.0
    return float(y)


def listed(x, n):
    told = []
    for i in range(n):
        told.append(f"{x * i}")
    return float(told[-1])


def digits(x):
    return sum([int(digit) * 10.0**-at for at, digit in enumerate(str(x)) if digit != "."])


def ratio(x):
    numerator, denominator = x.as_integer_ratio()
    return numerator / denominator


TELLING = [
    lambda x: float(str(x)) * 2, lambda x: float(f"{x}"), lambda x: float(f"{x:.17f}"), lambda x: float("%r" % x),
    lambda x: float("{}".format(x)), lambda x: float(repr(x)[:9]), lambda x: float("".join(["", str(x)])),
    lambda x: float.fromhex(x.hex()), lambda x: json.loads(json.dumps(x)), lambda x: json.loads(f"[{x}]")[0] * x,
    lambda x: struct.unpack("d", struct.pack("d", x))[0], lambda x: pickle.loads(pickle.dumps(x)),
    lambda x: np.frombuffer(np.array([x]).tobytes()).sum(), lambda x: np.array([x]).view(np.int64).view(float)[0],
    lambda x: np.array([x]).astype(str).astype(float)[0], lambda x: np.float64(str(x)), lambda x: float(Decimal(x)),
    lambda x: float(Fraction(x)), lambda x: complex(str(x)).real, lambda x: float(str(x).encode().decode()),
    lambda x: float(str([x])[1:-1]), digits, ratio, lambda x: np.array(str(x)).astype(float) * 1.0,
]  # fmt: skip


@pytest.mark.parametrize("function", TELLING)
def test_numbers_read_out_of_texts_bytes_and_integers_have_no_gradient(function: Callable[..., Any]):
    with pytest.raises(DerivativeError, match=rf"{__file__}:\d+: "):
        ag.grad(function)(0.7)


@pytest.mark.parametrize("function", [mixed, listed])
def test_whether_a_variable_is_a_text_is_seen_when_the_graph_runs(function: Callable[..., Any]):
    if function is mixed:
        assert ag.grad(mixed)(0.7, 1) == 2.0
    with pytest.raises(DerivativeError, match=rf"{__file__}:\d+: .*str"):
        ag.grad(function)(0.7, 3)


def test_texts_that_no_number_is_read_out_of_do_no_harm():
    def f(x, n):
        log, names, last = [], {"0.7": 3.0}, None
        for i in range(n):
            last = x * x * i
            log.append({"text": f"{last}", "value": last})
        assert f"{x:.1f}" in names, str(last)
        return log[-1]["value"] * names[f"{x:.1f}"] + len(str(last)) + float(int(x * 10)) + (str(x) == "0.7")

    assert ag.grad(f)(0.7, 3) == pytest.approx(2 * 2 * 0.7 * 3)


def test_a_value_that_is_no_float_is_told_with_its_function():
    def f(x, n):
        y = None
        for _ in range(n):
            y = x * x
        return y

    assert ag.grad(f)(0.7, 1) == pytest.approx(1.4)
    with pytest.raises(DerivativeError, match="of f, which has returned None; it must return one float"):
        ag.grad(f)(0.7, 0)


def test_checkpoints_and_functions_with_gradients_of_their_own_give_such_variables():
    again = ag.checkpoint(nested)
    assert ag.grad(lambda x, n: again(x, n) * x)(0.7, 2) == pytest.approx(3 * 2 * 0.7**2)
    assert ag.grad(ag.grad(lambda x, n: again(x, n)))(0.7, 2) == pytest.approx(4.0)

    @ag.custom_gradient
    def own(x, n):
        return nested(x, n), lambda gradient: (gradient * 10.0, None)

    assert ag.grad(lambda x, n: own(x, n) * x)(0.7, 2) == pytest.approx(2 * 0.7**2 + 7.0)
    with pytest.raises(DerivativeError, match=r"`str\(x\)`, a value of type str"):
        ag.grad(lambda x: ag.checkpoint(float)(str(x)))(0.7)
    assert ag.grad(lambda x: float(ag.stop_gradient(str(x))) * x)(0.7) == 0.7


def product_from_one(x, n):
    y = 1
    for _ in range(n):
        y = y * x
    return y


@pytest.mark.parametrize("third", [
    lambda f, x: ag.grad(ag.grad(ag.grad(f)))(x, 3),
    lambda f, x: ag.grad(lambda x: ag.jvp(lambda x: ag.grad(f)(x, 3), (x,), (1.0,))[1])(x),
    lambda f, x: ag.jvp(lambda x: ag.grad(ag.grad(f))(x, 3), (x,), (1.0,))[1],
])  # fmt: skip
def test_third_derivatives_in_what_is_an_integer_at_first(third: Callable[..., Any]):
    assert third(product_from_one, 0.73) == pytest.approx(6.0)


def test_checkpoints_that_enter_a_context():
    def f(x):
        with np.errstate(all="ignore"):
            y = x / 2
        return y * y

    assert ag.grad(ag.checkpoint(f))(0.7) == 0.35


# Operations on what only the run knows to be an array -----------------------------------------------------------------

OPERATIONS = """
    np.where(y > 0.5, y, 0)   np.stack([y, y])   np.concatenate([y, x])   y @ x   y.T * x   y.mean()   y[::-1] * x
    y[1]   y.reshape(-1, 1)   np.einsum('i,i', y, x)   y[[0, 0, 2]]   y[y > 0.3]   np.cumsum(y)
    np.sort(y) * x   y.max() * x
    np.outer(y, x)   np.tile(y, 2)   np.prod(y)   np.std(y)   np.split(y, 3)[1]   y.tolist()[1]   sum(y)   max(y)
    [v * 2 for v in y][0]   np.linalg.solve(np.outer(y, y) + np.eye(3), x)   np.average(x, weights=y)
    np.clip(y, 0, 0.5)   y.astype(np.float32)   round(y[0], 1) * y   (y > 0.3) * y   y if n else x   divmod(y, 0.3)[1]
    np.asarray(y) * y   y.copy() ** 2   np.full(3, y[0])   np.argsort(y) * y   -abs(y)   y // 0.3 * y   np.ravel(y) @ x
"""


@pytest.mark.parametrize("text", [part.strip() for part in re.split(r" {3,}|\n", OPERATIONS) if part.strip()])
@pytest.mark.parametrize("first", ["None", "np.ones((2, 2))"])
def test_operations_on_what_becomes_an_array(text: str, first: str):
    lines = ["import numpy as np", "def f(x, n):", f"    y = {first}", "    for i in range(n):"]
    lines += ["        y = x * x * (i + 1)", f"    return np.sum({text}) * 1.0", ""]
    f = outcomes.execute("\n".join(lines), f"<{text}, {first}>")["f"]
    x, step = np.array([0.37, 0.83, 0.52]), 1e-3 if "float32" in text else 1e-6
    wanted = [(f(x + step * one, 2) - f(x - step * one, 2)) / (2 * step) for one in np.eye(3)]
    np.testing.assert_allclose(ag.grad(f)(x, 2), wanted, rtol=1e-4, atol=1e-4)
