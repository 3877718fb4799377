"""Gradients of functions with control flow, arrays changed in place and containers, against finite differences."""

from __future__ import annotations

import cmath
import copy
import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import DerivativeError, UnstagedDerivativeError

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


def sorted_in_place(x):
    y = x * 2
    y.sort()
    return y[0] * y[2] * 3


def overwritten_by_functions(x):
    y, m = x * 2, np.outer(x, x)
    np.put(y, [0, 0, 1], x)
    np.fill_diagonal(m, x[1])
    np.copyto(m[0], x * x, where=x > 0)
    np.putmask(y, y > 1, x)
    return np.sum(y * y) + np.sum(m * m)


def named_twice(x):
    y, z, v = x * 2, x * 2, x * 2
    y[[0, 0, 1]] = [x[0], x[1], x[2]]
    z[[0, 0, 1]] = x[2]
    v[[0, 0, 1]] += x
    return np.sum(y * y) + np.sum(z * z) + np.sum(v * v)


def through_views(x):
    m = np.outer(x, x)
    m.T[0] = x
    m.ravel()[4] = x[0]
    m.reshape(-1)[5] *= x[1]
    m.flat[3] = x[1]
    m.flat[5:7] = x[:2] * 3
    m.real[1] *= x
    return np.sum(m * m)


def view_or_copy(x):
    m = np.outer(x, x).T
    copied = m.ravel()
    copied[2] = x[0]
    return np.sum(m * m) + np.sum(copied * copied * copied)


def into_an_output(x):
    y = x * 2
    np.add(y, x, out=y)
    np.sin(x[::-1], out=y[:])
    np.multiply(y, x, y)
    np.add(y, x, out=y, where=x > 0)
    return np.sum(y * y)


def lists_put_together(x):
    squares = []
    for v in x:
        squares.append(v * v)
    both = (squares + [x[0]]) * 2
    both.sort()
    return sum(both[i] * i for i in range(len(both))) + min(squares) * max(both) + sorted(squares)[0]


def items_of_unknown_kind(x):
    rows, t = [x * 1], 0.0
    for i in range(3):
        rows.append(x * i)
    for row in rows:
        row[0] = x[1] * x[2]
        row *= x
        t = t + np.dot(row, x)
    return t


def index_of_unknown_kind(x):
    places, t = [], 0.0
    for i in range(len(x)):
        if x[i] > 0:
            places.append(i)
    for i in places:
        t = t + x[i] * x[i]
    return t


def item_kept_from_a_loop(x):
    y, last, rows = x * 2, sum([v * 1 for v in x]), []
    for v in x:
        rows.append(v)
    last = sum(rows)
    for last in y:
        rows.append(last)
    y /= 2
    return last * y[0] + sum(rows)


def leaves_branches(x):
    m, y = np.outer(x, x), x.copy()
    if x[0] > 0.2:
        z = np.outer([1.0, 0.5, 2.0], y)
    else:
        z = np.array([y, y, x])
    m -= z
    y[0] = 1
    return np.sum(m * m * x)


def nested_conditions(x):
    if x[0] < 0:
        x = x * 2
    elif x[1] > 1:
        if x[2] > 1:
            return 0.5
        if x[0] > 3:
            return x[0]
    return x[2] * x[2]


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
    (sorted_in_place, X, ()),
    (overwritten_by_functions, X, ()),
    (named_twice, X, ()),
    (through_views, X, ()),
    (view_or_copy, X, ()),
    (into_an_output, X, ()),
    (lists_put_together, X, ()),
    (items_of_unknown_kind, X, ()),
    (leaves_branches, X, ()),
    (item_kept_from_a_loop, X, ()),
    (index_of_unknown_kind, X, ()),
    (nested_conditions, X, ()),
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


@pytest.mark.once
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


def test_descent_that_carries_a_list():
    """The list that the caller gave is one object of the graph, as all others are that take its place."""

    def loss(weights, x):
        w, b = weights
        return np.sum((x @ w + b) ** 2)

    def descend(weights, x, n):
        for _ in range(n):
            gradients = ag.grad(loss)(weights, x)
            weights = [weight - 0.01 * gradient for weight, gradient in zip(weights, gradients)]
        return weights

    weights, x = [np.array([1.0, -2.0]), 0.5], np.array([[1.0, 2.0], [0.5, -1.0]])
    staged = ag.function(descend, strict=("plain",))
    found, wanted = staged(weights, x, 7), weights
    for _ in range(7):
        error = x @ wanted[0] + wanted[1]
        wanted = [wanted[0] - 0.02 * error @ x, wanted[1] - 0.02 * np.sum(error)]
    np.testing.assert_allclose(found[0], wanted[0])
    assert found[1] == pytest.approx(wanted[1])
    assert staged(weights, x, 0) is weights


def test_descent_that_carries_a_list_of_its_own_part_by_part():
    def descend(w, b, x, n):
        params = [w, b]
        for _ in range(n):
            gradients = ag.grad(lambda params: np.sum((x @ params[0] + params[1]) ** 2))(params)
            params = [param - 0.01 * gradient for param, gradient in zip(params, gradients)]
        return params

    staged, x = ag.function(descend), np.array([[1.0, 2.0], [0.5, -1.0]])
    found = staged(np.array([1.0, -2.0]), 0.5, x, 1)
    error = x @ [1.0, -2.0] + 0.5
    np.testing.assert_allclose(found[0], [1.0, -2.0] - 0.02 * error @ x)
    source = staged.lower(np.array([1.0, -2.0]), 0.5, x, 1).source
    assert "shadow" not in source
    assert "append" not in source


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

    with pytest.raises(UnstagedDerivativeError, match="^f runs as plain Python: `except` .* Only staged code"):
        ag.grad(f)(3.0)


def test_between_constant_points():
    assert ag.grad(lambda x: float(np.interp(x, [0, 1, 2], [0, 10, 30])))(1.5) == 20.0


def test_what_is_computed_for_the_value_alone_is_left_out():
    assert "np.mean" not in str(ag.grad(lambda x: np.mean(x * x)).graph(X))
    assert "np.mean" in str(ag.value_and_grad(lambda x: np.mean(x * x)).graph(X))
    with pytest.warns(RuntimeWarning, match="overflow"):
        ag.value_and_grad(lambda x: np.sum(x * 1e308))(abs(X) * 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ag.grad(lambda x: np.sum(x * 1e308))(abs(X) * 10)
    with pytest.raises(ValueError, match="broadcast"):
        ag.grad(lambda x: np.sum(x) + 0 * np.sum(x + np.ones(4)))(X)


def test_vjp():
    def f(x, y):
        return x * y, {"sin": np.sin(x)}

    value, pullback = ag.vjp(f, 2.0, X)
    np.testing.assert_allclose(value[0], 2 * X)
    gradients = pullback((np.ones(3), {"sin": 3.0}))
    assert gradients[0] == pytest.approx(np.sum(X) + 3 * np.cos(2.0))
    np.testing.assert_allclose(gradients[1], np.full(3, 2.0))

    @ag.function
    def staged(x, y):
        value, pullback = ag.vjp(f, x, y)
        return pullback((np.ones(3), {"sin": 3.0}))

    np.testing.assert_allclose(staged(2.0, X)[0], gradients[0])


@pytest.mark.parametrize(
    "function", [lambda x: np.array_split(x, 2), lambda x: tuple(np.array_split(x, 2)), lambda x: [x[:2], x[2:]]]
)
def test_vjp_of_several_results(function):
    value, pullback = ag.vjp(function, X)
    assert len(value) == 2
    (found,) = pullback(type(value)([np.array([1.0, 2.0]), np.array([3.0])]))
    assert np.array_equal(found, [1, 2, 3])


def test_vjp_of_what_gives_tuples():
    z = np.array([[1.0, 3.0, 4.0], [5.0, 6.0, 7.0]])
    _, pullback = ag.vjp(np.gradient, z)
    (found,) = pullback((np.ones((2, 3)), 2 * np.ones((2, 3))))
    assert np.array_equal(found, [[-5, -2, 1], [-1, 2, 5]])
    _, pullback = ag.vjp(np.linalg.slogdet, np.eye(2) * 3)
    assert np.allclose(pullback((0.0, 1.0))[0], np.eye(2) / 3)


def test_jvp_of_several_results():
    z, change = 0.3 + 0.4j, 1 - 0.5j
    assert ag.jvp(cmath.sqrt, (z,), (change,))[1] == pytest.approx(change / (2 * cmath.sqrt(z)))
    assert ag.jvp(np.sum, (np.array([z, 2 * z]),), (np.array([change, 1j]),))[1] == change + 1j
    value, moved = ag.jvp(lambda x: (np.modf(x), x[0]), (X,), (X,))
    assert np.array_equal(value[0][0], np.modf(X)[0])
    assert np.array_equal(moved[0], [X, np.zeros(3)]) and moved[1] == X[0]
    averaged = ag.jvp(lambda x: np.average(x, 0, np.ones(3), True), (X,), (X,))
    assert np.allclose(averaged[1], (X.mean(), 0))
    power = ag.jvp(lambda x, y: x**y, (2.3, 1.4), (1.0, 0.0))
    assert type(power[1]) is float and power[1] == pytest.approx(1.4 * 2.3**0.4)


def test_jvp_of_lists_that_grow():
    def grown(x):
        found = [1]
        for each in x:
            found.append((each * each, -each) if each > 0 else each)
        return {"grown": found, "split": np.split(x**2, 3)}

    x, change = np.array([0.5, -0.25, 2.0]), np.array([1.0, 2.0, 3.0])
    value, moved = ag.jvp(grown, (x,), (change,))
    assert value["grown"] == grown(x)["grown"]
    assert moved["grown"] == [0, (1, -1), 2, (12, -3)]
    assert np.allclose(moved["split"], 2 * (x * change)[:, None])


@pytest.mark.parametrize(
    "function, cotangents",
    [(lambda x: (x, x), X), (lambda x: (x, x), (X,)), (lambda x: x, (X, X)), (lambda x: [x], [X, X])],
)
def test_vjp_wants_gradients_in_the_form_of_the_result(function, cotangents):
    _, pullback = ag.vjp(function, X)
    with pytest.raises(DerivativeError, match="in the form of the result"):
        pullback(cotangents)


def test_functions_that_are_operators():
    functions = [pow, operator.mul]
    assert ag.grad(lambda x: functions[0](*[x, 3]) + functions[1](x, x))(2.0) == 16
    assert ag.grad(lambda x: operator.neg(operator.pow(x, 2)) + operator.mul(x, x))(3.0) == 0
    assert str(ag.function(lambda x, y: operator.add(x, y)).lower(1, 2)).endswith("return x + y\n")


def test_vjp_with_aux():
    value, pullback, aux = ag.vjp(lambda x: (x * x, "aux"), 3.0, has_aux=True)
    assert (value, pullback(1.0), aux) == (9.0, (6.0,), "aux")


@pytest.mark.parametrize("case", FUNCTIONS, ids=lambda case: case[0].__name__)
def test_jvp(case):
    function, x, rest = case
    tangent = np.cos(np.arange(1.0, 1.0 + np.size(x))).reshape(np.shape(x)) if np.ndim(x) else 1.5

    def along(x):
        return function(x, *rest)

    wanted = np.sum(differences(function, x, *rest) * tangent)
    value, found = ag.jvp(along, (copy.deepcopy(x),), (tangent,))
    assert value == along(copy.deepcopy(x))
    assert type(found) is type(value)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_jacobian_and_hessian():
    def f(x, scale):
        return np.array([x[0] * x[1], np.sin(x[1]) * scale])

    x = np.array([0.3, 0.7])
    np.testing.assert_allclose(ag.jacobian(f)(x, 2.0), [[0.7, 0.3], [0.0, 2 * np.cos(0.7)]])
    np.testing.assert_allclose(ag.hessian(lambda x: x[0] ** 3 * x[1])(x), [[6 * 0.3 * 0.7, 0.27], [0.27, 0.0]])


def test_stop_gradient():
    assert ag.stop_gradient(3.0) == 3.0
    assert ag.grad(lambda x: ag.stop_gradient(x) * x)(3.0) == 3.0
    assert ag.function(lambda x: ag.stop_gradient({"a": x}))(3.0) == {"a": 3.0}


def test_custom_gradient():
    @ag.custom_gradient
    def softplus(x):
        e = np.exp(x)
        return np.log(1 + e), lambda g: g * (1 - 1 / (1 + e))

    assert softplus(1.0) == pytest.approx(np.log(1 + np.e))
    assert ag.grad(softplus)(100.0) == 1.0
    p = 1 / (1 + np.exp(-1.0))
    assert ag.grad(ag.grad(softplus))(1.0) == pytest.approx(p * (1 - p))

    @ag.custom_gradient
    def clipped(x, y):
        return (x + y, x * y), lambda g: (np.clip(g[0], -1, 1), None)

    assert ag.grad(lambda x, y: 5 * clipped(x, y)[0] + y, argnums=(0, 1))(1.0, 2.0) == (1.0, 1.0)


def test_checkpoint_keeps_only_what_goes_in():
    w = np.array([2.0, 3.0])

    def step(x, k):
        return np.sin(np.cos(x) * w) * k

    def run(step):
        def run(x, n):
            for i in range(n):
                x = step(x, i + 1.0)
            return np.sum(x)

        return ag.grad(run)

    x = np.array([1.0, 2.0])
    plain, again = run(step), run(ag.checkpoint(step))
    np.testing.assert_allclose(again(x, 5), plain(x, 5))
    kept = [
        max(line.count(",") for line in str(gradient.graph(x, 5)).splitlines() if ".append(" in line)
        for gradient in (plain, again)
    ]
    assert kept[1] < kept[0]
    np.testing.assert_array_equal(ag.checkpoint(step)(x, 2.0), step(x, 2.0))


def test_gradients_in_variables():
    weights = {"w": ag.Variable([1.0, 2.0]), "b": ag.Variable(0.5)}

    def loss(x):
        return np.sum(weights["w"] * x * weights["w"]) + weights["b"] * 2

    value, gradients = ag.value_and_grad(loss, wrt=weights)(np.array([3.0, 4.0]))
    assert value == 3 + 16 + 1
    np.testing.assert_allclose(gradients["w"], [6.0, 16.0])
    assert gradients["b"] == 2.0

    @ag.function
    def train(x, n):
        for _ in range(n):
            gradients = ag.grad(loss, wrt=weights)(x)
            for name, gradient in gradients.items():
                weights[name].assign_sub(0.1 * gradient)

    train(np.array([3.0, 4.0]), 3)
    np.testing.assert_allclose(weights["w"].value, [0.4**3, 2 * 0.2**3])
    with pytest.raises(DerivativeError, match="wrt= takes a structure of variables"):
        ag.grad(loss, wrt=[1.0])


def test_names_the_operation_that_has_no_derivative():
    @ag.do_not_convert
    def opaque(x):
        return np.sum(x * x)

    def f(x):
        return opaque(x) + 1

    with pytest.raises(DerivativeError, match=r"test_gradients.py:\d+: `opaque\(…\)` has no derivative"):
        ag.grad(f)(X)


def test_refuses_what_it_cannot_follow():
    def structured(x):
        y = np.zeros(3, [("a", float), ("b", float)])
        y["a"] = x
        return np.sum(y["a"] * x)

    def multiplied(x):
        y = x * 2
        np.multiply.at(y, [0, 0, 1], x)
        return np.sum(y)

    def diagonal(x):
        y = np.outer(x, x)
        v = np.einsum("ii->i", y)
        v *= x
        return np.sum(y * y)

    with pytest.raises(DerivativeError, match="through an array of"):
        ag.grad(structured)(X)
    with pytest.raises(DerivativeError, match=r"test_gradients.py:\d+: `np.multiply.at` changes in place"):
        ag.grad(multiplied)(X)
    with pytest.raises(DerivativeError, match=r"`np.einsum`, which gives `v`, may give a view"):
        ag.grad(diagonal)(X)
