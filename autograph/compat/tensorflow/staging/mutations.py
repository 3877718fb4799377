"""What code in a branch or loop body changes in lists, dicts and objects that were there before.

Before converted code changes a container, it says so (`ag__.ref`); a copy of what is in it is kept then. At the end of
the body the two are compared, all is made what it was, and what differs is joined or carried like a variable, by a name
such as `x['a']`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType, ModuleType
from typing import Any

from autograph.compat.tensorflow.core.graphs import FuncGraph
from autograph.operators.state import UNBOUND, State

Name = tuple[str, str, str]
_CONTAINERS = (dict, list)


class Entry:
    """A place in a container, to be read and written like a variable."""

    __slots__ = ("by", "container", "key", "name")

    def __init__(self, container: Any, key: Any, name: str, by: set[Name]) -> None:
        self.by = by
        self.container = container
        self.key = key
        self.name = name

    def get(self) -> Any:
        found = _contents(self.container).get(self.key, UNBOUND)
        if found is UNBOUND and not isinstance(self.container, _CONTAINERS):
            return getattr(type(self.container), self.key, UNBOUND)
        return found

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


@dataclass
class Snapshot:
    """What was in a container before code that may change it.

    Attributes:
        by: the functions of which statements change it; nothing is noted of methods that do.
    """

    container: Any
    before: Any
    by: set[Name] = field(default_factory=set)

    def entries(self, name: str) -> Iterator[tuple[Entry, Any]]:
        """The places that were changed, and to what; UNBOUND for those that are gone."""
        old = dict(enumerate(self.before)) if isinstance(self.before, list) else self.before
        new = dict(_contents(self.container))
        for key in [*old, *(key for key in new if key not in old)]:
            if new.get(key, UNBOUND) is not old.get(key, UNBOUND):
                step = f"[{key!r}]" if isinstance(self.container, _CONTAINERS) else f".{key}"
                yield Entry(self.container, key, name + step, self.by), new.get(key, UNBOUND)


def touch(graph: FuncGraph, container: Any, by: set[Name]) -> None:
    """Note what is in a container that is about to be changed."""
    if graph.touched and (isinstance(container, (*_CONTAINERS, set)) or _is_object(container)):
        found = graph.touched[-1].setdefault(id(container), Snapshot(container, _copy(container)))
        found.by |= by


def name_of(code: CodeType) -> Name:
    """What a function has in common with the bodies that its blocks have become."""
    return code.co_filename, code.co_name, getattr(code, "co_qualname", "")


def _is_object(value: Any) -> bool:
    kind = type(value)
    is_object = hasattr(value, "__dict__") and not isinstance(value, (type, ModuleType))
    return is_object and not kind.__module__.startswith("autograph")


def _copy(container: Any) -> Any:
    return container.copy() if isinstance(container, (*_CONTAINERS, set)) else dict(vars(container))


def _contents(container: Any) -> dict[Any, Any]:
    if isinstance(container, list):
        return dict(enumerate(container))
    return container if isinstance(container, dict) else vars(container)


def undo(graph: FuncGraph, variables: dict[Any, Any], state: State) -> tuple[list[tuple[Entry, Any]], list[Snapshot]]:
    """End what `touched` has begun: make the containers what they were; gives what was changed, and to what.

    What methods and other functions have changed stays so, as TensorFlow has it: that is done while tracing. The second
    result is what was in these containers.

    Args:
        variables: the variables as they were before, through which containers are known. Those that are not reached
            from there, or from variables of modules that `state` names, were made meanwhile, and stay as they are.
    """
    changed = []
    touched = graph.touched.pop()
    functions = {name_of(function.__code__) for function in state.functions}
    assigned = {identity for identity, each in touched.items() if each.by & functions}
    names = _names([(value, each.name) for each, value in variables.items()], assigned)
    if assigned - names.keys():
        names = _names([(each.get(), each.name) for each in state.module_variables()], assigned) | names
    for identity, each in touched.items():
        if identity in names:
            changed += each.entries(names[identity])
            restore(each)
        if graph.touched and (identity in names or identity not in assigned):
            graph.touched[-1].setdefault(identity, each).by |= each.by
    return changed, [each for identity, each in touched.items() if identity not in assigned]


def is_longer(snapshot: Snapshot) -> bool:
    """Whether it is of a list that has another length now."""
    return isinstance(snapshot.container, list) and len(snapshot.container) != len(snapshot.before)


def restore(snapshot: Snapshot) -> None:
    """Make a container what it was."""
    container = snapshot.container
    if isinstance(container, list):
        container[:] = snapshot.before
        return
    content = container if isinstance(container, (dict, set)) else vars(container)
    content.clear()
    content.update(snapshot.before)


def _names(rest: list[tuple[Any, str]], wanted: set[int]) -> dict[int, str]:
    """What the user calls containers, as far as they are reached from variables."""
    found: dict[int, str] = {}
    seen: set[int] = set()
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
