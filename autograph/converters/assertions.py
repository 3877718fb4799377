"""`assert` and `raise`.

    assert test, message      →    ag__.assert_stmt(lambda: test, lambda: message)
    raise error from other    →    raise ag__.raise_(error) from ag__.raise_(other)

The parts of `assert` are deferred, since neither runs under `python -O`. The exception may be staged.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import staging
from autograph.converters.context.base import Context, short_text
from autograph.converters.logical import deferred, why_not_deferred
from autograph.syntax import template


def assert_statement(node: gast.Assert, context: Context) -> Any:
    parts = [node.test, *([node.msg] if node.msg is not None else [])]
    why = why_not_deferred(parts, context)
    if staging.never_staged(node.test, context):
        why = f"its condition is never staged: {short_text(node.test)}"
    if not context.decide(node, "assert", why):
        return None
    call = gast.copy_location(template.call("assert_stmt", *map(deferred, parts)), node)
    return gast.Expr(call)


def raise_statement(node: gast.Raise, context: Context) -> Any:
    if node.exc is not None:
        node.exc = gast.copy_location(template.call("raise_", node.exc), node.exc)
    if node.cause is not None and not isinstance(node.cause, gast.Constant):
        node.cause = gast.copy_location(template.call("raise_", node.cause), node.cause)


REWRITERS = {gast.Assert: assert_statement, gast.Raise: raise_statement}
