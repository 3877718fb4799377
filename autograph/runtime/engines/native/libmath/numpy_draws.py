"""NumPy's distributions: C functions that NumPy exports, and the normal numbers of its older generator.

The functions get the interface of a bit generator. `np.random.RandomState` makes two normal numbers at a time, and
keeps one (Marsaglia's polar method); NumPy exports no function for that. Probes compare the numbers, and the states
behind.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from autograph.common.numpy_internals import NEXT_DOUBLE, GeneratorLayout, generator_layout
from autograph.common.probes import agrees, same
from autograph.runtime.engines.native.libmath.libm import PREFIX, is_pythons
from autograph.runtime.engines.native.libmath.mersenne_twister import swap_all
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder

_DRAWS = 60         # of each distribution in a probe
BOUNDED = "bounded_uint64_fill"     # integers up to a bound
# Arguments of the method to those of the C function, if these differ.
_CONVERTED: dict[str, Callable[..., Any]] = {"uniform": lambda low, high: (low, high - low)}
_COUNTS = {"poisson"}               # distributions of integers


@cache
def library() -> Any:
    """NumPy's module of generators, as a library of C."""
    from numpy.random import _generator

    return ctypes.CDLL(_generator.__file__)


@cache
def distribution(name: str, count: int) -> str:
    """The name by which LLVM knows the function of a distribution with `count` parameters; "" if there is none."""
    function = getattr(library(), f"random_{name}", None)
    layout = generator_layout(np.random.Generator)
    if function is None or layout is None:
        return ""
    function.restype = ctypes.c_int64 if name in _COUNTS else ctypes.c_double
    function.argtypes = [ctypes.c_void_p, *[ctypes.c_double] * count]
    ours, theirs = np.random.default_rng(1), np.random.default_rng(1)
    convert: Callable[..., Any] = _CONVERTED.get(name, lambda *args: args)
    samples = [[(0.5, 1.0, 7.5, 90.0)[place % 4] * (1 + each) for each in range(count)] for place in range(_DRAWS)]
    found = agrees(
        lambda *args: function(id(ours) + layout.bits, *convert(*args)), getattr(theirs, name), samples
    ) and same(ours.random(), theirs.random())
    return _known(name, function) if found else ""


@cache
def bounded() -> str:
    """The name of the function of `integers` and `randint`; "" if it is not known."""
    function = getattr(library(), f"random_{BOUNDED}", None)
    if function is None or not all(_agrees_on_integers(function, masked) for masked in (False, True)):
        return ""
    return _known(BOUNDED, function)


@cache
def shuffles(kind: Any) -> bool:
    """Probe whether a class of generators shuffles by the function of integers up to a bound; make that known."""
    function, layout = getattr(library(), "random_interval", None), generator_layout(kind)
    if function is None or layout is None:
        return False
    function.restype, function.argtypes = ctypes.c_uint64, [ctypes.c_void_p, ctypes.c_uint64]
    ours, theirs = (kind(np.random.PCG64(1)) for _ in range(2))

    def shuffled(count: int) -> Any:
        found = np.arange(count)
        for last in range(count - 1, 0, -1):
            place = function(id(ours) + layout.bits, last)
            found[[last, place]] = found[[place, last]]
        return found

    def by_numpy(count: int) -> Any:
        found = np.arange(count)
        theirs.shuffle(found)
        return found

    _known("interval", function)
    return agrees(shuffled, by_numpy, [(each,) for each in (1, 2, 7, 200)]) and ours.bytes(9) == theirs.bytes(9)


def shuffle(module: ir.Module, size: int) -> ir.Function:
    """The function of `shuffle`, for elements of `size` bytes; it takes the interface of the bit generator."""
    name, bits = f"ag_numpy_shuffle_{size}", ir.Parameter("bits", ir.PTR)
    data, count = ir.Parameter("data", ir.PTR), ir.Parameter("count", ir.I64)
    if name not in module.functions:
        b = Builder(module.define(name, ir.VOID, bits, data, count, words="internal", attributes="noinline"))
        swap_all(b, data, count, size, lambda last: b.call_outside(f"{PREFIX}numpy_interval", ir.I64, bits, last))
    return module.functions[name]


def _agrees_on_integers(function: Any, masked: bool) -> bool:
    function.restype = None
    function.argtypes = [ctypes.c_void_p, *[ctypes.c_uint64] * 2, ctypes.c_ssize_t, ctypes.c_bool, ctypes.c_void_p]
    kind: Any = np.random.RandomState if masked else np.random.Generator
    layout, found = generator_layout(kind), ctypes.c_int64()
    ours, theirs = (kind(np.random.PCG64(1)) for _ in range(2))
    if layout is None:
        return False

    def draw(low: int, high: int) -> int:
        function(id(ours) + layout.bits, low % 2**64, high - 1 - low, 1, masked, ctypes.addressof(found))
        return found.value

    bounds = [(-3, 3), (0, 1), (0, 2**32), (0, 2**32 - 1), (5, 2**40), (-(2**63), 2**63 - 1), (-9, 2**35), (7, 9)] * 5
    method = theirs.randint if masked else theirs.integers
    return agrees(draw, lambda low, high: int(method(low, high)), bounds) and ours.bytes(9) == theirs.bytes(9)


def _known(name: str, function: Any) -> str:
    """Make a function known to LLVM."""
    import llvmlite.binding as llvm

    llvm.add_symbol(f"{PREFIX}numpy_{name}", ctypes.cast(function, ctypes.c_void_p).value)
    return f"{PREFIX}numpy_{name}"


# Normal numbers of `RandomState` --------------------------------------------------------------------------------------


@cache
def gauss_is_known() -> bool:
    """Probe whether `_polar` gives what NumPy gives."""
    layout = generator_layout(np.random.RandomState)
    if layout is None or not layout.gauss or not is_pythons("log"):
        return False
    ours, theirs = np.random.default_rng(1), np.random.RandomState(np.random.PCG64(1))
    numbers = [number for _ in range(_DRAWS) for number in _polar(ours.random)]
    return numbers == [theirs.standard_normal() for _ in numbers] and ours.random() == theirs.random()


def _polar(draw: Callable[[], float]) -> tuple[float, float]:
    """Two normal numbers."""
    while True:
        x, y = 2.0 * draw() - 1.0, 2.0 * draw() - 1.0
        r = x * x + y * y
        if r < 1.0 and r != 0.0:
            f = math.sqrt(-2.0 * math.log(r) / r)
            return f * y, f * x


def gauss(module: ir.Module, layout: GeneratorLayout) -> ir.Function:
    """The function of the next normal number, of a `RandomState` at an address."""
    name, owner = "ag_numpy_gauss", ir.Parameter("owner", ir.PTR)
    if name not in module.functions:
        b = Builder(module.define(name, ir.DOUBLE, owner, words="internal", attributes="noinline"))
        kept, number = (b.gep(owner, layout.gauss + each) for each in (0, 8))
        b.ret(b.if_else(b.icmp("ne", b.load(ir.I32, kept), 0), lambda: _take(b, kept, number),
                        lambda: _make(b, b.gep(owner, layout.bits), kept, number)))
    return module.functions[name]


def _take(b: Builder, kept: ir.Value, number: ir.Value) -> ir.Value:
    """The number that is kept."""
    found = b.load(ir.DOUBLE, number)
    b.store(ir.constant(ir.I32, 0), kept)
    b.store(ir.constant(ir.DOUBLE, 0.0), number)
    return found


def _make(b: Builder, bits: ir.Value, kept: ir.Value, number: ir.Value) -> ir.Value:
    """A number; keeps another one."""
    draw, state = b.load(ir.PTR, b.gep(bits, NEXT_DOUBLE)), b.load(ir.PTR, bits)
    again, done = map(b.new_block, ("again", "done"))
    b.br(again)
    b.begin(again)
    x, y = (b.binary("fsub", b.binary("fmul", b.emit(ir.DOUBLE, "call", (draw, state)), 2.0), 1.0) for _ in range(2))
    r = b.binary("fadd", b.binary("fmul", x, x), b.binary("fmul", y, y))
    inside = b.and_(b.fcmp("olt", r, 1.0), b.fcmp("une", r, 0.0))
    b.cond_br(inside, done, again)
    b.begin(done)
    log = b.call_outside(f"{PREFIX}log", ir.DOUBLE, r)
    f = b.intrinsic("sqrt", b.binary("fdiv", b.binary("fmul", log, -2.0), r))
    b.store(b.binary("fmul", f, x), number)
    b.store(ir.constant(ir.I32, 1), kept)
    return b.binary("fmul", f, y)
