"""Programs that probe the corners of the law: under `jax.jit` each does what it does plain on NumPy, or is refused.

`tries` lists the calls of a program. With `or_error`, an error that says so is as good: JAX cannot do everything.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

THEMES = ("aliases", "flow", "effects", "kinds", "objects")


def tries(*calls: tuple[Any, ...], or_error: bool = False) -> Callable[[Any], Any]:
    """Give a program the arguments of its calls: numbers, and lists for arrays."""

    def mark(function: Any) -> Any:
        function.calls, function.or_error = calls, or_error
        return function

    return mark


def module(theme: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{theme}")


def programs() -> Iterator[tuple[str, str]]:
    """The theme and name of each program."""
    for theme in THEMES:
        for name, value in vars(module(theme)).items():
            if hasattr(value, "calls") and value.__module__ == module(theme).__name__:
                yield theme, name
