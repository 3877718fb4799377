"""Effects that happen when the program runs: output and exceptions, by callbacks of JAX.

A callback in a staged construct gets the conditions under which the program reaches it, since `vmap` runs both
branches of an `if`, and a loop until its last element is done.
"""

from __future__ import annotations

import builtins
import logging
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from types import FrameType, FunctionType
from typing import Any, TypeVar

import jax
import numpy as np
from jax._src import core, dispatch
from jax._src.interpreters import batching, partial_eval
from jax.experimental import checkify

from autograph.backends.jax.arrays import ArrayTrace, is_array
from autograph.backends.jax.devices import entered
from autograph.backends.jax.lines import here, mark, place, raised_at
from autograph.backends.jax.structures import children
from autograph.operators.tracebacks import shelter_at

_E = TypeVar("_E", bound=BaseException)


class Text:
    """A text with staged values in it, which is known when the program runs.

    Attributes:
        make: values → the text.
        parts: the values.
    """

    def __init__(self, make: Callable[..., str], parts: Sequence[Any]) -> None:
        self.make = make
        self.parts = parts

    def _refuse(self, *args: Any) -> Any:
        raise here("this line needs a text in which a staged value is formatted. JAX knows it only when the program "
                   "runs: print it, or put it into the message of an exception")

    __str__ = __repr__ = __format__ = __len__ = __iter__ = __getitem__ = _refuse
    __add__ = __radd__ = __mul__ = __mod__ = __eq__ = __lt__ = __contains__ = __bool__ = _refuse
    __hash__ = None  # type: ignore[assignment]

    def __getattr__(self, name: str) -> Any:
        if hasattr(str, name):
            self._refuse()
        raise AttributeError(f"a text has no attribute {name!r}", name=name, obj=self)


def formatted(trace: ArrayTrace, make: Callable[[], Any]) -> Any:
    """Return the text that `make` makes; if it formats staged values, a `Text`."""
    with trace.formatting() as formats:
        pattern = make()
    if not formats:
        return pattern

    def fill(*values: Any) -> str:
        text = pattern
        for at, ((_, form), value) in enumerate(zip(formats, values)):
            text = text.replace(mark(at), form(value))
        return str(text)

    return Text(fill, [array for array, _ in formats])


def traces_below(trace: Any) -> Iterator[Any]:
    """The traces that a trace hands its operations to, from itself down."""
    while trace is not None:
        yield trace
        trace = getattr(trace, "parent_trace", None)


def runs_later(trace: ArrayTrace) -> bool:
    """Whether the program runs after its trace, as within `jax.jit`, rather than at once."""
    return any(isinstance(each, partial_eval.DynamicJaxprTrace) for each in traces_below(trace))


def contains_staged(value: Any) -> bool:
    """Whether a value is, or contains, an array or text that is known when the program runs."""
    arrays: list[Any] = []
    deferred(value, arrays)
    return any(isinstance(array, core.Tracer) and array.to_concrete_value() is None for array in arrays)


def deferred(value: Any, arrays: list[Any]) -> Callable[[Sequence[Any]], Any]:
    """Add the arrays in a value to a list; return a function that makes the value of what these are at run time."""
    if type(value) is Text:
        makers = [deferred(part, arrays) for part in value.parts]
        return lambda given: value.make(*(make(given) for make in makers))
    if is_array(value):
        at, is_python = len(arrays), core.typeof(value).weak_type
        arrays.append(value)
        return lambda given: _as_python(given[at], is_python)
    parts, before = children(value), len(arrays)
    if parts is None:
        return lambda given: value
    items, make_container = parts
    inner = [deferred(item, arrays) for item in items]
    if len(arrays) == before:
        return lambda given: value
    return lambda given: make_container([make(given) for make in inner])


def _as_python(value: Any, is_python: bool) -> Any:
    """An array of JAX as what the plain program has there."""
    array = np.asarray(value)
    if array.ndim:
        return array
    return array.item() if is_python else array[()]


def call_back(trace: ArrayTrace, function: Callable[..., None], values: Sequence[Any], when: Any = None) -> None:
    """Call a function when the program runs, where it reaches this line.

    It runs behind those of earlier lines, but under `vmap` and `shard_map`, where JAX has no order.

    Args:
        values: its arguments. Arrays become NumPy's, numbers that Python has computed become Python's.
        when: a staged condition of the trace below, besides those of the constructs around.
    """
    arrays: list[Any] = []
    makers = [deferred(value, arrays) for value in values]

    def run(reached: Any, *given: Any) -> None:
        if reached:
            function(*(make(given) for make in makers))

    raw = [trace.read(array) for array in arrays]
    trace.note_callback()
    with core.set_current_trace(trace.parent_trace):
        reached = _reached(trace, when)
        batched = any(isinstance(each, batching.BatchTrace) for each in traces_below(trace.parent_trace))
        jax.debug.callback(run, reached, *raw, ordered=not (batched or core.get_axis_env().axis_sizes))


def print_(trace: ArrayTrace, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
    """`print(*args, **kwargs)` when the program runs."""
    call_back(trace, lambda *values: builtins.print(*values, **kwargs), args)


class Failures:
    """The exceptions that callbacks have raised last, for `ag.jax_jit`, which raises them again.

    Attributes:
        any: whether a program that may fail has been traced.
    """

    def __init__(self) -> None:
        self.any = False
        self._last: deque[BaseException] = deque(maxlen=64)

    def add(self, error: BaseException) -> None:
        self._last.append(error)

    def take(self, message: str) -> BaseException | None:
        """Take out the exception that JAX reports with this message, which ends with its class and text.

        Other threads may have raised theirs: one with another text is not taken.
        """
        texts = [(f"{type(each).__name__}: {each}", each) for each in reversed([*self._last])]
        reported = [(text, each) for text, each in texts if text in message]
        if not reported:
            return None
        _, error = max(reported, key=lambda pair: len(pair[0]))
        with suppress(ValueError):      # another thread has reported the same text and taken it
            self._last.remove(error)
        return error


FAILURES = Failures()


class _Tokens(dispatch.RuntimeTokenSet):  # type: ignore[misc]
    """JAX's record of the calls that ordered callbacks wait for, without those that failed.

    JAX keeps them. On accelerators, where a call returns before it has run, each later call with ordered callbacks in
    this thread then raises the same exception, without end, and so does `jax.effects_barrier`.
    """

    def get_token_input(self, effect: Any, devices: Any) -> Any:
        token = self.current_tokens.get(effect)
        if token is not None and token._buf.is_ready():
            try:
                token.block_until_ready()
            except jax.errors.JaxRuntimeError:      # which the call that failed has raised
                self.clear()
        return super().get_token_input(effect, devices)

    def block_until_ready(self) -> None:
        try:
            super().block_until_ready()
        finally:
            self.clear()


dispatch.runtime_tokens.__class__ = _Tokens


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a record of JAX's log is about another exception than one of the program, which gets that anyway."""
    error = record.exc_info[1] if record.exc_info else None
    return not getattr(error, "__ag_raised__", False)


logging.getLogger("jax._src.debugging").addFilter(_is_news)


_FAILS = "__ag_fails__"      # set at an exception that the program raises when it runs


def is_staged(exception: BaseException) -> bool:
    """Whether the program raises an exception when it runs, or only knows its arguments then."""
    return _FAILS in vars(exception) or contains_staged(exception.args)


def fail(trace: ArrayTrace, exception: BaseException, when: Any = None) -> None:
    """Let the program raise an exception where it reaches this line, unless one of its constructs does that already.

    Args:
        exception: its arguments may be staged values, and texts with these in them.
        when: a staged condition, of the trace below.
    """
    _check_uncaught()
    if _FAILS in vars(exception):
        return
    setattr(exception, _FAILS, True)
    if CHECKS.wanted:
        _check(trace, exception, when)
        return
    FAILURES.any = True
    kind, where = type(exception), raised_at(exception) or place()

    def raise_(args: Any, attributes: dict[str, Any]) -> None:
        error = _made(kind, args, attributes)
        if where and hasattr(error, "add_note"):
            error.add_note(f"at {where[0]}, line {where[1]}")
        FAILURES.add(of_program(error))
        raise error

    call_back(trace, raise_, [exception.args, {**vars(exception)}], when)


def _made(kind: type[BaseException], args: tuple[Any, ...], attributes: dict[str, Any]) -> BaseException:
    """Make an exception with these arguments and attributes; a constructor in Python may take others."""
    if isinstance(kind.__init__, FunctionType):
        error = kind.__new__(kind, *args)
        error.args = args
    else:
        error = kind(*args)
    vars(error).update(attributes)
    return error


class _Checks(threading.local):
    """Whether the exceptions of programs become checks of `jax.experimental.checkify` in this thread."""

    wanted = False


CHECKS = _Checks()


@contextmanager
def as_checks() -> Iterator[None]:
    """While it lasts, the exceptions of programs that are traced become checks of `jax.experimental.checkify`."""
    before, CHECKS.wanted = CHECKS.wanted, True
    try:
        yield
    finally:
        CHECKS.wanted = before


def _check(trace: ArrayTrace, exception: BaseException, when: Any) -> None:
    """Let checkify note an exception, with its class and line, and the text that is known while tracing."""
    texts = [str(arg) for arg in exception.args if not contains_staged(arg)]
    where = raised_at(exception) or place()
    line = f" ({where[0]}, line {where[1]})" if where else ""
    message = f"{type(exception).__name__}: {', '.join(texts)}".removesuffix(": ") + line
    trace.note_callback()
    with core.set_current_trace(trace.parent_trace):
        checkify.check(~_reached(trace, when), message.replace("{", "{{").replace("}", "}}"))


def _reached(trace: ArrayTrace, when: Any) -> Any:
    """Whether the program reaches this line, as a bool of the trace below."""
    tests = [(entered(trace, test), value) for test, value in trace.path]
    conditions = [test if value else ~test for test, value in tests]
    conditions += [] if when is None else [when]
    return reduce(lambda a, b: a & b, conditions) if conditions else np.True_


def _check_uncaught() -> None:
    """Check that the program goes no other way because of what it raises on this line.

    Raises:
        StagingError: it has a `try` around, or `contextlib.suppress`.
    """
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        shelter = shelter_at(frame.f_code, frame.f_lasti)
        is_with = shelter is not None and shelter.construct == "with"
        if shelter is not None and (not is_with or "suppress" in frame.f_code.co_names):
            raise here("JAX cannot stage that an exception is caught, or leads to a `finally`, which is raised only "
                       f"for some values. Let a condition decide, instead of the `{'with' if is_with else 'try'}` of "
                       f"line {shelter.first}")
        frame = frame.f_back


def of_program(error: _E) -> _E:
    """Mark an exception that this library raises as one of the user's program, and return it."""
    error.__ag_raised__ = True  # type: ignore[attr-defined]
    return error
