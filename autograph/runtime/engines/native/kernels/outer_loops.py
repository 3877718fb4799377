"""The loops around a row of a nest, and the flags; and sums as NumPy sums.

NumPy sums up to 128 floats in eight sums side by side, and more in halves, which loses less than one by one. Which are
summed first can be told from the result, so this is done just so. What is summed never is an array: `leaf` lets `row`
compute the eight that come next, or, if NumPy's loops are called, up to 128; `tree` adds up leaves; `parts` adds up
trees where NumPy does (see `reduction.PART`).
"""

from __future__ import annotations

from collections.abc import Sequence

from autograph.runtime.engines.native.kernels import row_schedules
from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.reduction import Combining
from autograph.runtime.engines.native.kernels.row_schedules import WIDTH, by_pieces
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT
from autograph.runtime.engines.native.llvm.syntax import RARE


class Around:
    """Writes what is around a row."""

    def __init__(self, nest: Nest, declared: set[str]) -> None:
        self._nest, self._declared = nest, declared
        self._count = len(nest.streams)
        self._lines: list[str] = []
        self._numbers = 0
        self._summed = len(nest.dtypes) - 1 if nest.reduction else None
        if nest.reduction:
            self._how = Combining(nest.reduction.how, nest.dtypes[-1])

    @property
    def text(self) -> str:
        """The function `loop`, over a part of the first axis. It gives the flags that have been raised."""
        width = WIDTH if by_pieces(self._nest) else ""
        head = f"define i64 @{self._nest.name}loop(ptr %frame, i64 %begin, i64 %end) {width} {{"
        self._lines = [head, "start:", "  %keep = alloca i64"]
        bases = [self._slot(place) for place in range(self._count)]
        if self._nest.is_float:
            self._clear()
        if self._nest.depth:
            self._outer(bases)
        else:
            if self._summed is not None:
                bases[self._summed] = self._emit(f"getelementptr i8, ptr %frame, i64 {SLOT * self._summed}")
            size = self._emit("sub i64 %end, %begin")
            self._row(self._moved(bases, "%begin"), size)
        if self._nest.is_float:
            flags = self._emit(f"call i32 @fetestexcept(i32 {FLAGS})")
            self._lines += [f"  ret i64 {self._emit(f'zext i32 {flags} to i64')}", "}"]
            self._declared.update(f"declare i32 @fe{name}except(i32)" for name in ("test", "clear", "raise"))
        else:
            self._lines += ["  ret i64 0", "}", ""]
        if self._summed is not None:
            self._sums(self._summed)
        return "\n".join(self._lines)

    def _emit(self, text: str) -> str:
        self._numbers += 1
        self._lines.append(f"  %l{self._numbers} = {text}")
        return f"%l{self._numbers}"

    def _slot(self, place: int, kind: str = "ptr") -> str:
        return self._emit(f"load {kind}, ptr {self._emit(f'getelementptr i8, ptr %frame, i64 {SLOT * place}')}")

    def _clear(self) -> None:
        """Take flags down that others have raised."""
        stale = self._emit(f"call i32 @fetestexcept(i32 {FLAGS})")
        dirty = self._emit(f"icmp ne i32 {stale}, 0")
        self._lines += [f"  br i1 {dirty}, label %clear, label %clean", "clear:"]
        self._lines += [f"  call i32 @feclearexcept(i32 {FLAGS})", "  br label %clean", "clean:"]

    def _moved(self, bases: Sequence[str], by: str) -> list[str]:
        """Pointers to what stands further on in a row."""
        found = list(bases)
        for place, stream in enumerate(self._nest.streams):
            if stream.steps and place != self._summed:
                step = self._slot(self._nest.step(place), "i64") if stream.apart else stream.dtype.itemsize
                offset = self._emit(f"mul i64 {by}, {step}")
                found[place] = self._emit(f"getelementptr i8, ptr {bases[place]}, i64 {offset}")
        return found

    def _row(self, pointers: Sequence[str], size: str) -> None:
        """Do a row, and what is to be done with its sum."""
        if self._summed is None:
            self._call_row(pointers, size)
            return
        if self._is_simple:
            total = self._call_sum("leaf", pointers, size)
        else:
            short = self._emit(f"icmp ule i64 {size}, {self._how.most}")
            self._lines += [f"  br i1 {short}, label %short, label %long", "short:"]
            few = self._call_sum("leaf", pointers, size)
            self._lines += ["  br label %total", "long:"]
            many = self._call_sum("parts" if self._how.part else "tree", pointers, size)
            self._lines += ["  br label %total", "total:"]
            total = self._emit(f"phi {self._how.kind} [ {few}, %short ], [ {many}, %long ]")
        if self._how.picks:
            total = self._picked(total, pointers, size)
        found = self._how.ended(self._emit, total, size)
        self._lines.append(f"  store {self._how.kind} {found}, ptr {pointers[self._summed]}")

    @property
    def _is_simple(self) -> bool:
        """Whether a leaf may be of any length: neither shows the order, nor must elements be kept."""
        return not self._how.in_order and (self._nest.direct is not None or self._nest.by_parts)

    def _picked(self, total: str, pointers: Sequence[str], size: str) -> str:
        """The one of several equal numbers that NumPy picks; a flag is raised where only NumPy knows."""
        kind, direct = self._how.kind, self._nest.direct
        if direct is None:
            self._how.doubt(self._emit, total, "ueq")
            return total
        self._how.doubt(self._emit, total, "uno")
        zero = self._emit(f"fcmp oeq {kind} {total}, 0.0")
        self._lines += ["  br label %seen", "seen:", f"  br i1 {zero}, label %zero, label %picked", "zero:"]
        which = self._emit(f"call {kind} @{self._nest.name}zero(ptr {pointers[direct]}, i64 {size})")
        self._lines += ["  br label %picked", "picked:"]
        return self._emit(f"phi {kind} [ {total}, %seen ], [ {which}, %zero ]")

    def _call_row(self, pointers: Sequence[str], size: str, name: str = "row") -> None:
        given = ", ".join(f"ptr {each}" for each in pointers)
        kept = self._emit(f"call i64 @{self._nest.name}{name}({given}, ptr %frame, i64 {size})")
        self._lines.append(f"  store volatile i64 {kept}, ptr %keep")

    def _outer(self, bases: list[str]) -> None:
        """The loops around a row."""
        nest = self._nest
        lengths = [self._slot(nest.length(axis), "i64") for axis in range(nest.depth + 1)]
        strides = [
            [self._slot(nest.stride(place, axis), "i64") for axis in range(nest.depth)] for place in range(self._count)
        ]
        lines = self._lines
        lines.append("  br label %before0")
        for axis in range(nest.depth):
            first, last = ("%begin", "%end") if axis == 0 else ("0", lengths[axis])
            lines.append(f"before{axis}:")
            if axis + 1 == nest.depth and row_schedules.by_bands(nest):
                self._bands(bases, [each[axis] for each in strides], first, last, lengths[-1])
            lines += [f"  br label %rows{axis}", f"rows{axis}:", f"  br label %head{axis}", f"head{axis}:"]
            lines += [f"  %i{axis} = phi i64 [ {first}, %rows{axis} ], [ %next{axis}, %latch{axis} ]"]
            lines += [f"  %more{axis} = icmp slt i64 %i{axis}, {last}"]
            lines += [f"  br i1 %more{axis}, label %body{axis}, label %after{axis}", f"body{axis}:"]
            steps = [self._emit(f"mul i64 %i{axis}, {each[axis]}") for each in strides]
            bases = [self._emit(f"getelementptr i8, ptr {base}, i64 {step}") for base, step in zip(bases, steps)]
            if axis + 1 < nest.depth:
                lines.append(f"  br label %before{axis + 1}")
        for place, (leader, by) in nest.beside.items():
            bases[place] = self._emit(f"getelementptr i8, ptr {bases[leader]}, i64 {by}")
        self._row(bases, lengths[-1])
        for axis in reversed(range(nest.depth)):
            lines += [f"  br label %latch{axis}", f"latch{axis}:", f"  %next{axis} = add i64 %i{axis}, 1"]
            lines += [f"  br label %head{axis}", f"after{axis}:"]

    def _bands(self, bases: list[str], strides: list[str], first: str, last: str, size: str) -> None:
        """Do the rows of the last axis before that in bands, if they can be; else go on."""
        fit = row_schedules.fit(self._nest, self._emit, bases, strides, self._emit(f"sub i64 {last}, {first}"), size)
        least = self._emit(f"sub i64 {last}, {row_schedules.ROWS}")
        self._lines += [f"  br i1 {fit}, label %bands, label %single", "bands:", "  br label %band", "band:"]
        self._lines += [f"  %b = phi i64 [ {first}, %bands ], [ %next, %band ]"]
        at = self._emit(f"select i1 {self._emit(f'icmp sgt i64 %b, {least}')}, i64 {least}, i64 %b")
        row_schedules.call(self._nest, self._emit, bases, strides, at, size)
        self._lines += [f"  %next = add i64 %b, {row_schedules.ROWS}", f"  %more = icmp slt i64 %next, {last}"]
        self._lines += [f"  br i1 %more, label %band, label %after{self._nest.depth - 1}", "single:"]

    # Sums -------------------------------------------------------------------------------------------------------------

    def _call_sum(self, name: str, pointers: Sequence[str], size: str) -> str:
        given = ", ".join(f"ptr {each}" for place, each in enumerate(pointers) if place != self._summed)
        return self._emit(f"call {self._how.kind} @{self._nest.name}{name}({given}, ptr %frame, i64 {size})")

    def _sums(self, summed: int) -> None:
        """The functions `leaf`, the sum of not too many numbers, `tree`, of more, and `parts`, of very many."""
        kind, name, names = self._how.kind, self._nest.name, [f"%s{place}" for place in range(self._count)]
        params = [*(f"ptr {name}" for place, name in enumerate(names) if place != summed), "ptr %frame", "i64 %n"]
        alone = "noinline " * (len(self._nest.stages) > 1)      # it is long
        self._lines.append(f"define internal {kind} @{name}leaf({', '.join(params)}) {alone}{{")
        self._leaf(summed, names)
        if not self._is_simple:
            self._tree(names, f"({', '.join(params)}) noinline {{")
        self._declared |= self._how.declared
        if self._how.picks and self._nest.direct is not None:
            self._lines.append(self._how.zero(f"{name}zero", RARE))

    def _tree(self, names: list[str], head: str) -> None:
        kind, name = self._how.kind, self._nest.name
        self._lines.append(f"define internal {kind} @{name}tree{head}")
        self._lines += [f"  %short = icmp ule i64 %n, {self._how.most}", "  br i1 %short, label %one, label %split"]
        self._lines.append("one:")
        self._lines += [f"  ret {kind} {self._call_sum('leaf', names, '%n')}", "split:"]
        half = self._emit(f"and i64 {self._emit('lshr i64 %n, 1')}, -8")
        first = self._call_sum("tree", names, half)
        rest = self._emit(f"sub i64 %n, {half}")
        second = self._call_sum("tree", self._moved(names, half), rest)
        self._lines += [f"  ret {kind} {self._emit(self._how.of(kind, first, second))}", "}"]
        if self._how.part:
            self._lines.append(f"define internal {kind} @{name}parts{head}")
            self._parts(self._how.part, names)

    def _parts(self, part: int, names: list[str]) -> None:
        kind = self._how.kind
        self._lines += ["  br label %iteration", "iteration:", "  %i = phi i64 [ 0, %0 ], [ %next, %iteration ]"]
        self._lines.append(f"  %sum = phi {kind} [ {self._how.none}, %0 ], [ %more, %iteration ]")
        self._lines += ["  %left = sub i64 %n, %i", f"  %last = icmp ule i64 %left, {part}"]
        self._lines.append(f"  %size = select i1 %last, i64 %left, i64 {part}")
        found = self._call_sum("tree", self._moved(names, "%i"), "%size")
        self._lines += [f"  %more = {self._how.of(kind, '%sum', found)}", "  %next = add i64 %i, %size"]
        self._lines += ["  br i1 %last, label %end, label %iteration", "end:", f"  ret {kind} %more", "}"]

    def _leaf(self, summed: int, names: list[str]) -> None:
        how, direct, lanes = self._how, self._nest.direct, self._how.lanes
        kind, size, vector = how.kind, self._nest.dtypes[summed].itemsize, f"<{lanes} x {how.kind}>"
        by_parts = self._nest.by_parts
        room, of = lanes if by_parts or direct is not None else how.most, names[summed if direct is None else direct]
        self._lines += ["  %keep = alloca i64", f"  %part = alloca {vector}, align 64"]
        self._lines.append(f"  {names[summed]} = alloca [{room} x {kind}], align 64")
        if not (self._nest.idle or by_parts):
            self._call_row(names, "%n")
        self._lines += [f"  %whole = and i64 %n, {-lanes}", "  br label %next", "next:"]
        self._lines.append("  %i = phi i64 [ 0, %0 ], [ %i1, %more ]")
        self._lines.append(f"  %r = phi {vector} [ {how.nones}, %0 ], [ %r1, %more ]")
        self._lines += ["  %go = icmp ult i64 %i, %whole", "  br i1 %go, label %more, label %done", "more:"]
        if by_parts:
            self._call_row(self._moved([*names[:summed], "%part", *names[summed + 1 :]], "%i"), str(lanes))
        found = "%part" if by_parts else self._emit(f"getelementptr {kind}, ptr {of}, i64 %i")
        value = self._emit(f"load {vector}, ptr {found}, align {size}")
        self._lines += [f"  %r1 = {how.of(vector, '%r', value)}", f"  %i1 = add i64 %i, {lanes}"]
        self._lines += [f"  br label %next{RARE}", "done:"]
        total = how.across(self._emit, "%r")
        self._lines += [f"  %few = and i64 %n, {lanes - 1}", "  %none = icmp eq i64 %few, 0"]
        self._lines += ["  br i1 %none, label %end, label %some", "some:"]
        if by_parts:
            self._call_row(self._moved(names, "%whole"), "%few", "row_rest")
        self._lines.append(f"  %rest = getelementptr {kind}, ptr {of}, i64 {0 if by_parts else '%whole'}")
        one = how.of(kind, "%s", "%w")
        self._lines += _REST.format(kind=kind, size=size, total=total, one=one, rare=RARE).splitlines()


_REST = """  br label %one
one:
  %j = phi i64 [ 0, %some ], [ %j1, %one ]
  %s = phi {kind} [ {total}, %some ], [ %t, %one ]
  %q = getelementptr {kind}, ptr %rest, i64 %j
  %w = load {kind}, ptr %q, align {size}
  %t = {one}
  %j1 = add i64 %j, 1
  %last = icmp ult i64 %j1, %few
  br i1 %last, label %one, label %end{rare}
end:
  %sum = phi {kind} [ {total}, %done ], [ %t, %one ]
  ret {kind} %sum
}}
"""
