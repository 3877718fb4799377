"""Views that only kernels use, for which no array object is made: slice fusion.

NumPy takes a tenth of a microsecond for `x[1:-1]`, and a cellular automaton has a dozen slices in each iteration. So a
kernel takes `x`, and computes address and shape of the part itself. Slices may be taken late, unless the array's shape
changes: so they wait for a kernel, and if other nodes use them, they are taken in time.

`z.real` and `z.imag` of a complex array are views, too. As long as nothing is written, reading a view is the same as
reading the array, so they may be part of a kernel, which may even have computed `z`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import getitem
from typing import Any, NamedTuple

from autograph.common.numpy_internals import DATA, SHAPE, STRIDES
from autograph.runtime.engines.native.abi.c_entry import CFunction
from autograph.runtime.engines.native.kernels import indices
from autograph.runtime.engines.native.kernels.elementwise import is_elementwise, part_of_node, reduction_of
from autograph.runtime.engines.native.kernels.loop_nest import Stream
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT
from autograph.runtime.graph.effects import effect_of, is_array
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import PURE, VIEW
from autograph.runtime.passes.speculatable import is_quiet


def is_slice(node: Node) -> bool:
    """Whether a node takes a part of an array that a kernel finds itself; see `indices`."""
    if node.op != "getitem" or not isinstance(node.args[0], Value) or not is_array(node.args[0]):
        return False
    return indices.selects_part(node.args[1], node.args[0].type)


def is_narrower(node: Node) -> bool:
    """Whether a slice has shorter rows, so that they are not adjacent any more; or is a part of the only row."""
    index, type = node.args[1], node.output.type
    if getattr(type, "ndim", 0) < 2 or indices.changes_axes(index):
        return True
    return any(part != slice(None) for part in indices.items(index)[1:])


class WaitingSlices:
    """Slices that have not been taken yet.

    Args:
        uses: the number of uses of each value in the graph.

    Attributes:
        unsure: those that may raise, for no kernel has checked their indices yet, in order. They must be taken, or be
            checked by a kernel, before anything that comes after them may raise, warn or change something.
    """

    def __init__(self, uses: Counter[Value]) -> None:
        self._uses = Counter(uses)
        self._nodes: dict[Value, Node] = {}
        self.unsure: dict[Node, None] = {}

    def add(self, node: Node) -> None:
        """Let a slice wait."""
        self._nodes[node.output] = node
        if indices.may_raise(node.args[1]) and not is_quiet(node):
            self.unsure[node] = None

    def pop(self, value: Value) -> Node | None:
        """The node of a value, which waits no longer."""
        node = self._nodes.pop(value, None)
        if node is not None:
            self.unsure.pop(node, None)
        return node

    def unsure_of(self, values: Iterable[Value]) -> list[Node]:
        """The unsure slices that are values, or of which values are slices, in order."""
        found = {node for value in values for node in self.of(value)}
        return [node for node in self.unsure if node in found]

    def checked(self, nodes: Iterable[Node]) -> None:
        """Note that a kernel checks the indices of these slices."""
        for node in nodes:
            self.unsure.pop(node, None)

    def pop_unsure(self) -> list[Node]:
        """The slices that may be out of bounds, which wait no longer."""
        found = list(self.unsure)
        for node in found:
            self.pop(node.output)
        return found

    def pop_all(self) -> list[Node]:
        """The slices that other nodes than kernels use; none wait any longer."""
        found = []
        for value, node in reversed(self._nodes.items()):
            if self._uses[value] > 0 or node in self.unsure:
                found.append(node)
            else:
                self._uses[node.args[0]] -= 1
        self._nodes.clear()
        self.unsure.clear()
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
        return reduce(getitem, [indices.resolved(index, args) for index in self.indices], args[self.place])

    def ndim_before(self, ndim: int) -> int:
        """The number of axes of the argument, if this has so many."""
        return ndim - sum(indices.axes_added(index) for index in self.indices)

    @property
    def keeps_axes(self) -> bool:
        """Whether it has all axes of the argument, and its bounds are constants."""
        return not any(map(indices.changes_axes, self.indices))

    def along(self, axis: int) -> list[tuple[int | None, int | None]]:
        """The bounds of an axis's slices, one after the other."""
        parts = [indices.items(index)[axis] for index in self.indices if axis < len(indices.items(index))]
        return [(part.start, part.stop) for part in parts if part != slice(None)]


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
        if not part.keeps_axes:
            continue
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


def layout_of(
    c: CFunction, array: ir.Value, ndim: int, parts: Sequence[Any], strided: bool, given: Callable[[int], ir.Value]
) -> Layout:
    """The layout of an array, or of a slice of a slice of it; strides only if they are needed.

    Args:
        ndim: of the array.
        parts: the indices.
        given: the integer that is an argument of the kernel.
    """
    data, found = c.load_at(ir.PTR, array, DATA), list[list[ir.Value]]()
    for field in (SHAPE, STRIDES) if strided else (SHAPE,):
        pointer = c.load_at(ir.PTR, array, field)
        found.append([c.load_at(ir.I64, pointer, SLOT * axis) for axis in range(ndim)])
    layout = Layout(data, *(found if strided else (*found, [])))
    for index in parts:
        layout = _part_of(c, layout, index, given)
    return layout


def _part_of(c: CFunction, array: Layout, index: Any, given: Callable[[int], ir.Value]) -> Layout:
    """The layout of a slice of an array; demands that integers are in bounds."""

    def integer(each: Any) -> ir.Value | int:
        return given(each.place) if isinstance(each, indices.Argument) else each

    b, data, shape, strides = c.b, array.data, list[ir.Value](), list[ir.Value]()
    axes = zip(array.shape, array.strides)
    for part in indices.items(index):
        if part is None:
            shape.append(ir.constant(ir.I64, 1))
            strides.append(ir.constant(ir.I64, 0))
            continue
        length, stride = next(axes)
        if isinstance(part, slice):
            begin = ir.constant(ir.I64, 0) if part.start is None else _bound(b, integer(part.start), length)
            end = length if part.stop is None else _bound(b, integer(part.stop), length)
            shape.append(end if part.start is None else _at_least_zero(b, b.sub(end, begin)))
            strides.append(stride)
        else:
            begin = _from_the_end(b, integer(part), length)
            c.demand(b.icmp("ult", begin, length))
        data = b.gep(data, b.mul(begin, stride))
    for length, stride in axes:
        shape.append(length)
        strides.append(stride)
    return Layout(data, shape, strides)


def _from_the_end(b: Builder, index: ir.Value | int, length: ir.Value) -> ir.Value:
    """An index as a position: negative ones count from the end."""
    if isinstance(index, int):
        return b.add(length, index) if index < 0 else ir.constant(ir.I64, index)
    return b.select(b.icmp("slt", index, 0), b.add(length, index), index)


def _bound(b: Builder, bound: ir.Value | int, length: ir.Value) -> ir.Value:
    """Where a slice of so many elements begins or ends: NumPy's rule."""
    place = _from_the_end(b, bound, length)
    if not isinstance(bound, int) or bound < 0:
        place = _at_least_zero(b, place)
    if not isinstance(bound, int) or bound >= 0:
        place = b.select(b.icmp("slt", length, place), length, place)
    return place


def _at_least_zero(b: Builder, x: ir.Value) -> ir.Value:
    return b.select(b.icmp("slt", x, 0), 0, x)
