"""Walking over trees."""

from __future__ import annotations

from collections.abc import Iterator

import gast


def children(node: gast.AST) -> Iterator[gast.AST]:
    """The child nodes, in field order."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            for item in value:
                if isinstance(item, gast.AST):
                    yield item
        elif isinstance(value, gast.AST):
            yield value


def walk(*nodes: gast.AST) -> Iterator[gast.AST]:
    """Every node at and below `nodes`. (`ast.walk` imports a module when called, which may be under conversion.)"""
    stack = [*reversed(nodes)]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(children(node))
