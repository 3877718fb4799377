"""Quasiquotation: writes pieces of converted code as Python text with holes.

    statements("until = name", name=gast.Constant('x', None))

A hole is a name, or an expression statement that is a name. A keyword argument fills it: with a string (another name),
an expression, or a list of statements. The parsed text is cached; each result is a fresh tree, without origins or
positions.
"""

from __future__ import annotations

import functools
import textwrap
from typing import Any, cast

import gast

from autograph.common.parsing import parse
from autograph.syntax.bridge import to_gast

Part = Any  # str | gast.AST | list[gast.AST]


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> gast.Module:
    return cast(gast.Module, to_gast(parse(textwrap.dedent(text))))


def _fill(node: Any, parts: dict[str, Part]) -> Any:
    if isinstance(node, list):
        return _fill_list(node, parts)
    if not isinstance(node, gast.AST):
        return parts.get(node, node) if isinstance(node, str) else node
    if isinstance(node, gast.Name):
        part = parts.get(node.id, node.id)
        if not isinstance(part, str):
            return part
        return gast.Name(part, node.ctx, None, None)
    return type(node)(*[_fill(getattr(node, field), parts) for field in node._fields])


def _fill_list(nodes: list[Any], parts: dict[str, Part]) -> list[Any]:
    filled: list[Any] = []
    for node in nodes:
        if isinstance(node, gast.Expr) and isinstance(node.value, gast.Name):
            part = parts.get(node.value.id)
            if isinstance(part, list):
                filled.extend(part)
                continue
        filled.append(_fill(node, parts))
    return filled


def statements(text: str, **parts: Part) -> list[Any]:
    """Return the statements of `text` with its holes filled."""
    return _fill_list(_parsed(text).body, parts)


def expression(text: str, **parts: Part) -> Any:
    """Return the expression `text` with its holes filled."""
    return _fill(_parsed(text).body[0].value, parts)


def name(identifier: str, ctx: gast.AST | None = None) -> gast.Name:
    """Return a load of a name, or with `ctx` another use."""
    return gast.Name(identifier, ctx or gast.Load(), None, None)


def constant(value: object) -> gast.Constant:
    """Return a literal."""
    return gast.Constant(value, None)


def assign(identifier: str, value: gast.AST) -> gast.Assign:
    """Return `identifier = value`."""
    return gast.Assign([name(identifier, gast.Store())], value, None)


def declare(identifier: str, annotation: gast.AST) -> gast.AnnAssign:
    """Return `identifier: annotation`."""
    return gast.AnnAssign(name(identifier, gast.Store()), annotation, None, 1)


def attribute(operator: str) -> gast.Attribute:
    """Return `ag__.operator`."""
    return gast.Attribute(name("ag__"), operator, gast.Load())


def call(operator: str, *args: gast.AST, **keywords: gast.AST) -> gast.Call:
    """Return `ag__.operator(*args, **keywords)`, a call of one of the library's operators."""
    return gast.Call(attribute(operator), list(args), [gast.keyword(key, value) for key, value in keywords.items()])


def operator_of(call: gast.AST) -> str | None:
    """Return the name of the operator in `ag__.operator(…)`; None if `call` is no such call."""
    function = getattr(call, "func", None)
    value = getattr(function, "value", None)
    return getattr(function, "attr", None) if isinstance(value, gast.Name) and value.id == "ag__" else None


def thunk(body: gast.AST, *parameters: str) -> gast.Lambda:
    """Return `lambda: body`, or a lambda with parameters."""
    return gast.Lambda(_arguments(parameters), body)


def function(identifier: str, body: list[gast.AST], *parameters: str) -> gast.FunctionDef:
    """Return `def identifier(parameters): body`."""
    return gast.FunctionDef(identifier, _arguments(parameters), body or [gast.Pass()], [], None, None, [])


def _arguments(names: tuple[str, ...]) -> gast.arguments:
    return gast.arguments([name(each, gast.Param()) for each in names], [], None, [], [], None, [])
