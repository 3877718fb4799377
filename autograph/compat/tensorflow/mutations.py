"""What code in a branch or loop body changes in lists, dicts and objects that were there before.

Before converted code changes a container, it says so (`ag__.ref`); a copy of what is in it is kept then. At the end of
the body the two are compared, all is made what it was, and what differs is joined or carried like a variable, by a name
such as `x['a']`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograph.compat.tensorflow.graphs import FuncGraph
from autograph.operators.state import UNBOUND

_CONTAINERS = (dict, list)


class Entry:
    """A place in a container, to be read and written like a variable."""

    __slots__ = ("container", "key", "name")

    def __init__(self, container: Any, key: Any, name: str) -> None:
        self.container = container
        self.key = key
        self.name = name

    def get(self) -> Any:
        return _contents(self.container).get(self.key, UNBOUND)

    def set(self, value: Any) -> None:
        if isinstance(self.container, _CONTAINERS):
            _put(self.container, self.key, value)
        elif value is UNBOUND:
            vars(self.container).pop(self.key, None)
        else:
            vars(self.container)[self.key] = value

    def lengthens(self, value: Any) -> bool:
        """Whether a list has another length if it has `value` there, than it has now."""
        return isinstance(self.container, list) and (value is UNBOUND) is (self.key < len(self.container))

    def is_at(self, other: Entry) -> bool:
        return other.container is self.container and bool(other.key == self.key)


def _put(container: Any, key: Any, value: Any) -> None:
    if isinstance(container, list):
        container[key : None if value is UNBOUND else key + 1] = [] if value is UNBOUND else [value]
    elif value is not UNBOUND:
        container[key] = value
    else:
        container.pop(key, None)


def touch(graph: FuncGraph, container: Any) -> None:
    """Note what is in a container that is about to be changed."""
    if graph.touched and (isinstance(container, _CONTAINERS) or _is_object(container)):
        graph.touched[-1].setdefault(id(container), (container, _copy(container)))


def _is_object(value: Any) -> bool:
    kind = type(value)
    return hasattr(value, "__dict__") and not isinstance(value, type) and not kind.__module__.startswith("autograph")


def _copy(container: Any) -> Any:
    return container.copy() if isinstance(container, _CONTAINERS) else dict(vars(container))


def _contents(container: Any) -> dict[Any, Any]:
    if isinstance(container, list):
        return dict(enumerate(container))
    return container if isinstance(container, dict) else vars(container)


def undo(graph: FuncGraph, variables: dict[Any, Any]) -> list[tuple[Entry, Any]]:
    """End what `touched` has begun: make the containers what they were; gives what was changed, and to what.

    Args:
        variables: the variables as they were before, through which containers are known. Those that are not reached
            from there were made meanwhile, and stay as they are.
    """
    changed = []
    names = _names(variables, set(graph.touched[-1]))
    for identity, (container, before) in graph.touched.pop().items():
        if identity not in names:
            continue
        old = dict(enumerate(before)) if isinstance(before, list) else before
        new = dict(_contents(container))
        for key in [*old, *(key for key in new if key not in old)]:
            if new.get(key, UNBOUND) is not old.get(key, UNBOUND):
                step = f"[{key!r}]" if isinstance(container, _CONTAINERS) else f".{key}"
                changed.append((Entry(container, key, names[identity] + step), new.get(key, UNBOUND)))
        _restore(container, before)
        if graph.touched:
            graph.touched[-1].setdefault(identity, (container, before))
    return changed


def _restore(container: Any, before: Any) -> None:
    if isinstance(container, list):
        container[:] = before
        return
    content = container if isinstance(container, dict) else vars(container)
    content.clear()
    content.update(before)


def _names(variables: dict[Any, Any], wanted: set[int]) -> dict[int, str]:
    """What the user calls containers, as far as they are reached from variables."""
    found: dict[int, str] = {}
    seen: set[int] = set()
    rest = [(value, variable.name) for variable, value in variables.items()]
    while rest and wanted - found.keys():
        value, name = rest.pop(0)
        if id(value) in seen:
            continue
        seen.add(id(value))
        if id(value) in wanted:
            found[id(value)] = name
        rest.extend(_parts(value, name))
    return found


def _parts(value: Any, name: str) -> Iterator[tuple[Any, str]]:
    if isinstance(value, dict):
        return ((part, f"{name}[{key!r}]") for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return ((part, f"{name}[{number}]") for number, part in enumerate(value))
    return ((part, f"{name}.{key}") for key, part in vars(value).items()) if _is_object(value) else iter(())
