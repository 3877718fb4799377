"""`"n = %d" % n` → `ag__.percent("n = %d", n)`: a text formats what may be staged without asking it."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context.base import Context
from autograph.syntax import template


def rewrite(node: gast.BinOp, context: Context) -> Any:
    if not isinstance(node.op, gast.Mod) or not _is_text(node.left) or isinstance(node.right, gast.Constant):
        return None
    return template.call("percent", node.left, node.right)


def _is_text(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, (str, bytes))


REWRITERS = {gast.BinOp: rewrite}
