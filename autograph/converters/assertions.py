"""`assert` and `raise`.

    assert test, message      →    ag__.assert_stmt(lambda: test, lambda: message)
    raise error from other    →    raise ag__.raise_(error) from ag__.raise_(other)

The parts of `assert` are deferred, so that under `python -O` neither runs. What is raised may be staged.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import movable, staging
from autograph.converters.context.base import Context, binds_here, own_text
from autograph.converters.logical import deferred
from autograph.syntax import template


def assert_statement(node: gast.Assert, context: Context) -> Any:
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


def raise_statement(node: gast.Raise, context: Context) -> Any:
    if node.exc is not None:
        node.exc = gast.copy_location(template.call("raise_", node.exc), node.exc)
    if node.cause is not None and not isinstance(node.cause, gast.Constant):
        node.cause = gast.copy_location(template.call("raise_", node.cause), node.cause)


REWRITERS = {gast.Assert: assert_statement, gast.Raise: raise_statement}
