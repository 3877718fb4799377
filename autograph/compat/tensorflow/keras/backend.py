"""`tf.keras.backend`: names of layers, and constants."""

from __future__ import annotations

import re
from collections import Counter

_names: Counter[str] = Counter()


def clear_session() -> None:
    """Restart the numbers in names of layers."""
    _names.clear()


def unique_name(base: str) -> str:
    """`base`, with a number if the name is taken."""
    number = _names[base]
    _names[base] += 1
    return f"{base}_{number}" if number else base


def snake_case(name: str) -> str:
    """`BatchNormalization` as `batch_normalization`."""
    return re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z0-9]+)", r"\1_\2", name)).lower()


def epsilon() -> float:
    """The small number that keeps divisors and arguments of logarithms away from zero."""
    return 1e-7


def floatx() -> str:
    """The default type of floats."""
    return "float32"
