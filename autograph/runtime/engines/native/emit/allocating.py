"""The emitter that makes new arrays, by NumPy's own functions. Who gets one owns it.

Where NumPy has no memory, or wants no such array, the code is left, and Python does it again.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.llvm.cpython_abi import ARRAY_FLAGS, SLOT
from autograph.runtime.graph.operands import Array, NoLowering, Number


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
