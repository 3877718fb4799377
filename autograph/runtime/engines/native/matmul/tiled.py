"""The loop for products of larger matrices: tile by tile, the sums of which stay in registers.

    for each tile of the result, and each stretch of columns of `x`:
        sums = 0
        for p in stretch:  sums[r, v] = fma(x[row + r, p], y[p, column + v …], sums[r, v])
        result[tile] = sums, or += sums in later stretches

Where rows or columns are left over, the last tile lies over the one before it, and computes some of its numbers again.
BLAS copies its arguments first, so that they lie in the order in which it goes through them. That pays for large ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.common.numpy_internals import DATA
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, llvm_type
from autograph.runtime.engines.native.matmul.small import Matrix, Multiplying

# Rows of a tile, and vectors in each of them, by how many registers there are for vectors.
FORMS = {32: ((4, 4), (16, 1)), 16: ((6, 2), (4, 3))}
FACTS = "rows count columns down along below".split()


def fill(rule: Any, x: Any, y: Any, ends: Sequence[int]) -> None:
    """Put into an array what code must know: lengths, strides, and the columns of `x` before which a sum ends."""
    numbers = (*x.shape, y.shape[1], *x.strides, y.strides[0], *ends)
    rule[: len(numbers)] = numbers


class Tiled(Multiplying):
    """The text of a C function for matrices of certain lengths and strides, and of the loop.

    Args:
        lanes: how many numbers are in a vector.
        form: see `FORMS`.
        rule: an array, see `fill`.
    """

    def __init__(
        self, dtype: np.dtype[Any], lanes: int, form: tuple[int, int], rule: Any, other: Callable[..., Any]
    ) -> None:
        self._rule = rule
        self._loop = Loop(dtype, lanes, *form)
        super().__init__(dtype, other)
        self.declared.add(self._loop.declared)

    @property
    def text(self) -> str:
        return f"{super().text}\n{self._loop.text}"

    def _demand_fitting(self, first: Matrix, second: Matrix) -> None:
        """Demand matrices as in the rule, that are not each other's transposes: of these, NumPy computes but half."""
        for each in first, second:
            self.demand(each.is_matrix)
        numbers = [first.rows, first.columns, second.columns, first.down, first.along, second.down]
        rule = self._load("ptr", self.address(self._rule), DATA)
        for place, number in enumerate(numbers):
            self.demand(self._emit(f"icmp eq i64 {number}, {self._load('i64', rule, SLOT * place)}"))
        self.demand(self._emit(f"icmp eq i64 {second.along}, {self._dtype.itemsize}"))
        self.demand(self._emit(f"icmp ne ptr {first.data}, {second.data}"))

    def _call(self) -> None:
        rule = self._load("ptr", self.address(self._rule), DATA)
        first, second, result = (self._load("ptr", "%frame", SLOT * place) for place in range(3))
        self._do(f"  call void @tiles(ptr {result}, ptr {first}, ptr {second}, ptr {rule})")


class Loop:
    """The text of the loop.

    Args:
        lanes: how many numbers are in a vector.
        rows: of a tile.
        vectors: in each of them.
    """

    def __init__(self, dtype: np.dtype[Any], lanes: int, rows: int, vectors: int) -> None:
        self._kind, self._size = llvm_type(dtype), dtype.itemsize
        self._lanes, self._rows, self._vectors = lanes, rows, vectors
        self._vector = f"<{lanes} x {self._kind}>"
        self._fma = f"{self._vector} @llvm.fma.v{lanes}f{8 * self._size}"
        self._tile = [(row, place) for row in range(rows) for place in range(vectors)]
        self.declared = f"declare {self._fma}({self._vector}, {self._vector}, {self._vector})"
        self.text = "\n".join([*self._head(), *self._step(), *self._put(), *self._next()])

    def _head(self) -> list[str]:
        """To where a tile begins, and a stretch."""
        lines = ["define void @tiles(ptr noalias %result, ptr %x, ptr %y, ptr %rule) {", "entry:"]
        for place, fact in enumerate(FACTS):
            lines += [f"  %at.{fact} = getelementptr i64, ptr %rule, i64 {place}"]
            lines += [f"  %{fact} = load i64, ptr %at.{fact}"]
        return lines + f"""
  %pitch = mul i64 %columns, {self._size}
  %last.row = sub i64 %rows, {self._rows}
  %last.column = sub i64 %columns, {self._lanes * self._vectors}
  br label %panel
panel:
  %column = phi i64 [0, %entry], [%column.next, %panel.next]
  %y.panel = getelementptr {self._kind}, ptr %y, i64 %column
  %result.panel = getelementptr {self._kind}, ptr %result, i64 %column
  br label %tile
tile:
  %row = phi i64 [0, %panel], [%row.next, %tile.next]
  %row.x = mul i64 %row, %down
  %x.tile = getelementptr i8, ptr %x, i64 %row.x
  %row.result = mul i64 %row, %pitch
  %result.tile = getelementptr i8, ptr %result.panel, i64 %row.result
  br label %stretch
stretch:
  %begin = phi i64 [0, %tile], [%end, %stretch.next]
  %which = phi i64 [{len(FACTS)}, %tile], [%which.next, %stretch.next]
  %at.end = getelementptr i64, ptr %rule, i64 %which
  %end = load i64, ptr %at.end
  %begin.x = mul i64 %begin, %along
  %begin.y = mul i64 %begin, %below
  %x.begin = getelementptr i8, ptr %x.tile, i64 %begin.x
  %y.begin = getelementptr i8, ptr %y.panel, i64 %begin.y
  br label %step""".splitlines()[1:]

    def _step(self) -> list[str]:
        """A column of `x` in the tile times a row of `y`."""
        vector, lanes = self._vector, self._lanes
        lines = """step:
  %p = phi i64 [%begin, %stretch], [%p.next, %step]
  %x.p = phi ptr [%x.begin, %stretch], [%x.next, %step]
  %y.p = phi ptr [%y.begin, %stretch], [%y.next, %step]""".splitlines()
        for row, place in self._tile:
            lines += [f"  %old.{row}.{place} = phi {vector} [zeroinitializer, %stretch], [%sum.{row}.{place}, %step]"]
        for place in range(self._vectors):
            lines += [f"  %at.y.{place} = getelementptr {self._kind}, ptr %y.p, i64 {lanes * place}"]
            lines += [f"  %y.{place} = load {vector}, ptr %at.y.{place}, align {self._size}"]
        for row in range(self._rows):
            lines += [f"  %off.{row} = mul i64 %down, {row}"]
            lines += [f"  %at.x.{row} = getelementptr i8, ptr %x.p, i64 %off.{row}"]
            lines += [f"  %one.{row} = load {self._kind}, ptr %at.x.{row}"]
            lines += [f"  %first.{row} = insertelement {vector} zeroinitializer, {self._kind} %one.{row}, i64 0"]
            lines += [f"  %x.{row} = shufflevector {vector} %first.{row}, {vector} zeroinitializer, "]
            lines[-1] += f"<{lanes} x i32> zeroinitializer"
        for row, place in self._tile:
            operands = f"{vector} %x.{row}, {vector} %y.{place}, {vector} %old.{row}.{place}"
            lines += [f"  %sum.{row}.{place} = call {self._fma}({operands})"]
        return lines + """
  %p.next = add i64 %p, 1
  %x.next = getelementptr i8, ptr %x.p, i64 %along
  %y.next = getelementptr i8, ptr %y.p, i64 %below
  %more = icmp ult i64 %p.next, %end
  br i1 %more, label %step, label %put""".splitlines()[1:]

    def _put(self) -> list[str]:
        """Store the sums of the first stretch, and add those of others."""
        lines = ["put:", "  %is.first = icmp eq i64 %begin, 0", "  br i1 %is.first, label %new, label %more.sums"]
        for way, adds in (("new", False), ("more.sums", True)):
            lines += [f"{way}:"]
            for row, place in self._tile:
                name = f"{way}.{row}.{place}"
                lines += [f"  %r.{name} = mul i64 %pitch, {row}"]
                lines += [f"  %l.{name} = getelementptr i8, ptr %result.tile, i64 %r.{name}"]
                lines += [f"  %p.{name} = getelementptr {self._kind}, ptr %l.{name}, i64 {self._lanes * place}"]
                found = f"%sum.{row}.{place}"
                if adds:
                    lines += [f"  %o.{name} = load {self._vector}, ptr %p.{name}, align {self._size}"]
                    lines += [f"  %a.{name} = fadd {self._vector} %o.{name}, {found}"]
                    found = f"%a.{name}"
                lines += [f"  store {self._vector} {found}, ptr %p.{name}, align {self._size}"]
            lines += ["  br label %stretch.next"]
        return lines

    def _next(self) -> list[str]:
        """On to the next stretch, tile, panel."""
        lines = """stretch.next:
  %which.next = add i64 %which, 1
  %is.whole = icmp eq i64 %end, %count
  br i1 %is.whole, label %tile.next, label %stretch""".splitlines()
        for place, begin, on, size in (
            ("row", "tile", "panel.next", self._rows),
            ("column", "panel", "done", self._lanes * self._vectors),
        ):
            lines += f"""{begin}.next:
  %{place}.on = add i64 %{place}, {size}
  %{place}.is.past = icmp sgt i64 %{place}.on, %last.{place}
  %{place}.next = select i1 %{place}.is.past, i64 %last.{place}, i64 %{place}.on
  %{place}.is.last = icmp eq i64 %{place}, %last.{place}
  br i1 %{place}.is.last, label %{on}, label %{begin}""".splitlines()
        return [*lines, "done:", "  ret void", "}", ""]
