"""`exp` of `float64` as NumPy computes it, eight numbers at a time.

NumPy takes it from a library, which depends on the processor; a probe says whether that is one of those in
`exp_algorithms`. The code is called as NumPy's own loop is, and calls that for numbers beyond the limits of the
algorithm. It is written for vectors, since LLVM would not vectorize it.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from autograph.common.probes import agrees
from autograph.runtime.engines.native.libmath.exp_algorithms import GNU, SVML, Algorithm, Numbers, Vectors
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
from autograph.runtime.engines.native.llvm.target import has_feature

NAME = "ag_exp"
NOTHING = -746.0        # below, they are 0
_TRIES = 1000


@cache
def known() -> Algorithm | None:
    """The algorithm that NumPy uses here, if it is known, and this processor has what it needs."""
    return next((algorithm for algorithm in (SVML, GNU) if is_supported(algorithm) and _is_numpys(algorithm)), None)


def is_supported(algorithm: Algorithm) -> bool:
    return not algorithm.is_wide or has_feature("avx512f")


def _is_numpys(algorithm: Algorithm) -> bool:
    x = np.random.default_rng(1).uniform(-algorithm.limit, algorithm.limit, _TRIES)
    x[: _TRIES // 4] /= 500
    numbers = Numbers(algorithm)
    try:
        return agrees(lambda x: np.array([algorithm.of(numbers, each) for each in x.tolist()]), np.exp, [(x,)])
    except (OSError, AttributeError, TypeError):    # a C library without `fma`, or Windows, which has no such library
        return False


def define(module: Module, algorithm: Algorithm, numpys: str, handed: tuple[str, ...]) -> None:
    """Define a function like a loop of NumPy's: numbers lie side by side, or all of them are the same one.

    Args:
        numpys: the name of NumPy's own.
        handed: the names of what that gets besides arrays.
    """
    exp = _exp(module, algorithm, _numpys(module, numpys, handed))
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


def _exp(module: Module, algorithm: Algorithm, numpys: Function) -> Function:
    """The function for a vector."""
    b, function = elementwise(module, f"{NAME}_of", Parameter("x", FLOATS))
    (given,) = function.parameters
    start, far, near, unknown, done = b.block, *map(function.new_block, ("far", "near", "unknown", "done"))
    small = b.fcmp("olt", b.intrinsic("fabs", given), algorithm.limit)
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
    computed = b.select(small, algorithm.of(Vectors(algorithm, b), x), zero(FLOATS))
    b.br(done)
    b.begin(done)
    b.ret(b.phi(FLOATS, (computed, near), (found, unknown)))
    return function
