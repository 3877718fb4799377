"""Interval arithmetic: bounds of the integer result of an op, from bounds of its arguments.

Integers are Python's, without bounds; beyond 64 bits they count as infinite. Ops have these rules through the relations
`INTERVAL` and `NARROWS`; `range_analysis` follows them through a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any, TypeAlias

from autograph.runtime.graph.graph import Value

Span: TypeAlias = tuple[float, float]       # the least and the greatest; integers, or infinities
Rule: TypeAlias = Callable[..., Span]
ANY: Span = -inf, inf
LARGE = 2**64       # beyond, numbers count as infinite


def interval(low: float, high: float) -> Span:
    """An interval, in which infinities replace bounds far beyond 64 bits, so that no number grows without end."""
    least = low if abs(low) <= LARGE else -inf if low < 0 else LARGE
    most = high if abs(high) <= LARGE else inf if high > 0 else -LARGE
    return least, most


def join(*spans: Span) -> Span:
    """The smallest interval that contains several."""
    return min(each[0] for each in spans), max(each[1] for each in spans)


def meet(a: Span, b: Span) -> Span:
    """The intersection of two intervals; its lower end exceeds its upper end if it is empty."""
    return max(a[0], b[0]), min(a[1], b[1])


# ------------------------------------------------------------------------------------------------------ arithmetic


def same(a: Span) -> Span:
    return a


def added(a: Span, b: Span) -> Span:
    return interval(a[0] + b[0], a[1] + b[1])


def subtracted(a: Span, b: Span) -> Span:
    return interval(a[0] - b[1], a[1] - b[0])


def multiplied(a: Span, b: Span) -> Span:
    found = [_product(one, other) for one in a for other in b]
    return interval(min(found), max(found))


def _product(one: float, other: float) -> float:
    return one * other if one and other else 0


def divided(a: Span, b: Span) -> Span:
    """Floor division."""
    if b[0] <= 0:       # the divisor may be negative: the result lies between the dividend and its opposite
        most = max(abs(a[0]), abs(a[1]))
        return interval(-most, most)
    found = [_quotient(one, other) for one in a for other in b]
    return interval(min(found), max(found))


def _quotient(one: float, other: float) -> float:
    """The quotient rounded down; `other` is not 0."""
    if abs(one) == inf:
        return one if other > 0 else -one
    if abs(other) == inf:
        return 0 if one == 0 or (one < 0) == (other < 0) else -1
    return one // other


def remainder(a: Span, b: Span) -> Span:
    low, high = min(b[0] + 1, 0), max(b[1] - 1, 0)
    if b[0] > 0 and a[0] >= 0:
        return a if a[1] < b[0] else (0, min(a[1], high))
    return low, high


def opposite(a: Span) -> Span:
    return -a[1], -a[0]


def absolute(a: Span) -> Span:
    return max(a[0], -a[1], 0), max(abs(a[0]), abs(a[1]))


def least(*args: Span) -> Span:
    return min(each[0] for each in args), min(each[1] for each in args)


def greatest(*args: Span) -> Span:
    return max(each[0] for each in args), max(each[1] for each in args)


# ------------------------------------------------------------------------------------------------------------ bits


def conjunction(a: Span, b: Span) -> Span:
    """`a & b`."""
    if a[0] < 0 and b[0] < 0:
        return ANY
    return 0, min(each[1] for each in (a, b) if each[0] >= 0)


def disjunction(a: Span, b: Span) -> Span:
    """`a | b`, and `a ^ b`."""
    most = max(a[1], b[1])
    if a[0] < 0 or b[0] < 0:
        return ANY
    return 0, inf if most == inf else 2 ** int(most).bit_length() - 1


def inverted(a: Span) -> Span:
    """`~a`."""
    return -a[1] - 1, -a[0] - 1


def shifted_left(a: Span, b: Span) -> Span:
    return multiplied(a, _powers(b))


def shifted_right(a: Span, b: Span) -> Span:
    return divided(a, _powers(b))


def _powers(b: Span) -> Span:
    """Powers of 2; the exponent is never negative."""
    return 2 ** int(max(b[0], 0)) if b[0] <= 64 else LARGE, 2 ** int(max(b[1], 0)) if b[1] <= 64 else inf


# ----------------------------------------------------------------------------------------------------- comparisons
# Between which integers the first of two numbers lies if the comparison holds.


def below(a: Span, b: Span) -> Span:
    return a[0], min(a[1], b[1] - 1)


def at_most(a: Span, b: Span) -> Span:
    return a[0], min(a[1], b[1])


def above(a: Span, b: Span) -> Span:
    return max(a[0], b[0] + 1), a[1]


def at_least(a: Span, b: Span) -> Span:
    return max(a[0], b[0]), a[1]


def unequal(a: Span, b: Span) -> Span:
    if b[0] != b[1]:
        return a
    return a[0] + (a[0] == b[0]), a[1] - (a[1] == b[0])


# ----------------------------------------------------------------------------------------------------- bit lengths
#
# Whether an op gives an integer of fewer bits than one of its arguments, which is positive, so that a loop that goes on
# with the result ends soon: rules for the relation `SHORTENS`.

def shift_shortens(args: tuple[Any, ...], of: Value) -> bool:
    """`x >> 1`."""
    return args[0] is of and type(args[1]) is int and args[1] >= 1


def division_shortens(args: tuple[Any, ...], of: Value) -> bool:
    """`x // 2`."""
    return args[0] is of and type(args[1]) is int and args[1] >= 2


def mask_shortens(args: tuple[Any, ...], of: Value) -> bool:
    """`x & x - 1`, which clears the lowest bit that is set."""
    return any(one is of and _is_less(other, of) for one, other in (args, args[::-1]))


def _is_less(value: Any, than: Value) -> bool:
    """Whether a value is `than - 1`."""
    return isinstance(value, Value) and value.node is not None and (value.node.op, *value.node.args) == ("sub", than, 1)
