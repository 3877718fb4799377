"""Writes functions of machine code over the arrays of a nest: their frame, scratch buffers and addresses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from autograph.runtime.engines.native.kernels.loop_nest import Nest, Stream
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, memory_type


@dataclass(frozen=True)
class Position:
    """The position of the loops.

    Attributes:
        streams: the arrays.
        pointers: the address of the current element of each.
        size: the number of elements of a row that are left to inner loops.
        scratch: the addresses of the scratch buffers.
    """

    streams: Sequence[Stream]
    pointers: list[ir.Value]
    size: ir.Value
    scratch: Sequence[ir.Value] = ()


class NestWriter:
    """Writes functions of a nest into a module.

    Attributes:
        frame: the parameter `frame` of functions that read the frame.
    """

    def __init__(self, module: ir.Module, nest: Nest) -> None:
        self.module, self.nest = module, nest
        self.frame = ir.Value(ir.PTR, "%frame")
        self._builders: list[Builder] = []

    @property
    def b(self) -> Builder:
        """The builder of the current function."""
        return self._builders[-1]

    @contextmanager
    def function(
        self, name: str, result: str, parameters: Sequence[ir.Parameter], words: str = "internal", attributes: str = ""
    ) -> Iterator[ir.Function]:
        """Meanwhile, write another function, whose name follows that of the nest."""
        function = self.module.define(self.nest.name + name, result, *parameters, words=words, attributes=attributes)
        self._builders.append(Builder(function))
        yield function
        self._builders.pop()

    def room(self, count: int, of: str) -> ir.Value:
        """Allocate so many values on the stack."""
        return self.b.room(ir.array(count, of), align=64)

    def slot(self, place: int, type: str = ir.I64) -> ir.Value:
        """The contents of a slot of the frame."""
        return self.b.load(type, self.b.gep(self.frame, SLOT * place))

    # Arrays -----------------------------------------------------------------------------------------------------------

    def moved(self, at: Position, by: ir.Value, size: ir.Value) -> Position:
        """A position so many elements further on in a row."""
        pointers = list(at.pointers)
        for place, stream in enumerate(at.streams):
            if stream.strided:
                pointers[place] = self.b.gep(pointers[place], self.b.mul(by, self.slot(self.nest.frame.step(place))))
            elif stream.steps and place != self.nest.reduced:
                pointers[place] = self.b.gep(pointers[place], by, of=ir.array(stream.dtype.itemsize, ir.I8))
        return replace(at, pointers=pointers, size=size)

    def with_scratch(self, at: Position, size: int) -> Position:
        """The same position, with scratch buffers for so many elements."""
        return replace(at, scratch=[self.room(size, memory_type(dtype)) for dtype in self.nest.scratch])
