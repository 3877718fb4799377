"""Nested functions as functions of what they capture, for machine code to call: `syntax/lifting.py` says how.

They have the user's file name, names and lines, so tracebacks of both forms are alike.
"""

from __future__ import annotations

import ast
import functools
import weakref
from types import CellType, CodeType, FunctionType
from typing import Any, NamedTuple

from autograph.common import forking
from autograph.common.code_flags import OfCode
from autograph.errors import SourceError
from autograph.syntax import codes, lifting, source
from autograph.syntax.bridge import to_ast


class LiftedFunction(NamedTuple):
    """The lifted form of a nested function.

    Attributes:
        captured: the names of its first parameters.
        boxed: those of these that get a list of one item, the value of the variable.
        group: the names of the functions that are lifted with it.
    """

    function: FunctionType
    captured: tuple[str, ...]
    boxed: frozenset[str]
    group: frozenset[str]


_lock = forking.lock()
_made: OfCode[dict[tuple[str, int, int], LiftedFunction | None]] = OfCode()     # by the code around them
_sources: OfCode[Any] = OfCode()


def lifted_function(outer: FunctionType, nested: CodeType) -> LiftedFunction | None:
    """The lifted form of a function nested in another one; None if it cannot be lifted.

    Args:
        nested: its code, of which name and line count.
    """
    key = nested.co_name, nested.co_firstlineno, id(outer.__globals__)
    with forking.undivided(), _lock:
        found = _made.get(outer.__code__) or _made.put(outer.__code__, {})
        if key not in found:
            found[key] = _lifted(outer, nested)
        return found[key]


def source_of(function: FunctionType) -> source.FunctionSource | None:
    """The source of a lifted function, with a tree of its own; None for other functions."""
    read = _sources.get(function.__code__)
    return None if read is None else read(function)


def _lifted(outer: FunctionType, nested: CodeType) -> LiftedFunction | None:
    name, above = nested.co_name, outer.__code__.co_freevars
    try:
        read = source.of_function(outer)
    except SourceError:
        return None
    found = lifting.lift(read.node, name, above)
    known = [each for each in outer.__code__.co_consts if isinstance(each, CodeType)]
    likes = {each.co_name: each for each in known}
    if found is None or not found.functions.keys() <= likes.keys() or len({*likes}) != len(known):
        return None
    if likes[name].co_firstlineno != nested.co_firstlineno:
        return None
    cells = {each: CellType() for each in found.functions}
    for each, node in found.functions.items():
        code = _compiled(to_ast(node), likes[each], read.class_names)
        if not cells.keys() >= {*code.co_freevars}:
            return None
        defaults = tuple(default.value for default in node.args.defaults)
        closure = tuple(cells[variable] for variable in code.co_freevars)
        made = FunctionType(code, outer.__globals__, each, defaults or None, closure)
        made.__qualname__, made.__module__ = f"{outer.__qualname__}.<locals>.{each}", outer.__module__
        cells[each].cell_contents = made
        _sources.put(code, functools.partial(_read, weakref.ref(outer), name))
    return LiftedFunction(cells[name].cell_contents, found.captured, found.boxed, frozenset(found.functions))


def _compiled(function: ast.FunctionDef, like: CodeType, class_names: tuple[str, ...]) -> CodeType:
    code, _ = codes.compile_alone(function, like, class_names, codes.imported_names(like), no_warnings=True)
    labels: dict[str, Any] = {"co_qualname": like.co_qualname} if hasattr(like, "co_qualname") else {}
    return code.replace(**labels)


def _read(outer: weakref.ref[FunctionType], name: str, function: FunctionType) -> source.FunctionSource:
    """Read a lifted function once more.

    Raises:
        SourceError: the function around it, or its source, is gone.
    """
    code, around = function.__code__, outer()
    read = None if around is None else source.of_function(around)
    found = None if read is None else lifting.lift(read.node, name, around.__code__.co_freevars)    # type: ignore[union-attr]
    if read is None or found is None:
        raise SourceError(f"the function around {function.__qualname__} is gone", code.co_filename, code.co_firstlineno)
    return read.__class__(read.source, found.functions[code.co_name], read.class_names, function, in_block=False)
