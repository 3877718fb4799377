"""For compiling only: `ag__.ref(x)` and `ag__.call(f)`, which are identities unless something traces, ask inline.

    ag__.ref(x)[i]    →    (ag__.ref(x) if ag__.ACTIVE else x)[i]

A call of the operator would cost several times what the indexing or the call itself costs.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.syntax import template, trees

_IDENTITIES = frozenset({"ref", "call"})


def inline(tree: gast.AST) -> None:
    """Let the operators that are identities ask inline, in place; only where their argument is a name or a dotted name,
    so that nothing is compiled twice that matters.
    """
    for node in list(trees.walk(tree)):
        for field in node._fields:
            value = getattr(node, field, None)
            if isinstance(value, list):
                value[:] = [_asked(item) for item in value]
            elif isinstance(value, gast.Call):
                setattr(node, field, _asked(value))


def _asked(node: Any) -> Any:
    if not isinstance(node, gast.Call) or hasattr(node, "origin") or not _is_identity(node.func):
        return node
    argument = node.args[0]
    if not _is_dotted(argument):
        return node
    active = gast.Attribute(template.name("ag__"), "ACTIVE", gast.Load())
    return gast.copy_location(gast.IfExp(active, node, argument), node)


def _is_identity(function: Any) -> bool:
    value = getattr(function, "value", None)
    return getattr(function, "attr", None) in _IDENTITIES and isinstance(value, gast.Name) and value.id == "ag__"


def _is_dotted(node: Any) -> bool:
    while isinstance(node, gast.Attribute):
        node = node.value
    return isinstance(node, gast.Name)
