"""Where CPython's functions have their code and defaults, and cells their contents: found by examples at import."""

from __future__ import annotations

import sys
from types import CellType, FunctionType
from typing import Any

from autograph.common.cpython_internals import VALUE, WORD, read

_NAMES = "__code__", "__defaults__", "__kwdefaults__"


def _example(number: int) -> Any:
    return lambda one=number, *, other=number: (one, other, number)


def _function_places() -> dict[str, int]:
    """Where a function has these attributes; without those that are not found."""
    if sys.implementation.name != "cpython":
        return {}
    functions = [_example(number) for number in range(1000, 1003)]
    functions[0].__code__ = functions[0].__code__.replace(co_name="another")
    words = [read(WORD, id(each), FunctionType.__basicsize__ // 8) for each in functions]
    found: dict[str, int] = {}
    for name in _NAMES:
        wanted = [id(getattr(each, name)) for each in functions]
        places = [place for place, each in enumerate(zip(*words)) if [*each] == wanted]
        if len(places) == 1:
            found[name] = 8 * places[0]
    return found


def _has_cells() -> bool:
    """Whether a cell has what is in it behind its class."""
    cell, empty = CellType(object()), CellType()
    return [read(WORD, id(each) + VALUE) for each in (cell, empty)] == [[id(cell.cell_contents)], [0]]


FUNCTION_PLACES = _function_places()    # of attributes, which are null in a function without them
HAS_CELLS = sys.implementation.name == "cpython" and _has_cells()
