"""Indices that a kernel resolves itself, so that no array object is made: `x[1:-1]`, `x[i, a:b]`, `x[:, None]`.

Their items are slices with steps of 1, integers and `None`; integers and bounds are constants or values of the graph.
A slice never raises. An integer may be out of bounds; then the kernel lets Python compute, which raises.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import EllipsisType
from typing import Any

from autograph.runtime.graph.graph import Value
from autograph.runtime.graph.types import INT, TensorType


@dataclass(frozen=True, slots=True)
class Argument:
    """An integer that is an argument of the kernel."""

    place: int


def items(index: Any) -> tuple[Any, ...]:
    """The items of an index."""
    return index if isinstance(index, tuple) else (index,)


def selects_part(index: Any, of: Any) -> bool:
    """Whether a kernel can resolve an index of an array of this type, and the result is an array."""
    if not isinstance(of, TensorType):
        return False
    parts = [each for each in items(index) if each is not None]
    return len(parts) <= of.ndim and sum(map(_is_integer, parts)) < of.ndim and all(map(_is_known, parts))


def axes_added(index: Any) -> int:
    """How many more axes a part has than the array."""
    return sum(part is None for part in items(index)) - sum(map(_is_integer, items(index)))


def may_raise(index: Any) -> bool:
    """Whether an index may be out of bounds."""
    return any(map(_is_integer, items(index)))


def changes_axes(index: Any) -> bool:
    """Whether an index takes axes away or adds some, or depends on values."""
    return may_raise(index) or any(part is None or not all(map(_is_constant, _bounds(part))) for part in items(index))


def values_of(index: Any) -> list[Value]:
    """The values in an index."""
    return [each for part in items(index) for each in _bounds(part) if isinstance(each, Value)]


def mapped(index: Any, change: Callable[[Any], Any]) -> tuple[Any, ...]:
    """An index with other integers and bounds."""
    return tuple(
        slice(change(part.start), change(part.stop), part.step) if isinstance(part, slice) else change(part)
        for part in items(index)
    )


def resolved(index: Any, args: Sequence[Any]) -> tuple[Any, ...]:
    """An index with the arguments of a call."""
    return mapped(index, lambda each: args[each.place] if isinstance(each, Argument) else each)


def _is_known(part: Any) -> bool:
    if isinstance(part, slice) and part.step not in (None, 1):
        return False
    return all(_is_constant(each) or (isinstance(each, Value) and each.type == INT) for each in _bounds(part))


def _is_integer(part: Any) -> bool:
    return part is not None and not isinstance(part, (slice, EllipsisType))


def _bounds(part: Any) -> list[Any]:
    """The integers in an item of an index."""
    found = (part.start, part.stop) if isinstance(part, slice) else (part,)
    return [each for each in found if each is not None]


def _is_constant(each: Any) -> bool:
    return type(each) is int and abs(each) < 2**31
