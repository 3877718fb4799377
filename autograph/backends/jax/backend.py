"""The backend of JAX: the methods that operators call while JAX traces a function of `ag.convert`."""

from __future__ import annotations

import builtins
import functools
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import core
from jax._src.interpreters.ad import JVPTracer, LinearizeTracer
from jax._src.interpreters.batching import BatchTracer
from jax._src.interpreters.partial_eval import DynamicJaxprTracer

from autograph.backends.jax import effects, entry, iterables, python_builtins
from autograph.backends.jax.arrays import ArrayTrace, ArrayTracer, current, is_array
from autograph.backends.jax.bodies import is_staged, related, truth
from autograph.backends.jax.branches import stage_if
from autograph.backends.jax.generated import Generated, consumed
from autograph.backends.jax.lines import SHELTERED, here
from autograph.backends.jax.loops import SHORT, Loop
from autograph.backends.jax.places import Fixed, Items
from autograph.backends.jax.structures import BodyRaises, Mismatch, staging_error
from autograph.backends.jax.undo_log import CONTAINERS
from autograph.backends.jax.views import weak
from autograph.common.messages import UNBOUND_FREE, UNBOUND_LOCAL
from autograph.errors import StagingError
from autograph.operators import backend as protocol
from autograph.operators import comprehensions, loops
from autograph.operators.backend import OneArgument, Options, Several, Thunk
from autograph.operators.state import UNBOUND, State, reached_by

_STATE, _TOP = core.trace_state_strong_ref, core.eval_trace
_NOT_CONCRETE = (jax.errors.ConcretizationTypeError, jax.errors.TracerIntegerConversionError,
                 jax.errors.TracerArrayConversionError, jax.errors.NonConcreteBooleanIndexError)


class JaxBackend(protocol.Backend):
    """Stages arrays that JAX traces."""

    name = "jax"

    @property
    def trace(self) -> ArrayTrace:
        found = current()
        if found is None:
            raise here("this function runs in a trace of JAX that is not its own: hand it to JAX as a function of "
                       "`ag.convert`")
        return found

    # When it traces ---------------------------------------------------------------------------------------------------

    def tracing(self) -> bool:
        return _STATE.value is not _TOP

    def owns(self, value: Any) -> bool:
        return is_staged(value) or isinstance(value, iterables.Source)

    def enter(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return entry.entering(self, function)

    def new_trace(self, parent: Any) -> ArrayTrace:
        return _Trace(parent)

    # Branches ---------------------------------------------------------------------------------------------------------

    def if_stmt(self, test: Any, body: Thunk, orelse: Thunk | None, state: State) -> Any:
        if not is_staged(test):
            return NotImplemented
        trace = self.trace
        return stage_if(trace, truth(trace, test), body, orelse, state, "`if`")

    def if_exp(self, test: Any, body: Thunk, orelse: Thunk) -> Any:
        if not is_staged(test):
            return NotImplemented
        trace = self.trace
        return stage_if(trace, truth(trace, test), body, orelse, reached_by(body, orelse), "conditional expression")

    def and_(self, first: Any, rest: Sequence[Thunk], test: bool = False) -> Any:
        return self._logical(first, rest, test, False)

    def or_(self, first: Any, rest: Sequence[Thunk], test: bool = False) -> Any:
        return self._logical(first, rest, test, True)

    def _logical(self, first: Any, rest: Sequence[Thunk], test: bool, decides: bool) -> Any:
        """`and` and `or`: the value `decides` of an operand's truth makes it the result."""
        value = first
        for at, term in enumerate(rest):
            if not is_staged(value):
                if bool(value) is decides:
                    return value
                value = term()
                continue
            return self._logical_staged(value, term, rest[at + 1 :], test, decides)
        return value

    def _logical_staged(
        self, value: Any, term: Thunk, rest: Sequence[Thunk], test: bool, decides: bool
    ) -> Any:
        trace = self.trace
        now = truth(trace, value)
        if test:
            value = trace.array(now)

        def others() -> Any:
            result = self._logical(term(), rest, test, decides)
            return trace.array(truth(trace, result)) if test and is_array(result) else result

        branches = (lambda: value, others) if decides else (others, lambda: value)
        return stage_if(trace, now, *branches, reached_by(term, *rest), "`or`" if decides else "`and`")

    def not_(self, value: Any) -> Any:
        trace = self.trace
        if not is_staged(value):
            return not value
        raw = truth(trace, value)
        with core.set_current_trace(trace.parent_trace):
            return trace.array(weak(jnp.logical_not(raw), bool))

    def in_(self, element: Any, container: Any) -> Any:
        if is_array(container):
            return jnp.any(container == element)
        if type(container) in (list, tuple) and (is_array(element) or any(map(is_array, container))):
            found: Any = False
            for each in container:
                found = self._logical(found, (functools.partial(_equal, each, element),), True, True)
            return found
        if isinstance(container, iterables.RangeSource):
            raise here("JAX does not stage `in` for a range with staged bounds; compare with its bounds")
        if type(container) is range and is_array(element):
            start, stop, step = container.start, container.stop, container.step
            low, high = (start, stop) if step > 0 else (stop + 1, start + 1)
            return (element >= low) & (element < high) & ((element - start) % step == 0)
        if is_staged(element):
            raise here(f"JAX does not stage `in` for a {type(container).__name__}; use a tuple, a list, or an array")
        return NotImplemented

    def is_(self, left: Any, right: Any) -> Any:
        for one, other in ((left, right), (right, left)):
            if type(one) is ArrayTracer and one.absent is not None and other is one.absent.value:
                return one.absent.flag
            if is_staged(one) and isinstance(other, bool):
                raise here(f"whether a value is {other} is known only when the program runs; compare with `==`")
        if type(left) is ArrayTracer and type(right) is ArrayTracer and left is not right:
            is_number = not left.ndim and not right.ndim and left.aval.dtype == right.aval.dtype
            is_augmented = self.trace.stored and (left.augments or right.augments)
            if is_number or is_augmented or any(each is right for each in related(left)):
                raise here("whether these are one object is known only when the program runs")
        shared = self.trace.shared
        if left is not right and (id(left) in shared or id(right) in shared) and type(left) is type(right):
            raise here("whether these are one object is known only when the program runs")
        return NotImplemented

    # Loops ------------------------------------------------------------------------------------------------------------

    def while_stmt(
        self, first: Any, test: Thunk, body: Thunk, state: State, until: Thunk | None, options: Options
    ) -> Any:
        trace = self.trace
        if not is_staged(first) and not (first and effects.runs_later(trace) and _tests(test)):
            return NotImplemented

        def step(index: Any, parts: Any) -> Any:
            body()
            stop = None if until is None else until()
            more = test() if stop is None or stop is False else self._logical(self.not_(stop), (test,), True, False)
            return truth(trace, more) if is_array(more) else bool(more)

        loop = Loop(trace, state, lambda index, parts: wrapped(trace, step(index, parts)), "`while`",
                    bound=(options or {}).get("max_trips"))
        if is_staged(first):
            reached = truth(trace, first)
            try:
                self._run(loop, reached)
            except BodyRaises:
                stage_if(trace, reached, body, None, state, "`while`")
            return None
        return None if self._tried(loop) else NotImplemented

    def _tried(self, loop: Loop) -> bool:
        """Stage a loop that Python can run, if that is possible and pays."""
        caught = len(SHELTERED.errors)
        try:
            return self._run(loop, None)
        except BodyRaises:
            return False
        except Exception as error:
            if not unrollable(error):
                raise
            del SHELTERED.errors[caught:]
            self.trace.note(loop.construct, "unrolled", str(error))
            if type(loop.length) is int and loop.length > iterables.MANY and loop.where:
                text = f"this loop is unrolled, into {loop.length} copies of its body, as it cannot be staged: {error}"
                warnings.warn_explicit(text, UserWarning, *loop.where)
            return False

    def for_stmt(
        self, iterable: Any, body: OneArgument, state: State, until: Thunk | None, options: Options, first: Any
    ) -> Any:
        trace, source = self.trace, None
        if first is True:
            trace.iterators.check(iterable)
            source = iterables.source_of(trace, iterable)
            if source is None or type(iterable) in (list, tuple):
                return NotImplemented
        if source is None:
            trace.iterators.leave_early(iterable)
            self._unrolled(iterable, body, until, state, first)
            return None
        if source.once:
            trace.iterators.leave(source)
        is_static = type(source.length) is int
        unroll = (options or {}).get("unroll")
        if is_static and unroll is not False and (unroll is True or source.length <= (unroll or SHORT)):
            if not isinstance(iterable, range):
                trace.note("`for`", "unrolled", f"{source.length} iterations")
            return self._by_python(iterable, source, body, state, until, options)
        if self._looped(source, body, state, until, options, is_static):
            return None
        return self._by_python(iterable, source, body, state, until, options)

    def _by_python(self, iterable: Any, source: Any, body: Any, state: State, until: Any, options: Any) -> Any:
        if not isinstance(iterable, iterables.Source):
            return NotImplemented       # Python iterates
        loops.for_stmt(source.items(self.trace), body, state.names, until, options)
        return None

    def _looped(
        self, source: Any, body: OneArgument, state: State, until: Thunk | None, options: Options, is_static: bool
    ) -> bool:
        """Stage a `for`; return False if it must be unrolled, and can be."""
        trace = self.trace

        def step(index: Any, parts: Any) -> Any:
            body(source.item(trace, index, parts))
            if until is None:
                return None
            return wrapped(trace, self.not_(until()))

        loop = Loop(trace, state, step, "`for`", source.length, source.arrays, (options or {}).get("max_trips"))
        if is_static:
            return self._tried(loop)
        try:
            return self._run(loop, None)
        except BodyRaises:
            with core.set_current_trace(trace.parent_trace):
                reached, parts = source.length > 0, [array[0] for array in source.arrays]
            stage_if(trace, reached, lambda: body(source.item(trace, 0, iter(parts))), None, state, "`for`")
            return True

    def _run(self, loop: Loop, first: Any) -> bool:
        try:
            return loop.run(first)
        except Mismatch as mismatch:
            raise staging_error(mismatch, loop.where, loop.construct) from None

    def _unrolled(self, items: Iterable[Any], body: OneArgument, until: Any, state: State, more: Any) -> None:
        """The rest of a loop that Python iterates over, each iteration under the condition that the loop goes on."""
        for item in items:
            trace = self.trace
            if not is_staged(more):
                if not more:
                    return
                body(item)
                more = self.not_(until())
                continue

            def iteration(item: Any = item) -> Any:
                body(item)
                return self.not_(until())

            more = stage_if(trace, truth(trace, more), iteration, lambda: False, state, "`for`")

    # Comprehensions ---------------------------------------------------------------------------------------------------

    def list_comp(
        self, iterable: Any, element: OneArgument, condition: OneArgument | None, done: list[Any], first: Any
    ) -> Any:
        return self._comprehension(iterable, element, condition, first)

    def set_comp(self, iterable: Any, element: OneArgument, condition: Any, done: set[Any], first: Any) -> Any:
        if first is True and not iterables.is_staged_iterable(iterable):
            return NotImplemented
        raise here("JAX does not stage set comprehensions over staged values: a set needs to know which are equal")

    def dict_comp(self, iterable: Any, key: OneArgument, value: Any, condition: Any, done: Any, first: Any) -> Any:
        if first is not True:
            raise here("JAX does not stage conditions in dict comprehensions: the keys must be known")
        if isinstance(iterable, iterables.Source) and type(iterable.length) is int:
            return comprehensions.dict_comp(list(iterable.items(self.trace)), key, value, condition)
        return NotImplemented

    def _comprehension(
        self, iterable: Any, element: OneArgument, condition: OneArgument | None, first: Any
    ) -> Any:
        if first is not True:
            raise here("JAX does not stage the condition of a comprehension: how many items there are must be known. "
                       "Use `jnp.where`, or `sum`, `any`, `all`, `max` or `min` of a generator expression")
        if isinstance(element, Several) or not iterables.is_staged_iterable(iterable):
            return NotImplemented
        source = iterables.source_of(self.trace, iterable)
        if source is None:
            return NotImplemented
        if condition is not None:
            if type(source.length) is not int:
                raise here("JAX does not stage a comprehension whose number of items is known only when it runs")
            return comprehensions.list_comp(list(source.items(self.trace)), element, condition)
        result: list[Any] = []

        def body(item: Any) -> None:
            self.trace.undo_log.log(result)
            result.append(element(item))

        loops.for_stmt(iterable, body)
        return result

    def gen_exp(self, iterable: Any, element: OneArgument, condition: OneArgument | None, first: Any) -> Any:
        if isinstance(element, Several) or first is not True:
            return NotImplemented
        return Generated(iterable, element, condition)

    # Builtins ---------------------------------------------------------------------------------------------------------

    def builtin(self, name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        trace = self.trace
        trace.iterators.check(*args)
        if args and type(args[0]) is Generated:
            result = consumed(args[0], name, tuple(args[1:]), dict(kwargs))
            if isinstance(result, Iterator):
                return trace.iterators.made(result, args)
            trace.iterators.leave(args[0])
            return result
        function = getattr(python_builtins, f"{name}_", None)
        if function is not None:
            return function(trace, *args, **kwargs)
        if name in ("zip", "enumerate", "map", "filter", "iter") and any(isinstance(arg, Iterator) for arg in args):
            return trace.iterators.made(getattr(builtins, name)(*args, **kwargs), args)
        if name in ("range", "zip", "enumerate", "reversed"):
            if name == "range" and not any(is_staged(arg) or core.is_symbolic_dim(arg) for arg in args):
                return NotImplemented
            return getattr(iterables, f"{name}_")(trace, *args, **kwargs)
        if name in ("list", "tuple", "sum", "iter", "map", "filter"):
            sources = [arg for arg in args if isinstance(arg, iterables.Source)]
            if any(type(source.length) is not int for source in sources):
                raise here(f"{name}() needs to know how many items there are")
            if sources:
                items = [list(arg.items(trace)) if isinstance(arg, iterables.Source) else arg for arg in args]
                return getattr(builtins, name)(*items, **kwargs)
        return NotImplemented

    # Effects ----------------------------------------------------------------------------------------------------------

    def assert_stmt(self, test: Any, message: Thunk | None) -> Any:
        if not is_staged(test):
            return NotImplemented
        trace = self.trace

        def failed() -> None:
            error = AssertionError() if message is None else AssertionError(message())
            raise effects.of_program(error)

        stage_if(trace, truth(trace, test), lambda: None, failed, reached_by(message), "`assert`")

    def fstring(self, text: Thunk) -> Any:
        return effects.formatted(self.trace, text)

    def percent(self, template: Any, value: Any) -> Any:
        values = value if isinstance(value, tuple) else (value,)
        if not effects.contains_staged([*values]):
            return NotImplemented
        is_tuple = isinstance(value, tuple)
        return effects.Text(lambda *given: template % (given if is_tuple else given[0]), values)

    # Variables and objects --------------------------------------------------------------------------------------------

    def bound(self, value: Any, free: bool) -> Any:
        if type(value) is ArrayTracer and value.absent is not None and value.absent.value is UNBOUND:
            self.trace.check_present(value, free)
        return NotImplemented

    def ref(self, value: Any) -> Any:
        if isinstance(value, ArrayTracer):
            return NotImplemented
        if isinstance(value, (list, tuple, dict, deque, bytearray)):
            return Items(self, value) if type(value) in (list, tuple, dict, deque, bytearray) else self._logged(value)
        if isinstance(value, types.ModuleType):
            if self.trace.depth:
                raise here("this line sets an attribute of a module in a staged `if` or loop. Let a function of that "
                           "module set it, by `global`")
            return NotImplemented
        if hasattr(value, "__dict__") or hasattr(type(value), "__slots__"):
            if not isinstance(value, (types.FunctionType, np.ndarray, core.Tracer, jax.Array)):
                return self._logged(value)
        return NotImplemented if value is None or not isinstance(value, (jax.Array, np.ndarray)) else Fixed(self, value)

    def _logged(self, thing: Any) -> Any:
        """Note that an object, or what it holds, is about to change, by code of its class."""
        self.trace.log(thing)
        for part in vars(thing).values() if hasattr(thing, "__dict__") and not isinstance(thing, type) else ():
            if isinstance(part, CONTAINERS):
                self.trace.undo_log.log(part)
        return NotImplemented

    def call(self, function: Any) -> Any:
        iterators = self.trace.iterators
        if type(function) is not types.FunctionType:
            iterators.check(getattr(function, "__self__", None))
            if iterators.unsteady or getattr(function, "__module__", None) == "itertools":
                return functools.partial(entry.call_with_iterators, self, function)
        return entry.handed(self, function)


def _tests(test: Thunk) -> bool:
    """Whether the condition of a `while` is more than the constant True."""
    code = getattr(test, "__code__", None)
    return code is None or code.co_names != () or code.co_freevars != () or code.co_varnames != ()


def unrollable(error: BaseException) -> bool:
    """Whether a loop cannot be staged for a reason that may not hold for its iterations one by one."""
    if isinstance(error, (*_NOT_CONCRETE, StagingError, IndexError, NameError, KeyError)):
        return True
    return isinstance(error, TypeError) and "unhashable" in str(error)


def wrapped(trace: ArrayTrace, value: Any) -> Any:
    """Return a value as an array of the program, if it is one of JAX."""
    return trace.array(value) if isinstance(value, jax.Array) and type(value) is not ArrayTracer else value


class _Trace(ArrayTrace):
    """Says how the program fails, as where a variable that is read is unbound, or None."""

    def fail(self, error: Exception, when: Any) -> None:
        effects.fail(self, error, when)

    def check_present(self, array: ArrayTracer, free: bool = False) -> None:
        absent, array.absent = array.absent, None
        assert absent is not None
        name = absent.name
        if name.startswith("retval_"):      # the front end's own, which is bound where it is read
            array.absent = absent
            return
        error: Exception = UnboundLocalError(UNBOUND_LOCAL.format(name))
        if free:
            error = NameError(UNBOUND_FREE.format(name), name=name)
        if absent.value is None:
            error = TypeError(f"`{name}` is None here, where a number is needed")
        try:
            effects.fail(self, error, self.read(absent.flag))
        finally:
            array.absent = absent


def _equal(a: Any, b: Any) -> Any:
    return jnp.all(a == b) if is_array(a) or is_array(b) else a == b


BACKEND = JaxBackend()


def register() -> None:
    """Let functions of `ag.convert` be staged by JAX. `ag.convert` calls this once JAX has been imported."""
    kinds = [DynamicJaxprTracer, JVPTracer, LinearizeTracer, BatchTracer, ArrayTracer]
    protocol.register(BACKEND, watch=protocol.Watch(BACKEND, _STATE, _TOP), types=kinds)
