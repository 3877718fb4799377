"""Putting what has been laid aside into the array that it is for; see `in_place`."""

from __future__ import annotations

from autograph.runtime.engines.native.kernels.loop_nest import Nest
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT
from autograph.runtime.engines.native.llvm.hints import RARE


def put(nest: Nest) -> str:
    """The function `put`, for rows of `n` elements, which lie one behind the other."""
    size, apart = nest.dtypes[nest.written].itemsize, nest.streams[nest.target].apart
    wanted = {"to": nest.target, "from": nest.written, "step": nest.step(nest.target)}
    wanted |= {f"length{axis}": nest.length(axis) for axis in range(nest.depth)}
    wanted |= {f"stride{axis}": nest.stride(nest.target, axis) for axis in range(nest.depth)}
    lines = ["define internal void @put(ptr %frame, i64 %n, i64 %rows) noinline {", "start:"]
    for name, slot in wanted.items():
        lines.append(f"  %at.{name} = getelementptr i8, ptr %frame, i64 {SLOT * slot}")
        lines.append(f"  %{name} = load {'ptr' if name in ('to', 'from') else 'i64'}, ptr %at.{name}")
    lines += ["  br label %turn", "turn:", "  %row = phi i64 [ 0, %start ], [ %next, %turn ]"]
    rest, to = "%row", "%to"
    for axis in reversed(range(nest.depth)):
        lines.append(f"  %index{axis} = urem i64 {rest}, %length{axis}")
        lines.append(f"  %rest{axis} = udiv i64 {rest}, %length{axis}")
        lines.append(f"  %far{axis} = mul i64 {f'%index{axis}' if axis else rest}, %stride{axis}")
        lines.append(f"  %to{axis} = getelementptr i8, ptr {to}, i64 %far{axis}")
        rest, to = f"%rest{axis}", f"%to{axis}"
    step = "%step" if apart else size
    return "\n".join([*lines, _PUT.format(kind=f"i{8 * size}", size=size, to=to, step=step, rare=RARE)])


_PUT = """  %first = mul i64 %row, %n
  %from.row = getelementptr {kind}, ptr %from, i64 %first
  call void @put_row(ptr {to}, ptr %from.row, i64 {step}, i64 %n)
  %next = add nuw i64 %row, 1
  %more = icmp ult i64 %next, %rows
  br i1 %more, label %turn, label %end{rare}
end:
  ret void
}}
define internal void @put_row(ptr noalias %to, ptr noalias %from, i64 %step, i64 %n) {{
start:
  br label %turn
turn:
  %i = phi i64 [ 0, %start ], [ %next, %turn ]
  %far = mul i64 %i, %step
  %to.i = getelementptr i8, ptr %to, i64 %far
  %from.i = getelementptr {kind}, ptr %from, i64 %i
  %x = load {kind}, ptr %from.i, align {size}
  store {kind} %x, ptr %to.i, align {size}
  %next = add nuw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %turn, label %end
end:
  ret void
}}
"""
