"""`is` tells which array it is, also of those that are globals."""

from __future__ import annotations

from typing import Any

import numpy as np

import autograph as ag


class Holder:
    def __init__(self) -> None:
        self.array = ARRAY


ARRAY, OTHER = np.arange(3.0), np.arange(3.0)
HOLDER = Holder()


def of_globals(x: Any) -> Any:
    return HOLDER.array is ARRAY, HOLDER.array is OTHER, HOLDER.array is not ARRAY, x


def of_an_argument(x: Any) -> Any:
    return x is ARRAY, x is OTHER, x is not HOLDER.array


def test_arrays_that_are_globals() -> None:
    for function, examples in ((of_globals, [1]), (of_an_argument, [ARRAY, OTHER, ARRAY + 0, 2.0, ARRAY])):
        staged = ag.function(function)
        for each in examples:
            assert staged(each) == function(each)
