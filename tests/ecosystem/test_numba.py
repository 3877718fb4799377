"""Numba: compiled functions called by staged ones, and staged ones compiled."""

import numpy as np
import pytest

import autograph as ag
from tests.ecosystem.probes import Probes, package

numba = package("numba")
PROBES = Probes()
OBJECTS = Probes()      # what Numba takes if a staged function is an object of its own, see docs/limits.md


@numba.njit
def square(x):
    return x * x


@numba.njit
def clipped_sum(xs, limit):
    total = 0.0
    for x in xs:
        total += min(x, limit)
    return total


@numba.vectorize
def leaky(x):
    return x if x > 0 else 0.1 * x


@numba.njit
def fill(xs, value):
    for i in range(len(xs)):
        xs[i] = value + i


@PROBES("2", "2.5", "np.float32(3)", "np.arange(3)")
def scalars(x):
    return square(x) + square(3)


@PROBES("np.array([1.0, 5.0, -2.0]), 2.0")
def arrays(xs, limit):
    return clipped_sum(xs, limit) if len(xs) > 1 else 0.0


@PROBES("np.array([1.0, -2.0])", "3.0", "-3.0")
def ufuncs(x):
    y = leaky(x)
    return y, np.sum(y) > 0


@PROBES("np.zeros(4), 1.5")
def written(xs, value):
    fill(xs, value)
    return xs.sum(), xs


@PROBES("5")
def in_loops(n):
    total = 0
    for i in range(n):
        if i % 2 == 0:
            total += square(i)
    return total


@OBJECTS("np.arange(5.0)")
def staged_ones_compiled(stage, xs):
    @stage
    def total(xs):
        t = 0.0
        for x in xs:
            t += x if x > 1 else -x
        return t

    return numba.njit(total)(xs), total(xs)


test_probe = PROBES.test()
test_probe_of_objects = pytest.mark.usefixtures("traced_at_once")(OBJECTS.test())


def test_what_numba_compiles_is_the_function_behind_a_staged_one():
    """With the default options, `numba.njit(f)` would take `f.compile` for a method of its own."""
    staged = ag.function(lambda x: x + 1)
    assert numba.njit(staged.python_function)(1) == 2


def test_what_is_drawn_is_drawn_at_each_call():
    import autograph as ag

    @numba.njit
    def draw():
        return np.random.rand()

    assert len({ag.function(lambda x: x + draw())(1.0) for _ in range(5)}) == 5
    staged = ag.function(lambda x: x + draw())
    assert len({staged(1.0) for _ in range(5)}) == 5
