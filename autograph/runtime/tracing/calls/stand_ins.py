"""Stand-ins for functions and methods that are not traced into, for traced code to call."""

from __future__ import annotations

import builtins
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograph.common import trace_rules
from autograph.common.statics import class_has, is_a, module_of, own_attribute
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.callables import full_name_of
from autograph.runtime.graph.graph import Constant
from autograph.runtime.graph.object_model import GENERATORS, is_made_anew, is_open, is_users, is_users_object
from autograph.runtime.graph.opdef import op_of
from autograph.runtime.graph.traits import CONSUMES
from autograph.runtime.graph.types import ObjectType, length_of
from autograph.runtime.tracing.calls.user_operators import by_keys
from autograph.runtime.tracing.environment.process_settings import (
    asks_locale,
    asks_registry,
    fields,
    guard_locale,
    guarded,
)
from autograph.runtime.tracing.proxies.proxy import as_arrays, is_tensor, overrides
from autograph.runtime.tracing.proxies.stand_in import DESCRIPTION, StandIn
from autograph.runtime.tracing.state.iterators import is_iterator, is_staged_here, iterables_of_graph, traced
from autograph.runtime.tracing.state.mutation import check_no_state
from autograph.runtime.tracing.state.staged_containers import as_tensor, contains_proxy, is_staged, staged_as
from autograph.runtime.tracing.state.trace import Trace

MANAGERS = (np.errstate, np.printoptions, warnings.catch_warnings)  # context managers that the graph enters
_IMPURE = {id(each): each for each in (*MANAGERS, np.frompyfunc, np.test)}
# Functions of NumPy that read or change its settings, read or write files, or print.
_SETTINGS = frozenset(
    """seterr geterr seterrcall geterrcall setbufsize getbufsize set_printoptions get_printoptions array2string
    array_repr array_str datetime_as_string fromfile fromregex genfromtxt load loadtxt memmap open_memmap save savetxt
    savez savez_compressed info show_config show_runtime test dump tofile""".split()
)
CONTAINERS = (list, dict, set, deque, bytearray)
_READERS = frozenset("get keys values items copy count index union intersection difference issubset issuperset".split())


def is_scalar_function(function: Any) -> bool:
    return own_attribute(function, "__module__") in ("math", "cmath", "builtins", "_operator", "operator")


def is_impure(function: Any) -> bool:
    """Whether the results or effects of a function differ from call to call, so that the graph must call it."""
    owner = own_attribute(function, "__self__")
    if type(owner) is not types.ModuleType and (isinstance(owner, GENERATORS) or class_has(type(owner), "fileno")):
        return True
    module = own_attribute(function, "__module__")
    if module is None and owner is not None:
        module = module_of(owner if is_a(owner, type) else type(owner))
    if str(module).startswith("numpy.random"):
        return not isinstance(function, type)
    name = own_attribute(function, "__name__", "")
    if id(function) in _IMPURE:
        return True
    if name in _SETTINGS and str(module).startswith("numpy"):
        return True
    return trace_rules.is_impure(str(module), name) or name == "__subclasses__"


class TraceStandIn(StandIn):
    """A stand-in for a function in one trace."""

    __slots__ = ("trace",)

    def __init__(self, trace: Trace, function: Any) -> None:
        super().__init__(function)
        self.trace = trace


class Recorded(TraceStandIn):
    """A function that is not traced into: calls of it are recorded.

    Args:
        only_staged: call it at once if no argument is staged, unless it makes an array or another mutable object, which
            each run needs anew.
        called: the function that the graph calls in its place, if any.
    """

    __slots__ = ("called", "only_staged")
    __doc__, __module__ = DESCRIPTION

    def __init__(self, trace: Trace, function: Any, only_staged: bool = False, called: Constant | None = None) -> None:
        super().__init__(trace, function)
        self.only_staged = only_staged
        self.called = called

    @on_behalf
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.__wrapped__
        is_ufunc = isinstance(own_attribute(function, "__self__", function), np.ufunc)
        if is_ufunc and any(map(overrides, (*args, *kwargs.values()))):
            return function(*args, **kwargs)  # as NumPy does
        of_numpy = is_ufunc or str(own_attribute(function, "__module__", "")).partition(".")[0] == "numpy"
        if of_numpy and own_attribute(function, "__name__", "") != "at":    # which wants an array
            args = as_arrays(self.trace, args)
            given, wanted = kwargs, kwargs.keys() - {"out"}
            kwargs = {name: as_arrays(self.trace, value) if name in wanted else value for name, value in given.items()}
            if kwargs.get("where") is not given.get("where"):   # of which NumPy asks for an array of bools
                self.trace.graph_break(f"{full_name_of(function)} gets where= by the method __array__ of an object")
        if _may_change(function, args):
            what = f"{full_name_of(function)} is called when the graph runs, and may change what is read here"
            self.trace.graph_break(what)
        parts = (*args, *kwargs.values())
        if self.only_staged and not (_has_staged(parts) or self._may_look_into(parts) or _asks(function, args, kwargs)):
            parts = (own_attribute(function, "__self__"), *parts)
            for part in parts:
                if isinstance(part, CONTAINERS):
                    self.trace.undo_log.touch(part)
            self.trace.context.environment.expose(parts)
            result = guarded(self.trace, lambda: function(*args, **kwargs), parts)
            if asks_locale(function, args):
                guard_locale(self.trace)
            self.trace.undo_log.changed()
            is_for_graph = is_iterator(result) and is_staged_here(self.trace)
            if not (is_for_graph or _makes_anew(result)):
                return traced(self.trace, result, args) if is_iterator(result) else result
            args = iterables_of_graph(self.trace, args) if is_for_graph else args
        if is_iterator(own_attribute(function, "__self__")):
            self.trace.graph_break(f"{full_name_of(function)} gets a staged value")
        if type(function) is types.MethodType or own_attribute(function, "__self__") is not None:
            method = f".{function.__name__}"
            if isinstance(function.__self__, GENERATORS) and op_of(function) is None:
                return self.trace.record(method, (function.__self__, *args), kwargs)
        return self.trace.record_function(function, args, kwargs, self.called)

    def _may_look_into(self, args: tuple[Any, ...]) -> bool:
        """Whether it is written in Python and gets an object of the user's, whose methods it may call."""
        function: Any = self.__wrapped__
        if type(function) is types.MethodType:
            function, args = function.__func__, (function.__self__, *args)
        return type(function) is types.FunctionType and any(map(is_users_object, args))

    @on_behalf
    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__wrapped__, name)
        return Recorded(self.trace, value, self.only_staged) if callable(value) and not name.startswith("_") else value


def _asks(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether arguments make a function depend on the outside world: the time "now", a registered codec."""
    owner = own_attribute(function, "__self__")
    if type(owner) is bytes and own_attribute(function, "__name__", "") == "decode":
        return asks_registry(args, kwargs)
    if (function is str or function is bytes) and len(args) + len(kwargs) > 1:
        return asks_registry(args[1:], kwargs)
    module = own_attribute(function, "__module__") or module_of(type(owner))
    return str(module).startswith("numpy") and any(map(_is_now, (*args, *kwargs.values())))


def _is_now(value: Any) -> bool:
    if type(value) in (str, bytes):
        return value.lower() in ("now", "today", b"now", b"today")
    return type(value) in (list, tuple) and any(map(_is_now, value))


def _may_change(method: Any, args: tuple[Any, ...]) -> bool:
    """Whether a call may change objects of traced code: by a special method, or through a view of a bytearray."""
    if method is memoryview:
        return any(type(part) is bytearray for part in args)
    is_special = type(method) is types.FunctionType and method.__name__.startswith(_CHANGING)
    return is_special and bool(args) and is_users_object(args[0])


_CHANGING = ("__set", "__del", "__i", "__enter", "__exit", "__call")


def _has_staged(args: Any) -> bool:
    """Whether proxies or arrays are among nested arguments."""
    if type(args) in (list, tuple):
        return any(map(_has_staged, args))
    if type(args) is dict:
        return any(map(_has_staged, args.values()))
    return type(args) is np.ndarray or contains_proxy(args)


def _makes_anew(result: Any) -> bool:
    if issubclass(type(result), (tuple, list)):
        return any(map(_makes_anew, result))
    return isinstance(result, np.ndarray) or is_made_anew(type(result))


class IteratorMaker(TraceStandIn):
    """A class of `itertools`, called in traced code."""

    __slots__ = ()
    __doc__, __module__ = DESCRIPTION

    @on_behalf
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_staged_here(self.trace) or any(map(_is_of_open_length, (*args, *kwargs.values()))):
            return self.trace.record_function(self.__wrapped__, iterables_of_graph(self.trace, args), kwargs)
        return traced(self.trace, self.__wrapped__(*args, **kwargs), args)


class DequeMaker(TraceStandIn):
    """The class `deque`, called in traced code: `deque(xs, n)` is an object of the graph if only that knows `n`."""

    __slots__ = ()
    __doc__, __module__ = DESCRIPTION

    @on_behalf
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        limits = (*args[1:], *kwargs.values())
        is_limited = len(limits) == 1 and is_tensor(limits[0]) and kwargs.keys() <= {"maxlen"}
        if not is_limited or not (is_tensor(args[0]) or type(args[0]) in (list, tuple) if args else True):
            return deque(*args, **kwargs)
        made = self.trace.record("call", (deque, *args), kwargs)
        made._ag_value.type = ObjectType(deque.__name__)
        self.trace.classes[made._ag_value] = deque
        return made


def maker_of(trace: Trace, kind: type) -> TraceStandIn | None:
    """The stand-in for a class of the standard library whose objects the graph may have to make."""
    if kind is deque:
        return DequeMaker(trace, kind)
    return IteratorMaker(trace, kind) if module_of(kind) == "itertools" and issubclass(kind, Iterator) else None


def _is_of_open_length(part: Any) -> bool:
    """Whether a value is staged, and no array of a known length."""
    return is_staged(part) and length_of(as_tensor(part)._ag_value.type) is None


class _BuiltinMethod:
    """A method of an object of a builtin class. It is no dataclass, as `Method` is none."""

    __slots__ = ("function", "owner", "trace")

    def __init__(self, trace: Trace, owner: Any, function: Any) -> None:
        self.trace = trace
        self.owner = owner
        self.function = function


class Mutator(_BuiltinMethod):
    """A method of a list, dict or set, called in traced code."""

    __slots__ = ()

    @on_behalf
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        owner, name = self.owner, self.function.__name__
        inside = staged_as(owner)
        if f".{name}" in CONSUMES:
            args = tuple(map(self.trace.context.collected, args))
        if name == "sort" and inside is None and kwargs.get("key") is not None and not contains_proxy(owner):
            return self._sort(kwargs)
        if inside is None and self._needs_values(name, args, kwargs):
            inside = self.trace.materialize(owner)
        if inside is not None:
            return self.trace.record(f".{name}", (inside, *args), kwargs)
        if name not in _READERS:
            self.trace.undo_log.touch(owner)
        try:
            return self.function(*args, **kwargs)
        finally:
            self.trace.undo_log.changed()

    @on_behalf
    def _sort(self, kwargs: dict[str, Any]) -> None:
        """Sort a list by keys that may be staged."""
        items = by_keys(self.trace, sorted, self.owner, kwargs)
        if is_tensor(items):
            self.trace.record("setitem", (self.trace.materialize(self.owner), slice(None), items))
        else:
            self.trace.undo_log.touch(self.owner)
            self.owner[:] = items

    def _needs_values(self, name: str, positional: tuple[Any, ...], keywords: dict[str, Any]) -> bool:
        """Whether the method looks at staged values."""
        owner, args = self.owner, (*positional, *keywords.values())
        is_in_python = type(self.function) is types.MethodType     # as the methods of a Counter are
        if is_in_python or name in ("sort", "index", "count", "remove", "__str__", "__repr__"):
            return contains_proxy(owner) or contains_proxy(args)
        if name in ("pop", "insert", "get", "setdefault", "add", "discard", "__getitem__", "__setitem__"):
            return contains_proxy(args[:1])
        if f".{name}" in CONSUMES:
            return any(map(is_staged, positional))      # `update` keeps its keywords
        return False


def changes_attributes(function: Any) -> bool:
    """Whether a function is `setattr` or the like, or a method such as `object.__setattr__`."""
    if isinstance(function, types.BuiltinFunctionType):
        is_state = function.__name__ == "__setstate__" and is_a(function.__self__, BaseException)
        return function in (setattr, delattr, getattr, hasattr, vars) or is_state
    owner = own_attribute(function, "__self__")
    return function.__name__ in _ATTRIBUTE_METHODS and (owner is None or _is_logged(owner))


def _is_logged(thing: Any) -> bool:
    """Whether the undo log notes the attributes of a thing."""
    return is_users(type(thing)) or is_open(type(thing)) or is_a(thing, BaseException)


_ATTRIBUTE_METHODS = frozenset({"__setattr__", "__delattr__", "__getattribute__", "__init__", "__init_subclass__"})


# Where the arguments of functions that set and delete attributes have the name, from the end.
_PLACES_OF_NAMES = {"setattr": 2, "__setattr__": 2, "delattr": 1, "__delattr__": 1}


class AttributeSetter(TraceStandIn):
    """A function that sets, deletes or reads attributes, called in traced code."""

    __slots__ = ()
    __doc__, __module__ = DESCRIPTION

    @on_behalf
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.__wrapped__
        owner = own_attribute(function, "__self__")
        thing = args[0] if args and (owner is None or owner is builtins) else owner
        if function in (setattr, delattr) and any(map(is_tensor, args[1:2])):
            self.trace.unstageable("the name of an attribute that is set is known only when the graph runs")
        place = _PLACES_OF_NAMES.get(function.__name__, 0)
        if 0 < place <= len(args):
            check_no_state(self.trace, thing, args[-place])
        if is_tensor(thing) or (any(map(is_tensor, args[1:2])) and owner is builtins):
            return Recorded(self.trace, function)(*args, **kwargs)
        if function not in (getattr, hasattr, vars) and (_is_logged(thing) or isinstance(thing, type)):
            self.trace.undo_log.touch(thing)
        return function(*args, **kwargs)


def unbound(trace: Trace, function: Any) -> Callable[..., Any]:
    """The replacement of `list.append`, `dict.update` and the like."""

    @on_behalf
    def of_owner(*args: Any, **kwargs: Any) -> Any:
        if not args or not isinstance(args[0], CONTAINERS):
            return Recorded(trace, function, only_staged=True)(*args, **kwargs)
        return Mutator(trace, args[0], function.__get__(args[0]))(*args[1:], **kwargs)

    return of_owner


class TextMethod(_BuiltinMethod):
    """A method of a str, called in traced code."""

    __slots__ = ()

    @on_behalf
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        args = tuple(self.trace.context.collected(part) for part in args)
        name = self.function.__name__
        if not (contains_proxy(args) or contains_proxy(kwargs) or (name == "encode" and asks_registry(args, kwargs))):
            specs = fields(self.owner) if name in ("format", "format_map") else ()
            return guarded(self.trace, lambda: self.function(*args, **kwargs), (), specs)
        return self.trace.record(f".{self.function.__name__}", (self.owner, *args), kwargs)
