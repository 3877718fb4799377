"""Autotuning of products of larger matrices: BLAS, or a loop of our own (`tiled`) with the same bits.

BLAS adds the products of an element one after another, with one rounding each, and begins a new sum after some of them.
The loop can do the same, but has no way to ask after how many. So it tries numbers on arrays with the same layout until
the bits are the same. Then the faster one of loop and BLAS, which may use threads, stays.
"""

from __future__ import annotations

import contextvars
import math
import time
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from autograph.common.probes import same
from autograph.errors import EngineError
from autograph.runtime.engines.native.abi.c_entry import FAST_UNDERFLOWS, builtin
from autograph.runtime.engines.native.abi.jit import Code
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.cpython_abi import Table
from autograph.runtime.engines.native.llvm.target import vectors
from autograph.runtime.engines.native.matmul.small import LARGE, Product, is_product
from autograph.runtime.engines.native.matmul.tiled import FACTS, FORMS, Tiled, fill
from autograph.runtime.graph.graph import Node

HUGE = 1 << 24      # multiplications of about a millisecond, for which other threads wait
TRIES = 5
ROOM = 64           # numbers in a rule, at most
STEP, LONGEST, UNITS = 32, 1024, (16, 8, 4, 24, 48, 12, 1, 0)        # see `stretches`
ZEROS = 0.1         # share of zeros in samples
SPREAD = 16         # a matrix may be spread over so many times its memory


class Autotuned(Product):
    """A product of larger matrices in a graph."""

    __ag_new__ = True       # see `effects.is_new`

    def _code(self, x: Any, y: Any) -> Callable[..., Any]:
        return fastest(self._function, x, y)


def is_larger_product(node: Node) -> bool:
    """Whether a node is a product of matrices that the loop may compute."""
    if not is_product(node):
        return False
    x, y = (arg.type for arg in node.args)
    alike = x.dtype == y.dtype and x.dtype.char in "fd" and x.ndim == y.ndim == 2
    return alike and LARGE < math.prod((*x.shape, y.shape[1])) <= HUGE


class Layout(NamedTuple):
    """The layout of a matrix in memory."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @staticmethod
    def of(array: Any) -> Layout | None:
        """The layout of an array; None if it is no matrix of floats, or too spread out for `like`."""
        if type(array) is not np.ndarray or array.ndim != 2 or array.dtype.char not in "fd" or not array.flags.aligned:
            return None
        if not array.dtype.isnative or any(stride <= 0 or stride % array.itemsize for stride in array.strides):
            return None
        found = Layout(array.dtype, array.shape, array.strides)
        return found if found.extent <= SPREAD * array.size else None

    @property
    def extent(self) -> int:
        """The number of elements from the first to the last in memory."""
        return 1 + sum((length - 1) * stride for length, stride in zip(self.shape, self.strides)) // self.dtype.itemsize

    def like(self, random: np.random.Generator) -> Any:
        """A random array with this layout; some of its elements are zeros, of both signs."""
        numbers = random.normal(size=self.extent).astype(self.dtype)
        numbers[random.random(numbers.size) < ZEROS] *= 0.0
        return as_strided(numbers, self.shape, self.strides)


def fastest(function: Callable[..., Any], x: Any, y: Any) -> Callable[..., Any]:
    """The fastest function for arrays of these shapes and strides; for others it calls the given one."""
    layouts = Layout.of(x), Layout.of(y)
    if None in layouts or x.dtype != y.dtype or x.shape[1] != y.shape[0] or y.strides[1] != y.itemsize:
        return function
    try:
        return contextvars.Context().run(_fastest, function, *layouts)      # where NumPy has its default settings
    except (EngineError, ImportError, OSError, MemoryError, RecursionError):     # beyond what a product needs
        return function


@lru_cache
def _fastest(function: Callable[..., Any], first: Layout, second: Layout) -> Callable[..., Any]:
    known = FLAGS and FAST_UNDERFLOWS and vectors()
    if not known:
        return function
    size, registers = known
    random = np.random.default_rng(0)
    x, y = first.like(random), second.like(random)
    works = [function]
    for form in FORMS[registers]:
        if (loop := _loop(function, x, y, size // x.itemsize, form)) is not None:
            works.append(loop)
    times = [[_seconds(work, x, y) for work in works] for _ in range(TRIES)]
    least = [min(each) for each in zip(*times)]
    return works[least.index(min(least))]


def _seconds(work: Callable[..., Any], x: Any, y: Any) -> float:
    begin = time.perf_counter()
    work(x, y)
    return time.perf_counter() - begin


def _loop(
    function: Callable[..., Any], x: Any, y: Any, lanes: int, form: tuple[int, int]
) -> Callable[..., Any] | None:
    """The loop for arrays like these, if it has the bits of the function."""
    rows, columns = form[0], form[1] * lanes
    if x.shape[0] < rows or y.shape[1] < columns:
        return None
    rule = np.zeros(ROOM, np.int64)
    text = Tiled(x.dtype, lanes, form, rule, _refused)
    table, code = Table.of(text.things), _code(text.text)
    found = builtin(code.entry, table, code)
    wanted = function(x, y)
    tile = x[:rows], y[:, :columns]
    for ends in stretches(x.shape[1]):
        fill(rule, *tile, ends)
        if same(found(*tile), wanted[:rows, :columns]):
            fill(rule, x, y, ends)
            if same(found(x, y), wanted):
                table.put(_refused, function)
                return found
    return None


_code = cache(Code)


def _refused(x: Any, y: Any) -> Any:
    """No product, for arguments that the code refuses while it is tried."""
    return np.empty(0)


def stretches(count: int) -> Iterator[tuple[int, ...]]:
    """The columns at which sums may end. As in OpenBLAS, the last two sums share what is left."""
    known = set()
    for unit in UNITS:
        for most in (*range(STEP, LONGEST + 1, STEP), count):
            ends = tuple(_ends(count, most, unit))
            if ends not in known and len(ends) <= ROOM - len(FACTS):
                known.add(ends)
                yield ends


def _ends(count: int, most: int, unit: int) -> Iterator[int]:
    """The ends of sums of at most so many products; half of what is left is rounded up to units, unless that is 0."""
    end = 0
    while (rest := count - end) > most:
        end += most if rest >= 2 * most or not unit else min(most, -(-(rest // 2) // unit) * unit)
        yield end
    yield count
