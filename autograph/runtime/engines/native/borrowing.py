"""The emitter that lets NumPy's own inner loops compute single numbers."""

from __future__ import annotations

import numpy as np

from autograph.runtime.engines.native.emitter import Emitter
from autograph.runtime.engines.native.libm import FLAGS
from autograph.runtime.engines.native.numpys import numpys_loop
from autograph.runtime.engines.native.objects import llvm_type
from autograph.runtime.operands import NoLowering, Number
from autograph.runtime.types import BOOL, TensorType


class Borrowing(Emitter):
    """See `autograph.runtime.operands.Emitter`."""

    def ufunc(self, name: str, type: TensorType, *args: Number) -> Number:
        dtypes = (*(arg.type.dtype for arg in args), type.dtype)
        loop = numpys_loop(getattr(np, name), dtypes) if FLAGS else None
        if loop is None:
            raise NoLowering
        arrays, count = self._cell("arrays", "[3 x ptr]"), self._cell("count", "i64")
        steps = "_".join(str(dtype.itemsize) for dtype in dtypes)
        sizes = ", ".join(f"i64 {dtype.itemsize}" for dtype in dtypes)
        handed = [f"@{loop.name}_{part}" for part in loop.handed]
        self.declared |= {f"{each} = external global i8" for each in handed}
        self.declared |= {
            f"@steps_{steps} = internal constant [{len(dtypes)} x i64] [{sizes}]",
            f"declare i32 @{loop.name}(ptr, ptr, ptr, ptr, ptr)",
            "declare i32 @fetestexcept(i32)",
        }
        for place, dtype in enumerate(dtypes):
            if place < len(args):
                self.keep(("operand", place), dtype, args[place].ref)
            cell = self._cell(("operand", place), llvm_type(dtype))
            self._do(f"  store ptr {cell}, ptr {self._emit(f'getelementptr ptr, ptr {arrays}, i64 {place}')}")
        self._do(f"  store i64 1, ptr {count}")
        context, more = (*handed, "null")[:2]
        self._emit(f"call i32 @{loop.name}(ptr {context}, ptr {arrays}, ptr {count}, ptr @steps_{steps}, ptr {more})")
        raised = self._emit(f"call i32 @fetestexcept(i32 {FLAGS})")
        self.leave_if(Number(BOOL, self._emit(f"icmp ne i32 {raised}, 0")))
        return Number(type, self.kept(("operand", len(args)), type.dtype))
