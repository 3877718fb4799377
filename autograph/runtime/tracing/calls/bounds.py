"""Bounds of tracing into functions: of recursion, and of installed packages.

Tracing a recursion under staged conditions may not end. A recursion that ends gets other numbers, shorter lists or
other objects; if a function calls itself with the same ones again and again, the data determine its depth.

A derivative has to go through the functions of installed packages, so they are traced, although the user has not named
these packages. A solver may record millions of operations. Beyond a budget, the derivative is refused.
"""

from __future__ import annotations

import inspect
import sys
from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any, NamedTuple, TypeAlias

from autograph.common.packages import package_of_function
from autograph.common.statics import is_a
from autograph.errors import DerivativeError
from autograph.runtime.graph.graph import Constant, Place
from autograph.runtime.graph.object_model import is_open, is_users_object
from autograph.runtime.graph.signature import Signature
from autograph.runtime.graph.static_keys import static_key
from autograph.runtime.graph.types import TensorType
from autograph.runtime.tracing.calls.graph_objects import keys_of
from autograph.runtime.tracing.calls.itself import is_variadic, recorded_itself
from autograph.runtime.tracing.calls.nested_functions import Lifted, NestedFunctions
from autograph.runtime.tracing.proxies.graph_break import ALONE, ITSELF, OPAQUE, Failed, Restart, TooDeep
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.state.blame import line_of
from autograph.runtime.tracing.state.staged_containers import StagedItems, has_staged_items
from autograph.runtime.tracing.state.trace import Trace
from autograph.runtime.tracing.state.undo_log import Fallback, attributes, contents


class HelperForms(NamedTuple):
    """Forms of functions that the graph may call, where only data decide how deep they recurse.

    Attributes:
        staged: gives the staged form of a function, or None.
        lifted: gives the lifted form of a nested function, or None: see `NestedFunctions`.
    """

    staged: Callable[[FunctionType], Any]
    lifted: Callable[[FunctionType, CodeType], Lifted | None]


Helpers: TypeAlias = "HelperForms | None"

_NO_HELPERS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
DEEP = 25  # nested calls of a function by itself
ALIKE = 4  # of these with the same arguments, as far as they are known
OFTEN = 500  # of these, without any condition, for staged numbers
MANY = 100  # calls of functions by themselves in one trace
LONG = 64  # items of a container that are compared
BUDGET = 20_000  # operations and calls within installed packages, in one trace


class Recursion:
    """The calls of functions by themselves in one trace.

    Args:
        root: the function that is traced.
        signature: that of the trace.
        helpers: as for `trace_function`.

    Attributes:
        staged: the staged functions that are called, by identity of the plain ones.
        nested: the nested functions; None if the graph may call no others.
    """

    def __init__(self, trace: Trace, root: Any, signature: Signature, helpers: Helpers) -> None:
        self.trace = trace
        self._helpers = helpers
        self.nested = None if helpers is None else NestedFunctions(trace, helpers.lifted, helpers.staged)
        self.root = root
        self.staged: dict[int, Any] = {}
        self._signature = signature
        self._inside = 0  # the open calls of the root by itself
        self._open: dict[int, list[Any]] = {}  # by function: the arguments of its open calls
        self._count = 0
        self._repeated = 0  # the calls of functions by themselves for staged values

    def begin(self, traced: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Note that the traced form of the root begins."""
        if self._may_record and type(traced) is FunctionType:
            self._open[id(traced.__code__)] = [self._facts(traced, [*args, *kwargs.items()])]

    def enter(self, function: Any, traced: FunctionType, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Note that a function is traced into.

        Raises:
            Restart: the graph shall call it.
            TooDeep, Plain: it is called by itself once too often.
        """
        calls = self._open.setdefault(id(traced.__code__), [])
        is_root = function is self.root
        if calls and self._is_long(function, args, len(calls)):
            self._call(function, args)
        try:
            facts = self._note(traced, calls, [*args, *kwargs.items()], 1 if is_root and self._may_record else ALIKE)
        except TooDeep:
            if self._may_record and (is_root or self._inside):
                raise Restart({(OPAQUE, self.root.__code__)}) from None
            self._call(function, args)
            if self._count > MANY:
                self.trace.graph_break(f"{traced.__name__} calls itself too often to be traced")
            raise
        calls.append(facts)
        self._inside += is_root

    def _is_long(self, function: Any, args: Sequence[Any], depth: int) -> bool:
        """Whether a function calls itself so that it should rather not be traced into further."""
        are_numbers = all(map(_may_be_number, args))
        if are_numbers and function is not self.root and any(map(is_tensor, args)):
            self._repeated += 1
        if not self.trace.tests:
            return are_numbers and function is not self.root and self._repeated > OFTEN
        is_nested = type(function) is FunctionType and isinstance(function.__globals__, Fallback)
        return (is_nested and are_numbers) or (depth >= ALIKE and _is_deep())

    def replacement(self, function: FunctionType) -> Callable[..., Any] | None:
        """The function that traced code calls in place of a nested one, if that calls itself; None otherwise."""
        if self.nested is None or (OPAQUE, function.__code__) not in self.trace.context.late:
            return None
        found = self.nested.replacement(function)
        if found is not None:
            reason = f"{function.__qualname__} is called when the graph runs, as it calls itself"
            self.trace.report("callback", reason)
        return found

    def leave(self, function: Any, traced: FunctionType) -> None:
        """Note that it has ended."""
        self._open[id(traced.__code__)].pop()
        self._inside -= function is self.root

    def recorded(self, traced: Any) -> Callable[..., Any]:
        """The function that traced code calls instead of the root, given the traced form of that."""
        return recorded_itself(self.trace, self.root, traced, self._signature, self.staged.get(id(self.root)))

    def helper(self, function: FunctionType) -> Constant | None:
        """The staged form of a function that calls itself, which the graph calls in its place, if there is one."""
        is_odd = function.__closure__ or function.__kwdefaults__ or function.__code__.co_flags & _NO_HELPERS
        if self._helpers is None or is_odd:
            return None
        found = self.staged.get(id(function)) or self._helpers.staged(function)
        if found is None:
            return None
        facts = {f"function_{id(function)}": function, f"code_{id(function)}": function.__code__}
        facts[f"defaults_{id(function)}"] = function.__defaults__
        known, code, defaults = facts
        test = f"({known}.__code__ is {code} and {known}.__defaults__ is {defaults})"
        self.trace.context.environment.guard((test, facts), f"the code of {function.__qualname__}")
        return Constant(found)

    def call(self, function: FunctionType) -> None:
        """Ask for a call by the graph of a method that an object only known to the graph calls again within it.

        Raises:
            Restart: the graph may call it.
        """
        key = OPAQUE, function.__code__
        if key not in self.trace.context.late and self.helper(function) is not None:
            raise Restart({key})

    def _call(self, function: Any, args: Sequence[Any]) -> None:
        """Ask for a call of a function by the graph, in a loop on its own, or in its staged form, if it may do so.

        Raises:
            Restart: it may.
        """
        is_known = type(function) is FunctionType and not isinstance(function.__globals__, Fallback)
        is_nested = type(function) is FunctionType and not is_known
        if is_nested and self.nested is not None and self.nested.can_call(function):
            raise Restart({(OPAQUE, function.__code__)}) from None
        is_staged = is_known and self.helper(function) is not None
        if is_staged:
            keys = keys_of(self.trace.context.environment, filter(is_users_object, args)) - self.trace.context.late
            if keys:
                raise Restart(keys)
        if ALONE in self.trace.context.late or (is_staged and not any(map(is_users_object, args))):
            raise Restart({(OPAQUE, function.__code__)}) from None

    @property
    def _may_record(self) -> bool:
        """Whether the graph may call the root."""
        return ITSELF in self.trace.context.late and not is_variadic(self.root)

    def _note(self, function: FunctionType, calls: Sequence[Any], args: list[Any], alike: int) -> Any:
        trace = self.trace
        if not calls or not (trace.depth or alike == 1):
            return None
        is_tested = bool(trace.tests)   # else it is only in loops
        self._count += is_tested
        facts = self._facts(function, args)
        if self._count > MANY or (len(calls) >= DEEP and is_tested) or calls.count(facts) >= alike:
            raise TooDeep([*trace.tests], function.__name__, trace.place())
        return facts

    def _facts(self, function: FunctionType, args: list[Any]) -> Any:
        return _known(args + [part for cell in function.__closure__ or () for part in contents(cell).values()])


def _may_be_number(value: Any) -> bool:
    """Whether a value is a number, or is one when the graph runs as far as its type says."""
    if not is_tensor(value):
        return type(value) in (int, float, bool)
    known = value._ag_value.type
    return not isinstance(known, TensorType) or known.kind != "array"


def _is_deep() -> bool:
    """Whether most of the levels are used that Python allows: tracing takes several for each of the program's."""
    frame, most = sys._getframe(), sys.getrecursionlimit() // 2
    for _ in range(most):
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return True


def _known(value: Any, depth: int = 4) -> Any:
    """The facts about a value that are known while tracing, to be compared.

    They refer to no staged items: `settle` looks through all objects for what has further references to these.
    """
    if is_tensor(value):
        return value._ag_value.type
    if type(value) is StagedItems:
        return StagedItems, id(value.tensor)
    if has_staged_items(value) and is_a(value, (set, deque)):
        return type(value), [_known(part) for part in value if type(part) is StagedItems]
    if is_a(value, (list, tuple)):
        return type(value), len(value), [_known(part, depth - 1) for part in value[:LONG]] if depth else ()
    if is_a(value, dict) or is_open(type(value)):
        parts = list((value if is_a(value, dict) else attributes(value)).items())
        pairs = parts[:LONG] if depth else ()
        return id(value), len(parts), [(_known(key, depth - 1), _known(part, depth - 1)) for key, part in pairs]
    return static_key(value)


class DerivativeBudget:
    """The operations and calls of a trace within functions of some packages.

    Args:
        packages: the packages that are traced because a derivative goes through them.

    Attributes:
        exceeded: whether the budget was exceeded.
    """

    def __init__(self, trace: Trace, packages: Collection[str]) -> None:
        self.exceeded = False
        self._trace = trace
        self._packages = packages
        self._spent = 0  # by calls that have ended
        self._begin = 0  # the number of operations before the outermost call
        self._outermost: tuple[FunctionType, Place] | None = None  # the function and place of that call

    def enter(self, function: FunctionType) -> bool:
        """Note that a traced function begins; returns whether `leave` must be called when it ends.

        Raises:
            Failed: the budget is exceeded.
        """
        if not self._packages or package_of_function(function) not in self._packages:
            return False
        is_outermost = self._outermost is None
        if is_outermost:
            self._begin, self._outermost = self._trace.recorded, (function, self._trace.place())
        self._spent += 1
        self._check()
        return is_outermost

    def leave(self) -> None:
        """Note that the outermost call has ended."""
        self._check()
        self._spent += self._trace.recorded - self._begin
        self._outermost = None

    def _check(self) -> None:
        if self._spent + self._trace.recorded - self._begin <= BUDGET:
            return
        self.exceeded = True
        assert self._outermost is not None, "operations are counted within a call"
        function, place = self._outermost
        package = package_of_function(function)
        raise Failed(
            DerivativeError(
                f"a derivative goes through {function.__qualname__} of the installed package {package}, which takes "
                f"more than {BUDGET:,} operations and calls to trace. Let it be traced all the same, by "
                f"ag.function(…, trace_packages={package!r}), or give its derivative yourself, by ag.custom_gradient",
                *line_of(place),
            )
        )
