"""What graphs call to make objects and functions like those that traced code made."""

from __future__ import annotations

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
    code: types.CodeType, names: dict[str, Any], name: str, defaults: Any, keywords: Any, *variables: Any
) -> Any:
    """A function whose free variables have these values; a cell is taken as it is."""
    cell = types.CellType
    cells = tuple(v if isinstance(v, cell) else cell() if v is UNBOUND else cell(v) for v in variables)
    made = types.FunctionType(code, names, name, defaults or None, cells)
    made.__kwdefaults__ = keywords or None
    return made
