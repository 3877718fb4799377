"""Structures of parameters and gradients: lists, tuples and dicts of arrays and variables, within one another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.common.pytree import Within, resolve


def leaves(structure: Any) -> list[Any]:
    """What a structure holds, in order; a dict's parts in that of its keys' insertion."""
    found: list[Any] = []
    resolve(lambda part: _within(part, found.append), structure)
    return found


def _within(structure: Any, function: Callable[[Any], Any]) -> Any:
    """What a function gives for a leaf, or what else to go into."""
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
    """A structure of the same form, of other parts in the place of its leaves."""
    rest = iter(parts)
    return resolve(lambda part: _within(part, lambda _: next(rest)), structure)


def mapped(function: Callable[[Any], Any], structure: Any) -> Any:
    """A structure of what a function gives for the leaves of another one."""
    return resolve(lambda part: _within(part, function), structure)
