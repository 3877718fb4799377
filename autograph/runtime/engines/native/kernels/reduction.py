"""How a reduction combines two numbers, and what it makes of the last one."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type
from autograph.runtime.engines.native.llvm.ir import DOUBLE, I8, Value, constant, poison

BLOCK = 128     # elements that are summed side by side, as NumPy's `PW_BLOCKSIZE` has it


def _part() -> int | None:
    """How many floats NumPy sums at once, of more: 8192 before NumPy 2.3, which filled a buffer; None for all."""
    size = np.getbufsize()
    numbers = np.zeros(2 * size + 16)
    numbers[[0, size, size + 8]] = 2.0 ** 53, 1, 1      # in halves, each 1 is added to the large one, and lost
    return None if np.add.reduce(numbers) == 2.0 ** 53 else size


PART = _part()


class Combining:
    """One way to combine numbers of a dtype.

    Attributes:
        how: see `Reduction.how`.
        kind: what LLVM calls such a number in memory.
        none: with what the first is combined.
        in_order: whether it shows in which order they are combined.
        lanes: how many there are side by side.
        most: how many there may be before they are halved.
        part: how many of them are combined before the next are looked at; None for all.
    """

    def __init__(self, how: str, dtype: np.dtype[Any]) -> None:
        self.how = how
        self.kind = I8 if dtype.kind == "b" else llvm_type(dtype)
        self._is_float = dtype.kind == "f"
        self.in_order = self._is_float and how in ("add", "mean")
        self.lanes = 8 if self.in_order else 16
        self.most, self.part = (BLOCK, PART) if self.in_order else (8 * BLOCK, None)
        none: float
        bits = {"max": "or", "min": "and"}.get(how, how) if dtype.kind == "b" else how
        if bits in ("or", "and"):
            self._opcode, none = bits, int(bits == "and")
        elif how in ("add", "mean"):
            self._opcode, none = ("fadd", -0.0) if self._is_float else ("add", 0)
        else:
            sign = "" if self._is_float else "u" if dtype.kind == "u" else "s"
            self._opcode = f"{sign}{how}{'imum' if self._is_float else ''}"
            none = _least(dtype) if how == "max" else _most(dtype)
        self.none = constant(self.kind, none)

    def of(self, b: Builder, x: Value, y: Value) -> Value:
        """Two numbers combined, or vectors of them."""
        if self._opcode in ("or", "and", "add", "fadd"):
            return b.binary(self._opcode, x, y)
        return b.intrinsic(self._opcode, x, y, flags="nsz" * self._is_float)

    def across(self, b: Builder, vector: Value) -> Value:
        """The numbers of a vector combined: each with the one beside it, or one half with the other."""
        count = self.lanes
        while count > 1:
            count //= 2
            beside = range(0, 2 * count, 2), range(1, 2 * count, 2)
            chosen = beside if self.in_order else (range(count), range(count, 2 * count))
            first, second = (b.shuffle(vector, poison(vector.type), list(each)) for each in chosen)
            vector = self.of(b, first, second)
        return b.extract_element(vector, 0)

    def ended(self, b: Builder, total: Value, size: Value) -> Value:
        """The result, for the total of so many numbers."""
        if self.how not in ("add", "mean") or not self._is_float:
            return total
        found: Value = b.binary("fadd", 0.0, total)     # with which NumPy begins, so there is no -0.0
        if self.how == "add":
            return found
        wide = found if self.kind == DOUBLE else b.cast("fpext", found, DOUBLE)
        mean = b.binary("fdiv", wide, b.cast("sitofp", size, DOUBLE))
        return mean if self.kind == DOUBLE else b.cast("fptrunc", mean, self.kind)

    @property
    def picks(self) -> bool:
        """Whether it picks one of several floats, so that it matters which of those that are equal."""
        return self.how in ("max", "min") and self._is_float


def _least(dtype: np.dtype[Any]) -> float:
    return -np.inf if dtype.kind == "f" else int(np.iinfo(dtype).min)


def _most(dtype: np.dtype[Any]) -> float:
    return np.inf if dtype.kind == "f" else int(np.iinfo(dtype).max)
