"""What does not count has no gradient, though it or its slope be infinite or NaN."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag

DATA = np.array([[1.0, 2.0], [np.nan, np.inf]])


def chosen(x):
    return np.where(x > 0, np.log(x), 0.0).sum() + np.fmax(np.log(x), 0.5).sum()


def row_read(x):
    return np.log(x)[0].sum() + np.log(x)[x > 0].sum()


def row_written(x):
    y = np.zeros_like(x)
    y[0] = x[0] ** 2
    y[1] = np.log(x[1])
    return y[0].sum()


def rows_of_a_loop(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] = np.log(x[i])
    return y[0].sum()


def overwritten(x):
    y = np.log(x)
    y *= np.sqrt(x)
    y[1] = 0.0
    return y.sum()


def view(x):
    y = np.log(x)
    z = y[:1]
    z *= 2
    return z.sum()


def list_of_a_loop(x):
    ys = []
    for v in x:
        ys.append(np.log(v))
    return ys[0].sum()


def not_taken_in_a_loop(x):
    total, at = 0.0, 0
    while at < len(x):
        root = np.sqrt(x[at])
        at += 1
        if not root.all() or np.isnan(root).any():
            continue
        total += root.sum()
    return total


def put_together(x):
    y = np.concatenate([x[:1], np.log(x[1:])])
    return y[0].sum() + np.stack([x[0], np.log(x[1])])[0].sum()


def masked_by_functions(x):
    y = np.zeros_like(x)
    np.copyto(y, np.log(x), where=x > 0)
    np.log(x, out=y, where=x > 0)
    return y.sum() + np.nansum(x * DATA[:, :1])


def residuals_of_gaps(x):
    return ((x - DATA) ** 2)[np.isfinite(DATA)].sum()


def products_with_gaps(x):
    found = DATA @ x[0]
    return np.sum(found[np.isfinite(found)] ** 2) + np.nansum(np.einsum("ij,j->i", DATA, x[0]))


def products_of_a_loop(x):
    total = 0.0
    for row in DATA:
        found = row @ x[0]
        if np.isfinite(found):
            total = total + found * found
    return total


def numbers(x):
    root = x[1, 0] ** 0.5
    if np.isnan(root) or root == 0:
        return x[0].sum()
    return root


PROGRAMS = [
    chosen, row_read, row_written, rows_of_a_loop, overwritten, view, list_of_a_loop, not_taken_in_a_loop, put_together,
    masked_by_functions, residuals_of_gaps, products_with_gaps, products_of_a_loop, numbers,
]  # fmt: skip


@pytest.mark.once
@pytest.mark.parametrize("bad", [0.0, np.nan])
@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_gradient(function: Callable[[Any], Any], bad: float) -> None:
    x = np.array([[1.3, 2.1], [bad, bad]])
    if function is overwritten or not np.isnan(function(x)):
        steps = np.eye(2, 4).reshape(2, 2, 2) * 1e-6
        wanted = [(function(x + step) - function(x - step)) / 2e-6 for step in steps]
        assert np.allclose(ag.grad(function)(x), [wanted, [0.0, 0.0]], rtol=1e-5)


def test_computed_zeros_count() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(ag.grad(lambda x: np.sum(np.sqrt(x) ** 2))(np.zeros(2))).all()


def test_second_derivatives_and_changes_go_through() -> None:
    x, change = np.array([2.0, 0.5, 1.5]), np.array([1.0, 2.0, 3.0])

    def f(x):
        return np.where(x > 1, x**3, 0.0).sum() + (np.outer(x, x) @ x)[0]

    gradient = np.where(x > 1, 3 * x**2, 0) + 2 * x[0] * x + np.array([np.sum(x * x), 0, 0])
    assert np.allclose(ag.grad(f)(x), gradient)
    assert np.allclose(ag.jvp(f, (x,), (change,))[1], gradient @ change)
    hessian = np.diag(np.where(x > 1, 6 * x, 0) + 2 * x[0])
    hessian[0] += 2 * x
    hessian[:, 0] += 2 * x
    assert np.allclose(ag.hessian(f)(x), hessian)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_second_derivatives_of_what_does_not_count() -> None:
    found = ag.hessian(lambda x: np.where(x > 0, np.log(x), 0.0).sum())(np.array([0.5, 0.0, 2.0]))
    assert np.allclose(found, np.diag([-4.0, 0.0, -0.25]))

    def overwritten(x):
        root = np.sqrt(x - 1)
        root[0] = x[1] ** 2
        return root[0]

    assert ag.hessian(overwritten)(np.array([0.5, -0.4, 0.3])).tolist() == [[0, 0, 0], [0, 2, 0], [0, 0, 0]]

    def skipped(x):
        total, last = 0.0, 0.0
        for value in x:
            root = np.sqrt(value)
            last = np.log(value)
            if np.isnan(root) or root == 0:
                continue
            total += root + last * value
        return total

    for bad in (0.0, -0.5):
        x = np.array([0.5, bad, 2.0])
        assert np.allclose(ag.hessian(skipped)(x), np.diag(np.where(x > 0, -0.25 * abs(x) ** -1.5 + 1 / x, 0.0)))
    at_kink = ag.hessian(lambda w: np.where(w > -5, np.sin(w) ** 2, 0.0).sum())(np.zeros(2))
    assert np.allclose(at_kink, 2 * np.eye(2))


def test_gradients_that_all_count_are_not_looked_at() -> None:
    def network(w, x):
        return np.mean(np.tanh(np.maximum(x @ w, 0.0) @ w) ** 2)

    assert "cleared" not in ag.grad(network).lower(np.ones((2, 2)), np.ones((3, 2))).source


@pytest.mark.once
def test_sums_of_many_gradients_take_no_recursion(tmp_path) -> None:
    lines = "".join(f"    y = y + w[{number % 3}]\n" for number in range(1500))
    path = tmp_path / "many.py"
    path.write_text(f"def many(x):\n    w = x[:, None] * x\n    y = x\n{lines}    return y.sum()\n")
    names: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), names)
    assert np.allclose(ag.grad(names["many"])(np.ones(3)), 3001)
