"""Operators and builtin functions of objects: those that call special methods of the user's; `id`; staged keys."""

from __future__ import annotations

import builtins
import operator
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from types import BuiltinFunctionType, FunctionType, ModuleType, NoneType
from typing import Any, NoReturn

from autograph.common.statics import class_attribute, is_a
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.object_model import is_users
from autograph.runtime.graph.traits import LENGTH
from autograph.runtime.graph.types import BOOL, INT
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.blame import interrupting
from autograph.runtime.tracing.state.staged_containers import contains_proxy
from autograph.runtime.tracing.state.trace import Trace


def special(thing: Any, name: str) -> Any:
    """The special method of an object, if it is a function of the user's; else None."""
    method = class_attribute(type(thing), name) if is_object(thing) else None
    return method if type(method) is types.FunctionType else None


@on_behalf
def _call(trace: Trace, thing: Any, name: str, *args: Any) -> Any:
    """Call a special method of the user's."""
    return trace.context.calls.replacement(special(thing, name))(thing, *args)


def has_truth(thing: Any) -> bool:
    """Whether a function of the user's determines the truth of an object."""
    return special(thing, "__bool__") is not None or special(thing, "__len__") is not None


@interrupting
@on_behalf
def truth(trace: Trace, thing: Any) -> Any:
    """The truth of such an object, which may be staged; anything else as it is."""
    name = next((each for each in ("__bool__", "__len__") if special(thing, each)), "") if not is_tensor(thing) else ""
    if not name:
        return thing
    found = _call(trace, thing, name)
    if not is_tensor(found):
        return bool(_Answer(found, name))
    if name == "__bool__":
        return found if trace.type_of(found) == BOOL else trace.record("call", (_checked, bool, found, name))
    return _length(trace, found)


@interrupting
@on_behalf
def length(trace: Trace, thing: Any) -> Any:
    """The `len` of an object of the user's."""
    return checked_length(trace, _call(trace, thing, "__len__"))


@on_behalf
def checked_length(trace: Trace, found: Any) -> Any:
    """The result of a `__len__`, if it is a length."""
    return _length(trace, found) if is_tensor(found) else _checked(len, found, "__len__")


def _length(trace: Trace, found: Any) -> Any:
    """The result of a `__len__`, which the graph checks to be a length, unless it is that of another object."""
    node = trace.use(found).node
    if node is not None and node.op in LENGTH and trace.type_of(found) == INT:
        return found
    checked = trace.record("call", (_checked, len, found, "__len__"))
    trace.use(checked).type = INT
    return checked


@on_behalf
def _checked(check: Callable[[Any], Any], found: Any, name: str) -> Any:
    """The result `found` of a special method, after a check by the builtin function that calls the method."""
    if type(found) is int and check is len and 0 <= found <= sys.maxsize:
        return found
    return check(_Answer(found, name))


@interrupting
@on_behalf
def iterated(trace: Trace, thing: Any) -> Any:
    """The iterable of a loop over an object: the result of its `__iter__`; others as they are."""
    if not has_iteration(thing):
        return thing
    found = _call(trace, thing, "__iter__")
    if isinstance(found, (int, float, str, type(None))) and not is_tensor(found):
        raise TypeError(f"iter() returned non-iterator of type '{type(found).__name__}'")
    return found


class _Answer:
    """An object whose special method returns a value, so that Python checks it."""

    def __init__(self, value: Any, name: str) -> None:
        self.__class__ = type(type(self).__name__, (_Answer,), {name: lambda self: value})


def has_iteration(thing: Any) -> bool:
    """Whether a function of the user's determines the iterator over an object."""
    return special(thing, "__iter__") is not None and special(thing, "__next__") is None


@interrupting
@on_behalf
def contains(trace: Trace, element: Any, container: Any) -> Any:
    """`element in container`, if a function of the user's determines that."""
    if special(container, "__contains__") is None:
        return NotImplemented
    return checked_truth(trace, _call(trace, container, "__contains__", element))


@on_behalf
def checked_truth(trace: Trace, found: Any) -> Any:
    """The truth of the result of a `__contains__`."""
    found = truth(trace, found)
    return trace.record("bool", (found,)) if is_tensor(found) else bool(found)


# Builtin functions ----------------------------------------------------------------------------------------------------

# Builtins by the special methods that they call.
_CALL_ITER = frozenset("list tuple set frozenset sum any all sorted enumerate zip min max iter map filter".split())
_CALL_LEN = frozenset({"list", "tuple", "sorted"})
_CALL_STR = frozenset({"str", "repr", "format"})
_CONVERT = {"int": "__int__", "float": "__float__", "complex": "__complex__"}


def is_object(value: Any) -> bool:
    """Whether a value is an instance of a class of the user's."""
    return is_users(type(value)) and not issubclass(type(value), type)


@on_behalf
def of_objects(trace: Trace, name: str, args: Sequence[Any]) -> tuple[Sequence[Any], Any]:
    """The arguments to call a builtin function with, instead of objects; and its result, if that is known already."""
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
    if len(args) == 1 and special(first, _CONVERT.get(name, "")) is not None:
        found = _call(trace, first, _CONVERT[name])
        return [found if is_tensor(found) else _Answer(found, _CONVERT[name])], NotImplemented
    return args, NotImplemented


@on_behalf
def _measured(trace: Trace, thing: Any) -> None:
    """Call the length method of an object, as Python does before it makes a list; a wrong length does not matter."""
    for name in ("__len__", "__length_hint__"):
        if special(thing, name) is not None:
            with suppress(TypeError):
                found = _call(trace, thing, name)
                if is_tensor(found):
                    trace.record("call", (_checked, operator.length_hint, found, name))
                else:
                    _checked(operator.length_hint, found, name)
                return


@on_behalf
def _text(trace: Trace, make: Callable[[Any], str], part: Any) -> Any:
    """The text of an object whose class defines it; others as they are."""
    kind: Any = type(part)
    if not is_object(part) or (kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__):
        return part
    return trace.fstring(lambda: make(part))


_PERMANENT = (type, ModuleType, FunctionType, BuiltinFunctionType, NoneType)  # with the same identity in each call


class Identity(int):
    """The result of `id` while tracing: a key to look things up, whose value must not matter."""

    trace: Trace

    def refuse(self, *_: Any) -> NoReturn:
        """Interrupt tracing, as the value matters."""
        self.trace.graph_break("id() gives another number at each call")


_TEXTS_AND_ORDER = frozenset({"__repr__", "__str__", "__format__", "__lt__", "__le__", "__gt__", "__ge__"})
for _name in {*vars(int)} - {*vars(object), "__bool__", "__getnewargs__"} | _TEXTS_AND_ORDER:
    if callable(getattr(int, _name)):
        setattr(Identity, _name, Identity.refuse)


@on_behalf
def identity(trace: Trace, thing: Any) -> Any:
    """`id(thing)`, by which programs compare identities; it is another number in each call."""
    if is_tensor(thing):
        return trace.record("call", (id, thing))
    if is_a(thing, _PERMANENT):
        return id(thing)
    trace.replacements.check(thing)
    number = Identity(id(trace.context.aliases.watched(thing)))
    number.trace = trace
    return number


@on_behalf
def by_keys(trace: Trace, function: Callable[..., Any], items: Iterable[Any], kwargs: Mapping[str, Any]) -> Any:
    """The result of `sorted`, `min` or `max` for items, with the argument `key=` among `kwargs`.

    Traced code computes the keys, one for each item, in order, as Python does. If one is staged, the graph compares
    them.
    """
    items, others = list(items), {name: value for name, value in kwargs.items() if name != "key"}
    keys = [kwargs["key"](item) for item in items]
    if contains_proxy(keys) or contains_proxy(others):
        return trace.record("call", (compared, function, items, keys), others)
    return compared(function, items, keys, **others)


@on_behalf
def compared(function: Callable[..., Any], items: Any, keys: list[Any], **kwargs: Any) -> Any:
    """Call `function` with the items, which have these keys."""
    remaining = iter(keys)
    return function(items, key=lambda _: next(remaining), **kwargs)
