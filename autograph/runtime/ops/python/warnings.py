"""The op that repeats a warning that Python or NumPy gave during the trace.

Each run gives the warning again, as plain Python does, for the same line and with the filters of that time. NumPy's
arithmetic may warn, raise, print or stay silent, as `np.errstate` says.
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
    """The place of a warning: file, line, and the module whose code it is."""

    filename: str
    line: int
    module: str
    names: dict[str, Any]


def warn(text: str, category: type[Warning], site: Site) -> None:
    """Warn as the line of the program would."""
    arithmetic = _ARITHMETIC.match(text) if category is RuntimeWarning else None
    if arithmetic is None or _is_warning(arithmetic[1], text):
        registry = site.names.setdefault("__warningregistry__", {})
        warnings.warn_explicit(text, category, site.filename, site.line, site.module, registry)


def _is_warning(kind: str, text: str) -> bool:
    """Whether NumPy warns of an arithmetic error now; other settings of `np.errstate` take effect here."""
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
