"""Names code objects as in the user's file, and marks the generated ones."""

from __future__ import annotations

import dis
import inspect
import sys
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, NamedTuple

from autograph.common.bytecode import raw_instructions
from autograph.common.code_marks import BODY, WHOLE, Shelter, with_shelters
from autograph.common.line_tables import positions

_CONSTANT = dis.opmap["LOAD_CONST"]


@dataclass
class Marks:
    """Which code objects belong to generated functions, and which constants are placeholders.

    Attributes:
        functions: name and first line of each generated function.
        lambdas: first line, parameters and number of surrounding lambdas of each generated lambda. Generated lambdas
            have no columns, which distinguishes them from the user's where Python keeps columns (3.11).
        constants: the objects to put in place of placeholder strings.
        shelters: the `try` and `with` statements of each function, by its name and first line.
    """

    functions: set[tuple[str, int]] = field(default_factory=set)
    lambdas: set[tuple[int, tuple[str, ...], int]] = field(default_factory=set)
    constants: dict[str, Any] = field(default_factory=dict)
    shelters: dict[tuple[str, int], list[Shelter]] = field(default_factory=dict)


def relabeled(code: CodeType, marks: Marks, path: str = "", qualname: str = "") -> CodeType:
    """Give all code objects the names that they have in the user's file.

    A generated function gets the name of the user's function that it is a part of. A function defined in it gets the
    qualified name that it has in the original.

    Args:
        code: the code of a function or module.
        marks: the generated functions.
        path: the qualified name of `code` as compiled (see `codes.compile_alone`); '' for a module.
        qualname: the new qualified name.
    """
    prefixes = [(f"{path}.<locals>.", f"{qualname}.<locals>.")] if path else [("", "")]
    return _relabel(code, marks, _Scope(code.co_name, path, qualname, prefixes, 0))


class _Scope(NamedTuple):
    """The name of a code object."""

    name: str                               # the name of the innermost scope in the user's code
    path: str                               # its qualified name as compiled
    qualname: str                           # its new qualified name
    prefixes: list[tuple[str, str]]         # old and new prefixes of the names inside it, innermost first
    lambdas: int                            # the number of lambdas around it
    generated: bool = False                 # whether it is a part of the user's function


def _relabel(code: CodeType, marks: Marks, scope: _Scope) -> CodeType:
    names = {scope.path: scope.qualname} if "." in scope.path else {}           # `__qualname__` in a class body
    without_columns = _constants_without_columns(code) if marks.lambdas else set()
    consts: list[Any] = []
    for index, const in enumerate(code.co_consts):
        if isinstance(const, CodeType):
            inner = _inner_scope(code, const, marks, scope, index in without_columns)
            if "." in inner.path:
                names[inner.path] = inner.qualname                              # for MAKE_FUNCTION, before 3.11
            const = _relabel(const, marks, inner)
        consts.append(const)
    known = {**names, **marks.constants}
    consts = [known.get(const, const) if type(const) is str else const for const in consts]
    consts += with_shelters(marks.shelters.get((code.co_name, code.co_firstlineno), []))
    consts.append(BODY if scope.generated else WHOLE)
    labels: dict[str, Any] = {"co_consts": tuple(consts), "co_name": scope.name}
    if _QUALNAME and scope.qualname:
        labels["co_qualname"] = scope.qualname
    return code.replace(**labels)


def _inner_scope(code: CodeType, inner: CodeType, marks: Marks, scope: _Scope, without_columns: bool) -> _Scope:
    name = inner.co_name
    path = _path(code, inner, scope.path)
    qualname = path
    for old, new in scope.prefixes:
        if path.startswith(old):
            qualname = new + path[len(old) :]
            break
    lambdas = scope.lambdas
    if name == "<lambda>":
        parameters = inner.co_varnames[: inner.co_argcount + inner.co_kwonlyargcount]
        generated = without_columns and (inner.co_firstlineno, parameters, lambdas) in marks.lambdas
        lambdas += 1
    else:
        generated = (name, inner.co_firstlineno) in marks.functions
    if generated:
        # For the user, functions defined in it are defined in the scope around it.
        prefixes = [(f"{path}.<locals>.", scope.prefixes[0][1]), *scope.prefixes]
        return _Scope(scope.name, path, scope.qualname or scope.name, prefixes, lambdas, True)
    between = "." if not inner.co_flags & inspect.CO_OPTIMIZED else ".<locals>."
    return _Scope(name, path, qualname, [(path + between, qualname + between), *scope.prefixes], lambdas)


_QUALNAME = sys.version_info >= (3, 11)


def _path(code: CodeType, inner: CodeType, path: str) -> str:
    """Return the qualified name of an inner code object as compiled."""
    if _QUALNAME:
        return str(getattr(inner, "co_qualname"))  # noqa: B009
    between = ".<locals>." if code.co_flags & inspect.CO_OPTIMIZED else "."
    full = f"{path}{between}{inner.co_name}" if path else inner.co_name
    # A function declared `global` has a short name. Only the body of a class has the name of the class.
    return full if full in code.co_consts or full in inner.co_consts else inner.co_name


def _constants_without_columns(code: CodeType) -> set[int]:
    """Return the indices of constants that are lambdas, loaded by instructions without columns."""
    lambdas = {
        number for number, const in enumerate(code.co_consts) if getattr(const, "co_name", None) == "<lambda>"
    }
    if not lambdas or not _QUALNAME:
        return lambdas
    places = positions(code)
    loaded = ((offset, number) for offset, op, number in raw_instructions(code) if op == _CONSTANT)
    return lambdas & {number for offset, number in loaded if places[offset // 2][2] is None}
