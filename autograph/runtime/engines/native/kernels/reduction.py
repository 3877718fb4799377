"""How a reduction combines two numbers, and what it makes of the last one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type
from autograph.runtime.engines.native.llvm.syntax import literal

BLOCK = 128     # elements that are summed side by side, as NumPy's `PW_BLOCKSIZE` has it


def _part() -> int | None:
    """How many floats NumPy sums at once, of more: 8192 before NumPy 2.3, which filled a buffer; None for all."""
    size = np.getbufsize()
    numbers = np.zeros(2 * size + 16)
    numbers[[0, size, size + 8]] = 2.0 ** 53, 1, 1      # in halves, each 1 is added to the large one, and lost
    return None if np.add.reduce(numbers) == 2.0 ** 53 else size


PART = _part()


class Combining:
    """The text of one way to combine numbers of a dtype.

    Attributes:
        kind: what LLVM calls such a number in memory.
        none: with what the first is combined.
        in_order: whether it shows in which order they are combined.
        lanes: how many there are side by side.
        most: how many there may be before they are halved.
        part: how many of them are combined before the next are looked at; None for all.
        declared: functions that are called.
    """

    def __init__(self, how: str, dtype: np.dtype[Any]) -> None:
        self.how = how
        self.kind = "i8" if dtype.kind == "b" else llvm_type(dtype)
        self.declared: set[str] = set()
        self._is_float = dtype.kind == "f"
        self.in_order = self._is_float and how in ("add", "mean")
        self.lanes = 8 if self.in_order else 16
        self.most, self.part = (BLOCK, PART) if self.in_order else (8 * BLOCK, None)
        bits = {"max": "or", "min": "and"}.get(how, how) if dtype.kind == "b" else how
        if bits in ("or", "and"):
            self._word, self.none = bits, str(int(bits == "and"))
        elif how in ("add", "mean"):
            self._word, self.none = ("fadd", "-0.0") if self._is_float else ("add", "0")
        else:
            sign = "" if self._is_float else "u" if dtype.kind == "u" else "s"
            self._word = f"@llvm.{sign}{how}{'imum' if self._is_float else ''}"
            self.none = literal(_least(dtype) if how == "max" else _most(dtype), dtype)

    def of(self, kind: str, a: str, b: str) -> str:
        """The instruction that combines two numbers, or vectors of them."""
        if not self._word.startswith("@"):
            return f"{self._word} {kind} {a}, {b}"
        count = f"v{kind[1:].split()[0]}" if kind.startswith("<") else ""
        name = f"{self._word}.{count}{_NAMES.get(self.kind, self.kind)}"
        self.declared.add(f"declare {kind} {name}({kind}, {kind})")
        return f"call {'nsz ' * self._is_float}{kind} {name}({kind} {a}, {kind} {b})"

    @property
    def nones(self) -> str:
        """A vector of it."""
        return f"<{', '.join([f'{self.kind} {self.none}'] * self.lanes)}>"

    def across(self, emit: Callable[[str], str], vector: str) -> str:
        """The numbers of a vector combined: each with the one beside it, or one half with the other."""
        count = self.lanes
        while count > 1:
            kind, half = f"<{count} x {self.kind}>", f"<{count // 2} x {self.kind}>"
            parts = []
            for begin in (0, 1):
                middle = count // 2
                chosen = range(begin, count, 2) if self.in_order else range(begin * middle, (begin + 1) * middle)
                lanes = ", ".join(f"i32 {lane}" for lane in chosen)
                parts.append(emit(f"shufflevector {kind} {vector}, {kind} poison, <{count // 2} x i32> <{lanes}>"))
            vector, count = emit(self.of(half, *parts)), count // 2
        return emit(f"extractelement <1 x {self.kind}> {vector}, i64 0")

    def ended(self, emit: Callable[[str], str], total: str, size: str) -> str:
        """The result, for the total of so many numbers."""
        if self.how not in ("add", "mean") or not self._is_float:
            return total
        found = emit(f"fadd {self.kind} 0.0, {total}")      # with which NumPy begins, so there is no -0.0
        if self.how == "add":
            return found
        count = emit(f"sitofp i64 {size} to double")
        if self.kind == "double":
            return emit(f"fdiv double {found}, {count}")
        wide = emit(f"fdiv double {emit(f'fpext {self.kind} {found} to double')}, {count}")
        return emit(f"fptrunc double {wide} to {self.kind}")

    @property
    def picks(self) -> bool:
        """Whether it picks one of several floats, so that it matters which of those that are equal."""
        return self.how in ("max", "min") and self._is_float

    def doubt(self, emit: Callable[[str], str], found: str, when: str) -> None:
        """Raise a flag if it is no number (`uno`), or else a zero (`ueq`): which of several comes out, NumPy knows."""
        strange = emit(f"fcmp {when} {self.kind} {found}, 0.0")
        emit(f"call i32 @feraiseexcept(i32 {emit(f'select i1 {strange}, i32 {FLAGS}, i32 0')})")

    def zero(self, name: str, rare: str) -> str:
        """The function that says which zero numbers come to that are no more, or less; it doubts if there are both."""
        size = {"double": 8, "float": 4}[self.kind]
        return _ZERO.format(name=name, kind=self.kind, size=size, bits=8 * size, flags=FLAGS, rare=rare)


_ZERO = """define internal {kind} @{name}(ptr %s, i64 %n) noinline {{
  br label %iteration
iteration:
  %i = phi i64 [ 0, %0 ], [ %next, %iteration ]
  %p = phi i1 [ false, %0 ], [ %p1, %iteration ]
  %m = phi i1 [ false, %0 ], [ %m1, %iteration ]
  %at = getelementptr {kind}, ptr %s, i64 %i
  %x = load {kind}, ptr %at, align {size}
  %zero = fcmp oeq {kind} %x, 0.0
  %b = bitcast {kind} %x to i{bits}
  %minus = icmp slt i{bits} %b, 0
  %plus = xor i1 %minus, true
  %z = and i1 %zero, %plus
  %p1 = or i1 %p, %z
  %w = and i1 %zero, %minus
  %m1 = or i1 %m, %w
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %iteration, label %end{rare}
end:
  %both = and i1 %p1, %m1
  %flags = select i1 %both, i32 {flags}, i32 0
  call i32 @feraiseexcept(i32 %flags)
  %found = select i1 %m1, {kind} -0.0, {kind} 0.0
  ret {kind} %found
}}
"""
_NAMES = {"double": "f64", "float": "f32"}


def _least(dtype: np.dtype[Any]) -> float:
    return -np.inf if dtype.kind == "f" else int(np.iinfo(dtype).min)


def _most(dtype: np.dtype[Any]) -> float:
    return np.inf if dtype.kind == "f" else int(np.iinfo(dtype).max)
