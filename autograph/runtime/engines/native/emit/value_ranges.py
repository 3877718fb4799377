"""The emitter that knows something of numbers, and spares what need not be looked at.

It knows between which numbers some integers are: the items of ranges, and what is computed of them. So it sees that
sums do not overflow. And it knows which indices have been found to be within bounds.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from math import inf
from typing import Any

import numpy as np

from autograph.runtime.engines.native.emit.external_calls import Borrowing
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type
from autograph.runtime.graph.operands import Array, Number
from autograph.runtime.graph.traits import NEGATED
from autograph.runtime.graph.types import BOOL, INT
from autograph.runtime.ops.native import intervals
from autograph.runtime.ops.native.intervals import Rule, Span, join

RANGE = 2**53       # an item of a range is no larger
_BITS: dict[str, Callable[..., Any]] = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}
# By what the emitter calls its instructions.
_RULES: dict[str, Rule] = {
    "add": intervals.added, "sub": intervals.subtracted, "mul": intervals.multiplied, "div": intervals.divided,
    "rem": intervals.remainder, "and": intervals.conjunction, "or": intervals.disjunction, "xor": intervals.disjunction,
    "shl": intervals.shifted_left, "shr": intervals.shifted_right,
}  # fmt: skip


class Knowing(Borrowing):
    """See `autograph.runtime.graph.operands.Emitter`.

    Attributes:
        found: what is known since it has been looked at: places within bounds, by index and length; and between which
            numbers integers are.
    """

    def __init__(self, name: str, leave: Callable[[], str]) -> None:
        super().__init__(name, leave)
        self.found: dict[Any, Any] = {}
        self._bounds: dict[str, tuple[int, int]] = {}

    @contextmanager
    def rarely(self, condition: Number) -> Iterator[None]:
        before = dict(self.found)
        with super().rarely(condition):
            yield
        self.found = before

    def mark(self) -> Any:
        return super().mark(), dict(self.found)

    def reset(self, mark: Any) -> None:
        before, self.found = mark
        super().reset(before)

    def bound(self, ref: str, low: int, high: int) -> None:
        """Tell that an integer is between two numbers."""
        self._bounds[ref] = low, high

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
        limits = _limits(a.type.dtype)
        low, high = self._bounds.get(a.ref) or limits
        least, most = self.found.get(a.ref, (low, high))
        low, high = max(low, least), min(high, most)
        # The bits may be those of an integer of another dtype: what is known of `uint64` need not hold of `int64`.
        return (low, high) if limits[0] <= low and high <= limits[1] else limits

    def integer(self, name: str, a: Number, b: Number) -> Number:
        if a.type == BOOL and name in _BITS:
            known, other = (a, b) if a.known is not None else (b, a)
            if known.known is not None:
                if other.known is not None:
                    return self.constant(_BITS[name](a.known, b.known), a.type)
                if name != "xor" or not known.known:        # it decides, or changes nothing
                    return known if known.known is (name == "or") and name != "xor" else other
        divides = name in ("div", "rem")
        sure = not divides or (self.bounds(a)[0] >= 0 and self.bounds(b)[0] > 0)
        if divides and sure:     # without signs the machine is faster
            found = Number(a.type, self._emit(f"u{name} {llvm_type(a.type.dtype)} {a.ref}, {b.ref}"))
        else:
            found = super().integer(name, a, b)
        if a.type.dtype.kind in "iu" and name in _RULES and sure:
            (least, most), (low, high) = _limits(a.type.dtype), reach(name, self.bounds(a), self.bounds(b))
            if least <= low and high <= most:
                self.bound(found.ref, int(low), int(high))
        return found

    def select(self, condition: Number, a: Number, b: Number) -> Number:
        if condition.known is not None:
            return a if condition.known else b
        found = super().select(condition, a, b)
        if a.type.dtype.kind in "iu":
            self.bound(found.ref, *map(int, join(self.bounds(a), self.bounds(b))))
        return found

    def overflowing(self, name: str, a: Number, b: Number) -> tuple[Number, Number]:
        (least, most), (low, high) = _limits(a.type.dtype), reach(name, self.bounds(a), self.bounds(b))
        if least <= low and high <= most:
            return self.integer(name, a, b), self.constant(False, BOOL)
        if name == "mul" and b.known is None:
            a, b = b, a
        if name == "mul" and b.known is not None and least == -(2**63):
            return self._multiplied(a, b, int(b.known))
        return super().overflowing(name, a, b)

    def _multiplied(self, a: Number, b: Number, factor: int) -> tuple[Number, Number]:
        """`overflowing("mul", …)` by a constant. A bit is left free, so that what is added next needs no look."""
        far = 2**62 // abs(factor)
        found = self.integer("mul", a, b)
        self.bound(found.ref, -(2**62), 2**62)
        if self.bounds(a)[0] >= -far:
            return found, self.compare("gt", a, self.constant(far, INT))
        moved = self._emit(f"add i64 {a.ref}, {far}")
        return found, Number(BOOL, self._emit(f"icmp ugt i64 {moved}, {2 * far}"))

    def compare(self, name: str, a: Number, b: Number) -> Number:
        if a.type.dtype.kind in "iu":
            decided = _decided(name, self.bounds(a), self.bounds(b))
            if decided is not None:
                return self.constant(decided, BOOL)
        return super().compare(name, a, b)

    def length(self, x: Array, axis: int) -> Number:
        """A dimension of an array, of which NumPy has no more bytes than an integer can tell."""
        found = super().length(x, axis)
        self.bound(found.ref, 0, (2**63 - 1) // x.dtype.itemsize)
        return found

    def place(self, index: Number, length: Number) -> Number:
        """A negative index is rare, if it is no constant: it goes by a path of its own."""
        key = index.ref, length.ref
        known: Number | None = self.found.get(key)
        if known is None:
            known = self.found[key] = self._placed(index, length)
            most = self.bounds(length)[1]
            self.learn(index, -most, most - 1)
            if known.ref != index.ref:
                self.found[known.ref] = 0, most - 1
        return known

    def _placed(self, index: Number, length: Number) -> Number:
        low, high = self.bounds(index)
        if low >= 0 or high < 0:
            place = self.integer("add", index, length) if high < 0 else index
            self.leave_if(self._outside(place, length))
            return place
        rare, on = self.label("rare"), self.label("on")
        here = self._label
        self._branch(self._outside(index, length), rare, on, rarely=True)
        self.begin(rare)
        place = self.integer("add", index, length)
        self.leave_if(self._outside(place, length))
        there = self._label
        self._now.append(f"  br label %{on}")
        self.begin(on)
        return Number(INT, self._emit(f"phi i64 [ {index.ref}, %{here} ], [ {place.ref}, %{there} ]"))

    def _outside(self, place: Number, length: Number) -> Number:
        return Number(BOOL, self._emit(f"icmp uge i64 {place.ref}, {length.ref}"))


@cache
def _limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the largest integer of a dtype."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def reach(name: str, a: Span, b: Span) -> Span:
    """Between which numbers is what comes of integers that are between these."""
    return _RULES[name](a, b)


def _decided(name: str, a: tuple[int, int], b: tuple[int, int]) -> bool | None:
    """What a comparison gives, as far as it can be told by what the integers are between."""
    if name in ("gt", "ge", "ne"):
        opposite = _decided(NEGATED[name], a, b)
        return None if opposite is None else not opposite
    if name == "eq":
        return False if a[1] < b[0] or b[1] < a[0] else True if a == b and a[0] == a[1] else None
    if name == "lt":
        return True if a[1] < b[0] else False if a[0] >= b[1] else None
    return True if a[1] <= b[0] else False if a[0] > b[1] else None
