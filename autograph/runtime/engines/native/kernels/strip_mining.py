"""Rows that are done in blocks, because NumPy does a part of what is computed.

A row is one loop if machine code does all of it. Else it is cut into *stages*: a block of some hundred elements goes
through the first, which leaves in the scratch what others need; then NumPy's own loops do their part of the block, and
so on, while all of that is in the processor's cache. But if it is a sum or the like, and what is called is written here
(see `exponential`), then as many elements as are combined at a time go through all stages, and never are in memory.

Some of NumPy's loops take flags down. So what has been raised before is looked at before each, and raised again; what
is written here in the place of such a loop takes none down.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograph.runtime.engines.native.kernels import row_schedules
from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.kernels.operands import Call
from autograph.runtime.engines.native.kernels.reduction import Combining
from autograph.runtime.engines.native.kernels.row_schedules import band, by_bands, by_pieces
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.libmath.vectors import FLOATS, WIDTH
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, llvm_type
from autograph.runtime.engines.native.llvm.function_builder import Origin
from autograph.runtime.engines.native.llvm.syntax import HINTS, ONCE, RARE

CACHE = 24 << 10            # bytes of scratch
SIZES = 128, 1024           # elements of a block, at least and at most

_LANES = """!{number} = distinct !{{!{number}, !3, !{next}}}
!{next} = !{{!"llvm.loop.vectorize.width", i32 {lanes}}}
"""


def said(nests: Sequence[Nest]) -> str:
    """What is said of their loops: besides, that some are so many iterations, to be done at once."""
    found = HINTS
    for nest in nests:
        if nest.reduction:
            number = _once(nest)
            found += _LANES.format(number=number, next=number + 1, lanes=_lanes(nest))
    return found


def _once(nest: Nest) -> int:
    return 500 + 2 * nest.number


def _lanes(nest: Nest) -> int:
    """How many elements are combined at a time."""
    assert nest.reduction is not None
    return Combining(nest.reduction.how, nest.dtypes[-1]).lanes


def row(nest: Nest, declared: set[str]) -> str:
    """The functions of the stages, and `row`, which is called for one row. What they call comes to what is declared."""
    if nest.idle:
        return ""
    outs, streams, blocks = len(nest.dtypes), len(nest.streams), len(nest.scratch)
    kinds = ["ptr noalias"] * outs + ["ptr"] * (streams - outs) + ["ptr noalias"] * blocks
    names = [f"{kind} %s{place}" for place, kind in enumerate(kinds)]
    declared.update(*(stage.declared for stage in nest.stages))
    params, outer = (", ".join([*each, "ptr %frame", "i64 %n"]) for each in (names, names[:streams]))
    name = f"{nest.name}row"
    whole = f"{name}_rest" if nest.by_parts else f"{name}_iteration" if nest.carried else name
    if by_pieces(nest):
        ways = (("_piece", ONCE), ("_rest", RARE))
        functions = [nest.stages[0].row(f"{name}{of}", params, loop) for of, loop in ways]
        functions.append(row_schedules.row_of_pieces(nest, params))
        functions += [band(nest)] * by_bands(nest)
    elif len(nest.stages) > 1:
        functions = [_Blocks(nest, declared).text(whole, outer)]
        functions += [stage.row(f"{name}{number}", params) for number, stage in enumerate(nest.stages)]
    else:
        functions = [nest.stages[0].row(whole, params, RARE * nest.by_parts)]
    if nest.by_parts:
        once = f", !llvm.loop !{_once(nest)}"
        functions.append(_Part(nest).text(name, outer))
        functions += [stage.row(f"{name}{number}_part", params, once) for number, stage in enumerate(nest.stages)]
    if nest.carried:
        functions.append(row_schedules.row_of_blocks(nest, params))
    constants = [text for stage in nest.stages for text in stage.constants]
    return "\n".join([*constants, *functions])


class _Part:
    """Writes `row` for so many elements as are combined at a time, which never leave the processor."""

    def __init__(self, nest: Nest) -> None:
        self._nest, self._lanes = nest, _lanes(nest)
        self._lines: list[str] = []

    def text(self, name: str, params: str) -> str:
        nest, count, kept = self._nest, len(self._nest.streams), "0"
        for place, dtype in enumerate(nest.scratch, count):
            kind = "i8" if dtype.kind == "b" else llvm_type(dtype)
            self._lines.append(f"  %s{place} = alloca [{self._lanes} x {kind}], align 64")
        names = [f"%s{place}" for place in range(count + len(nest.scratch))]
        for number, (stage, calls) in enumerate(zip(nest.stages, nest.calls)):
            if stage.stores:
                given = ", ".join(f"ptr {each}" for each in (*names, "%frame"))
                self._lines.append(f"  %r{number} = call i64 @{name}{number}_part({given}, i64 %n)")
                self._lines.append(f"  %k{number} = xor i64 {kept}, %r{number}")
                kept = f"%k{number}"
            for call in calls:
                source, result = call.streams
                names[result] = self._call(call.loop.name, names[source], names[result])
        head = f"define internal i64 @{name}({params}) alwaysinline {{"
        return "\n".join([head, *self._lines, f"  ret i64 {kept}", "}", ""])

    def _call(self, name: str, source: str, result: str) -> str:
        """Let a function do its part. Gives where what it comes to is, besides where it is to be: LLVM sees that."""
        kept = f"%c{len(self._lines)}"
        self._lines.append(f"  {kept} = alloca [{self._lanes} x double], align 64")
        for begin in range(0, self._lanes, WIDTH):
            at = len(self._lines)
            for place, pointer in enumerate((source, result, kept)):
                self._lines.append(f"  %p{at}_{place} = getelementptr double, ptr {pointer}, i64 {begin}")
            self._lines.append(f"  %x{at} = load {FLOATS}, ptr %p{at}_0, align 8")
            self._lines.append(f"  %y{at} = call {FLOATS} @{name}_of({FLOATS} %x{at})")
            self._lines += [f"  store {FLOATS} %y{at}, ptr %p{at}_{place}, align 8" for place in (1, 2)]
        return kept


class _Blocks:
    """Writes `row` for a nest of several stages."""

    def __init__(self, nest: Nest, declared: set[str]) -> None:
        self._nest = nest
        self._declared = declared
        self._numbers = 0
        self._lines: list[str] = []

    def text(self, name: str, params: str) -> str:
        nest, count = self._nest, len(self._nest.streams)
        wanted = CACHE // sum((dtype.itemsize for dtype in nest.scratch), 1) & -64
        size = max(SIZES[0], min(SIZES[1], wanted))
        for place, dtype in enumerate(nest.scratch, count):
            kind = "i8" if dtype.kind == "b" else llvm_type(dtype)
            self._lines.append(f"  %b{place} = alloca [{size} x {kind}], align 64")
        for place, stream in enumerate(nest.streams):
            if stream.apart:
                slot = self._emit(f"getelementptr i8, ptr %frame, i64 {SLOT * nest.step(place)}")
                self._lines.append(f"  %step{place} = load i64, ptr {slot}")
        self._lines += _HEAD.format(size=size).splitlines()
        for place, stream in enumerate(nest.streams):
            step = f"%step{place}" if stream.apart else stream.dtype.itemsize if stream.steps else 0
            offset = self._emit(f"mul i64 %i, {step}")
            self._lines.append(f"  %b{place} = getelementptr i8, ptr %s{place}, i64 {offset}")
        given = ", ".join([*(f"ptr %b{place}" for place in range(count + len(nest.scratch))), "ptr %frame", "i64 %m"])
        kept, flags = "%kept", "%flags"
        for place, (stage, calls) in enumerate(zip(nest.stages, nest.calls)):
            if stage.stores:
                kept = self._emit(f"xor i64 {kept}, {self._emit(f'call i64 @{nest.name}row{place}({given})')}")
            for call in calls:
                if not call.loop.define:
                    flags = self._emit(f"or i32 {flags}, {self._emit(f'call i32 @fetestexcept(i32 {FLAGS})')}")
                self._call(call)
        tail = _TAIL.format(kept=kept, flags=flags)
        return "\n".join([f"define internal i64 @{name}({params}) noinline {{", "start:", *self._lines, tail])

    def _emit(self, text: str) -> str:
        self._numbers += 1
        self._lines.append(f"  %r{self._numbers} = {text}")
        return f"%r{self._numbers}"

    def _call(self, call: Call) -> None:
        """Let NumPy do its part of a block."""
        for place, stream in enumerate(call.streams):
            slot = self._emit(f"getelementptr i8, ptr %arrays, i64 {SLOT * place}")
            self._lines.append(f"  store ptr %b{stream}, ptr {slot}")
        steps = f"@steps_{'_'.join(map(str, call.steps))}"
        values = ", ".join(f"i64 {step}" for step in call.steps)
        name, handed = f"@{call.loop.name}", [f"@{call.loop.name}_{part}" for part in call.loop.handed]
        self._declared.add(f"{steps} = internal constant [{len(call.steps)} x i64] [{values}]")
        text = call.loop.text if call.loop.define else f"declare i32 {name}(ptr, ptr, ptr, ptr, ptr)"
        declared = [line for line in text.splitlines() if line.startswith("declare ")]      # as others may, too
        self._declared |= {*declared, "\n".join(line for line in text.splitlines() if line not in declared)}
        self._declared.update(f"{each} = external global i8" for each in handed)
        context, more = (*handed, "null", "null")[:2]
        self._lines.append(Origin.of(call.place))
        self._emit(f"call i32 {name}(ptr {context}, ptr %arrays, ptr %size, ptr {steps}, ptr {more})")


_HEAD = """  %arrays = alloca [8 x ptr]
  %size = alloca i64
  br label %iteration
iteration:
  %i = phi i64 [ 0, %start ], [ %next, %iteration ]
  %kept = phi i64 [ 0, %start ], [ %keep, %iteration ]
  %flags = phi i32 [ 0, %start ], [ %raised, %iteration ]
  %left = sub i64 %n, %i
  %last = icmp ult i64 %left, {size}
  %m = select i1 %last, i64 %left, i64 {size}
  store i64 %m, ptr %size
"""
_TAIL = """  %keep = add i64 {kept}, 0
  %raised = add i32 {flags}, 0
  %next = add i64 %i, %m
  %more = icmp ult i64 %next, %n
  br i1 %more, label %iteration, label %done
done:
  %quiet = icmp eq i32 %raised, 0
  br i1 %quiet, label %end, label %raise
raise:
  call i32 @feraiseexcept(i32 %raised)
  br label %end
end:
  ret i64 %keep
}}
"""
