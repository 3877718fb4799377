"""Finds conditions that can never depend on a staged value, so that their statements stay plain."""

from __future__ import annotations

import gast

from autograph.converters.context.base import Context
from autograph.syntax import template, trees

_PREDICATES = frozenset({"isinstance", "issubclass", "callable", "hasattr", "id"})
_TEXTS = ("str", "repr", "format")
_TEXT_OPERATORS = ("fstring", "percent", "str_", "repr_", "format_")
_FLAGS = frozenset({"TYPE_CHECKING", "__debug__", "__name__"})


def never_staged(test: gast.AST, context: Context) -> bool:
    """Whether `test` always yields a plain Python value, whatever its operands are."""
    if isinstance(test, (gast.Constant, gast.Lambda)):
        return True
    if isinstance(test, gast.JoinedStr):
        return not formats(test)
    if isinstance(test, gast.Name):
        return test.id in _FLAGS
    is_not = isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not)
    if is_not or isinstance(test, (gast.Tuple, gast.List, gast.Set, gast.Subscript, gast.BoolOp)):
        return all(never_staged(part, context) for part in trees.children(test))
    if isinstance(test, gast.Attribute):
        return test.attr in _FLAGS or (context.dotted(test) or "").startswith("sys.")
    if isinstance(test, gast.Compare):
        pairs = zip(test.ops, [test.left, *test.comparators], test.comparators)
        return all(_plain_comparison(op, left, right, context) for op, left, right in pairs)
    if isinstance(test, gast.Call):
        name = test.func.id if isinstance(test.func, gast.Name) else None
        return name in _PREDICATES and context.is_builtin(name)
    return False


def _plain_comparison(op: gast.AST, left: gast.AST, right: gast.AST, context: Context) -> bool:
    if isinstance(op, (gast.Is, gast.IsNot)):
        if _becomes_none(left, right, context) or _becomes_none(right, left, context):
            return False
        if _is_bool(left) or _is_bool(right):
            return never_staged(left, context) and never_staged(right, context)
        return not (_may_be_copy(left, context) and _may_be_copy(right, context))
    if _is_text(left) or _is_text(right):
        return not (context.whole or _makes_text(left, context) or _makes_text(right, context))
    if isinstance(op, (gast.In, gast.NotIn)):
        of_texts = isinstance(right, (gast.Tuple, gast.List, gast.Set)) and all(map(_is_text, right.elts))
        return of_texts and not (context.whole or _makes_text(left, context))
    return never_staged(left, context) and never_staged(right, context)


def _is_text(node: gast.AST) -> bool:
    if isinstance(node, gast.Constant):
        return isinstance(node.value, (str, bytes)) or node.value is None or node.value is Ellipsis
    return isinstance(node, gast.JoinedStr) and not formats(node)


def _becomes_none(operand: gast.AST, other: gast.AST, context: Context) -> bool:
    """Whether a value that may be set to None, as its text shows, or the base of an array, is compared with None."""
    if not isinstance(other, gast.Constant) or other.value is not None:
        return False
    if context.whole:
        return not isinstance(operand, gast.Constant)
    if isinstance(operand, gast.Attribute):
        return bool(operand.attr == "base")
    return context.becomes_none(operand.id) if isinstance(operand, gast.Name) else may_be_none(operand)


def may_be_none(value: gast.AST) -> bool:
    """Whether an expression is None, or an item, or a call with the default None: `next(it, None)`."""
    if isinstance(value, gast.IfExp):
        return may_be_none(value.body) or may_be_none(value.orelse)
    if isinstance(value, gast.NamedExpr):
        return may_be_none(value.value)
    if isinstance(value, gast.Subscript):
        return not isinstance(value.slice, gast.Slice)
    if isinstance(value, gast.Call):
        is_get = isinstance(value.func, gast.Attribute) and value.func.attr == "get" and len(value.args) == 1
        return is_get or any(isinstance(part, gast.Constant) and part.value is None for part in value.args[1:])
    return isinstance(value, gast.Constant) and value.value is None


def _is_bool(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, bool)


def _may_be_copy(operand: gast.AST, context: Context) -> bool:
    """Whether traced code may have a copy or proxy of an operand, so that the backend must compare its identity."""
    if isinstance(operand, (gast.Constant, *_FRESH_OBJECTS)):
        return False
    if isinstance(operand, gast.Call):
        return not never_staged(operand, context) and context.dotted(operand.func) != "builtins.type"
    root = operand
    while isinstance(root, (gast.Attribute, gast.Subscript)):
        root = root.value.args[0] if template.operator_of(root.value) == "ref" else root.value
    if not isinstance(root, gast.Name):
        return True
    if context.is_local(root.id) or root.id in context.targets:
        return not (operand is root and root.id == "self")
    copying = context.copying.get(root.id, "")
    return copying == "itself" or (copying == "within" and operand is not root)


# Expressions whose value is a new object, to which no other name refers.
_FRESH_OBJECTS = (
    gast.BinOp, gast.Compare, gast.Dict, gast.DictComp, gast.GeneratorExp, gast.JoinedStr, gast.Lambda, gast.List,
    gast.ListComp, gast.Set, gast.SetComp, gast.Tuple,
)  # fmt: skip


def _makes_text(node: gast.AST, context: Context) -> bool:
    """Whether an expression makes a text of a value that may be staged."""
    if isinstance(node, gast.JoinedStr):
        return formats(node)
    if isinstance(node, gast.BinOp):
        return isinstance(node.op, gast.Mod) and _is_text(node.left)
    name = getattr(getattr(node, "func", None), "id", "")
    return template.operator_of(node) in _TEXT_OPERATORS or (name in _TEXTS and context.is_builtin(name))


def formats(node: gast.JoinedStr) -> bool:
    """Whether an f-string contains expressions."""
    return any(isinstance(part, gast.FormattedValue) for part in node.values)
