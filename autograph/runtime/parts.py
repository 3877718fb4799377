"""What things from outside of a traced function are made of."""

from __future__ import annotations

from collections.abc import Mapping
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from autograph import nest
from autograph.runtime.classes import is_opaque, is_open, is_taken_apart
from autograph.runtime.holding import Held
from autograph.runtime.journal import attributes
from autograph.runtime.tensor import is_tensor
from autograph.runtime.types import ObjectType, TensorType, type_of

SMALL = 64


def parts_of(thing: Any) -> list[tuple[Any, Any]]:
    if isinstance(thing, dict):
        return items_of(thing)
    if isinstance(thing, (list, tuple)):
        return list(enumerate(thing))
    if isinstance(thing, (type, ModuleType)):
        return own_parts(vars(thing))
    return list(attributes(thing).items()) if is_open(type(thing)) or isinstance(thing, FunctionType) else []


def items_of(items: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """What a dict holds by its keys, other than what only the graph knows."""
    return [(key, part) for key, part in items.items() if type(key) is not Held]


def own_parts(names: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """What a class or module holds, other than its functions and what Python put there."""
    own = [(name, part) for name, part in names.items() if not name.startswith(("__", "_abc_"))]
    return [(name, part) for name, part in own if not hasattr(type(part), "__get__")]


def type_outside(value: Any) -> Any:
    known = type_of(value)
    return known if isinstance(known, TensorType) else ObjectType(type(value).__name__)


def is_long(value: Any) -> bool:
    if type(value) not in (list, dict) or len(value) <= SMALL:
        return False
    return not is_taken_apart(value.values() if isinstance(value, dict) else value)


def has_parts(value: Any) -> bool:
    if isinstance(value, (type, ModuleType)) or is_tensor(value):
        return False
    return isinstance(value, (np.ndarray, list, dict, tuple)) or is_open(type(value)) or is_opaque(value)


def is_small(value: Any) -> bool:
    leaves = nest.flatten(value)
    return len(leaves) <= SMALL or is_taken_apart(leaves)


def is_empty(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return True
    return False


CONSTANTS = (int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype, frozenset, range, slice)
