"""The budget for tracing installed packages for the sake of a derivative.

A derivative has to go through what installed packages compute, so their functions are traced, although nobody has
named these packages. What such functions do is unknown: a solver may come to millions of operations. A budget bounds
that; beyond it, the derivative is refused.
"""

from __future__ import annotations

from collections.abc import Collection
from types import FunctionType

from autograph.common.packages import package_of_function
from autograph.errors import DerivativeError
from autograph.runtime.graph.graph import Place
from autograph.runtime.tracing.proxies.graph_break import Failed
from autograph.runtime.tracing.state.blame import line_of
from autograph.runtime.tracing.state.trace import Trace

BUDGET = 20_000  # operations that are recorded and functions that are called, in one trace


class DerivativeBudget:
    """What a trace has spent within functions of some packages.

    Args:
        packages: those that are traced because a derivative goes through them.

    Attributes:
        exceeded: whether that was too much.
    """

    def __init__(self, trace: Trace, packages: Collection[str]) -> None:
        self.exceeded = False
        self._trace = trace
        self._packages = packages
        self._spent = 0  # by calls that have ended
        self._begin = 0  # how many operations there were when the outermost call began
        self._outermost: tuple[FunctionType, Place] | None = None  # what is called there, and where

    def enter(self, function: FunctionType) -> bool:
        """Note that a traced function begins; returns whether `leave` must be called when it ends.

        Raises:
            Failed: more is spent than the budget allows.
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
