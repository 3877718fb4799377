"""References that traced code indexes and mutates instead of lists, dicts, sets and objects, with an undo log."""

from __future__ import annotations

import operator
from collections import Counter, defaultdict, deque
from functools import partialmethod
from types import FunctionType
from typing import Any

from autograph.common.statics import class_attribute, class_has
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.object_model import own_dict
from autograph.runtime.tracing.proxies.graph_break import Plain, Unstageable
from autograph.runtime.tracing.proxies.proxy import Tensor, is_tensor
from autograph.runtime.tracing.proxies.static_class import class_of
from autograph.runtime.tracing.state.staged_containers import contains_proxy, staged_as
from autograph.runtime.tracing.state.trace import Trace

_UNCHANGING = (tuple, str, bytes, range)


class ContainerRef:
    """A list, dict or the like, to be indexed."""

    __slots__ = ("container", "trace")

    def __init__(self, trace: Trace, container: Any) -> None:
        self.trace = trace
        self.container = container

    def _place(self, index: Any, write: bool) -> Any:
        """What is indexed: the container, or the object of the graph that holds what it holds."""
        inside = staged_as(self.container)
        if inside is not None or not contains_proxy(index):
            return inside
        if not isinstance(self.container, _UNCHANGING) and (write or self._has_containers()):
            return self.trace.materialize(self.container)
        if isinstance(self.container, (str, bytes, range)):
            return ConstantRef(self.trace, self.container)
        return self.trace.constant(self.container)

    def _has_containers(self) -> bool:
        """Whether what is read may be changed by that, or afterwards: then the very object has to be read."""
        if isinstance(self.container, defaultdict):
            return True
        parts = self.container.values() if isinstance(self.container, dict) else self.container
        return any(isinstance(part, (list, dict, set, deque)) for part in parts)

    @on_behalf
    def __getitem__(self, index: Any) -> Any:
        inside = self._place(index, write=False)
        if inside is not None:
            return inside[index]
        if type(self.container) is defaultdict and index not in self.container:
            self._touch()
            if self.container.default_factory is not None:
                self.container[index] = self.trace.context.calls.replacement(self.container.default_factory)()
        return self.container[index]

    @on_behalf
    def __setitem__(self, index: Any, value: Any) -> None:
        inside = self._place(index, write=True)
        if inside is not None:
            inside[index] = value
        else:
            self._touch()
            self.container[index] = value

    @on_behalf
    def __delitem__(self, index: Any) -> None:
        inside = self._place(index, write=True)
        if inside is not None:
            del inside[index]
        else:
            self._touch()
            del self.container[index]

    def _touch(self) -> None:
        if not isinstance(self.container, _UNCHANGING):
            self.trace.undo_log.touch(self.container)

    @on_behalf
    def _in_place(self, name: str, other: Any) -> Any:
        """What `container += other` gives; usually that is the container."""
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
        return container if kind is not None and kind.__module__ in ("builtins", "collections") else result

    __iadd__ = partialmethod(_in_place, "iadd")
    __isub__ = partialmethod(_in_place, "isub")
    __imul__ = partialmethod(_in_place, "imul")
    __iand__ = partialmethod(_in_place, "iand")
    __ior__ = partialmethod(_in_place, "ior")
    __ixor__ = partialmethod(_in_place, "ixor")

    @on_behalf
    def __getattr__(self, name: str) -> Any:
        return getattr(self.container, name)


class ConstantRef:
    """A constant to be indexed by a staged value."""

    def __init__(self, trace: Trace, value: Any) -> None:
        self.trace = trace
        self.value = value

    def __getitem__(self, index: Any) -> Any:
        return self.trace.record("getitem", (self.value, index))


class ObjectRef:
    """An object of which attributes or items are set."""

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
        if type(thing) is FunctionType:  # a function that has no attributes yet is not watched
            raise Unstageable(f"an attribute of the function {thing.__name__} is set", trace.place())
        if name == "__dict__":
            raise Plain(f"the `__dict__` of a {type(thing).__qualname__} is replaced", trace.place())
        own: Any = type(thing).__setattr__
        first = trace.undo_log.at_first(thing)
        if _has(thing, name, value) if first is None else first.get(name, thing) is value:
            trace.context.aliases.is_one(value, value)  # from wherever it comes
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
        object.__getattribute__(self, "_trace").undo_log.touch(thing)
        delattr(thing, name)

    def __getitem__(self, index: Any) -> Any:
        return object.__getattribute__(self, "_call")("__getitem__", index)

    def __setitem__(self, index: Any, value: Any) -> None:
        object.__getattribute__(self, "_call")("__setitem__", index, value)

    def __delitem__(self, index: Any) -> None:
        object.__getattribute__(self, "_call")("__delitem__", index)

    @on_behalf
    def _call(self, name: str, *args: Any) -> Any:
        thing = object.__getattribute__(self, "_thing")
        trace = object.__getattribute__(self, "_trace")
        trace.undo_log.touch(thing)
        method = getattr(type(thing), name) if class_has(type(thing), name) else None
        if method is None:
            return getattr(operator, name)(thing, *args)
        return trace.context.calls.replacement(method)(thing, *args)


class Entered:
    """A context manager that the graph enters and leaves, for a `with` in traced code."""

    def __init__(self, trace: Trace, manager: Tensor) -> None:
        self.trace = trace
        self.manager = manager

    def __enter__(self) -> None:
        self.trace.record("enter", (self.manager,))

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if kind is None:  # else the block ends here
            self.trace.record("exit", ())


def _has(thing: Any, name: str, value: Any) -> bool:
    """Whether an attribute is that very object, so that to set it would do nothing."""
    is_there = (own_dict(thing) or {}).get(name, thing) is value and value is not thing
    return is_there and not class_has(type(class_attribute(type(thing), name)), "__set__")
