"""Several nests that take turns over the same rows: `e = exp(x - top)`, its sum over each row, and `e / total`.

What comes behind a reduction of rows is another nest, a *phase* of the kernel. The phases go through a block of rows
one after the other, so that what one leaves to the next is in the processor's cache still; unless it is used elsewhere,
it is never more than a block, or lies where a result will be. A phase may also be narrow: what is computed once for
each row, as a square root of its variance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from autograph.runtime.engines.native.kernels.elementwise import key_of, operands, reduction_of
from autograph.runtime.engines.native.kernels.in_place import target_of
from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.operands import Single, Stream
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT
from autograph.runtime.engines.native.llvm.ir import FALSE, I64, PTR, VOID, Module, Parameter, array, constant
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.types import TensorType


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


@dataclass(frozen=True)
class Phase:
    """A nest of a kernel.

    Attributes:
        inputs: what goes into it, with its kind.
        outputs: what comes out, that others go on with.
        made: for each array that comes out, whether it is a new one that the kernel makes.
        is_wide: whether it goes through whole rows, as the first one does.
    """

    nest: Nest
    inputs: dict[Any, Stream | Single]
    outputs: Sequence[Value]
    made: Sequence[bool]
    is_wide: bool = True

    @staticmethod
    def alone(nest: Nest, inputs: dict[Any, Stream | Single]) -> Phase:
        """The only one of a kernel."""
        is_number = nest.reduction is not None and nest.reduction.whole
        made = [
            (place != nest.written or nest.buffered) and not (is_number and place == nest.reduced)
            for place in range(len(nest.dtypes))
        ]
        return Phase(nest, inputs, [], made)


class Phases:
    """The phases of a kernel.

    Attributes:
        every: all of them.
    """

    def __init__(
        self, nodes: Sequence[Node], inputs: dict[Any, Stream | Single], results: Sequence[Value], ndim: int
    ) -> None:
        parts = split(nodes)
        used = [{key_of(arg): arg for node in part for arg in operands(node)} for part in parts]
        uses = Counter(key for keys in used for key in keys)
        known: dict[Any, Stream | Single] = dict(inputs)
        self._results = set(results)
        self.every: list[Phase] = []
        self._merged: dict[Any, Value] = {}
        for number, (part, keys) in enumerate(zip(parts, used), 1):
            own = [node.output for node in part]
            given = {key: known[key] for key in keys if key not in own}
            left = [value for value in own if value in self._results or uses[value] > (value in keys)]
            gone = [key for key in given if not any(key in each for each in used[number:])]
            is_wide = shape_of(part[0]) == shape_of(parts[0][0])
            within = self._within(part[-1], left, {key: given[key] for key in gone}) if is_wide else {}
            nest = Nest(part, given, left, ndim, number, within)
            steps = any(isinstance(kind, Stream) and kind.steps for kind in given.values())
            for value, dtype in zip(left, nest.dtypes):
                known[value] = Stream(dtype, ndim, steps and not (nest.reduction and value is own[-1]))
            self.every.append(Phase(nest, given, left, [value in self._results for value in left], is_wide))

    def _within(self, last: Node, left: Sequence[Value], gone: dict[Any, Stream | Single]) -> dict[Any, Value]:
        """Of what nobody needs behind a phase, one that may lie where its result will be.

        Then there is one array less; and that memory is brought along while something is computed that takes longer.
        """
        type = left[0].type if len(left) == 1 and left[0] in self._results else None
        if not isinstance(type, TensorType) or reduction_of(last) or target_of(last):
            return {}
        for value in (value for phase in self.every if phase.is_wide for value in phase.outputs):
            kind = gone.get(value)
            same = isinstance(kind, Stream) and kind.steps and kind.dtype == type.dtype
            if same and value not in self._results:
                self._merged[value] = left[0]
                return {value: left[0]}
        return {}

    @property
    def bases(self) -> list[int]:
        """Where in the frame each has its slots; behind them, how many rows are a block."""
        return [0, *accumulate(phase.nest.slots for phase in self.every)]

    @property
    def handed_on(self) -> list[tuple[list[int], int | None]]:
        """Of each array that a phase leaves to others: the slots with its address, the first of which is the phase's,
        and the slot that says how far its rows are apart; None for a result, of which there is more than a block."""
        found: dict[Any, list[int]] = {}
        apart: dict[Any, int | None] = {}
        for base, phase in zip(self.bases, self.every):
            streams = [key for key, kind in phase.inputs.items() if isinstance(kind, Stream)]
            for place, key in enumerate(streams, base + len(phase.outputs)):
                if key in found:
                    found[key].append(place)
            for place, value in enumerate(phase.outputs):
                found[value] = [base + place]
                apart[value] = None if phase.made[place] else base + phase.nest.stride(place, 0)
        for key, result in self._merged.items():
            found[result] += found.pop(key)
        return [(slots, apart[key]) for key, slots in found.items() if len(slots) > 1]


def write_fused(module: Module, phases: Phases) -> None:
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
    for places, apart in phases.handed_on:
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
        for phase, base in zip(phases.every, phases.bases):
            loop = module.functions[f"{phase.nest.name}loop"]
            flags = b.or_(flags, b.call(loop, at[base], iteration.index, stop))
        iteration.carry(flags)
    b.call(module.declare("PyMem_RawFree", VOID, PTR), memory)
    b.ret(iteration.results[0])
