"""Operators and builtin functions of objects whose classes define them: they call functions of the user's."""

from __future__ import annotations

import builtins
import operator
import types
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from autograph.common.statics import class_attribute
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.object_model import is_users
from autograph.runtime.graph.types import BOOL, INT
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.blame import interrupting
from autograph.runtime.tracing.state.trace import Trace


def special(thing: Any, name: str) -> Any:
    """The special method of an object that is a function of the user's; None if there is none."""
    method = class_attribute(type(thing), name) if is_object(thing) else None
    return method if type(method) is types.FunctionType else None


def has_truth(thing: Any) -> bool:
    """Whether a function of the user's tells the truth of an object."""
    return special(thing, "__bool__") is not None or special(thing, "__len__") is not None


@interrupting
@on_behalf
def truth(trace: Trace, thing: Any) -> Any:
    """The truth of such an object, be it staged; anything else as it is."""
    name = next((each for each in ("__bool__", "__len__") if special(thing, each)), "") if not is_tensor(thing) else ""
    if not name:
        return thing
    found = trace.context.calls.replacement(special(thing, name))(thing)
    if not is_tensor(found):
        return bool(_Answer(found, name))
    if name == "__bool__":
        return found if trace.type_of(found) == BOOL else trace.record("call", (_checked_truth, found))
    return _checked(trace, found)


@interrupting
@on_behalf
def length(trace: Trace, thing: Any) -> Any:
    """What `len` gives for an object of the user's."""
    found = trace.context.calls.replacement(special(thing, "__len__"))(thing)
    return _checked(trace, found) if is_tensor(found) else builtins.len(_Answer(found, "__len__"))  # type: ignore[arg-type]


def _checked(trace: Trace, found: Any) -> Any:
    """What a `__len__` gave, once Python has taken it for a length."""
    checked = trace.record("call", (_checked_length, found))
    trace.use(checked).type = INT
    return checked


def _checked_length(found: Any) -> int:
    return builtins.len(_Answer(found, "__len__"))  # type: ignore[arg-type]


def _checked_truth(found: Any) -> bool:
    return bool(_Answer(found, "__bool__"))


@interrupting
@on_behalf
def iterated(trace: Trace, thing: Any) -> Any:
    """What is iterated over in the place of an object: what its `__iter__` gives."""
    method = special(thing, "__iter__") if special(thing, "__next__") is None else None
    if method is None:
        return thing
    found = trace.context.calls.replacement(method)(thing)
    if isinstance(found, (int, float, str, type(None))) and not is_tensor(found):
        raise TypeError(f"iter() returned non-iterator of type '{type(found).__name__}'")
    return found


class _Answer:
    """An object whose `__bool__` or `__len__` gives a value, for Python to check it."""

    def __init__(self, value: Any, name: str) -> None:
        self.__class__ = type(type(self).__name__, (_Answer,), {name: lambda self: value})


def has_iteration(thing: Any) -> bool:
    """Whether a function of the user's tells what is iterated over in the place of an object."""
    return special(thing, "__iter__") is not None and special(thing, "__next__") is None


@interrupting
@on_behalf
def contains(trace: Trace, element: Any, container: Any) -> Any:
    """`element in container`, if a function of the user's tells that."""
    method = special(container, "__contains__")
    if method is None:
        return NotImplemented
    found = truth(trace, trace.context.calls.replacement(method)(container, element))
    return trace.record("bool", (found,)) if is_tensor(found) else bool(found)


# Builtin functions ----------------------------------------------------------------------------------------------------

# Python's builtins by the special methods of an object that they call.
_CALL_ITER = frozenset("list tuple set frozenset sum any all sorted enumerate zip min max iter map filter".split())
_CALL_LEN = frozenset({"list", "tuple", "sorted"})
_CALL_STR = frozenset({"str", "repr", "format"})
_CONVERT = {"int": "__int__", "float": "__float__", "complex": "__complex__"}


def is_object(value: Any) -> bool:
    """Whether a value is an instance of a class of the user's."""
    return is_users(type(value)) and not issubclass(type(value), type)


@on_behalf
def of_objects(trace: Trace, name: str, args: Sequence[Any]) -> tuple[Sequence[Any], Any]:
    """What to call a builtin function with in the place of objects; and its result, if that is known by now."""
    first = args[0]
    if name == "print":
        return [_text(trace, str, part) for part in args], NotImplemented
    if name in _CALL_STR and is_object(first):
        text = _text(trace, lambda part: getattr(builtins, name)(part, *args[1:]), first)
        return args, text if text is not first else NotImplemented
    if name in _CALL_ITER and (len(args) == 1 or name not in ("min", "max")):
        items = [iterated(trace, part) if has_iteration(part) else part for part in args]
        if name in _CALL_LEN and has_iteration(first):
            _measured(trace, first)
        return items, NotImplemented
    if name == "len" and special(first, "__len__") is not None:
        return args, length(trace, first)
    if name == "bool" and has_truth(first):
        return [truth(trace, first)], NotImplemented
    method = special(first, _CONVERT.get(name, "")) if len(args) == 1 else None
    if method is not None:
        found = trace.context.calls.replacement(method)(first)
        return [found if is_tensor(found) else _Answer(found, _CONVERT[name])], NotImplemented
    return args, NotImplemented


@on_behalf
def _measured(trace: Trace, thing: Any) -> None:
    """Ask an object for its length, as Python does of what it makes a list of; that one is wrong does not matter."""
    for name in ("__len__", "__length_hint__"):
        if (method := special(thing, name)) is not None:
            with suppress(TypeError):
                found = trace.context.calls.replacement(method)(thing)
                if is_tensor(found):
                    trace.record("call", (_take_hint, found, name))
                else:
                    _take_hint(found, name)
                return


def _take_hint(found: Any, name: str) -> None:
    operator.length_hint(_Answer(found, name))


@on_behalf
def _text(trace: Trace, make: Callable[[Any], str], part: Any) -> Any:
    """The text of an object that has one of its own."""
    kind: Any = type(part)
    if not is_object(part) or (kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__):
        return part
    return trace.fstring(lambda: make(part))
