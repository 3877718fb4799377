"""`ag__.ref(x)`: marks objects that a store changes, or that a load indexes with a computed index.

    a[i, j] = v      →  ag__.ref(a)[i, j] = v
    self.count += 1  →  ag__.ref(self).count += 1
    table[i]         →  ag__.ref(table)[i]          (but `table[0]`, `table['key']` stay)
    stack[-1]        →  ag__.ref(stack)[-1]         if the function calls `stack.pop()`, or stores at computed indices

Other loads are marked in the compiled code only (`syntax/inline.py`), since other functions may change `table`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import gast

from autograph.converters.context.base import Context
from autograph.syntax import template, trees


def subscript(node: gast.Subscript, context: Context) -> Any:
    if isinstance(node.ctx, gast.Load):
        changed = context.mutated and _dotted_text(node.value) in context.mutated
        if _is_type(node.value, context):
            return None
        if _literal(node.slice) and not changed:
            node.guarded = True
            return None
    node.value = _ref(node.value)
    return None


def attribute(node: gast.Attribute, context: Context) -> Any:
    if not isinstance(node.ctx, gast.Load):
        node.value = _ref(node.value)
    return None


_CHANGING = frozenset(
    "add append appendleft clear discard extend extendleft insert pop popitem popleft remove reverse rotate setdefault "
    "sort update".split()
)


def mutated(nodes: Iterable[gast.AST]) -> frozenset[str]:
    """Return the names and dotted names of containers that nodes change by methods or stores at computed indices."""
    found = set()
    for node in nodes:
        if isinstance(node, gast.Call) and getattr(node.func, "attr", None) in _CHANGING:
            found.add(_dotted_text(node.func.value))
        elif isinstance(node, gast.Subscript) and not isinstance(node.ctx, gast.Load) and not _literal(node.slice):
            found.add(_dotted_text(node.value))
    return frozenset(text for text in found if text is not None)


def _dotted_text(node: Any) -> str | None:
    root, names = trees.dotted(node)
    return ".".join([root.id, *names]) if isinstance(root, gast.Name) else None


def _ref(value: Any) -> gast.AST:
    return gast.copy_location(template.call("ref", value), value)


def _literal(index: Any) -> bool:
    """Whether an index consists of literals."""
    if isinstance(index, gast.Constant):
        return True
    if isinstance(index, gast.UnaryOp):
        return _literal(index.operand)
    if isinstance(index, gast.Slice):
        return all(part is None or _literal(part) for part in (index.lower, index.upper, index.step))
    return isinstance(index, gast.Tuple) and all(map(_literal, index.elts))


def _is_type(value: Any, context: Context) -> bool:
    """Whether subscripting `value` makes a type, as in `list[T]`, `Callable[[X], Y]`."""
    dotted = context.dotted(value) or ""
    return dotted.startswith(("typing.", "collections.abc.")) or dotted in _GENERIC


_GENERIC = frozenset(f"builtins.{name}" for name in ("list", "dict", "tuple", "set", "frozenset", "type"))
REWRITERS = {gast.Subscript: subscript, gast.Attribute: attribute}
