"""Calls in traced code: functions and classes are traced into, recorded as an op or callback, or simply run."""

from __future__ import annotations

import abc
import contextlib
import dis
import functools
import inspect
import operator
import sys
import types
import weakref
from collections.abc import Callable, Mapping
from copy import copy, deepcopy
from enum import Enum
from numbers import Number
from pathlib import PurePath
from typing import Any, NoReturn

import numpy as np

from autograph.common import pytree, trace_rules
from autograph.common.bytecode import looks_at_frames
from autograph.common.code_flags import codes_in, is_compiled
from autograph.common.code_marks import front_of, is_converted, is_staged_function, is_switch
from autograph.common.packages import is_called, is_opaque_class, package_of
from autograph.common.statics import class_attribute, class_has, is_a, module_of, names_of, own_attribute
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.callables import looks_at_caller, may_look_at_caller
from autograph.runtime.graph.graph import Constant, Value
from autograph.runtime.graph.object_model import (
    GENERATORS,
    is_made_anew,
    is_users,
    is_written,
    makes_named_tuples,
    own_dict,
)
from autograph.runtime.graph.opdef import op_of
from autograph.runtime.graph.types import TensorType
from autograph.runtime.ops.python import operators
from autograph.runtime.tracing.calls import python_versions
from autograph.runtime.tracing.calls.bounds import DerivativeBudget, Recursion
from autograph.runtime.tracing.calls.copying import copier
from autograph.runtime.tracing.calls.graph_objects import maker
from autograph.runtime.tracing.calls.handed_functions import has_effects
from autograph.runtime.tracing.calls.modules import StandIns, is_plain_function
from autograph.runtime.tracing.calls.stand_ins import (
    CONTAINERS,
    MANAGERS,
    AttributeSetter,
    Mutator,
    Recorded,
    TextMethod,
    changes_attributes,
    is_impure,
    is_scalar_function,
    maker_of,
    unbound,
)
from autograph.runtime.tracing.environment.environment import CapturedEnvironment
from autograph.runtime.tracing.environment.object_source import Source
from autograph.runtime.tracing.environment.process_settings import guard_setting
from autograph.runtime.tracing.proxies.context import Calls
from autograph.runtime.tracing.proxies.graph_break import (
    OPAQUE,
    PACKAGE,
    UNWATCHED,
    Restart,
    Unjoinable,
)
from autograph.runtime.tracing.proxies.proxy import Method, Tensor, is_tensor, method_name, unpack
from autograph.runtime.tracing.proxies.stand_in import StandIn, original_of
from autograph.runtime.tracing.state.blame import calls_programs
from autograph.runtime.tracing.state.element_types import has_items
from autograph.runtime.tracing.state.iterators import TracedIterator
from autograph.runtime.tracing.state.staged_containers import (
    STAGEABLE,
    StagedItems,
    as_tensor,
    contains_proxy,
    is_spread,
    is_staged,
)
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import PATCHED, Fallback

# From a function, and whether to mark the operands of comparisons; a text says why the function has no source.
Converter = Callable[..., "types.FunctionType | str"]

_FRAMES = frozenset({"_getframe", "_getframemodulename"})  # names in functions that look for their caller's module
_FUNCTIONS = (types.FunctionType, types.MethodType)
_UNKNOWN = (None, None)
# Names in functions that may read the attributes of an object, or of its class, around its `__getattribute__`.
_BARE = frozenset("__dict__ __get__ __getattribute__ __getstate__ __reduce__ __reduce_ex__ getmembers vars".split())
_UNBOUND = (types.MethodDescriptorType, types.WrapperDescriptorType)

# Modules of known libraries whose classes hide their contents from traced code.
_OPAQUE_MODULES = frozenset("numpy fractions decimal datetime array calendar uuid".split())


class Caller(Calls):
    """Decides what traced code calls instead of each function and class.

    Args:
        convert: returns the converted form of a function, the function itself, or the reason why it has no source.
        budget: the budget for tracing installed packages.
        recursion: the open calls of functions by themselves.

    Attributes:
        names: the names in the text of traced code.
        codes: the code that is traced.
        free: the variables of the functions around traced code.
        sentinels: the results of `object()` in traced code, with their proxies.
    """

    def __init__(
        self, trace: Trace, environment: CapturedEnvironment, convert: Converter, budget: DerivativeBudget,
        recursion: Recursion,
    ) -> None:  # fmt: skip
        self.trace = trace
        self.environment = environment
        self.convert = convert
        self._stand_ins = StandIns(trace)
        self.names: set[str] = set()
        self.codes: list[types.CodeType] = []
        self.free: set[str] = set()
        self.sentinels: dict[int, tuple[object, Tensor]] = {}
        self._made: dict[int, tuple[Any, Any]] = {}
        # The replacements of functions, by identity; those of methods, by those of the function and the class.
        self._replaced: dict[int | tuple[int, int], tuple[Any, Any]] = {}
        self._originals: dict[int, tuple[Any, Any]] = {}
        self._generators: list[weakref.ref[Any]] = []
        self.recursion = recursion
        self.budget = budget

    def stand_in(self, value: Any) -> Any:
        return self._stand_ins(value)

    def original(self, function: Any) -> Any:
        """The user's function of which this is the traced form."""
        found = self._originals.get(id(function))
        return function if found is None else found[1]

    def unwrapped(self, function: Any) -> Any:
        """The function that traced code names, given its replacement or stand-in."""
        is_ours = type(function) is types.FunctionType and function.__code__.co_filename == __file__
        return getattr(function, "__wrapped__", function) if is_ours else original_of(function)

    def traced(self, function: types.FunctionType) -> Callable[..., Any]:
        """The traced form of a Python function: converted, with globals and cells of its own.

        The graph calls a function without source.
        """
        if isinstance(function.__globals__, Fallback):
            return function
        found = self._made.get(id(function))
        if found is None:
            found = self._made[id(function)] = function, self._instantiate(function)
        return found[1]

    def _instantiate(self, function: types.FunctionType) -> Callable[..., Any]:
        converted = self.convert(function)
        is_sourceless = isinstance(converted, str)
        code = (function if isinstance(converted, str) else converted).__code__
        if looks_at_frames(function):
            self.trace.graph_break(f"{function.__qualname__} looks at frames or at all globals")
        if not is_converted(code) and has_effects(code):
            reason = f"{function.__qualname__} has no source, or none that can be converted"
            self.trace.graph_break(f"{reason} ({converted})" if is_sourceless else reason)
        if isinstance(converted, str):
            self.trace.report("callback", f"{function.__qualname__} is called when the graph runs: {converted}")
            return Recorded(self.trace, function)
        if self.trace.context.whole and converted is function:
            reason = f"{function.__qualname__}, which is not converted here, may compare what only the graph holds"
            self.trace.graph_break(reason)
        found = set[int]().union(*(each.co_code[::2] for each in codes_in(code)))
        for instruction, what in _UNTRACED.items():
            if dis.opmap[instruction] in found:
                self.trace.graph_break(f"{function.__qualname__} {what}")
        if dis.opmap["MATCH_CLASS"] in found:   # which asks abstract classes, too
            guard_setting(self.trace, abc.get_cache_token, "what is registered with abstract classes")
        if "RecursionError" in code.co_names:
            self.trace.graph_break(f"{function.__qualname__} depends on the depth of its recursion")
        if self._originals and not trace_rules.is_own(function.__code__.co_filename):  # the signature guards the first
            self._guard_code(function)
        self._note_names(code)
        if self.recursion.nested is not None:
            self.recursion.nested.note(function, code)
        cells = zip(code.co_freevars, converted.__closure__ or ())
        closure = tuple(self.environment.cell(cell, name) for name, cell in cells)
        front = front_of(function)
        defaults = self._defaults(front, "__defaults__", front.__defaults__)
        names = self.environment.globals_of(converted.__globals__)
        made = types.FunctionType(code, names, function.__name__, defaults, closure)
        made.__kwdefaults__ = self._defaults(front, "__kwdefaults__", front.__kwdefaults__)
        made.__qualname__ = function.__qualname__
        self._originals[id(made)] = made, function
        return made

    def _defaults(self, function: Any, name: str, values: Any) -> Any:
        if not values:
            return values
        text = f"{function.__name__}.{name}"
        source = Source("getattr", (Constant(function), name), f"function.{name}", (("function", function),), text)
        if isinstance(values, tuple):
            return tuple(self.environment.capture(value, source.item(at)) for at, value in enumerate(values))
        return {key: self.environment.capture(value, source.item(key)) for key, value in values.items()}

    def _guard_code(self, function: types.FunctionType) -> None:
        """Guard the code of a function, which IPython's autoreload replaces."""
        known, code, front = f"function_{id(function)}", f"code_{id(function)}", front_of(function)
        test = f"{known}.__code__ is {code}"
        if front is not function:   # its code changes with the tiers, see `code_marks.staged`
            test = f"({test} or {known}.__code__.co_consts[-2] is {code})"
        names = {known: front, code: function.__code__}
        self.environment.guard((test, names), f"the code of {function.__qualname__}")

    def _note_names(self, code: types.CodeType) -> None:
        self.codes += (codes := codes_in(code))
        for each in codes:
            self.names.update(each.co_names)
            self.free.update(each.co_freevars)
        for constant in (constant for each in codes for constant in each.co_consts):
            if type(constant) in (str, tuple):  # of `hasattr`, and of patterns that match attributes
                texts = constant if type(constant) is tuple else (constant,)
                self.names.update([text for text in texts if type(text) is str and text.isidentifier()])
        if UNWATCHED not in self.trace.context.late and not _BARE.isdisjoint(self.names):
            raise Restart({UNWATCHED})

    # Calls ------------------------------------------------------------------------------------------------------------

    @on_behalf
    def replacement(self, function: Any) -> Any:
        """The function to call instead of `function`."""
        kind = type(function)
        if kind in _FUNCTIONS and (known := self._known_replacement(function)) is not None:
            return known
        if kind in (Method, Tensor, Mutator) or issubclass(kind, StandIn):
            return function
        if _is_marked(function):
            return Recorded(self.trace, function)
        if class_has(kind, "__ag_traced__"):
            return function.__ag_traced__(self.trace)
        self.trace.context.instrument(function)
        if may_look_at_caller(function):
            return self._looking(function)
        if makes_classes(function):
            return self.class_maker(function)
        if kind is types.FunctionType:
            return self._python_function(PATCHED.get(id(function), function))
        if kind is types.MethodType:
            return self._method(function)
        if is_compiled(function) and not package_of(function):
            return self._compiled(function)
        if kind is functools.partial:
            return functools.partial(self.replacement(function.func), *function.args, **function.keywords)
        if issubclass(kind, type):
            return maker(self.trace, function, self.constructor(function))
        if is_opaque_class(kind):
            return Recorded(self.trace, function)
        method = class_attribute(kind, "__call__")
        if is_users(kind) and method is None:
            return function     # Python raises that it cannot be called
        if is_users(kind) and type(inner := underlying(method)) is types.FunctionType:
            return self.replacement(types.MethodType(inner, function))
        if kind in _UNBOUND and issubclass(function.__objclass__, CONTAINERS):
            return unbound(self.trace, function)
        if kind in (types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType):
            return self._builtin(function)
        if op_of(function) is not None or isinstance(function, np.ufunc) or is_impure(function):
            return Recorded(self.trace, function)
        inner = own_attribute(function, "__ag_inline__")
        if inner is not None:
            return self._behind(function, inner)
        if type(method) is types.FunctionType:
            return types.MethodType(self._python_function(method), function)
        if module_of(kind) == "builtins":
            return function
        only_staged = not (isinstance(function, functools._lru_cache_wrapper) or package_of(function))
        return Recorded(self.trace, function, only_staged)

    def _known_replacement(self, function: Any) -> Any:
        """The replacement of a function or method that has been called before; None if it is unknown."""
        if type(function) is types.FunctionType:
            return self._replaced.get(id(function), _UNKNOWN)[1]
        owner = function.__self__
        replaced = self._replaced.get((id(function.__func__), id(type(owner))), _UNKNOWN)[1]
        if replaced is None:
            return None
        self.trace.context.instrument(owner)
        return types.MethodType(replaced, owner)

    def _python_function(self, function: types.FunctionType) -> Any:
        if isinstance(function.__globals__, Fallback):
            return self.recursion.replacement(function) or self._inlined(function, function)
        if is_switch(function):
            inner = vars(function)["__wrapped__"]
            return self._behind(function, inner) if is_staged_function(function) else self.replacement(inner)
        if makes_named_tuples(function):
            return function
        if (OPAQUE, function.__code__) in self.trace.context.late:
            if function is self.recursion.root:
                return self.recursion.recorded(self.traced(function))
            reason = f"{function.__qualname__} is called when the graph runs, as it calls itself"
            self.trace.report("callback", reason)
            return Recorded(self.trace, function, called=self.recursion.helper(function))
        if op_of(function) is not None or is_impure(function):
            return Recorded(self.trace, function)
        if is_plain_function(function):
            if function.__module__ == "typing" or not _FRAMES.isdisjoint(function.__code__.co_names):
                return function
            return Recorded(self.trace, function, only_staged=not _wraps_users_function(function))
        if package := is_called(function):
            if is_converted(function.__code__):
                raise Restart({(PACKAGE, package)})     # the user has named it to the import hook
            return Recorded(self.trace, function)
        if function is copy or function is deepcopy:
            made = copier(self.trace, function, lambda *args, **kwargs: self._traced_into(function)(*args, **kwargs))
        else:
            made = self._traced_into(function)
        if type(made) is not Recorded:
            self._replaced[id(function)] = function, made
        return made

    def _behind(self, staged: Any, inner: Any) -> Any:
        """The replacement of the function behind a staged one, whose package is traced, too."""
        if type(inner) is types.FunctionType:
            if package := is_called(inner):
                raise Restart({(PACKAGE, package)})
            self.recursion.staged[id(inner)] = staged
            front, names = front_of(inner), ("__defaults__", "__kwdefaults__")
            if any(getattr(staged, name) is not getattr(front, name) for name in names):
                self.trace.graph_break(f"{inner.__qualname__} is staged several times, with different defaults")
        return self.replacement(inner)

    def _traced_into(self, function: types.FunctionType) -> Any:
        traced = self.traced(function)
        return traced if type(traced) is Recorded else self._inlined(traced, function)

    def _compiled(self, function: Any) -> NoReturn:
        self.trace.graph_break(f"{function.__qualname__} is compiled, has no source, and may change what is read here")

    def close_generators(self) -> str:
        """Close the generators that have not ended, while the trace is still open.

        Returns the name of one that had begun, if any.
        """
        left = ""
        for generator in [found for each in self._generators if (found := each()) is not None]:
            left = generator.__name__ if inspect.getgeneratorstate(generator) == inspect.GEN_SUSPENDED else left
            with contextlib.suppress(BaseException):  # the trace is discarded then
                generator.close()
        return left

    def _inlined(self, traced: Any, function: Any) -> Any:
        trace = self.trace

        @functools.wraps(function)
        @on_behalf
        @calls_programs
        def inlined(*args: Any, **kwargs: Any) -> Any:
            if trace.staged_items and is_spread(args):
                args = self._spread(function, args)
            trace.budget.step()
            self.recursion.enter(function, traced, args, kwargs)
            outer, is_budgeted = trace.location.enter(sys._getframe()), False
            loosened: list[Value] = []
            trace.loosened.append(loosened)
            try:
                is_budgeted = self.budget.enter(function)
                result = traced(*args, **kwargs)
                if is_budgeted:
                    self.budget.leave()
            finally:
                trace.loosened.pop()
                trace.location.leave(outer)
                self.recursion.leave(function, traced)
            if type(result) is types.GeneratorType:
                self._generators.append(weakref.ref(result))
                result = TracedIterator(trace, result)
            if loosened and is_tensor(result):
                what = f"what {function.__name__} returns"
                raise Unjoinable(what, "one object", "another", loosened[-1], trace.place())
            return result

        return inlined

    def _spread(self, function: types.FunctionType, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Arguments for a function, one of which represents any number: as many as there are parameters for them."""
        code = function.__code__
        at = next(position for position, part in enumerate(args) if type(part) is StagedItems)
        count = code.co_argcount - len(args) + 1
        if code.co_flags & inspect.CO_VARARGS and at >= code.co_argcount:
            return args
        takes_more = code.co_flags & inspect.CO_VARARGS or function.__defaults__
        if takes_more or is_spread(args[at + 1 :]) or count < 0:
            args[at]._refuse()
        return (*args[:at], *unpack(self.trace, args[at].tensor, count), *args[at + 1 :])

    def _method(self, function: types.MethodType) -> Any:
        owner: Any = function.__self__
        if is_tensor(owner):        # `x.__add__(y)` differs from `x + y`, which also tries `y.__radd__`
            name = method_name(function)
            return Method(owner, name) if name else functools.partial(self.replacement(function.__func__), owner)
        if type(owner) in STAGEABLE:
            return Mutator(self.trace, owner, function)
        if is_opaque_class(type(owner)) and not issubclass(type(owner), type):
            return functools.partial(self.replacement(function.__func__), self.environment.array(owner))
        inner: Any = PATCHED.get(id(function.__func__), function.__func__)
        if isinstance(function.__self__, GENERATORS) or op_of(function) is not None:
            return Recorded(self.trace, function)
        if type(inner) is not types.FunctionType:
            return self._compiled(inner) if is_compiled(inner) else function
        if pytree.is_nested(function.__self__) and is_plain_function(inner):
            return function
        replaced = self._python_function(inner)
        if type(replaced) is Recorded:
            return Recorded(self.trace, function, only_staged=replaced.only_staged)
        if inner is function.__func__ and id(inner) in self._replaced:
            self._replaced[id(inner), id(type(owner))] = (inner, type(owner)), replaced
        return types.MethodType(replaced, owner)

    def _looking(self, function: Any) -> Any:
        """The replacement of a function that looks at the frame of its caller."""

        @on_behalf
        def looking(*args: Any, **kwargs: Any) -> Any:
            if looks_at_caller(function, args, kwargs):
                self.trace.graph_break(f"{function.__name__} inspects its caller")
            return self._builtin(function)(*args, **kwargs)

        return looking

    def _builtin(self, function: Any) -> Any:
        owner = own_attribute(function, "__self__")
        if changes_attributes(function):
            return AttributeSetter(self.trace, function)
        if function is object.__new__:
            return self._new
        if function is operator.is_ or function is operator.is_not:  # in C, they would compare copies
            return self.replacement(python_versions.is_ if function is operator.is_ else python_versions.is_not)
        if is_a(owner, BaseException) and function.__name__ == "add_note":
            return functools.partial(self.replacement(python_versions.add_note), owner)
        if op_of(function) is not None:
            only_staged = not is_impure(function) and is_scalar_function(function)
            return Recorded(self.trace, function, only_staged)
        if type(owner) is np.ndarray:
            return Method(self.environment.array(owner), function.__name__)
        if id(function) in self.environment.bound and self.environment.find(owner) is None:
            self.trace.graph_break(f"a method of a {type(owner).__name__} is called that is nowhere else")
        if isinstance(owner, CONTAINERS):
            return Mutator(self.trace, owner, function)
        if isinstance(owner, str):
            return TextMethod(self.trace, owner, function)
        if is_impure(function):
            return Recorded(self.trace, function)
        if function in operators.FUNCTIONS:
            return function
        recorded = Recorded(self.trace, function, only_staged=not package_of(function))
        return self._reduce(recorded) if function is functools.reduce else recorded

    @on_behalf
    def _new(self, kind: Any = object, *args: Any, **kwargs: Any) -> Any:
        """`object.__new__`: another object in each run, unless its attributes are traced."""
        only_staged = isinstance(kind, type) and is_users(kind)
        return Recorded(self.trace, object.__new__, only_staged)(kind, *args, **kwargs)

    def _reduce(self, recorded: Recorded) -> Any:
        """The replacement of `functools.reduce`, which is traced into if its items are staged or an iterator's."""

        @on_behalf
        def reduce(*args: Any, **kwargs: Any) -> Any:
            items = _staged_items(args[1], len(args) == 3) if len(args) in (2, 3) and not kwargs else None
            if items is None:
                return recorded(*args, **kwargs)
            first = args[2:]
            if not first:
                if is_tensor(items) and not has_items(items._ag_value):
                    self.trace.record("check_some", (items,))
                first, items = (items[0],), items[1:]
            return self.replacement(python_versions.reduce)(args[0], items, *first)

        return reduce

    # Classes ----------------------------------------------------------------------------------------------------------

    def constructor(self, kind: type) -> Any:
        """The function to call instead of a class."""
        if kind is object:
            return self._sentinel
        if kind is np.ndarray:
            return self._new_array
        if issubclass(kind, type) or (issubclass(kind, Enum) and not kind.__members__):
            return self.class_maker(kind)
        if kind in MANAGERS or is_made_anew(kind) or trace_rules.depends_on_settings(str(module_of(kind))):
            return Recorded(self.trace, kind)
        if is_opaque_class(kind) and not (issubclass(kind, Enum) or makes_named_tuples(kind.__new__)):
            return Recorded(self.trace, kind, only_staged=issubclass(kind, BaseException))
        if op_of(kind) is not None or _hides_its_state(kind) or kind is memoryview:
            return Recorded(self.trace, kind, only_staged=True)
        if (maker := maker_of(self.trace, kind)) is not None:
            return maker
        if is_written(class_attribute(kind, "__del__")):
            self.trace.graph_break(f"{kind.__qualname__}.__del__ is called when an object is deleted")
        init, new = (PATCHED.get(id(each), each) for each in (kind.__init__, kind.__new__))
        is_other = type(kind).__call__ is not type.__call__ and not trace_rules.is_plain(module_of(type(kind)))
        if trace_rules.is_plain(module_of(kind)) or not (is_written(init) or is_written(new) or is_other):
            return kind
        if is_other:
            self.trace.graph_break(f"calls of {kind.__qualname__} are those of {type(kind).__qualname__}")

        @on_behalf
        def construct(*args: Any, **kwargs: Any) -> Any:
            make = self.replacement(new) if is_written(new) else new
            made = new(kind) if new is object.__new__ else make(kind, *args, **kwargs)
            if new is object.__new__:
                self.trace.context.note_made(made)
            if is_tensor(made):
                self.trace.graph_break(f"{kind.__qualname__}.__new__ makes an object of it")
            if is_written(init) and isinstance(made, kind):
                self.replacement(init)(made, *args, **kwargs)
            return made

        return construct

    @on_behalf
    def _new_array(self, *args: Any, **kwargs: Any) -> Any:
        """`np.ndarray(…)`: without memory of others, it is `np.empty`."""
        is_new = len(args) + len(kwargs) in (1, 2) and kwargs.keys() <= {"shape", "dtype"}
        is_known = is_new and (args or "shape" in kwargs)
        return (self.replacement(np.empty) if is_known else Recorded(self.trace, np.ndarray))(*args, **kwargs)

    @on_behalf
    def _sentinel(self, *args: Any, **kwargs: Any) -> object:
        """`object()`: traced code can distinguish it from others, and it is another one in each run."""
        made = object(*args, **kwargs)
        self.sentinels[id(made)] = made, self.trace.record_function(object, (), {})
        return made

    def class_maker(self, function: Any) -> Callable[..., Any]:
        """The replacement of `type`, or of a function that makes classes."""

        @on_behalf
        def make(*args: Any, **kwargs: Any) -> Any:
            if function is type and len(args) == 1:
                return Recorded(self.trace, type, only_staged=True)(original_of(*args), **kwargs)
            self.trace.graph_break(f"{function.__qualname__} makes a class")

        return make


def _is_marked(function: Any) -> bool:
    """Whether `do_not_convert` has marked a function, an object or its class."""
    marked = function.__func__ if type(function) is types.MethodType else function
    own = names_of(marked) if is_a(marked, type) else own_dict(marked)
    by_itself = isinstance(own, Mapping) and own.get("__ag_do_not_convert__") is True
    return by_itself or class_attribute(type(marked), "__ag_do_not_convert__") is True


def _staged_items(items: Any, or_iterator: bool) -> Any:
    """An array or list of the graph, or a list or tuple with staged values; None for anything else but an iterator."""
    items = as_tensor(items) if is_staged(items) else items
    if or_iterator and type(items) is TracedIterator and items.is_passive:
        return items
    if not is_tensor(items):
        return items if type(items) in (list, tuple) and contains_proxy(items) else None
    found = items._ag_value.type
    is_sequence = bool(found.shape) if isinstance(found, TensorType) else found.name in ("list", "tuple")
    return items if is_sequence or (or_iterator and not isinstance(found, TensorType)) else None


def _wraps_users_function(function: types.FunctionType) -> bool:
    """Whether a function of a library wraps one of the user's, as those of `contextlib.contextmanager` do."""
    inner = getattr(function, "__wrapped__", None)
    return type(inner) is types.FunctionType and not is_plain_function(inner)


_UNTRACED = {"LOAD_BUILD_CLASS": "defines a class", "DELETE_GLOBAL": "deletes a global variable"}


def makes_classes(function: Any) -> bool:
    """Whether a function of the standard library makes classes."""
    return type(function) is types.FunctionType and trace_rules.makes_classes(function.__module__, function.__name__)


def underlying(function: Any) -> Any:
    """The Python function behind a staged one, or a static method such as `__new__`; anything else as it is."""
    function = function.__func__ if isinstance(function, staticmethod) else function
    return function.__ag_inline__ if hasattr(type(function), "__ag_inline__") else function


def _hides_its_state(kind: type) -> bool:
    """Whether instances of a class hide staged values from traced code, as a date or a matrix does."""
    if is_users(kind):
        return issubclass(kind, (np.ndarray, Number, str))
    module = str(module_of(kind))
    is_opaque = module.partition(".")[0] in _OPAQUE_MODULES or trace_rules.is_impure(module)
    return is_opaque and not issubclass(kind, (BaseException, PurePath))
