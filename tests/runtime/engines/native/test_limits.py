"""What docs/limits.md says of machine code."""

from __future__ import annotations

import math

import pytest

import autograph as ag


def carried(x, n):
    y = x
    for i in range(n):
        if i > 5:
            y = i
    return y


def compared(x, n):
    y = x
    for i in range(n):
        if y is not x:
            return i
        y = i
    return -1


def test_an_equal_number_is_not_the_same_object() -> None:
    staged, x = ag.function(carried, engine="native"), 12345
    assert carried(x, 3) is x
    assert staged(x, 3) == x and type(staged(x, 3)) is int and staged(x, 3) is not x


def test_who_asks_for_the_same_object_is_left_to_numpy() -> None:
    staged, x = ag.function(compared, engine="native"), 12345
    assert staged(x, 3) == compared(x, 3)
    assert not any(event.kind == "machine code" for event in staged.explain(x, 3))


def summed(x, y, n):
    for _ in range(n):
        x = x + y
    return x


@pytest.mark.parametrize("x, y", [(1.0, -math.nan), (-math.nan, 1.0), (math.nan, -1.0), (math.inf, -math.inf)])
def test_the_sign_of_one_nan_is_that_of_python(x: float, y: float) -> None:
    wanted = summed(x, y, 20)
    found = ag.function(summed, engine="native")(x, y, 20)
    assert math.isnan(found) and math.copysign(1, found) == math.copysign(1, wanted)
