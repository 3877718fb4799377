"""References, by which traced code indexes and mutates containers and objects: they write to the undo log."""

from __future__ import annotations

import operator
from collections import Counter, defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partialmethod
from types import FunctionType, GetSetDescriptorType
from typing import Any

from autograph.common.statics import class_attribute, class_has, is_a, is_descriptor, module_of
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.object_model import own_dict
from autograph.runtime.graph.types import TensorType
from autograph.runtime.tracing.proxies.proxy import Tensor, is_tensor
from autograph.runtime.tracing.proxies.static_class import class_of
from autograph.runtime.tracing.state.staged_containers import contains_proxy, staged_as
from autograph.runtime.tracing.state.trace import Trace

UNCHANGING = (tuple, str, bytes, range)


@dataclass(eq=False, slots=True)
class ContainerRef:
    """A list, dict or the like that is indexed or changed in place."""

    trace: Trace
    container: Any

    def _staged(self, index: Any, write: bool) -> Any:
        """The object to index in the graph, if the container is held by the graph or the index is staged; else None."""
        inside = staged_as(self.container)
        if inside is not None or not contains_proxy(index):
            return inside
        self.trace.context.materializer.look_into(self.container)
        if not isinstance(self.container, UNCHANGING) and (write or self._has_containers()):
            return self.trace.materialize(self.container)
        if isinstance(self.container, (str, bytes, range)):
            return ConstantRef(self.trace, self.container)
        return self.trace.constant(self.container)

    def _has_containers(self) -> bool:
        """Whether reading an item changes the container, or the item can be changed: then the graph must index it."""
        if isinstance(self.container, defaultdict):
            return True
        parts = self.container.values() if isinstance(self.container, dict) else self.container
        return any(isinstance(part, (list, dict, set, deque)) for part in parts)

    def for_writing(self, index: Any) -> Any:
        """The object whose item the graph sets; None if it is set while tracing."""
        return self._staged(index, write=True)

    @on_behalf
    def __getitem__(self, index: Any) -> Any:
        inside = self._staged(index, write=False)
        if inside is not None:
            return inside[index]
        if type(self.container) is defaultdict and index not in self.container:
            self._touch()
            if self.container.default_factory is not None:
                self.container[index] = self.trace.context.calls.replacement(self.container.default_factory)()
        return self.container[index]

    @on_behalf
    def _write(self, function: Callable[..., None], index: Any, *value: Any) -> None:
        inside = self._staged(index, write=True)
        if inside is None:
            self._touch()
        function(self.container if inside is None else inside, index, *value)

    __setitem__ = partialmethod(_write, operator.setitem)
    __delitem__ = partialmethod(_write, operator.delitem)

    def _touch(self) -> None:
        if not isinstance(self.container, UNCHANGING):
            self.trace.undo_log.touch(self.container)

    @on_behalf
    def _in_place(self, name: str, other: Any) -> Any:
        """The result of `container += other`, which usually is the container."""
        trace, container = self.trace, self.container
        other = trace.context.collected(other)
        staged = other if is_tensor(other) else staged_as(other)
        inside = staged_as(container)
        counts = isinstance(container, Counter) and contains_proxy((container, other))
        if inside is None and (staged is not None or counts):
            inside = trace.materialize(container)
        if inside is None:
            trace.undo_log.touch(container)
            changed = getattr(operator, name)(container, other)
            trace.undo_log.changed()
            return changed
        result = trace.record(name, (inside, other))
        kind = type(other) if staged is None else class_of(trace.use(staged))
        return container if kind is not None and module_of(kind) in ("builtins", "collections") else result

    __iadd__ = partialmethod(_in_place, "iadd")
    __isub__ = partialmethod(_in_place, "isub")
    __imul__ = partialmethod(_in_place, "imul")
    __iand__ = partialmethod(_in_place, "iand")
    __ior__ = partialmethod(_in_place, "ior")
    __ixor__ = partialmethod(_in_place, "ixor")

    @on_behalf
    def __getattr__(self, name: str) -> Any:
        return getattr(self.container, name)


def stage_addition(trace: Trace, thing: Any, key: Any, more: Any, first: Any) -> Any:
    """Record `add_item` for a dict of the graph and numbers; NotImplemented if it is anything else."""
    if not all(map(_is_number, (more, first))):
        return NotImplemented
    if type(thing) is dict:
        inside = ContainerRef(trace, thing).for_writing(key)
    else:
        inside = thing if is_tensor(thing) and class_of(trace.use(thing)) is dict else None
    if inside is None:
        return NotImplemented
    trace.record("add_item", (inside, key, more, first))
    return True


def _is_number(value: Any) -> bool:
    if not is_tensor(value):
        return type(value) in (int, float)
    type_ = value._ag_value.type
    return isinstance(type_, TensorType) and type_.kind == "python" and type_.exact


@dataclass(eq=False)
class ConstantRef:
    """A constant that is indexed by a staged value."""

    trace: Trace
    value: Any

    def __getitem__(self, index: Any) -> Any:
        return self.trace.record("getitem", (self.value, index))


class ObjectRef:
    """An object whose attributes or items are set."""

    __slots__ = ("_thing", "_trace")

    _thing: Any
    _trace: Trace

    def __init__(self, trace: Trace, thing: Any) -> None:
        object.__setattr__(self, "_trace", trace)
        object.__setattr__(self, "_thing", thing)

    @on_behalf
    def __getattribute__(self, name: str) -> Any:
        return getattr(object.__getattribute__(self, "_thing"), name)

    @on_behalf
    def __setattr__(self, name: str, value: Any) -> None:
        thing = object.__getattribute__(self, "_thing")
        trace = object.__getattribute__(self, "_trace")
        if type(thing) is FunctionType:  # it may not be registered
            trace.unstageable(f"an attribute of the function {thing.__name__} is set")
        check_no_state(trace, thing, name)
        trace.context.environment.note_write(thing)
        _check_binding(trace, thing, name, value)
        own: Any = type(thing).__setattr__
        first = trace.undo_log.initial_contents(thing)
        if _has(thing, name, value) if first is None else first.get(name, thing) is value:
            trace.context.aliases.is_one(value, value)  # guard where it comes from
        if own is object.__setattr__ and _has(thing, name, value):
            return  # as after `self.x += y`, which has changed an array in place
        trace.undo_log.touch(thing)
        if type(own) is FunctionType:
            trace.context.calls.replacement(own)(thing, name, value)
        else:
            setattr(thing, name, value)

    @on_behalf
    def __delattr__(self, name: str) -> None:
        thing = object.__getattribute__(self, "_thing")
        trace = object.__getattribute__(self, "_trace")
        check_no_state(trace, thing, name)
        trace.undo_log.touch(thing)
        delattr(thing, name)

    @on_behalf
    def _call(self, name: str, *args: Any) -> Any:
        thing = object.__getattribute__(self, "_thing")
        trace = object.__getattribute__(self, "_trace")
        trace.undo_log.touch(thing)
        method = getattr(type(thing), name) if class_has(type(thing), name) else None
        if method is None:
            return getattr(operator, name)(thing, *args)
        return trace.context.calls.replacement(method)(thing, *args)

    __getitem__ = partialmethod(_call, "__getitem__")
    __setitem__ = partialmethod(_call, "__setitem__")
    __delitem__ = partialmethod(_call, "__delitem__")


@dataclass(eq=False)
class Entered:
    """A context manager that the graph enters and exits, for a `with` in traced code."""

    trace: Trace
    manager: Tensor

    def __enter__(self) -> None:
        self.trace.record("enter", (self.manager,))

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:  # else the block ends here
            self.trace.record("exit", ())


def check_no_state(trace: Trace, thing: Any, name: Any) -> None:
    """Check that an attribute that is set or deleted is none in which Python keeps what it knows about the object.

    Raises:
        Plain: it is the class of an object, its `__dict__`, the name or the bases of a class, or the like; or what sets
            an attribute of instances, by which the graph would set it later.
    """
    member = class_attribute(type(thing), name) if type(name) is str else None
    if type(member) is GetSetDescriptorType and (name == "__dict__" or member.__objclass__ in (object, type)):
        what = f"class {thing.__qualname__}" if is_a(thing, type) else f"a {type(thing).__qualname__}"
        trace.graph_break(f"the `{name}` of {what} is replaced")
    if type(name) is str and is_a(thing, type):
        _check_no_setter(trace, thing, name, class_attribute(thing, name))


def _check_no_setter(trace: Trace, kind: type, name: str, member: Any) -> None:
    if class_has(type(member), "__set__"):
        what = f"`{kind.__qualname__}.{name}`"
        trace.graph_break(f"{what} is set or deleted, which decides how that attribute of instances is set")


def _check_binding(trace: Trace, thing: Any, name: str, value: Any) -> None:
    """Check that no staged value decides what instances of a class get when they read its attribute `name`.

    Raises:
        Plain: the attribute is a method or another descriptor, or becomes one, under a condition; or what sets the
            attribute of instances.
    """
    if not is_a(thing, type):
        return
    if any(map(is_descriptor, (value, class_attribute(thing, name)))) and trace.depth:
        trace.graph_break(f"staged values decide what `{thing.__qualname__}.{name}` is")
    _check_no_setter(trace, thing, name, value)
    if is_tensor(value) and trace.known_class(value._ag_value) is None:
        trace.graph_break(f"`{thing.__qualname__}.{name}` may become a function that the graph makes")


def _has(thing: Any, name: str, value: Any) -> bool:
    """Whether an attribute is this very object, so that setting it would do nothing."""
    is_there = (own_dict(thing) or {}).get(name, thing) is value and value is not thing
    return is_there and not class_has(type(class_attribute(type(thing), name)), "__set__")
