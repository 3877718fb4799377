"""The operators of Python on constants, which are computed before the program runs if the results are small."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

MOST_BITS = 4096    # of an integer


class TooLarge(Exception):
    """A result may take much time or memory."""


def power(base: Any, exponent: Any) -> Any:
    """`base ** exponent`."""
    if type(base) is type(exponent) is int and abs(base) > 1 and base.bit_length() * abs(exponent) > MOST_BITS:
        raise TooLarge
    return base**exponent


def left_shift(number: Any, bits: Any) -> Any:
    """`number << bits`."""
    if type(bits) is int and bits > MOST_BITS:
        raise TooLarge
    return number << bits


def of_numbers(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """An operator that makes long texts and tuples of short ones, for numbers only: `"%999d" % n`, `"-" * n`."""

    def fold(first: Any, second: Any) -> Any:
        if isinstance(first, (str, tuple)) or isinstance(second, (str, tuple)):
            raise TooLarge
        return function(first, second)

    return fold


def contains(element: Any, container: Any) -> bool:
    """`element in container`."""
    return element in container


BOUNDED: dict[str, Callable[..., Any]] = {
    "pow": power, "lshift": left_shift, "mul": of_numbers(operator.mul), "mod": of_numbers(operator.mod)
}  # fmt: skip
