"""`exp` of `float64` as NumPy computes it, eight numbers at a time.

NumPy has it from a library, which depends on the processor, see `exp_algorithms`. Which it is, if it is one of those,
tries show. The code is called as NumPy's own loop would be; numbers so large, or so far below zero, that the steps are
not enough are left to that. It is written for vectors: LLVM makes none of it.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from autograph.runtime.engines.native.libmath.exp_algorithms import (
    BITS,
    FLOATS,
    GNU,
    SVML,
    WIDTH,
    Numbers,
    Vectors,
    Way,
)
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.syntax import RARE, RARELY

NAME = "ag_exp"
NOTHING = -746.0        # below, they are 0
_TRIES = 1000


@cache
def known() -> Way | None:
    """The way that NumPy goes here, if it is known, and can be gone."""
    return next((way for way in (SVML, GNU) if _can_be_gone(way) and _is_numpys(way)), None)


def _can_be_gone(way: Way) -> bool:
    import llvmlite.binding as llvm

    return not way.is_wide or bool(llvm.get_host_cpu_features().get("avx512f"))


def _is_numpys(way: Way) -> bool:
    x = np.random.default_rng(1).uniform(-way.limit, way.limit, _TRIES)
    x[: _TRIES // 4] /= 500
    try:
        return all(way.of(Numbers(way), each) == found for each, found in zip(x.tolist(), np.exp(x).tolist()))
    except (OSError, AttributeError, TypeError):    # a C library without `fma`, or Windows, which has no such library
        return False


def text(way: Way, name: str, handed: tuple[str, ...]) -> str:
    """The machine code: a function like a loop of NumPy's, of context, arrays, count, strides, and more.

    Args:
        name: of NumPy's own.
        handed: the names of what that is handed.
    """
    vectors = Vectors(way)
    words = {"near": way.of(vectors, "%x"), "steps": "\n".join(vectors.lines), "numpys": name}
    words |= {"limit": vectors.constant(way.limit), "nothing": vectors.constant(NOTHING), "rare": RARELY, "alone": RARE}
    words["context"], words["more"] = (*(f"@{each}" for each in handed), "null")[:2]
    outside = "\n".join([*vectors.outside, *(f"@{each} = external global i8" for each in handed)])
    return _CODE.format(name=NAME, v=FLOATS, bits=BITS, w=WIDTH, flags=FLAGS, outside=outside, **words)


# Numbers lie side by side, or all of them are the same one.
_CODE = """{outside}
declare i32 @{numpys}(ptr, ptr, ptr, ptr, ptr)
declare {v} @llvm.fabs.v{w}f64({v})
declare i1 @llvm.vector.reduce.and.v{w}i1({bits})
declare {bits} @llvm.get.active.lane.mask.v{w}i1.i64(i64, i64)
declare {v} @llvm.masked.load.v{w}f64.p0(ptr, i32, {bits}, {v})
declare void @llvm.masked.store.v{w}f64.p0({v}, ptr, i32, {bits})
@{name}_size = internal constant i64 {w}
@{name}_strides = internal constant [2 x i64] [i64 8, i64 8]
define internal {v} @{name}_numpys({v} %x) noinline cold {{
  %from = alloca {v}
  %to = alloca {v}
  %arrays = alloca [2 x ptr]
  %result = getelementptr ptr, ptr %arrays, i64 1
  store {v} %x, ptr %from
  store ptr %from, ptr %arrays
  store ptr %to, ptr %result
  %flags = call i32 @fetestexcept(i32 {flags})
  call i32 @{numpys}(ptr {context}, ptr %arrays, ptr @{name}_size, ptr @{name}_strides, ptr {more})
  call i32 @feraiseexcept(i32 %flags)
  %found = load {v}, ptr %to
  ret {v} %found
}}
define internal {v} @{name}_of({v} %given) alwaysinline {{
  %size = call {v} @llvm.fabs.v{w}f64({v} %given)
  %small = fcmp olt {v} %size, {limit}
  %every = call i1 @llvm.vector.reduce.and.v{w}i1({bits} %small)
  br i1 %every, label %near, label %far
far:
  %nothing = fcmp olt {v} %given, {nothing}
  %known = or {bits} %small, %nothing
  %some = call i1 @llvm.vector.reduce.and.v{w}i1({bits} %known)
  %less = select {bits} %small, {v} %given, {v} zeroinitializer
  br i1 %some, label %near, label %unknown{rare}
unknown:
  %numpys = call {v} @{name}_numpys({v} %given)
  br label %done
near:
  %x = phi {v} [ %given, %0 ], [ %less, %far ]
{steps}
  %found = select {bits} %small, {v} {near}, {v} zeroinitializer
  br label %done
done:
  %result = phi {v} [ %found, %near ], [ %numpys, %unknown ]
  ret {v} %result
}}
define internal i32 @{name}(ptr %context, ptr %arrays, ptr %size, ptr %steps, ptr %more) noinline {{
start:
  %from = load ptr, ptr %arrays
  %results = getelementptr ptr, ptr %arrays, i64 1
  %to = load ptr, ptr %results
  %n = load i64, ptr %size
  %step = load i64, ptr %steps
  %dense = icmp eq i64 %step, 8
  %count = select i1 %dense, i64 %n, i64 1
  %whole = and i64 %count, -{w}
  br label %head
head:
  %i = phi i64 [ 0, %start ], [ %next, %turn ]
  %there = getelementptr double, ptr %from, i64 %i
  %here = getelementptr double, ptr %to, i64 %i
  %again = icmp ult i64 %i, %whole
  br i1 %again, label %turn, label %rest
turn:
  %x = load {v}, ptr %there, align 8
  %found = call {v} @{name}_of({v} %x)
  store {v} %found, ptr %here, align 8
  %next = add i64 %i, {w}
  br label %head
rest:
  %few = sub i64 %count, %i
  %none = icmp eq i64 %few, 0
  br i1 %none, label %ready, label %last
last:
  %mask = call {bits} @llvm.get.active.lane.mask.v{w}i1.i64(i64 0, i64 %few)
  %last.x = call {v} @llvm.masked.load.v{w}f64.p0(ptr %there, i32 8, {bits} %mask, {v} zeroinitializer)
  %last.found = call {v} @{name}_of({v} %last.x)
  call void @llvm.masked.store.v{w}f64.p0({v} %last.found, ptr %here, i32 8, {bits} %mask)
  br label %ready
ready:
  %one = load double, ptr %to
  br i1 %dense, label %done, label %fill
fill:
  %j = phi i64 [ 0, %ready ], [ %j1, %fill ]
  %goal = getelementptr double, ptr %to, i64 %j
  store double %one, ptr %goal
  %j1 = add i64 %j, 1
  %further = icmp ult i64 %j1, %n
  br i1 %further, label %fill, label %done{alone}
done:
  ret i32 0
}}
"""
