"""Changes of lists, dicts and objects by a branch or loop body that did not make them.

Before converted code changes a container, it says so (`ag__.ref`), and the undo log of the trace notes what is in it.
At the end of the body the two are compared, all is made what it was, and what differs is joined or carried like a
variable, by a name such as `x['a']`.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

from autograph.compat.tensorflow.core.graphs import Body, FuncGraph
from autograph.operators.state import UNBOUND, State
from autograph.runtime.tracing.state.undo_log import contents, entries, put

Name = tuple[str, str, str]
Snapshot = tuple[Any, Any]  # a container, and what was in it


class Entry:
    """A place in a container, to be read and written like a variable."""

    __slots__ = ("by", "container", "graph", "key", "name")

    def __init__(self, graph: FuncGraph, container: Any, key: Any, name: str, by: set[Name]) -> None:
        self.graph = graph
        self.by = by
        self.container = container
        self.key = key
        self.name = name

    def get(self) -> Any:
        if isinstance(self.container, list):
            return self.container[self.key] if self.key < len(self.container) else UNBOUND
        if isinstance(self.container, dict):
            return self.container.get(self.key, UNBOUND)
        found = contents(self.container).get(self.key, UNBOUND)
        return getattr(type(self.container), self.key, UNBOUND) if found is UNBOUND else found

    def set(self, value: Any) -> None:
        touch(self.graph, self.container, self.by)
        if isinstance(self.container, list):
            self.container[self.key : None if value is UNBOUND else self.key + 1] = [] if value is UNBOUND else [value]
        elif value is not UNBOUND:
            put(self.container, self.key, value)
        else:
            (self.container if isinstance(self.container, dict) else vars(self.container)).pop(self.key, None)

    def lengthens(self, value: Any) -> bool:
        """Whether a list has another length if it has `value` there, than it has now."""
        return isinstance(self.container, list) and (value is UNBOUND) is (self.key < len(self.container))

    def is_at(self, other: Entry) -> bool:
        return other.container is self.container and bool(other.key == self.key)


def _changes(
    graph: FuncGraph, container: Any, before: Any, name: str, by: set[Name]
) -> Iterator[tuple[Entry, Any]]:
    """The places in a container that were changed, and to what; UNBOUND for those that are gone."""
    old, new = entries(before) or {}, entries(contents(container)) or {}
    for key in [*old, *(key for key in new if key not in old)]:
        if new.get(key, UNBOUND) is not old.get(key, UNBOUND):
            step = f"[{key!r}]" if isinstance(container, (dict, list)) else f".{key}"
            yield Entry(graph, container, key, name + step, by), new.get(key, UNBOUND)


def touch(graph: FuncGraph, container: Any, by: set[Name]) -> None:
    """Note what is in a container that is about to be changed, by statements of these functions."""
    if graph.bodies and (isinstance(container, (dict, list, set)) or _is_object(container)):
        graph.trace.undo_log.touch(container)
        graph.bodies[-1].writers.setdefault(id(container), set()).update(by)


def name_of(code: CodeType) -> Name:
    """The name that a function shares with the bodies made of its blocks."""
    return code.co_filename, code.co_name, getattr(code, "co_qualname", "")


def _is_object(value: Any) -> bool:
    kind = type(value)
    is_object = hasattr(value, "__dict__") and not isinstance(value, (type, ModuleType))
    return is_object and not kind.__module__.startswith("autograph")


def undo(
    graph: FuncGraph, body: Body, variables: dict[Any, Any], state: State
) -> tuple[list[tuple[Entry, Any]], list[Snapshot]]:
    """Make the containers what they were before a body; gives what it changed, and to what.

    What methods and other functions have changed stays so, as TensorFlow has it: that is done while tracing. The second
    result is what was in these containers.

    Args:
        variables: the variables as they were before, through which containers are known. Those that are not reached
            from there, or from variables of modules that `state` names, were made meanwhile, and stay as they are.
    """
    log, writers = graph.trace.undo_log, body.writers
    before = log.stack[-1].before
    functions = {name_of(function.__code__) for function in state.functions}
    assigned = {identity for identity, by in writers.items() if by & functions}
    names = _names([(value, each.name) for each, value in variables.items()], assigned)
    if assigned - names.keys():
        names = _names([(each.get(), each.name) for each in state.module_variables()], assigned) | names
    known = [identity for identity in before if identity in names]
    changed = [each for i in known for each in _changes(graph, *before[i], names[i], writers[i])]
    log.undo(lambda container: id(container) in names)
    for identity, noted in before.items():
        if graph.bodies and (identity in names or identity not in assigned):
            log.stack[-1].before.setdefault(identity, noted)
            graph.bodies[-1].writers.setdefault(identity, set()).update(writers[identity])
    return changed, [noted for identity, noted in before.items() if identity not in assigned]


def is_longer(container: Any, before: Any) -> bool:
    """Whether it is a list that has another length now."""
    return isinstance(container, list) and len(container) != len(before)


def _names(rest: list[tuple[Any, str]], wanted: set[int]) -> dict[int, str]:
    """The user's names for containers that are reached from variables."""
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
