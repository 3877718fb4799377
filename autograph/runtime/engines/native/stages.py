"""Rows that are done in blocks, because NumPy does a part of what is computed.

A row is one loop if machine code does all of it. Else it is cut into *stages*: a block of some hundred elements goes
through the first, which leaves in the scratch what others need; then NumPy's own loops do their part of the block, and
so on, while all of that is in the processor's cache.

Some of NumPy's loops take flags down. So what has been raised before is looked at before each, and raised again; what
is written here in the place of such a loop takes none down.
"""

from __future__ import annotations

from collections.abc import Sequence

from autograph.runtime.engines.native.combining import Combining
from autograph.runtime.engines.native.libm import FLAGS
from autograph.runtime.engines.native.nest import Call, Nest
from autograph.runtime.engines.native.objects import SLOT, llvm_type

CACHE = 24 << 10            # bytes of scratch
SIZES = 128, 1024           # elements of a block, at least and at most

# What is said of loops: that they are so few turns that vectors are not worth it.
RARE = ", !llvm.loop !5"
_SAID = """!1 = !{}
!3 = !{!"llvm.loop.unroll.disable"}
!5 = distinct !{!5, !3, !6}
!6 = !{!"llvm.loop.vectorize.enable", i1 false}
"""
_LANES = """!{number} = distinct !{{!{number}, !3, !{next}}}
!{next} = !{{!"llvm.loop.vectorize.width", i32 {lanes}}}
"""


def said(nests: Sequence[Nest]) -> str:
    """What is said of their loops: besides, that some are so many turns, to be done at once."""
    found = _SAID
    for nest in nests:
        if nest.reduction:
            lanes, number = Combining(nest.reduction.how, nest.dtypes[-1]).lanes, _once(nest)
            found += _LANES.format(number=number, next=number + 1, lanes=lanes)
    return found


def _once(nest: Nest) -> int:
    return 500 + 2 * nest.number


def row(nest: Nest, declared: set[str]) -> str:
    """The functions of the stages, and `row`, which is called for one row. What they call comes to what is declared."""
    outs, streams, blocks = len(nest.dtypes), len(nest.streams), len(nest.scratch)
    kinds = ["ptr noalias"] * outs + ["ptr"] * (streams - outs) + ["ptr noalias"] * blocks
    names = [f"{kind} %s{place}" for place, kind in enumerate(kinds)]
    declared.update(*(stage.declared for stage in nest.stages))
    name, once = f"{nest.name}row", f", !llvm.loop !{_once(nest)}"
    functions = []
    if len(nest.stages) > 1:
        functions.append(_Blocks(nest, declared).text(", ".join([*names[:streams], "ptr %frame", "i64 %n"])))
    params = ", ".join([*names, "ptr %frame", "i64 %n"])
    if not nest.by_parts:
        numbers = range(len(nest.stages)) if functions else [""]
        functions += [stage.row(f"{name}{of}", params) for of, stage in zip(numbers, nest.stages)]
    else:
        functions += [nest.stages[0].row(f"{name}{of}", params, loop) for of, loop in (("", once), ("_rest", RARE))]
    constants = [text for stage in nest.stages for text in stage.constants]
    return "\n".join([*constants, *functions])


class _Blocks:
    """Writes `row` for a nest of several stages."""

    def __init__(self, nest: Nest, declared: set[str]) -> None:
        self._nest = nest
        self._declared = declared
        self._numbers = 0
        self._lines: list[str] = []

    def text(self, params: str) -> str:
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
                if not call.loop.text:
                    flags = self._emit(f"or i32 {flags}, {self._emit(f'call i32 @fetestexcept(i32 {FLAGS})')}")
                self._call(call)
        tail = _TAIL.format(kept=kept, flags=flags)
        return "\n".join([f"define internal i64 @{nest.name}row({params}) noinline {{", "start:", *self._lines, tail])

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
        self._declared.add(call.loop.text or f"declare i32 {name}(ptr, ptr, ptr, ptr, ptr)")
        self._declared.update(f"{each} = external global i8" for each in handed)
        context, more = (*handed, "null", "null")[:2]
        self._emit(f"call i32 {name}(ptr {context}, ptr %arrays, ptr %size, ptr {steps}, ptr {more})")


_HEAD = """  %arrays = alloca [8 x ptr]
  %size = alloca i64
  br label %turn
turn:
  %i = phi i64 [ 0, %start ], [ %next, %turn ]
  %kept = phi i64 [ 0, %start ], [ %keep, %turn ]
  %flags = phi i32 [ 0, %start ], [ %raised, %turn ]
  %left = sub i64 %n, %i
  %last = icmp ult i64 %left, {size}
  %m = select i1 %last, i64 %left, i64 {size}
  store i64 %m, ptr %size
"""
_TAIL = """  %keep = add i64 {kept}, 0
  %raised = add i32 {flags}, 0
  %next = add i64 %i, %m
  %more = icmp ult i64 %next, %n
  br i1 %more, label %turn, label %done
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
