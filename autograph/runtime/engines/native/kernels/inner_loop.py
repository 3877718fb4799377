"""The innermost loop of a nest: a stage, which computes an element of each array in each iteration.

LLVM does several iterations at a time, as vectors. What raises a flag of the processor must be computed, whatever
becomes of it. LLVM knows of no flags: it might compute nothing of what a selection does not take, and
`sqrt(x) != 0` without the root. So floats that are constants lie in memory, where LLVM does not know what they are; and
a number that is neither computed with nor stored is *pinned*.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import (
    DOUBLE,
    FLOAT,
    I8,
    I64,
    I128,
    PTR,
    VOID,
    Block,
    Function,
    Global,
    Instruction,
    Metadata,
    Module,
    Parameter,
    Value,
    array,
    bits_of,
    copied,
    zero,
)
from autograph.runtime.engines.native.llvm.memory import load_number, parts_at, store_number
from autograph.runtime.graph.operands import Complex, NoLowering, Number
from autograph.runtime.graph.types import TensorType, part_of, scalar
from autograph.runtime.ops.native.complex_numbers import part_type

_RAISES = frozenset("fadd fsub fmul fdiv frem fcmp fpext fptrunc sitofp uitofp fptosi fptoui call".split())
_FLOATS = FLOAT, DOUBLE
ONCE_OR_MORE: Any = {"at_least_once": True, "predicate": "ne", "flags": "nuw nsw"}     # a loop of that many iterations


class StageEmitter(Emitter):
    """The emitter of what is done in an iteration.

    Attributes:
        pinned: numbers that must be computed, whatever becomes of them.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, _never)
        self.pinned: list[Value] = []

    def place(self, index: Number, length: Number) -> Number:
        """There are no indices."""
        raise NoLowering

    def doubt_if(self, condition: Number) -> None:
        """Raise a flag if a condition holds, by a product of zero and infinity."""
        type = scalar(float)
        infinite, one, none = (self.constant(value, type) for value in (float("inf"), 1.0, 0.0))
        self.pinned.append(self.floating("mul", self.select(condition, infinite, one), none).ref)

    def constant(self, value: Any, type: TensorType) -> Number:
        """A number. LLVM does not know of a float that it is always the same: it would know better than to compute."""
        found = super().constant(value, type)
        if type.dtype.kind != "f":
            return found
        name, kind, known = f"{self.name}_{found.ref.ref}", found.ref.type, self.b.function.module.globals
        place = known.setdefault(name, Global(name, "global", kind, found.ref))
        with self.b.at(self.entry):
            return Number(type, self.b.load(kind, place), found.known)


def _never() -> None:
    raise NoLowering


class Stage:
    """An innermost loop under construction.

    Attributes:
        emit: emits what is done in an iteration.
        entry, iteration: what is done before the first one, and in each.
        index: the number of the iteration.
    """

    def __init__(self, name: str) -> None:
        self.emit = StageEmitter(name)
        self.entry, self.iteration = self.emit.entry, self.emit.b.new_block("iteration")
        self.emit.b.begin(self.iteration)
        self.index = Value(I64, "%i")
        self._pointers: dict[int, Value] = {}

    def instructions(self) -> Iterator[Instruction]:
        """All of them."""
        yield from self.entry.instructions
        yield from self.iteration.instructions

    @property
    def stores(self) -> bool:
        """Whether anything comes of it."""
        return bool(self.emit.pinned) or any(each.opcode == "store" for each in self.instructions())

    @property
    def floats(self) -> bool:
        """Whether it computes with floats, or makes them."""
        raising = (each for each in self.instructions() if each.opcode in _RAISES)
        return any(value.type in _FLOATS for each in raising for value in (each, *each.operands))

    # Elements ---------------------------------------------------------------------------------------------------------

    def pointer(self, place: int) -> Value:
        """Where the elements of an array, or of a block of the scratch, begin."""
        return self._pointers.setdefault(place, Value(PTR, f"%s{place}"))

    @contextmanager
    def at_once(self, holds: bool) -> Iterator[None]:
        """If that holds, what is emitted meanwhile runs before the first iteration."""
        with self.emit.b.at(self.entry if holds else self.emit.b.block):
            yield

    def slot(self, slot: int) -> Value:
        """What the caller has put into the frame."""
        return self.emit.frame.argument(slot, np.dtype("int64"))

    def given(self, slot: int, type: TensorType, known: Any) -> Number | Complex:
        """A number that the caller has put into the frame."""
        argument = self.emit.frame.argument
        if type.dtype.kind != "c":
            return Number(type, argument(slot, type.dtype), known)
        real, imag = (Number(part_type(type), argument(slot + place, part_of(type.dtype))) for place in (0, 1))
        return Complex(type, (real, imag))

    def load(self, dtype: np.dtype[Any], place: int, steps: bool, step: Value | None = None) -> Number | Complex:
        """The element of this iteration.

        Args:
            steps: whether each iteration has another one.
            step: how many bytes further on that is; None if they lie side by side.
        """
        with self.at_once(not steps):
            where = self._element(dtype, place, steps, step)
            if dtype.kind != "c":
                return Number(scalar(dtype), load_number(self.emit.b, where, dtype))
            own, parts = part_of(dtype), parts_at(self.emit.b, where, part_of(dtype))
            real, imag = (Number(scalar(own), load_number(self.emit.b, each, own)) for each in parts)
            return Complex(scalar(dtype), (real, imag))

    def store(
        self, dtype: np.dtype[Any], value: Number | Complex, place: int, steps: bool = True, step: Value | None = None
    ) -> None:
        where = self._element(dtype, place, steps, step)
        if isinstance(value, Number):
            store_number(self.emit.b, where, dtype, value.ref)
            return
        own = part_of(dtype)
        for pointer, each in zip(parts_at(self.emit.b, where, own), value.parts):
            store_number(self.emit.b, pointer, own, each.ref)

    def _element(self, dtype: np.dtype[Any], place: int, steps: bool, step: Value | None) -> Value:
        b, pointer = self.emit.b, self.pointer(place)
        if step is not None:
            return b.gep(pointer, b.mul(self.index, step))
        return b.gep(pointer, self.index, of=array(dtype.itemsize, I8)) if steps else pointer

    # Functions --------------------------------------------------------------------------------------------------------

    def define(
        self, module: Module, name: str, pointers: Sequence[Parameter], attributes: str, hints: Metadata | None
    ) -> Function:
        """Define the loop as a function, of pointers, the frame, and how many iterations there are.

        It gives what all that is pinned comes to.
        """
        function = _begun(module, name, pointers, attributes)
        kinds = [f"i{max(32, bits_of(each.type))}" for each in self.emit.pinned]
        b, every = Builder(function), list(dict.fromkeys(kinds))
        b.block.instructions += self.entry.instructions
        with b.loop(0, function.parameters[-1], carried=list(map(zero, every)), hints=hints, **ONCE_OR_MORE) as loop:
            loop.index.ref = self.index.ref
            b.block.instructions += self.iteration.instructions
            found: dict[str, Value] = dict(zip(every, loop.carried))
            for kind, each in zip(kinds, self.emit.pinned):
                opcode = "bitcast" if each.type in _FLOATS else "zext"
                found[kind] = b.or_(found[kind], each if each.type == kind else b.cast(opcode, each, kind))
            loop.carry(*found.values())
        kept: Value = zero(I64)
        for result in loop.results:
            kept = b.xor(kept, b.cast("trunc", b.cast("zext", result, I128), I64))
        b.ret(kept)
        self.add_to(module)
        return function

    def add_to(self, module: Module) -> None:
        """Let a module have what it needs."""
        own = self.emit.b.function.module
        module.declared |= own.declared
        module.globals |= own.globals


def _begun(module: Module, name: str, pointers: Sequence[Parameter], attributes: str) -> Function:
    given = *pointers, Parameter("frame", PTR), Parameter("n", I64)
    function = module.define(name, I64, *given, words="internal", attributes=attributes)
    function.numbers = 1_000_000       # beyond those that stages have given
    return function


def jammed(
    module: Module,
    stage: Stage,
    name: str,
    pointers: Sequence[Parameter],
    rows: Iterable[Sequence[tuple[Value, int]]],
    attributes: str,
    hints: Metadata,
) -> Function:
    """Define the loop as a function that does several rows at once, and computes each value once for all of them.

    That is right, as no row stores what another one loads.

    Args:
        rows: where each array is in each row: so many bytes behind which pointer.
    """
    function = _begun(module, name, pointers, attributes)
    b, known, renamed = Builder(function), dict[Any, Value](), list[dict[Value, Value]]()
    for row in rows:
        renamed.append({stage.pointer(place): b.gep(pointer, by) for place, (pointer, by) in enumerate(row)})
        _copy(b, stage.entry, renamed[-1], known)
    with b.loop(0, function.parameters[-1], hints=hints, **ONCE_OR_MORE) as loop:
        for names in renamed:
            names[stage.index] = loop.index
            _copy(b, stage.iteration, names, known)
    b.ret(0)
    stage.add_to(module)
    return function


def _copy(b: Builder, block: Block, names: dict[Value, Value], known: dict[Any, Value]) -> None:
    """Append what is done in a block, of values by other names, besides what is known already."""
    for each in block.instructions:
        operands = tuple([names.get(operand, operand) for operand in each.operands])
        key = each.opcode, each.detail, each.type, tuple([operand.ref for operand in operands])
        if each.type == VOID or key not in known:
            found = known[key] = copied(each, f"%v{len(known)}", names)
            b.block.instructions.append(found)
        names[each] = known[key]
