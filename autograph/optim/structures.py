"""Structures of parameters and gradients: lists, tuples and dicts of arrays and variables, within one another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def leaves(structure: Any) -> list[Any]:
    """What a structure holds, in order; a dict's parts in that of its keys' insertion."""
    if not isinstance(structure, (dict, list, tuple)):
        return [structure]
    found: list[Any] = []
    for part in _parts(structure):
        found.extend(leaves(part))
    return found


def _parts(structure: Any) -> list[Any]:
    return list(structure.values()) if isinstance(structure, dict) else list(structure)


def packed(structure: Any, parts: list[Any]) -> Any:
    """A structure of the same form, of other parts in the place of its leaves."""
    if not isinstance(structure, (dict, list, tuple)):
        return parts[0]
    made = []
    for each in _parts(structure):
        count = len(leaves(each))
        made.append(packed(each, parts[:count]))
        parts = parts[count:]
    if isinstance(structure, dict):
        return dict(zip(structure, made))
    if isinstance(structure, list):
        return made
    return type(structure)(*made) if hasattr(structure, "_fields") else tuple(made)


def mapped(function: Callable[[Any], Any], structure: Any) -> Any:
    """A structure of what a function gives for the leaves of another one."""
    return packed(structure, [function(leaf) for leaf in leaves(structure)])
