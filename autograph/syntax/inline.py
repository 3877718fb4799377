"""For compiling only: `ag__.ref(x)`, `ag__.call(f)`, `ag__.fstring(…)`, which only matter while one traces, ask inline.

    ag__.ref(x)[i]                →    (ag__.ref(x) if ag__.ACTIVE else x)[i]
    ag__.fstring(lambda: f"{x}")  →    (ag__.fstring(lambda: f"{x}") if ag__.ACTIVE else f"{x}")

A call of the operator would cost several times what the indexing or the call itself costs.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.syntax import template, trees


def inline(tree: gast.AST) -> None:
    """Let the operators that are identities ask inline, in place; only where their argument is a name, a dotted name or
    an f-string, so that nothing is compiled twice that matters.
    """
    for node in list(trees.walk(tree)):
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                value[:] = [_asked(item) for item in value]
            elif isinstance(value, gast.Call):
                setattr(node, field, _asked(value))


def _asked(node: Any) -> Any:
    plain = _plain(node) if isinstance(node, gast.Call) and not hasattr(node, "origin") else None
    if plain is None:
        return node
    active = gast.Attribute(template.name("ag__"), "ACTIVE", gast.Load())
    return gast.copy_location(gast.IfExp(active, node, plain), node)


def _plain(node: gast.Call) -> Any:
    """What a call of an operator comes to if nothing traces; None if that cannot be asked inline."""
    operator = getattr(node.func, "attr", "")
    if operator not in ("ref", "call", "fstring") or not template.is_call(node, operator):
        return None
    argument = node.args[0]
    if operator == "fstring":
        return argument.body
    return argument if _is_dotted(argument) else None


def _is_dotted(node: Any) -> bool:
    while isinstance(node, gast.Attribute):
        node = node.value
    return isinstance(node, (gast.Name, gast.Constant))
