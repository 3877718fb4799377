"""Gradients of functions with control flow, arrays changed in place and containers, against finite differences."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import DerivativeError, StrictError

X = np.array([1.2, -2.0, 3.0])


def power(x, n):
    t = 1.0
    for _ in range(n):
        t = t * x
    return t


def branches(x, n):
    t = 1.0
    for i in range(n):
        if t < 10:
            t = t * x
        elif i % 2 == 0:
            t = t + x
    return t


def until_large(x):
    while x < 100:
        x = x * x
    return x


def endless(x):
    while True:
        x = x * 1.5
        if x > 100:
            break
    return x


def early_return(x, n):
    def inner(y):
        if y > 3:
            return y * y
        return y * 3

    t, i = 0.0, 0
    while i < n:
        t = t + inner(x + i)
        i += 1
    return t


def items(xs):
    t = 0.0
    for i in range(len(xs)):
        t += xs[i] * xs[i]
    for v in xs:
        t = t + v
    for i, (u, v) in enumerate(zip(xs, xs[::-1])):
        t += u * v * i
        if t > 5:
            break
    return t


def nested(x, n):
    t = 0.0
    for i in range(n):
        for j in range(i):
            if j % 2 == 0:
                t = t + x[j] * x[i]
            else:
                t = t * 0.5
    return t


def largest(xs):
    best = xs[0]
    for v in xs:
        if v > best:
            best = v
    return best * best


def written(x):
    y = np.zeros(3)
    y[0] = x[1] * x[2]
    y[1:] = x[:2] * 2
    y *= x
    return np.sum(y * y)


def recurrence(x):
    x = x.copy()
    for i in range(1, len(x)):
        x[i] += x[i - 1] * x[i]
    return x[-1]


def argument_changed(x):
    x[0] = x[1] * x[2]
    x *= 2
    return np.sum(x)


def swapped(x):
    a, b = x * 2, x * 3
    for i in range(3):
        a, b = b, a
        a[i] = b[i] * a[i]
    return np.sum(a * b)


def appended(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v * v)
    t = 0.0
    for each in out:
        t = t + each * each
    return t


def in_a_list(x):
    out = []
    for i in range(len(x)):
        out.append(x[i] * x[i])
    return out[0] * out[1] + out[2]


def in_a_dict(x):
    d = {"a": x * 2, "b": np.sum(x)}
    return np.sum(d["a"] * d["b"])


def rows(x):
    t = 0.0
    for a, b in x:
        t = t + a * b
    return t


FUNCTIONS: list[tuple[Callable[..., Any], Any, tuple[Any, ...]]] = [
    (power, 2.0, (4,)),
    (branches, 3.0, (5,)),
    (until_large, 3.0, ()),
    (endless, 2.0, ()),
    (early_return, 1.5, (4,)),
    (items, X, ()),
    (nested, np.arange(1.0, 6.0), (5,)),
    (largest, X, ()),
    (written, X, ()),
    (recurrence, X, ()),
    (argument_changed, X, ()),
    (swapped, X, ()),
    (appended, X, ()),
    (in_a_list, X, ()),
    (in_a_dict, X, ()),
    (rows, np.arange(6.0).reshape(3, 2), ()),
]


def differences(function: Callable[..., Any], x: Any, *rest: Any) -> Any:
    """The gradient in the first argument, by central differences."""
    array = np.asarray(x, float)
    found = np.zeros_like(array)
    for at in np.ndindex(array.shape):
        step = np.zeros_like(array)
        step[at] = 1e-6
        up, down = (array + step, array - step) if array.ndim else (float(array + step), float(array - step))
        found[at] = (function(up, *rest) - function(down, *rest)) / 2e-6
    return found if found.ndim else float(found)


@pytest.mark.parametrize("case", FUNCTIONS, ids=lambda case: case[0].__name__)
def test_gradient(case):
    function, x, rest = case
    wanted = differences(function, x, *rest)
    before = copy.deepcopy(x)
    value, gradient = ag.value_and_grad(function)(x, *rest)
    assert type(gradient) is type(x)
    np.testing.assert_allclose(gradient, wanted, rtol=1e-4, atol=1e-5)
    after = copy.deepcopy(before)
    assert value == function(after, *rest)
    np.testing.assert_array_equal(x, after)     # and it changes its argument as the function does
    if isinstance(x, np.ndarray):
        x[...] = before


@pytest.mark.parametrize("case", FUNCTIONS, ids=lambda case: case[0].__name__)
def test_gradient_of_a_gradient(case):
    function, x, rest = case
    gradient = ag.grad(function)

    def directional(x, *rest):
        return np.sum(gradient(x, *rest) * np.arange(1.0, 1.0 + np.size(x)).reshape(np.shape(x)))

    x = copy.deepcopy(x)
    wanted = differences(directional, x, *rest)
    np.testing.assert_allclose(ag.grad(directional)(copy.deepcopy(x), *rest), wanted, rtol=1e-4, atol=1e-4)


def test_any_order():
    third = ag.grad(ag.grad(ag.grad(power)))
    assert third(2.0, 5) == pytest.approx(60 * 2.0**2)


def test_arguments_by_number_name_and_structure():
    def f(p, x, *, scale):
        return np.sum(p["w"] * x + p["b"]) * scale

    p, x = {"w": np.array([1.0, 2.0]), "b": 0.5}, np.array([3.0, 4.0])
    found = ag.grad(f)(p, x, scale=2.0)
    assert found.keys() == p.keys()
    np.testing.assert_allclose(found["w"], 2 * x)
    assert found["b"] == 4.0
    assert type(found["b"]) is float
    both = ag.grad(f, argnums=(1, "scale"))(p, x, scale=2.0)
    np.testing.assert_allclose(both[0], 2 * p["w"])
    assert both[1] == 12.0


def test_has_aux():
    def f(x):
        return x * x, {"twice": 2 * x}

    assert ag.grad(f, has_aux=True)(3.0) == (6.0, {"twice": 6.0})
    assert ag.value_and_grad(f, has_aux=True)(3.0) == ((9.0, {"twice": 6.0}), 6.0)


def test_float32_stays():
    gradient = ag.grad(lambda x: np.sum(x * x * 0.5))(np.array([1, 2], np.float32))
    assert gradient.dtype == np.float32


def test_only_the_argument_counts():
    """Not what it is called elsewhere."""

    def f(w):
        return ag.grad(lambda x: x * w)(w)

    assert f(3.0) == 3.0
    assert ag.function(f)(3.0) == 3.0
    assert ag.grad(f)(3.0) == 1.0


def test_inside_a_staged_function():
    @ag.function
    def descend(w, n):
        for _ in range(n):
            w = w - 0.1 * ag.grad(lambda v: np.sum((v - 1.0) * (v - 1.0)))(w)
        return w

    np.testing.assert_allclose(descend(np.zeros(3), 100), np.ones(3), atol=1e-6)


def test_effects_happen_once(capsys):
    def f(x):
        print("x is", x)
        return x * x

    assert ag.grad(f)(3.0) == 6.0
    assert capsys.readouterr().out == "x is 3.0\n"


def test_eager_mode_still_differentiates():
    ag.run_eagerly(True)
    try:
        assert ag.grad(lambda x: x * x)(3.0) == 6.0
    finally:
        ag.run_eagerly(False)


def test_errors_say_what_is_to_be_done():
    with pytest.raises(DerivativeError, match=r"in an argument that is .*py.int.*pass a float"):
        ag.grad(lambda x: x * x)(3)
    with pytest.raises(DerivativeError, match=r"returns something of type f64\[3\].*ag.vjp"):
        ag.grad(lambda x: x * x)(X)
    with pytest.raises(DerivativeError, match="argument 1, but the call has 1 positional"):
        ag.grad(lambda x: x * x, argnums=1)(3.0)


def test_what_cannot_be_staged_has_no_gradient():
    def f(x):
        try:
            return x / 2
        except ZeroDivisionError:
            return x

    with pytest.raises(StrictError, match="`except` stands around what is computed here"):
        ag.grad(f)(3.0)


def test_names_the_operation_that_has_no_derivative():
    @ag.do_not_convert
    def opaque(x):
        return np.sum(x * x)

    def f(x):
        return opaque(x) + 1

    with pytest.raises(DerivativeError, match=r"test_gradients.py:\d+: `call` has no derivative"):
        ag.grad(f)(X)
