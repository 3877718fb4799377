"""The parts of captured objects."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from autograph.common import pytree, trace_rules
from autograph.common.packages import is_opaque_class
from autograph.common.statics import cell_content, compares_itself, is_a, is_descriptor, module_name, module_of
from autograph.runtime.graph.object_model import is_opaque, is_open, is_taken_apart, parts_inside
from autograph.runtime.graph.types import ObjectType, TensorType, type_of
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.staged_containers import DICTS, StagedItems
from autograph.runtime.tracing.state.undo_log import attributes

SMALL = 64
_DEEP = 16
_MISSING: Any = object()


def parts_of(thing: Any) -> list[tuple[Any, Any]]:
    """The parts of a thing, by name or key, unless they are all numbers and texts."""
    if is_a(thing, (dict, list, tuple)) and _are_leaves(parts_inside(thing)):
        return []
    if is_a(thing, dict):
        return items_of(thing)
    if is_a(thing, (list, tuple)):
        return list(enumerate(parts_inside(thing)))
    if is_a(thing, (type, ModuleType)):
        return own_parts(vars(thing))
    return list(attributes(thing).items()) if is_open(type(thing)) or type(thing) is FunctionType else []


def _are_leaves(parts: Iterable[Any]) -> bool:
    return _LEAVES.issuperset(map(type, parts))


def items_of(items: dict[Any, Any]) -> list[tuple[Any, Any]]:
    """What a dict holds by its keys, other than what only the graph knows."""
    return [(key, part) for key, part in dict.items(items) if type(key) is not StagedItems]


def fixed_parts(value: Any) -> list[Any]:
    """The objects that a value has in places without a name, as long as it is that value: in keys, as an owner, …"""
    inside = None if compares_itself(type(value)) else _FIXED.get(type(value))
    return [] if inside is None else [each for part in inside(value) for each in _objects_in(part)]


def _objects_in(part: Any) -> list[Any]:
    if is_a(part, tuple):
        return [each for inner in part for each in _objects_in(inner)]
    is_object = is_open(type(part)) and not is_a(part, Enum)
    return [part] if is_object else fixed_parts(part)


def own_parts(names: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """What a class or module holds, other than its functions and what Python put there."""
    own = [(name, part) for name, part in names.items() if not name.startswith(("__", "_abc_"))]
    return [(name, part) for name, part in own if not is_descriptor(part)]


def type_outside(value: Any) -> Any:
    known = type_of(value)
    return known if isinstance(known, TensorType) else ObjectType(type(value).__name__)


def is_long(value: Any) -> bool:
    if type(value) not in (list, dict) or len(value) <= SMALL:
        return False
    return not is_taken_apart(value.values() if is_a(value, dict) else value)


def has_parts(value: Any) -> bool:
    if is_a(value, (type, ModuleType)) or is_tensor(value):
        return False
    return is_a(value, (np.ndarray, list, dict, tuple)) or is_open(type(value)) or is_opaque(value)


def is_of_library(thing: Any) -> bool:
    """Whether something is a module or class that takes no part in staging."""
    if is_a(thing, ModuleType):
        return trace_rules.is_plain(module_name(thing))
    return is_a(thing, type) and (trace_rules.is_plain(str(module_of(thing))) or bool(is_opaque_class(thing)))


def is_small(value: Any) -> bool:
    """Whether a structure has few parts, and is not deep: then traced code may have a copy of it."""
    leaves: list[Any] = []
    rest = [(value, 0)]
    while rest:
        part, depth = rest.pop()
        kind = pytree.kind_of(part)
        if kind is None:
            leaves.append(part)
        elif depth == _DEEP:
            return False
        else:
            rest.extend([(inner, depth + 1) for inner in kind.children(part).values()][::-1])
        if len(leaves) > SMALL and not is_taken_apart(leaves):
            return False
    return True


def is_empty(cell: CellType) -> bool:
    return cell_content(cell, _MISSING) is _MISSING


_LEAVES = frozenset({int, float, complex, bool, str, bytes, type(None)})
_FIXED: dict[type, Callable[[Any], Iterable[Any]]] = {
    **dict.fromkeys((*DICTS, frozenset), lambda parts: () if _are_leaves(parts) else parts),
    MethodType: lambda method: (method.__self__,),
    functools.partial: lambda partial: (partial.func, *partial.args, *partial.keywords.values()),
    weakref.ref: lambda reference: (reference(),),
}
CONSTANTS = (int, float, complex, str, bytes, type(None), type(...), np.generic, np.dtype, frozenset, range, slice)
