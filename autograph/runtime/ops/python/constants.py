"""Python's operators on constants, for constant folding; they refuse results that may be large."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

MOST_BITS = 4096    # of an integer


class TooLarge(Exception):
    """The result may take much time or memory."""


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
    """An operator on numbers only, because it can make long texts and tuples: `"%999d" % n`, `"-" * n`."""

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
