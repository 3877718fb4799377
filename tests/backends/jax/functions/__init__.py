"""Small plain functions with control flow, each with an example of its arguments, for derivatives and other transforms.

They are differentiated for their first argument, a number or an array of floats. `handwritten.py` has versions of some
in terms of `jax.lax`, under the same names.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np

THEMES = ("branches", "loops", "whiles", "stores", "state", "models")


def example(*args: Any, reverse: bool = True) -> Callable[[Any], Any]:
    """Give a function an example of its arguments: numbers, and lists for arrays.

    Args:
        args: the arguments.
        reverse: whether it has reverse-mode derivatives: not if how often a loop runs is data.
    """

    def mark(function: Any) -> Any:
        function.example = tuple(np.array(arg)[()] for arg in args)
        function.reverse = reverse
        return function

    return mark


def module(theme: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{theme}")


def names() -> Iterator[tuple[str, str]]:
    """The theme and name of each function."""
    for theme in THEMES:
        for name, value in vars(module(theme)).items():
            if hasattr(value, "example"):
                yield theme, name
