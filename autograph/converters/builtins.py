"""Calls of builtins that accept staged arguments: `len(x)` → `ag__.len_(x)`.

A call is rewritten only if its name means the builtin, and the builtin accepts its arguments.
"""

from __future__ import annotations

import math
from typing import Any

import gast

from autograph.converters.context.base import Context
from autograph.syntax import template

# The least and most positional arguments of each builtin, and its keywords.
_ARGUMENTS: dict[str, tuple[float, float, frozenset[str]]] = {
    **dict.fromkeys(
        "len int float bool str repr ascii ord chr type list tuple set frozenset dict any all reversed".split(),
        (1, 1, frozenset()),
    ),
    **dict.fromkeys("complex format iter next".split(), (1, 2, frozenset())),
    "range": (1, 3, frozenset()),
    "print": (0, math.inf, frozenset({"sep", "end", "file", "flush"})),
    "enumerate": (1, 2, frozenset({"start"})),
    "zip": (0, math.inf, frozenset({"strict"})),
    "map": (2, math.inf, frozenset()),
    "filter": (2, 2, frozenset()),
    "min": (1, math.inf, frozenset({"key", "default"})),
    "max": (1, math.inf, frozenset({"key", "default"})),
    "sum": (1, 2, frozenset({"start"})),
    "sorted": (1, 1, frozenset({"key", "reverse"})),
}


# Builtins that take all items of their only positional argument, or as many as they need, before they return.
TAKE_ITEMS = frozenset("list tuple set frozenset sum min max any all sorted".split())


def rewrite(node: gast.Call, context: Context) -> Any:
    name = node.func.id if isinstance(node.func, gast.Name) else None
    if name not in _ARGUMENTS or not context.is_builtin(name) or not _acceptable(node, *_ARGUMENTS[name]):
        return None
    context.decide(node, f"call of {name}")
    new = template.call(f"{name}_")
    node.func = gast.copy_location(new.func, node.func)
    if name in TAKE_ITEMS and len(node.args) == 1 and _maps_by_lambda(node.args[0]):
        node.args[0].func = gast.copy_location(template.call("mapped").func, node.args[0].func)
    return node


def _maps_by_lambda(node: Any) -> bool:
    """Whether an expression is `map(lambda x: …, xs)`, by now of the operator."""
    if template.operator_of(node) != "map_" or len(node.args) != 2 or not isinstance(node.args[0], gast.Lambda):
        return False
    return len(node.args[0].args.args) == 1 and not isinstance(node.args[1], gast.Starred)


def _acceptable(node: gast.Call, least: float, most: float, keywords: frozenset[str]) -> bool:
    starred = any(isinstance(argument, gast.Starred) for argument in node.args)
    if starred and most != math.inf:
        return False
    if not (starred or least <= len(node.args)) or len(node.args) > most:
        return False
    return all(k.arg in keywords for k in node.keywords)


REWRITERS = {gast.Call: rewrite}
