"""`exp` of `float64` as NumPy computes it, eight numbers at a time.

NumPy takes `exp` from a library that depends on the processor. A probe finds out whether that library uses one of the
algorithms in `exp_algorithms`. The function has the signature of NumPy's inner loop, and calls that loop for numbers
beyond the limits of the algorithm. It is built of vectors, since LLVM would not vectorize it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from autograph.common.probes import agrees
from autograph.runtime.engines.native.libmath import vectors
from autograph.runtime.engines.native.libmath.exp_algorithms import GNU, SVML, Algorithm, Numbers, Vectors
from autograph.runtime.engines.native.libmath.libm import raise_flags, raised_flags
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.printer import printed
from autograph.runtime.engines.native.llvm.target import cached_object, has_feature, machine

NAME = "ag_exp"
UNDERFLOW = -746.0      # of smaller numbers the result is 0
_COUNT = 1000           # of samples in the probe


@cache
def known() -> Algorithm | None:
    """The algorithm that NumPy uses on this computer, if it is one of ours."""
    supported = filter(is_supported, (SVML, GNU))
    return next((algorithm for algorithm in supported if _agrees_with_numpy(algorithm)), None)


def is_supported(algorithm: Algorithm) -> bool:
    """Whether the processor has the instructions that the algorithm needs."""
    return not algorithm.is_wide or has_feature("avx512f")


def _agrees_with_numpy(algorithm: Algorithm) -> bool:
    """Probe whether the vectors give the bits of `np.exp`."""
    x = np.random.default_rng(1).uniform(-algorithm.limit, algorithm.limit, _COUNT)
    x[: _COUNT // 4] /= 500
    return agrees(compiled(algorithm), np.exp, [(x,)])


def compiled(algorithm: Algorithm) -> Callable[[Any], Any]:
    """The algorithm as a function of arrays whose length is a multiple of `WIDTH`."""
    module, parameters = ir.Module(), (ir.Parameter("x", ir.PTR), ir.Parameter("y", ir.PTR), ir.Parameter("n", ir.I64))
    b, (source, target, count) = Builder(module.define("loop", ir.VOID, *parameters)), parameters
    with b.loop(0, count, vectors.WIDTH, at_least_once=True, hints=vectors.NO_VECTORS) as loop:
        x = b.load(vectors.FLOATS, b.gep(source, loop.index, of=ir.DOUBLE), align=8)
        b.store(algorithm.of(Vectors(algorithm, b), x), b.gep(target, loop.index, of=ir.DOUBLE), align=8)
    b.ret()
    code, *_ = cached_object(printed(module))
    engine = machine().linked(code)
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ssize_t)

    def call(x: Any) -> Any:
        found = np.empty_like(x)
        run(engine.get_function_address("loop"))(x.ctypes.data, found.ctypes.data, len(x))
        return found

    return call


def define(module: ir.Module, algorithm: Algorithm, inner: vectors.Loop) -> None:
    """Define the inner loop, which falls back to NumPy's. Its numbers are contiguous, or have a stride of 0."""
    exp = _exp(module, algorithm, _fallback(module, inner))
    b, (_, arrays, size, steps, _) = vectors.inner_loop(module, NAME)
    source, target = (b.load(ir.PTR, b.gep(arrays, place, of=ir.PTR)) for place in range(2))
    n = b.load(ir.I64, size)
    is_dense = b.icmp("eq", b.load(ir.I64, steps), 8)
    count = b.select(is_dense, n, 1)
    vectors.map_row(b, lambda x: b.call(exp, x), source, target, count, ir.zero(vectors.FLOATS))
    one, done, fill = b.load(ir.DOUBLE, target), b.function.new_block("done"), b.function.new_block("fill")
    b.cond_br(is_dense, done, fill)
    b.begin(fill)
    with b.loop(0, n, at_least_once=True, predicate="ult", hints=vectors.NO_VECTORS) as loop:
        b.store(one, b.gep(target, loop.index, of=ir.DOUBLE))
    b.br(done)
    b.begin(done)
    b.ret(0)


def emit(b: Builder, algorithm: Algorithm, inner: vectors.Loop) -> None:
    """Emit the body of a function of a number, or of a vector, eight of whose numbers are computed at once."""
    module, (given,) = b.function.module, b.function.parameters
    if given.type == ir.DOUBLE:
        _emit_number(b, algorithm, inner, given)
        return
    exp = module.functions.get(f"{NAME}_of") or _exp(module, algorithm, _fallback(module, inner))
    count, width, nothing = ir.count_of(given.type), vectors.WIDTH, ir.poison(given.type)
    places = [[min(begin + lane, count - 1) for lane in range(width)] for begin in range(0, count, width)]
    parts: list[ir.Value] = [b.call(exp, b.shuffle(given, nothing, each)) for each in places]
    while len(parts) > 1:
        size = 2 * ir.count_of(parts[0].type)
        parts = [b.shuffle(one, other, range(size)) for one, other in zip(parts[::2], parts[1::2])]
    b.ret(b.shuffle(parts[0], ir.poison(parts[0].type), range(count)))


def _emit_number(b: Builder, algorithm: Algorithm, inner: vectors.Loop, x: ir.Value) -> None:
    near, far, zero, unknown = map(b.function.new_block, ("near", "far", "zero", "unknown"))
    b.cond_br(b.fcmp("olt", b.intrinsic("fabs", x), algorithm.limit), near, far, likely=True)
    b.begin(near)
    b.ret(algorithm.of(Numbers(algorithm, b), x))
    b.begin(far)
    b.cond_br(b.fcmp("olt", x, UNDERFLOW), zero, unknown)
    b.begin(zero)
    b.ret(ir.constant(ir.DOUBLE, 0.0))
    b.begin(unknown)
    b.ret(b.extract_element(b.call(_fallback(b.function.module, inner), b.splat(x, vectors.WIDTH)), 0))


def _fallback(module: ir.Module, loop: vectors.Loop) -> ir.Function:
    """The function that calls NumPy's inner loop for a vector. It keeps the floating-point flags that are raised."""
    if (made := module.functions.get(f"{NAME}_fallback")) is not None:
        return made
    x = ir.Parameter("x", vectors.FLOATS)
    b = Builder(module.define(f"{NAME}_fallback", vectors.FLOATS, x, words="internal", attributes="noinline cold"))
    source, target, arrays = b.alloca(vectors.FLOATS), b.alloca(vectors.FLOATS), b.alloca(ir.array(2, ir.PTR))
    b.store(x, source)
    b.store(source, arrays)
    b.store(target, b.gep(arrays, 1, of=ir.PTR))
    flags = raised_flags(b)
    loop.call(b, arrays, module.constant(f"{NAME}_size", ir.constant(ir.I64, vectors.WIDTH)), (8, 8))
    raise_flags(b, flags)
    b.ret(b.load(vectors.FLOATS, target))
    return b.function


def _exp(module: ir.Module, algorithm: Algorithm, fallback: ir.Function) -> ir.Function:
    """The function of a vector."""
    b, function = vectors.elementwise(module, f"{NAME}_of", ir.Parameter("x", vectors.FLOATS))
    (given,) = function.parameters
    start, far, near, unknown, done = b.block, *map(function.new_block, ("far", "near", "unknown", "done"))
    small = b.fcmp("olt", b.intrinsic("fabs", given), algorithm.limit)
    b.cond_br(vectors.all_of(b, small), near, far)
    b.begin(far)
    known = b.or_(small, b.fcmp("olt", given, UNDERFLOW))
    less = b.select(small, given, ir.zero(vectors.FLOATS))
    b.cond_br(vectors.all_of(b, known), near, unknown, likely=True)
    b.begin(unknown)
    found = b.call(fallback, given)
    b.br(done)
    b.begin(near)
    x = b.phi(vectors.FLOATS, (given, start), (less, far))
    computed = b.select(small, algorithm.of(Vectors(algorithm, b), x), ir.zero(vectors.FLOATS))
    b.br(done)
    b.begin(done)
    b.ret(b.phi(vectors.FLOATS, (computed, near), (found, unknown)))
    return function
