"""A C function around a nest of loops, which Python calls as a builtin.

It looks whether the arguments are of the kinds that the nest is for, and finds the shape that they are broadcast to; it
makes the arrays for the results, runs the loops, and gives these back. Who is called if it cannot be done:

    other       the arguments are of other kinds, or laid out otherwise
    redo        a flag has been raised, or there is no memory; so nothing has happened yet, or it has been undone
    parallel    there is so much to do that several threads had better do it

What has been laid aside until all has been read, see `in_place`, `copy_out` puts into the array that it is for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.common.numpy_internals import ALIGNED, CONTIGUOUS, DATA, F_CONTIGUOUS, SHAPE, STRIDES, WRITEABLE
from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.operands import Single, Stream, places
from autograph.runtime.engines.native.kernels.slice_layout import Part, Parts
from autograph.runtime.engines.native.llvm.cpython_abi import (
    SLOT,
    llvm_type,
)
from autograph.runtime.engines.native.llvm.syntax import literal
from autograph.runtime.graph.types import part_of, scalar

BUSY = 1 << 13              # elements from which on other threads may run meanwhile
PARALLEL = 3 << 20          # what elements cost together from which on several threads do it; see `Nest.cost`
COSTLY = PARALLEL // 48     # elements for which that is so if there are functions such as `sin`


class Gathering(Parts):
    """The text of that function.

    Args:
        flat: `C` or `F` if all arrays are of one shape, in that order, so that they are gone through in one row.
        gives: whether an array that is written into is a result.
        kinds: what the inputs are, and constants.
        parts: which part of which argument each input is.
    """

    def __init__(
        self,
        nest: Nest,
        kinds: dict[Any, Stream | Single],
        parts: dict[Any, Part],
        count: int,
        ndim: int,
        flat: str,
        gives: bool,
        other: Callable[..., Any],
        redo: Callable[..., Any],
        parallel: Callable[..., Any],
    ) -> None:
        super().__init__([], set(), count)
        self._ndim, self._flat, self._gives = ndim, flat, gives
        self._begin(nest)
        self._open(nest.slots, other)
        self._make_room([nest])
        for key, kind in kinds.items():
            self._take(parts.get(key), kind)
        size = self._demand_shapes()
        if nest.target >= 0 and not nest.aside:
            self._demand_apart(size)
        made = self._make([], redo)
        self._run(size, max(1, PARALLEL // nest.cost), made, redo, parallel)

    def _begin(self, nest: Nest) -> None:
        """From now on, it is about this nest."""
        self._nest = nest
        self._outs = len(nest.dtypes)
        self._arrays: list[Any] = []
        self._singles = 0
        self._extents: dict[int, str] = {}
        self._strides: dict[tuple[int, int], str] = {}

    def _make_room(self, nests: Sequence[Nest]) -> None:
        ndim = self._ndim
        self._do(f"  %dims = alloca [{ndim} x i64]", f"  %kept = alloca [{ndim} x i64]", "  %handed = alloca [2 x ptr]")
        if any(nest.is_float for nest in nests):
            self._demand_silence()

    def _demand_shapes(self) -> str:
        """Demand that the arrays go together, and that the nest is for as many elements; gives how many."""
        self._dims = self._find_dims()
        size = self._emit("add i64 1, 0")
        for dim in self._dims:
            size = self._emit(f"mul i64 {size}, {dim}")
        self.demand(self._emit(f"icmp sgt i64 {size}, {0 if self._nest.is_steady else 1}"))
        if self._nest.most < 2**62:
            self.demand(self._emit(f"icmp sle i64 {size}, {self._nest.most}"))
        return size

    @property
    def text(self) -> str:
        return "\n".join([*sorted(self.declared), super().text])

    def _at(self, pointer: str, slot: int) -> str:
        return self._emit(f"getelementptr i8, ptr {pointer}, i64 {SLOT * slot}")

    # Arguments --------------------------------------------------------------------------------------------------------

    def _take(self, part: Part | None, kind: Stream | Single) -> None:
        """Take an argument, a part of one, or a constant, into the frame."""
        thing = "" if part is None else self._load("ptr", "%args", SLOT * part.place)
        if isinstance(kind, Stream):
            streams = len(self._arrays)
            self._take_stream(thing, kind)
            found = self.layout(thing, kind.ndim, part.indices) if part is not None and part.indices else None
            data = self._load("ptr", thing, DATA) if found is None else found.data
            for at in self._places(self._outs + streams):
                self._do(f"  store ptr {data}, ptr {self._at(self._frame, at)}")
            self._arrays.append(found or thing)
            return
        self._slot = self._nest.single(self._singles)
        if kind.known is None:
            self._take_number(thing, kind.type)
            self._demand_range(self._singles)
        elif kind.type.dtype.kind == "c":
            own = part_of(kind.type.dtype)
            for each in (kind.known.real, kind.known.imag):
                self._store(llvm_type(own), literal(each, own))
        else:
            dtype = kind.type.dtype
            text = str(int(kind.known)) if dtype.kind == "b" else literal(kind.known, dtype)
            self._store("i8" if dtype.kind == "b" else llvm_type(dtype), text)
        self._singles += places([kind])

    def _demand_range(self, single: int) -> None:
        """Demand of a Python integer that it fits into the dtypes that it is brought to."""
        for place, dtype in sorted(self._nest.ranges, key=str):
            if place == single and dtype != np.dtype("int64"):
                value = self._load("i64", self._frame, SLOT * self._nest.single(single))
                info = np.iinfo(dtype)
                self.demand(self._emit(f"icmp sge i64 {value}, {info.min}"))
                self.demand(self._emit(f"icmp sle i64 {value}, {min(info.max, 2**63 - 1)}"))

    def _take_stream(self, thing: str, stream: Stream) -> None:
        orders = {"C": (CONTIGUOUS, CONTIGUOUS), "F": (F_CONTIGUOUS, CONTIGUOUS | F_CONTIGUOUS)}
        order = orders.get(self._flat if stream.ndim else "", (0, 0))
        wanted, mask = (ALIGNED | each | WRITEABLE * self._is_target(len(self._arrays)) for each in order)
        self.demand_array(thing, stream.dtype, stream.ndim, wanted, mask)

    def _demand_apart(self, size: str) -> None:
        """Demand that nothing else lies where there is written."""
        bounds = []
        for place, stream in enumerate(self._nest.streams[self._outs :], self._outs):
            begin = self._load("i64", self._frame, SLOT * place)
            whole = self._emit(f"mul i64 {size}, {stream.dtype.itemsize}") if self._flat and stream.ndim else ""
            extent = self._extents.get(place) or whole or str(stream.dtype.itemsize)
            bounds.append((begin, self._emit(f"add i64 {begin}, {extent}")))
        begin, end = bounds.pop(self._nest.target - self._outs)
        for other, behind in bounds:
            before, after = self._emit(f"icmp ule i64 {end}, {other}"), self._emit(f"icmp ule i64 {behind}, {begin}")
            self.demand(self._emit(f"or i1 {before}, {after}"))

    def _places(self, place: int) -> list[int]:
        """Where the nest has an array that comes in: also among those that come out, if it is written into at once."""
        return [place, self._nest.written] if place == self._nest.target and not self._nest.aside else [place]

    def _is_target(self, place: int) -> bool:
        """Whether an array that comes in, of that number, is written into."""
        return self._nest.target == self._outs + place

    # Shapes -----------------------------------------------------------------------------------------------------------

    def _find_dims(self) -> list[str]:
        streams = self._nest.streams[self._outs :]
        shapes = [self.facts(thing, SHAPE, stream.ndim) for thing, stream in zip(self._arrays, streams)]
        if self._flat:
            first, *rest = (shape for shape in shapes if shape)
            for shape in rest:
                for dim, other in zip(first, shape):
                    self.demand(self._emit(f"icmp eq i64 {dim}, {other}"))
            return first
        dims = self._broadcast(shapes)
        for place, (thing, stream, shape) in enumerate(zip(self._arrays, streams, shapes)):
            if stream.ndim:
                self._demand_layout(self._outs + place, thing, stream, shape, dims)
            else:
                for axis in range(self._nest.depth):
                    self._set_stride(self._outs + place, axis, "0")
        self._lay_out(dims)
        for sources in (*self._nest.sources, *self._nest.several):
            if len(sources) < sum(stream.ndim > 0 for stream in streams):
                own = self._broadcast([shape for place, shape in enumerate(shapes) if self._outs + place in sources])
                for dim, whole in zip(own, dims):
                    self.demand(self._emit(f"icmp eq i64 {dim}, {whole}"))
        return dims

    def _broadcast(self, shapes: Sequence[Sequence[str]]) -> list[str]:
        """The shape that arrays are broadcast to, if they can be."""
        dims = []
        for axis in range(self._ndim):
            found = "1"
            for shape in shapes:
                if len(shape) >= self._ndim - axis:
                    dim = shape[axis - self._ndim]
                    found = self._emit(f"select i1 {self._emit(f'icmp eq i64 {found}, 1')}, i64 {dim}, i64 {found}")
            dims.append(found)
        return dims

    def _demand_layout(self, place: int, thing: str, stream: Stream, shape: list[str], dims: list[str]) -> None:
        """Demand that an array can be broadcast, and that its axes are in the order of those of the result."""
        strides, ahead = self.facts(thing, STRIDES, stream.ndim), self._ndim - stream.ndim
        before, extent = str(2**62), str(stream.dtype.itemsize)
        for axis in range(self._nest.depth):
            if axis < ahead:
                self._set_stride(place, axis, "0")
        for axis, (dim, stride) in enumerate(zip(shape, strides)):
            single = self._emit(f"icmp eq i64 {dim}, 1")
            whole = self._emit(f"icmp eq i64 {dim}, {dims[ahead + axis]}")
            self.demand(whole if place in self._nest.carried else self._emit(f"or i1 {single}, {whole}"))
            step = self._emit(f"select i1 {single}, i64 0, i64 {stride}")
            if place in self._nest.ordered:
                self.demand(self._emit(f"or i1 {single}, {self._emit(f'icmp ne i64 {stride}, 0')}"))
            self.demand(self._emit(f"icmp sge i64 {step}, 0"))
            far = self._emit(f"mul i64 {step}, {self._emit(f'sub i64 {dim}, 1')}")
            extent = self._extents[place] = self._emit(f"add i64 {extent}, {far}")
            self.demand(self._emit(f"icmp sle i64 {step}, {before}"))
            before = self._emit(f"select i1 {self._emit(f'icmp eq i64 {step}, 0')}, i64 {before}, i64 {step}")
            if ahead + axis < self._nest.depth:
                self._set_stride(place, ahead + axis, step)
            elif stream.apart:
                self.demand(self._emit(f"icmp ne i64 {step}, {stream.dtype.itemsize}"))
                for each in self._places(place):
                    self._do(f"  store i64 {step}, ptr {self._at(self._frame, self._nest.step(each))}")
            else:
                self.demand(self._emit(f"icmp eq i64 {step}, {stream.dtype.itemsize if stream.steps else 0}"))

    def _set_stride(self, place: int, axis: int, ref: str) -> None:
        self._strides[place, axis] = ref
        self._do(f"  store i64 {ref}, ptr {self._at(self._frame, self._nest.stride(place, axis))}")

    def _lay_out(self, dims: list[str]) -> None:
        """Set the lengths of the loops, and how the results lie."""
        for axis, dim in enumerate(dims):
            self._do(f"  store i64 {dim}, ptr {self._at(self._frame, self._nest.length(axis))}")
        for place, dtype in enumerate(self._nest.dtypes):
            if place == self._nest.written and not self._nest.aside:
                for axis in range(self._nest.depth):
                    self._set_stride(place, axis, self._strides[self._nest.target, axis])
                continue
            step = str(dtype.itemsize)
            for axis in reversed(range(self._nest.depth)):
                if not (self._is_reduced(place) and axis + 1 == self._nest.depth):
                    step = self._emit(f"mul i64 {step}, {dims[axis + 1]}")
                self._set_stride(place, axis, step)

    # Results ----------------------------------------------------------------------------------------------------------

    def _is_reduced(self, place: int) -> bool:
        return self._nest.reduction is not None and place == self._outs - 1

    def _is_made(self, place: int) -> bool:
        """Whether there is a new array for what comes out there."""
        whole = self._nest.reduction is not None and self._nest.reduction.whole
        return (place != self._nest.written or self._nest.aside) and not (whole and self._is_reduced(place))

    def _make(self, made: list[str], redo: Callable[..., Any]) -> list[str]:
        """Make the arrays for the results, besides those that are made already."""
        for axis, dim in enumerate(self._dims):
            self._do(f"  store i64 {dim}, ptr {self._at('%dims', axis)}")
            self._do(f"  store i64 {1 if axis == self._ndim - 1 else dim}, ptr {self._at('%kept', axis)}")
        for place, dtype in enumerate(self._nest.dtypes):
            if not self._is_made(place):
                continue
            ndim, dims = self._ndim, "%dims"
            if self._nest.reduction is not None and self._is_reduced(place):
                ndim, dims = (ndim, "%kept") if self._nest.reduction.keepdims else (ndim - 1, dims)
            found = self.new_array(dtype, ndim, dims, F_CONTIGUOUS if self._flat == "F" else 0)
            failed, on = self._label(), self._label()
            missing = self._emit(f"icmp eq ptr {found}, null")
            self._do(f"  br i1 {missing}, label %{failed}, label %{on}", f"{failed}:")
            self.python("PyErr_Clear")
            self._give_up(made, redo)
            self._do(f"{on}:")
            self._do(f"  store ptr {self._load('ptr', found, DATA)}, ptr {self._at(self._frame, place)}")
            made = [*made, found]
        return made

    def _give_up(self, made: list[str], redo: Callable[..., Any]) -> None:
        for each in made:
            self.forget(each)
        self._do(f"  ret ptr {self.python('PyObject_VectorcallDict', self.address(redo), '%args', '%count', 'null')}")

    def _run(
        self, size: str, far: int, made: list[str], redo: Callable[..., Any], parallel: Callable[..., Any]
    ) -> None:
        """Run the loops, from so many elements on in several threads, and give back what they come to."""
        whole = size if self._flat or not self._nest.depth else self._dims[0]
        if self._nest.reduction is not None and self._nest.reduction.whole:
            far = 2**62
        flags, work = self._emit("alloca i64"), size
        if self._nest.iterations >= 0:
            work = self._emit(f"mul i64 {size}, {self._load('i64', self._frame, SLOT * self._nest.iterations)}")
        small, some, busy, many, done = (self._label() for _ in range(5))
        self._do(f"  br i1 {self._emit(f'icmp slt i64 {work}, {BUSY}')}, label %{small}, label %{some}", f"{small}:")
        call = f"call i64 @loop(ptr %frame, i64 0, i64 {whole})"
        self._do(f"  store i64 {self._emit(call)}, ptr {flags}", f"  br label %{done}", f"{some}:")
        self._do(f"  br i1 {self._emit(f'icmp slt i64 {work}, {far}')}, label %{busy}, label %{many}", f"{busy}:")
        state = self.python("PyEval_SaveThread")
        self._do(f"  store i64 {self._emit(call)}, ptr {flags}")
        self.python("PyEval_RestoreThread", state)
        self._do(f"  br label %{done}", f"{many}:")
        self._call_parallel(whole, flags, made, parallel, done)
        self._do(f"{done}:")
        wrong, right = self._label(), self._label()
        raised = self._emit(f"icmp ne i64 {self._emit(f'load i64, ptr {flags}')}, 0")
        self._do(f"  br i1 {raised}, label %{wrong}, label %{right}", f"{wrong}:")
        if 0 <= self._nest.written < self._outs - 1:
            self._undo(made[-1])
        self._give_up(made, redo)
        self._do(f"{right}:")
        if self._nest.aside:
            row = size if self._flat else self._dims[-1]
            self._do(f"  call void @copy_out(ptr %frame, i64 {row})")
        if self._nest.target >= 0:
            made = self._results(made)
        if self._nest.reduction is not None and self._nest.reduction.whole:
            dtype = self._nest.dtypes[-1]
            total = self._load("i8" if dtype.kind == "b" else llvm_type(dtype), self._frame, SLOT * (self._outs - 1))
            total = self._emit(f"icmp ne i8 {total}, 0") if dtype.kind == "b" else total
            made = [*made, self.number_object(total, scalar(dtype))]
        self._do(f"  ret ptr {made[0] if len(made) == 1 else self.tuple_object(made)}")

    def _undo(self, log: str) -> None:
        """Put back what was there."""
        for place, each in enumerate((self._arrays[self._nest.target - self._outs], log)):
            self._do(f"  store ptr {each}, ptr {self._at('%handed', place)}")
        found = self.python("PyObject_VectorcallDict", self.address(np.copyto), "%handed", "2", "null")
        self.forget(found)

    def _results(self, made: list[str]) -> list[str]:
        """What is to be given back, if an array has been written into."""
        outs, log = made[: self._nest.written], made[self._nest.written :]
        for each in log:
            self.forget(each)
        target = self._arrays[self._nest.target - self._outs] if self._gives else self.address(None)
        return [*outs, self.another(target)] if self._gives or not outs else outs

    def _call_parallel(self, whole: str, flags: str, made: list[str], parallel: Any, done: str) -> None:
        numbers = [self._emit("ptrtoint ptr %frame to i64"), whole]
        given = [self.python("PyLong_FromLongLong", each) for each in numbers]
        for place, each in enumerate(given):
            self._do(f"  store ptr {each}, ptr {self._at('%handed', place)}")
        found = self.python("PyObject_VectorcallDict", self.address(parallel), "%handed", "2", "null")
        for each in given:
            self.forget(each)
        failed, on = self._label(), self._label()
        self._do(f"  br i1 {self._emit(f'icmp eq ptr {found}, null')}, label %{failed}, label %{on}", f"{failed}:")
        for each in made:
            self.forget(each)
        self._do("  ret ptr null", f"{on}:")
        self._do(f"  store i64 {self.python('PyLong_AsLongLong', found)}, ptr {flags}")
        self.forget(found)
        self._do(f"  br label %{done}")
