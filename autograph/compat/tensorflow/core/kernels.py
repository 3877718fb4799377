"""Functions that graphs call when they run, and that saved graphs may call by name.

A graph that calls a function with options of its own has a `functools.partial` of it: `partial(show, " ", "\\n")`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T", bound=Callable[..., Any])

KERNELS: dict[str, Callable[..., Any]] = {}     # by name
_NAMES: dict[int, str] = {}


def kernel(function: T) -> T:
    """Declare that saved graphs may call a function, as a decorator.

    Since a saved graph may come from anywhere, it must be harmless for all arguments: it computes, checks or prints.
    """
    declare(function.__name__.lstrip("_"), function)
    return function


def declare(name: str, function: Callable[..., Any]) -> None:
    """Declare that saved graphs may call a function under this name."""
    assert name not in KERNELS, f"there are two kernels {name}"
    KERNELS[name] = function
    _NAMES[id(function)] = name


def kernel_name(function: Any) -> str | None:
    """The name of a function that saved graphs may call; None for others."""
    return _NAMES.get(id(function))
