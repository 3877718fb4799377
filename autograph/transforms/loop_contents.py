"""Notes the contents of containers that a staged loop may change, and puts them back if the loop raises.

The loop is then run again as plain Python, which raises at the same place. So handlers around it find its variables and
these containers as they must be. This is done for arrays, and for lists of numbers and texts. If there are other
objects in them, methods of these may have run, and the loop stays plain.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.aliasing import changed_params
from autograph.runtime.graph.effects import tame
from autograph.runtime.graph.graph import Constant, Graph, Node, Value
from autograph.runtime.graph.types import ANY, ObjectType, TensorType

_SCALARS = frozenset({np.dtype(code).type for code in np.typecodes["All"]} - {np.void, np.object_})
_ATOMS = frozenset({bool, int, float, complex, str, bytes, type(None), range}) | _SCALARS


class Unnoted(Exception):
    """A container has contents that cannot be noted."""


class _Noted(threading.local):
    """The containers that the loops have noted which this thread runs, each with a copy."""

    def __init__(self) -> None:
        self.contents: list[tuple[Any, Any]] = []


_NOTED = _Noted()


def is_noting(graph: Graph) -> bool:
    """Let a graph note the contents of what it may change, before it begins; False if that is not possible."""
    params = changed_params(graph)
    if params is None or not all(_can_be_noted(param) for param in params):
        return False
    first = graph.block.nodes[0]
    node = Node("call", (Constant(note), *params), place=first.place)
    node.add_output(ANY)
    graph.block.nodes.insert(0, node)
    return True


def _can_be_noted(param: Value) -> bool:
    kind = param.type
    if isinstance(kind, TensorType):
        return not kind.dtype.hasobject
    return isinstance(kind, ObjectType) and kind.name in ("list", "tuple")


@tame
def note(*containers: Any) -> None:
    """Note the contents of containers.

    Raises:
        Unnoted: that is not possible.
    """
    found: list[tuple[Any, Any]] = []
    seen: set[int] = set()
    for container in containers:
        _note(container, found, seen)
    _NOTED.contents += found


def _note(part: Any, found: list[tuple[Any, Any]], seen: set[int]) -> None:
    kind = type(part)
    if kind is np.ndarray and not part.dtype.hasobject:
        if part.flags.writeable:
            found.append((part, part.copy()))
        return
    if kind is list:
        found.append((part, part.copy()))
    elif kind is not tuple:
        raise Unnoted
    if _ATOMS.issuperset(map(type, part)) or id(part) in seen:
        return
    seen.add(id(part))
    for inner in part:
        if type(inner) is np.ndarray:
            raise Unnoted       # the copy would keep an array alive that the loop replaces
        if type(inner) not in _ATOMS:
            _note(inner, found, seen)


def putting_back(function: Callable[..., Any], *args: Any) -> Any:
    """Call a staged loop; if it raises, put back what it has noted."""
    contents = _NOTED.contents
    before = len(contents)
    try:
        return function(*args)
    except BaseException:
        for container, content in contents[before:]:
            container[... if type(container) is np.ndarray else slice(None)] = content
        raise
    finally:
        del contents[before:]
