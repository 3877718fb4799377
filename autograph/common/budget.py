"""Bounds the work of staging one signature; if more is needed, the signature runs as plain Python.

The work is counted in recorded operations, those of repeated attempts included. So the same program is staged, or not,
in each run and on each machine. Who stages a running program in passing bounds the processor time as well.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

OPERATIONS = 100_000  # that tracing one signature may record, in all its attempts
EVERY = 16  # steps after which the processor time is read


class BudgetSpent(BaseException):
    """The budget is spent. No error: no `except Exception` of the user's catches it."""


class Budget:
    """The budget of one signature.

    Args:
        seconds: of processor time of this thread; None for any.
        operations: that may be recorded; None for any.

    Attributes:
        spent: why staging was stopped; "" if it was not.
    """

    def __init__(self, seconds: float | None = None, operations: int | None = None) -> None:
        self.seconds = seconds
        self.operations = operations
        self.spent = ""
        self._recorded = self._steps = 0
        self._begin = time.thread_time()

    def record(self) -> None:
        """Count a recorded operation."""
        self._recorded += 1
        self.step()

    def step(self) -> None:
        """Note that tracing goes on, by a call or an iteration that may record nothing."""
        self._steps += 1
        if self._steps % EVERY == 0:
            self.check("tracing")

    def allow(self, operations: int) -> None:
        """Let more operations be recorded, as the user asks for it."""
        if self.operations is not None:
            self.operations += operations

    def check(self, what: str) -> None:
        """Check that something is left.

        Args:
            what: what would go on, such as "tracing".

        Raises:
            BudgetSpent: nothing is left.
        """
        if self.operations is not None and self._recorded > self.operations:
            self.spent = f"{what} was stopped after {self.operations:,} operations"
        elif self.seconds is not None and (took := time.thread_time() - self._begin) > self.seconds:
            self.spent = f"{what} was stopped after {took:.2g} s (budget {self.seconds:.2g} s)"
        if self.spent:
            raise BudgetSpent(self.spent)


class _Current(threading.local):
    def __init__(self) -> None:
        self.budget = Budget()


_CURRENT = _Current()


def current() -> Budget:
    """The budget of what this thread stages; without limits outside of `limited`."""
    return _CURRENT.budget


@contextmanager
def limited(seconds: float | None, operations: int | None = None) -> Iterator[Budget]:
    """Within it, a new budget is the current one; `operations`: None for `OPERATIONS`."""
    before = _CURRENT.budget
    _CURRENT.budget = budget = Budget(seconds, OPERATIONS if operations is None else operations)
    try:
        yield budget
    finally:
        _CURRENT.budget = before
