"""The op of a warning that Python or NumPy gave while tracing, where the program does something with plain values.

It is given anew in each run, as in plain Python: for the same line, and if the filters of that time let it pass. What
NumPy warns of in arithmetic it may also raise, print or say nothing about: `np.errstate` tells.
"""

from __future__ import annotations

import re
import sys
import warnings
from typing import Any, NamedTuple

import numpy as np

from autograph.runtime.graph.opdef import ORDERED, declare
from autograph.runtime.graph.types import NONE

_ARITHMETIC = re.compile(r"(divide by zero|overflow|underflow|invalid value) encountered in ")
_FLAGS = {
    "divide by zero": ("divide", 1),
    "overflow": ("over", 2),
    "underflow": ("under", 4),
    "invalid value": ("invalid", 8),
}


class Site(NamedTuple):
    """Where it was given, and by the code of which module."""

    filename: str
    line: int
    module: str
    names: dict[str, Any]


def warn(text: str, category: type[Warning], site: Site) -> None:
    """Give a warning as the line of the program would."""
    arithmetic = _ARITHMETIC.match(text) if category is RuntimeWarning else None
    if arithmetic is None or _is_warning(arithmetic[1], text):
        registry = site.names.setdefault("__warningregistry__", {})
        warnings.warn_explicit(text, category, site.filename, site.line, site.module, registry)


def _is_warning(kind: str, text: str) -> bool:
    """Whether NumPy warns of something now; any other setting takes effect here."""
    name, flag = _FLAGS[kind]
    mode: str = np.geterr()[name]  # type: ignore[literal-required]
    if mode == "raise":
        raise FloatingPointError(text)
    if mode == "call":
        callback: Any = np.geterrcall()
        callback(kind, flag)
    elif mode == "log":
        log: Any = np.geterrcall()
        log.write(f"Warning: {text}\n")
    elif mode == "print":
        sys.stderr.write(f"Warning: {text}\n")
    return mode == "warn"


declare("warn", NONE, effect=ORDERED, target=warn, raises=True)
