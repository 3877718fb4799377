"""Bounds the work of staging one signature; if more is needed, the signature runs as plain Python.

The work is counted in steps: recorded operations, and calls and iterations in traced code, those of repeated attempts
included. So the same program is staged, or not, in each run and on each machine. Who stages a running program in
passing bounds the processor time as well.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

STEPS = 100_000  # that tracing one signature may take, in all its attempts
EVERY = 16  # steps after which the processor time is read


class BudgetSpent(BaseException):
    """The budget is spent. No error: no `except Exception` of the user's catches it."""


class Budget:
    """The budget of one signature.

    Args:
        seconds: of processor time of this thread; None for any.
        steps: that tracing may take; None for any.

    Attributes:
        spent: why staging was stopped; "" if it was not.
    """

    def __init__(self, seconds: float | None = None, steps: int | None = None) -> None:
        self.seconds = seconds
        self.steps = steps
        self.spent = ""
        self._taken = 0
        self._begin = time.thread_time()

    def step(self) -> None:
        """Count an operation, call or iteration that is traced."""
        self._taken += 1
        if self._taken % EVERY == 0:
            self.check("tracing")

    @property
    def is_out_of_time(self) -> bool:
        """Whether staging was stopped since it took too long."""
        return bool(self.spent) and (self.steps is None or self._taken <= self.steps)

    def allow(self, steps: int) -> None:
        """Let tracing take more steps, as the user asks for it."""
        if self.steps is not None:
            self.steps += steps

    def leave_out(self, seconds: float) -> None:
        """Do not count so many seconds."""
        self._begin += seconds

    def check(self, what: str) -> None:
        """Check that something is left.

        Args:
            what: what would go on, such as "tracing".

        Raises:
            BudgetSpent: nothing is left.
        """
        if self.steps is not None and self._taken > self.steps:
            self.spent = f"{what} was stopped after {self.steps:,} operations, calls and iterations"
        elif self.seconds is not None and (took := time.thread_time() - self._begin) > self.seconds:
            self.spent = f"{what} was stopped after {took:.2g} s (budget {self.seconds:.2g} s)"
        if self.spent:
            raise BudgetSpent(self.spent)


class _Current(threading.local):
    def __init__(self) -> None:
        self.budget = Budget()
        self.staging = 0.0
        self.profiling = 0.0


_CURRENT = _Current()


def current() -> Budget:
    """The budget of what this thread stages; without limits outside of `limited`."""
    return _CURRENT.budget


def own_time() -> float:
    """The processor time of this thread, without that in which it staged something."""
    return time.thread_time() - _CURRENT.staging


@contextmanager
def untimed() -> Iterator[None]:
    """Leave what runs in it out of `own_time`."""
    staging, begin = _CURRENT.staging, time.thread_time()
    try:
        yield
    finally:
        _CURRENT.staging = staging + time.thread_time() - begin


def wall_time() -> float:
    """The time, without that of this thread's profile."""
    return time.perf_counter() - _CURRENT.profiling


def leave_out(own: float, wall: float) -> None:
    """Leave time that a profile has taken out of `own_time` and `wall_time`."""
    _CURRENT.staging += max(0.0, own)
    _CURRENT.profiling += max(0.0, wall)


@contextmanager
def unlimited() -> Iterator[None]:
    """Leave what runs in it out of the current budget: modules are loaded once, whatever is staged."""
    begin = time.thread_time()
    try:
        yield
    finally:
        _CURRENT.budget.leave_out(time.thread_time() - begin)


@contextmanager
def limited(seconds: float | None) -> Iterator[Budget]:
    """Within it, a new budget of so many seconds, and of `STEPS`, is the current one."""
    before = _CURRENT.budget
    with untimed():
        _CURRENT.budget = budget = Budget(seconds, STEPS)
        try:
            yield budget
        finally:
            _CURRENT.budget = before
