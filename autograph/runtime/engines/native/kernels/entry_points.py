"""The C function of a kernel, which Python calls as a builtin.

It checks the kinds of the arguments, broadcasts their shapes, makes arrays for the results, runs the loops and returns
the results. In three cases it calls Python:

    other       the arguments have other kinds or layouts
    redo        a flag was raised, or memory is short: nothing has changed, or it has been undone
    parallel    there is enough work for several threads
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from autograph.common.numpy_internals import DATA, F_CONTIGUOUS
from autograph.runtime.engines.native.abi.c_entry import CFunction
from autograph.runtime.engines.native.kernels.loop_nest import Update
from autograph.runtime.engines.native.kernels.multi_nest import Member
from autograph.runtime.engines.native.kernels.nest_arguments import NestArguments
from autograph.runtime.engines.native.kernels.slice_layout import Layout, Part
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT
from autograph.runtime.engines.native.llvm.memory import load_number
from autograph.runtime.graph.types import scalar

BLOCK = 1 << 13             # elements of a block of rows, unless a row is longer; 64 KB of floats
BUSY = 1 << 13              # elements from which on the GIL is released
PARALLEL = 3 << 20          # cost of all elements from which on several threads share it; see `Nest.cost`
COSTLY = PARALLEL // 48     # elements for which that is so if a function such as `sin` is called


@dataclass(frozen=True)
class Callers:
    """The Python functions that the C function calls."""

    other: Callable[..., Any]
    redo: Callable[..., Any]
    parallel: Callable[..., Any]


class EntryPoint:
    """Builds the C function.

    Args:
        members: the nests.
        parts: for each input, the argument or part of an argument that it is.
        count: the number of arguments.
        flat: `C` or `F` if all arrays have one shape and are contiguous in that order, so that they are one row.
        returns_target: whether an array that is written into is a result.

    Attributes:
        things: the objects in its table.
    """

    def __init__(
        self,
        module: ir.Module,
        members: Sequence[Member],
        parts: dict[Any, Part],
        count: int,
        ndim: int,
        flat: str,
        returns_target: bool,
        callers: Callers,
    ) -> None:
        slots = sum(member.nest.frame.slots for member in members)
        self._c = c = CFunction(module, count, slots + (len(members) > 1), callers.other)
        self._ndim, self._flat, self._returns_target, self._callers = ndim, flat, returns_target, callers
        self._lengths = c.b.room(ir.array(ndim, ir.I64))
        if any(member.nest.is_float for member in members):
            c.demand_silence()
        taken = self._take(members, parts)
        self._first, first, made = taken[0], members[0].nest, list[ir.Value]()
        if first.update is not None and not first.update.buffered:
            taken[0].demand_disjoint(first.update)
        for member, arguments in zip(members, taken):
            made = self._make(member, arguments, made)
        if len(members) > 1:
            c.b.store(self._rows_of_a_block(), c.b.gep(c.frame, SLOT * slots))
        self._run(max(1, PARALLEL // sum(member.nest.cost for member in members)), made)
        self.things = c.things

    def _take(self, members: Sequence[Member], parts: dict[Any, Part]) -> list[NestArguments]:
        """Put the arguments into the frame, of which each nest has a part."""
        c, base, found, known = self._c, 0, list[NestArguments](), dict[Any, Layout]()
        for member in members:
            arguments = NestArguments(c, member.nest, c.b.gep(c.frame, SLOT * base), self._ndim, self._flat)
            found.append(arguments)
            for key, kind in member.inputs.items():
                if key in known:
                    arguments.arrays.append(known[key])
                else:
                    arguments.take(parts.get(key), kind)
            arguments.demand_shapes()
            for axis, (dim, other) in enumerate(zip(arguments.dims, found[0].dims), 1):
                if len(members) > 1:
                    whole = member.is_wide or axis < self._ndim
                    c.demand(c.b.icmp("eq", dim, other if whole else 1))
            known |= {value: arguments.layout(place) for place, value in enumerate(member.outputs)}
            base += member.nest.frame.slots
        return found

    def _rows_of_a_block(self) -> ir.Value:
        """The number of rows in a block of all nests."""
        b, rows = self._c.b, self._first.dims[0]
        wanted = b.binary("udiv", ir.constant(ir.I64, BLOCK), b.binary("udiv", self._first.size, rows))
        wanted = b.select(b.icmp("eq", wanted, 0), ir.constant(ir.I64, 1), wanted)
        return b.select(b.icmp("slt", wanted, rows), wanted, rows)

    # Results ----------------------------------------------------------------------------------------------------------

    def _make(self, member: Member, arguments: NestArguments, made: list[ir.Value]) -> list[ir.Value]:
        """Make the arrays for the results of a nest. Returns them after those that are made already."""
        c, b, nest = self._c, self._c.b, member.nest
        for place, dtype in enumerate(nest.dtypes):
            if not member.new[place]:
                continue
            shape = arguments.layout(place).shape
            if nest.reduction is not None and place == nest.reduced and not nest.reduction.keepdims:
                shape = shape[:-1]
            for axis, dim in enumerate(shape):
                b.store(dim, b.gep(self._lengths, axis, ir.I64))
            found = c.new_array(dtype, len(shape), self._lengths, F_CONTIGUOUS if self._flat == "F" else 0)
            with b.if_then(b.is_null(found)):
                c.python("PyErr_Clear")
                self._give_up(made)
            b.store(c.load_at(ir.PTR, found, DATA), arguments.at(place))
            made = [*made, found]
        return made

    def _give_up(self, made: Sequence[ir.Value]) -> None:
        for each in made:
            self._c.forget(each)
        self._c.hand_over(self._callers.redo)

    def _run(self, far: int, made: list[ir.Value]) -> None:
        """Run the loops, from so many elements on in several threads, and return the results."""
        c, b, first, nest = self._c, self._c.b, self._first, self._first.nest
        size, whole = first.size, first.size if self._flat or not nest.depth else first.dims[0]
        is_number = nest.reduction is not None and nest.reduction.whole
        work = size if nest.iterations is None else b.mul(size, b.load(ir.I64, first.at(nest.iterations)))
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
            if nest.update is not None and nest.update.out < len(nest.dtypes) - 1:
                c.forget(c.call(c.address(np.copyto), [first.things[nest.update.target], made[-1]]))    # undo
            self._give_up(made)
        if nest.update is not None and nest.update.buffered:
            self._loop(whole, "copy_out")
        if nest.update is not None:
            made = self._results(nest.update, made)
        if is_number:
            total = load_number(b, first.at(len(nest.dtypes) - 1), nest.dtypes[-1])
            made = [*made, c.number_object(total, scalar(nest.dtypes[-1]))]
        b.ret(made[0] if len(made) == 1 else c.tuple_object(made))

    def _results(self, update: Update, made: list[ir.Value]) -> list[ir.Value]:
        """The results, if an array has been written into."""
        outs, log = made[: update.out], made[update.out :]
        for each in log:
            self._c.forget(each)
        target = self._first.things[update.target] if self._returns_target else self._c.address(None)
        return [*outs, self._c.another(target)] if self._returns_target or not outs else outs

    # Loops ------------------------------------------------------------------------------------------------------------

    def _loop(self, whole: ir.Value, name: str = "loop") -> ir.Value:
        return self._c.b.call(self._c.b.function.module.functions[name], self._c.frame, 0, whole)

    def _unlocked(self, whole: ir.Value) -> ir.Value:
        """Run the loops without the GIL."""
        state = self._c.python("PyEval_SaveThread")
        flags = self._loop(whole)
        self._c.python("PyEval_RestoreThread", state)
        return flags

    def _in_parallel(self, whole: ir.Value, made: Sequence[ir.Value]) -> ir.Value:
        """Let Python run the loops in several threads."""
        c, b = self._c, self._c.b
        given = [c.python("PyLong_FromLongLong", each) for each in (b.cast("ptrtoint", c.frame, ir.I64), whole)]
        found = c.call(c.address(self._callers.parallel), given)
        for each in given:
            c.forget(each)
        with b.if_then(b.is_null(found)):
            for each in made:
                c.forget(each)
            b.ret(ir.NULL)
        flags = c.python("PyLong_AsLongLong", found)
        c.forget(found)
        return flags
