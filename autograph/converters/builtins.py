"""Builtins that care whether their arguments are staged: `len(x)` → `ag__.len_(x)`.

Only where the name means the builtin, and the call has a form the builtin accepts.
"""

from __future__ import annotations

import math
from typing import Any

import gast

from autograph.converters.context.base import Context
from autograph.syntax import template

_ARGUMENTS: dict[str, tuple[float, float, frozenset[str]]] = {
    "range": (1, 3, frozenset()),
    "len": (1, 1, frozenset()),
    "print": (0, math.inf, frozenset({"sep", "end", "file", "flush"})),
    "enumerate": (1, 2, frozenset({"start"})),
    "zip": (0, math.inf, frozenset({"strict"})),
    "map": (2, math.inf, frozenset()),
    "filter": (2, 2, frozenset()),
    "int": (1, 1, frozenset()),
    "float": (1, 1, frozenset()),
    "bool": (1, 1, frozenset()),
    "complex": (1, 2, frozenset()),
    "str": (1, 1, frozenset()),
    "repr": (1, 1, frozenset()),
    "ascii": (1, 1, frozenset()),
    "format": (1, 2, frozenset()),
    "ord": (1, 1, frozenset()),
    "chr": (1, 1, frozenset()),
    "type": (1, 1, frozenset()),
    "iter": (1, 2, frozenset()),
    "next": (1, 2, frozenset()),
    "list": (1, 1, frozenset()),
    "tuple": (1, 1, frozenset()),
    "set": (1, 1, frozenset()),
    "frozenset": (1, 1, frozenset()),
    "dict": (1, 1, frozenset()),
    "min": (1, math.inf, frozenset({"key", "default"})),
    "max": (1, math.inf, frozenset({"key", "default"})),
    "sum": (1, 2, frozenset({"start"})),
    "any": (1, 1, frozenset()),
    "all": (1, 1, frozenset()),
    "sorted": (1, 1, frozenset({"key", "reverse"})),
    "reversed": (1, 1, frozenset()),
}


def rewrite(node: gast.Call, context: Context) -> Any:
    name = node.func.id if isinstance(node.func, gast.Name) else None
    if name not in _ARGUMENTS or not context.is_builtin(name) or not _acceptable(node, *_ARGUMENTS[name]):
        return None
    context.decide(node, f"call of {name}")
    new = template.call(f"{name}_")
    node.func = gast.copy_location(new.func, node.func)
    return node


def _acceptable(node: gast.Call, least: float, most: float, keywords: frozenset[str]) -> bool:
    starred = any(isinstance(argument, gast.Starred) for argument in node.args)
    if starred and most != math.inf:
        return False
    if not (starred or least <= len(node.args)) or len(node.args) > most:
        return False
    return all(k.arg in keywords for k in node.keywords)


REWRITERS = {gast.Call: rewrite}
