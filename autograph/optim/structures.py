"""Structures of parameters and gradients, and clipping of gradients.

A structure is an array or variable, or a list, tuple or dict of structures.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.common.pytree import Within, resolve


def leaves(structure: Any) -> list[Any]:
    """The leaves of a structure, in order."""
    result: list[Any] = []
    resolve(lambda part: _within(part, result.append), structure)
    return result


def _within(structure: Any, function: Callable[[Any], Any]) -> Any:
    """The result of a function for a leaf; for an inner node, its parts, which `resolve` visits."""
    if not isinstance(structure, (dict, list, tuple)):
        return function(structure)

    def rebuilt(made: list[Any]) -> Any:
        if isinstance(structure, dict):
            return dict(zip(structure, made))
        if isinstance(structure, list):
            return made
        return type(structure)(*made) if hasattr(structure, "_fields") else tuple(made)

    return Within(zip(structure.values() if isinstance(structure, dict) else structure), rebuilt)


def packed(structure: Any, parts: list[Any]) -> Any:
    """Build a structure of the same form from other leaves."""
    rest = iter(parts)
    return resolve(lambda part: _within(part, lambda _: next(rest)), structure)


def mapped(function: Callable[[Any], Any], structure: Any) -> Any:
    """Apply a function to the leaves of a structure."""
    return resolve(lambda part: _within(part, function), structure)


def clip_by_value(gradients: Any, low: float, high: float) -> Any:
    """Clip each element to the range from `low` to `high`.

    Args:
        gradients: an array, or a structure of arrays.
        low, high: the bounds.

    Returns:
        a structure of the same form.

    Example:
        >>> optim.clip_by_value([np.array([-5.0, 0.5])], -1, 1)
        [array([-1. ,  0.5])]
    """
    return mapped(lambda each: np.clip(each, low, high), gradients)


def clip_by_norm(gradients: Any, norm: float) -> Any:
    """Scale each array down if its own norm is greater than `norm`.

    Args:
        gradients: an array, or a structure of arrays.
        norm: the greatest norm of an array.

    Returns:
        a structure of the same form.

    Example:
        >>> optim.clip_by_norm([np.array([3.0, 4.0]), np.array([0.5])], 1)
        [array([0.6, 0.8]), array([0.5])]
    """
    return mapped(lambda each: each * _scale(global_norm(each), norm), gradients)


def clip_by_global_norm(gradients: Any, norm: float) -> Any:
    """Scale all arrays down by one factor if their common norm is greater than `norm` (Pascanu and others, 2013).

    Args:
        gradients: an array, or a structure of arrays.
        norm: the greatest norm of all arrays together.

    Returns:
        a structure of the same form.

    Example:
        >>> optim.clip_by_global_norm([np.array([3.0]), np.array([4.0])], 1)
        [array([0.6]), array([0.8])]
    """
    scale = _scale(global_norm(gradients), norm)
    return mapped(lambda each: each * scale, gradients)


def global_norm(gradients: Any) -> Any:
    """The root of the sum of the squares of all elements of all arrays.

    Args:
        gradients: an array, or a structure of arrays.

    Returns:
        a number.

    Example:
        >>> float(optim.global_norm([np.array([3.0]), np.array([4.0])]))
        5.0
    """
    return np.sqrt(sum([np.sum(np.square(each)) for each in leaves(gradients)]))


def _scale(actual: Any, norm: float) -> Any:
    return norm / np.maximum(actual, norm)
