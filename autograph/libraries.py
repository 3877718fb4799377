"""Which modules take part in staging: known by name alone, to those who convert and to those who run."""

from __future__ import annotations

import sys

# Of the standard library, what computes.
COMPUTING = frozenset(
    "math cmath random heapq bisect functools itertools operator copy statistics fractions decimal numbers".split()
)

# The rest of it, this library, and libraries that take staged values as they are or cannot take them at all.
PLAIN = (sys.stdlib_module_names - COMPUTING - {f"_{name}" for name in COMPUTING}) | {
    __name__.partition(".")[0],
    "builtins",
    "numpy",
    "jax",
    "jaxlib",
    "torch",
    "typing_extensions",
}


def is_plain(module: str) -> bool:
    """Whether a module, or the package it is in, takes no part in staging."""
    return module.partition(".")[0] in PLAIN
