"""Normal numbers of `np.random.Generator` over the bit generator PCG64, without calls in 99 of 100 draws.

NumPy draws 64 bits, of which eight choose a layer, and multiplies the others with the width of the layer. If the
product lies within the layer above, it is the number (Marsaglia and Tsang, "The Ziggurat Method for Generating Random
Variables", 2000). The code does that, and calls NumPy's function for other bits and other generators, before it has
changed any state. The widths are measured: NumPy's function gets bits from a generator of ours. PCG64 multiplies a
state of 128 bits (O'Neill, "PCG: A Family of Simple Fast Space-Efficient Statistically Good Algorithms", 2014).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from autograph.common.cpython_internals import WORD, read
from autograph.common.numpy_internals import generator_layout
from autograph.common.probes import agrees
from autograph.runtime.engines.native.libmath import numpy_draws
from autograph.runtime.engines.native.libmath.libm import PREFIX
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder

_NEXT = 8               # where the interface of a bit generator has the function of the next 64 bits
_STATE = f"{PREFIX}numpy_pcg64"     # that of PCG64
_FACTOR = 0x2360ED051FC65DA44385DF649FCCF645
_LAYERS, _BITS = 256, 52
_MARGIN = 2**24         # by which limits are less than those of NumPy
_DRAWS = 400            # in the probe
_ACCEPTED = 1 << 9 | 100    # bits of a small number, which NumPy never rejects
_I128 = "i128"


_BITS_OF, _FLOAT_OF = (ctypes.CFUNCTYPE(kind, ctypes.c_void_p) for kind in (ctypes.c_uint64, ctypes.c_double))


class _Interface(ctypes.Structure):
    """The interface of a bit generator: its state, and functions of it."""

    _fields_ = [("state", ctypes.c_void_p), *((name, ctypes.c_void_p) for name in ("bits", "few", "float", "raw"))]


def _measured(function: Any, draws: Sequence[int]) -> list[tuple[float, bool]]:
    """The numbers that NumPy's function makes of 64 bits, and whether it draws no more than these."""
    drawn: list[int] = []

    def next_bits(_: Any) -> int:
        drawn.append(given[0])
        return given[0] if len(drawn) == 1 else _ACCEPTED

    def next_float(_: Any) -> float:
        drawn.append(0)
        return 0.5

    calls = _BITS_OF(next_bits), _FLOAT_OF(next_float)
    bits, number = (ctypes.cast(each, ctypes.c_void_p) for each in calls)
    interface, found, given = _Interface(None, bits, None, number, bits), [], [0]
    for given[0] in draws:
        drawn.clear()
        value = function(ctypes.addressof(interface))
        found.append((value, len(drawn) == 1))
    return found


@cache
def tables() -> tuple[list[float], list[int]] | None:
    """The width of each layer, divided by 2**52, and the limit below which a product lies within the next one.

    None if NumPy does otherwise.
    """
    function = getattr(numpy_draws.library(), "random_standard_normal", None)
    if function is None or not numpy_draws.distribution("standard_normal", 0):
        return None
    widths = [value for value, _ in _measured(function, [1 << 9 | layer for layer in range(_LAYERS)])]
    if not all(width > 0 for width in widths):
        return None
    # The lowest layer is wider than what it contains of the curve; the next one is the narrowest.
    parts = [widths[-1] / widths[0], 0.0, *(less / width for less, width in pairwise(widths[1:]))]
    limits = [max(0, int(part * 2**_BITS) - _MARGIN) for part in parts]
    highest = [max(0, limit - 1) << 9 | layer for layer, limit in enumerate(limits)]
    for (value, is_simple), width, limit in zip(_measured(function, highest), widths, limits):
        if limit and not (is_simple and value == (limit - 1) * width):
            return None
    return widths, limits


@cache
def is_known() -> bool:
    """Probe whether that gives NumPy's numbers; if so, make PCG64's function known to LLVM."""
    import llvmlite.binding as llvm

    known, layout, source = tables(), generator_layout(np.random.Generator), np.random.PCG64(1)
    if known is None or layout is None:
        return False
    widths, limits = known
    place = read(WORD, source.ctypes.bit_generator.value, 2)
    state, increment = (source.state["state"][name] for name in ("state", "inc"))
    numbers = np.random.Generator(np.random.PCG64(1))
    (words,) = read(WORD, place[0], 1)
    if read(WORD, words, 4) != [state % 2**64, state >> 64, increment % 2**64, increment >> 64]:
        return False
    for _ in range(_DRAWS):
        state = (state * _FACTOR + increment) % 2**128
        mixed, by = state >> 64 ^ state % 2**64, state >> 122
        drawn = (mixed >> by | mixed << (64 - by)) % 2**64
        layer, size = drawn % _LAYERS, drawn >> 9 & 2**_BITS - 1
        number = numbers.standard_normal()
        if size < limits[layer] and number != (-1 if drawn & 256 else 1) * size * widths[layer]:
            return False
        state = numbers.bit_generator.state["state"]["state"]
    shifted = np.random.default_rng(1), np.random.default_rng(1)
    if not agrees(lambda: 0.7 + 1.3 * shifted[0].standard_normal(), lambda: shifted[1].normal(0.7, 1.3), [()] * 60):
        return False
    llvm.add_symbol(_STATE, place[1])
    return True


def normal(module: ir.Module, by_numpy: str) -> ir.Function:
    """The function of a normal number; it takes the interface of the bit generator.

    Args:
        by_numpy: the name of NumPy's function.
    """
    name, bits = "ag_numpy_normal", ir.Parameter("bits", ir.PTR)
    if name in module.functions:
        return module.functions[name]
    b = Builder(module.define(name, ir.DOUBLE, bits, words="internal", attributes="noinline"))
    known = tables()
    assert known is not None
    widths, limits = (
        module.constant(f"ag_ziggurat_{place}", ir.constant(ir.array(_LAYERS, kind), values))
        for place, (kind, values) in enumerate(zip((ir.DOUBLE, ir.I64), known))
    )
    ours, inside, other = map(b.new_block, ("ours", "inside", "other"))
    is_ours = b.icmp("eq", b.load(ir.PTR, b.gep(bits, _NEXT)), module.outside(_STATE))
    b.cond_br(is_ours, ours, other, True)
    b.begin(ours)
    place = b.load(ir.PTR, b.load(ir.PTR, bits))
    state, increment = (b.load(_I128, b.gep(place, offset), align=8) for offset in (0, 16))
    after = b.add(b.binary("mul", state, _FACTOR), increment)
    high, by = (b.cast("trunc", b.binary("lshr", after, each), ir.I64) for each in (64, 122))
    mixed = b.xor(high, b.cast("trunc", after, ir.I64))
    drawn = b.intrinsic("fshr", mixed, mixed, by)
    layer, size = b.and_(drawn, _LAYERS - 1), b.and_(b.binary("lshr", drawn, 9), 2**_BITS - 1)
    b.cond_br(b.icmp("ult", size, b.load(ir.I64, b.gep(limits, layer, ir.I64))), inside, other, True)
    b.begin(inside)
    b.store(after, place, align=8)
    product = b.binary("fmul", b.cast("uitofp", size, ir.DOUBLE), b.load(ir.DOUBLE, b.gep(widths, layer, ir.DOUBLE)))
    sign = b.binary("shl", b.and_(b.binary("lshr", drawn, 8), 1), 63)
    b.ret(b.cast("bitcast", b.xor(b.cast("bitcast", product, ir.I64), sign), ir.DOUBLE))
    b.begin(other)
    b.ret(b.call_outside(by_numpy, ir.DOUBLE, bits))
    return b.function
