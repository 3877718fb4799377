"""The backend that records converted code as a graph. Only this module imports both operators and the graph runtime."""

from __future__ import annotations

import builtins
import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FunctionType, GeneratorType
from typing import Any

import numpy as np

from autograph.common.trace_rules import on_behalf
from autograph.operators import backend as protocol
from autograph.operators.backend import Mapped, Several
from autograph.operators.loops import for_stmt
from autograph.operators.state import State, reached_by
from autograph.operators.tracebacks import full_tracebacks
from autograph.runtime.graph.effects import tame
from autograph.runtime.graph.graph import Constant, Value
from autograph.runtime.graph.object_model import is_users
from autograph.runtime.graph.traits import COMBINES_ITEMS, COMPARES_ITEMS, DIGITS, STRUCTURAL, TAKES_NO_ITEMS
from autograph.runtime.graph.types import BOOL, MaybeUnbound, TensorType, length_of
from autograph.runtime.tracing.calls.stand_ins import CONTAINERS, MANAGERS
from autograph.runtime.tracing.calls.user_operators import (
    by_keys,
    contains,
    has_iteration,
    has_truth,
    is_object,
    iterated,
    of_objects,
    special,
    truth,
)
from autograph.runtime.tracing.comprehensions import (
    LAZY,
    Generated,
    StagedCondition,
    as_generated,
    collect,
    collected,
    first_of,
    generator,
    is_long,
    iterator_of,
    mapping,
    run_over,
)
from autograph.runtime.tracing.control_flow.cond import Thunk, branch, stage_if
from autograph.runtime.tracing.control_flow.python_loops import ForLoop, WhileLoop
from autograph.runtime.tracing.control_flow.speculation import unrolling
from autograph.runtime.tracing.environment.process_settings import guarded, specs_in
from autograph.runtime.tracing.proxies.graph_break import WHOLE, Raised, Restart, handled
from autograph.runtime.tracing.proxies.proxy import is_tensor
from autograph.runtime.tracing.proxies.stand_in import StandIn, original_of
from autograph.runtime.tracing.reductions import decide, extreme, to_sum, total
from autograph.runtime.tracing.state.blame import interrupting
from autograph.runtime.tracing.state.exceptions import raise_in_graph
from autograph.runtime.tracing.state.iterators import TracedIterator, unowned
from autograph.runtime.tracing.state.mutation import (
    UNCHANGING,
    ConstantRef,
    ContainerRef,
    Entered,
    ObjectRef,
    stage_addition,
)
from autograph.runtime.tracing.state.staged_containers import (
    as_tensor,
    compared,
    contains_proxy,
    drained,
    has_staged_items,
    is_spread,
    is_staged,
    watched,
)
from autograph.runtime.tracing.state.trace import CURRENT, Trace

_MAKERS = (type(np.r_).__mro__[1], type(np.mgrid).__mro__[1])  # their items are new arrays


class GraphBackend(protocol.Backend):
    """Stages the values of the graph that this thread is tracing."""

    name = "graph"
    maps = True

    @contextmanager
    def trace(self, trace: Trace) -> Iterator[None]:
        """Within it, `trace` records the code that runs in this thread."""
        CURRENT.traces.append(trace)
        try:
            with full_tracebacks(), protocol.traced_by(self):
                yield
        finally:
            CURRENT.traces.pop()

    @property
    def current(self) -> Trace:
        return CURRENT.traces[-1]

    def owns(self, value: Any) -> bool:
        return is_staged(value) or has_truth(value)

    @on_behalf
    def if_stmt(self, test: Any, body: Thunk, orelse: Thunk | None, state: State) -> Any:
        return branch(self.current, truth(self.current, test), body, orelse, state)

    @on_behalf
    def if_exp(self, test: Any, body: Thunk, orelse: Thunk) -> Any:
        test = truth(self.current, test)
        if not is_staged(test):
            return body() if test else orelse()
        return stage_if(self.current, as_tensor(test), body, orelse, reached_by(body, orelse), loose=False)

    def while_stmt(self, first: Any, test: Thunk, body: Thunk, state: State, until: Thunk | None, options: Any) -> Any:
        trace = self.current
        rule = unrolling(options, trace)
        WhileLoop(trace, body, state, until, rule, lambda: truth(trace, test())).run(truth(trace, first))

    @on_behalf
    def for_stmt(self, iterable: Any, body: Any, state: State, until: Thunk | None, options: Any, first: Any) -> Any:
        exclusive = type(iterable) is not TracedIterator or iterable.is_exclusive(_COUNTING.holders)
        if first is True:
            iterable = iterated(self.current, iterable)
        if type(iterable) is np.ndarray:
            iterable = self.current.context.environment.array(iterable)
        rule = unrolling(options, self.current)
        run_over(ForLoop(self.current, body, state, until, rule, exclusive), iterable)

    def truth(self, value: Any) -> Any:
        return truth(self.current, value)

    @on_behalf
    def and_(self, first: Any, rest: Sequence[Thunk], test: bool = False) -> Any:
        from autograph.operators.logical import and_

        return self._logical(and_, True, first, rest, test)

    @on_behalf
    def or_(self, first: Any, rest: Sequence[Thunk], test: bool = False) -> Any:
        from autograph.operators.logical import or_

        return self._logical(or_, False, first, rest, test)

    @on_behalf
    def _logical(self, operator: Callable[..., Any], go_on: bool, first: Any, rest: Sequence[Thunk], test: bool) -> Any:
        """`and` or `or`; the truth of the first operand decides, unless it is `go_on`."""
        last: Thunk = rest[0] if len(rest) == 1 else lambda: operator(*rest, test=test)
        others: Thunk = (lambda: truth(self.current, last())) if test else last
        decides = truth(self.current, first)
        if not is_staged(decides):
            return others() if bool(decides) is go_on else not go_on if test else first
        body, orelse = (others, lambda: first) if go_on else (lambda: first, others)
        return stage_if(self.current, as_tensor(decides), body, orelse, reached_by(*rest), loose=False)

    @on_behalf
    def not_(self, value: Any) -> Any:
        value = truth(self.current, value)
        return self.current.record("not", (as_tensor(value),)) if is_staged(value) else not value

    @interrupting
    @on_behalf
    def in_(self, element: Any, container: Any) -> Any:
        found = contains(self.current, element, container)
        if found is not NotImplemented:
            return found
        if not contains_proxy(element) and not contains_proxy(container):
            return NotImplemented
        if special(container, "__iter__") is not None and not hasattr(type(container), "__contains__"):
            found = self.gen_exp(container, lambda item: self._is_one(item, element), None, True)
            return self._of_generator("any", (found,), {})
        return self.current.context.objects.operator(self.current, "in", (element, container))

    @on_behalf
    def _is_one(self, item: Any, element: Any) -> Any:
        staged = is_staged(item) or is_staged(element)
        return self.current.record("in", (element, (item,))) if staged else element in (item,)

    @interrupting
    def is_(self, first: Any, second: Any) -> Any:
        if first is not None and second is not None:
            self.current.replacements.check(first, second)
        if self.current.tuples.may_be_one(first, second):
            return self._is_one_of_graph(first, second)
        if first is second or not (is_tensor(first) or is_tensor(second)):
            return self.current.context.aliases.is_one(first, second)
        staged = [self.current.use(each) for each in (first, second) if is_tensor(each)]
        if len(staged) == 1 and staged[0].type == BOOL and isinstance(second if is_tensor(first) else first, bool):
            constant, flag = (second, first) if is_tensor(first) else (first, second)
            return flag if constant else self.current.record("not", (flag,))
        if first is None or second is None:
            are_different = _is_something(self.current, staged[0])
        else:
            are_different = not self._may_be_same(staged, first if is_tensor(second) else second)
        return NotImplemented if are_different else self._is_one_of_graph(first, second)

    def _is_one_of_graph(self, *things: Any) -> Any:
        """Whether two things are one object, which only the graph knows; of tuples it knows only those from outside."""
        tuples = self.current.tuples
        if any(isinstance(each, tuple) and each and not tuples.has_identity(each) for each in things):
            self.current.graph_break("the identity of a tuple that was made here matters")
        for each in things:
            if isinstance(each, (str, bytes, np.dtype, slice)):  # the graph may have any equal one
                self.current.graph_break(f"it matters which of several equal {type(each).__name__} objects one is")
            if not (is_tensor(each) or isinstance(each, tuple)):
                self.current.context.aliases.pin(each)
        return self.current.record("is", tuple(tuples.lower(e) if isinstance(e, tuple) else e for e in things))

    def _may_be_same(self, staged: list[Value], other: Any) -> bool:
        """Whether only the graph knows if two things, one or both of them staged, are one object."""
        if len(staged) == 1 and type(other) is np.ndarray:
            staged = [*staged, self.current.use(self.current.context.environment.array(other))]
        if len(staged) == 1:
            return self.current.known_class(staged[0]) in (None, type(other))
        arrays = all(isinstance(each.type, TensorType) and each.type.kind == "array" for each in staged)
        return not arrays or not set(staged) <= set(self.current.graph.params)  # the signature tells them apart

    @interrupting
    def concrete(self, value: Any, parts: bool, inside: bool) -> Any:
        """`value`, before code that is not staged looks at its identity or structure."""
        if inside and has_staged_items(value):
            self.current.graph_break(
                "code that is not staged looks into a container whose items are known only when the graph runs"
            )
        if parts and not inside and self.current.tuples.is_joined(value):
            self.current.graph_break("the identity of a tuple matters to code that is not staged")
        if is_tensor(value):
            used = self.current.use(value)
            is_plain = isinstance(used.type, TensorType) if parts else _is_something(self.current, used)
            if not is_plain and not parts and not self.current.context.whole:
                raise Restart({WHOLE})
            if not is_plain or used.type == BOOL:  # which may be compared with True
                self.current.needs(value, "to know what it is, by code that is not staged")
        return value

    def bound(self, value: Any, free: bool) -> Any:
        return self.current.bound(value, free) if is_tensor(value) else NotImplemented

    def maybe_unbound(self, value: Any) -> Any:
        """The value of a variable that need not be bound, as an output of the graph, which is UNBOUND then."""
        if not is_tensor(value) or not isinstance(value._ag_value.type, MaybeUnbound):
            return value
        return self.current.record_lowered("call", (Constant(_same), value._ag_value))

    def whole(self, value: Any) -> Any:
        return compared(self.current, value)

    @interrupting
    @on_behalf
    def context(self, manager: Any) -> Any:
        trace = self.current
        if is_tensor(manager):
            node = trace.use(manager).node
            if node is None or node.op != "call" or node.args[0] not in MANAGERS or "record" in node.kwargs:
                trace.needs(manager, "to enter it, in code that is not staged")
            return Entered(trace, manager)
        if isinstance(manager, contextlib.AbstractContextManager) and not is_users(type(manager)):
            if not isinstance(manager, (contextlib.suppress, contextlib.nullcontext)):
                trace.graph_break(f"entering a {type(manager).__name__} runs code that is not staged")
        trace.plain_contexts.append(trace.place())
        return NotImplemented

    @on_behalf
    def assert_stmt(self, test: Any, message: Thunk | None) -> Any:
        def fail() -> None:
            raise_in_graph(self.current, AssertionError() if message is None else AssertionError(message()))

        branch(self.current, truth(self.current, test), lambda: None, fail, reached_by(message))

    @interrupting
    @on_behalf
    def raise_(self, exception: Any) -> Any:
        kind = exception if isinstance(exception, type) else type(exception)
        if is_tensor(exception) or (issubclass(kind, BaseException) and not issubclass(kind, Exception)):
            return Raised(exception)
        return NotImplemented

    @interrupting
    def call(self, function: Any) -> Any:
        return self.current.context.calls.replacement(function)

    @interrupting
    @on_behalf
    def ref(self, value: Any) -> Any:
        if is_tensor(value):
            return NotImplemented
        if type(value) is np.ndarray:
            return self.current.context.environment.array(value)
        if isinstance(value, (*CONTAINERS, *UNCHANGING)):
            return ContainerRef(self.current, value)
        if isinstance(value, _MAKERS):
            return ConstantRef(self.current, value)
        is_object = is_users(type(value)) or (hasattr(value, "__dict__") and not issubclass(type(value), StandIn))
        return ObjectRef(self.current, value) if is_object else NotImplemented

    @interrupting
    @on_behalf
    def add_item(self, thing: Any, key: Any, more: Any, first: Any) -> Any:
        return stage_addition(self.current, thing, key, more, first)

    @on_behalf
    def fstring(self, thunk: Thunk) -> Any:
        trace = self.current
        return guarded(trace, lambda: trace.fstring(thunk), (), specs_in(thunk.__code__))

    @on_behalf
    def percent(self, template: Any, value: Any) -> Any:
        if contains_proxy(value):
            return self.current.record("mod", (template, value))
        return guarded(self.current, lambda: template % value)

    # Comprehensions ---------------------------------------------------------------------------------------------------

    def list_comp(self, iterable: Any, element: Any, condition: Any, done: list[Any], first: Any) -> Any:
        return self._comprehension(iterable, (element,), condition, done, first, ".append")

    def set_comp(self, iterable: Any, element: Any, condition: Any, done: set[Any], first: Any) -> Any:
        return self._comprehension(iterable, (element,), condition, done, first, ".add")

    def dict_comp(self, iterable: Any, key: Any, value: Any, condition: Any, done: Any, first: Any) -> Any:
        return self._comprehension(iterable, (key, value), condition, done, first, "setitem")

    @on_behalf
    def _comprehension(self, iterable: Any, parts: Any, condition: Any, done: Any, first: Any, op: str) -> Any:
        source = iterated(self.current, iterable) if has_iteration(iterable) else watched(iterable)
        if first is True and source is not iterable:
            from autograph.operators import comprehensions

            operators = {".append": comprehensions.list_comp, ".add": comprehensions.set_comp}
            again: Any = operators.get(op, comprehensions.dict_comp)
            flat = {"flat": True} if isinstance(parts[0], Several) else {}
            return again(source, *parts, condition, **flat)
        generated = self._generated(iterable, parts, condition, first)
        if first is True and not is_staged(iterable) and not isinstance(iterable, Generated):
            return collect(generated, done, op) if is_long(generated) else NotImplemented
        return collect(generated, done, op)

    @on_behalf
    def gen_exp(self, iterable: Any, element: Any, condition: Any, first: Any) -> Any:
        if isinstance(element, Mapped):
            return _mapped(self, element.function, iterable)
        if first is True and has_iteration(iterable):
            from autograph.operators import comprehensions

            flat = isinstance(element, Several)
            return comprehensions.gen_exp(iterated(self.current, iterable), element, condition, flat=flat)
        made = self._generated(iterable, (element,), condition, first)
        made.is_expression = True
        if is_staged(iterable) or isinstance(iterable, Generated) or (first is True and is_long(made)):
            return made
        if type(iterable) not in (range, list, tuple):
            made.iterable = iter(watched(iterable))
        return generator(made)

    def _generated(self, iterable: Any, parts: tuple[Any, ...], condition: Any, first: Any) -> Generated:
        flattens = isinstance(parts[0], Several)
        reached = [part.function if isinstance(part, Several) else part for part in parts]
        return Generated(self.current, iterable, parts, condition, reached_by(*reached, condition), first, flattens)

    # Builtins ---------------------------------------------------------------------------------------------------------

    @interrupting
    @on_behalf
    def builtin(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        trace = self.current
        if any(map(is_object, args)):
            args, found = of_objects(trace, name, args)
            if found is NotImplemented:
                found = self._builtin(name, tuple(args), kwargs)
            return getattr(builtins, name)(*args, **kwargs) if found is NotImplemented else found
        return self._builtin(name, tuple(args), kwargs)

    @on_behalf
    def _builtin(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        trace = self.current
        if args and (found := self._of_generator(name, args, kwargs)) is not NotImplemented:
            return found
        if name == "print":
            return trace.record("print", args, dict(kwargs))
        if name == "next" and len(args) == 1 and "__next__" in trace.special_calls and is_staged(args[0]):
            trace.graph_break("the end of an iteration is known only when the program runs")
        if name in LAZY and args:
            return iterator_of(trace, name, args, kwargs)
        original, args = args, args if name in TAKES_NO_ITEMS else tuple(collected(trace, part) for part in args)
        if name in COMPARES_ITEMS or (name in COMBINES_ITEMS and type({}.values()) in map(type, args)):
            args = tuple(map(drained, args))
        if name == "sum" and args:
            args = (to_sum(args[0]), *args[1:])
        if name == "type" and len(args) == 1:
            if not is_tensor(args[0]):
                return GeneratorType if isinstance(args[0], Generated) else type(original_of(args[0]))
            return trace.known_class(trace.use(args[0])) or trace.record("type", args)
        staged = any(map(is_staged, args)) or is_spread(args)
        if name in COMPARES_ITEMS and kwargs.get("key") is not None and args and not (staged or contains_proxy(args)):
            return by_keys(trace, getattr(builtins, name), args[0] if len(args) == 1 else args, kwargs)
        if not staged and (name in STRUCTURAL or not (contains_proxy(args) or contains_proxy(dict(kwargs)))):
            if name in DIGITS:
                specs = args[1:] if name == "format" else ()
                return guarded(trace, lambda: getattr(builtins, name)(*args, **kwargs), args, specs)
            changed = any(a is not b for a, b in zip(args, original))
            return getattr(builtins, name)(*args, **kwargs) if changed else NotImplemented
        if name == "len" and is_tensor(args[0]) and (length := length_of(trace.type_of(args[0]))) is not None:
            return length
        if name == "len":
            return trace.context.objects.operator(trace, name, args)
        return trace.record(name, args, dict(kwargs))

    @on_behalf
    def _of_generator(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """The result of a builtin that takes the elements of a generator expression one by one, or items by a key."""
        trace, first = self.current, args[0]
        if name in ("min", "max") and len(args) == len(kwargs) == 1 and isinstance(kwargs.get("key"), FunctionType):
            return _of_keys(self, name, first, kwargs["key"])
        generated = as_generated(trace, first)
        if generated is None or kwargs:
            return NotImplemented
        if name in ("any", "all"):
            return decide(trace, generated, name)
        if name == "sum" and len(args) == 1 and generated is first:
            return total(trace, generated)
        if name in ("min", "max") and len(args) == 1 and generated is first:
            return extreme(trace, generated, name)
        if name == "next":
            try:
                return first_of(trace, generated, args[1:]) if generated is first else next(first, *args[1:])
            except StagedCondition as signal:
                handled(signal)
                return first_of(trace, signal.rest, args[1:])
        if name == "iter":
            return first
        return NotImplemented


def _of_keys(backend: GraphBackend, name: str, items: Any, key: FunctionType) -> Any:
    """`min` or `max` of items that the graph has, by a key."""
    if not (is_staged(items) or isinstance(items, Generated)) or has_iteration(items):
        return NotImplemented
    generated = Generated(backend.current, items, (_same,), None, reached_by(key))
    return extreme(backend.current, generated, name, backend.call(key))


def _is_something(trace: Trace, value: Value) -> bool:
    """Whether a value is known not to be None."""
    return isinstance(value.type, TensorType) or trace.known_class(value) not in (None, type(None))


def _mapped(backend: GraphBackend, function: Any, iterable: Any) -> Any:
    """The elements of `map(function, iterable)`, if the graph shall compute them, or NotImplemented."""
    is_range = type(iterable) is range
    if not (is_staged(iterable) or is_range) or has_iteration(iterable):
        return NotImplemented
    part = mapping(backend.current, backend.call(function))
    if part is None:
        return NotImplemented
    made = Generated(backend.current, iterable, (part,), None, reached_by(function))
    return NotImplemented if is_range and not is_long(made) else made


@tame
def _same(value: Any) -> Any:
    return value


class _Counting(protocol.Backend):
    """Counts the references that `for_stmt` and its callers have to the iterable."""

    name = "counting"

    def for_stmt(self, iterable: Any, body: Any, state: State, until: Thunk | None, options: Any, first: Any) -> Any:
        for self.holders in range(16):
            if iterable.is_exclusive(self.holders):
                break


_COUNTING = _Counting()
with protocol.traced_by(_COUNTING):
    for_stmt(unowned(), lambda item: None)
GRAPH = GraphBackend()
