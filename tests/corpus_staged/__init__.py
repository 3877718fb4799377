"""Plain functions of numbers, arrays and containers, as users of Python and NumPy write them, each with calls to try.

Unlike tests/corpus, which probes the corners of Python, nobody would find these odd: they are what `ag.function` is
for. The conventions are the same: the arguments are texts, evaluated anew for every run among the names of the
function's module, and a function answers the same every time. The modules know nothing of autograph.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from tests import corpus
from tests.corpus import calls

__all__ = ["Entry", "calls", "entries", "module", "themes"]


@dataclass(frozen=True)
class Entry(corpus.Entry):
    """One function of this corpus."""

    @property
    def module(self) -> ModuleType:
        return module(self.theme)

    def __str__(self) -> str:
        return f"{self.theme}.{self.name}"


def themes() -> list[str]:
    """The modules of the corpus; those whose names begin with `_` only help."""
    return sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))


def module(theme: str) -> ModuleType:
    return importlib.import_module(f"{__name__}.{theme}")


def entries() -> Iterator[Entry]:
    """Every function of the corpus, in the order of the files."""
    for theme in themes():
        for name, value in list(vars(module(theme)).items()):
            if hasattr(value, "calls") and value.__module__ == module(theme).__name__:
                yield Entry(theme, name, value.calls)
