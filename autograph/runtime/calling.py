"""Calls of functions in traced code: what is traced into, what is recorded, and what simply runs."""

from __future__ import annotations

import builtins
import dis
import functools
import inspect
import random
import sys
import types
from collections import deque
from collections.abc import Callable
from numbers import Number
from pathlib import PurePath
from typing import Any

import numpy as np

from autograph import libraries, nest
from autograph.runtime.graph import Constant
from autograph.runtime.holding import Held, held, is_spread
from autograph.runtime.instrument import is_users
from autograph.runtime.journal import PATCHED, Fallback, is_iterator
from autograph.runtime.keyed import by_keys
from autograph.runtime.outside import Outside, Source
from autograph.runtime.signals import Plain, TooDeep, Unjoinable
from autograph.runtime.tensor import Method, Tensor, is_tensor
from autograph.runtime.trace import Trace, may_hold, name_of, op_of

Converter = Callable[[types.FunctionType], types.FunctionType]

_COMPUTING_MODULES = frozenset({"numpy", "math", "cmath", "builtins"})
# Of the standard library, what takes staged values as they are: it looks at the structure of things only.
_STRUCTURAL_MODULES = frozenset("abc builtins collections contextlib dataclasses enum types typing weakref".split())
_CALLED_BACK = libraries.PLAIN & sys.stdlib_module_names - _STRUCTURAL_MODULES
_IMPURE_TYPES = (np.random.Generator, np.random.RandomState, random.Random)
_RECURSION = 25  # calls of a function from itself under conditions that are staged
_BUILTINS = frozenset({print, input, open, setattr, delattr})  # they do something, rather than compute it
_CONSTANTS = (int, float, str, bytes, tuple, type(None), types.ModuleType)
_CONTAINERS = (list, dict, set, deque, bytearray)
_READERS = frozenset("get keys values items copy count index union intersection difference issubset issuperset".split())


class Caller:
    """Decides what is called in the place of each function that traced code calls.

    Args:
        convert: gives the converted form of a function, or the function itself.
    """

    def __init__(self, trace: Trace, outside: Outside, convert: Converter) -> None:
        self.trace = trace
        self.outside = outside
        self.convert = convert
        self.meet: Callable[[Any], None] = lambda thing: None  # set by who makes the trace
        self.names: set[str] = set()
        self._made: dict[int, tuple[Any, Any]] = {}
        self._originals: dict[int, tuple[Any, Any]] = {}
        self._depth: dict[types.CodeType, int] = {}

    def original(self, function: Any) -> Any:
        """The user's function for the traced form of one."""
        found = self._originals.get(id(function))
        return function if found is None else found[1]

    def unwrapped(self, function: Any) -> Any:
        """What traced code would call, for what it calls in its place."""
        is_ours = type(function) is types.FunctionType and function.__code__.co_filename == __file__
        return function.__wrapped__ if is_ours or type(function) is Recorded else function

    def traced(self, function: types.FunctionType) -> types.FunctionType:
        """The form of a Python function that is traced: converted, and with its own view of the world."""
        if isinstance(function.__globals__, Fallback):
            return function
        found = self._made.get(id(function))
        if found is None:
            found = self._made[id(function)] = function, self._instantiate(function)
        return found[1]

    def _instantiate(self, function: types.FunctionType) -> types.FunctionType:
        converted = self.convert(function)
        code = converted.__code__
        if _makes_classes(code):
            raise Plain(f"{function.__qualname__} defines a class", self.trace.place())
        if "RecursionError" in code.co_names:
            raise Plain(f"{function.__qualname__} asks how deep it calls itself", self.trace.place())
        self._note_names(code)
        cells = zip(code.co_freevars, converted.__closure__ or ())
        closure = tuple(self.outside.cell(cell, name) for name, cell in cells)
        defaults = self._defaults(function, "__defaults__", function.__defaults__)
        environment = self.outside.environment(converted.__globals__)
        made = types.FunctionType(code, environment, function.__name__, defaults, closure)
        made.__kwdefaults__ = self._defaults(function, "__kwdefaults__", function.__kwdefaults__)
        made.__qualname__ = function.__qualname__
        self._originals[id(made)] = made, function
        return made

    def _defaults(self, function: Any, name: str, values: Any) -> Any:
        if not values:
            return values
        text = f"{function.__name__}.{name}"
        source = Source("getattr", (Constant(function), name), f"function.{name}", (("function", function),), text)
        if isinstance(values, tuple):
            return tuple(self.outside.see(value, source.item(at)) for at, value in enumerate(values))
        return {key: self.outside.see(value, source.item(key)) for key, value in values.items()}

    def _note_names(self, code: types.CodeType) -> None:
        self.names.update(code.co_names)
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._note_names(constant)

    # Calls ------------------------------------------------------------------------------------------------------------

    def replacement(self, function: Any) -> Any:
        """What to call for `function`."""
        kind = type(function)
        if kind in (Method, Recorded, Tensor, Mutator, AttributeSetter):
            return function
        marked = kind if is_users(kind) and not isinstance(function, type) else function  # and do not ask __getattr__
        if getattr(marked, "__ag_do_not_convert__", False) is True:
            return Recorded(self.trace, function)
        self.meet(function)
        if kind is types.FunctionType:
            return self._python_function(PATCHED.get(id(function), function))
        if kind is types.MethodType:
            return self._method(function)
        if kind is functools.partial:
            return functools.partial(self.replacement(function.func), *function.args, **function.keywords)
        if isinstance(function, type):
            return self._class(function)
        method = getattr(kind, "__call__", None)  # noqa: B004
        if isinstance(method, types.FunctionType) and is_users(kind):
            return self._method(types.MethodType(method, function))
        if kind in (types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType):
            return self._builtin(function)
        if op_of(function) is not None or isinstance(function, np.ufunc) or _is_impure(function):
            return Recorded(self.trace, function)
        inner = getattr(function, "__ag_inline__", None)
        if inner is not None:
            return self.replacement(inner)
        if isinstance(method, types.FunctionType):
            return types.MethodType(self._python_function(method), function)
        if kind.__module__ == "builtins":
            return function
        return Recorded(self.trace, function, only_staged=not isinstance(function, functools._lru_cache_wrapper))

    def _python_function(self, function: types.FunctionType) -> Any:
        if isinstance(function.__globals__, Fallback):
            return self._inlined(function, function)
        if op_of(function) is not None or _is_impure(function):
            return Recorded(self.trace, function)
        if libraries.is_plain(str(function.__globals__.get("__name__"))):
            return Recorded(self.trace, function, only_staged=True) if function.__module__ != "typing" else function
        return self._inlined(self.traced(function), function)

    def _inlined(self, traced: Any, function: Any) -> Any:
        trace, code = self.trace, function.__code__

        @functools.wraps(function)
        def inlined(*args: Any, **kwargs: Any) -> Any:
            before, trace.loosened = trace.loosened, False
            depth = self._depth[code] = self._depth.get(code, 0) + 1
            try:
                if depth > _RECURSION and trace.tests:
                    raise TooDeep(trace.tests[0], function.__name__, trace.place())
                if trace.held and is_spread(args):
                    args = self._spread(function, args)
                result = traced(*args, **kwargs)
            finally:
                self._depth[code] -= 1
            if trace.loosened and is_tensor(result):
                what = f"what {function.__name__} returns"
                raise Unjoinable(what, "one object", "another", trace.loosened, trace.place())
            trace.loosened = before
            return result

        inlined.__ag_original__ = function  # type: ignore[attr-defined]
        return inlined

    def _spread(self, function: types.FunctionType, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Arguments for a function, of which one stands for any number: as many as there are parameters for them."""
        code = function.__code__
        at = next(position for position, part in enumerate(args) if type(part) is Held)
        count = code.co_argcount - len(args) + 1
        if code.co_flags & inspect.CO_VARARGS and at >= code.co_argcount:
            return args
        takes_more = code.co_flags & inspect.CO_VARARGS or function.__defaults__
        if takes_more or is_spread(args[at + 1 :]) or count < 0:
            args[at]._refuse()
        return (*args[:at], *self.trace.unpack(args[at].tensor, count), *args[at + 1 :])

    def _method(self, function: types.MethodType) -> Any:
        inner: Any = PATCHED.get(id(function.__func__), function.__func__)
        if isinstance(function.__self__, _IMPURE_TYPES) or op_of(function) is not None:
            return Recorded(self.trace, function)
        if not isinstance(inner, types.FunctionType):
            return function
        if nest.is_nested(function.__self__) and libraries.is_plain(str(inner.__globals__.get("__name__"))):
            return function
        replaced = self._python_function(inner)
        if type(replaced) is Recorded:
            return Recorded(self.trace, function, only_staged=replaced.only_staged)
        return types.MethodType(replaced, function.__self__)

    def _class(self, kind: type) -> Any:
        late = libraries.is_made_late(f"{kind.__module__}.{kind.__name__}")
        if late and not issubclass(kind, (BaseException, PurePath)):
            return Recorded(self.trace, kind)
        if op_of(kind) is not None or _hides_its_state(kind):
            return Recorded(self.trace, kind, only_staged=True)
        init: Any = kind.__init__  # type: ignore[misc]
        init = PATCHED.get(id(init), init)
        plain = type(kind) is type and isinstance(init, types.FunctionType) and _is_c_level(kind.__new__)
        if not plain or libraries.is_plain(kind.__module__) or init.__code__.co_filename == "<string>":
            return kind

        def construct(*args: Any, **kwargs: Any) -> Any:
            made = kind.__new__(kind, *args, **kwargs) if issubclass(kind, BaseException) else object.__new__(kind)
            self.replacement(init)(made, *args, **kwargs)
            return made

        return construct

    def _builtin(self, function: Any) -> Any:
        owner = getattr(function, "__self__", None)
        if _changes_attributes(function):
            return AttributeSetter(self.trace, function)
        if op_of(function) is not None:
            only_staged = not _is_impure(function) and _is_scalar_function(function)
            return Recorded(self.trace, function, only_staged)
        if type(owner) is np.ndarray:
            return Method(self.outside.array(owner), function.__name__)
        if isinstance(owner, _CONTAINERS):
            return Mutator(self.trace, owner, function)
        if isinstance(owner, str):
            return TextMethod(self.trace, owner, function)
        if _is_impure(function):
            return Recorded(self.trace, function)
        return Recorded(self.trace, function, only_staged=True)


def _makes_classes(code: types.CodeType) -> bool:
    """Whether a function, or one within, has a `class` statement."""
    if dis.opmap["LOAD_BUILD_CLASS"] in code.co_code[::2]:
        return True
    return any(_makes_classes(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))


def _hides_its_state(kind: type) -> bool:
    """Whether what a class makes of staged values is known only when the graph runs: a date, a fraction, a matrix."""
    if is_users(kind):
        return issubclass(kind, (np.ndarray, Number, str))
    return not issubclass(kind, BaseException) and kind.__module__.partition(".")[0] in _OPAQUE_MODULES


_OPAQUE_MODULES = frozenset("numpy fractions decimal datetime array calendar uuid".split())


def _is_c_level(new: Any) -> bool:
    return isinstance(new, types.BuiltinFunctionType)


def _is_scalar_function(function: Any) -> bool:
    return getattr(function, "__module__", None) in ("math", "cmath", "builtins", "_operator", "operator")


def _is_impure(function: Any) -> bool:
    """Whether what a function gives or does differs from call to call: it runs when the graph runs."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, _IMPURE_TYPES) or hasattr(owner, "fileno"):
        return True
    module = getattr(function, "__module__", None)
    if module is None and owner is not None:
        module = (owner if isinstance(owner, type) else type(owner)).__module__
    if str(module).startswith("numpy.random"):
        return not isinstance(function, type)
    return libraries.is_impure(str(module), getattr(function, "__name__", ""))


class Recorded:
    """A function that is not traced into: calls of it are recorded.

    Args:
        only_staged: call it at once if no argument is staged, unless it makes an array, which each run needs anew.
    """

    __slots__ = ("__wrapped__", "only_staged", "trace")

    def __init__(self, trace: Trace, function: Any, only_staged: bool = False) -> None:
        self.trace = trace
        self.__wrapped__ = function
        self.only_staged = only_staged

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.__wrapped__
        if self.only_staged and not _has_staged(args) and not _has_staged(kwargs):
            for part in (getattr(function, "__self__", None), *args, *kwargs.values()):
                if isinstance(part, _CONTAINERS):
                    self.trace.journal.touch(part)
                self.trace.journal.advance(part)
            result = function(*args, **kwargs)
            if not _makes_array(result):
                return result
        if is_iterator(getattr(function, "__self__", None)):
            raise Plain(f"{name_of(function)} is given what is staged", self.trace.place())
        if isinstance(function, types.MethodType) or getattr(function, "__self__", None) is not None:
            method = f".{function.__name__}"
            if isinstance(function.__self__, _IMPURE_TYPES) and op_of(function) is None:
                return self.trace.record(method, (function.__self__, *args), kwargs)
        return self.trace.record_function(function, args, kwargs)

    @property
    def stands_for(self) -> Any:
        """What it is, on a path that is not the only one."""
        return self.__wrapped__

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__wrapped__, name)
        return Recorded(self.trace, value, self.only_staged) if callable(value) and not name.startswith("_") else value

    def __repr__(self) -> str:
        return f"<recorded {name_of(self.__wrapped__)}>"


def _has_staged(args: Any) -> bool:
    """Whether there are handles, or arrays from outside, among nested arguments."""
    if type(args) in (list, tuple):
        return any(map(_has_staged, args))
    if type(args) is dict:
        return any(map(_has_staged, args.values()))
    return type(args) is np.ndarray or may_hold(args)


def _makes_array(result: Any) -> bool:
    if isinstance(result, (tuple, list)):
        return any(map(_makes_array, result))
    return isinstance(result, np.ndarray)


class Mutator:
    """A method of a list, dict or set, called in traced code."""

    __slots__ = ("function", "owner", "trace")

    def __init__(self, trace: Trace, owner: Any, function: Any) -> None:
        self.trace = trace
        self.owner = owner
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        owner, name = self.owner, self.function.__name__
        inside = held(owner)
        if name == "sort" and inside is None and kwargs.get("key") is not None and not may_hold(owner):
            return self._sort(kwargs)
        if inside is None and self._needs_values(name, args):
            inside = self.trace.materialise(owner)
        if inside is not None:
            return self.trace.record(f".{name}", (inside, *args), kwargs)
        if name not in _READERS:
            self.trace.journal.touch(owner)
        for part in args:
            self.trace.journal.advance(part)
        return self.function(*args, **kwargs)

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
        if name in ("sort", "index", "count", "remove"):
            return may_hold(owner) or may_hold(args)
        if name in ("pop", "insert", "get", "setdefault", "add", "discard", "__getitem__", "__setitem__"):
            return may_hold(args[:1])
        if name in ("extend", "update", "__iadd__"):
            return any(is_tensor(a) or held(a) is not None for a in args)
        return False


def _changes_attributes(function: Any) -> bool:
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

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.function
        owner = getattr(function, "__self__", None)
        thing = args[0] if args and (owner is None or owner is builtins) else owner
        if is_tensor(thing) or (any(map(is_tensor, args[1:2])) and owner is builtins):
            return Recorded(self.trace, function)(*args, **kwargs)
        if function not in (getattr, hasattr, vars) and (is_users(type(thing)) or isinstance(thing, type)):
            self.trace.journal.touch(thing)
        return function(*args, **kwargs)


class TextMethod:
    """A method of a str, called in traced code."""

    __slots__ = ("function", "owner", "trace")

    def __init__(self, trace: Trace, owner: str, function: Any) -> None:
        self.trace = trace
        self.owner = owner
        self.function = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = tuple(self.trace.collected(part) for part in args)
        if not may_hold(args) and not may_hold(kwargs):
            return self.function(*args, **kwargs)
        return self.trace.record(f".{self.function.__name__}", (self.owner, *args), kwargs)


class Module:
    """NumPy, `math` and their like, as traced code sees them: calls of what is in them are recorded."""

    def __init__(self, trace: Trace, module: types.ModuleType) -> None:
        vars(self)["_trace"] = trace
        vars(self)["_module"] = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        if libraries.is_impure(self._module.__name__) and not (callable(value) or isinstance(value, _CONSTANTS)):
            return self._trace.record("getattr", (Constant(self._module), name))
        return stand_in(self._trace, value)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, name, value)

    def __repr__(self) -> str:
        return repr(self._module)


def importer(original: Any, real: dict[str, Any], see: Callable[[Any], Any]) -> Callable[..., Any]:
    """What `import` calls in traced code of a module: `see` gives what it gets for the module that is imported."""

    def imported(name: str, globals: Any = None, *args: Any, **kwargs: Any) -> Any:
        return see(original(name, real, *args, **kwargs))

    return imported


def stand_in(trace: Trace, value: Any) -> Any:
    """What traced code sees in the place of a module or function that computes."""
    if isinstance(value, types.ModuleType):
        root = value.__name__.partition(".")[0]
        taken = root in _COMPUTING_MODULES or root in _CALLED_BACK or libraries.is_impure(root)
        return Module(trace, value) if taken else value
    if isinstance(value, type) or not callable(value) or is_tensor(value):
        return value
    if type(value) is types.BuiltinFunctionType and value in _BUILTINS:
        return AttributeSetter(trace, value) if _changes_attributes(value) else Recorded(trace, value)
    module = str(getattr(value, "__module__", None) or "").partition(".")[0]
    if module == "numpy" or isinstance(value, np.ufunc) or isinstance(getattr(value, "__self__", None), _IMPURE_TYPES):
        return Recorded(trace, value, only_staged=not _is_impure(value))
    if _is_impure(value):
        return Recorded(trace, value)
    return Recorded(trace, value, only_staged=True) if module in ("math", "cmath") or module in _CALLED_BACK else value

