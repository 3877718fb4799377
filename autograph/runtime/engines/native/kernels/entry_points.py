"""A C function around the loops of a kernel, which Python calls as a builtin.

It looks whether the arguments are of the kinds that the loops are for, and finds the shape that they are broadcast to;
it makes the arrays for the results, runs the loops, and gives these back. Who is called if it cannot be done:

    other       the arguments are of other kinds, or laid out otherwise
    redo        a flag has been raised, or there is no memory; so nothing has happened yet, or it has been undone
    parallel    there is so much to do that several threads had better do it

What the loops write into a copy-out buffer, see `in_place`, `copy_out` puts into the array that it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograph.common.numpy_internals import DATA, F_CONTIGUOUS
from autograph.runtime.engines.native.abi.c_entry import CFunction
from autograph.runtime.engines.native.kernels.multi_nest import Phase
from autograph.runtime.engines.native.kernels.nest_arguments import NestArguments
from autograph.runtime.engines.native.kernels.slice_layout import Layout, Part
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT
from autograph.runtime.engines.native.llvm.ir import I64, NULL, PTR, Module, Value, array, constant
from autograph.runtime.engines.native.llvm.memory import load_number
from autograph.runtime.graph.types import scalar

BLOCK = 1 << 13             # elements of a block of rows, if that is more than a row; 64 KB of floats
BUSY = 1 << 13              # elements from which on other threads may run meanwhile
PARALLEL = 3 << 20          # what elements cost together from which on several threads do it; see `Nest.cost`
COSTLY = PARALLEL // 48     # elements for which that is so if there are functions such as `sin`


@dataclass(frozen=True)
class Callers:
    """The functions of Python's that are called where the loops are not enough, see above."""

    other: Callable[..., Any]
    redo: Callable[..., Any]
    parallel: Callable[..., Any]


class EntryPoint:
    """Builds that function.

    Args:
        phases: one for each nest.
        parts: which part of which argument each input is.
        count: of the arguments.
        flat: `C` or `F` if all arrays are of one shape, in that order, so that they are gone through in one row.
        gives: whether an array that is written into is a result.

    Attributes:
        things: the objects that it knows.
    """

    def __init__(
        self,
        module: Module,
        phases: Sequence[Phase],
        parts: dict[Any, Part],
        count: int,
        ndim: int,
        flat: str,
        gives: bool,
        callers: Callers,
    ) -> None:
        slots = sum(phase.nest.slots for phase in phases)
        self._c = c = CFunction(module, count, slots + (len(phases) > 1), callers.other)
        self._ndim, self._flat, self._gives, self._callers = ndim, flat, gives, callers
        self._lengths, self._kept = (c.b.room(array(ndim, I64)) for _ in range(2))
        if any(phase.nest.is_float for phase in phases):
            c.demand_silence()
        taken = self._take(phases, parts)
        self._first, first, made = taken[0], phases[0].nest, list[Value]()
        if first.target >= 0 and not first.buffered:
            taken[0].demand_apart()
        for phase, arguments in zip(phases, taken):
            made = self._make(phase, arguments, made)
        if len(phases) > 1:
            c.b.store(self._rows_of_a_block(), c.b.gep(c.frame, SLOT * slots))
        self._run(max(1, PARALLEL // sum(phase.nest.cost for phase in phases)), made)
        self.things = c.things

    def _take(self, phases: Sequence[Phase], parts: dict[Any, Part]) -> list[NestArguments]:
        """Take the arguments, for one nest after the other, each of which has its own part of the frame."""
        c, base, found, known = self._c, 0, list[NestArguments](), dict[Any, Layout]()
        for phase in phases:
            arguments = NestArguments(c, phase.nest, c.b.gep(c.frame, SLOT * base), self._ndim, self._flat)
            found.append(arguments)
            for key, kind in phase.inputs.items():
                if key in known:
                    arguments.arrays.append(known[key])
                else:
                    arguments.take(parts.get(key), kind)
            arguments.demand_shapes()
            for axis, (dim, other) in enumerate(zip(arguments.dims, found[0].dims), 1):
                if len(phases) > 1:
                    whole = phase.is_wide or axis < self._ndim
                    c.demand(c.b.icmp("eq", dim, other if whole else 1))
            known |= {value: arguments.layout(place) for place, value in enumerate(phase.outputs)}
            base += phase.nest.slots
        return found

    def _rows_of_a_block(self) -> Value:
        b, rows = self._c.b, self._first.dims[0]
        wanted = b.binary("udiv", constant(I64, BLOCK), b.binary("udiv", self._first.size, rows))
        wanted = b.select(b.icmp("eq", wanted, 0), constant(I64, 1), wanted)
        return b.select(b.icmp("slt", wanted, rows), wanted, rows)

    # Results ----------------------------------------------------------------------------------------------------------

    def _make(self, phase: Phase, arguments: NestArguments, made: list[Value]) -> list[Value]:
        """Make the arrays for the results, besides those that are made already."""
        c, b, nest = self._c, self._c.b, phase.nest
        for axis, dim in enumerate(arguments.dims):
            b.store(dim, b.gep(self._lengths, axis, I64))
            b.store(constant(I64, 1) if axis == self._ndim - 1 else dim, b.gep(self._kept, axis, I64))
        for place, dtype in enumerate(nest.dtypes):
            if not phase.made[place]:
                continue
            ndim, lengths = self._ndim, self._lengths
            if nest.reduction is not None and place == nest.reduced:
                ndim, lengths = (ndim, self._kept) if nest.reduction.keepdims else (ndim - 1, lengths)
            found = c.new_array(dtype, ndim, lengths, F_CONTIGUOUS if self._flat == "F" else 0)
            with b.if_then(b.is_null(found)):
                c.python("PyErr_Clear")
                self._give_up(made)
            b.store(c.load_at(PTR, found, DATA), arguments.at(place))
            made = [*made, found]
        return made

    def _give_up(self, made: Sequence[Value]) -> None:
        for each in made:
            self._c.forget(each)
        self._c.hand_over(self._callers.redo)

    def _run(self, far: int, made: list[Value]) -> None:
        """Run the loops, from so many elements on in several threads, and give back what they come to."""
        c, b, first, nest = self._c, self._c.b, self._first, self._first.nest
        size, whole = first.size, first.size if self._flat or not nest.depth else first.dims[0]
        is_number = nest.reduction is not None and nest.reduction.whole
        work = size if nest.iterations < 0 else b.mul(size, b.load(I64, first.at(nest.iterations)))
        flags = b.if_else(
            b.icmp("slt", work, BUSY),
            lambda: self._loop(whole),
            lambda: b.if_else(
                b.icmp("slt", work, 2**62 if is_number else far),
                lambda: self._unlocked(whole),
                lambda: self._in_parallel(whole, made),
            ),
        )
        assert flags is not None
        with b.if_then(b.icmp("ne", flags, 0)):
            if 0 <= nest.written < len(nest.dtypes) - 1:
                c.forget(c.call(c.address(np.copyto), [first.things[nest.target], made[-1]]))      # as it was before
            self._give_up(made)
        if nest.buffered:
            b.call(b.function.module.functions["copy_out"], c.frame, size if self._flat else first.dims[-1])
        if nest.target >= 0:
            made = self._results(made)
        if is_number:
            total = load_number(b, first.at(len(nest.dtypes) - 1), nest.dtypes[-1])
            made = [*made, c.number_object(total, scalar(nest.dtypes[-1]))]
        b.ret(made[0] if len(made) == 1 else c.tuple_object(made))

    def _results(self, made: list[Value]) -> list[Value]:
        """What is to be given back, if an array has been written into."""
        nest = self._first.nest
        outs, log = made[: nest.written], made[nest.written :]
        for each in log:
            self._c.forget(each)
        target = self._first.things[nest.target] if self._gives else self._c.address(None)
        return [*outs, self._c.another(target)] if self._gives or not outs else outs

    # Loops ------------------------------------------------------------------------------------------------------------

    def _loop(self, whole: Value) -> Value:
        return self._c.b.call(self._c.b.function.module.functions["loop"], self._c.frame, 0, whole)

    def _unlocked(self, whole: Value) -> Value:
        """Run the loops without the GIL."""
        state = self._c.python("PyEval_SaveThread")
        flags = self._loop(whole)
        self._c.python("PyEval_RestoreThread", state)
        return flags

    def _in_parallel(self, whole: Value, made: Sequence[Value]) -> Value:
        c, b = self._c, self._c.b
        given = [c.python("PyLong_FromLongLong", each) for each in (b.cast("ptrtoint", c.frame, I64), whole)]
        found = c.call(c.address(self._callers.parallel), given)
        for each in given:
            c.forget(each)
        with b.if_then(b.is_null(found)):
            for each in made:
                c.forget(each)
            b.ret(NULL)
        flags = c.python("PyLong_AsLongLong", found)
        c.forget(found)
        return flags
