"""Several nests that take turns over the same rows: `e = exp(x - top)`, its sum over each row, and `e / total`.

What comes behind a reduction of rows is another nest, a *phase* of the kernel. The phases go through a block of rows
one after the other, so that what one leaves to the next is in the processor's cache still; unless it is used elsewhere,
it is never more than a block, or lies where a result will be. A phase may also be narrow: what is computed once for
each row, as a square root of its variance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any

from autograph.runtime.engines.native.abi.c_entry import Builtin
from autograph.runtime.engines.native.kernels.elementwise import key_of, operands, reduction_of
from autograph.runtime.engines.native.kernels.entry_points import PARALLEL, Gathering
from autograph.runtime.engines.native.kernels.in_place import target_of
from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.operands import Single, Stream
from autograph.runtime.engines.native.kernels.slice_layout import Layout, Part
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT
from autograph.runtime.engines.native.llvm.ir import FALSE, I64, PTR, VOID, Module, Parameter, array, constant
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.types import TensorType

BLOCK = 1 << 13         # elements of a block, if that is more than a row; 64 KB of floats


def goes_on(node: Node) -> bool:
    """Whether a node reduces rows, each to an array of one element, with which others may go on."""
    reduction = reduction_of(node)
    return reduction is not None and reduction.keepdims


def shape_of(node: Node) -> tuple[int | None, ...]:
    """The shape that a node goes through."""
    type = node.args[0].type if reduction_of(node) else node.output.type
    assert isinstance(type, TensorType)
    return type.shape


def narrow(shape: tuple[int | None, ...]) -> tuple[int | None, ...]:
    """What comes of a shape if rows are reduced."""
    return (*shape[:-1], 1)


def split(nodes: Sequence[Node]) -> list[list[Node]]:
    """The nodes of each phase. All of one are of one shape, and only the last may be a reduction."""
    if not any(map(goes_on, nodes[:-1])):
        return [list(nodes)]
    found: list[list[Node]] = []
    for node in nodes:
        last = found[-1][-1] if found else None
        if last is None or goes_on(last) or shape_of(last) != shape_of(node):
            found.append([])
        found[-1].append(node)
    return found


class Phases:
    """The nests of a kernel's phases.

    Attributes:
        nests: one for each.
        inputs: what goes into each, with its kind.
        outputs: what comes out of each.
        results: what of that is used elsewhere.
    """

    def __init__(
        self, nodes: Sequence[Node], inputs: dict[Any, Stream | Single], results: Sequence[Value], ndim: int
    ) -> None:
        parts = split(nodes)
        used = [{key_of(arg): arg for node in part for arg in operands(node)} for part in parts]
        uses = Counter(key for keys in used for key in keys)
        known: dict[Any, Stream | Single] = dict(inputs)
        self.results = set(results)
        self._shapes = [shape_of(part[0]) for part in parts]
        self.nests: list[Nest] = []
        self.inputs: list[dict[Any, Stream | Single]] = []
        self.outputs: list[list[Value]] = []
        self._merged: dict[Any, Value] = {}
        for number, (part, keys) in enumerate(zip(parts, used), 1):
            own = [node.output for node in part]
            given = {key: known[key] for key in keys if key not in own}
            left = [value for value in own if value in self.results or uses[value] > (value in keys)]
            gone = [key for key in given if not any(key in each for each in used[number:])]
            within = self._within(number - 1, part[-1], left, {key: given[key] for key in gone})
            nest = Nest(part, given, left, ndim, number, within)
            steps = any(isinstance(kind, Stream) and kind.steps for kind in given.values())
            for value, dtype in zip(left, nest.dtypes):
                known[value] = Stream(dtype, ndim, steps and not (nest.reduction and value is own[-1]))
            self.nests.append(nest)
            self.inputs.append(given)
            self.outputs.append(left)

    def _within(
        self, number: int, last: Node, left: Sequence[Value], gone: dict[Any, Stream | Single]
    ) -> dict[Any, Value]:
        """Of what nobody needs behind a phase, one that may lie where its result will be.

        Then there is one array less; and that memory is brought along while something is computed that takes longer.
        """
        type = left[0].type if len(left) == 1 and left[0] in self.results else None
        if not isinstance(type, TensorType) or reduction_of(last) or target_of(last):
            return {}
        for place, values in enumerate(self.outputs):
            for value in values:
                kind = gone.get(value)
                same = isinstance(kind, Stream) and kind.steps and kind.dtype == type.dtype
                if same and value not in self.results and self.is_wide(place) and self.is_wide(number):
                    self._merged[value] = left[0]
                    return {value: left[0]}
        return {}

    def is_wide(self, number: int) -> bool:
        """Whether a phase goes through whole rows, as the first one does."""
        return self._shapes[number] == self._shapes[0]

    @property
    def bases(self) -> list[int]:
        """Where in the frame each has its slots; behind them, how many rows are a block."""
        return [0, *accumulate(nest.slots for nest in self.nests)]

    @property
    def ways(self) -> list[tuple[list[int], int | None]]:
        """Of each array that a phase leaves to others: the slots with its address, the first of which is the phase's,
        and the slot that says how far its rows are apart; None for a result, of which there is more than a block."""
        found: dict[Any, list[int]] = {}
        apart: dict[Any, int | None] = {}
        for base, nest, given, left in zip(self.bases, self.nests, self.inputs, self.outputs):
            streams = [key for key, kind in given.items() if isinstance(kind, Stream)]
            for place, key in enumerate(streams, base + len(left)):
                if key in found:
                    found[key].append(place)
            for place, value in enumerate(left):
                found[value] = [base + place]
                apart[value] = None if value in self.results else base + nest.stride(place, 0)
        for key, result in self._merged.items():
            found[result] += found.pop(key)
        return [(slots, apart[key]) for key, slots in found.items() if len(slots) > 1]


class Phased(Gathering):
    """The text of a C function around the nests of some phases; see `Gathering`.

    Args:
        parts: which part of which argument each input is.
    """

    def __init__(
        self,
        phases: Phases,
        parts: dict[Any, Part],
        count: int,
        ndim: int,
        other: Callable[..., Any],
        redo: Callable[..., Any],
        parallel: Callable[..., Any],
    ) -> None:
        Builtin.__init__(self, [], set(), count)
        self._ndim, self._flat, self._gives, self._phases = ndim, "", False, phases
        rows_slot = phases.bases[-1]
        self._open(rows_slot + 1, other)
        self._make_room(phases.nests)
        self._frames = [self._at("%frame", base) for base in phases.bases]
        self._known: dict[Any, Layout] = {}     # of what phases leave
        found: list[list[str]] = []
        sizes = []
        for number, given in enumerate(phases.inputs):
            self._enter(number)
            for key, kind in given.items():
                if key in self._known:
                    self._arrays.append(self._known[key])
                else:
                    self._take(parts.get(key), kind)
            sizes.append(self._demand_shapes())
            found.append(self._dims)
            self._demand_same(found[0])
            self._leave()
        made: list[str] = []
        for number, self._dims in enumerate(found):
            self._enter(number)
            made = self._make(made, redo)
        whole = found[0][0]
        row = self._emit(f"udiv i64 {sizes[0]}, {whole}")
        rows = self._emit(f"udiv i64 {BLOCK}, {row}")
        rows = self._emit(f"select i1 {self._emit(f'icmp eq i64 {rows}, 0')}, i64 1, i64 {rows}")
        rows = self._emit(f"select i1 {self._emit(f'icmp slt i64 {rows}, {whole}')}, i64 {rows}, i64 {whole}")
        self._do(f"  store i64 {rows}, ptr {self._at('%frame', rows_slot)}")
        self._run(sizes[0], max(1, PARALLEL // sum(nest.cost for nest in phases.nests)), made, redo, parallel)

    def _enter(self, number: int) -> None:
        """From now on, it is about that phase."""
        self._begin(self._phases.nests[number])
        self._number, self._frame = number, self._frames[number]

    def _demand_same(self, first: Sequence[str]) -> None:
        """Demand of a phase that it goes through what the first one does, or through one element for each row."""
        narrow = not self._phases.is_wide(self._number)
        for axis, (dim, other) in enumerate(zip(self._dims, first), 1):
            other = "1" if narrow and axis == self._ndim else other
            self.demand(self._emit(f"icmp eq i64 {dim}, {other}"))

    def _leave(self) -> None:
        """Note how what the phase leaves lies in memory."""
        for place, value in enumerate(self._phases.outputs[self._number]):
            shape = [*self._dims[:-1], "1"] if self._is_reduced(place) else self._dims
            strides = [self._strides[place, axis] for axis in range(self._nest.depth)]
            self._known[value] = Layout("", shape, [*strides, str(self._nest.dtypes[place].itemsize)])

    def _is_made(self, place: int) -> bool:
        return self._phases.outputs[self._number][place] in self._phases.results


def fuse(module: Module, phases: Phases) -> None:
    """Write the function `loop`: the loops of the phases, a block of rows at a time. It gives the flags."""
    slots = phases.bases[-1] + 1
    given = Parameter("frame", PTR), Parameter("begin", I64), Parameter("end", I64)
    b = Builder(module.define("loop", I64, *given))
    frame, begin, end = given
    own = b.alloca(array(slots, I64))
    b.intrinsic("memcpy", own, frame, constant(I64, SLOT * slots), FALSE, result=VOID, overload=[PTR, PTR, I64])
    at = [b.gep(own, SLOT * slot) for slot in range(slots)]
    rows, blocks = b.load(I64, at[-1]), []
    size: ir.Value = ir.zero(I64)
    for places, apart in phases.ways:
        if apart is None:
            whole = b.load(PTR, at[places[0]])
            for place in places[1:]:
                b.store(whole, at[place])
        else:
            stride = b.load(I64, at[apart])
            blocks.append((places, stride, size))
            size = b.add(size, b.mul(stride, rows))
    memory = b.call(module.declare("PyMem_RawMalloc", PTR, I64), size)
    with b.if_then(b.is_null(memory)):
        b.ret(1)
    with b.loop(begin, end, rows, [ir.zero(I64)], at_least_once=True) as iteration:
        behind = b.add(iteration.index, rows)
        stop, flags = b.select(b.icmp("sgt", behind, end), end, behind), iteration.carried[0]
        for places, stride, room in blocks:     # where a block would begin if it went from row 0 on
            block = b.gep(memory, b.sub(room, b.mul(iteration.index, stride)))
            for place in places:
                b.store(block, at[place])
        for nest, base in zip(phases.nests, phases.bases):
            flags = b.or_(flags, b.call(module.functions[f"{nest.name}loop"], at[base], iteration.index, stop))
        iteration.carry(flags)
    b.call(module.declare("PyMem_RawFree", VOID, PTR), memory)
    b.ret(iteration.results[0])
