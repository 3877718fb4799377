"""Elements of a row, each divided by the same float, without dividing.

A product with the reciprocal, rounded, comes near the quotient; what is missing, times the divisor, a fused product and
sum tells exactly; and that, times the reciprocal, is added to it, again fused. So each quotient is rounded as it should
be (Markstein, "Computation of elementary functions on the IBM RISC System/6000 processor"; for a first guess that is
such a product, Brisebarre, Muller and Raina, "Accelerating correctly rounded floating-point division when the divisor
is known in advance"). This takes a third of the time, but for numbers so large or small that something on the way might
be no normal number, and what is none at all, or zero: where one of those comes up, a vector is divided.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from autograph.runtime.engines.native.libmath.exp_algorithms import BITS, FLOATS, WIDTH
from autograph.runtime.engines.native.llvm.syntax import RARE, literal

NAME = "ag_quotient"
LEAST, MOST = 2.0**-400, 2.0**400


@cache
def can_be_had() -> bool:
    """Whether this processor fuses, as far as is known."""
    import llvmlite.binding as llvm

    return bool(llvm.get_host_cpu_features().get("fma"))


def text() -> str:
    """The machine code: a function like a loop of NumPy's, for a divisor that is the same for all."""
    least, most, infinity = (literal(value, np.dtype(float)) for value in (LEAST, MOST, np.inf))
    words = {"least": least, "most": most, "infinity": infinity, "zeros": f"<{WIDTH} x i32> zeroinitializer"}
    words["ones"] = f"<{', '.join(['double 1.0'] * WIDTH)}>"
    return _CODE.format(name=NAME, alone=RARE, v=FLOATS, bits=BITS, w=WIDTH, **words)


_CODE = """declare {v} @llvm.fma.v{w}f64({v}, {v}, {v})
declare double @llvm.fabs.f64(double)
declare {v} @llvm.fabs.v{w}f64({v})
declare i1 @llvm.vector.reduce.and.v{w}i1({bits})
declare {bits} @llvm.get.active.lane.mask.v{w}i1.i64(i64, i64)
declare {v} @llvm.masked.load.v{w}f64.p0(ptr, i32, {bits}, {v})
declare void @llvm.masked.store.v{w}f64.p0({v}, ptr, i32, {bits})
define internal {v} @{name}_of({v} %x, {v} %divisor, {v} %reciprocal, {v} %least, {v} %most) alwaysinline {{
  %size = call {v} @llvm.fabs.v{w}f64({v} %x)
  %large = fcmp oge {v} %size, %least
  %small = fcmp olt {v} %size, %most
  %normal = and {bits} %large, %small
  %every = call i1 @llvm.vector.reduce.and.v{w}i1({bits} %normal)
  br i1 %every, label %near, label %far
near:
  %guess = fmul {v} %x, %reciprocal
  %less = fneg {v} %guess
  %missing = call {v} @llvm.fma.v{w}f64({v} %less, {v} %divisor, {v} %x)
  %found = call {v} @llvm.fma.v{w}f64({v} %missing, {v} %reciprocal, {v} %guess)
  ret {v} %found
far:
  %divided = fdiv {v} %x, %divisor
  ret {v} %divided
}}
define internal i32 @{name}(ptr %context, ptr %arrays, ptr %size, ptr %steps, ptr %more) noinline {{
start:
  %from = load ptr, ptr %arrays
  %second = getelementptr ptr, ptr %arrays, i64 1
  %by = load ptr, ptr %second
  %third = getelementptr ptr, ptr %arrays, i64 2
  %to = load ptr, ptr %third
  %n = load i64, ptr %size
  %divisor = load double, ptr %by
  %size.of = call double @llvm.fabs.f64(double %divisor)
  %large = fcmp oge double %size.of, {least}
  %small = fcmp olt double %size.of, {most}
  %normal = and i1 %large, %small
  %usual = select i1 %normal, double %divisor, double 1.0
  %least = select i1 %normal, double {least}, double {infinity}
  %reciprocal = fdiv double 1.0, %usual
  %d0 = insertelement {v} poison, double %divisor, i64 0
  %d = shufflevector {v} %d0, {v} poison, {zeros}
  %r0 = insertelement {v} poison, double %reciprocal, i64 0
  %r = shufflevector {v} %r0, {v} poison, {zeros}
  %l0 = insertelement {v} poison, double %least, i64 0
  %l = shufflevector {v} %l0, {v} poison, {zeros}
  %m0 = insertelement {v} poison, double {most}, i64 0
  %m = shufflevector {v} %m0, {v} poison, {zeros}
  %whole = and i64 %n, -{w}
  br label %head
head:
  %i = phi i64 [ 0, %start ], [ %next, %turn ]
  %there = getelementptr double, ptr %from, i64 %i
  %here = getelementptr double, ptr %to, i64 %i
  %again = icmp ult i64 %i, %whole
  br i1 %again, label %turn, label %rest
turn:
  %x = load {v}, ptr %there, align 8
  %found = call {v} @{name}_of({v} %x, {v} %d, {v} %r, {v} %l, {v} %m)
  store {v} %found, ptr %here, align 8
  %next = add i64 %i, {w}
  br label %head{alone}
rest:
  %few = sub i64 %n, %i
  %none = icmp eq i64 %few, 0
  br i1 %none, label %done, label %last
last:
  %mask = call {bits} @llvm.get.active.lane.mask.v{w}i1.i64(i64 0, i64 %few)
  %last.x = call {v} @llvm.masked.load.v{w}f64.p0(ptr %there, i32 8, {bits} %mask, {v} {ones})
  %last.found = call {v} @{name}_of({v} %last.x, {v} %d, {v} %r, {v} %l, {v} %m)
  call void @llvm.masked.store.v{w}f64.p0({v} %last.found, ptr %here, i32 8, {bits} %mask)
  br label %done
done:
  ret i32 0
}}
"""
