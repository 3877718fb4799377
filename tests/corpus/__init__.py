"""Plain functions that probe the corners of Python, each with the calls to try it on.

    @calls("3, [1, 2]", "0, []")
    def f(n, xs): ...

Each text is a list of arguments. It is evaluated anew for every run, in the function's module, so that a run can be
judged by what it does to its arguments too. A function must answer the same every time: where it uses globals, it
sets them first. The modules are ordinary ones and know nothing of autograph; whoever runs them does.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

SINCE = {"groups": (3, 11), "type_parameters": (3, 12)}  # themes that earlier Pythons cannot parse


def calls(*arguments: str) -> Callable[[Any], Any]:
    """Put a function into the corpus, to be called with each of `arguments`."""

    def mark(function: Any) -> Any:
        function.calls = arguments
        return function

    return mark


@dataclass(frozen=True)
class Entry:
    """One function of the corpus."""

    theme: str
    name: str
    calls: tuple[str, ...]

    @property
    def module(self) -> ModuleType:
        return module(self.theme)

    @property
    def function(self) -> Callable[..., Any]:
        function: Callable[..., Any] = getattr(self.module, self.name)
        return function

    def __str__(self) -> str:
        return f"{self.theme}.{self.name}"


def themes() -> list[str]:
    """The modules of the corpus that this Python can read."""
    found = sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))
    return [theme for theme in found if SINCE.get(theme, (3, 10)) <= sys.version_info]


def module(theme: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{theme}")


def entries() -> Iterator[Entry]:
    """Every function of the corpus, in the order of the files."""
    for theme in themes():
        for name, value in list(vars(module(theme)).items()):
            if hasattr(value, "calls"):
                yield Entry(theme, name, value.calls)
