"""Views that only kernels use, for which no array object is made: slice fusion.

NumPy takes a tenth of a microsecond for `x[1:-1]`, and a cellular automaton has a dozen slices in each iteration. So a
kernel takes `x`, and computes address and shape of the part itself. Slices may be taken late, unless the array's shape
changes: so they wait for a kernel, and if other nodes use them, they are taken in time.

`z.real` and `z.imag` of a complex array are views, too. As long as nothing is written, reading a view is the same as
reading the array, so they may be part of a kernel, which may even have computed `z`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from autograph.common.numpy_internals import DATA, SHAPE, STRIDES
from autograph.runtime.engines.native.kernels.elementwise import is_elementwise, part_of_node, reduction_of
from autograph.runtime.engines.native.kernels.loop_nest import Stream
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, ObjectBuilder
from autograph.runtime.graph.effects import effect_of, is_array
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import PURE, VIEW
from autograph.runtime.graph.types import TensorType


def is_plain_slice(node: Node) -> bool:
    """Whether a node slices an array with steps of 1 and constant bounds, and keeps all dimensions."""
    if node.op != "getitem" or not isinstance(node.args[0], Value) or not is_array(node.args[0]):
        return False
    type, parts = node.args[0].type, slices(node.args[1])
    return isinstance(type, TensorType) and len(parts) <= type.ndim and all(map(_is_gapless, parts))


def is_narrower(node: Node) -> bool:
    """Whether a slice has shorter rows, so that they are not adjacent any more; or is a part of the only row."""
    parts, type = slices(node.args[1]), node.output.type
    return getattr(type, "ndim", 0) < 2 or any(part != slice(None) for part in parts[1:])


def _is_gapless(part: Any) -> bool:
    if not isinstance(part, slice) or part.step not in (None, 1):
        return False
    return all(bound is None or (type(bound) is int and abs(bound) < 2**31) for bound in (part.start, part.stop))


class WaitingSlices:
    """Slices that have not been taken yet.

    Args:
        uses: the number of uses of each value in the graph.
    """

    def __init__(self, uses: Counter[Value]) -> None:
        self._uses = Counter(uses)
        self._nodes: dict[Value, Node] = {}

    def add(self, node: Node) -> None:
        """Let a slice wait."""
        self._nodes[node.output] = node

    def pop(self, value: Value) -> Node | None:
        """The node of a value, which waits no longer."""
        return self._nodes.pop(value, None)

    def pop_all(self) -> list[Node]:
        """The slices that other nodes than kernels use; none wait any longer."""
        found = []
        for value, node in reversed(self._nodes.items()):
            if self._uses[value] > 0:
                found.append(node)
            else:
                self._uses[node.args[0]] -= 1
        self._nodes.clear()
        return found[::-1]

    def used(self, counts: dict[Value, int]) -> None:
        """Note that a kernel takes these slices itself, and how often it uses each."""
        self._uses.subtract(counts)

    def of(self, value: Value) -> list[Node]:
        """The chain of waiting slices that ends with a value, outermost first."""
        found: list[Node] = []
        while value in self._nodes:
            found.append(self._nodes[value])
            value = found[-1].args[0]
        return found[::-1]


def part_views(nodes: Sequence[Node], uses: Counter[Value]) -> set[Node]:
    """The nodes of a block that are `real` or `imag`, and of which all uses are reads before anything may be written.

    Args:
        uses: the number of uses of each value.
    """
    found, unread = set[Node](), dict[Value, int]()
    for node in nodes:
        if part_of_node(node):
            unread[node.output] = uses[node.output]
        elif unread and (is_elementwise(node) or reduction_of(node)):
            for value, count in Counter(node.inputs).items():
                if value in unread:
                    unread[value] -= count
                    if not unread[value] and value.node is not None:
                        found.add(value.node)
        elif node.blocks or effect_of(node).kind not in (PURE, VIEW):
            unread.clear()
    return found


# Operands -------------------------------------------------------------------------------------------------------------


class Part(NamedTuple):
    """An operand that is an argument, or a slice of a slice of one; see `views`."""

    place: int
    indices: tuple[Any, ...] = ()

    def of(self, args: Sequence[Any]) -> Any:
        return reduce(getitem, self.indices, args[self.place])

    def along(self, axis: int) -> list[tuple[int | None, int | None]]:
        """The bounds of an axis's slices, one after the other."""
        parts = [slices(index)[axis] for index in self.indices if axis < len(slices(index))]
        return [(part.start, part.stop) for part in parts if part != slice(None)]


def slices(index: Any) -> tuple[Any, ...]:
    """The items of an index."""
    return index if isinstance(index, tuple) else (index,)


def neighboring_rows(
    parts: Sequence[tuple[Part, Stream]], first: int, order: str = "C"
) -> tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int, int]]]:
    """The operands whose rows are, and seem to be, rows of the same array as those of an operand before them.

    They are if the slices of the outer axes are the same. Other slices may take fewer rows than they say. For the
    results see `Nest.same_rows` and `Nest.near_rows`.

    Args:
        first: the place of the first operand.
        order: that of the axes, `C` or `F`; the elements of a row follow each other along the last of them.
    """
    same, near, rows, arrays = {}, {}, dict[Any, tuple[int, int]](), dict[Any, tuple[int, int, int]]()
    for place, (part, kind) in enumerate(parts, first):
        cuts = [part.along(axis) for axis in range(kind.ndim)][:: 1 if order == "C" else -1]
        starts = [sum(start or 0 for start, _ in cut) for cut in cuts]
        if not kind.steps or kind.strided or any((start or 0) < 0 for start, _ in cuts[-1]):
            continue
        leader, begin = rows.setdefault((part.place, repr(cuts[:-1])), (place, starts[-1]))
        if leader != place:
            same[place] = leader, kind.dtype.itemsize * (starts[-1] - begin)
        if kind.ndim >= 2 and min(starts) >= 0:
            *planes, row, column = starts
            leader, *at = arrays.setdefault((part.place, *planes), (place, row, column))
            if leader != place:
                near[place] = leader, row - at[0], kind.dtype.itemsize * (column - at[1])
    return same, near


class Layout(NamedTuple):
    """The address, shape and strides of an array; `data` is null for an array that a nest computes."""

    data: ir.Value
    shape: list[ir.Value]
    strides: list[ir.Value]


def layout_of(c: ObjectBuilder, array: ir.Value, ndim: int, indices: Sequence[Any], strided: bool) -> Layout:
    """The layout of an array, or of a slice of a slice of it; strides only if they are needed."""
    data, found = c.load_at(ir.PTR, array, DATA), list[list[ir.Value]]()
    for field in (SHAPE, STRIDES) if strided else (SHAPE,):
        pointer = c.load_at(ir.PTR, array, field)
        found.append([c.load_at(ir.I64, pointer, SLOT * axis) for axis in range(ndim)])
    shape, strides = found if strided else (*found, [])
    for index in indices:
        for axis, part in enumerate(slices(index)):
            length, shape[axis] = shape[axis], _bound(c.b, part.stop, shape[axis])
            if part.start:
                begin = _bound(c.b, part.start, length)
                data = c.b.gep(data, c.b.mul(begin, strides[axis]))
                shape[axis] = _at_least_zero(c.b, c.b.sub(shape[axis], begin))
    return Layout(data, shape, strides)


def _bound(b: Builder, bound: int | None, length: ir.Value) -> ir.Value:
    """Where a slice of so many elements begins or ends: NumPy's rule for a constant bound."""
    if bound is None:
        return length
    if bound < 0:
        return _at_least_zero(b, b.add(length, bound))
    return b.select(b.icmp("slt", length, bound), length, bound)


def _at_least_zero(b: Builder, x: ir.Value) -> ir.Value:
    return b.select(b.icmp("slt", x, 0), 0, x)
