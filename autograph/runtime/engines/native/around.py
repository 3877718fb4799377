"""The loops around a row of a nest, and the flags; and sums as NumPy sums.

NumPy sums up to 128 floats in eight sums side by side, and more in halves, which loses less than one by one. Which are
summed first can be told from the result, so this is done just so. What is summed never is an array: `tree` lets `row`
compute 128 elements at a time.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograph.runtime.engines.native.combining import FLAGS, Combining
from autograph.runtime.engines.native.nest import Nest
from autograph.runtime.engines.native.objects import SLOT

BLOCK = 128     # elements that are summed side by side, as NumPy's `PW_BLOCKSIZE` has it


class Around:
    """Writes what is around a row."""

    def __init__(self, nest: Nest) -> None:
        self._nest = nest
        self._count = len(nest.streams)
        self._lines: list[str] = []
        self._numbers = 0
        self._summed = len(nest.dtypes) - 1 if nest.reduction else None
        if nest.reduction:
            self._how = Combining(nest.reduction.how, nest.dtypes[-1])

    @property
    def text(self) -> str:
        """The function `loop`, over a part of the first axis. It gives the flags that have been raised."""
        self._lines = ["define i64 @loop(ptr %frame, i64 %begin, i64 %end) {", "start:", "  %keep = alloca i64"]
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
            self._lines += [f"declare i32 @fe{name}except(i32)" for name in ("test", "clear", "raise")]
        else:
            self._lines += ["  ret i64 0", "}", ""]
        if self._summed is not None:
            self._tree(self._summed)
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
                offset = self._emit(f"mul i64 {by}, {stream.dtype.itemsize}")
                found[place] = self._emit(f"getelementptr i8, ptr {bases[place]}, i64 {offset}")
        return found

    def _row(self, pointers: Sequence[str], size: str) -> None:
        """Do a row, and what is to be done with its sum."""
        if self._summed is None:
            self._call_row(pointers, size)
            return
        total = self._call_tree(pointers, size)
        found = self._how.ended(self._emit, total, size)
        self._lines.append(f"  store {self._how.kind} {found}, ptr {pointers[self._summed]}")

    def _call_row(self, pointers: Sequence[str], size: str) -> None:
        kept = self._emit(f"call i64 @row({', '.join(f'ptr {each}' for each in pointers)}, ptr %frame, i64 {size})")
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
            lines += [f"before{axis}:", f"  br label %head{axis}", f"head{axis}:"]
            lines += [f"  %i{axis} = phi i64 [ {first}, %before{axis} ], [ %next{axis}, %latch{axis} ]"]
            lines += [f"  %more{axis} = icmp slt i64 %i{axis}, {last}"]
            lines += [f"  br i1 %more{axis}, label %body{axis}, label %after{axis}", f"body{axis}:"]
            steps = [self._emit(f"mul i64 %i{axis}, {each[axis]}") for each in strides]
            bases = [self._emit(f"getelementptr i8, ptr {base}, i64 {step}") for base, step in zip(bases, steps)]
            if axis + 1 < nest.depth:
                lines.append(f"  br label %before{axis + 1}")
        self._row(bases, lengths[-1])
        for axis in reversed(range(nest.depth)):
            lines += [f"  br label %latch{axis}", f"latch{axis}:", f"  %next{axis} = add i64 %i{axis}, 1"]
            lines += [f"  br label %head{axis}", f"after{axis}:"]

    # Sums -------------------------------------------------------------------------------------------------------------

    def _call_tree(self, pointers: Sequence[str], size: str) -> str:
        assert self._summed is not None
        given = [f"ptr {each}" for place, each in enumerate(pointers) if place != self._summed]
        return self._emit(f"call {self._how.kind} @tree({', '.join([*given, 'ptr %frame', f'i64 {size}'])})")

    def _tree(self, summed: int) -> None:
        """The function `tree`: the sum of a row."""
        how, size = self._how, self._nest.dtypes[summed].itemsize
        kind = how.kind
        names = [f"%s{place}" for place in range(self._count)]
        params = [f"ptr {name}" for place, name in enumerate(names) if place != summed]
        self._lines += [
            f"define internal {kind} @tree({', '.join([*params, 'ptr %frame', 'i64 %n'])}) noinline {{",
            "start:",
            "  %keep = alloca i64",
            f"  {names[summed]} = alloca [{BLOCK} x {kind}], align 32",
            f"  %short = icmp ule i64 %n, {BLOCK}",
            "  br i1 %short, label %leaf, label %split",
            "leaf:",
        ]
        if self._nest.direct is None:
            self._call_row(names, "%n")
        direct = self._nest.direct
        words = {"kind": kind, "size": size, "tmp": names[summed if direct is None else direct], "none": how.none}
        words |= {"both": how.of(f"<8 x {kind}>", "%r", "%v"), "one": how.of(kind, "%s", "%w")}
        self._lines += _BLOCK.format(**words).splitlines()
        eight = [self._emit(f"extractelement <8 x {kind}> %r, i64 {place}") for place in range(8)]
        while len(eight) > 1:
            eight = [self._emit(how.of(kind, a, b)) for a, b in zip(eight[::2], eight[1::2])]
        self._lines += _REST.format(**words, eight=eight[0]).splitlines()
        half = self._emit("and i64 %half, -8")
        first = self._call_tree(names, half)
        rest = self._emit(f"sub i64 %n, {half}")
        second = self._call_tree(self._moved(names, half), rest)
        self._lines += [f"  ret {kind} {self._emit(how.of(kind, first, second))}", "}", *sorted(how.declared)]
        self._lines += ["!2 = distinct !{!2, !3}", '!3 = !{!"llvm.loop.unroll.disable"}', ""]


_BLOCK = """  %few = icmp ult i64 %n, 8
  %whole = and i64 %n, -8
  br i1 %few, label %rest, label %eight
eight:
  %r0 = load <8 x {kind}>, ptr {tmp}, align {size}
  br label %next
next:
  %i = phi i64 [ 8, %eight ], [ %i1, %more ]
  %r = phi <8 x {kind}> [ %r0, %eight ], [ %r1, %more ]
  %go = icmp ult i64 %i, %whole
  br i1 %go, label %more, label %done
more:
  %p = getelementptr {kind}, ptr {tmp}, i64 %i
  %v = load <8 x {kind}>, ptr %p, align {size}
  %r1 = {both}
  %i1 = add i64 %i, 8
  br label %next, !llvm.loop !2
done:
"""
_REST = """  br label %rest
rest:
  %j = phi i64 [ 0, %leaf ], [ %whole, %done ], [ %j1, %one ]
  %s = phi {kind} [ {none}, %leaf ], [ {eight}, %done ], [ %t, %one ]
  %last = icmp ult i64 %j, %n
  br i1 %last, label %one, label %end
one:
  %q = getelementptr {kind}, ptr {tmp}, i64 %j
  %w = load {kind}, ptr %q, align {size}
  %t = {one}
  %j1 = add i64 %j, 1
  br label %rest
end:
  ret {kind} %s
split:
  %half = lshr i64 %n, 1
"""
