"""Whether a function gives what another one gives."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from autograph.common.probes import COUNT, agrees, numbers, same, with_warnings

NAN = np.frombuffer(b"\1\0\0\0\0\0\xf8\x7f")[0]     # another one than `math.nan`


@pytest.mark.parametrize("value", [1, 1.5, True, 0.0, math.nan, NAN, 2j, np.float32(1), np.arange(6).reshape(2, 3), ()])
def test_what_is_the_same(value: Any) -> None:
    assert same(value, value)
    assert same((1, value), (1, value))


@pytest.mark.parametrize(
    "one, other",
    [
        (1, 1.0),
        (1.0, np.float64(1)),
        (np.float64(1), np.float32(1)),
        (0.0, -0.0),
        (0.0, -0.0j + 0.0),
        (math.nan, float(NAN)),
        (math.nan, 1.0),
        (np.zeros(2), np.zeros(3)),
        (np.zeros((2, 1)), np.zeros((1, 2))),
        (np.zeros(2), -np.zeros(2)),
        (np.zeros(2), np.zeros(2, np.float32)),
        (np.zeros(1, np.int64), np.zeros(1, np.uint64)),
        (np.zeros(2).view(np.ma.MaskedArray), np.zeros(2)),
        ((1.0, True), (1.0, False)),
        ((1.0,), (1.0, 1.0)),
    ],
)
def test_what_differs(one: Any, other: Any) -> None:
    assert not same(one, other) and not same(other, one)


def test_how_it_lies_in_memory_does_not_matter() -> None:
    assert same(np.arange(6.0)[::2], np.array([0.0, 2.0, 4.0]))
    assert same(np.asfortranarray(np.ones((2, 3))), np.ones((2, 3)))


def test_functions_agree_if_they_give_the_same_for_each_sample() -> None:
    samples = [(2.0,), (9.0,), (0.25,)]
    assert agrees(math.sqrt, lambda x: x**0.5, samples)
    assert not agrees(math.sqrt, lambda x: x**0.5, [*samples, (-0.0,)])
    assert agrees(math.sqrt, lambda x: 1 / 0, [])


def test_no_sample_behind_the_first_that_differs_is_tried() -> None:
    assert not agrees(lambda x: x, lambda x: -x, iter([(1.0,), ("no number",)]))


@pytest.mark.parametrize("x, warns", [(1.0, False), (0.0, True), (1e-320, True), (1e300, False), (np.nan, False)])
def test_warnings(x: float, warns: bool) -> None:
    """An underflow is none."""
    with with_warnings(lambda x: np.float64(1) / x * 1e-300) as function:
        found, told = function(np.float64(x))
        assert function(np.float64(1)) == (1e-300, False)
    with np.errstate(all="ignore"):
        assert same(found, np.float64(1) / x * 1e-300)
    assert told is warns
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.float64(1) / np.float64(0)


@pytest.mark.parametrize("char", "?bhilBHILfdFD")
def test_numbers_to_try(char: str) -> None:
    dtype = np.dtype(char)
    found, other = numbers(dtype, 0), numbers(dtype, 1)
    assert found.dtype == dtype and len(found) == COUNT
    assert same(found, numbers(dtype, 0)) and not same(found, other)
    if dtype.kind == "f":
        assert np.isnan(found).any() and np.isinf(found).any() and np.signbit(found[found == 0]).any()
    if dtype.itemsize > 1 and dtype.kind != "c":
        assert found.ctypes.data % 64
