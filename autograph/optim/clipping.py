"""Clipping of gradients, which are an array or a structure of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.optim.structures import leaves, mapped


def clip_by_value(gradients: Any, low: float, high: float) -> Any:
    """Each element, or the nearest that is from `low` to `high`."""
    return mapped(lambda each: np.clip(each, low, high), gradients)


def clip_by_norm(gradients: Any, norm: float) -> Any:
    """Each array, scaled down if need be, so that its own norm is at most `norm`."""
    return mapped(lambda each: each * _scale(global_norm(each), norm), gradients)


def clip_by_global_norm(gradients: Any, norm: float) -> Any:
    """All arrays, scaled down by one factor if need be, so that their common norm is at most `norm` (Pascanu, 2013)."""
    scale = _scale(global_norm(gradients), norm)
    return mapped(lambda each: each * scale, gradients)


def global_norm(gradients: Any) -> Any:
    """The root of the sum of the squares of all elements of all arrays."""
    return np.sqrt(sum([np.sum(np.square(each)) for each in leaves(gradients)]))


def _scale(found: Any, norm: float) -> Any:
    return norm / np.maximum(found, norm)
