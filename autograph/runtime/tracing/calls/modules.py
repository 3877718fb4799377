"""Stand-ins for the functions and modules that traced code names, or gets."""

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
from autograph.runtime.tracing.calls.builtins import identity
from autograph.runtime.tracing.calls.stand_ins import MANAGERS, AttributeSetter, Recorded, changes_attributes, is_impure
from autograph.runtime.tracing.environment.class_guards import CheckFacts
from autograph.runtime.tracing.environment.environment import CapturedEnvironment
from autograph.runtime.tracing.environment.source import constant
from autograph.runtime.tracing.proxies.graph_break import Unstageable
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.proxies.stand_in import DESCRIPTION, StandIn, original_of
from autograph.runtime.tracing.proxies.static_class import has_attribute
from autograph.runtime.tracing.state.trace import Trace

_COMPUTING_MODULES = frozenset({"numpy", "math", "cmath", "builtins"})
# Of the standard library, what takes staged values as they are: it looks at the structure of things only.
_STRUCTURAL_MODULES = frozenset("abc builtins collections contextlib dataclasses enum types typing weakref".split())
_CALLED_BACK = trace_rules.PLAIN & sys.stdlib_module_names - _STRUCTURAL_MODULES
_BUILTINS = frozenset({print, input, open, setattr, delattr})  # they do something, rather than compute it
_OF_NUMBERS = frozenset({chr, hex, oct, bin, round})  # of which they ask what a proxy cannot tell
_CONSTANTS = (int, float, str, bytes, tuple, type(None), types.ModuleType)


class ComputingModule(StandIn):
    """NumPy, `math` and their like, as traced code sees them: calls of what is in them are recorded."""

    __slots__ = ("_ag_stand_ins",)

    def __init__(self, module: types.ModuleType, stand_ins: StandIns) -> None:
        super().__init__(module)
        object.__setattr__(self, "_ag_stand_ins", stand_ins)

    @on_behalf
    def __getattribute__(self, name: str) -> Any:  # for `operator.__eq__` is not what compares modules
        if name == "__wrapped__":
            return object.__getattribute__(self, name)
        module, stand_ins = self.__wrapped__, object.__getattribute__(self, "_ag_stand_ins")
        value = getattr(module, name)
        is_constant = callable(value) or (isinstance(value, _CONSTANTS) and not _may_be_set(module, value))
        if trace_rules.is_impure(module_name(module)) and not is_constant:
            return stand_ins.trace.record("getattr", (Constant(module), name))
        if callable(value) and _is_users(value):
            return stand_ins.put_there(module, name, value)
        if callable(value) and is_impure(value):
            names, what = {f"module_{id(module)}": module, f"value_{id(value)}": value}, f"{module_name(module)}.{name}"
            stand_ins.guard((f"module_{id(module)}.{name} is value_{id(value)}", names), what)
        return stand_ins(value)

    @on_behalf
    def __setattr__(self, name: str, value: Any) -> None:
        what = f"an attribute of the module {module_name(self.__wrapped__)} is set"
        raise Unstageable(what, object.__getattribute__(self, "_ag_stand_ins").trace.place())


def _may_be_set(module: types.ModuleType, value: Any) -> bool:
    """Whether a text, number or tuple of a library may be another one later, and no guard tells of it."""
    return module is time or type(value) is tuple


def _is_users(function: Any) -> bool:
    """Whether it is code of the user's that runs when something is called."""
    while isinstance(function, functools.partial):
        function = function.func
    function = function.__func__ if type(function) is types.MethodType else function
    if type(function) is types.FunctionType:
        return not trace_rules.is_plain(str(function.__globals__.get("__name__")))
    return is_users_object(function) or type(function).__module__ == "unittest.mock"


@on_behalf
def _is_callable(trace: Trace, thing: Any) -> Any:
    """`callable(thing)`."""
    if not is_tensor(thing):
        return callable(thing)
    known = trace.known_class(trace.use(thing))
    if known is None:
        return trace.record("callable", (thing,))
    return any("__call__" in vars(base) for base in known.__mro__)


@on_behalf
def _has_attribute(trace: Trace, thing: Any, name: Any) -> Any:
    """`hasattr(thing, name)`."""
    if not is_tensor(thing) or is_tensor(name):
        return hasattr(thing, name)
    known = has_attribute(trace.known_class(trace.use(thing)), name)
    return trace.record("call", (hasattr, thing, name)) if known is None else known


@on_behalf
def _get_attribute(trace: Trace, thing: Any, name: Any, *default: Any) -> Any:
    """`getattr(thing, name, default)`."""
    if not is_tensor(thing) or is_tensor(name):
        return getattr(thing, name, *default)
    known = has_attribute(trace.known_class(trace.use(thing)), name)
    if default and not known:
        return trace.record("getattr", (thing, name, *default)) if known is None else default[0]
    if known and name.startswith("__"):
        trace.needs(thing, f"for its {name}")
    return getattr(thing, name)


@on_behalf
def _is_instance(trace: Trace, thing: Any, kinds: Any) -> Any:
    """`isinstance(thing, kinds)`: a number or array, of whatever class, is no tuple and no object of the user's."""
    kinds = tuple(map(original_of, kinds)) if type(kinds) is tuple else original_of(kinds)
    if not is_tensor(thing):
        return isinstance(original_of(thing), kinds)
    value = trace.use(thing)
    isinstance(None, kinds)  # may say that these are no classes
    asked = kinds if isinstance(kinds, tuple) else get_args(kinds) or (kinds,)
    known = trace.classes.get(value)
    if known is not None and lies(known):
        return trace.record("call", (isinstance, thing, kinds))
    if any(is_users(type(kind)) for kind in asked):
        trace.needs(thing, "by a class that may decide itself what its instances are")
    if isinstance(value.type, TensorType) and not any(map(_may_be_number, asked)):
        return False
    kind = trace.class_of(thing)
    if getattr_static(kind, "__class__") is not vars(object)["__class__"]:
        return trace.record("call", (isinstance, thing, kinds))  # it says that it is of another class
    return issubclass(kind, kinds)


@on_behalf
def _is_subclass(trace: Trace, kind: Any, kinds: Any) -> Any:
    """`issubclass(kind, kinds)`."""
    if is_tensor(kind) or is_tensor(kinds):
        return Recorded(trace, issubclass, only_staged=True)(kind, kinds)
    kinds = tuple(map(original_of, kinds)) if type(kinds) is tuple else original_of(kinds)
    return issubclass(original_of(kind), kinds)


def _abstract_in(kinds: Any) -> bool:
    """Whether there is an abstract class among those that are asked for."""
    if isinstance(kinds, tuple):
        return any(map(_abstract_in, kinds))
    return isinstance(kinds, ABCMeta) or any(map(_abstract_in, get_args(kinds)))


def _may_be_number(kind: Any) -> bool:
    """Whether a number or array may be of a class."""
    return type(kind) is not type or any(issubclass(each, kind) or issubclass(kind, each) for each in _NUMBERS)


_NUMBERS = (int, float, complex, np.generic, np.ndarray)
_ASKED: dict[Any, Callable[..., Any]] = {
    callable: _is_callable,
    id: identity,
    isinstance: _is_instance,
    issubclass: _is_subclass,
    hasattr: _has_attribute,
    getattr: _get_attribute,
}


def is_missing(thing: Any, name: str) -> bool:
    """Whether there is no such attribute; nothing is called that the user may have written to make one up."""
    return getattr_static(thing, name, _MISSING) is _MISSING


_MISSING = object()


class Asked(StandIn):
    """A builtin that is asked about things, and answers of proxies what is true of what they stand for."""

    __slots__ = ("stand_ins",)
    __doc__, __module__ = DESCRIPTION

    def __init__(self, function: Any, stand_ins: StandIns) -> None:
        super().__init__(function)
        self.stand_ins = stand_ins

    @on_behalf
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.__wrapped__
        result = _ASKED[function](self.stand_ins.trace, *args, **kwargs)
        may_miss = (function is hasattr or (function is getattr and len(args) > 2)) and type(args[1]) is str
        if may_miss and isinstance(args[0], (type, types.FunctionType)) and is_missing(*args[:2]):
            condition = "missing(thing, name)", {"missing": is_missing, "thing": args[0], "name": args[1]}
            self.stand_ins.guard(condition, f"that {args[0].__qualname__} has no {args[1]}")
        if function in (isinstance, issubclass) and _abstract_in(original_of(args[1])):
            self._guard_check(*args)
        return result

    def _guard_check(self, thing: Any, kinds: Any) -> None:
        """See to it that an abstract class says of a class what it says now."""
        trace = self.stand_ins.trace
        thing = original_of(thing)
        is_class = self.__wrapped__ is issubclass
        kind = trace.class_of(thing) if is_tensor(thing) else thing if is_class else type(thing)
        kinds = tuple(map(original_of, kinds)) if type(kinds) is tuple else original_of(kinds)
        facts = CheckFacts(kind, kinds)
        self.stand_ins.guard(facts.condition, f"what abstract classes say of {kind.__qualname__}")


class StandIns:
    """What traced code gets in the place of modules and functions that compute: of each always the same."""

    def __init__(self, trace: Trace, environment: CapturedEnvironment) -> None:
        self.trace = trace
        self.guard = environment.guard
        self._environment = environment
        self._made: dict[int, Any] = {}

    def __call__(self, value: Any) -> Any:
        found = self._made.get(id(value))
        if found is None:
            found = self._make(value)
            if issubclass(type(found), StandIn):
                self._made[id(value)] = found  # it keeps the value, whose number nobody else will have
        return found

    def put_there(self, module: types.ModuleType, name: str, function: Any) -> Any:
        """What to call for a function of the user's that was put into a module of a library, as tests do."""
        source = constant(module, f"module_{id(module)}", module_name(module)).attribute(name)
        seen = self._environment.see(function, source)
        return seen if is_tensor(seen) else self.trace.context.calls.replacement(seen)

    def _make(self, value: Any) -> Any:
        trace, kind = self.trace, type(value)
        if issubclass(kind, types.ModuleType):
            root = module_name(value).partition(".")[0]
            taken = root in _COMPUTING_MODULES or root in _CALLED_BACK or trace_rules.is_impure(root)
            return ComputingModule(value, self) if taken else value
        if issubclass(kind, type):
            return Recorded(trace, value) if value in MANAGERS else value
        if kind is types.BuiltinFunctionType:
            if value in _BUILTINS:
                return AttributeSetter(trace, value) if changes_attributes(value) else Recorded(trace, value)
            if value in _ASKED:
                return Asked(value, self)
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
