"""A backend of a few lines: scalar Python on whole arrays at once, all elements in lockstep.

    hues, lightnesses, saturations = lockstep(rgb_to_hls)(reds, greens, blues)      # written for one color

Where the elements disagree on a condition, both branches of an `if` run, each for its own elements, and a loop goes on
until its last element is done. A mask tells which elements are active. Operations compute for all elements, and what
they give for elements that are not active is dropped. So graphics processors run threads, and the compiler ispc loops
(Pharr and Mark, 2012). Integers become floats where other elements have floats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from functools import reduce, wraps
from typing import Any

import numpy as np

import autograph as ag
from autograph.errors import StagingError
from autograph.operators.backend import Backend, OneArgument, Options, Thunk, register, traced_by, unstaged
from autograph.operators.state import UNBOUND, State

_NUMBERS = (np.ndarray, np.generic, bool, int, float, complex)
_active: ContextVar[Any] = ContextVar("active", default=np.True_)


class Lanes(np.ndarray):
    """A number for each element. As numbers do, it never changes: `x += 1` makes a new one.

    Attributes:
        missing: the elements that have no value, of a variable that only some elements bind.
    """

    missing: Any = np.False_

    def _as_one_number(self, *_: Any) -> Any:
        return unstaged(LOCKSTEP, "what needs one number, as an index or a text does", self)

    __bool__ = __index__ = __int__ = __float__ = __str__ = __repr__ = __format__ = _as_one_number
    __getitem__ = __setitem__ = _as_one_number


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift"):
    setattr(Lanes, f"__i{_name}__", lambda self, other: NotImplemented)


class Lockstep(Backend):
    """Stages `Lanes`."""

    name = "lockstep"

    def owns(self, value: Any) -> bool:
        return isinstance(value, Lanes)

    def if_exp(self, test: Any, body: Thunk, orelse: Thunk) -> Any:
        taken, other = split(test)
        return choose(taken, other, run(taken, body), run(other, orelse))

    def if_stmt(self, test: Any, body: Thunk, orelse: Thunk | None, state: State) -> Any:
        before = state.get()

        def branch(statements: Thunk | None) -> Any:
            state.set(before)
            return (statements() if statements else None), state.get()

        result, values = self.if_exp(test, lambda: branch(body), lambda: branch(orelse))
        state.set(values)
        return result

    def and_(self, first: Any, rest: Sequence[Thunk], test: bool = False) -> Any:
        return reduce(lambda value, term: self.if_exp(value, term, lambda: value), rest, first)

    def or_(self, first: Any, rest: Sequence[Thunk], test: bool = False) -> Any:
        return reduce(lambda value, term: self.if_exp(value, lambda: value, term), rest, first)

    def not_(self, value: Any) -> Any:
        return np.logical_not(value)

    def while_stmt(
        self, first: Any, test: Thunk, body: Thunk, state: State, until: Thunk | None, options: Options
    ) -> Any:
        if not self.owns(first):
            return NotImplemented  # as plain Python, until elements decide
        running = split(first)[0]
        while running.any():
            running = iteration(running, body, state, until)
            running = running & split(run(running, test))[0]
        return None

    def for_stmt(
        self, iterable: Any, body: OneArgument, state: State, until: Thunk | None, options: Options, first: Any
    ) -> Any:
        if self.owns(iterable) or not self.owns(first):
            return super().for_stmt(iterable, body, state, until, options, first)
        running = split(first)[0]
        for item in iterable if running.any() else ():
            running = iteration(running, lambda: body(item), state, until)  # noqa: B023
            if not running.any():
                break
        return None

    def call(self, function: Any) -> Any:
        if isinstance(getattr(function, "__self__", None), (list, dict, set)) and not _active.get().all():
            raise StagingError(f"some elements would call .{function.__name__}, others would not")
        return NotImplemented

    def ref(self, value: Any) -> Any:
        is_shared = isinstance(value, np.ndarray) and not self.owns(value)
        return Part(value) if is_shared or not _active.get().all() else NotImplemented

    def bound(self, value: Any, free: bool) -> Any:
        if self.owns(value) and (value.missing & _active.get()).any():
            return unstaged(self, "variables that are unbound for some elements", value)
        return value

    def max_(self, *values: Any) -> Any:
        return reduce(lambda one, other: self.if_exp(other > one, lambda: other, lambda: one), values)

    def min_(self, *values: Any) -> Any:
        return reduce(lambda one, other: self.if_exp(other < one, lambda: other, lambda: one), values)


class Part:
    """Stands for a list, dict or object that only the active elements change, or an array, which they cannot change."""

    def __init__(self, whole: Any) -> None:
        object.__setattr__(self, "_whole", whole)

    def __getitem__(self, index: Any) -> Any:
        return self._whole[index]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._whole, name)

    def __setitem__(self, index: Any, value: Any) -> None:
        active = _active.get()
        if isinstance(self._whole, np.ndarray):
            raise StagingError("the elements share this array, and cannot store into it")
        self._whole[index] = choose(active, ~active, value, self._whole[index])

    def __setattr__(self, name: str, value: Any) -> None:
        active = _active.get()
        setattr(self._whole, name, choose(active, ~active, value, getattr(self._whole, name)))


def split(test: Any) -> tuple[Any, Any]:
    """The active elements for which a condition is true, and those for which it is false."""
    active, true = _active.get(), np.not_equal(test, 0).view(np.ndarray)
    return active & true, active & ~true


def run(mask: Any, body: Thunk) -> Any:
    """What `body` returns while these elements are active; UNBOUND if there are none."""
    if not mask.any():
        return UNBOUND
    token = _active.set(mask)
    try:
        return body()
    finally:
        _active.reset(token)


def iteration(running: Any, body: Thunk, state: State, until: Thunk | None) -> Any:
    """One iteration of a loop for the elements that are still running; returns which of them still are after it."""
    before = state.get()
    run(running, body)
    state.set(choose(running, _active.get() & ~running, state.get(), before))
    return running if until is None else running & ~split(run(running, until))[0]


def choose(taken: Any, other: Any, one: Any, two: Any) -> Any:
    """`one` for the elements in the mask `taken`, `two` for those in the mask `other`."""
    if one is two or not taken.any():
        return two
    if not other.any():
        return one
    if isinstance(one, tuple) and isinstance(two, tuple) and len(one) == len(two):
        return tuple(choose(taken, other, *pair) for pair in zip(one, two))
    missing = np.where(taken, *(value is UNBOUND or getattr(value, "missing", False) for value in (one, two)))
    one, two = (two if one is UNBOUND else one), (one if two is UNBOUND else two)
    if not (isinstance(one, _NUMBERS) and isinstance(two, _NUMBERS)):
        raise StagingError(f"some elements would have a {type(one).__name__}, others a {type(two).__name__}")
    chosen = np.where(taken, one, two).view(Lanes)
    chosen.missing = missing
    return chosen


def numbers(value: Any) -> Any:
    """A result as arrays."""
    if isinstance(value, (list, tuple)):
        return type(value)(map(numbers, value))
    if isinstance(value, dict):
        return {key: numbers(item) for key, item in value.items()}
    return value.view(np.ndarray) if isinstance(value, Lanes) else value


def lockstep(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that computes `function`, which is written for numbers, for each element of its arguments."""
    converted = ag.convert(function)

    @wraps(function)
    def on_arrays(*arguments: Iterable[Any]) -> Any:
        with traced_by(LOCKSTEP), np.errstate(all="ignore"):  # elements divide by zero on paths they do not take
            return numbers(converted(*(np.array(each).view(Lanes) for each in arguments)))

    return on_arrays


LOCKSTEP = Lockstep()
register(LOCKSTEP, types=[Lanes])
