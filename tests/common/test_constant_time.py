"""Which functions cannot take long for numbers and texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.common.constant_time import is_plain_data, takes_constant_time

SCALE, LIMITS = 2.5, {"low": 0.0, "high": 1.0}


class OutOfRange(ValueError):
    """An error of the user's."""


def checked(x: float) -> float:
    if not LIMITS["low"] <= x <= LIMITS["high"]:
        raise OutOfRange(f"{x} is not in range")
    return math.sqrt(x) * SCALE


def halved(n: int) -> int:
    return n if n < 2 else halved(n // 2)


def even(n: int) -> bool:
    return n == 0 or odd(n - 1)


def odd(n: int) -> bool:
    return n != 0 and even(n - 1)


@ag.function
def staged_halves(n: int) -> int:
    return n if n < 2 else staged_halves(n // 2)


staged_halved = staged_halves.python_function


def looping(n: int) -> int:
    while n > 1:
        n //= 2
    return n


def around(inner: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: inner(x) + 1


SHORT = (
    lambda a, b: (a[0] + b[0], a[1] * b[1]),
    lambda x: abs(round(max(x, 0.0), 2)),
    lambda n: bin(n)[2:] + oct(n) + hex(n),
    lambda name: name.upper().split(",")[0],
    checked,
    lambda x: checked(x) + checked(x),
    around(checked),
    around(ag.function(checked)),
    halved,     # its calls of itself are counted
    even,
    staged_halved,
)
LONG = (
    looping,
    lambda n: halved(n) + 1,
    lambda n: even(n),
    around(odd),
    lambda n: sum(range(n)),
    lambda n: [n] + [2 * each for each in (n, n)],
    lambda xs: max(x * x for x in xs),
    lambda n: looping(n) + 1,
    lambda x: np.sort(x),
    lambda shape: shape.area(),
    lambda f, x: f.inner.apply(x),
    around(looping),
    around(sorted),
)


@pytest.mark.parametrize("function", SHORT)
def test_takes_constant_time(function: Any) -> None:
    assert takes_constant_time(function)


@pytest.mark.parametrize("function", LONG)
def test_may_take_long(function: Any) -> None:
    assert not takes_constant_time(function)


def test_the_functions_of_a_long_chain_may_take_long() -> None:
    chain = checked
    for _ in range(20):
        chain = around(chain)
    assert not takes_constant_time(chain)


def test_plain_data_are_numbers_texts_and_a_few_of_these() -> None:
    data: Sequence[Any] = (1, 2.5, 1j, True, None, "text", b"bytes", (1, 2), [1.0, 2.0], {"a": 1})
    others: Sequence[Any] = (np.ones(2), np.float64(1), [[1]], [np.ones(2)], [0] * 100, {1}, object(), len, range(3))
    assert all(map(is_plain_data, data))
    assert not any(map(is_plain_data, others))


def test_nothing_of_the_users_runs() -> None:
    class Loud:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError(name)

        __class__ = property(lambda self: 1 / 0)  # type: ignore[assignment]

    loud = Loud()
    assert not takes_constant_time(lambda x: loud(x))
    assert not takes_constant_time(lambda x: loud.name + x)
