"""`exp` of `float64` as NumPy computes it, eight numbers at a time.

NumPy has it from a library, which depends on the processor, see `exp_algorithms`. Which it is, if it is one of those,
tries show. The code is called as NumPy's own loop would be; numbers so large, or so far below zero, that the steps are
not enough are left to that. It is written for vectors: LLVM makes none of it.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from autograph.common.probes import agrees
from autograph.runtime.engines.native.libmath.exp_algorithms import GNU, SVML, Numbers, Vectors, Way
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.libmath.vectors import (
    ALONE,
    FLOATS,
    WIDTH,
    all_of,
    elementwise,
    inner_loop,
    map_row,
)
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import (
    DOUBLE,
    I32,
    I64,
    NULL,
    PTR,
    Function,
    Module,
    Parameter,
    array,
    constant,
    zero,
)

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
        return agrees(lambda x: np.array([way.of(Numbers(way), each) for each in x.tolist()]), np.exp, [(x,)])
    except (OSError, AttributeError, TypeError):    # a C library without `fma`, or Windows, which has no such library
        return False


def define(module: Module, way: Way, numpys: str, handed: tuple[str, ...]) -> None:
    """Define a function like a loop of NumPy's: numbers lie side by side, or all of them are the same one.

    Args:
        numpys: the name of NumPy's own.
        handed: the names of what that is handed.
    """
    exp = _exp(module, way, _numpys(module, numpys, handed))
    b, (_, arrays, size, steps, _) = inner_loop(module, NAME)
    source, target = (b.load(PTR, b.gep(arrays, place, of=PTR)) for place in range(2))
    n = b.load(I64, size)
    is_dense = b.icmp("eq", b.load(I64, steps), 8)
    count = b.select(is_dense, n, 1)
    map_row(b, lambda x: b.call(exp, x), source, target, count, zero(FLOATS))
    one, done, fill = b.load(DOUBLE, target), b.function.new_block("done"), b.function.new_block("fill")
    b.cond_br(is_dense, done, fill)
    b.begin(fill)
    with b.loop(0, n, at_least_once=True, predicate="ult", hints=ALONE) as loop:
        b.store(one, b.gep(target, loop.index, of=DOUBLE))
    b.br(done)
    b.begin(done)
    b.ret(0)


def _numpys(module: Module, name: str, handed: tuple[str, ...]) -> Function:
    """The function that has NumPy do it, for a vector; it keeps the flags that are there."""
    x = Parameter("x", FLOATS)
    function = module.define(f"{NAME}_numpys", FLOATS, x, words="internal", attributes="noinline cold")
    b = Builder(function)
    source, target, arrays = b.alloca(FLOATS), b.alloca(FLOATS), b.alloca(array(2, PTR))
    b.store(x, source)
    b.store(source, arrays)
    b.store(target, b.gep(arrays, 1, of=PTR))
    flags = b.call_outside("fetestexcept", I32, constant(I32, FLAGS))
    size = module.constant(f"{NAME}_size", constant(I64, WIDTH))
    strides = module.constant(f"{NAME}_strides", constant(array(2, I64), 8))
    context, more = (*map(module.outside, handed), NULL)[:2]
    b.call_outside(name, I32, context, arrays, size, strides, more)
    b.call_outside("feraiseexcept", I32, flags)
    b.ret(b.load(FLOATS, target))
    return function


def _exp(module: Module, way: Way, numpys: Function) -> Function:
    """The function for a vector."""
    b, function = elementwise(module, f"{NAME}_of", Parameter("x", FLOATS))
    (given,) = function.parameters
    start, far, near, unknown, done = b.block, *map(function.new_block, ("far", "near", "unknown", "done"))
    small = b.fcmp("olt", b.intrinsic("fabs", given), way.limit)
    b.cond_br(all_of(b, small), near, far)
    b.begin(far)
    known = b.or_(small, b.fcmp("olt", given, NOTHING))
    less = b.select(small, given, zero(FLOATS))
    b.cond_br(all_of(b, known), near, unknown, likely=True)
    b.begin(unknown)
    found = b.call(numpys, given)
    b.br(done)
    b.begin(near)
    x = b.phi(FLOATS, (given, start), (less, far))
    computed = b.select(small, way.of(Vectors(way, b), x), zero(FLOATS))
    b.br(done)
    b.begin(done)
    b.ret(b.phi(FLOATS, (computed, near), (found, unknown)))
    return function
