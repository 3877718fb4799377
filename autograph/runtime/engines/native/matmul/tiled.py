"""The loop for products of larger matrices: tile by tile, the sums of which stay in registers.

    for each tile of the result, and each stretch of columns of `x`:
        sums = 0
        for p in stretch:  sums[r, v] = fma(x[row + r, p], y[p, column + v …], sums[r, v])
        result[tile] = sums, or += sums in later stretches

If rows or columns are left over, the last tile overlaps the one before it, and computes some of its numbers again. BLAS
copies its arguments first, so that they lie in the order in which it goes through them. That pays for large ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np

from autograph.common.numpy_internals import DATA
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, llvm_type
from autograph.runtime.engines.native.llvm.ir import (
    I64,
    PTR,
    VOID,
    Callee,
    Module,
    Parameter,
    Value,
    constant,
    vector,
    zero,
)
from autograph.runtime.engines.native.matmul.small import Matrix, Multiplying

# Rows of a tile, and vectors in each of them, by how many registers there are for vectors.
FORMS = {32: ((4, 4), (16, 1)), 16: ((6, 2), (4, 3))}
FACTS = "rows count columns down along below stretches".split()


def fill(rule: Any, x: Any, y: Any, ends: Sequence[int]) -> None:
    """Put into an array what the code reads: lengths, strides, and the columns of `x` before which a sum ends."""
    numbers = (*x.shape, y.shape[1], *x.strides, y.strides[0], len(ends), *ends)
    rule[: len(numbers)] = numbers


class Tiled(Multiplying):
    """A C function for matrices of certain lengths and strides, and the loop.

    Args:
        lanes: how many numbers are in a vector.
        form: see `FORMS`.
        rule: an array, see `fill`.
    """

    def __init__(
        self, dtype: np.dtype[Any], lanes: int, form: tuple[int, int], rule: Any, other: Callable[..., Any]
    ) -> None:
        self._rule = rule
        super().__init__(dtype, other)
        Tile(self.module, dtype, lanes, *form)

    def _demand_fitting(self, first: Matrix, second: Matrix) -> None:
        """Demand matrices as in the rule, that are not each other's transposes: of these, NumPy computes but half."""
        for each in first, second:
            self.c.demand(each.is_matrix)
        c, b, rule = self.c, self.c.b, self._facts()
        numbers = [first.rows, first.columns, second.columns, first.down, first.along, second.down]
        for place, number in enumerate(numbers):
            c.demand(b.icmp("eq", number, c.load_at(I64, rule, SLOT * place)))
        c.demand(b.icmp("eq", second.along, self._dtype.itemsize))
        c.demand(b.icmp("ne", first.data, second.data))

    def _call(self) -> None:
        first, second, result = (self.c.b.load(PTR, self.c.slot(place)) for place in range(3))
        self.c.b.call(Callee("tiles", VOID, [PTR] * 4), result, first, second, self._facts())

    def _facts(self) -> Value:
        """Where the numbers of the rule are."""
        return self.c.load_at(PTR, self.c.address(self._rule), DATA)


class Tile:
    """Defines the function `tiles`, which is the loop.

    Args:
        lanes: how many numbers are in a vector.
        rows: of a tile.
        vectors: in each of them.
    """

    def __init__(self, module: Module, dtype: np.dtype[Any], lanes: int, rows: int, vectors: int) -> None:
        self._kind, self._size, self._lanes = llvm_type(dtype), dtype.itemsize, lanes
        self._vector = vector(lanes, self._kind)
        self._rows, self._columns = range(rows), range(0, vectors * lanes, lanes)
        params = Parameter("result", PTR, "noalias"), *(Parameter(name, PTR) for name in ("x", "y", "rule"))
        self.function = module.define("tiles", VOID, *params)
        b = self._b = Builder(self.function)
        result, x, y, self._rule = params
        facts = {fact: b.load(I64, b.gep(self._rule, place, of=I64)) for place, fact in enumerate(FACTS)}
        self._down, self._along, self._below = (facts[name] for name in ("down", "along", "below"))
        self._stretches, self._pitch = facts["stretches"], b.mul(facts["columns"], self._size)
        with self._inwards(facts["columns"], vectors * lanes) as column:
            panel, there = (b.gep(each, column, of=self._kind) for each in (y, result))
            with self._inwards(facts["rows"], rows) as row:
                self._tile(b.gep(x, b.mul(row, self._down)), panel, b.gep(there, b.mul(row, self._pitch)))
        b.ret()

    @contextmanager
    def _inwards(self, length: Value, step: int) -> Iterator[Value]:
        """A loop, the last iteration of which begins as far in front of the end as the others go."""
        last = self._b.sub(length, step)
        with self._b.loop(0, length, step, at_least_once=True) as loop:
            yield self._b.select(self._b.icmp("sgt", loop.index, last), last, loop.index)

    def _tile(self, x: Value, y: Value, result: Value) -> None:
        """The sums of a tile: of the first stretch they are stored, those of others are added."""
        b, first, none = self._b, len(FACTS), constant(I64, 0)
        with b.loop(first, b.add(self._stretches, first), carried=[none], at_least_once=True) as loop:
            (begin,) = loop.carried
            end = b.load(I64, b.gep(self._rule, loop.index, of=I64))
            start = (b.gep(each, b.mul(begin, by)) for each, by in ((x, self._along), (y, self._below)))
            sums = self._sums(begin, end, *start)
            rows = [b.gep(result, b.mul(self._pitch, row)) for row in self._rows]
            places = [b.gep(row, column, of=self._kind) for row in rows for column in self._columns]
            b.if_else(b.icmp("eq", begin, 0), lambda: self._put(sums, places), lambda: self._add(sums, places))
            loop.carry(end)

    def _sums(self, begin: Value, end: Value, x: Value, y: Value) -> list[Value]:
        """The products of a stretch added up: column by column of `x`, row by row of `y`."""
        b, zeros = self._b, [zero(self._vector)] * (len(self._rows) * len(self._columns))
        with b.loop(begin, end, carried=[x, y, *zeros], at_least_once=True, predicate="ult") as loop:
            x_p, y_p, *sums = loop.carried
            seconds = [b.load(self._vector, b.gep(y_p, each, of=self._kind), self._size) for each in self._columns]
            ones = [b.load(self._kind, b.gep(x_p, b.mul(self._down, row))) for row in self._rows]
            firsts = [b.splat(each, self._lanes) for each in ones]
            found = [b.intrinsic("fma", *each, old) for each, old in zip(product(firsts, seconds), sums)]
            loop.carry(b.gep(x_p, self._along), b.gep(y_p, self._below), *found)
        return loop.results[2:]

    def _put(self, sums: Sequence[Value], places: Sequence[Value]) -> None:
        for each, place in zip(sums, places):
            self._b.store(each, place, self._size)

    def _add(self, sums: Sequence[Value], places: Sequence[Value]) -> None:
        olds = [self._b.load(self._vector, place, self._size) for place in places]
        self._put([self._b.binary("fadd", old, each) for old, each in zip(olds, sums)], places)
