"""What traced code gets in the place of functions, methods and modules that are not traced into."""

from __future__ import annotations

import builtins
import sys
import types
import warnings
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, get_args

import numpy as np

from autograph import libraries
from autograph.libraries import on_behalf
from autograph.runtime.appearance import has_attribute
from autograph.runtime.callables import full_name_of
from autograph.runtime.classes import GENERATORS, is_made_anew, is_users
from autograph.runtime.graph import Constant
from autograph.runtime.holding import held, may_hold
from autograph.runtime.identity import identity
from autograph.runtime.journal import is_iterator
from autograph.runtime.keyed import by_keys
from autograph.runtime.opdef import op_of
from autograph.runtime.protocols import as_arrays, overrides
from autograph.runtime.signals import Plain, Unstageable
from autograph.runtime.tensor import Standing, is_tensor
from autograph.runtime.trace import CONSUMING, Trace
from autograph.runtime.types import TensorType

_COMPUTING_MODULES = frozenset({"numpy", "math", "cmath", "builtins"})
# Of the standard library, what takes staged values as they are: it looks at the structure of things only.
_STRUCTURAL_MODULES = frozenset("abc builtins collections contextlib dataclasses enum types typing weakref".split())
_CALLED_BACK = libraries.PLAIN & sys.stdlib_module_names - _STRUCTURAL_MODULES
_BUILTINS = frozenset({print, input, open, setattr, delattr})  # they do something, rather than compute it
_OF_NUMBERS = frozenset({chr, hex, oct, bin, round, issubclass})  # of which they ask what a handle cannot tell
MANAGERS = (np.errstate, np.printoptions, warnings.catch_warnings)  # context managers that the graph enters
# Of NumPy, what reads or changes its settings.
_SETTINGS = frozenset(
    "seterr geterr seterrcall geterrcall setbufsize getbufsize set_printoptions get_printoptions".split()
)
_CONSTANTS = (int, float, str, bytes, tuple, type(None), types.ModuleType)
CONTAINERS = (list, dict, set, deque, bytearray)
_READERS = frozenset("get keys values items copy count index union intersection difference issubset issuperset".split())


def is_scalar_function(function: Any) -> bool:
    return getattr(function, "__module__", None) in ("math", "cmath", "builtins", "_operator", "operator")


def is_impure(function: Any) -> bool:
    """Whether what a function gives or does differs from call to call: it runs when the graph runs."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, GENERATORS) or hasattr(owner, "fileno"):
        return True
    module = getattr(function, "__module__", None)
    if module is None and owner is not None:
        module = (owner if isinstance(owner, type) else type(owner)).__module__
    if str(module).startswith("numpy.random"):
        return not isinstance(function, type)
    if any(function is each for each in (*MANAGERS, np.frompyfunc)):
        return True
    if getattr(function, "__name__", "") in _SETTINGS and str(module).startswith("numpy"):
        return True
    return libraries.is_impure(str(module), getattr(function, "__name__", ""))


class Recorded(metaclass=Standing):
    """A function that is not traced into: calls of it are recorded.

    Args:
        only_staged: call it at once if no argument is staged, unless each run needs anew what it makes: an array, or an
            object that can change.
    """

    __slots__ = ("__wrapped__", "only_staged", "trace")

    def __init__(self, trace: Trace, function: Any, only_staged: bool = False) -> None:
        self.trace = trace
        self.__wrapped__ = function
        self.only_staged = only_staged

    @on_behalf
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.__wrapped__
        if isinstance(getattr(function, "__self__", function), np.ufunc):
            if any(map(overrides, (*args, *kwargs.values()))):
                return function(*args, **kwargs)  # NumPy leaves it to them
        if str(getattr(function, "__module__", "")).partition(".")[0] == "numpy":
            args = as_arrays(self.trace, args)
        if self.only_staged and not _has_staged(args) and not _has_staged(kwargs):
            for part in (getattr(function, "__self__", None), *args, *kwargs.values()):
                if isinstance(part, CONTAINERS):
                    self.trace.journal.touch(part)
                self.trace.journal.advance(part)
            self.trace.expose((getattr(function, "__self__", None), *args, *kwargs.values()))
            result = function(*args, **kwargs)
            self.trace.journal.pending = True
            if not _makes_anew(result):
                return result
        if is_iterator(getattr(function, "__self__", None)):
            raise Plain(f"{full_name_of(function)} is given what is staged", self.trace.place())
        if isinstance(function, types.MethodType) or getattr(function, "__self__", None) is not None:
            method = f".{function.__name__}"
            if isinstance(function.__self__, GENERATORS) and op_of(function) is None:
                return self.trace.record(method, (function.__self__, *args), kwargs)
        return self.trace.record_function(function, args, kwargs)

    @property
    def stands_for(self) -> Any:
        """What it is, on a path that is not the only one."""
        return self.__wrapped__

    @on_behalf
    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__wrapped__, name)
        return Recorded(self.trace, value, self.only_staged) if callable(value) and not name.startswith("_") else value

    # Every class has these, so that `__getattr__` would not be asked.
    __doc__ = property(lambda self: self.__wrapped__.__doc__)
    __module__ = property(lambda self: self.__wrapped__.__module__)

    def __repr__(self) -> str:
        return f"<recorded {full_name_of(self.__wrapped__)}>"


def _has_staged(args: Any) -> bool:
    """Whether there are handles, or arrays from outside, among nested arguments."""
    if type(args) in (list, tuple):
        return any(map(_has_staged, args))
    if type(args) is dict:
        return any(map(_has_staged, args.values()))
    return type(args) is np.ndarray or may_hold(args)


def _makes_anew(result: Any) -> bool:
    if isinstance(result, (tuple, list)):
        return any(map(_makes_anew, result))
    return isinstance(result, np.ndarray) or is_made_anew(type(result))


class Mutator:
    """A method of a list, dict or set, called in traced code."""

    __slots__ = ("function", "owner", "trace")

    def __init__(self, trace: Trace, owner: Any, function: Any) -> None:
        self.trace = trace
        self.owner = owner
        self.function = function

    @on_behalf
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        owner, name = self.owner, self.function.__name__
        inside = held(owner)
        if f".{name}" in CONSUMING:
            args = tuple(map(self.trace.collected, args))
        if name == "sort" and inside is None and kwargs.get("key") is not None and not may_hold(owner):
            return self._sort(kwargs)
        if inside is None and self._needs_values(name, (*args, *kwargs.values())):
            inside = self.trace.materialise(owner)
        if inside is not None:
            return self.trace.record(f".{name}", (inside, *args), kwargs)
        if name not in _READERS:
            self.trace.journal.touch(owner)
        for part in args:
            self.trace.journal.advance(part)
        try:
            return self.function(*args, **kwargs)
        finally:
            self.trace.journal.pending = True

    @on_behalf
    def _sort(self, kwargs: dict[str, Any]) -> None:
        """Sort a list by keys that may be staged."""
        items = by_keys(self.trace, sorted, self.owner, kwargs)
        if is_tensor(items):
            self.trace.record("setitem", (self.trace.materialise(self.owner), slice(None), items))
        else:
            self.trace.journal.touch(self.owner)
            self.owner[:] = items

    def _needs_values(self, name: str, args: tuple[Any, ...]) -> bool:
        """Whether the method looks at staged values."""
        owner = self.owner
        if isinstance(self.function, types.MethodType):     # which is written in Python, as those of a Counter are
            return may_hold(owner) or may_hold(args)
        if name in ("sort", "index", "count", "remove", "__str__", "__repr__"):
            return may_hold(owner) or may_hold(args)
        if name in ("pop", "insert", "get", "setdefault", "add", "discard", "__getitem__", "__setitem__"):
            return may_hold(args[:1])
        if f".{name}" in CONSUMING:
            return any(is_tensor(a) or held(a) is not None for a in args)
        return False


def changes_attributes(function: Any) -> bool:
    """Whether a function is `setattr` or the like, or what `super().__setattr__` and `object.__setattr__` are."""
    if isinstance(function, types.BuiltinFunctionType):
        return function in (setattr, delattr, getattr, hasattr, vars)
    owner = getattr(function, "__self__", None)
    return function.__name__ in _ATTRIBUTE_METHODS and (owner is None or is_users(type(owner)))


_ATTRIBUTE_METHODS = frozenset({"__setattr__", "__delattr__", "__getattribute__", "__init__", "__init_subclass__"})


class AttributeSetter:
    """What sets, deletes or looks up an attribute of an object of the user's, called in traced code."""

    __slots__ = ("function", "trace")

    def __init__(self, trace: Trace, function: Any) -> None:
        self.trace = trace
        self.function = function

    @on_behalf
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.function
        owner = getattr(function, "__self__", None)
        thing = args[0] if args and (owner is None or owner is builtins) else owner
        if function in (setattr, delattr) and any(map(is_tensor, args[1:2])):
            reason = "the name of an attribute that is set is known only when the graph runs"
            raise Unstageable(reason, self.trace.place())
        if is_tensor(thing) or (any(map(is_tensor, args[1:2])) and owner is builtins):
            return Recorded(self.trace, function)(*args, **kwargs)
        if function not in (getattr, hasattr, vars) and (is_users(type(thing)) or isinstance(thing, type)):
            self.trace.journal.touch(thing)
        return function(*args, **kwargs)


def unbound(trace: Trace, function: Any) -> Callable[..., Any]:
    """What to call for `list.append`, `dict.update` and their like."""

    @on_behalf
    def of_owner(*args: Any, **kwargs: Any) -> Any:
        if not args or not isinstance(args[0], CONTAINERS):
            return Recorded(trace, function, only_staged=True)(*args, **kwargs)
        return Mutator(trace, args[0], function.__get__(args[0]))(*args[1:], **kwargs)

    return of_owner


class TextMethod:
    """A method of a str, called in traced code."""

    __slots__ = ("function", "owner", "trace")

    def __init__(self, trace: Trace, owner: str, function: Any) -> None:
        self.trace = trace
        self.owner = owner
        self.function = function

    @on_behalf
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = tuple(self.trace.collected(part) for part in args)
        if not may_hold(args) and not may_hold(kwargs):
            return self.function(*args, **kwargs)
        return self.trace.record(f".{self.function.__name__}", (self.owner, *args), kwargs)


class Module:
    """NumPy, `math` and their like, as traced code sees them: calls of what is in them are recorded."""

    __slots__ = ("_ag_module", "_ag_trace")

    _ag_module: types.ModuleType
    _ag_trace: Trace

    def __init__(self, trace: Trace, module: types.ModuleType) -> None:
        object.__setattr__(self, "_ag_trace", trace)
        object.__setattr__(self, "_ag_module", module)

    @on_behalf
    def __getattribute__(self, name: str) -> Any:  # for `operator.__eq__` is not what compares modules
        if name == "_ag_module":
            return object.__getattribute__(self, name)
        module, trace = self._ag_module, object.__getattribute__(self, "_ag_trace")
        value = getattr(module, name)
        if libraries.is_impure(module.__name__) and not (callable(value) or isinstance(value, _CONSTANTS)):
            return trace.record("getattr", (Constant(module), name))
        return stand_in(trace, value)

    @on_behalf
    def __setattr__(self, name: str, value: Any) -> None:
        what = f"an attribute of the module {self._ag_module.__name__} is set"
        raise Unstageable(what, object.__getattribute__(self, "_ag_trace").place())

    def __repr__(self) -> str:
        return repr(self._ag_module)


def importer(original: Any, real: dict[str, Any], see: Callable[[Any], Any]) -> Callable[..., Any]:
    """What `import` calls in traced code of a module: `see` gives what it gets for the module that is imported."""

    @on_behalf
    def imported(name: str, globals: Any = None, *args: Any, **kwargs: Any) -> Any:
        return see(original(name, real, *args, **kwargs))

    return imported


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
def _is_instance(trace: Trace, thing: Any, kinds: Any) -> bool:
    """`isinstance(thing, kinds)`: a number or array, of whatever class, is no tuple and no object of the user's."""
    if not is_tensor(thing):
        return isinstance(thing, kinds)
    value = trace.use(thing)
    isinstance(None, kinds)  # may say that these are no classes
    asked = kinds if isinstance(kinds, tuple) else get_args(kinds) or (kinds,)
    if any(is_users(type(kind)) for kind in asked):
        trace.needs(thing, "by a class that may decide itself what its instances are")
    if isinstance(value.type, TensorType) and not any(map(_may_be_number, asked)):
        return False
    return issubclass(trace.class_of(thing), kinds)


def _may_be_number(kind: Any) -> bool:
    """Whether a number or array may be of a class."""
    return type(kind) is not type or any(issubclass(each, kind) or issubclass(kind, each) for each in _NUMBERS)


_NUMBERS = (int, float, complex, np.generic, np.ndarray)
_ASKED: dict[Any, Callable[..., Any]] = {
    callable: _is_callable,
    id: identity,
    isinstance: _is_instance,
    hasattr: _has_attribute,
    getattr: _get_attribute,
}


def stand_in(trace: Trace, value: Any) -> Any:
    """What traced code sees in the place of a module or function that computes."""
    if isinstance(value, types.ModuleType):
        root = value.__name__.partition(".")[0]
        taken = root in _COMPUTING_MODULES or root in _CALLED_BACK or libraries.is_impure(root)
        return Module(trace, value) if taken else value
    if isinstance(value, type) and value in MANAGERS:
        return Recorded(trace, value)
    if isinstance(value, type) or not callable(value) or is_tensor(value):
        return value
    if type(value) is types.BuiltinFunctionType and value in _BUILTINS:
        return AttributeSetter(trace, value) if changes_attributes(value) else Recorded(trace, value)
    if type(value) is types.BuiltinFunctionType and value in _ASKED:
        return partial(_ASKED[value], trace)
    if type(value) is types.BuiltinFunctionType and value in _OF_NUMBERS:
        return Recorded(trace, value, only_staged=True)
    module = str(getattr(value, "__module__", None) or "").partition(".")[0]
    if module == "numpy" or isinstance(value, np.ufunc) or isinstance(getattr(value, "__self__", None), GENERATORS):
        return Recorded(trace, value, only_staged=not is_impure(value))
    if is_impure(value):
        return Recorded(trace, value)
    return Recorded(trace, value, only_staged=True) if module in ("math", "cmath") or module in _CALLED_BACK else value
