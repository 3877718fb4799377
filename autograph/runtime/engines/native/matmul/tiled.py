"""The loop for products of larger matrices: tile by tile, whose sums stay in registers (GotoBLAS: the micro-kernel).

    for each tile of the result, and each stretch of columns of `x`:
        sums = 0
        for p in stretch:  sums[r, v] = fma(x[row + r, p], y[p, column + v …], sums[r, v])
        result[tile] = sums, or += sums in later stretches

The last tile is shifted inwards: it overlaps the one before it, and computes some numbers twice. BLAS first copies
("packs") its arguments into the order in which it reads them (Goto and van de Geijn, "Anatomy of high-performance
matrix multiplication", 2008). That pays for larger matrices than these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import Any

import numpy as np

from autograph.common.numpy_internals import DATA
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, llvm_type
from autograph.runtime.engines.native.matmul.small import Matrix, Multiplying

# Rows of a tile, and vectors in each row, by the number of vector registers.
FORMS = {32: ((4, 4), (16, 1)), 16: ((6, 2), (4, 3))}
FACTS = "rows count columns down along below stretches".split()


def fill(rule: Any, x: Any, y: Any, ends: Sequence[int]) -> None:
    """Put into an array what the code reads: lengths, strides, and the columns of `x` at which sums end."""
    numbers = (*x.shape, y.shape[1], *x.strides, y.strides[0], len(ends), *ends)
    rule[: len(numbers)] = numbers


class Tiled(Multiplying):
    """A C function for matrices of certain lengths and strides, and the loop.

    Args:
        lanes: the number of elements of a vector.
        form: an item of `FORMS`.
        rule: an array, see `fill`.
    """

    def __init__(
        self, dtype: np.dtype[Any], lanes: int, form: tuple[int, int], rule: Any, other: Callable[..., Any]
    ) -> None:
        self._rule = rule
        super().__init__(dtype, (2, 2), other)
        Tile(self.module, dtype, lanes, *form)

    def _demand_fitting(self, first: Matrix, second: Matrix) -> None:
        """Demand matrices as in the rule. Of a matrix and its transpose NumPy computes only half of the product."""
        c, b, rule = self.c, self.c.b, self._facts()
        numbers = [first.rows, first.columns, second.columns, first.down, first.along, second.down]
        for place, number in enumerate(numbers):
            c.demand(b.icmp("eq", number, c.load_at(ir.I64, rule, SLOT * place)))
        c.demand(b.icmp("eq", second.along, self._dtype.itemsize))
        c.demand(b.icmp("ne", first.data, second.data))

    def _call(self) -> None:
        first, second, result = (self.c.b.load(ir.PTR, self.c.slot(place)) for place in range(3))
        self.c.b.call(ir.Callee("tiles", ir.VOID, [ir.PTR] * 4), result, first, second, self._facts())

    def _facts(self) -> ir.Value:
        """The address of the numbers of the rule."""
        return self.c.load_at(ir.PTR, self.c.address(self._rule), DATA)


class Tile:
    """Defines the function `tiles`, which is the loop.

    Args:
        lanes: the number of elements of a vector.
        rows: of a tile.
        vectors: in each row.
    """

    def __init__(self, module: ir.Module, dtype: np.dtype[Any], lanes: int, rows: int, vectors: int) -> None:
        self._kind, self._size, self._lanes = llvm_type(dtype), dtype.itemsize, lanes
        self._vector = ir.vector(lanes, self._kind)
        self._rows, self._columns = range(rows), range(0, vectors * lanes, lanes)
        params = ir.Parameter("result", ir.PTR, "noalias"), *(ir.Parameter(name, ir.PTR) for name in ("x", "y", "rule"))
        self.function = module.define("tiles", ir.VOID, *params)
        b = self._b = Builder(self.function)
        result, x, y, self._rule = params
        facts = {fact: b.load(ir.I64, b.gep(self._rule, place, of=ir.I64)) for place, fact in enumerate(FACTS)}
        self._down, self._along, self._below = (facts[name] for name in ("down", "along", "below"))
        self._stretches, self._pitch = facts["stretches"], b.mul(facts["columns"], self._size)
        with self._inwards(facts["columns"], vectors * lanes) as column:
            panel, there = (b.gep(each, column, of=self._kind) for each in (y, result))
            with self._inwards(facts["rows"], rows) as row:
                self._tile(b.gep(x, b.mul(row, self._down)), panel, b.gep(there, b.mul(row, self._pitch)))
        b.ret()

    @contextmanager
    def _inwards(self, length: ir.Value, step: int) -> Iterator[ir.Value]:
        """A loop whose last iteration is shifted inwards, so that it is as long as the others."""
        last = self._b.sub(length, step)
        with self._b.loop(0, length, step, at_least_once=True) as loop:
            yield self._b.select(self._b.icmp("sgt", loop.index, last), last, loop.index)

    def _tile(self, x: ir.Value, y: ir.Value, result: ir.Value) -> None:
        """The sums of a tile: store those of the first stretch, add those of the others."""
        b, first, none = self._b, len(FACTS), ir.constant(ir.I64, 0)
        with b.loop(first, b.add(self._stretches, first), carried=[none], at_least_once=True) as loop:
            (begin,) = loop.carried
            end = b.load(ir.I64, b.gep(self._rule, loop.index, of=ir.I64))
            start = (b.gep(each, b.mul(begin, by)) for each, by in ((x, self._along), (y, self._below)))
            sums = self._sums(begin, end, *start)
            rows = [b.gep(result, b.mul(self._pitch, row)) for row in self._rows]
            places = [b.gep(row, column, of=self._kind) for row in rows for column in self._columns]
            b.if_else(b.icmp("eq", begin, 0), lambda: self._put(sums, places), lambda: self._add(sums, places))
            loop.carry(end)

    def _sums(self, begin: ir.Value, end: ir.Value, x: ir.Value, y: ir.Value) -> list[ir.Value]:
        """The sums of the products of a stretch: column by column of `x`, row by row of `y`."""
        b, zeros = self._b, [ir.zero(self._vector)] * (len(self._rows) * len(self._columns))
        with b.loop(begin, end, carried=[x, y, *zeros], at_least_once=True, predicate="ult") as loop:
            x_p, y_p, *sums = loop.carried
            seconds = [b.load(self._vector, b.gep(y_p, each, of=self._kind), self._size) for each in self._columns]
            ones = [b.load(self._kind, b.gep(x_p, b.mul(self._down, row))) for row in self._rows]
            firsts = [b.splat(each, self._lanes) for each in ones]
            found = [b.intrinsic("fma", *each, old) for each, old in zip(product(firsts, seconds), sums)]
            loop.carry(b.gep(x_p, self._along), b.gep(y_p, self._below), *found)
        return loop.results[2:]

    def _put(self, sums: Sequence[ir.Value], places: Sequence[ir.Value]) -> None:
        for each, place in zip(sums, places):
            self._b.store(each, place, self._size)

    def _add(self, sums: Sequence[ir.Value], places: Sequence[ir.Value]) -> None:
        olds = [self._b.load(self._vector, place, self._size) for place in places]
        self._put([self._b.binary("fadd", old, each) for old, each in zip(olds, sums)], places)
