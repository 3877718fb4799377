"""L-BFGS: on functions with known minima, plain and staged."""

from __future__ import annotations

import numpy as np
import pytest

import autograph as ag
from autograph import optim
from tests.comparing import compare


def rosenbrock(x):
    a, b = x[:-1], x[1:]
    gradient = np.zeros(x.shape)
    gradient[:-1] += -400 * a * (b - a**2) - 2 * (1 - a)
    gradient[1:] += 200 * (b - a**2)
    return np.sum(100 * (b - a**2) ** 2 + (1 - a) ** 2), gradient


def bowl(x):
    scales = np.array([[1.0, 10.0], [100.0, 1000.0]])
    return 0.5 * np.sum(scales * x**2) - np.sum(x), scales * x - 1


def flat(x):
    return np.sum(np.sqrt(1 + x**2)), x / np.sqrt(1 + x**2)


@pytest.mark.parametrize(
    "function, start, minimum",
    [(rosenbrock, np.zeros(10), np.ones(10)), (rosenbrock, np.array([-1.2, 1.0]), np.ones(2)),
     (bowl, np.zeros((2, 2)), 1 / np.array([[1.0, 10.0], [100.0, 1000.0]])), (flat, np.array([50.0, -3.0]), 0)],
)  # fmt: skip
def test_minima_are_found(function, start, minimum):
    before = start.copy()
    found = optim.lbfgs(function, start, iterations=300)
    assert found.converged and np.allclose(found.x, minimum, atol=1e-4) and found.iterations < 100
    assert np.array_equal(start, before) and np.array_equal(found.gradient, function(found.x)[1])


def test_what_it_tells():
    found = optim.lbfgs(rosenbrock, np.zeros(4), iterations=3)
    assert not found.converged and found.iterations == 3 and found.evaluations > 3
    assert optim.lbfgs(bowl, 1 / np.array([[1.0, 10.0], [100.0, 1000.0]])).iterations == 0


def finds(x, history, iterations):
    return optim.lbfgs(rosenbrock, x, history, iterations)


def test_the_same_staged():
    compare(finds, "np.zeros(6), 10, 200", "np.zeros(6), 3, 200", "np.zeros(4), 10, 2", "np.ones(3), 5, 10")


def test_gradients_by_the_library():
    @ag.function
    def minimize(x):
        return optim.lbfgs(ag.value_and_grad(lambda x: np.sum((x - 1) ** 4 + x**2)), x)

    found = minimize(np.zeros(3))
    assert found.converged and np.allclose(4 * (found.x - 1) ** 3 + 2 * found.x, 0, atol=1e-4)
