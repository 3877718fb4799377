"""Gradients of numbers that go from iteration to iteration, where a rule computes with arrays without dimensions.

NumPy's `where` makes an array of numbers, and its sums of such arrays are scalars again. All graphs are checked, as in
all tests: what comes out of an iteration must be of the type that goes into the next one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag

pytestmark = pytest.mark.once

CHANGES: dict[str, Callable[[Any, int], Any]] = {
    "max": lambda p, i: max(p * 1.5, 0.1),
    "min": lambda p, i: min(p * 0.5, 2.0, 8),
    "maximum": lambda p, i: np.maximum(p, 0.1),
    "minimum": lambda p, i: np.minimum(p * p, 0.9),
    "fmax": lambda p, i: np.fmax(0.1, p) * p,
    "abs": lambda p, i: abs(p) * 0.5,
    "np.abs": lambda p, i: np.abs(-p),
    "clip": lambda p, i: np.clip(p * 2.0, -1.0, 1.5),
    "where": lambda p, i: np.where(p > 0, p, 0.1 * p),
    "where of a number": lambda p, i: np.where(p > 0.4, p * p, 0.1),
    "select": lambda p, i: np.select([p > 1, p > 0], [p * 2, p], 0.1),
    "array": lambda p, i: np.array(p) * 2,
    "float": lambda p, i: float(max(p, 0.1)) + i,
    "max of a list": lambda p, i: max([p * p, 0.3]),
    "branches": lambda p, i: max(p, 0.1) if i > 0 else np.clip(p, 0, 1),
}
POINTS = [0.7, np.float64(0.7), np.float32(0.75), np.array(0.7)]


@pytest.mark.parametrize("p", POINTS, ids=lambda p: f"{type(p).__name__}-{np.asarray(p).dtype}")
@pytest.mark.parametrize("name", CHANGES)
def test_number_that_is_carried(name: str, p: Any) -> None:
    change = CHANGES[name]

    def repeat(p, n):
        for i in range(n):
            p = change(p, i)
        return p * 2.0

    def repeat_while(p, n):
        i = 0
        while i < n:
            p = change(p, i)
            i += 1
        return p * 2.0

    step = 1e-3
    wanted = (repeat(float(p) + step, 2) - repeat(float(p) - step, 2)) / (2 * step)
    for function in (repeat, repeat_while):
        for gradient in (ag.grad(function), ag.function(ag.grad(function), engine="native")):
            found = gradient(p, 2)
            assert np.shape(found) == ()
            assert np.asarray(found).dtype == np.asarray(p).dtype
            assert found == pytest.approx(wanted, rel=1e-4)


def test_extremes_of_numbers_make_no_arrays() -> None:
    """To make such arrays of numbers takes three times as long."""

    def repeat(p, n):
        for _ in range(n):
            p = max(p * 0.9, 0.1)
        return p

    assert "np.where" not in str(ag.function(ag.grad(repeat)).graph(0.7, 3))
