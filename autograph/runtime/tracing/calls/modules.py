"""Stand-ins for the modules and functions that traced code refers to."""

from __future__ import annotations

import builtins
import functools
import sys
import time
import types
from abc import ABCMeta
from collections.abc import Callable
from inspect import getattr_static
from typing import Any, get_args

import numpy as np

from autograph.common import trace_rules
from autograph.common.statics import is_a, module_name, own_attribute
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.graph import Constant
from autograph.runtime.graph.object_model import GENERATORS, is_users, is_users_object, lies
from autograph.runtime.graph.types import TensorType
from autograph.runtime.tracing.calls.stand_ins import (
    MANAGERS,
    AttributeSetter,
    Recorded,
    TraceStandIn,
    changes_attributes,
    is_impure,
)
from autograph.runtime.tracing.calls.user_operators import identity
from autograph.runtime.tracing.environment.guards import CheckFacts
from autograph.runtime.tracing.environment.object_source import constant
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.proxies.stand_in import DESCRIPTION, ModuleStandIn, StandIn, original_of
from autograph.runtime.tracing.proxies.static_class import has_attribute
from autograph.runtime.tracing.state.trace import Trace

_COMPUTING_MODULES = frozenset({"numpy", "math", "cmath", "builtins"})
# Modules of the standard library that take staged values as they are: they look at the structure of things only.
_STRUCTURAL_MODULES = frozenset("abc builtins collections contextlib dataclasses enum types typing weakref".split())
_CALLED_BACK = trace_rules.PLAIN & sys.stdlib_module_names - _STRUCTURAL_MODULES
_BUILTINS = frozenset({print, input, open, setattr, delattr})  # with effects
_OF_NUMBERS = frozenset({chr, hex, oct, bin, round})  # they need the values
_CONSTANTS = (int, float, str, bytes, tuple, type(None), types.ModuleType)


class ComputingModule(ModuleStandIn):
    """The stand-in for NumPy, `math` and the like: calls of their functions are recorded."""

    __slots__ = ()

    @staticmethod
    @on_behalf
    def get(module: types.ModuleType, trace: Trace, name: str) -> Any:
        value = getattr(module, name)
        may_be_set = module is time or type(value) is tuple     # and no guard checks that
        is_constant = callable(value) or (isinstance(value, _CONSTANTS) and not may_be_set)
        if trace_rules.is_impure(module_name(module)) and not is_constant:
            return trace.record("getattr", (Constant(module), name))
        if callable(value) and _is_users(value):    # a test has put it there
            source = constant(module, f"module_{id(module)}", module_name(module)).attribute(name)
            captured = trace.context.environment.capture(value, source)
            return captured if is_tensor(captured) else trace.context.calls.replacement(captured)
        if callable(value) and is_impure(value):
            names, what = {f"module_{id(module)}": module, f"value_{id(value)}": value}, f"{module_name(module)}.{name}"
            trace.context.environment.guard((f"module_{id(module)}.{name} is value_{id(value)}", names), what)
        return trace.context.calls.stand_in(value)

    @staticmethod
    @on_behalf
    def set(module: types.ModuleType, trace: Trace, name: str, value: Any) -> None:
        trace.unstageable(f"an attribute of the module {module_name(module)} is set")


def is_plain_function(function: types.FunctionType) -> bool:
    """Whether a function belongs to a module that takes no part in staging."""
    return trace_rules.is_plain(str(function.__globals__.get("__name__")))


def _is_users(function: Any) -> bool:
    """Whether a call of something runs code of the user's."""
    while isinstance(function, functools.partial):
        function = function.func
    function = function.__func__ if type(function) is types.MethodType else function
    if type(function) is types.FunctionType:
        return not is_plain_function(function)
    return is_users_object(function) or type(function).__module__ == "unittest.mock"


@on_behalf
def _is_callable(trace: Trace, thing: Any) -> Any:
    """`callable(thing)`."""
    if not is_tensor(thing):
        return callable(thing)
    kind = trace.known_class(trace.use(thing))
    if kind is None:
        return trace.record("callable", (thing,))
    return any("__call__" in vars(base) for base in kind.__mro__)


@on_behalf
def _has_attribute(trace: Trace, thing: Any, name: Any) -> Any:
    """`hasattr(thing, name)`."""
    if not is_tensor(thing) or is_tensor(name):
        return hasattr(thing, name)
    has_it = has_attribute(trace.known_class(trace.use(thing)), name)
    return trace.record("call", (hasattr, thing, name)) if has_it is None else has_it


@on_behalf
def _get_attribute(trace: Trace, thing: Any, name: Any, *default: Any) -> Any:
    """`getattr(thing, name, default)`."""
    if not is_tensor(thing) or is_tensor(name):
        return getattr(thing, name, *default)
    has_it = has_attribute(trace.known_class(trace.use(thing)), name)
    if default and not has_it:
        return trace.record("getattr", (thing, name, *default)) if has_it is None else default[0]
    if has_it and name.startswith("__"):
        trace.needs(thing, f"for its {name}")
    return getattr(thing, name)


@on_behalf
def _is_instance(trace: Trace, thing: Any, kinds: Any) -> Any:
    """`isinstance(thing, kinds)`: a staged number or array is no tuple, and no object of the user's classes."""
    kinds = _original_classes(kinds)
    if not is_tensor(thing):
        return isinstance(original_of(thing), kinds)
    value = trace.use(thing)
    isinstance(None, kinds)  # raises if these are no classes
    asked = kinds if isinstance(kinds, tuple) else get_args(kinds) or (kinds,)
    exact = trace.classes.get(value)
    if exact is not None and lies(exact):
        return trace.record("call", (isinstance, thing, kinds))
    if any(is_users(type(kind)) for kind in asked):
        trace.needs(thing, "by a class that may decide itself what its instances are")
    if isinstance(value.type, TensorType) and not any(map(_may_be_number, asked)):
        return False
    kind = trace.class_of(thing)
    if getattr_static(kind, "__class__") is not vars(object)["__class__"]:
        return trace.record("call", (isinstance, thing, kinds))  # it has a `__class__` of its own
    return issubclass(kind, kinds)


@on_behalf
def _is_subclass(trace: Trace, kind: Any, kinds: Any) -> Any:
    """`issubclass(kind, kinds)`."""
    if is_tensor(kind) or is_tensor(kinds):
        return Recorded(trace, issubclass, only_staged=True)(kind, kinds)
    return issubclass(original_of(kind), _original_classes(kinds))


def _original_classes(kinds: Any) -> Any:
    return tuple(map(original_of, kinds)) if type(kinds) is tuple else original_of(kinds)


def _abstract_in(kinds: Any) -> bool:
    """Whether there is an abstract class among these."""
    if isinstance(kinds, tuple):
        return any(map(_abstract_in, kinds))
    return isinstance(kinds, ABCMeta) or any(map(_abstract_in, get_args(kinds)))


def _may_be_number(kind: Any) -> bool:
    """Whether a number or array may be an instance of a class."""
    return type(kind) is not type or any(issubclass(each, kind) or issubclass(kind, each) for each in _NUMBERS)


_NUMBERS = (int, float, complex, np.generic, np.ndarray)
_QUERIES: dict[Any, Callable[..., Any]] = {
    callable: _is_callable,
    id: identity,
    isinstance: _is_instance,
    issubclass: _is_subclass,
    hasattr: _has_attribute,
    getattr: _get_attribute,
}


def is_missing(thing: Any, name: str) -> bool:
    """Whether a thing has no such attribute, without calling code of the user's that may make one up."""
    return getattr_static(thing, name, _MISSING) is _MISSING


_MISSING = object()


class Query(TraceStandIn):
    """The stand-in for a builtin that inspects things; of a proxy, it inspects the object that the proxy represents."""

    __slots__ = ()
    __doc__, __module__ = DESCRIPTION

    @on_behalf
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function, guard = self.__wrapped__, self.trace.context.environment.guard
        result = _QUERIES[function](self.trace, *args, **kwargs)
        may_miss = (function is hasattr or (function is getattr and len(args) > 2)) and type(args[1]) is str
        if may_miss and isinstance(args[0], (type, types.FunctionType)) and is_missing(*args[:2]):
            condition = "missing(thing, name)", {"missing": is_missing, "thing": args[0], "name": args[1]}
            guard(condition, f"that {args[0].__qualname__} has no {args[1]}")
        if function in (isinstance, issubclass) and _abstract_in(original_of(args[1])):
            thing = original_of(args[0])
            is_class = function is issubclass
            kind = self.trace.class_of(thing) if is_tensor(thing) else thing if is_class else type(thing)
            facts = CheckFacts(kind, _original_classes(args[1]))
            guard(facts.condition, f"what abstract classes say of {kind.__qualname__}")
        return result


class StandIns:
    """The stand-ins for modules and functions that compute: always the same one for each."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self._made: dict[int, Any] = {}

    def __call__(self, value: Any) -> Any:
        found = self._made.get(id(value))
        if found is None:
            found = self._make(value)
            if issubclass(type(found), StandIn):
                self._made[id(value)] = found  # it keeps the value alive, and so its identity unique
        return found

    def _make(self, value: Any) -> Any:
        trace, kind = self.trace, type(value)
        if issubclass(kind, types.ModuleType):
            root = module_name(value).partition(".")[0]
            computes = root in _COMPUTING_MODULES or root in _CALLED_BACK or trace_rules.is_impure(root)
            return ComputingModule(value, trace) if computes else value
        if issubclass(kind, type):
            return Recorded(trace, value) if value in MANAGERS else value
        if kind is types.BuiltinFunctionType:
            if value in _BUILTINS:
                return AttributeSetter(trace, value) if changes_attributes(value) else Recorded(trace, value)
            if value in _QUERIES:
                return Query(trace, value)
            if value in _OF_NUMBERS:
                return Recorded(trace, value, only_staged=True)
            if value.__self__ is builtins:
                return value
        elif not callable(value) or is_tensor(value):
            return value
        module = str(own_attribute(value, "__module__") or "").partition(".")[0]
        if module == "numpy" or issubclass(kind, np.ufunc) or is_a(own_attribute(value, "__self__"), GENERATORS):
            return Recorded(trace, value, only_staged=not is_impure(value))
        if is_impure(value):
            return Recorded(trace, value)
        only = module in ("math", "cmath") or module in _CALLED_BACK
        return Recorded(trace, value, only_staged=True) if only else value
