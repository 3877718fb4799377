"""Calls of functions in traced code: some are traced into, some are recorded, some simply run."""

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
from typing import Any, NoReturn

import numpy as np

from autograph.common import pytree, trace_rules
from autograph.common.bytecode import looks_at_frames
from autograph.common.code_flags import is_compiled
from autograph.common.code_marks import is_converted, is_switch
from autograph.common.packages import is_called, is_opaque_class, package_of
from autograph.common.statics import class_attribute, class_has, is_a, names_of, own_attribute
from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.callables import looks_at_caller, may_look_at_caller
from autograph.runtime.graph.graph import Constant, Value
from autograph.runtime.graph.object_model import GENERATORS, is_users, makes_named_tuples, own_dict
from autograph.runtime.graph.opdef import op_of
from autograph.runtime.graph.types import TensorType
from autograph.runtime.ops.python import operators
from autograph.runtime.tracing.calls import python_versions
from autograph.runtime.tracing.calls.constructors import Constructing, makes_classes, underlying
from autograph.runtime.tracing.calls.derivative_budget import DerivativeBudget
from autograph.runtime.tracing.calls.handed_functions import does_something
from autograph.runtime.tracing.calls.modules import StandIns
from autograph.runtime.tracing.calls.recursion import Recursion
from autograph.runtime.tracing.calls.stand_ins import (
    CONTAINERS,
    AttributeSetter,
    Mutator,
    Recorded,
    TextMethod,
    changes_attributes,
    is_impure,
    is_scalar_function,
    unbound,
)
from autograph.runtime.tracing.environment.environment import CapturedEnvironment
from autograph.runtime.tracing.environment.source import Source
from autograph.runtime.tracing.proxies.graph_break import PACKAGE, Plain, Restart, Unjoinable
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

# Of a function, and whether it asks for all that is compared; a text says why the function has no source.
Converter = Callable[..., "types.FunctionType | str"]

_FRAMES = frozenset({"_getframe", "_getframemodulename"})  # asked for by who wants to know the caller's module
_UNBOUND = (types.MethodDescriptorType, types.WrapperDescriptorType)


class Caller(Constructing):
    """Decides what is called in the place of each function that traced code calls.

    Args:
        convert: gives the converted form of a function, the function itself, or why it has no source.
        budget: how much of installed packages is traced.
    """

    def __init__(
        self, trace: Trace, environment: CapturedEnvironment, convert: Converter, budget: DerivativeBudget
    ) -> None:
        super().__init__(trace, environment)
        self.convert = convert
        self._stand_ins = StandIns(trace, environment)
        self.names: set[str] = set()
        self.codes: list[types.CodeType] = []  # of what is traced
        self.free: set[str] = set()     # variables of the functions around what is traced
        self._made: dict[int, tuple[Any, Any]] = {}
        self._originals: dict[int, tuple[Any, Any]] = {}
        self._generators: list[weakref.ref[Any]] = []
        self._recursion = Recursion(trace)
        self.budget = budget

    def stand_in(self, value: Any) -> Any:
        return self._stand_ins(value)

    def original(self, function: Any) -> Any:
        """The user's function for the traced form of one."""
        found = self._originals.get(id(function))
        return function if found is None else found[1]

    def unwrapped(self, function: Any) -> Any:
        """What traced code would call, for what it calls in its place."""
        is_ours = type(function) is types.FunctionType and function.__code__.co_filename == __file__
        return function.__wrapped__ if is_ours else original_of(function)

    def traced(self, function: types.FunctionType) -> Callable[..., Any]:
        """The form of a Python function that is traced: converted, and with its own view of the world.

        A function without source is called when the graph runs.
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
            raise Plain(f"{function.__qualname__} looks at frames or at all globals", self.trace.place())
        if not is_converted(code) and does_something(code):
            reason = f"{function.__qualname__} has no source, or none that can be converted"
            raise Plain(f"{reason} ({converted})" if is_sourceless else reason, self.trace.place())
        if isinstance(converted, str):
            self.trace.report("callback", f"{function.__qualname__} is called when the graph runs: {converted}")
            return Recorded(self.trace, function)
        if self.trace.context.whole and converted is function:
            reason = f"{function.__qualname__}, which is not converted here, may compare what only the graph holds"
            raise Plain(reason, self.trace.place())
        found = _instructions(code)
        for instruction, what in _UNTRACED.items():
            if dis.opmap[instruction] in found:
                raise Plain(f"{function.__qualname__} {what}", self.trace.place())
        if dis.opmap["MATCH_CLASS"] in found:   # which asks abstract classes, too
            names = {"token": abc.get_cache_token, "registered": abc.get_cache_token()}
            self.environment.guard(("token() == registered", names), "what is registered with abstract classes")
        if "RecursionError" in code.co_names:
            raise Plain(f"{function.__qualname__} depends on the depth of its recursion", self.trace.place())
        if self._originals and not trace_rules.is_own(function.__code__.co_filename):  # this is not the function itself
            self._guard_code(function)
        self._note_names(code)
        cells = zip(code.co_freevars, converted.__closure__ or ())
        closure = tuple(self.environment.cell(cell, name) for name, cell in cells)
        defaults = self._defaults(function, "__defaults__", function.__defaults__)
        names = self.environment.globals_of(converted.__globals__)
        made = types.FunctionType(code, names, function.__name__, defaults, closure)
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
            return tuple(self.environment.see(value, source.item(at)) for at, value in enumerate(values))
        return {key: self.environment.see(value, source.item(key)) for key, value in values.items()}

    def _guard_code(self, function: types.FunctionType) -> None:
        """See to it that a function is as it was typed, as IPython's autoreload gives functions other code."""
        known, code = f"function_{id(function)}", f"code_{id(function)}"
        names = {known: function, code: function.__code__}
        self.environment.guard((f"{known}.__code__ is {code}", names), f"the code of {function.__qualname__}")

    def _note_names(self, code: types.CodeType) -> None:
        self.codes.append(code)
        self.names.update(code.co_names)
        self.free.update(code.co_freevars)
        for constant in code.co_consts:
            if type(constant) is types.CodeType:
                self._note_names(constant)
            elif type(constant) in (str, tuple):  # for `hasattr`, and for patterns that `match` an object
                texts = constant if type(constant) is tuple else (constant,)
                self.names.update([text for text in texts if type(text) is str and text.isidentifier()])

    # Calls ------------------------------------------------------------------------------------------------------------

    @on_behalf
    def replacement(self, function: Any) -> Any:
        """What to call for `function`."""
        kind = type(function)
        if kind in (Method, Tensor, Mutator) or issubclass(kind, StandIn):
            return function
        if _is_marked(function):
            return Recorded(self.trace, function)
        if class_has(kind, "__ag_traced__"):
            return function.__ag_traced__(self.trace)
        self.trace.context.meet(function)
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
            return self.constructor(function)
        if is_opaque_class(kind):
            return Recorded(self.trace, function)
        method = class_attribute(kind, "__call__")
        if is_users(kind) and method is None:
            return function     # it cannot be called, as Python will say
        if is_users(kind) and type(inner := underlying(method)) is types.FunctionType:
            return self._method(types.MethodType(inner, function))
        if kind in _UNBOUND and issubclass(function.__objclass__, CONTAINERS):
            return unbound(self.trace, function)
        if kind in (types.BuiltinFunctionType, types.MethodWrapperType, types.WrapperDescriptorType):
            return self._builtin(function)
        if op_of(function) is not None or isinstance(function, np.ufunc) or is_impure(function):
            return Recorded(self.trace, function)
        inner = own_attribute(function, "__ag_inline__")
        if inner is not None:
            if type(inner) is types.FunctionType and (package := is_called(inner)):
                raise Restart({(PACKAGE, package)})     # it is staged, so its package takes part
            return self.replacement(inner)
        if type(method) is types.FunctionType:
            return types.MethodType(self._python_function(method), function)
        if kind.__module__ == "builtins":
            return function
        only_staged = not (isinstance(function, functools._lru_cache_wrapper) or package_of(function))
        return Recorded(self.trace, function, only_staged)

    def _python_function(self, function: types.FunctionType) -> Any:
        if isinstance(function.__globals__, Fallback):
            return self._inlined(function, function)
        if is_switch(function):
            return self.replacement(vars(function)["__wrapped__"])
        if makes_named_tuples(function):
            return function
        if op_of(function) is not None or is_impure(function):
            return Recorded(self.trace, function)
        if trace_rules.is_plain(str(function.__globals__.get("__name__"))):
            if function.__module__ == "typing" or not _FRAMES.isdisjoint(function.__code__.co_names):
                return function
            return Recorded(self.trace, function, only_staged=not _runs_users(function))
        if package := is_called(function):
            if is_converted(function.__code__):
                raise Restart({(PACKAGE, package)})     # by the import hook, so the user has named it
            return Recorded(self.trace, function)
        traced = self.traced(function)
        return traced if type(traced) is Recorded else self._inlined(traced, function)

    def _compiled(self, function: Any) -> NoReturn:
        reason = f"{function.__qualname__} is compiled, has no source, and may change what is read here"
        raise Plain(reason, self.trace.place())

    def close_generators(self) -> str:
        """End the generators that are left, while this is a trace still: what they do then must not be done later.

        Returns the name of one that had begun, if any.
        """
        left = ""
        for generator in [found for each in self._generators if (found := each()) is not None]:
            left = generator.__name__ if inspect.getgeneratorstate(generator) == inspect.GEN_SUSPENDED else left
            with contextlib.suppress(BaseException):  # whatever comes of it, the trace is thrown away
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
            self._recursion.enter(traced, args, kwargs)
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
                self._recursion.leave(traced)
            if type(result) is types.GeneratorType:
                self._generators.append(weakref.ref(result))
                result = TracedIterator(trace, result)
            if loosened and is_tensor(result):
                what = f"what {function.__name__} returns"
                raise Unjoinable(what, "one object", "another", loosened[-1], trace.place())
            return result

        inlined.__ag_original__ = function  # type: ignore[attr-defined]
        return inlined

    def _spread(self, function: types.FunctionType, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Arguments for a function, of which one stands for any number: as many as there are parameters for them."""
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
        if is_tensor(owner):        # `x.__add__(y)` is not `x + y`, which asks `y`, too
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
        if pytree.is_nested(function.__self__) and trace_rules.is_plain(str(inner.__globals__.get("__name__"))):
            return function
        replaced = self._python_function(inner)
        if type(replaced) is Recorded:
            return Recorded(self.trace, function, only_staged=replaced.only_staged)
        return types.MethodType(replaced, function.__self__)

    def _looking(self, function: Any) -> Any:
        """What to call for a function that looks at the frame of its caller."""

        @on_behalf
        def looking(*args: Any, **kwargs: Any) -> Any:
            if looks_at_caller(function, args, kwargs):
                raise Plain(f"{function.__name__} inspects its caller", self.trace.place())
            return self._builtin(function)(*args, **kwargs)

        return looking

    def _builtin(self, function: Any) -> Any:
        owner = own_attribute(function, "__self__")
        if changes_attributes(function):
            return AttributeSetter(self.trace, function)
        if function is object.__new__:
            return self._new
        if function is operator.is_ or function is operator.is_not:  # which would compare copies
            return self.replacement(python_versions.is_ if function is operator.is_ else python_versions.is_not)
        if is_a(owner, BaseException) and function.__name__ == "add_note":
            return functools.partial(self.replacement(python_versions.add_note), owner)
        if op_of(function) is not None:
            only_staged = not is_impure(function) and is_scalar_function(function)
            return Recorded(self.trace, function, only_staged)
        if type(owner) is np.ndarray:
            return Method(self.environment.array(owner), function.__name__)
        if id(function) in self.environment.bound and self.environment.find(owner) is None:
            raise Plain(f"a method of a {type(owner).__name__} is called that is nowhere else", self.trace.place())
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
        """`object.__new__`: another object in each run, unless traced code looks into it."""
        only_staged = isinstance(kind, type) and is_users(kind)
        return Recorded(self.trace, object.__new__, only_staged)(kind, *args, **kwargs)

    def _reduce(self, recorded: Recorded) -> Any:
        """What to call for `functools.reduce`, which is traced into if it goes through something staged."""

        @on_behalf
        def reduce(*args: Any, **kwargs: Any) -> Any:
            items = _staged_sequence(args[1]) if len(args) in (2, 3) and not kwargs else None
            if items is None:
                return recorded(*args, **kwargs)
            first = args[2:]
            if not first:
                if is_tensor(items) and not has_items(items._ag_value):
                    self.trace.record("check_some", (items,))
                first, items = (items[0],), items[1:]
            return self.replacement(python_versions.reduce)(args[0], items, *first)

        return reduce


def _is_marked(function: Any) -> bool:
    """Whether `do_not_convert` has marked a function, an object or its class."""
    marked = function.__func__ if type(function) is types.MethodType else function
    own = names_of(marked) if is_a(marked, type) else own_dict(marked)
    by_itself = isinstance(own, Mapping) and own.get("__ag_do_not_convert__") is True
    return by_itself or class_attribute(type(marked), "__ag_do_not_convert__") is True


def _staged_sequence(items: Any) -> Any:
    """An array or list of the graph, or a list or tuple of what is staged; None for anything else."""
    items = as_tensor(items) if is_staged(items) else items
    if not is_tensor(items):
        return items if type(items) in (list, tuple) and contains_proxy(items) else None
    found = items._ag_value.type
    is_sequence = bool(found.shape) if isinstance(found, TensorType) else found.name in ("list", "tuple")
    return items if is_sequence else None


def _runs_users(function: types.FunctionType) -> bool:
    """Whether a function of a library wraps one of the user's, such as what `contextlib.contextmanager` makes."""
    inner = getattr(function, "__wrapped__", None)
    return type(inner) is types.FunctionType and not trace_rules.is_plain(str(inner.__globals__.get("__name__")))


_UNTRACED = {"LOAD_BUILD_CLASS": "defines a class", "DELETE_GLOBAL": "deletes a global variable"}


def _instructions(code: types.CodeType) -> set[int]:
    """The instructions of a function and of those within, each once."""
    found = set(code.co_code[::2])
    for constant in code.co_consts:
        if type(constant) is types.CodeType:
            found |= _instructions(constant)
    return found
