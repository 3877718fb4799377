"""Objects of the kinds that types stand for, so that machine code can be made, and looked at, before the first call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograph.runtime.graph.graph import Constant, Value
from autograph.runtime.graph.traits import MAKES_RANGES
from autograph.runtime.graph.types import PYTHON_TYPES, TensorType

_OBJECTS: dict[str, Any] = {"NoneType": None, "list": [], "tuple": (), "dict": {}, "str": "", "set": set()}


def examples_of(inputs: Sequence[Any]) -> tuple[Any, ...] | None:
    """An object for each input, of which the kind matters only; None if types do not tell that of all."""
    found = []
    for each in inputs:
        if isinstance(each, Value):
            known, each = _example(each)
            if not known:
                return None
        found.append(each.value if isinstance(each, Constant) else each)
    return tuple(found)


def _example(value: Value) -> tuple[bool, Any]:
    """Whether the type of a value tells its kind, and an object of it."""
    type, node = value.type, value.node
    if isinstance(type, TensorType):
        if not type.exact:
            return False, None
        if type.kind == "python":
            return True, PYTHON_TYPES[type.dtype](0)
        if type.kind == "scalar":
            return True, type.dtype.type(0)
        return True, np.zeros([1 if length == 1 else 2 for length in type.shape], type.dtype)
    if node is not None and node.op in MAKES_RANGES:
        step = node.args[2] if len(node.args) > 2 else 1
        return (True, range(0, 0, step)) if isinstance(step, int) and step else (False, None)
    name = getattr(type, "name", "")
    return name in _OBJECTS, _OBJECTS.get(name)

