"""A backend of a few lines: scalar Python on whole arrays at once, all elements in lockstep.

    with on_arrays():
        hues, lightnesses, saturations = rgb_to_hls(reds, greens, blues)    # written for one color

Where a condition turns out to be an array, both branches of an `if` run, and every element takes its own result; a
loop goes on until its last element is done. Elements thus run code that is not meant for them, whose results are
dropped: good for arithmetic, but not for code with side effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any

import numpy as np

from autograph.operators.backend import Backend, OneArgument, Options, Thunk, register, traced_by, unregister
from autograph.operators.state import UNBOUND, State

_NUMBERS = (np.ndarray, np.generic, bool, int, float, complex)


class Lockstep(Backend):
    """Stages NumPy arrays: each element is a value of its own."""

    name = "lockstep"

    def owns(self, value: Any) -> bool:
        return isinstance(value, np.ndarray)

    def if_stmt(self, test: Any, body: Thunk, orelse: Thunk | None, state: State) -> Any:
        before = held(state)
        result, after = body(), held(state)
        state.set(before)
        other = orelse() if orelse else None
        state.set(choose(test, after, state.get()))
        return choose(test, result, other)

    def while_stmt(
        self, first: Any, test: Thunk, body: Thunk, state: State, until: Thunk | None, options: Options
    ) -> Any:
        if not self.owns(first):
            return NotImplemented  # as plain Python, until an array decides
        running = first
        while running.any():
            running = iteration(running, body, state, until) & test()
        return None

    def for_stmt(
        self, iterable: Any, body: OneArgument, state: State, until: Thunk | None, options: Options, first: Any
    ) -> Any:
        if self.owns(iterable) or not self.owns(first):
            return super().for_stmt(iterable, body, state, until, options, first)
        running = first
        for item in iterable:
            if not running.any():
                break
            running = iteration(running, lambda: body(item), state, until)  # noqa: B023
        return None

    def and_(self, first: Any, rest: Sequence[Thunk], test: bool = False) -> Any:
        return reduce(np.logical_and, (term() for term in rest), first)

    def or_(self, first: Any, rest: Sequence[Thunk], test: bool = False) -> Any:
        return reduce(np.logical_or, (term() for term in rest), first)

    def not_(self, value: Any) -> Any:
        return np.logical_not(value)

    def max_(self, *values: Any) -> Any:
        return reduce(np.maximum, values)

    def min_(self, *values: Any) -> Any:
        return reduce(np.minimum, values)


def iteration(running: Any, body: Callable[[], Any], state: State, until: Thunk | None) -> Any:
    """One iteration of a loop for the elements that are still running; which of them still are after it."""
    before = held(state)
    body()
    state.set(choose(running, state.get(), before))
    return running if until is None else running & np.logical_not(until())


def held(state: State) -> tuple[Any, ...]:
    """The variables' values, safe from `x += 1`, which changes an array in place."""
    return tuple(value.copy() if isinstance(value, np.ndarray) else value for value in state.get())


def choose(test: Any, one: Any, other: Any) -> Any:
    """For each element `one` or `other`. One that would have no value at all gets that of the others: it needs none."""
    if one is other or other is UNBOUND:
        return one
    if one is UNBOUND:
        return other
    if isinstance(one, tuple) and isinstance(other, tuple) and len(one) == len(other):
        return tuple(choose(test, *pair) for pair in zip(one, other))
    if not (isinstance(one, _NUMBERS) and isinstance(other, _NUMBERS)):
        raise TypeError(f"some elements would have {one!r}, others {other!r}")
    return np.where(test, one, other)


@contextmanager
def on_arrays() -> Iterator[None]:
    """While it lasts, converted code runs in lockstep where arrays decide, and what it calls is converted too."""
    backend = Lockstep()
    register(backend)
    try:
        with traced_by(backend), np.errstate(all="ignore"):  # elements divide by zero on paths they do not take
            yield
    finally:
        unregister(backend)
