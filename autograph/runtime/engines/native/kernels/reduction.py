"""Reductions of rows: how two numbers are combined, and in which order all of them are.

What is reduced never is an array. The function `leaf` combines not too many elements: it computes as many as it
combines at once, or, if NumPy's loops are called, up to 128 for itself. `tree` halves more, `parts` cuts very many.
(NumPy's order of sums: `pairwise_sum` in its `loops_utils.h.src`; see `common/numpy_internals.py`.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from autograph.common.numpy_internals import PAIRWISE, SUMMED_AT_ONCE
from autograph.runtime.engines.native.kernels.nest_writer import NestWriter, Place
from autograph.runtime.engines.native.kernels.schedule import Reduce, Schedule
from autograph.runtime.engines.native.kernels.stage_functions import FEW
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import llvm_type
from autograph.runtime.engines.native.llvm.ir import (
    DOUBLE,
    FALSE,
    I8,
    I32,
    I64,
    NULL,
    PTR,
    TRUE,
    Function,
    Parameter,
    Value,
    bits_of,
    constant,
    poison,
    vector,
)


class Combiner:
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
        self.most, self.part = (PAIRWISE, SUMMED_AT_ONCE) if self.in_order else (8 * PAIRWISE, None)
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


class RowReduction:
    """Writes a reduction of the rows of a nest.

    Args:
        to: writes functions of the nest.
        reduce: what of its schedule it is.
        build: writes what computes elements.
    """

    def __init__(self, to: NestWriter, reduce: Reduce, build: Callable[[Schedule, Place], None]) -> None:
        nest = to.nest
        assert nest.reduction is not None and nest.reduced is not None
        self._to, self._reduce, self._place, self._build = to, reduce, nest.reduced, build
        self._how = Combiner(nest.reduction.how, nest.dtypes[-1])
        self._kind, self._align = self._how.kind, nest.dtypes[-1].itemsize

    def write(self, at: Place) -> None:
        """Reduce a row, and store what it comes to."""
        b, most, leaf = self._to.b, self._reduce.most, self._leaf(at)
        if most:
            tree = self._tree(at, leaf)
            more = self._parts(at, tree) if self._reduce.part else tree
            short = b.icmp("ule", at.size, most)
            total = b.if_else(short, lambda: self._call(leaf, at), lambda: self._call(more, at))
            assert total is not None
        else:
            total = self._call(leaf, at)
        if self._how.picks:
            total = self._picked(total, at)
        b.store(self._how.ended(b, total, at.size), at.pointers[self._place])

    def _call(self, function: Function, at: Place) -> Value:
        given = [each for place, each in enumerate(at.pointers) if place != self._place]
        return self._to.b.call(function, *given, self._to.frame, at.size)

    def _parameters(self, at: Place) -> list[Parameter]:
        own = [Parameter(f"s{place}", PTR) for place in range(len(at.pointers)) if place != self._place]
        return [*own, Parameter("frame", PTR), Parameter("n", I64)]

    def _given(self, function: Function, at: Place) -> Place:
        """What such a function goes through."""
        *own, _, size = function.parameters
        return replace(at, pointers=[*own[: self._place], NULL, *own[self._place :]], size=size)

    # Sums -------------------------------------------------------------------------------------------------------------

    def _tree(self, at: Place, leaf: Function) -> Function:
        """The function that halves what is too much for a leaf."""
        to = self._to
        with to.function("tree", self._kind, self._parameters(at), attributes="noinline") as tree:
            b, at = to.b, self._given(tree, at)
            with b.if_then(b.icmp("ule", at.size, self._reduce.most)):
                b.ret(self._call(leaf, at))
            half = b.and_(b.binary("lshr", at.size, 1), -8)
            first = self._call(tree, replace(at, size=half))
            second = self._call(tree, to.moved(at, half, b.sub(at.size, half)))
            b.ret(self._how.of(b, first, second))
        return tree

    def _parts(self, at: Place, tree: Function) -> Function:
        """The function that adds up parts one after the other."""
        to, part = self._to, self._reduce.part
        with to.function("parts", self._kind, self._parameters(at), attributes="noinline") as parts:
            b, at = to.b, self._given(parts, at)
            with b.loop(0, at.size, part, [self._how.none], at_least_once=True) as iteration:
                left = b.sub(at.size, iteration.index)
                size = b.select(b.icmp("slt", left, part), left, part)
                found = self._call(tree, to.moved(at, iteration.index, size))
                iteration.carry(self._how.of(b, iteration.carried[0], found))
            b.ret(iteration.results[0])
        return parts

    def _leaf(self, at: Place) -> Function:
        """The function that combines elements side by side, and then those that are left over."""
        to, how, reduce, nest = self._to, self._how, self._reduce, self._to.nest
        alone = "noinline" * (len(nest.stages) > 1)     # it is long
        with to.function("leaf", self._kind, self._parameters(at), attributes=alone) as leaf:
            b, at = to.b, self._given(leaf, at)
            elements = at.pointers[self._place] = self._elements(at)
            if reduce.by_vectors:
                at = to.with_scratch(at, reduce.lanes)
            else:
                self._build(reduce.body, at)
            whole = b.and_(at.size, -reduce.lanes)
            kind = vector(reduce.lanes, self._kind)
            with b.loop(0, whole, reduce.lanes, [constant(kind, how.none)], hints=FEW) as iteration:
                if reduce.by_vectors:
                    self._build(reduce.body, to.moved(at, iteration.index, constant(I64, reduce.lanes)))
                there = elements if reduce.by_vectors else b.gep(elements, iteration.index, of=self._kind)
                iteration.carry(how.of(b, iteration.carried[0], b.load(kind, there, align=self._align)))
            total = how.across(b, iteration.results[0])
            few = b.and_(at.size, reduce.lanes - 1)
            with b.if_then(b.icmp("eq", few, 0)):
                b.ret(total)
            if reduce.by_vectors:
                self._build(reduce.rest, to.moved(at, whole, few))
            else:
                elements = b.gep(elements, whole, of=self._kind)
            with b.loop(0, few, 1, [total], at_least_once=True, hints=FEW) as iteration:
                element = b.load(self._kind, b.gep(elements, iteration.index, of=self._kind), align=self._align)
                iteration.carry(how.of(b, iteration.carried[0], element))
            b.ret(iteration.results[0])
        return leaf

    def _elements(self, at: Place) -> Value:
        """Where the elements are that are combined."""
        if self._to.nest.direct is not None:
            return at.pointers[self._to.nest.direct]
        return self._to.room(self._reduce.lanes if self._reduce.by_vectors else self._how.most, self._kind)

    # The largest and the least ----------------------------------------------------------------------------------------

    def _picked(self, total: Value, at: Place) -> Value:
        """The one of several equal numbers that NumPy picks; a flag is raised where only NumPy knows."""
        b, direct = self._to.b, self._to.nest.direct
        self._doubt(b.fcmp("ueq" if direct is None else "uno", total, 0.0))
        if direct is None:
            return total
        zero = self._zero()
        found = b.if_else(
            b.fcmp("oeq", total, 0.0), lambda: b.call(zero, at.pointers[direct], at.size), lambda: total
        )
        assert found is not None
        return found

    def _doubt(self, condition: Value) -> None:
        """Raise a flag if a condition holds: which number comes out then, NumPy knows."""
        self._to.raise_flags(self._to.b.select(condition, constant(I32, FLAGS), 0))

    def _zero(self) -> Function:
        """The function that says which zero numbers come to that are no more, or less; it doubts if there are both."""
        to, bits = self._to, f"i{bits_of(self._kind)}"
        with to.function(
            "zero", self._kind, [Parameter("x", PTR), Parameter("n", I64)], attributes="noinline"
        ) as function:
            b, (x, n) = to.b, function.parameters
            with b.loop(0, n, 1, [FALSE, FALSE], at_least_once=True, hints=FEW) as iteration:
                element = b.load(self._kind, b.gep(x, iteration.index, of=self._kind), align=self._align)
                zero = b.fcmp("oeq", element, 0.0)
                minus = b.icmp("slt", b.cast("bitcast", element, bits), 0)
                plus = b.xor(minus, TRUE)
                some = [b.or_(known, b.and_(zero, sign)) for known, sign in zip(iteration.carried, (plus, minus))]
                iteration.carry(*some)
            pluses, minuses = iteration.results
            self._doubt(b.and_(pluses, minuses))
            b.ret(b.select(minuses, constant(self._kind, -0.0), 0.0))
        return function
