"""Value ranges of integers while code is emitted.

They follow from the items of ranges, operations on these, and conditions that have been checked. So the emitter sees
that sums do not overflow, and decides comparisons. `analysis/range_analysis.py` does the same for the graph of a loop.
"""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any

import numpy as np

from autograph.runtime.engines.native.llvm.ir import Value
from autograph.runtime.graph.operands import Number
from autograph.runtime.graph.traits import NARROWS, NEGATED
from autograph.runtime.ops.native import intervals
from autograph.runtime.ops.native.intervals import Rule, Span

RANGE = 2**53       # the largest item of a range
# By the emitter's names of operations.
_RULES: dict[str, Rule] = {
    "add": intervals.added, "sub": intervals.subtracted, "mul": intervals.multiplied, "div": intervals.divided,
    "rem": intervals.remainder, "and": intervals.conjunction, "or": intervals.disjunction, "xor": intervals.disjunction,
    "shl": intervals.shifted_left, "shr": intervals.shifted_right,
}  # fmt: skip


class Ranges:
    """The value ranges of a function.

    Attributes:
        found: facts that checks have established on the current path: ranges by the integer, and indices that are
            within bounds by index and length.
    """

    def __init__(self) -> None:
        self.found: dict[Any, Any] = {}
        self._bounds: dict[Value, tuple[int, int]] = {}

    def bound(self, a: Value, low: float, high: float) -> None:
        """Set the range of an integer."""
        self._bounds[a] = int(low), int(high)

    def learn(self, a: Number, low: float, high: float) -> None:
        """Narrow the range of an integer on the current path."""
        if a.known is None and (low > -inf or high < inf):
            least, most = self.bounds(a)
            if (low > least or high < most) and low <= most and least <= high:
                self.found[a.ref] = int(max(low, least)), int(min(high, most))

    def bounds(self, a: Number) -> tuple[int, int]:
        """The range of an integer."""
        if a.known is not None:
            return int(a.known), int(a.known)
        least, most = limits(a.type.dtype)
        low, high = self._bounds.get(a.ref) or (least, most)
        known = self.found.get(a.ref)
        if known is not None:
            low, high = max(low, known[0]), min(high, known[1])
        # The same bits may be an integer of another dtype: the range of `uint64` need not hold for `int64`.
        return (low, high) if least <= low and high <= most else (least, most)

    def reach(self, name: str, a: Number, b: Number) -> Span:
        """The range of the exact result of an operation."""
        return _RULES[name](self.bounds(a), self.bounds(b))

    def fits(self, name: str, a: Number, b: Number) -> bool:
        """Whether an operation cannot overflow."""
        (least, most), (low, high) = limits(a.type.dtype), self.reach(name, a, b)
        return least <= low and high <= most

    def note(self, name: str, a: Number, b: Number, found: Number) -> None:
        """Set the range of the result of an operation."""
        if name in _RULES and self.fits(name, a, b):
            self.bound(found.ref, *self.reach(name, a, b))

    def decided(self, name: str, a: Number, b: Number) -> bool | None:
        """The result of a comparison; None if the ranges do not decide it."""
        one, other = self.bounds(a), self.bounds(b)
        for comparison, result in ((name, False), (NEGATED[name], True)):
            low, high = NARROWS[comparison](one, other)
            if low > high:      # it cannot hold
                return result
        return None


@cache
def limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The smallest and the largest integer of a dtype."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)
