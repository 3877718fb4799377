"""The inner loop of a nest: the code of a stage, which computes one element of each array in an iteration.

LLVM vectorizes it. An operation that raises a floating-point flag must be computed, even if its result is not used, but
LLVM knows of no flags: it would drop what a selection does not take, and the root in `sqrt(x) != 0`. So constants that
are floats are loaded from memory, where LLVM does not know their values; and a number that is neither an operand of
arithmetic nor stored is *pinned*: it becomes part of the result of the function.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.memory import load_element, store_element
from autograph.runtime.graph.operands import Complex, NoLowering, Number
from autograph.runtime.graph.types import TensorType, part_of, scalar
from autograph.runtime.ops.native.complex_rules import part_type

_RAISES = frozenset("fadd fsub fmul fdiv frem fcmp fpext fptrunc sitofp uitofp fptosi fptoui call".split())
_FLOATS = ir.FLOAT, ir.DOUBLE
COUNTED: Any = {"at_least_once": True, "predicate": "ne", "flags": "nuw nsw"}


class _StageEmitter(Emitter):
    """Emits the code of an iteration.

    Attributes:
        pinned: numbers that must be computed even if they are not used.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, _refuse)
        self.pinned: list[ir.Value] = []

    def place(self, index: Number, length: Number) -> Number:
        """Refuse: stages have no indices."""
        raise NoLowering

    def doubt_if(self, condition: Number) -> None:
        """Raise a flag if a condition holds, by a product of zero and infinity."""
        type = scalar(float)
        infinite, one, none = (self.constant(value, type) for value in (float("inf"), 1.0, 0.0))
        self.pinned.append(self.floating("mul", self.select(condition, infinite, one), none).ref)

    def constant(self, value: Any, type: TensorType) -> Number:
        """A constant. A float is loaded from a variable of the module, so that LLVM does not fold it."""
        found = super().constant(value, type)
        if type.dtype.kind != "f":
            return found
        name, kind, known = f"{self.name}_{found.ref.ref}", found.ref.type, self.b.function.module.globals
        place = known.setdefault(name, ir.Global(name, "global", kind, found.ref))
        with self.b.at(self.entry):
            return Number(type, self.b.load(kind, place), found.known)


def _refuse() -> None:
    raise NoLowering


INDEX = ir.Value(ir.I64, "%i")       # of the iteration


@cache
def pointer(place: int) -> ir.Value:
    """The address of the first element of an array or a scratch buffer, in the code of a stage."""
    return ir.Value(ir.PTR, f"%s{place}")


@dataclass(frozen=True)
class Stage:
    """The code of a stage.

    Attributes:
        entry, iteration: what runs before the first iteration, and in each.
        pinned: numbers that must be computed even if they are not used.
        module: the constants and declarations that the code uses.
    """

    entry: Sequence[ir.Instruction]
    iteration: Sequence[ir.Instruction]
    pinned: Sequence[ir.Value]
    module: ir.Module

    @property
    def stores(self) -> bool:
        """Whether the stage does anything besides loading."""
        return bool(self.pinned) or any(each.opcode == "store" for each in (*self.entry, *self.iteration))

    @property
    def floats(self) -> bool:
        """Whether the stage computes with floats, or makes some."""
        raising = (each for each in (*self.entry, *self.iteration) if each.opcode in _RAISES)
        return any(value.type in _FLOATS for each in raising for value in (each, *each.operands))


class StageBuilder:
    """A stage under construction.

    Attributes:
        emit: emits the code of an iteration.
    """

    def __init__(self, name: str) -> None:
        self.emit = _StageEmitter(name)
        self._iteration = self.emit.b.new_block("iteration")
        self.emit.b.begin(self._iteration)

    def built(self) -> Stage:
        """The stage."""
        emit = self.emit
        return Stage(emit.entry.instructions, self._iteration.instructions, emit.pinned, emit.b.function.module)

    @contextmanager
    def hoisted(self, holds: bool) -> Iterator[None]:
        """If that holds, what is emitted meanwhile runs before the first iteration."""
        with self.emit.b.at(self.emit.entry if holds else self.emit.b.block):
            yield

    def slot(self, slot: int) -> ir.Value:
        """An integer from the frame."""
        return self.emit.frame.argument(slot, np.dtype("int64"))

    def number(self, slot: int, type: TensorType, known: Any) -> Number | Complex:
        """A number from the frame."""
        argument = self.emit.frame.argument
        if type.dtype.kind != "c":
            return Number(type, argument(slot, type.dtype), known)
        real, imag = (Number(part_type(type), argument(slot + place, part_of(type.dtype))) for place in (0, 1))
        return Complex(type, (real, imag))

    def load(self, dtype: np.dtype[Any], place: int, steps: bool, step: ir.Value | None = None) -> Number | Complex:
        """Load the element of this iteration.

        Args:
            steps: whether each iteration has another one.
            step: the stride in bytes; None if elements are contiguous.
        """
        with self.hoisted(not steps):
            return load_element(self.emit.b, self._element(dtype, place, steps, step), dtype)

    def store(
        self,
        dtype: np.dtype[Any],
        value: Number | Complex,
        place: int,
        steps: bool = True,
        step: ir.Value | None = None,
    ) -> None:
        """Store the element of this iteration, see `load`."""
        store_element(self.emit.b, self._element(dtype, place, steps, step), dtype, value)

    def _element(self, dtype: np.dtype[Any], place: int, steps: bool, step: ir.Value | None) -> ir.Value:
        b, first = self.emit.b, pointer(place)
        if step is not None:
            return b.gep(first, b.mul(INDEX, step))
        return b.gep(first, INDEX, of=ir.array(dtype.itemsize, ir.I8)) if steps else first


# Functions ------------------------------------------------------------------------------------------------------------


def define(
    module: ir.Module,
    stage: Stage,
    name: str,
    pointers: Sequence[ir.Parameter],
    attributes: str,
    hints: ir.Metadata | None,
    rows: Iterable[Sequence[tuple[ir.Value, int]]] = (),
) -> ir.Function:
    """Define the inner loop of a stage: a function of pointers, the frame and the trip count.

    It returns a digest of the pinned numbers. For several rows at once (unroll and jam), it computes values that rows
    share once; that is valid, since no row stores what another one loads.

    Args:
        rows: for each row, the address of each array: so many bytes after which pointer.
    """
    parameters = *pointers, ir.Parameter("frame", ir.PTR), ir.Parameter("n", ir.I64)
    function = module.define(name, ir.I64, *parameters, words="internal", attributes=attributes)
    function.numbers = 1_000_000       # beyond the numbers in the names of the stage's values
    module.declared |= stage.module.declared
    module.globals |= stage.module.globals
    kinds = [f"i{max(32, ir.bits_of(each.type))}" for each in stage.pinned]
    b, every = Builder(function), list(dict.fromkeys(kinds))
    shared, renamed = dict[Any, ir.Value](), list[dict[ir.Value, ir.Value]]()
    for row in rows:
        renamed.append({pointer(place): b.gep(first, by) for place, (first, by) in enumerate(row)})
        _copy(b, stage.entry, renamed[-1], shared)
    if not renamed:
        b.block.instructions += stage.entry
    with b.loop(0, function.parameters[-1], carried=list(map(ir.zero, every)), hints=hints, **COUNTED) as loop:
        for names in renamed:
            names[INDEX] = loop.index
            _copy(b, stage.iteration, names, shared)
        if not renamed:
            loop.index.ref = INDEX.ref
            b.block.instructions += stage.iteration
        digests: dict[str, ir.Value] = dict(zip(every, loop.carried))
        for kind, each in zip(kinds, stage.pinned):
            opcode = "bitcast" if each.type in _FLOATS else "zext"
            digests[kind] = b.or_(digests[kind], each if each.type == kind else b.cast(opcode, each, kind))
        loop.carry(*digests.values())
    digest: ir.Value = ir.zero(ir.I64)
    for result in loop.results:
        digest = b.xor(digest, b.cast("trunc", b.cast("zext", result, ir.I128), ir.I64))
    b.ret(digest)
    return function


def _copy(
    b: Builder, code: Iterable[ir.Instruction], names: dict[ir.Value, ir.Value], known: dict[Any, ir.Value]
) -> None:
    """Append instructions with other operands, except those that are known already (value numbering)."""
    for each in code:
        operands = tuple([names.get(operand, operand) for operand in each.operands])
        key = each.opcode, each.detail, each.type, tuple([operand.ref for operand in operands])
        if each.type == ir.VOID or key not in known:
            found = known[key] = ir.copied(each, f"%v{len(known)}", names)
            b.block.instructions.append(found)
        names[each] = known[key]
