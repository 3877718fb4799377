"""Writes functions of machine code that go through the arrays of a nest: their frame, flags, scratch and addresses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.operands import Stream
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, memory_type
from autograph.runtime.engines.native.llvm.ir import I8, I32, I64, PTR, Function, Module, Parameter, Value, array


@dataclass(frozen=True)
class Place:
    """Where the loops have come to.

    Attributes:
        streams: what is gone through.
        pointers: where each of them is.
        size: how many elements the loops inside go through.
        scratch: where stages leave what others need.
    """

    streams: Sequence[Stream]
    pointers: list[Value]
    size: Value
    scratch: Sequence[Value] = ()


class NestWriter:
    """Writes functions of a nest.

    Attributes:
        nest: which one.
        module: where they come to.
        frame: the parameter `frame`, which all of them have that look into it.
    """

    def __init__(self, module: Module, nest: Nest) -> None:
        self.module, self.nest = module, nest
        self.frame = Value(PTR, "%frame")
        self._builders: list[Builder] = []

    @property
    def b(self) -> Builder:
        """What builds the function that is being written."""
        return self._builders[-1]

    @contextmanager
    def function(
        self, name: str, result: str, parameters: Sequence[Parameter], words: str = "internal", attributes: str = ""
    ) -> Iterator[Function]:
        """Meanwhile, write another function."""
        function = self.module.define(self.nest.name + name, result, *parameters, words=words, attributes=attributes)
        self._builders.append(Builder(function))
        yield function
        self._builders.pop()

    def room(self, count: int, of: str) -> Value:
        """Room on the stack for so many values."""
        return self.b.room(array(count, of), align=64)

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
                pointers[place] = self.b.gep(pointers[place], by, of=array(stream.dtype.itemsize, I8))
        return replace(at, pointers=pointers, size=size)

    def with_scratch(self, at: Place, size: int) -> Place:
        """A place with scratch for so many elements."""
        return replace(at, scratch=[self.room(size, memory_type(dtype)) for dtype in self.nest.scratch])
