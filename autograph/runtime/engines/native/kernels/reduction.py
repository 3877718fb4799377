"""Reductions of rows in NumPy's order.

The elements that are reduced are never an array. The function `leaf` reduces few elements: it computes as many as it
has accumulators at a time, or up to 128 of them, if inner loops of NumPy's are called. `tree` halves more elements
(pairwise summation: Higham, "The accuracy of floating point summation", 1993; `pairwise_sum` in NumPy's
`loops_utils.h.src`), and `parts` reduces very many in parts, one after the other; see `common/numpy_internals.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from autograph.runtime.engines.native.emit.combiner import Combiner
from autograph.runtime.engines.native.kernels.nest_writer import NestWriter, Position
from autograph.runtime.engines.native.kernels.schedule import Reduce, Schedule
from autograph.runtime.engines.native.libmath.libm import FLAGS, raise_flags
from autograph.runtime.engines.native.libmath.vectors import NO_VECTORS
from autograph.runtime.engines.native.llvm import ir


class RowReduction:
    """Writes the reduction of a row.

    Args:
        writer: writes functions of the nest.
        reduce: the reduction in the schedule.
        build: writes the statements that compute elements.
    """

    def __init__(self, writer: NestWriter, reduce: Reduce, build: Callable[[Schedule, Position], None]) -> None:
        nest = writer.nest
        assert nest.reduction is not None and nest.reduced is not None
        self._writer, self._reduce, self._place, self._build = writer, reduce, nest.reduced, build
        self._combiner = Combiner(nest.reduction.how, nest.dtypes[-1])
        self._kind, self._align = self._combiner.kind, nest.dtypes[-1].itemsize

    def write(self, at: Position) -> None:
        """Reduce a row, and store the result."""
        b, most, leaf = self._writer.b, self._reduce.most, self._leaf(at)
        if most:
            tree = self._tree(at, leaf)
            more = self._parts(at, tree) if self._reduce.part else tree
            short = b.icmp("ule", at.size, most)
            total = b.if_else(short, lambda: self._call(leaf, at), lambda: self._call(more, at))
            assert total is not None
        else:
            total = self._call(leaf, at)
        if self._combiner.picks:
            total = self._picked(total, at)
        b.store(self._combiner.ended(b, total, at.size), at.pointers[self._place])

    def _call(self, function: ir.Function, at: Position) -> ir.Value:
        pointers = [each for place, each in enumerate(at.pointers) if place != self._place]
        return self._writer.b.call(function, *pointers, self._writer.frame, at.size)

    def _parameters(self, at: Position) -> list[ir.Parameter]:
        pointers = [ir.Parameter(f"s{place}", ir.PTR) for place in range(len(at.pointers)) if place != self._place]
        return [*pointers, ir.Parameter("frame", ir.PTR), ir.Parameter("n", ir.I64)]

    def _inside(self, function: ir.Function, at: Position) -> Position:
        """The position in such a function."""
        *pointers, _, size = function.parameters
        return replace(at, pointers=[*pointers[: self._place], ir.NULL, *pointers[self._place :]], size=size)

    # Order ------------------------------------------------------------------------------------------------------------

    def _tree(self, at: Position, leaf: ir.Function) -> ir.Function:
        """The function that halves what is too long for a leaf."""
        writer = self._writer
        with writer.function("tree", self._kind, self._parameters(at), attributes="noinline") as tree:
            b, at = writer.b, self._inside(tree, at)
            with b.if_then(b.icmp("ule", at.size, self._reduce.most)):
                b.ret(self._call(leaf, at))
            half = b.and_(b.binary("lshr", at.size, 1), -8)
            first = self._call(tree, replace(at, size=half))
            second = self._call(tree, writer.moved(at, half, b.sub(at.size, half)))
            b.ret(self._combiner.of(b, first, second))
        return tree

    def _parts(self, at: Position, tree: ir.Function) -> ir.Function:
        """The function that reduces parts one after the other."""
        writer, part = self._writer, self._reduce.part
        with writer.function("parts", self._kind, self._parameters(at), attributes="noinline") as parts:
            b, at = writer.b, self._inside(parts, at)
            with b.loop(0, at.size, part, [self._combiner.identity], at_least_once=True) as iteration:
                left = b.sub(at.size, iteration.index)
                size = b.select(b.icmp("slt", left, part), left, part)
                found = self._call(tree, writer.moved(at, iteration.index, size))
                iteration.carry(self._combiner.of(b, iteration.carried[0], found))
            b.ret(iteration.results[0])
        return parts

    def _leaf(self, at: Position) -> ir.Function:
        """The function that reduces vectors of elements, and then those that are left over."""
        writer, combiner, reduce, nest = self._writer, self._combiner, self._reduce, self._writer.nest
        attributes = "noinline" * (len(nest.stages) > 1)     # such a function is long
        with writer.function("leaf", self._kind, self._parameters(at), attributes=attributes) as leaf:
            b, at = writer.b, self._inside(leaf, at)
            if nest.direct is not None:
                elements = at.pointers[nest.direct]
            else:
                elements = writer.room(reduce.lanes if reduce.by_vectors else combiner.most, self._kind)
            at.pointers[self._place] = elements
            if reduce.by_vectors:
                at = writer.with_scratch(at, reduce.lanes)
            else:
                self._build(reduce.body, at)
            whole = b.and_(at.size, -reduce.lanes)
            kind = ir.vector(reduce.lanes, self._kind)
            with b.loop(0, whole, reduce.lanes, [ir.constant(kind, combiner.identity)], hints=NO_VECTORS) as iteration:
                if reduce.by_vectors:
                    self._build(reduce.body, writer.moved(at, iteration.index, ir.constant(ir.I64, reduce.lanes)))
                address = elements if reduce.by_vectors else b.gep(elements, iteration.index, of=self._kind)
                iteration.carry(combiner.of(b, iteration.carried[0], b.load(kind, address, align=self._align)))
            total = combiner.across(b, iteration.results[0])
            few = b.and_(at.size, reduce.lanes - 1)
            with b.if_then(b.icmp("eq", few, 0)):
                b.ret(total)
            if reduce.by_vectors:
                self._build(reduce.rest, writer.moved(at, whole, few))
            else:
                elements = b.gep(elements, whole, of=self._kind)
            with b.loop(0, few, 1, [total], at_least_once=True, hints=NO_VECTORS) as iteration:
                element = b.load(self._kind, b.gep(elements, iteration.index, of=self._kind), align=self._align)
                iteration.carry(combiner.of(b, iteration.carried[0], element))
            b.ret(iteration.results[0])
        return leaf

    # Maximum and minimum ----------------------------------------------------------------------------------------------

    def _picked(self, total: ir.Value, at: Position) -> ir.Value:
        """The one of several equal numbers that NumPy picks; raises a flag where only NumPy knows."""
        b, direct = self._writer.b, self._writer.nest.direct
        self._doubt(b.fcmp("ueq" if direct is None else "uno", total, 0.0))
        if direct is None:
            return total
        zero = self._zero()
        found = b.if_else(
            b.fcmp("oeq", total, 0.0), lambda: b.call(zero, at.pointers[direct], at.size), lambda: total
        )
        assert found is not None
        return found

    def _doubt(self, condition: ir.Value) -> None:
        """Raise a flag if a condition holds, so that NumPy computes the result."""
        raise_flags(self._writer.b, self._writer.b.select(condition, ir.constant(ir.I32, FLAGS), 0))

    def _zero(self) -> ir.Function:
        """The function that returns the zero of a row whose extreme is zero; it doubts if zeros have both signs."""
        writer, bits = self._writer, f"i{ir.bits_of(self._kind)}"
        with writer.function(
            "zero", self._kind, [ir.Parameter("x", ir.PTR), ir.Parameter("n", ir.I64)], attributes="noinline"
        ) as function:
            b, (x, n) = writer.b, function.parameters
            with b.loop(0, n, 1, [ir.FALSE, ir.FALSE], at_least_once=True, hints=NO_VECTORS) as iteration:
                element = b.load(self._kind, b.gep(x, iteration.index, of=self._kind), align=self._align)
                zero = b.fcmp("oeq", element, 0.0)
                minus = b.icmp("slt", b.cast("bitcast", element, bits), 0)
                plus = b.xor(minus, ir.TRUE)
                some = [b.or_(known, b.and_(zero, sign)) for known, sign in zip(iteration.carried, (plus, minus))]
                iteration.carry(*some)
            pluses, minuses = iteration.results
            self._doubt(b.and_(pluses, minuses))
            b.ret(b.select(minuses, ir.constant(self._kind, -0.0), 0.0))
        return function
