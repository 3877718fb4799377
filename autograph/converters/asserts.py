"""`assert test, message` → `ag__.assert_stmt(lambda: test, lambda: message)`.

Both are deferred, so that under `python -O` neither runs, as for the statement.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import movable, staging
from autograph.converters.context.base import Context, binds_here, own_text
from autograph.converters.logical import deferred
from autograph.syntax import template


def rewrite(node: gast.Assert, context: Context) -> Any:
    parts = [node.test, *([node.msg] if node.msg is not None else [])]
    why = _reason(node, parts, context)
    context.decide(node, "assert", why)
    if why is not None:
        return None
    call = gast.copy_location(template.call("assert_stmt", *map(deferred, parts)), node)
    return gast.Expr(call)


def _reason(node: gast.Assert, parts: list[Any], context: Context) -> str | None:
    if staging.never_staged(node.test, context):
        return f"its condition is never staged: {own_text(node.test)}"
    if any(map(binds_here, parts)):
        return "`:=` binds a name of the function"
    return next((why for part in parts if (why := movable.reason(part, context)) is not None), None)


REWRITERS = {gast.Assert: rewrite}
