"""The emitters that call functions of others: NumPy's, to make arrays and compute numbers, and the C library's.

Who gets a new array owns it. Where NumPy has no memory, or wants no such array, the code is left, and Python does it
again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autograph.runtime.engines.native.emit import pow_rules
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.libmath.libm import PREFIX, is_pythons
from autograph.runtime.engines.native.libmath.ufunc_loops import loop_of_numbers
from autograph.runtime.engines.native.llvm.cpython_abi import ARRAY_FLAGS, SLOT
from autograph.runtime.graph.operands import Array, NoLowering, Number
from autograph.runtime.graph.types import TensorType


class Allocating(Emitter):
    """See `autograph.runtime.graph.operands.Emitter`."""

    def make_array(self, dtype: np.dtype[np.generic], lengths: Sequence[Number], zeros: bool) -> Array:
        if not lengths:
            raise NoLowering        # there is no machine code for what is in arrays without dimensions
        self.settle()
        shape = self._cell("shape", f"[{len(lengths)} x i64]")
        for axis, length in enumerate(lengths):
            place = self._emit(f"getelementptr i8, ptr {shape}, i64 {SLOT * axis}")
            self._do(f"  store i64 {length.ref}, ptr {place}")
        make = self.zeros if zeros else self.new_array
        return self._made(make(dtype, len(lengths), shape), dtype, len(lengths))

    def copy_array(self, x: Array) -> Array:
        self.settle()
        return self._made(self.python("PyArray_NewCopy", self.array_object(x), "0"), x.dtype, x.ndim)

    def _made(self, found: str, dtype: np.dtype[np.generic], ndim: int) -> Array:
        self.stop_if(self.is_null(found), self._give_up)
        return self.array_like(found, Array(-1, dtype, ndim, True, True, ARRAY_FLAGS))

    def _give_up(self) -> None:
        self.python("PyErr_Clear")
        self.jump(self.leave())


class Borrowing(Allocating):
    """See `autograph.runtime.graph.operands.Emitter`."""

    def library(self, name: str, *args: Number) -> Number:
        if not is_pythons(name):
            raise NoLowering
        if name == "pow" and args[1].known in pow_rules.POWERS and pow_rules.are_known():
            found, doubtful = pow_rules.nearest(self, args[0], args[1].known, self._unit)
            self.keep("power", found.type.dtype, found.ref)
            with self.rarely(doubtful):
                self.keep("power", found.type.dtype, self._library(name, args))
            return Number(found.type, self.kept("power", found.type.dtype))
        return Number(args[0].type, self._library(name, args))

    def _library(self, name: str, args: Sequence[Number]) -> str:
        self.declared.add(f"declare double @{PREFIX}{name}({', '.join(['double'] * len(args))})")
        given = ", ".join(f"double {arg.ref}" for arg in args)
        return self._emit(f"call double @{PREFIX}{name}({given})")

    def _unit(self, x: Number) -> Number:
        """The power of two that is less than a positive `float64`, but not less than half of it."""
        before = self._emit(f"sub i64 {self._emit(f'bitcast double {x.ref} to i64')}, 1")
        return Number(x.type, self._emit(f"bitcast i64 {self._emit(f'and i64 {before}, {0x7FF << 52}')} to double"))

    def ufunc(self, ufunc: np.ufunc, type: TensorType, *args: Number) -> Number:
        loop = loop_of_numbers(ufunc, (*(arg.type.dtype for arg in args), type.dtype))
        if loop is None:
            raise NoLowering
        cells = [self._cell(("operand", place), "i64") for place in range(len(args) + 1)]
        arrays = self._cell("arrays", f"[{len(cells)} x ptr]")
        for place, cell in enumerate(cells):
            self._do(f"  store ptr {cell}, ptr {self._emit(f'getelementptr ptr, ptr {arrays}, i64 {place}')}")
        for cell, arg in zip(cells, args):
            self._to_memory(f"ptr {cell}", arg.type.dtype, arg.ref)
        size = type.dtype.itemsize
        steps, name = f"@steps_{len(args)}_{size}", f"@{loop.name}"
        values = ", ".join([*["i64 0"] * len(args), f"i64 {size}"])
        self.declared |= {"@one = internal constant i64 1", f"declare i32 {name}(ptr, ptr, ptr, ptr, ptr)"}
        self.declared.add(f"{steps} = internal constant [{len(cells)} x i64] [{values}]")
        self.declared |= {f"{name}_{part} = external global i8" for part in loop.handed}
        context, more = (*(f"{name}_{part}" for part in loop.handed), "null")[:2]
        self._emit(f"call i32 {name}(ptr {context}, ptr {arrays}, ptr @one, ptr {steps}, ptr {more})")
        return Number(type, self.memory(f"ptr {cells[-1]}", type.dtype))
