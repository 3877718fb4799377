"""The emitter of the innermost loop of a nest, whose iterations LLVM does several at a time.

What raises a flag of the processor must be computed, whatever becomes of it. LLVM knows of no flags: it might compute
nothing of what a selection does not take, and `sqrt(x) != 0` without the root. So floats that are constants lie in
memory, where LLVM does not know what they are; and a number that is neither computed with nor stored is *pinned*.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import Any

import numpy as np

from autograph.runtime.engines.native.emit.external_calls import Allocating
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type
from autograph.runtime.graph.operands import Complex, NoLowering, Number
from autograph.runtime.graph.types import TensorType, part_of, scalar
from autograph.runtime.ops.native.complex_numbers import part_type


class Rows(Allocating):
    """Emits such a function.

    Attributes:
        floats: whether it computes with floats, or makes them.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name, lambda: "never")
        self.begin("iteration")
        self.floats = False
        self._opaque: dict[str, str] = {}
        self._pinned: dict[str, str] = {}

    @property
    def stores(self) -> bool:
        """Whether anything comes of it."""
        return bool(self._pinned) or any(line.startswith("  store ") for line in (*self._entry, *self._now))

    @property
    def pins(self) -> bool:
        """Whether there are numbers that are computed whatever becomes of them."""
        return bool(self._pinned)

    @property
    def parts(self) -> tuple[Any, Any]:
        """The text of what is done before the first iteration, and in each."""
        return self._entry, self._now

    @property
    def constants(self) -> list[str]:
        """The text of what is outside of it."""
        return [f"{name} = global {text}" for text, name in self._opaque.items()]

    @property
    def pinned(self) -> dict[str, str]:
        return self._pinned

    def place(self, index: Number, length: Number) -> Number:
        """There are no indices."""
        raise NoLowering

    def doubt_if(self, condition: Number) -> None:
        """Raise a flag if a condition holds, by a product of zero and infinity."""
        type = scalar(float)
        infinite, one, none = (self.constant(value, type) for value in (float("inf"), 1.0, 0.0))
        self.pin(self.floating("mul", self.select(condition, infinite, one), none))

    def pin(self, x: Number) -> None:
        """Compute a number, whatever becomes of it: all that are pinned go into what `row` gives."""
        own, kind = llvm_type(x.type.dtype), f"i{max(32, 8 * x.type.dtype.itemsize)}"
        before, self._now = self._now, self._lines["iteration"]
        how = "bitcast" if x.type.dtype.kind == "f" else "zext"
        bits = x.ref if own == kind else self._emit(f"{how} {own} {x.ref} to {kind}")
        self._pinned[kind] = self._emit(f"or {kind} {self._pinned.get(kind, f'%p{kind}')}, {bits}")
        self._now = before

    @contextmanager
    def at_once(self, holds: bool) -> Iterator[None]:
        """If that holds, what is emitted meanwhile runs before the first iteration."""
        before, self._now = self._now, self._entry if holds else self._now
        yield
        self._now = before

    def slot(self, slot: int) -> Any:
        """What the caller has put into the frame."""
        return self.argument(slot, np.dtype("int64"))

    def given(self, slot: int, type: TensorType, known: Any) -> Number | Complex:
        """A number that the caller has put into the frame."""
        if type.dtype.kind != "c":
            return Number(type, self.argument(slot, type.dtype), known)
        real, imag = (Number(part_type(type), self.argument(slot + place, part_of(type.dtype))) for place in (0, 1))
        return Complex(type, (real, imag))

    def load_next(self, dtype: np.dtype[Any], pointer: str, steps: bool, step: str = "") -> Number | Complex:
        """The element of this iteration."""
        with self.at_once(not steps):
            where = self._place(pointer, dtype, step) if steps else f"ptr {pointer}"
            if dtype.kind != "c":
                return Number(scalar(dtype), self.memory(where, dtype))
            part = part_of(dtype)
            real, imag = (Number(scalar(part), self.memory(each, part)) for each in self._parts_at(where, part))
            return Complex(scalar(dtype), (real, imag))

    def store_next(
        self, dtype: np.dtype[Any], value: Number | Complex, pointer: str, steps: bool = True, step: str = ""
    ) -> None:
        where = self._place(pointer, dtype, step) if steps else f"ptr {pointer}"
        if isinstance(value, Number):
            self._to_memory(where, dtype, value.ref)
            return
        part = part_of(dtype)
        for pointer, each in zip(self._parts_at(where, part), value.parts):
            self._to_memory(pointer, part, each.ref)

    def _place(self, pointer: str, dtype: np.dtype[Any], step: str) -> str:
        if step:
            offset = self._emit(f"mul i64 %i, {step}")
            return f"ptr {self._emit(f'getelementptr i8, ptr {pointer}, i64 {offset}')}"
        return f"ptr {self._emit(f'getelementptr [{dtype.itemsize} x i8], ptr {pointer}, i64 %i')}"

    def constant(self, value: Any, type: TensorType) -> Number:
        """A number. LLVM does not know of a float that it is always the same: it would know better than to compute."""
        found = super().constant(value, type)
        if type.dtype.kind != "f":
            return found
        text = f"{llvm_type(type.dtype)} {found.ref}"
        name = self._opaque.setdefault(text, f"@{self.name}_{len(self._opaque)}")
        with self.at_once(True):
            ref = self._emit(f"load {llvm_type(type.dtype)}, ptr {name}")
        return Number(type, ref, found.known)

    def floating(self, name: str, a: Number, b: Number) -> Number:
        self.floats = True
        return super().floating(name, a, b)

    def function(self, name: str, *args: Number) -> Number:
        self.floats = True
        return super().function(name, *args)

    def compare(self, name: str, a: Number, b: Number) -> Number:
        self.floats |= a.type.dtype.kind == "f"
        return super().compare(name, a, b)

    def convert(self, a: Number, type: TensorType) -> Number:
        self.floats |= "f" in (a.type.dtype.kind, type.dtype.kind)
        return super().convert(a, type)


def iterations(
    head: str,
    entry: Sequence[str],
    iteration: Sequence[str],
    loop: str,
    pinned: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """A function that does the same for each element; of those it pins it gives what all of them come to."""
    lines = [head, "entry:", *entry, "  br label %iteration", "iteration:"]
    lines += ["  %i = phi i64 [ 0, %entry ], [ %next, %iteration ]"]
    lines += [f"  %p{kind} = phi {kind} [ 0, %entry ], [ {ref}, %iteration ]" for kind, ref in pinned.items()]
    lines += [*iteration, "  %next = add nuw nsw i64 %i, 1", "  %done = icmp eq i64 %next, %n"]
    lines += [f"  br i1 %done, label %end, label %iteration{loop}", "end:"]
    found = "0"
    for place, (kind, ref) in enumerate(pinned.items()):
        lines.append(f"  %w{place} = zext {kind} {ref} to i128")
        lines.append(f"  %v{place} = trunc i128 %w{place} to i64")
        lines.append(f"  %x{place} = xor i64 {found}, %v{place}")
        found = f"%x{place}"
    return "\n".join([*lines, f"  ret i64 {found}", "}", ""])
