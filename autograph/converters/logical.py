"""`a and b`, `a or b`, `not a` → `ag__.and_(lambda: a, lambda: b)`, `ag__.or_(…)`, `ag__.not_(a)`."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import movable, staging
from autograph.converters.context.base import Context, binds_here
from autograph.syntax import template


def bool_op(node: gast.BoolOp, context: Context) -> Any:
    if staging.never_staged(node, context) or why_not_deferred(node.values, context):
        return None
    once = {}
    if getattr(node, "in_test", False) and not all(map(_is_bool, node.values[:-1])):
        once = {"test": template.constant(True)}
    operator = "and_" if isinstance(node.op, gast.And) else "or_"
    return call_of(operator, [*map(deferred, node.values)], **once)


def call_of(operator: str, operands: list[Any], **keywords: Any) -> Any:
    """Return a call of `and_` or `or_`; more than four operands are nested."""
    while len(operands) > 4:
        inner = template.thunk(template.call(operator, *operands[-4:], **keywords))
        operands = [*operands[:-4], gast.copy_location(inner, operands[-4])]
    return template.call(operator, *operands, **keywords)


def not_(node: gast.UnaryOp, context: Context) -> Any:
    if not isinstance(node.op, gast.Not) or staging.never_staged(node.operand, context):
        return None
    return template.call("not_", node.operand)


def mark_roles(node: Any) -> None:
    """Mark the roles of the nodes below a statement or expression.

    If only the truth of `and` or `or` matters, Python computes the truth of each operand at most once, and so must the
    operators. The format behind a colon in an f-string is the tree of an f-string, but not one.
    """
    if isinstance(node, (gast.If, gast.While, gast.IfExp, gast.Assert)):
        _mark_test(node.test)
    elif isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
        _mark_test(node.operand)
    elif isinstance(node, gast.comprehension):
        for condition in node.ifs:
            _mark_test(condition)
    elif isinstance(node, gast.FormattedValue) and node.format_spec is not None:
        node.format_spec.is_spec = True


def _mark_test(test: Any) -> None:
    if isinstance(test, gast.BoolOp):
        test.in_test = True
        for value in test.values:
            _mark_test(value)
    elif isinstance(test, gast.IfExp):
        _mark_test(test.body)
        _mark_test(test.orelse)


def _is_bool(operand: Any) -> bool:
    """Whether a rewritten operand is a bool, or staged: computing its truth twice has no visible effect."""
    return isinstance(operand, (gast.Compare, gast.Constant)) or template.operator_of(operand) in _BOOLS


_BOOLS = frozenset({"not_", "in_", "not_in", "is_", "is_not", "bool_"})


def why_not_deferred(operands: list[Any], context: Context) -> str | None:
    """Return the reason why expressions would change their meaning in a lambda; None if they would not."""
    return "`:=` binds a name of the function" if any(map(binds_here, operands)) else movable.reason(operands, context)


def deferred(operand: gast.AST) -> gast.Lambda:
    """Return `lambda: operand` at the position of the operand."""
    return gast.copy_location(template.thunk(operand), operand)


REWRITERS = {gast.BoolOp: bool_op, gast.UnaryOp: not_}
