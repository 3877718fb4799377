"""How many elements a part of an array has at most: three times three in `x[i - 1:i + 2, max(0, j - 1):j + 2]`.

That only decides whether a loop computes with these elements by itself, so a wrong guess costs time, and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.traits import (
    ADDITION,
    CHOOSES_BY,
    COMMUTATIVE,
    GIVES_PARTS,
    LOOP,
    MAKES_ARRAYS,
    MAKES_VIEWS,
    ON_ATTRIBUTE,
    READS_VIEWS,
)
from autograph.runtime.graph.types import ObjectType, TensorType

CHAIN = 16      # operations, one on the result of the other
DEEP = 4        # sums and extremes within a bound


NO_SIZES: Mapping[Value, int] = MappingProxyType({})


def sizes_in(loop: Node, given: Mapping[Value, int]) -> dict[Value, int]:
    """The lengths of vectors in a loop, those that it carries included, if some have these lengths before it.

    And integers, such as half the width of a window.
    """
    found = dict(given)
    carried = loop.args[1:] if loop.op == "for" else loop.args if loop.op in LOOP else ()
    for block in loop.blocks:
        for value, param in zip(carried, block.params[len(block.params) - len(carried) :]):
            if isinstance(value, Value) and value in found:
                found[param] = found[value]
    for node in (node for block in loop.blocks for node in block.nodes):
        if node.blocks:
            found |= sizes_in(node, found)
        else:
            note_sizes(node, found)
    return found


def note_sizes(node: Node, sizes: dict[Value, int]) -> bool:
    """Note the length of a vector that a node makes, of a shape that it reads, or of an item of that.

    It is at most that of the longest operand. Returns whether the node is of that kind, and those are known.
    """
    first, *rest = node.args or (None,)
    given: list[int | None] = [most_elements(each, sizes) for each in node.inputs if _is_array(each)]
    if ON_ATTRIBUTE.get(node.op) == "get":
        fits = _is_array(first) and rest == ["shape"]
    elif node.op in MAKES_ARRAYS:
        fits = all(map(_holds_vectors, node.outputs))
        given = given or [sizes.get(each) for each in node.inputs]
    else:
        fits = node.op in GIVES_PARTS and isinstance(first, Value) and not _is_array(first)
        given = [sizes.get(each) for each in node.inputs]
    known = [each for each in given if each is not None]
    if not fits or not known or len(known) < len(given):
        return False
    sizes.update(dict.fromkeys(node.outputs, max(known)))
    return True


def _holds_vectors(value: Value) -> bool:
    """Whether a value is a vector of unknown length, or a tuple of such."""
    type = value.type
    types = type.items if isinstance(type, ObjectType) and type.name == "tuple" else (type,)
    return bool(types) and all(
        isinstance(each, TensorType) and each.exact and each.kind == "array" and each.shape == (None,) for each in types
    )


def _is_array(arg: Any) -> bool:
    return isinstance(arg, Value) and isinstance(arg.type, TensorType) and arg.type.kind == "array"


def most_elements(value: Value, sizes: Mapping[Value, int] = NO_SIZES) -> int | None:
    """The number of elements of an array at most; None if it is not known.

    Args:
        sizes: what vectors probably have.
    """
    for _ in range(CHAIN):
        if value in sizes:
            return sizes[value]
        shape = value.type.shape if isinstance(value.type, TensorType) else (None,)
        if None not in shape:
            return math.prod(shape)  # type: ignore[arg-type]
        node = value.node
        if node is None or node.op not in MAKES_VIEWS:
            return None
        if node.op not in READS_VIEWS:
            return _of_part(*node.args, sizes) if len(node.args) == 2 else None
        unknown = (each for each in node.inputs if isinstance(each.type, TensorType) and None in each.type.shape)
        value = next(unknown, value)
    return None


def _of_part(x: Any, index: Any, sizes: Mapping[Value, int]) -> int | None:
    """The same of `x[index]`."""
    entries = index if type(index) is tuple else (index,)
    if not isinstance(x, Value) or not isinstance(x.type, TensorType) or len(entries) > x.type.ndim:
        return None
    lengths = list(x.type.shape[len(entries) :])
    for entry, length in zip(entries, x.type.shape):
        if isinstance(entry, slice):
            most = _of_slice(entry, sizes)
            lengths.append(most if length is None else min(length, most or length))
        elif entry is None or entry is ...:
            return None
    return None if None in lengths else math.prod(lengths)  # type: ignore[arg-type]


def _of_slice(entry: slice, sizes: Mapping[Value, int]) -> int | None:
    """The number of elements that a slice takes at most, if its ends are at most a constant apart."""
    if type(entry.step) not in (int, type(None)) or entry.stop is None:
        return None
    lows, highs = _bounds(entry.start or 0, "gt", DEEP, sizes), _bounds(entry.stop, "lt", DEEP, sizes)
    spans = [highs[base] - lows[base] for base in highs if base in lows]
    found = min((span for span in spans if span > 0), default=None)     # a negative end counts from the other end
    return None if found is None else -(-found // abs(entry.step or 1))


def _bounds(end: Any, how: str, deep: int, sizes: Mapping[Value, int]) -> dict[Value | None, int]:
    """Sums of a value and a constant that an end of a slice is at least (`gt`) or at most (`lt`)."""
    if not isinstance(end, Value):
        return {None: end} if type(end) is int else {}
    found: dict[Value | None, int] = {end: 0}
    node = end.node
    if node is None or not deep or node.kwargs or len(node.args) < 2:
        return found
    if node.op in ADDITION and len(node.args) == 2:
        sign, (one, other) = 1 if node.op in COMMUTATIVE else -1, node.args
        for to, by in ((one, other), (other, one))[: 1 + (sign > 0)]:
            change = sizes.get(by) if isinstance(by, Value) else by
            if type(change) is int:
                found |= {base: offset + sign * change for base, offset in _bounds(to, how, deep - 1, sizes).items()}
    elif CHOOSES_BY.get(node.op) == how:
        for each in node.args:
            found |= _bounds(each, how, deep - 1, sizes)
    return found
