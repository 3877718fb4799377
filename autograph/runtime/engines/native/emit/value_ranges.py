"""Range analysis while code is emitted: between which numbers integers are.

What is known are the items of ranges, what is computed of them, and what conditions say of them. So the emitter sees
that sums do not overflow, and which way comparisons go.
"""

from __future__ import annotations

from functools import cache
from math import inf
from typing import Any

import numpy as np

from autograph.runtime.engines.native.llvm.ir import Value
from autograph.runtime.graph.operands import Number
from autograph.runtime.graph.traits import NEGATED
from autograph.runtime.ops.native import intervals
from autograph.runtime.ops.native.intervals import Rule, Span

RANGE = 2**53       # an item of a range is no larger
# By what the emitter calls its instructions.
_RULES: dict[str, Rule] = {
    "add": intervals.added, "sub": intervals.subtracted, "mul": intervals.multiplied, "div": intervals.divided,
    "rem": intervals.remainder, "and": intervals.conjunction, "or": intervals.disjunction, "xor": intervals.disjunction,
    "shl": intervals.shifted_left, "shr": intervals.shifted_right,
}  # fmt: skip


class Ranges:
    """Between which numbers the integers of a function are.

    Attributes:
        found: what is known since it has been looked at, until paths meet: places within bounds, by index and length;
            and between which numbers integers are.
    """

    def __init__(self) -> None:
        self.found: dict[Any, Any] = {}
        self._bounds: dict[Value, tuple[int, int]] = {}

    def bound(self, a: Value, low: float, high: float) -> None:
        """Tell that an integer is between two numbers."""
        self._bounds[a] = int(low), int(high)

    def learn(self, a: Number, low: float, high: float) -> None:
        """Tell that an integer is between two numbers, as far as the emitter goes on from here."""
        if a.known is None and (low > -inf or high < inf):
            least, most = self.bounds(a)
            if (low > least or high < most) and low <= most and least <= high:
                self.found[a.ref] = int(max(low, least)), int(min(high, most))

    def bounds(self, a: Number) -> tuple[int, int]:
        """Between which numbers an integer is."""
        if a.known is not None:
            return int(a.known), int(a.known)
        least, most = limits(a.type.dtype)
        low, high = self._bounds.get(a.ref) or (least, most)
        known = self.found.get(a.ref)
        if known is not None:
            low, high = max(low, known[0]), min(high, known[1])
        # The bits may be those of an integer of another dtype: what is known of `uint64` need not hold of `int64`.
        return (low, high) if least <= low and high <= most else (least, most)

    def reach(self, name: str, a: Number, b: Number) -> Span:
        """Between which numbers the exact result of an operation is."""
        return _RULES[name](self.bounds(a), self.bounds(b))

    def fits(self, name: str, a: Number, b: Number) -> bool:
        """Whether the result of an operation is sure to fit into the bits that there are."""
        (least, most), (low, high) = limits(a.type.dtype), self.reach(name, a, b)
        return least <= low and high <= most

    def note(self, name: str, a: Number, b: Number, found: Number) -> None:
        """Remember between which numbers the result of an operation is."""
        if name in _RULES and self.fits(name, a, b):
            self.bound(found.ref, *self.reach(name, a, b))

    def decided(self, name: str, a: Number, b: Number) -> bool | None:
        """The result of a comparison; None if the ranges do not decide it."""
        return _decided(name, self.bounds(a), self.bounds(b))


@cache
def limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the largest integer of a dtype."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def _decided(name: str, a: tuple[int, int], b: tuple[int, int]) -> bool | None:
    if name in ("gt", "ge", "ne"):
        opposite = _decided(NEGATED[name], a, b)
        return None if opposite is None else not opposite
    if name == "eq":
        return False if a[1] < b[0] or b[1] < a[0] else True if a == b and a[0] == a[1] else None
    if name == "lt":
        return True if a[1] < b[0] else False if a[0] >= b[1] else None
    return True if a[1] <= b[0] else False if a[0] > b[1] else None
