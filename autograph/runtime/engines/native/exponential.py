"""`exp` of `float64` as NumPy computes it, eight numbers at a time.

NumPy has it from a library, which depends on the processor, see `powers`. Which it is, if it is one of those, tries
show. The code is called as NumPy's own loop would be; numbers so large, or so far below zero, that the steps are not
enough are left to that. It is written for vectors: LLVM makes none of it.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from autograph.runtime.engines.native.libm import FLAGS
from autograph.runtime.engines.native.powers import BITS, FLOATS, GNU, SVML, WIDTH, Numbers, Vectors, Way

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
    words |= {"limit": vectors.constant(way.limit), "nothing": vectors.constant(NOTHING)}
    words["context"], words["more"] = (*(f"@{each}" for each in handed), "null")[:2]
    outside = "\n".join([*vectors.outside, *(f"@{each} = external global i8" for each in handed)])
    return _CODE.format(name=NAME, v=FLOATS, bits=BITS, w=WIDTH, flags=FLAGS, outside=outside, **words)


# The last of the numbers are done once more, as a whole vector, if there are some that fill none. Where numbers do not
# lie side by side, or there are fewer than a vector has, they go by way of a buffer.
_CODE = """{outside}
declare i32 @{numpys}(ptr, ptr, ptr, ptr, ptr)
declare {v} @llvm.fabs.v{w}f64({v})
declare i1 @llvm.vector.reduce.and.v{w}i1({bits})
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
define internal {v} @{name}_near({v} %x) alwaysinline {{
{steps}
  ret {v} {near}
}}
define internal {v} @{name}_far({v} %x, {bits} %small) noinline cold {{
  %nothing = fcmp olt {v} %x, {nothing}
  %known = or {bits} %small, %nothing
  %every = call i1 @llvm.vector.reduce.and.v{w}i1({bits} %known)
  br i1 %every, label %some, label %none
some:
  %nearer = select {bits} %small, {v} %x, {v} zeroinitializer
  %near = call {v} @{name}_near({v} %nearer)
  %found = select {bits} %small, {v} %near, {v} zeroinitializer
  ret {v} %found
none:
  %numpys = call {v} @{name}_numpys({v} %x)
  ret {v} %numpys
}}
define internal {v} @{name}_of({v} %x) alwaysinline {{
  %size = call {v} @llvm.fabs.v{w}f64({v} %x)
  %small = fcmp olt {v} %size, {limit}
  %every = call i1 @llvm.vector.reduce.and.v{w}i1({bits} %small)
  br i1 %every, label %near, label %far
near:
  %found = call {v} @{name}_near({v} %x)
  ret {v} %found
far:
  %other = call {v} @{name}_far({v} %x, {bits} %small)
  ret {v} %other
}}
define internal i32 @{name}(ptr %context, ptr %arrays, ptr %size, ptr %steps, ptr %more) {{
start:
  %buffer = alloca {v}
  %from = load ptr, ptr %arrays
  %results = getelementptr ptr, ptr %arrays, i64 1
  %to = load ptr, ptr %results
  %n = load i64, ptr %size
  %step = load i64, ptr %steps
  %dense = icmp eq i64 %step, 8
  %many = icmp sge i64 %n, {w}
  %direct = and i1 %many, %dense
  br i1 %direct, label %whole, label %head
whole:
  %most = sub i64 %n, {w}
  %end.from = getelementptr double, ptr %from, i64 %most
  %end.to = getelementptr double, ptr %to, i64 %most
  %end.x = load {v}, ptr %end.from, align 8
  br label %turn
turn:
  %i = phi i64 [ 0, %whole ], [ %next, %turn ]
  %there = getelementptr double, ptr %from, i64 %i
  %x = load {v}, ptr %there, align 8
  %found = call {v} @{name}_of({v} %x)
  %here = getelementptr double, ptr %to, i64 %i
  store {v} %found, ptr %here, align 8
  %next = add i64 %i, {w}
  %again = icmp sle i64 %next, %most
  br i1 %again, label %turn, label %rest
rest:
  %none = icmp eq i64 %next, %n
  br i1 %none, label %done, label %last
last:
  %end.found = call {v} @{name}_of({v} %end.x)
  store {v} %end.found, ptr %end.to, align 8
  br label %done
head:
  %begin = phi i64 [ 0, %start ], [ %after, %given ]
  %left = sub i64 %n, %begin
  %any = icmp sgt i64 %left, 0
  br i1 %any, label %clear, label %done
clear:
  %full = icmp sge i64 %left, {w}
  %m = select i1 %full, i64 {w}, i64 %left
  store {v} zeroinitializer, ptr %buffer
  br label %take
take:
  %j = phi i64 [ 0, %clear ], [ %j1, %take ]
  %place = add i64 %begin, %j
  %away = mul i64 %place, %step
  %one = getelementptr i8, ptr %from, i64 %away
  %taken = load double, ptr %one
  %slot = getelementptr double, ptr %buffer, i64 %j
  store double %taken, ptr %slot
  %j1 = add i64 %j, 1
  %another = icmp slt i64 %j1, %m
  br i1 %another, label %take, label %work
work:
  %buffered = load {v}, ptr %buffer
  %kept = call {v} @{name}_of({v} %buffered)
  store {v} %kept, ptr %buffer
  %goal = getelementptr double, ptr %to, i64 %begin
  br label %give
give:
  %k = phi i64 [ 0, %work ], [ %k1, %give ]
  %source = getelementptr double, ptr %buffer, i64 %k
  %each = load double, ptr %source
  %target = getelementptr double, ptr %goal, i64 %k
  store double %each, ptr %target
  %k1 = add i64 %k, 1
  %further = icmp slt i64 %k1, %m
  br i1 %further, label %give, label %given
given:
  %after = add i64 %begin, %m
  br label %head
done:
  ret i32 0
}}
"""
