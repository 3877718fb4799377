"""Finds NumPy's inner loops, which machine code calls on blocks of elements, so that each bit is NumPy's.

An inner loop may compute the last elements of an array in another way. So a probe checks that it computes each element
on its own. For numbers, NumPy runs it on one element with strides of 0.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from autograph.common.numpy_internals import LOOP_TYPE, InnerLoop, strided_loop
from autograph.common.probes import COUNT, agrees, numbers, with_warnings
from autograph.runtime.engines.native.libmath import division, exponential
from autograph.runtime.engines.native.libmath.vectors import Loop

_KINDS = "biufc"
_CHEAP = frozenset(
    """add subtract multiply divide negative positive absolute fabs square reciprocal sign floor ceil trunc rint
    copysign clip maximum minimum fmax fmin signbit heaviside conjugate deg2rad degrees rad2deg radians""".split()
)


@cache
def loop_of(ufunc: np.ufunc, dtypes: tuple[np.dtype[Any], ...]) -> Loop | None:
    """The loop for operands and a result of these dtypes, if it can be called; makes it known to LLVM."""
    inner = find(ufunc, dtypes)
    if inner is None or not _agrees_in_blocks(inner, ufunc, dtypes):
        return None
    found = Loop(*_register(inner, ufunc, dtypes), _is_steady(inner, ufunc, dtypes), is_costly(ufunc, dtypes[-1]))
    return _own(found) if ufunc is np.exp and dtypes[-1] == np.dtype(float) else found


def _own(loop: Loop) -> Loop:
    """The loop of ours in place of NumPy's for `exp`, if its algorithm is known."""
    if (algorithm := exponential.known()) is None:
        return loop
    define, body = (partial(each, algorithm=algorithm, inner=replace(loop, steady=True, costly=True))
                         for each in (exponential.define, exponential.emit))
    return Loop(exponential.NAME, (), True, False, define, body, True)


@cache
def quotient() -> Loop | None:
    """The loop of ours that divides floats by the same one, if the processor has the instructions for it."""
    return Loop(division.NAME, (), True, False, division.define) if division.is_supported() else None


@cache
def loop_of_numbers(ufunc: np.ufunc, dtypes: tuple[np.dtype[Any], ...]) -> Loop | None:
    """The loop for numbers, if NumPy warns only about new infinities and NaNs."""
    inner = find(ufunc, dtypes)
    if inner is None or not _agrees_for_numbers(inner, ufunc, dtypes):
        return None
    costly, in_blocks = is_costly(ufunc, dtypes[-1]), _is_alike_in_blocks(inner, ufunc, dtypes)
    found = Loop(*_register(inner, ufunc, dtypes), True, costly, in_blocks=in_blocks)
    return _own(found) if ufunc is np.exp and dtypes[-1] == np.dtype(float) else found


def loop_of_elements(ufunc: np.ufunc, dtypes: tuple[np.dtype[Any], ...]) -> Loop | None:
    """The loop that computes arrays element by element, if each gets the bits that NumPy gives it in an array."""
    loop = loop_of(ufunc, dtypes)
    if loop is None or not loop.steady:
        return None
    if any(dtype.kind == "c" for dtype in dtypes):
        return loop if _is_alike_for_complex(ufunc, dtypes) else None
    return loop if dtypes[-1].kind in "biu" else loop_of_numbers(ufunc, dtypes)


def _register(inner: InnerLoop, ufunc: np.ufunc, dtypes: Sequence[np.dtype[Any]]) -> tuple[str, tuple[str, ...]]:
    """Make a loop known to LLVM. Returns its name and its arguments other than arrays, see `Loop`."""
    import llvmlite.binding as llvm

    name = f"ag_numpy_{ufunc.__name__}_{''.join(dtype.char for dtype in dtypes)}".replace("?", "t")
    handed = ("context", "more") if inner.more else ("context",)
    llvm.add_symbol(name, inner.address)
    for part in handed:
        llvm.add_symbol(f"{name}_{part}", getattr(inner, part))
    return name, handed


def is_costly(ufunc: np.ufunc, result: np.dtype[Any]) -> bool:
    """Whether a ufunc takes much longer than arithmetic."""
    return result.kind in "fc" and ufunc.__name__ not in _CHEAP


@cache
def find(ufunc: np.ufunc, dtypes: tuple[np.dtype[Any], ...]) -> InnerLoop | None:
    """NumPy's inner loop, which may fail the probe."""
    if any(dtype.kind not in _KINDS for dtype in dtypes):
        return None
    if ufunc is np.power and dtypes[-1].kind == "i":
        return None         # it raises an exception for negative exponents
    return strided_loop(ufunc, dtypes)


def _agrees_in_blocks(loop: InnerLoop, ufunc: np.ufunc, dtypes: Sequence[np.dtype[Any]]) -> bool:
    """Probe whether the loop gives for blocks what the ufunc gives for the whole."""
    given = [numbers(dtype, seed) for seed, dtype in enumerate(dtypes[:-1])]
    with np.errstate(all="ignore"):
        return agrees(partial(_in_blocks, loop, dtypes[-1]), ufunc, [given])


def _in_blocks(loop: InnerLoop, result: np.dtype[Any], *given: Any) -> Any:
    """The results of a loop for one element, the next two, the next three, and so on."""
    found = np.zeros(COUNT + 1, result)[1:]
    begin = size = 0
    while begin < COUNT:
        size += 1
        end = min(begin + size, COUNT)
        _run(loop, [each[begin:end] for each in given], found[begin:end])
        begin = end
    return found


def _is_alike_in_blocks(loop: InnerLoop, ufunc: np.ufunc, dtypes: Sequence[np.dtype[Any]]) -> bool:
    """Probe whether the loop gives for blocks of floats what it gives for each as a number."""
    if dtypes[-1].kind != "f" or len(set(dtypes)) > 1 or ufunc is np.power:     # which may only multiply, for a number
        return False
    blocks, numbers = (partial(each, loop, dtypes[-1]) for each in (_in_blocks, _one_by_one))
    return agrees(blocks, numbers, [_columns(dtypes)])


@cache
def _is_alike_for_complex(ufunc: np.ufunc, dtypes: tuple[np.dtype[Any], ...]) -> bool:
    """Probe whether the loop gives for each complex number by itself what the ufunc gives for any vector of them."""
    loop, given = find(ufunc, dtypes), _columns(dtypes)
    if loop is None or ufunc is np.power:
        return False

    def apart(step: int, *given: Any) -> Any:
        return ufunc(*(np.repeat(each, abs(step))[::step] for each in given))[:: 1 if step > 0 else -1]

    candidate = partial(_one_by_one, loop, dtypes[-1])
    with np.errstate(all="ignore"):
        return all(agrees(candidate, reference, [given]) for reference in (ufunc, partial(apart, 2), partial(apart, 3)))


def _one_by_one(loop: InnerLoop, result: np.dtype[Any], *given: Any) -> Any:
    """The results of a loop for one number after the other."""
    found = np.zeros(COUNT, result)
    for place in range(COUNT):
        _run(loop, [each[place : place + 2] for each in given], found[place : place + 1])
    return found


def _columns(dtypes: Sequence[np.dtype[Any]]) -> list[np.ndarray[Any, Any]]:
    """Numbers for each operand."""
    columns = [numbers(dtype, seed) for seed, dtype in enumerate(dtypes[:-1])]
    for place, value in enumerate((0, 1, 2, 3, 0.5)):       # exponents that may have a shortcut
        columns[-1][-60 + 12 * place :][:12] = value
    return columns


def _agrees_for_numbers(loop: InnerLoop, ufunc: np.ufunc, dtypes: Sequence[np.dtype[Any]]) -> bool:
    """Probe whether the loop gives what the ufunc gives for numbers, which warns about new infinities and NaNs."""
    with with_warnings(ufunc) as reference:
        return agrees(partial(_of_numbers, loop, dtypes[-1]), reference, zip(*_columns(dtypes)))


def _of_numbers(loop: InnerLoop, result: np.dtype[Any], *given: Any) -> tuple[Any, bool]:
    """The result of a loop for numbers, and whether NumPy warns about it: about a new infinity or NaN."""
    found = np.zeros(1, result)
    _run(loop, [np.array([each, each]) for each in given], found)
    if result.kind != "f":
        return found[0], False
    overflow = not np.isfinite(found[0]) and all(map(np.isfinite, given))
    return found[0], bool(overflow or (np.isnan(found[0]) and not any(map(np.isnan, given))))


def _is_steady(loop: InnerLoop, ufunc: np.ufunc, dtypes: Sequence[np.dtype[Any]]) -> bool:
    """Probe whether operands with strides of 0 give what arrays of one number give."""
    *kinds, result = dtypes
    for varying in range(len(kinds) if len(kinds) > 1 else 0):
        with np.errstate(all="ignore"):
            samples = [[np.full(COUNT, value).astype(kind) for kind in kinds] for value in (0, 1, 2, 3, 0.5, -1)]
            for given in samples:
                given[varying] = numbers(kinds[varying], 0)
            if not agrees(partial(_with_singles, loop, result, varying), ufunc, samples):
                return False
    return True


def _with_singles(loop: InnerLoop, result: np.dtype[Any], varying: int, *given: Any) -> Any:
    """The result of a loop if all operands but one have a stride of 0."""
    found = np.zeros(COUNT, result)
    _run(loop, [each[: None if place == varying else 1] for place, each in enumerate(given)], found)
    return found


def _run(inner: InnerLoop, given: Sequence[np.ndarray[Any, Any]], found: np.ndarray[Any, Any]) -> None:
    """Call a loop; an operand of one element has a stride of 0."""
    arrays, count = (*given, found), len(found)
    data = (ctypes.c_void_p * len(arrays))(*(each.ctypes.data for each in arrays))
    steps = (ctypes.c_ssize_t * len(arrays))(*(each.itemsize * (len(each) == count) for each in arrays))
    size = ctypes.c_ssize_t(count)
    LOOP_TYPE(inner.address)(inner.context, *map(ctypes.addressof, (data, size, steps)), inner.more)
