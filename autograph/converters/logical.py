"""`a and b`, `a or b`, `not a` → `ag__.and_(lambda: a, lambda: b)`, `ag__.or_(…)`, `ag__.not_(a)`."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters import movable, staging
from autograph.converters.base import Context, binds_here
from autograph.syntax import template


def bool_op(node: gast.BoolOp, context: Context) -> Any:
    if staging.never_staged(node, context) or not may_defer(node.values, context):
        return None
    return template.call("and_" if isinstance(node.op, gast.And) else "or_", *map(deferred, node.values))


def not_(node: gast.UnaryOp, context: Context) -> Any:
    if not isinstance(node.op, gast.Not) or staging.never_staged(node.operand, context):
        return None
    return template.call("not_", node.operand)


def may_defer(operands: list[Any], context: Context) -> bool:
    """Whether expressions mean the same inside a lambda."""
    return not any(binds_here(operand) or movable.reason(operand, context) for operand in operands)


def deferred(operand: gast.AST) -> gast.Lambda:
    """`lambda: operand`, standing where the operand stood."""
    return gast.copy_location(template.thunk(operand), operand)


REWRITERS = {gast.BoolOp: bool_op, gast.UnaryOp: not_}
