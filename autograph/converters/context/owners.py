"""Finds the function that must own a variable which only generated functions bind, and declares the variable there.

`nonlocal y` in a body needs a function around it with a local `y`. If no statement there binds it, a bare annotation
`y: ag__.unbound` makes it a local without binding it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from autograph.converters.context import plain
from autograph.converters.context.base import replace
from autograph.syntax import scope, trees


def mark_bodies(block: list[Any]) -> None:
    """Set `in_body` on the comprehensions that will be in a generated function."""
    for construct in _constructs(block):
        for node in scope.walk_own(construct):
            if isinstance(node, scope.COMPREHENSIONS):
                node.in_body = True


def declare(block: list[Any], bound: Iterable[str]) -> set[str]:
    """Set `node.unbound` on the constructs of a function's block: the names to declare in front of each.

    Args:
        bound: names that need no declaration here: parameters, globals, nonlocals.

    Returns:
        all names that the function then binds or declares.
    """
    known = {*bound, *_directly_bound(block)}
    for node in _constructs(block):
        shared = dict.fromkeys(name for names in node.state.shared.values() for name in names)
        node.unbound = [name for name in shared if name not in known]
        known.update(node.unbound)
        for body, names in node.state.shared.items():
            _unannotate(getattr(node, body), names)
            target = scope.uses(getattr(node, "target", None)).writes
            declare(getattr(node, body), [*names, *target])
    return known


def _unannotate(block: list[Any], shared: list[str]) -> None:
    """Drop the annotations of shared names: Python allows none for `nonlocal` names, and evaluates none of locals."""
    for i, node in enumerate(block):
        if (new := scope.unannotated(node, shared)) is not None:
            block[i] = replace(node, new)
        elif not is_converted(node):
            for inner in trees.own_blocks(node):
                _unannotate(inner, shared)


def is_converted(node: gast.AST) -> bool:
    """Whether a statement becomes a call with bodies."""
    return isinstance(node, (gast.If, *plain.LOOPS)) and node.plain is None


def _constructs(block: list[Any]) -> Iterable[Any]:
    """Yield the constructs in a function's own code that are converted, outermost ones only, in order."""
    for node in block:
        if is_converted(node):
            yield node
        else:
            for inner in trees.own_blocks(node):
                yield from _constructs(inner)


def _directly_bound(block: list[Any]) -> set[str]:
    """Return the names that a block binds in its own function, not in bodies that become functions."""
    bound: set[str] = set()
    for node in block:
        if is_converted(node):
            header = node.test if isinstance(node, gast.If) else getattr(node, "iter", None)
            bound.update(scope.uses(header).writes)
        elif inside := trees.own_blocks(node):
            bound.update(scope.uses(*plain.own_expressions(node)).writes)
            bound.update(h.name.id for h in getattr(node, "handlers", ()) if h.name is not None)
            bound.update(*map(_directly_bound, inside))
        else:
            bound.update(scope.uses(node).writes)
    return bound
