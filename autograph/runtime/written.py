"""Functions of the standard library that are written in C, here as Python, so that they can be traced into."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def reduce(function: Callable[[Any, Any], Any], items: Any, *initial: Any) -> Any:
    """`functools.reduce` of an array or a list."""
    if initial:
        (value,) = initial
        rest = items
    else:
        if len(items) == 0:
            raise TypeError("reduce() of empty iterable with no initial value")
        value = items[0]
        rest = items[1:]
    for item in rest:
        value = function(value, item)
    return value


WRITTEN = {functools.reduce: reduce}
