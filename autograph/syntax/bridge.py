"""Translates trees of Python's `ast` to `gast` and back, without recursion and three times as fast as gast itself.

gast has the same nodes for all versions of Python: parameters are `Name`s, the variable of an `except` clause is a
`Name`, and so on. Only this file handles these differences.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import gast

Fields = dict[str, Any]

_SINGLETONS = (ast.expr_context, ast.boolop, ast.operator, ast.unaryop, ast.cmpop)


def _is_node(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, ast.AST) and kind.__module__ == "gast.gast"


_NODES: dict[str, Any] = {name: kind for name, kind in vars(gast).items() if _is_node(kind) and hasattr(ast, name)}
# Operators and contexts have no fields, so all trees share one node of each type.
_SHARED: dict[type, Any] = {}
_GAST: dict[Any, Any] = {}
_AST: dict[type, Any] = {}
for _name, _kind in _NODES.items():
    if issubclass(_kind, _SINGLETONS):
        _SHARED[getattr(ast, _name)] = _kind()
        _SHARED[_kind] = getattr(ast, _name)()
    else:
        _GAST[getattr(ast, _name)] = _kind
        _AST[_kind] = getattr(ast, _name)
for _kind in (gast.Param, gast.AugLoad, gast.AugStore):     # contexts that Python's own trees do not have
    _SHARED[_kind] = ast.Load()


# -- ast to gast --------------------------------------------------------------------------------------------


def _name_fields(fields: Fields) -> None:
    fields["annotation"] = fields["type_comment"] = None


def _handler(fields: Fields) -> None:
    if fields["name"]:
        fields["name"] = gast.Name(fields["name"], gast.Store(), None, None)


_PARAM = gast.Param()
_SPECIAL: dict[type, Callable[[Fields], object]] = {
    ast.Name: _name_fields,
    ast.arg: lambda fields: fields.update(id=fields.pop("arg"), ctx=_PARAM),
    ast.ExceptHandler: _handler,
}
for _kind in (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
    _SPECIAL[_kind] = lambda fields: fields.setdefault("type_params", [])       # Python 3.11 has none
for _name in ("TypeVar", "ParamSpec", "TypeVarTuple"):
    if hasattr(ast, _name):
        _SPECIAL[getattr(ast, _name)] = lambda fields: fields.setdefault("default_value", None)     # nor Python 3.12
_GAST[ast.arg] = gast.Name
_VALUE_FIELDS = frozenset("id attr arg module asname rest kind type_comment conversion is_async simple".split())
# the fields of each class that may hold nodes or lists of nodes
_CHILD_FIELDS: dict[type, tuple[str, ...]] = {
    kind: tuple(name for name in kind._fields if name not in _VALUE_FIELDS) for kind in _GAST
}
_CHILD_FIELDS[ast.Constant] = ()


def to_gast(tree: ast.AST) -> Any:
    """Translate a Python tree to a new gast tree, as `gast.ast_to_gast` does."""
    todo: list[tuple[ast.AST, Any]] = []
    new, kinds, shared = ast.AST.__new__, _GAST, _SHARED

    def translate(value: Any) -> Any:
        kind = type(value)
        new_kind = kinds.get(kind)
        if new_kind is None:
            return shared.get(kind, value)
        new_node = new(new_kind)
        todo.append((value, new_node))
        return new_node

    root = translate(tree)
    for node, new_node in todo:                                 # grows while we go
        fields = new_node.__dict__
        fields.update(node.__dict__)
        for name in _CHILD_FIELDS[type(node)]:
            value = fields.get(name)
            if value is not None:
                fields[name] = [translate(item) for item in value] if type(value) is list else translate(value)
        special = _SPECIAL.get(type(node))
        if special is not None:
            special(fields)
    return root


# -- gast to ast --------------------------------------------------------------------------------------------

Enter = Callable[[Any, Any, Any], Any]
_PARAMETERS = frozenset({"posonlyargs", "args", "vararg", "kwonlyargs", "kwarg"})
_PYTHON_CHILD_FIELDS: dict[Any, tuple[str, ...]] = {kind: _CHILD_FIELDS[python] for kind, python in _AST.items()}
_PYTHON_VALUE_FIELDS: dict[Any, tuple[str, ...]] = {
    kind: tuple(name for name in python._fields if name not in _CHILD_FIELDS[python]) for kind, python in _AST.items()
}


def to_ast(tree: Any, hooks: dict[type, Enter] | None = None, context: Any = None) -> Any:
    """Translate a gast tree to a new Python tree.

    A node without a position gets the line of its parent and no columns; at the top of a module, no line at all.

    Args:
        tree: the gast tree; a node may occur in it several times.
        hooks: functions by type of node. `hook(node, new_node, context)` is called for each node of that type;
            `new_node` is the Python node, which so far has its position only.
        context: the context of `tree`. The result of a hook is the context of the nodes below.
    """
    hooks = hooks or {}
    todo: list[tuple[Any, Any, int, Any]] = []
    new, kinds, shared = ast.AST.__new__, _AST, _SHARED
    line = -1

    def translate(value: Any, kind: Any = None) -> Any:
        new_kind = kind or kinds.get(type(value))
        if new_kind is None or value is None:
            return shared.get(type(value), value)
        new_node = new(new_kind)
        todo.append((value, new_node, line, context))
        return new_node

    root = translate(tree)
    for node, new_node, line, context in todo:                      # grows while we go
        old_fields, fields = node.__dict__, new_node.__dict__
        line = old_fields.get("lineno", line)
        fields["lineno"] = line
        fields["col_offset"] = old_fields.get("col_offset", -1)
        fields["end_lineno"] = old_fields.get("end_lineno", line)
        fields["end_col_offset"] = old_fields.get("end_col_offset", -1)
        kind = type(node)
        hook = hooks.get(kind)
        if hook is not None:
            context = hook(node, new_node, context)
        if type(new_node) is ast.arg:
            fields.update(arg=old_fields["id"], annotation=translate(old_fields.get("annotation")))
            continue
        for name in _PYTHON_VALUE_FIELDS[kind]:
            if name in old_fields:
                fields[name] = old_fields[name]
        for name in _PYTHON_CHILD_FIELDS[kind]:
            value = old_fields.get(name)
            part = ast.arg if kind is gast.arguments and name in _PARAMETERS else None
            fields[name] = [translate(item, part) for item in value] if type(value) is list else translate(value, part)
        if kind is gast.ExceptHandler and node.name is not None:
            fields["name"] = node.name.id
    return root
