"""Functions, objects and context managers that a tracing backend may substitute.

Also reports the augmented assignments that change a list, dict, set, deque or bytearray in place to the backend.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from autograph.common import trace_rules
from autograph.operators.backend import ACTIVE, ask_tracer, owner, substitute, tracing

Converter = Callable[[FunctionType], Callable[..., Any]]

_converter: Converter | None = None


def set_converter(converter: Converter | None) -> Converter | None:
    """Set the function by which `call` converts functions; it may return its argument.

    Returns:
        the previous converter.
    """
    global _converter
    previous, _converter = _converter, converter
    return previous


def call(function: Any) -> Any:
    """Return the function to call: `function`, or the tracing backend's substitute, or its conversion."""
    if not ACTIVE:
        return function
    backend = tracing()
    if backend is None:
        return function
    replacement = backend.call(function)
    return convert_call(function) if replacement is NotImplemented else replacement


def ref(value: Any) -> Any:
    """Return `value`, which is about to be indexed or mutated, or the tracing backend's substitute."""
    return substitute("ref", value) if ACTIVE else value


def concrete(value: Any, parts: bool = True, inside: bool = False) -> Any:
    """Return `value`, which is about to be matched or compared by identity, or the tracing backend's substitute.

    Args:
        parts: whether it may be compared with other objects than None.
        inside: whether its items matter, too.
    """
    return substitute("concrete", value, parts, inside) if ACTIVE else value


def bound(value: Any, free: bool = False) -> Any:
    """Return the value of a variable that is read; a tracing backend raises if the variable is unbound in the program.

    Args:
        free: whether the variable belongs to another function.
    """
    return substitute("bound", value, free) if ACTIVE else value


def add_item(thing: Any, key: Any, more: Any, first: Any) -> bool:
    """Whether a tracing backend has staged `try: thing[key] += more` with `except KeyError: thing[key] = first`."""
    return bool(ACTIVE) and ask_tracer("add_item", thing, key, more, first) is True


def whole(value: Any) -> Any:
    """Return `value`, which is about to be compared or combined as a whole, or the tracing backend's substitute."""
    return substitute("whole", value) if ACTIVE else value


def context(manager: Any) -> Any:
    """Return `manager`, which a `with` is about to enter, or the tracing backend's substitute."""
    return substitute("context", manager) if ACTIVE else manager


def convert_call(function: Any) -> Any:
    """Return the conversion of the Python code that a call of `function` runs, if that code may be converted."""
    if _converter is None or getattr(function, "__ag_do_not_convert__", False) is True:
        return function
    if isinstance(function, type):
        init = _constructor(function)
        converted: Any = init and convert_call(init)
        return function if converted is init else partial(_instance, function, converted)
    if type(function) is FunctionType:
        return function if trace_rules.is_plain(str(function.__globals__.get("__name__"))) else _converter(function)
    if type(function) is MethodType:
        inner = convert_call(function.__func__)
        return function if inner is function.__func__ else MethodType(inner, function.__self__)
    if type(function) is partial:
        inner = call(function.func)
        return function if inner is function.func else partial(inner, *function.args, **function.keywords)
    method = getattr(type(function), "__call__", None)  # noqa: B004
    if type(method) is FunctionType and (inner := convert_call(method)) is not method:
        return MethodType(inner, function)
    return function


def _constructor(cls: type) -> FunctionType | None:
    """The Python function that makes all of what a call of the class makes beside an empty object, if it has source."""
    init = cls.__init__  # type: ignore[misc]
    if type(init) is not FunctionType or init.__code__.co_filename.startswith("<"):
        return None
    is_usual = type(cls).__call__ is type.__call__ and type(cls.__new__) is BuiltinFunctionType
    return init if is_usual and getattr(cls, "__ag_do_not_convert__", False) is not True else None


def _instance(cls: type, init: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Make an object, as `cls(*args, **kwargs)` does, with a converted constructor."""
    new: Any = cls.__new__
    made = new(cls) if new is object.__new__ else new(cls, *args, **kwargs)
    init(made, *args, **kwargs)
    return made


def is_container(value: Any) -> bool:
    """Whether `value += …` changes the object instead of binding the variable to a new one."""
    return isinstance(value, (list, dict, set, deque, bytearray))


def in_place(name: str, target: Any, value: Any) -> Any:
    """Return the result of `target += value`; `name` is `iadd`, or another function of the module `operator`."""
    return getattr(operator, name)(target, value)


def place(value: Any) -> Any:
    """Return the object to use for `value` in `value[i] += …` and `value.a += …` while a backend traces."""
    stand_in = ref(value)
    return stand_in if owner(stand_in) is not None else _Place(stand_in)


class _Place:
    """Substitutes the containers among an object's items and attributes when they are changed in place."""

    __slots__ = ("_thing",)

    def __init__(self, thing: Any) -> None:
        object.__setattr__(self, "_thing", thing)

    def __getattribute__(self, name: str) -> Any:
        return _changed(getattr(object.__getattribute__(self, "_thing"), name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_thing"), name, value)

    def __getitem__(self, index: Any) -> Any:
        return _changed(object.__getattribute__(self, "_thing")[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        object.__getattribute__(self, "_thing")[index] = value


def _changed(part: Any) -> Any:
    return ref(part) if is_container(part) else part
