"""Walking over trees."""

from __future__ import annotations

from collections.abc import Iterator

import gast


def children(node: gast.AST) -> list[gast.AST]:
    """The child nodes, in field order; but not contexts and operators, which say nothing but their type."""
    found: list[gast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or type(value) is str:
            continue
        if type(value) is list:
            found += [item for item in value if isinstance(item, gast.AST)]
        elif isinstance(value, gast.AST) and (value._fields or value._attributes):
            found.append(value)
    return found


def walk(*nodes: gast.AST) -> Iterator[gast.AST]:
    """Every node at and below `nodes`. (`ast.walk` imports a module when called, which may be under conversion.)"""
    stack = [*reversed(nodes)]
    while stack:
        node = stack.pop()
        yield node
        stack += children(node)[::-1]
