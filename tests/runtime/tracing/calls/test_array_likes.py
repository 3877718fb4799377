"""Objects of the user's with `__array__` are arrays to NumPy's functions and to the methods of its ufuncs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests import outcomes


class Samples:
    def __init__(self, values: list[float]) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.array(self.values, dtype=dtype)


PROGRAMS: list[Callable[[Any], Any]] = [
    lambda x: np.exp(x), lambda x: np.add.reduce(x), lambda x: np.multiply.outer(x, x), lambda x: np.add.accumulate(x),
    lambda x: np.add.reduceat(x, [0, 1]), lambda x: np.maximum.reduce([x, x]), lambda x: np.hypot.outer(x, [1.0, 2.0]),
    lambda x: np.add.at(np.zeros(3), [0], x), lambda x: np.add.at(x, [0], 1.0), lambda x: np.add.reduce(array=x),
    lambda x: np.sum(a=x), lambda x: np.interp(x=1.5, xp=x, fp=x), lambda x: np.clip([5.0, 1, 2], a_min=x, a_max=4),
    lambda x: np.add(1.0, [1.0, 2.0, 3.0], out=np.zeros(3), where=x), lambda x: np.stack([x, x]),
    lambda x: np.add.reduce([[1.0, 2.0, 3.0]], initial=1.0, where=[x]), lambda x: np.add(1.0, 2.0, out=x),
    lambda x: np.cumsum([1.0, 2.0, 3.0], out=x),
]  # fmt: skip


@pytest.mark.parametrize("engine", ["numpy", "native"])
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_array_likes(number: int, engine: str) -> None:
    staged = ag.function(PROGRAMS[number], engine=engine)
    for values in ([1.0, 2.0, 3.0], [0.0, -1.5, 2.0]):
        plain, actual = (_result(function, Samples(values)) for function in (PROGRAMS[number], staged))
        assert actual == plain


def _result(function: Callable[[Any], Any], x: Any) -> Any:
    try:
        return outcomes.described(function(x))
    except (TypeError, ValueError) as error:
        return type(error), str(error)
