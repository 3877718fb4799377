"""Finds code that would change its meaning in a nested function.

A statement that contains such code stays in place, and so do all statements around it. Frame-sensitive calls look at
their caller: `sys._getframe(n)`, `warnings.warn(stacklevel=n)`, and the module's own functions that make such calls on
behalf of their callers (`frame_depths`).
"""

from __future__ import annotations

import math
from typing import Any

import gast

from autograph.converters.context.base import Context
from autograph.syntax import scope, trees

READS_NAMES = frozenset({"locals", "vars", "dir", "eval", "exec"})
# The number of frames down that each looks by default. By last name, since they are often imported in functions.
_FRAMES: dict[str, float] = {
    "_getframe": 0,
    "_getframemodulename": 0,
    **dict.fromkeys("currentframe extract_stack format_stack print_stack walk_stack".split(), math.inf),
}
_DOTTED_FRAMES = frozenset({"inspect.stack", "inspect.trace"})


def reason(nodes: list[Any] | gast.AST, context: Context) -> str | None:
    """Return the reason why statements or an expression must stay in their function; None if they may move."""
    for node in scope.walk_own(*(nodes if isinstance(nodes, list) else [nodes])):
        why = _reason(node, context)
        if why is not None:
            return f"{why} (line {node.lineno})" if hasattr(node, "lineno") else why
    return None


def _reason(node: gast.AST, context: Context) -> str | None:
    kind = type(node)
    if kind in BY_KIND:
        return BY_KIND[kind]
    if kind is gast.comprehension and node.is_async:
        return "asynchronous comprehensions belong to their coroutine"
    if kind is gast.Call:
        return _call_reason(node, context)
    if kind is gast.Attribute and node.attr == "f_back":
        return "`f_back` walks the stack"
    if kind is gast.ImportFrom and any(alias.name == "*" for alias in node.names):
        return "`import *` binds unknown names"
    return None


BY_KIND = {
    gast.Yield: "`yield` belongs to its generator",
    gast.YieldFrom: "`yield from` belongs to its generator",
    gast.Await: "`await` belongs to its coroutine",
    gast.AsyncFor: "`async for` belongs to its coroutine",
    gast.AsyncWith: "`async with` belongs to its coroutine",
}


def _call_reason(node: gast.Call, context: Context) -> str | None:
    name = node.func.id if isinstance(node.func, gast.Name) else None
    if name == "super" and not node.args:
        return "`super()` looks at the function around it"
    if reads_names(node, context):
        return f"`{name}` looks at the names of its function"
    if frame_depth(node, context) >= 1:
        return f"`{_callee(node)}` looks at its caller's frame"
    return None


def reads_names(node: gast.Call, context: Context) -> bool:
    """Whether a call reads the local names of the function around it: `locals()`, `eval(…)`."""
    name = node.func.id if isinstance(node.func, gast.Name) else None
    if name not in READS_NAMES or not context.is_builtin(name):
        return False
    return name in ("eval", "exec") or not (node.args or node.keywords)


def frame_depth(node: gast.Call, context: Context) -> float:
    """Return 0 if any frame may make a call; else 1 + the number of frames below that one at which it looks."""
    name = _callee(node)
    if name in _FRAMES:
        default = _FRAMES[name]
        return 1 + (default if default == math.inf else _constant(node.args[0] if node.args else None, default))
    if name in ("warn", "warn_explicit"):
        level = _keyword(node, "stacklevel")
        if level is None and len(node.args) > 2 and _is_of_warnings(node.func, context):
            level = node.args[2]
        return 0 if level is None else _constant(level, 1)
    if context.dotted(node.func) in _DOTTED_FRAMES:
        return math.inf
    return context.frame_depths.get(name, 0)


def _is_of_warnings(function: Any, context: Context) -> bool:
    """Whether a `warn` is that of the module `warnings`, not that of a logger or the like."""
    root = getattr(getattr(function, "value", None), "id", None)
    return root == "warnings" or (context.dotted(function) or "").startswith("warnings.")


def _keyword(node: gast.Call, name: str) -> Any:
    return next((k.value for k in node.keywords if k.arg == name), None)


def _constant(node: Any, default: float) -> float:
    if node is None:
        return default
    return node.value if isinstance(node, gast.Constant) and isinstance(node.value, int) else math.inf


def _callee(node: gast.Call) -> str:
    return node.func.id if isinstance(node.func, gast.Name) else getattr(node.func, "attr", "")


def module_frame_depths(tree: gast.AST, context: Context) -> dict[str, float]:
    """Return for each function of a module that looks beyond its caller's frame the number of frames below its own.

    A function that looks one frame down, at its caller, may also find a generated body of the caller, which has the
    same name, globals and lines. One that looks further needs its caller's own frame, and so do the functions that call
    it, one frame less each.
    """
    callers: dict[str, set[str]] = {}
    depths: dict[str, float] = {}
    for function in trees.walk(tree):
        if isinstance(function, (gast.FunctionDef, gast.AsyncFunctionDef)):
            for node in trees.walk(function):
                depth: float = 0
                if isinstance(node, gast.Call):
                    callers.setdefault(_callee(node), set()).add(function.name)
                    depth = frame_depth(node, context) - 1
                elif isinstance(node, gast.Attribute) and node.attr in ("f_back", "f_locals"):
                    depth = math.inf
                if depth >= 2:
                    depths[function.name] = max(depth, depths.get(function.name, 0))
    work = list(depths)
    while work:
        name = work.pop()
        for caller in callers.get(name, ()):
            depth = depths[name] - 1
            if depth >= 2 and depth > depths.get(caller, 0):
                depths[caller] = depth
                work.append(caller)
    return depths
