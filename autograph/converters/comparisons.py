"""`a < b < c` and `a in b`, which Python always reduces to a bool; and `a is None` if `a` may be set to None.

If `b` may be evaluated twice (a name or a literal), a chain becomes `ag__.and_(lambda: a < b, lambda: b < c)`, else
`ag__.compare(a, '<', lambda: b, '<', lambda: c)`.

Also marks places where Python must get the object itself instead of a proxy, and context managers that a graph may
enter. They are rewritten in the compiled code only (`syntax/inline.py`):

    x is None                 →    (ag__.concrete(x, parts=False) if ag__.ACTIVE else x) is None
    match x: case [a, b]      →    match ag__.concrete(x): case [a, b]
    with manager as f         →    with (ag__.context(manager) if ag__.ACTIVE else manager) as f
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.common.printing.precedence import kind
from autograph.common.printing.templates import OPERATORS
from autograph.converters.context import staging
from autograph.converters.context.base import Context
from autograph.converters.logical import call_of, deferred, why_not_deferred
from autograph.syntax import template

_IDENTITY = {gast.Is: "is_", gast.IsNot: "is_not"}
_MEMBERSHIP = {gast.In: "in_", gast.NotIn: "not_in"}


def rewrite(node: gast.Compare, context: Context) -> Any:
    mark(node, context)
    if staging.never_staged(node, context):
        return None
    if len(node.ops) == 1:
        operator = _MEMBERSHIP.get(type(node.ops[0])) or _IDENTITY.get(type(node.ops[0]))
        return None if operator is None else template.call(operator, node.left, node.comparators[0])
    if why_not_deferred(node.comparators, context):
        return None
    middle = node.comparators[:-1]
    if all(isinstance(operand, (gast.Name, gast.Constant)) for operand in middle):
        return _conjunction(node, context)
    arguments = [node.left]
    for op, operand in zip(node.ops, node.comparators, strict=True):
        arguments += [template.constant(OPERATORS[kind(op)]), deferred(operand)]
    return template.call("compare", *arguments)


def _conjunction(node: gast.Compare, context: Context) -> Any:
    operands = [node.left, *node.comparators]
    if why_not_deferred([node.left], context):
        return None
    pairs = []
    for i, op in enumerate(node.ops):
        left = operands[i] if i == 0 else _copy_of(operands[i])
        pair = gast.copy_location(gast.Compare(left, [op], [operands[i + 1]]), node)
        pair.guarded = True
        operator = _MEMBERSHIP.get(type(op))
        if not staging.never_staged(pair, context):
            operator = operator or _IDENTITY.get(type(op))
        pairs.append(deferred(pair if operator is None else template.call(operator, left, operands[i + 1])))
    return call_of("and_", pairs)


def _copy_of(operand: Any) -> Any:
    """Return another node for the same name or literal."""
    if isinstance(operand, gast.Name):
        return gast.copy_location(template.name(operand.id), operand)
    copy = gast.copy_location(template.constant(operand.value), operand)
    if hasattr(operand, "origin"):
        copy.origin = operand.origin  # written as the user wrote it
    return copy


def mark(node: Any, context: Context) -> None:
    node.guarded = True


REWRITERS = {gast.Compare: rewrite, gast.Match: mark, gast.With: mark}
