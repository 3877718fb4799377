"""Gives the instructions of a generated function the user's lines.

The function is compiled with marks for line numbers, see `expressions`. Then the line table of its code is replaced by
one with the places in the user's source that the marked nodes of the graph come from. So errors, warnings of NumPy,
debuggers and profilers show the user's own lines, at no cost when the code runs.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from autograph.common.code_flags import OfCode
from autograph.common.code_marks import is_body
from autograph.common.line_tables import Position, positions, with_lines
from autograph.runtime.graph.graph import Node, Place

Marks: TypeAlias = "list[Node | None]"


def node_of(marks: Marks, mark: int | None) -> Node | None:
    """The node of a mark."""
    return marks[mark - 1] if mark is not None and 0 < mark <= len(marks) else None


class Places:
    """Reads positions from the user's code."""

    def __init__(self) -> None:
        self._read: dict[int, tuple[CodeType, list[tuple[int | None, ...]]]] = {}

    def position(self, code: CodeType, instruction: int) -> Position:
        """The place of an instruction in the user's file."""
        if id(code) not in self._read:
            self._read[id(code)] = code, positions(code)
        found = self._read[id(code)][1]
        return Position(*found[instruction // 2]) if 0 <= instruction // 2 < len(found) else Position(None)


def calls(place: Place) -> list[tuple[CodeType, int]]:
    """A place with one entry for each call of a function of the user's.

    A converted function runs in several pieces; the innermost one has the line.
    """
    return [pieces[-1] for pieces in pieces_of(place)]


def pieces_of(place: Place) -> list[list[tuple[CodeType, int]]]:
    """For each call of a function of the user's, its pieces, the innermost last."""
    found: list[list[tuple[CodeType, int]]] = []
    for code, instruction in place:
        if found and is_body(code) and _identity(found[-1][0][0]) == _identity(code):
            found[-1].append((code, instruction))
        else:
            found.append([(code, instruction)])
    return found


def _identity(code: CodeType) -> tuple[str, str, str]:
    return code.co_filename, code.co_name, getattr(code, "co_qualname", "")


def home(marks: Marks) -> CodeType | None:
    """The user's function from which the generated one was traced."""
    return next((calls(node.place)[0][0] for node in marks if node is not None and node.place), None)


def relocated(code: CodeType, marks: Marks, function: CodeType) -> CodeType:
    """Generated code with the name, file and lines of the user's `function`."""
    places = Places()
    unknown = Position(function.co_firstlineno)
    found: dict[int | None, Position] = {}

    def position(mark: int | None) -> Position:
        if mark not in found:
            found[mark] = _position(node_of(marks, mark), places, function.co_filename) or unknown
        return found[mark]

    spans = ((end - start, position(mark)) for start, end, mark in code.co_lines())
    consts = tuple(relocated(each, marks, function) if isinstance(each, CodeType) else each for each in code.co_consts)
    return disguised(code.replace(co_consts=consts), function, spans)


def _position(node: Node | None, places: Places, filename: str) -> Position | None:
    """The innermost line of a node's place that is in the file."""
    for code, instruction in reversed(node.place if node is not None else ()):
        if code.co_filename == filename:
            found = places.position(code, instruction)
            if found.line is not None:
                return found
    return None


def disguised(code: CodeType, function: CodeType, spans: Iterator[tuple[int, Position]]) -> CodeType:
    """`code` under the name and in the file of `function`.

    Args:
        spans: the places of runs of bytes, in order.
    """
    code = with_lines(code, spans, function.co_firstlineno)
    code = code.replace(co_filename=function.co_filename, co_name=function.co_name)
    if sys.version_info >= (3, 11):
        code = code.replace(co_qualname=function.co_qualname)
    else:       # code is equal there if only the lines differ; but what is known of code is looked up by it
        code = code.replace(co_consts=(*code.co_consts, code.co_linetable))
    return code


def called_at(place: Place, function: Callable[..., Any], names: dict[str, Any]) -> Callable[..., Any]:
    """A function of two arguments, called from the innermost line of a place: NumPy's warnings name that of the caller.

    Args:
        names: the globals there.
    """
    if not place:
        return function
    code, instruction = place[-1]

    def call(x: Any, y: Any) -> Any:
        return function(x, y)

    spans = iter([(len(call.__code__.co_code), Places().position(code, instruction))])
    made = disguised(call.__code__, code, spans)
    _CALLING.put(made, True)
    return FunctionType(made, names, closure=call.__closure__)


_CALLING: OfCode[bool] = OfCode()


def only_calls(code: CodeType) -> bool:
    """Whether code is that of `called_at`, which tracebacks need not show: the line is that of its caller."""
    return _CALLING.get(code) is True
