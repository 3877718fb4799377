"""What graphs call to make objects and functions like those that traced code made."""

from __future__ import annotations

import dis
import types
from typing import Any

from autograph.marks import UNBOUND


def make_object(kind: type, parts: dict[str, Any]) -> Any:
    """An object with these attributes."""
    made: Any = object.__new__(kind)
    for name, part in parts.items():
        object.__setattr__(made, name, part)
    return made


def make_function(
    code: types.CodeType, names: dict[str, Any], called: tuple[str, str], defaults: Any, keywords: Any, *variables: Any
) -> Any:
    """A function whose free variables have these values; a cell is taken as it is."""
    cell = types.CellType
    cells = tuple(v if isinstance(v, cell) else cell() if v is UNBOUND else cell(v) for v in variables)
    made = types.FunctionType(code, names, called[0], defaults or None, cells)
    made.__qualname__ = called[1]
    made.__kwdefaults__ = keywords or None
    return made


def assigns_outside(code: types.CodeType) -> bool:
    """Whether a function assigns to variables of those around it."""
    stores = {str(each.argval) for each in dis.get_instructions(code) if each.opname in ("STORE_DEREF", "DELETE_DEREF")}
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return bool(stores & set(code.co_freevars)) or any(map(assigns_outside, inner))
