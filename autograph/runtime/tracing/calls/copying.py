"""`copy.copy` and `copy.deepcopy` in traced code: the graph copies what it holds, and the trace its own containers."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy, deepcopy
from typing import Any

from autograph.common.statics import ATOMS
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.types import ObjectType, TensorType
from autograph.runtime.tracing.proxies.proxy import Tensor, is_tensor
from autograph.runtime.tracing.state.staged_containers import as_tensor, is_staged
from autograph.runtime.tracing.state.trace import Trace

_COPIED_BY_METHOD = frozenset({"list", "dict", "set"})
_NESTED = frozenset({list, tuple, dict})


def copier(trace: Trace, function: Any, traced: Callable[..., Any]) -> Callable[..., Any]:
    """The replacement of `copy.copy` or `copy.deepcopy`, of which `traced` is the traced form."""

    @on_behalf
    def copied(*args: Any, **kwargs: Any) -> Any:
        if len(args) != 1 or kwargs:
            return traced(*args, **kwargs)
        if is_staged(args[0]):
            return _copied_by_graph(trace, function, as_tensor(args[0]))
        leaves = _leaves(args[0]) if function is deepcopy and type(args[0]) in _NESTED else None
        if leaves is None:
            return traced(*args)
        objects = [leaf for leaf in leaves.values() if is_tensor(leaf) and not _is_number(leaf._ag_value.type)]
        if len(objects) > 1:  # which may be one
            return trace.record_function(function, args, {})
        copies = {id(leaf): _copied_by_graph(trace, function, leaf) for leaf in objects}
        return deepcopy(args[0], leaves | copies)

    return copied


def _leaves(container: Any) -> dict[int, Any] | None:
    """The proxies in nested containers, by identity; None if there are also objects other than numbers and texts."""
    found, seen, rest = dict[int, Any](), dict[int, Any](), [container]
    while rest:
        part = rest.pop()
        if type(part) in _NESTED:
            if id(part) not in seen:
                seen[id(part)] = part
                rest += [*part.keys(), *part.values()] if type(part) is dict else part
        elif is_tensor(part):
            found[id(part)] = part
        elif type(part) not in ATOMS and not (type(part) is set and ATOMS.issuperset(map(type, part))):
            return None
    return found


def _copied_by_graph(trace: Trace, function: Any, value: Tensor) -> Any:
    """A copy of a value of the graph."""
    found = value._ag_value.type
    if _is_number(found):
        return value
    if isinstance(found, TensorType) and not found.dtype.hasobject:
        return trace.record(".copy", (value, "K") if found.kind == "array" else (value,))
    if isinstance(found, ObjectType) and found.name in _COPIED_BY_METHOD:
        has_numbers = bool(found.items) and all(map(_is_number, found.items))
        if function is copy or has_numbers:
            return trace.record(".copy", (value,))
        result = trace.record_function(function, (value,), {})
        result._ag_value.type = ObjectType(found.name)
        return result
    return trace.record_function(function, (value,), {})


def _is_number(type: Any) -> bool:
    """Whether values of a type are Python's numbers."""
    return isinstance(type, TensorType) and type.kind == "python"
