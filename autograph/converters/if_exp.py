"""`a if test else b` → `ag__.if_exp(test, lambda: a, lambda: b)`."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import staging
from autograph.converters.context.base import Context
from autograph.converters.logical import deferred, may_defer
from autograph.syntax import template


def rewrite(node: gast.IfExp, context: Context) -> Any:
    if staging.never_staged(node.test, context) or not may_defer([node.body, node.orelse], context):
        return None
    return template.call("if_exp", node.test, deferred(node.body), deferred(node.orelse))


REWRITERS = {gast.IfExp: rewrite}
