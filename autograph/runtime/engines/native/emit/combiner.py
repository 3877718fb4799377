"""How the elements of a reduction are combined: the operation, and NumPy's order of additions."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.common.numpy_internals import PAIRWISE, SUMMED_AT_ONCE
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import memory_type


class Combiner:
    """The operation that combines two elements of a reduction.

    Args:
        how: `add`, `mean`, `max`, `min`, `or` or `and`.
        dtype: of the accumulator.

    Attributes:
        kind: the type of an element in memory.
        identity: the initial value of an accumulator.
        in_order: whether the result depends on the order, by rounding.
        picks: whether it picks one of several floats, so that it matters which of equal ones.
        lanes: the number of accumulators.
        most: the number of elements above which they are halved.
        part: the number of elements above which they are reduced in parts; 0 for any number.
    """

    def __init__(self, how: str, dtype: np.dtype[Any]) -> None:
        self._how = how
        self.kind, self._is_float = memory_type(dtype), dtype.kind == "f"
        is_sum = self._how in ("add", "mean")
        self.in_order, self.picks = self._is_float and is_sum, self._is_float and self._how in ("max", "min")
        self.lanes = 8 if self.in_order else 16
        self.most, self.part = (PAIRWISE, SUMMED_AT_ONCE or 0) if self.in_order else (8 * PAIRWISE, 0)
        name = {"max": "or", "min": "and"}.get(self._how, self._how) if dtype.kind == "b" else self._how
        identity: float
        if name in ("or", "and"):
            self._opcode, identity = name, int(name == "and")
        elif is_sum:
            self._opcode, identity = ("fadd", -0.0) if self._is_float else ("add", 0)
        elif self._is_float:
            self._opcode, identity = f"{name}imum", np.inf if name == "min" else -np.inf
        else:
            self._opcode, bounds = f"{'u' if dtype.kind == 'u' else 's'}{name}", np.iinfo(dtype)
            identity = int(bounds.max if name == "min" else bounds.min)
        self.identity = ir.constant(self.kind, identity)

    def of(self, b: Builder, x: ir.Value, y: ir.Value) -> ir.Value:
        """Combine two numbers, or two vectors."""
        if self._opcode in ("or", "and", "add", "fadd"):
            return b.binary(self._opcode, x, y)
        return b.intrinsic(self._opcode, x, y, flags="nsz" * self._is_float)

    def across(self, b: Builder, vector: ir.Value) -> ir.Value:
        """Combine the elements of a vector: neighbors, if the order shows, or one half with the other."""
        count = self.lanes
        while count > 1:
            count //= 2
            neighbors = range(0, 2 * count, 2), range(1, 2 * count, 2)
            chosen = neighbors if self.in_order else (range(count), range(count, 2 * count))
            first, second = (b.shuffle(vector, ir.poison(vector.type), list(each)) for each in chosen)
            vector = self.of(b, first, second)
        return b.extract_element(vector, 0)

    def ended(self, b: Builder, total: ir.Value, size: ir.Value) -> ir.Value:
        """The result for the total of so many elements."""
        if not self.in_order:
            return total
        found: ir.Value = b.binary("fadd", 0.0, total)     # NumPy begins with 0.0, so the result is never -0.0
        if self._how == "add":
            return found
        wide = found if self.kind == ir.DOUBLE else b.cast("fpext", found, ir.DOUBLE)
        mean = b.binary("fdiv", wide, b.cast("sitofp", size, ir.DOUBLE))
        return mean if self.kind == ir.DOUBLE else b.cast("fptrunc", mean, self.kind)
