"""Memory of machine code: cells, the frame, and the fields of arrays.

A value that outlives its basic block is in a cell on the stack, which LLVM promotes to registers (mem2reg). Booleans
are `i1` in registers and a byte in memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from autograph.common.numpy_internals import DATA, SHAPE, STRIDES
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, ObjectBuilder, llvm_type
from autograph.runtime.engines.native.llvm.ir import I8, I64, PTR, Block, Constant, Instruction, Value, constant
from autograph.runtime.graph.operands import Array, Complex, Number
from autograph.runtime.graph.types import INT, part_of, scalar


def load_number(b: Builder, pointer: Value, dtype: np.dtype[Any]) -> Value:
    """Load a number."""
    if dtype.kind == "b":
        return b.icmp("ne", b.load(I8, pointer), 0)
    return b.load(llvm_type(dtype), pointer, dtype.itemsize)


def store_number(b: Builder, pointer: Value, dtype: np.dtype[Any], value: Value) -> Instruction:
    """Store a number."""
    if dtype.kind == "b":
        value = b.cast("zext", value, I8)
    return b.store(value, pointer, dtype.itemsize)


def load_element(b: Builder, pointer: Value, dtype: np.dtype[Any]) -> Number | Complex:
    """An element of an array as a value; a complex one has two parts."""
    if dtype.kind != "c":
        return Number(scalar(dtype), load_number(b, pointer, dtype))
    part = part_of(dtype)
    pointers = pointer, b.gep(pointer, part.itemsize)
    real, imag = (Number(scalar(part), load_number(b, each, part)) for each in pointers)
    return Complex(scalar(dtype), (real, imag))


def store_element(b: Builder, pointer: Value, dtype: np.dtype[Any], value: Number | Complex) -> None:
    """Store a value in an element of an array."""
    if isinstance(value, Number):
        store_number(b, pointer, dtype, value.ref)
        return
    part = part_of(dtype)
    pointers = pointer, b.gep(pointer, part.itemsize)
    for where, each in zip(pointers, value.parts):
        store_number(b, where, part, each.ref)


class Cells:
    """The cells of a function.

    Attributes:
        places: their addresses, by key and type.
    """

    def __init__(self, b: Builder, entry: Block) -> None:
        self._b = b
        self._entry = entry
        self.places: dict[Any, Instruction] = {}

    def store(self, key: Any, value: Value) -> None:
        """Store a value in the cell of a key, and of its type."""
        self._b.store(value, self.place(key, value.type))

    def load(self, key: Any, type: str) -> Value:
        """Load the cell of a key."""
        return self._b.load(type, self.place(key, type))

    def place(self, key: Any, kind: str, align: int = 0) -> Instruction:
        """The address of the cell of a key, allocated at the first request."""
        known = self.places.get((key, kind))
        if known is None:
            with self._b.at(self._entry):
                known = self._b.alloca(kind, align)
            known.ref = f"%c{len(self.places)}"
            self.places[key, kind] = known
        return known


def strides_of(dtype: np.dtype[Any], shape: Sequence[int]) -> list[int]:
    """The strides of a new array in C's order, without lengths of 0."""
    return [dtype.itemsize * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


class Frame:
    """The frame, through which inputs and results pass, and the fields of arrays."""

    def __init__(self, b: Builder, entry: Block, frame: Value, objects: ObjectBuilder) -> None:
        self._b = b
        self._entry = entry
        self._frame = frame
        self._objects = objects
        self._arrays: dict[Any, Value] = {}

    def slot(self, slot: int) -> Value:
        """The address of a slot of the frame."""
        return self._b.gep(self._frame, SLOT * slot)

    def argument(self, slot: int, dtype: np.dtype[Any]) -> Value:
        """A number from the frame."""
        with self._b.at(self._entry):
            return load_number(self._b, self.slot(slot), dtype)

    def argument_object(self, slot: int) -> Value:
        """An object from the frame."""
        with self._b.at(self._entry):
            return self._objects.load_at(PTR, self._frame, SLOT * slot)

    def argument_array(self, slot: int, input: int) -> None:
        """Load an array from the frame."""
        self._arrays[input, "object"] = self.argument_object(slot)

    def hand_back(self, slot: int, dtype: np.dtype[Any], value: Value) -> None:
        """Store a number in the frame."""
        store_number(self._b, self.slot(slot), dtype, value)

    def hand_back_object(self, slot: int, thing: Value) -> None:
        """Store a reference to an object in the frame."""
        self._b.store(thing, self.slot(slot))

    # Arrays -----------------------------------------------------------------------------------------------------------

    def fact(self, x: Array, field: str, axis: int = 0) -> Value:
        """The address of the data, a length or a stride of an array; of an argument, loaded in the entry block."""
        known: Value | None
        if x.input < 0:
            known = x.facts[{"data": 0, "shape": 1, "stride": 1 + x.ndim}[field] + axis]
        else:
            known = self._arrays.get((x.input, field, axis))
        if known is None:
            with self._b.at(self._entry):
                known = self._arrays[x.input, field, axis] = self._read(self._arrays[x.input, "object"], field, axis)
        return known

    def number(self, x: Array, field: str, axis: int) -> Number:
        """A length or a stride of an array, which may be known."""
        found = self.fact(x, field, axis)
        return Number(INT, found, found.value if isinstance(found, Constant) else None)

    def know_shape(self, x: Array, shape: Sequence[int]) -> None:
        """Take the lengths of an argument for constants from now on, and the strides that follow from them."""
        for axis, (length, stride) in enumerate(zip(shape, strides_of(x.dtype, shape))):
            self._arrays[x.input, "shape", axis] = constant(I64, length)
            if x.contiguous and length > 1 and all(shape):
                self._arrays[x.input, "stride", axis] = constant(I64, stride)

    def _read(self, array: Value, field: str, axis: int) -> Value:
        found = self._objects.load_at(PTR, array, {"data": DATA, "shape": SHAPE, "stride": STRIDES}[field])
        return found if field == "data" else self._objects.load_at(I64, found, 8 * axis)

    def array_object(self, x: Array) -> Value:
        """The object of an array."""
        found: Value = x.ref if x.input < 0 else self._arrays[x.input, "object"]
        return found

    def array_like(self, thing: Value, x: Array) -> Array:
        """The operand of an array of the same kind as another one."""
        lengths = [self._read(thing, "shape", axis) for axis in range(x.ndim)]
        strides = [self._read(thing, "stride", axis) for axis in range(x.ndim)]
        return replace(x, input=-1, ref=thing, facts=(self._read(thing, "data", 0), *lengths, *strides))

    def demand_unchanged(self, x: Array) -> None:
        """Leave if the fields of an array differ from those that were loaded."""
        thing = self.array_object(x)
        self._objects.demand_array(thing, x.dtype, x.ndim, x.flags, x.flags)
        names = [("data", 0), *((field, axis) for field in ("shape", "stride") for axis in range(x.ndim))]
        for (field, axis), fact in zip(names, self.array_like(thing, x).facts):
            self._objects.demand(self._b.icmp("eq", fact, self.fact(x, field, axis)))
