"""Finds the names of a module: those of imports, those bound otherwise, and functions that look at their callers.

For a module, the text alone gives them, so that it can be converted without being imported; for a live function, its
globals do.
"""

from __future__ import annotations

import enum
import math
import sys
import types
from collections.abc import Mapping, Set
from typing import Any

import gast

from autograph.common.statics import is_a, module_name, module_of
from autograph.converters.context import movable
from autograph.converters.context.base import Context
from autograph.syntax import names, scope, trees


def module_context(tree: gast.AST, filename: str) -> Context:
    """Return the context for converting a whole module."""
    known = imports(tree)
    shadowed = scope.uses(*tree.body).writes.keys() - known.keys()
    shadowed |= {name for node in trees.walk(tree) if isinstance(node, gast.Global) for name in node.names}
    context = Context(filename, known, frozenset(shadowed), used_names=names.all_names(tree))
    context.frame_depths = movable.module_frame_depths(tree, context)
    return context


def function_context(tree: gast.AST, filename: str, globals: Mapping[str, Any], free: tuple[str, ...]) -> Context:
    """Return the context for converting one live function."""
    used = names.all_names(tree)
    found = global_names(used, globals)
    known = {name: dotted for name, (dotted, *_) in found.items() if dotted is not None}
    context = Context(filename, known, frozenset(found.keys() - known.keys()), used_names=used)
    context.frame_depths = {name: math.inf for name, (_, looks, _) in found.items() if looks}
    context.copying = {name: copying for name, (_, _, copying) in found.items() if copying}
    if free:
        context.locals.append(set(free))
    return context


def global_names(used: Set[str], globals: Mapping[str, Any]) -> dict[str, tuple[str | None, bool, str]]:
    """Return the facts that converters need about globals, by name.

    They are: the dotted name of its import, whether it looks at frames, and how traced code may copy it.
    """
    own = globals.get("__name__", "")  # the module's own definitions are no imports
    found = {}
    for name in used & globals.keys():
        value = globals[name]
        dotted = _dotted(value)
        if dotted is not None and not is_a(value, types.ModuleType) and value.__module__ == own:
            dotted = None
        found[name] = dotted, looks_at_frames(value), _copying(value)
    return found


def _copying(value: Any) -> str:
    """Return "itself" if traced code may have copies of a global, "within" if of its parts only, else ""."""
    if type(value) is object or is_a(value, (enum.Enum, enum.EnumMeta)):
        return ""
    return "within" if is_a(value, (type, types.ModuleType, types.FunctionType)) else "itself"


_FRAME_NAMES = frozenset({"_getframe", "currentframe", "f_back", "f_locals", "extract_stack"})


def looks_at_frames(value: Any) -> bool:
    """Whether a function looks at the frames of its callers, as far as its code shows."""
    if type(value) is not types.FunctionType:
        return False
    code = value.__code__
    warns = "warn" in code.co_names and any(isinstance(c, tuple) and "stacklevel" in c for c in code.co_consts)
    names = {*code.co_names, *code.co_freevars, *code.co_varnames}
    stack = getattr(sys.modules.get("inspect"), "stack", sys)  # NumPy has a function of that name, too
    of_inspect = "stack" in code.co_names and ("inspect" in names or value.__globals__.get("stack") is stack)
    return warns or of_inspect or not _FRAME_NAMES.isdisjoint(code.co_names)


def imports(tree: gast.AST) -> dict[str, str]:
    """Return the names that the imports of a module, outside of functions, bind, with their dotted names."""
    known: dict[str, str] = {}
    for node in scope.walk_own(*tree.body):
        if isinstance(node, gast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                known[alias.asname or top] = alias.name if alias.asname else top
        elif isinstance(node, gast.ImportFrom) and not node.level:
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return known


_NAMED = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodDescriptorType)


def _dotted(value: Any) -> str | None:
    """Return the dotted name of a module, or of a function or class."""
    if is_a(value, types.ModuleType):
        return module_name(value)
    if not is_a(value, _NAMED):  # reading attributes of other objects may run code of the user's
        return None
    module = module_of(value) if is_a(value, type) else getattr(value, "__module__", None)
    name = getattr(value, "__qualname__", None)
    return f"{module}.{name}" if module and isinstance(module, str) and isinstance(name, str) else None
