"""Functions that graphs call to make objects and functions like those of traced code."""

from __future__ import annotations

import dis
import types
from typing import Any

from autograph.common.code_marks import UNBOUND
from autograph.runtime.graph.object_model import set_attribute


def make_object(kind: type, parts: dict[str, Any]) -> Any:
    """An object with these attributes."""
    made: Any = object.__new__(kind)
    for name, part in parts.items():
        set_attribute(made, name, part)
    return made


def make_function(
    code: types.CodeType,
    names: dict[str, Any],
    called: tuple[str, str],
    defaults: Any,
    keywords: Any,
    described: dict[str, Any],
    *variables: Any,
) -> Any:
    """A function whose free variables have these values; a cell is taken as it is.

    Args:
        described: its attributes, see `described_by`.
    """
    cell = types.CellType
    cells = tuple(v if isinstance(v, cell) else cell() if v is UNBOUND else cell(v) for v in variables)
    made = types.FunctionType(code, names, called[0], defaults or None, cells)
    made.__qualname__ = called[1]
    made.__kwdefaults__ = keywords or None
    for name, value in described.items():
        setattr(made, name, value)
    return made


def described_by(function: types.FunctionType) -> dict[str, Any]:
    """The attributes of a function that it does not have by itself: annotations, and what it has been given."""
    found = {name: value for name, value in vars(function).items() if not name.startswith("__ag_")}
    closure = tuple(types.CellType() for _ in function.__code__.co_freevars)
    own = types.FunctionType(function.__code__, function.__globals__, closure=closure)
    for name in ("__annotations__", "__doc__", "__module__"):
        if getattr(function, name) != getattr(own, name):
            found[name] = getattr(function, name)
    return found


def assigns_outside(code: types.CodeType) -> bool:
    """Whether a function assigns to variables of those around it."""
    stores = {str(each.argval) for each in dis.get_instructions(code) if each.opname in ("STORE_DEREF", "DELETE_DEREF")}
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return bool(stores & set(code.co_freevars)) or any(map(assigns_outside, inner))
