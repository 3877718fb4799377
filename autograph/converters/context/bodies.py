"""Makes functions of the bodies of `if`, `while` and `for`, and the arguments of their operators."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context.base import Context
from autograph.syntax import names, template, trees


def body(root: str, block: list[Any], shared: list[str], context: Context, *parameters: str) -> gast.FunctionDef:
    """Return `def root(parameters)` for a block that shares the names `shared` with the functions around it."""
    if trees.is_docstring(block[0]):
        block = [gast.copy_location(silent_pass(), block[0]), *block]  # so that the string is no docstring
    function = template.function(context.body_name(root), [*sharing(shared, context), *block], *parameters)
    function.role = "loop" if root.startswith("loop") else "branch"
    function.reference = template.name(function.name)
    return function


def silent_pass() -> Any:
    """Return a `pass` that is compiled, so that debuggers see its line run, but not printed."""
    node = gast.Pass()
    node.silent = True
    return node


def sharing(shared: list[str], context: Context) -> list[Any]:
    """Return the `nonlocal` and `global` statements for the names that a body shares."""
    declared_global = context.globals[-1]
    far, near = [n for n in shared if n in declared_global], [n for n in shared if n not in declared_global]
    return [*([gast.Global(far)] if far else []), *([gast.Nonlocal(near)] if near else [])]


def declarations(unbound: list[str]) -> list[Any]:
    """Return `y: ag__.unbound` for each name that only bodies bind."""
    return [template.declare(name, template.attribute("unbound")) for name in unbound]


def state(node: Any, context: Context) -> list[Any]:
    """Return the names of the state, mangled, as an argument: a tuple of strings, or nothing if empty."""
    class_name = context.classes[-1] if context.classes else None
    listed = [template.constant(names.mangle(name, class_name)) for name in node.state.names]
    return [gast.Tuple(listed, gast.Load())] if listed else []


def finish(node: Any, at: gast.AST, functions: list[Any], call: gast.Call) -> list[Any]:
    """Return the statements that replace a construct; the call is at the position of its condition or iterable."""
    gast.copy_location(call, at)
    last = gast.Return(call) if node.returns else gast.Expr(call)
    new = [*declarations(node.unbound), *functions, gast.copy_location(last, at)]
    for function in functions:
        gast.copy_location(function, at)
    return new


def loop_keywords(node: Any, context: Context) -> dict[str, Any]:
    """Return the arguments `until=` and `options=` of a loop, if it has any."""
    keywords: dict[str, Any] = {}
    if node.until:
        flags = [template.name(flag) for flag in node.until]
        test = flags[0] if len(flags) == 1 else template.call("or_", *map(template.thunk, flags))  # two at most
        keywords["until"] = template.thunk(test)
    if node.options:
        options = {k.arg: k.value for k in node.options}
        keywords["options"] = gast.Dict([template.constant(name) for name in options], [*options.values()])
    return keywords
