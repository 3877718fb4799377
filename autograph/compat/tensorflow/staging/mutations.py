"""Changes of lists, dicts and objects by a branch or loop body that did not make them.

Converted code announces each change of a container (`ag__.ref`), and the undo log of the trace notes the contents. At
the end of the body, the contents before and after are compared, and those before are restored. The places that differ
are joined or carried like variables, by names such as `x['a']`. TensorFlow makes the changes of methods and other
functions while it traces, so these stay; the trace notes the functions whose statements change a container, its
writers.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType, ModuleType
from typing import Any

from autograph.compat.tensorflow.core.graphs import FuncGraph
from autograph.compat.tensorflow.ops.tensor_array import TensorArray
from autograph.operators.state import UNBOUND, State
from autograph.runtime.tracing.control_flow.cond import Entry, Slots
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import Changes, contents, entries, put

Name = tuple[str, str, str]


class Place(Entry):
    """A place in a container, with its name in the program; it may be empty before or after a body."""

    def __init__(self, graph: FuncGraph, container: Any, key: Any, name: str, by: set[Name]) -> None:
        super().__init__(container, key)
        self.name = name + self.name
        self._graph = graph
        self._by = by

    def get(self) -> Any:
        found = super().get()
        is_inherited = found is UNBOUND and not isinstance(self.container, (list, dict))
        return getattr(type(self.container), self.key, UNBOUND) if is_inherited else found

    def set(self, value: Any) -> None:
        if isinstance(self.container, list):
            self.container[self.key : None if value is UNBOUND else self.key + 1] = [] if value is UNBOUND else [value]
        elif value is not UNBOUND:
            put(self.container, self.key, value)
        else:
            (self.container if isinstance(self.container, dict) else vars(self.container)).pop(self.key, None)

    def assign(self, trace: Trace, value: Any) -> None:
        touch(self._graph, self.container, self._by)
        self.set(value)

    def lengthens(self, value: Any) -> bool:
        """Whether it changes the length of a list to set it to `value`."""
        return isinstance(self.container, list) and (value is UNBOUND) is (self.key < len(self.container))


def touch(graph: FuncGraph, container: Any, by: set[Name]) -> None:
    """Note the contents of a container before statements of these functions change it."""
    log = graph.trace.undo_log
    if len(log.stack) > 1 and (isinstance(container, (dict, list, set)) or _is_object(container)):
        log.touch(container)
        graph.writers.setdefault(log.stack[-1], {}).setdefault(id(container), set()).update(by)


def name_of(code: CodeType) -> Name:
    """The name that a function shares with the bodies made of its blocks."""
    return code.co_filename, code.co_name, getattr(code, "co_qualname", "")


def _is_object(value: Any) -> bool:
    kind = type(value)
    is_object = hasattr(value, "__dict__") and not isinstance(value, (type, ModuleType))
    return is_object and not kind.__module__.startswith("autograph")


class Mutations:
    """The changes of containers by one body, found at its end.

    Attributes:
        names: of the containers that statements of the body have changed, by their ids. Containers that neither its
            variables nor variables of modules reach are not among them: the body has made them.
        kept: the containers that only methods and other functions have changed, with their contents before.
    """

    def __init__(self, graph: FuncGraph, state: State, before: Slots, changes: Changes) -> None:
        self._graph = graph
        self._changes = changes
        self._writers = graph.writers.pop(changes, {})
        functions = {name_of(function.__code__) for function in state.functions} if self._writers else set[Name]()
        assigned = {identity for identity, by in self._writers.items() if by & functions}
        self.names = _names([(value, variable.name) for variable, value in before.items()], assigned)
        if assigned - self.names.keys():
            self.names |= _names([(each.get(), each.name) for each in state.module_variables()], assigned)
        self.kept = [(container, content) for container, content in changes
                     if id(container) not in assigned and type(container) is not TensorArray]  # fmt: skip

    def is_undone(self, container: Any) -> bool:
        """Whether a container gets its contents before the body back."""
        return id(container) in self.names or type(container) is TensorArray

    def places(self) -> Slots:
        """The places that have changed, with their values: UNBOUND for deleted ones."""
        found: Slots = {}
        for container, content in self._changes:
            number = id(container)
            if number in self.names:
                old, new = entries(content) or {}, entries(contents(container)) or {}
                changed = [key for key in {**old, **new} if new.get(key, UNBOUND) is not old.get(key, UNBOUND)]
                for key in changed:
                    place = Place(self._graph, container, key, self.names[number], self._writers[number])
                    found[place] = new.get(key, UNBOUND)
        return found

    def hand_on(self) -> None:
        """Note the changes that are kept in the undo log of the body around."""
        stack = self._graph.trace.undo_log.stack
        for container, content in self.kept if len(stack) > 2 else ():
            stack[-2].before.setdefault(id(container), (container, content))
            by = self._graph.writers.setdefault(stack[-2], {}).setdefault(id(container), set())
            by.update(self._writers.get(id(container), ()))


def _names(rest: list[tuple[Any, str]], containers: set[int]) -> dict[int, str]:
    """The names in the program of those containers that can be reached from variables, all by their ids."""
    found: dict[int, str] = {}
    visited: set[int] = set()
    while rest and containers - found.keys():
        value, name = rest.pop(0)
        if id(value) in visited:
            continue
        visited.add(id(value))
        if id(value) in containers:
            found[id(value)] = name
        rest.extend(_parts(value, name))
    return found


def _parts(value: Any, name: str) -> Iterator[tuple[Any, str]]:
    if isinstance(value, dict):
        return ((part, f"{name}[{key!r}]") for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return ((part, f"{name}[{number}]") for number, part in enumerate(value))
    return ((part, f"{name}.{key}") for key, part in vars(value).items()) if _is_object(value) else iter(())
