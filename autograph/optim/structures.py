"""Structures of parameters and gradients: lists, tuples and dicts of arrays and variables, within one another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def leaves(structure: Any) -> list[Any]:
    """What a structure holds, in order; a dict's parts in that of its keys' insertion."""
    if isinstance(structure, dict):
        return [leaf for part in structure.values() for leaf in leaves(part)]
    if isinstance(structure, (list, tuple)):
        return [leaf for part in structure for leaf in leaves(part)]
    return [structure]


def mapped(function: Callable[..., Any], structure: Any, *others: Any) -> Any:
    """A structure of what a function gives for the leaves of structures of one form."""
    if isinstance(structure, dict):
        return {key: mapped(function, part, *[other[key] for other in others]) for key, part in structure.items()}
    if isinstance(structure, (list, tuple)):
        parts = [mapped(function, part, *[other[at] for other in others]) for at, part in enumerate(structure)]
        if isinstance(structure, list):
            return parts
        return type(structure)(*parts) if hasattr(structure, "_fields") else tuple(parts)
    return function(structure, *others)
