"""`try: d[k] += n` with `except KeyError: d[k] = n`, which count without asking whether there is a key.

    try:                            if not ag__.add_item(d, k, 1, 1):
        d[k] += 1           →           try:
    except KeyError:                        d[k] += 1
        d[k] = 1                        except KeyError:
                                            d[k] = 1

A backend that computes later stages the whole statement as one operation of a dict, since an exception that it raises
later would miss the handler. Otherwise the statement runs as it is. Names are read twice, so `d`, `k` and `n` are names
and constants only, and a name that `d[k]` does not read must be no variable that may be unbound.
"""

from __future__ import annotations

import copy
from typing import Any

import gast

from autograph.converters.context.base import Context
from autograph.syntax import template, trees


def mark(function: Any, context: Context) -> None:
    """Set `parts` of each such statement of a function: dict, key, what is added, and what is set."""
    if function.why_plain is not None:
        return
    for node in trees.own_statements(function.body):
        if isinstance(node, gast.Try):
            node.parts = copy.deepcopy(_parts(node, context))


def _parts(node: gast.Try, context: Context) -> tuple[Any, ...] | None:
    if node.orelse or node.finalbody or len(node.body) != 1 or len(node.handlers) != 1:
        return None
    handler, added = node.handlers[0], node.body[0]
    if context.dotted(handler.type) != "builtins.KeyError" or handler.name is not None or len(handler.body) != 1:
        return None
    put = handler.body[0]
    if not isinstance(added, gast.AugAssign) or not isinstance(put, gast.Assign) or len(put.targets) != 1:
        return None
    place, other = added.target, put.targets[0]
    if not isinstance(added.op, gast.Add) or not isinstance(place, gast.Subscript):
        return None
    names, values = _names(place), (added.value, put.value)
    is_simple = isinstance(place.value, gast.Name) and _is_key(place.slice)
    if gast.dump(place) != gast.dump(other) or not is_simple or not all(_is_known(each, names) for each in values):
        return None
    return place.value, place.slice, *values


def _is_key(node: Any) -> bool:
    """Whether a key consists of names and constants."""
    if isinstance(node, gast.Tuple):
        return all(isinstance(each, (gast.Name, gast.Constant)) for each in node.elts)
    return isinstance(node, (gast.Name, gast.Constant))


def _names(node: Any) -> frozenset[str]:
    return frozenset(each.id for each in gast.walk(node) if isinstance(each, gast.Name))


def _is_known(node: Any, names: frozenset[str]) -> bool:
    """Whether to read a value fails only where reading some names fails, too."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        node = node.operand
        return isinstance(node, gast.Constant) and type(node.value) in (int, float)
    return isinstance(node, gast.Constant) or (isinstance(node, gast.Name) and node.id in names)


def statement(node: gast.Try, context: Context) -> Any:
    parts = getattr(node, "parts", None)
    if parts is None:
        return None
    for part in gast.walk(gast.Tuple([*parts], gast.Load())):
        if hasattr(part, "ctx"):
            part.ctx = gast.Load()
    call = gast.copy_location(template.call("add_item", *parts), node.body[0])
    return gast.If(gast.UnaryOp(gast.Not(), call), [node], [])


REWRITERS = {gast.Try: statement}
