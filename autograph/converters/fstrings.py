"""Formatted text.

    f"n = {n}"      →    ag__.fstring(lambda: f"n = {n}")
    "n = %d" % n    →    ag__.percent("n = %d", n)

The formatted value may be staged, but Python's `format()` must return a string. So a tracing backend does it instead.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import staging
from autograph.converters.context.base import Context
from autograph.converters.logical import deferred, why_not_deferred
from autograph.syntax import template


def fstring(node: gast.JoinedStr, context: Context) -> Any:
    if getattr(node, "is_spec", False) or not staging.formats(node):
        return None
    why = why_not_deferred([node], context)
    if why is not None:
        context.decide(node, "f-string", why)
        return None
    for part in node.values:
        if isinstance(part, gast.FormattedValue) and part.conversion != -1 and part.format_spec is not None:
            # the format applies to the converted text, such as an alignment
            part.value = gast.copy_location(template.call(_CONVERSIONS[part.conversion], part.value), part.value)
            part.conversion = -1
    return template.call("fstring", deferred(node))


_CONVERSIONS = {ord("s"): "str_", ord("r"): "repr_", ord("a"): "ascii_"}
def percent(node: gast.BinOp, context: Context) -> Any:
    if not isinstance(node.op, gast.Mod) or not _is_text(node.left) or isinstance(node.right, gast.Constant):
        return None
    return template.call("percent", node.left, node.right)


def _is_text(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, (str, bytes))


REWRITERS = {gast.JoinedStr: fstring, gast.BinOp: percent}
