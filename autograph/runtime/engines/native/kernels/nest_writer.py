"""Writes functions of machine code that go through the arrays of a nest: their frame, flags, scratch and addresses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.operands import Stream
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, llvm_type
from autograph.runtime.engines.native.llvm.ir import (
    I32,
    I64,
    NULL,
    Block,
    Function,
    Module,
    Parameter,
    Value,
    array,
)


@dataclass(frozen=True)
class Place:
    """Where the loops have come to.

    Attributes:
        streams: what is gone through.
        pointers: where each of them is.
        size: how many elements the loops inside go through.
    """

    streams: Sequence[Stream]
    pointers: list[Value]
    size: Value


@dataclass
class Body:
    """A function that is being written.

    Attributes:
        b: builds it.
        frame: its parameter.
        entry: its first block, which reserves room on the stack.
        scratch: the room for what stages leave to others.
    """

    b: Builder
    frame: Value
    entry: Block
    scratch: list[Value] = field(default_factory=list)


class NestWriter:
    """Writes functions of a nest.

    Attributes:
        nest: which one.
        module: where they come to.
    """

    def __init__(self, module: Module, nest: Nest) -> None:
        self.module, self.nest = module, nest
        self._bodies: list[Body] = []

    @property
    def b(self) -> Builder:
        """What builds the function that is being written."""
        return self._bodies[-1].b

    @property
    def frame(self) -> Value:
        """Its frame."""
        return self._bodies[-1].frame

    @property
    def scratch(self) -> list[Value]:
        """Where in it the scratch is, if it has any."""
        return self._bodies[-1].scratch

    # Functions --------------------------------------------------------------------------------------------------------

    @contextmanager
    def function(
        self, name: str, result: str, parameters: Sequence[Parameter], words: str = "internal", attributes: str = ""
    ) -> Iterator[Function]:
        """Meanwhile, write another function."""
        function = self.module.define(self.nest.name + name, result, *parameters, words=words, attributes=attributes)
        b = Builder(function)
        entry, start = b.block, function.new_block("start")
        b.begin(start)
        frame = next((each for each in parameters if each.ref == "%frame"), NULL)
        self._bodies.append(Body(b, frame, entry))
        yield function
        with b.at(entry):
            b.br(start)
        self._bodies.pop()

    def room(self, count: int, of: str) -> Value:
        """Room for so many values, which is there as long as the function runs."""
        with self.b.at(self._bodies[-1].entry):
            return self.b.alloca(array(count, of), align=64)

    def slot(self, place: int, type: str = I64) -> Value:
        """What is in the frame."""
        return self.b.load(type, self.b.gep(self.frame, SLOT * place))

    # Flags ------------------------------------------------------------------------------------------------------------

    def flags(self) -> Value:
        """Those that the processor has raised."""
        return self.b.call(self.module.declare("fetestexcept", I32, I32), FLAGS)

    def clear_flags(self) -> None:
        """Take flags down that others have raised."""
        with self.b.if_then(self.b.icmp("ne", self.flags(), 0)):
            self.b.call(self.module.declare("feclearexcept", I32, I32), FLAGS)

    def raise_flags(self, flags: Value) -> None:
        """Raise flags of the processor."""
        self.b.call(self.module.declare("feraiseexcept", I32, I32), flags)

    # Arrays -----------------------------------------------------------------------------------------------------------

    def moved(self, at: Place, by: Value, size: Value) -> Place:
        """So many elements further on in a row."""
        pointers = list(at.pointers)
        for place, stream in enumerate(at.streams):
            if stream.apart:
                pointers[place] = self.b.gep(pointers[place], self.b.mul(by, self.slot(self.nest.step(place))))
            elif stream.steps and place != self.nest.reduced:
                pointers[place] = self.b.gep(pointers[place], by, of=array(stream.dtype.itemsize, "i8"))
        return Place(at.streams, pointers, size)

    def reserve_scratch(self, size: int) -> None:
        """Room for what stages leave to others: so many elements of each."""
        kinds = ["i8" if dtype.kind == "b" else llvm_type(dtype) for dtype in self.nest.scratch]
        self._bodies[-1].scratch = [self.room(size, kind) for kind in kinds]
