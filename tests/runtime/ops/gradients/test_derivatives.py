"""The derivatives of functions of elements, operators, reductions and casts.

Each op is held against finite differences, and in single precision against itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from autograph.runtime.graph.opdef import OPS, lookup
from autograph.runtime.ops.gradients.adjoint_ops import fit
from tests.runtime.derivatives import calling, check

pytestmark = pytest.mark.once

Case = tuple[str, tuple[Any, ...], dict[str, Any]]

A = np.array([[0.3, -1.2, 0.8], [1.5, 0.1, -0.4]])
B = np.array([0.7, 1.1, -0.6])
P = np.abs(A) / 2 + 0.1  # from 0.15 to 0.85
C = np.random.default_rng(0).permutation(24).reshape(2, 3, 4) / 6 - 2.03
N = np.where(A == 0.1, np.nan, A)
Z = np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 5.0]])
M = A > 0
Q = np.array([0.23, 0.77])


def case(op: str, *args: Any, **kwargs: Any) -> Case:
    return op, args, kwargs


def unary() -> Iterator[Case]:
    anywhere = "exp exp2 expm1 sin cos tan arctan sinh cosh tanh arcsinh cbrt square reciprocal negative positive"
    for name in f"{anywhere} abs fabs degrees radians deg2rad rad2deg conj modf frexp".split():
        yield case(f"np.{name}", A)
        yield case(f"np.{name}", 0.7)
    for name in "log log2 log10 log1p sqrt arcsin arccos arctanh".split():
        yield case(f"np.{name}", P)
    yield case("np.arccosh", P + 1)


def binary() -> Iterator[Case]:
    both = "add subtract multiply divide maximum minimum fmax fmin hypot arctan2 logaddexp logaddexp2 copysign power"
    for name in f"{both} mod fmod float_power".split():
        yield case(f"np.{name}", P, np.abs(B) + 0.01)
        yield case(f"np.{name}", 2.3, P)
        yield case(f"np.{name}", P, 1.7)
    for name in "add subtract multiply divide power maximum arctan2 hypot logaddexp".split():
        yield case(f"np.{name}.outer", P, np.array([1.1, 0.2]))
        yield case(f"np.{name}.outer", 1.3, P)
    yield case("np.ldexp", A, np.array([1, 2, -3]))
    yield case("np.nextafter", A, B)
    yield case("np.heaviside", np.array([0.0, 1.0]), np.array([0.3, 0.4]))
    yield case("np.divmod", A, B)
    yield case("np.add", [1.0, 2.0], A[:, :2])
    for exponent in (0, 1, 2, 3, -1, -2, 0.5, 0.0, 2.0):
        yield case("np.power", P, exponent)
        yield case("pow", P, exponent)
    yield case("pow", Z, 2)


def operators() -> Iterator[Case]:
    for name in "add sub mul truediv mod pow".split():
        yield case(name, P, np.abs(B) + 0.01)
        yield case(name, 2.3, 1.4)
        yield case(name, P, 2)
        yield case(name, 2.9, P)
    for name in "neg pos abs".split():
        yield case(name, A)
        yield case(name, -0.3)
    for name in ("matmul", "np.matmul"):
        for x, y in [(A, A.T), (A, B), (B, A.T), (B, B), (C, C[0].T), (C[0], C.swapaxes(1, 2)), (C, B[:1].repeat(4))]:
            yield case(name, x, y)
        yield case(name, B, C)
    for name, x, y in [("vecdot", A, B), ("matvec", C, np.ones(4)), ("vecmat", B, C)]:
        if f"np.{name}" in OPS:
            yield case(f"np.{name}", x, y)


def mathematics() -> Iterator[Case]:
    for name in "exp exp2 expm1 log log2 log10 log1p sqrt cbrt sin cos tan asin acos atan sinh cosh tanh asinh".split():
        yield case(f"math.{name}", 0.37)
    for name in "atanh degrees radians fabs erf erfc gamma lgamma modf frexp".split():
        yield case(f"math.{name}", 0.37)
    for op, *args in [
        ("acosh", 1.7), ("log", 0.7, 2.5), ("atan2", 0.3, -0.7), ("pow", 1.3, 2.4), ("pow", 0.0, 2.0),
        ("copysign", 1.2, -3.0), ("fmod", 5.3, -1.7), ("remainder", 5.3, 1.7), ("ldexp", 1.3, 3), ("gamma", -1.5),
        ("nextafter", 1.0, 2.0), ("fma", 1.0, 2.0, 3.0), ("hypot", 1.0, 2.0, 3.0, -4.0), ("lgamma", 90.0),
        ("dist", [1.0, 2.0], [0.5, 0.7]), ("fsum", [1.0, 2.0, 3.0]), ("prod", [1.0, 0.0, 3.0]),
        ("sumprod", [1.0, 2.0], [3.0, 4.0]),
    ]:  # fmt: skip
        yield case(f"math.{op}", *args)
    yield from (case("polygamma", order, 2.3) for order in range(3))


def reductions() -> Iterator[Case]:
    for name in "sum prod mean var std max min ptp nansum nanprod nanmean nanvar nanstd nanmax nanmin".split():
        x = N if "nan" in name else A
        for kwargs in ({}, {"axis": 0}, {"axis": (0, 1)}, {"axis": -1, "keepdims": True}, {"keepdims": True}):
            yield case(f"np.{name}", x, **kwargs)
        yield case(f"np.{name}", C, (2, 0))
        if f".{name}" in OPS:
            yield case(f".{name}", A, 1)
        ends = {"max": {"initial": -9.0}, "min": {"initial": 9.0}}.get(name[-3:], {})
        if name != "ptp":
            yield case(f"np.{name}", A, where=M, axis=0, **ends)
        if "var" in name or "std" in name:
            yield case(f"np.{name}", x, axis=1, ddof=1)
            yield case(f"np.{name}", A, 0, None, None, 1)
    yield case("np.prod", Z)
    yield case("np.prod", Z, (1, 0))
    yield case("np.sum", A, 0, None, None, False, 2.0)
    yield case("np.sum", A, where=M, dtype=float)
    yield case("np.prod", A, 1, None, None, False, 2.0)
    yield case("np.max", A, 1, None, False, 0.9)
    yield case("np.sum", [1.0, 2.0])
    yield case("np.max", [[1.0, 2.0], [3.0, 4.0]], axis=0)
    for name in "add multiply maximum minimum fmax fmin logaddexp logaddexp2 hypot".split():
        for kwargs in ({}, {"axis": 1}, {"axis": -1, "keepdims": True}):
            yield case(f"np.{name}.reduce", A, **kwargs)
    yield case("np.add.reduce", A, (0, 1))
    yield case("np.multiply.reduce", Z, 1, None, None, True, 2.0)


def running() -> Iterator[Case]:
    for name in "cumsum cumprod nancumsum nancumprod".split():
        for x in (N if "nan" in name else A, Z):
            yield from (case(f"np.{name}", x, *axis) for axis in [(), (0,), (-1,)])
    for name in "cumulative_sum cumulative_prod".split():
        if f"np.{name}" in OPS:
            yield case(f"np.{name}", A, axis=0)
            yield case(f"np.{name}", B, include_initial=True)
    yield case(".cumsum", A, 1)
    yield case(".cumprod", C, 1)
    for name in "add multiply maximum minimum logaddexp".split():
        yield from (case(f"np.{name}.accumulate", x, *axis) for x, *axis in [(A,), (A, 1), (C, -2)])
    yield case("np.add.reduceat", C, np.array([0, 2, 3, 1, 1]), -1)
    yield case("np.add.reduceat", B, [1, 2])


def statistics() -> Iterator[Case]:
    for name in ("median", "nanmedian"):
        for kwargs in ({}, {"axis": 0}, {"axis": (1, 0), "keepdims": True}, {"axis": -1, "keepdims": True}):
            yield case(f"np.{name}", N if "nan" in name else A, **kwargs)
            yield case(f"np.{name}", C[:, :2], **kwargs)
    for name in "quantile nanquantile percentile nanpercentile".split():
        scale = 100 if "percent" in name else 1
        for kwargs in ({}, {"axis": 0}, {"axis": (-1, 0), "keepdims": True}):
            yield case(f"np.{name}", N if "nan" in name else A, 0.31 * scale, **kwargs)
            yield case(f"np.{name}", C[:, 1:], Q * scale, **kwargs)
    for method in "weibull hazen interpolated_inverted_cdf median_unbiased normal_unbiased".split():
        yield case("np.quantile", A, 0.37, 1, method=method)
    for method in "lower higher nearest midpoint".split():
        yield case("np.quantile", C, 0.37, method=method)
    yield case("np.average", A, -1, P)
    yield case("np.average", A, 0, P[:, 0])
    yield case("np.average", A, 0, P[:, 0], True)
    yield case("np.average", C, (2, 0), P[0].repeat(4)[:8].reshape(4, 2))
    yield case("np.average", A, 1, keepdims=True)
    for kwargs in ({}, {"rowvar": False}):
        yield case("np.cov", A, **kwargs)
        yield case("np.cov", A, P, **kwargs)
        yield case("np.corrcoef", C[0], **kwargs)
    yield case("np.cov", B, ddof=0)
    yield case("np.cov", B, P[0], True, True)
    yield case("np.corrcoef", B, P[0])
    yield case("np.trace", A, 1)
    yield case(".trace", C, -1, 2, 0)


def differences() -> Iterator[Case]:
    yield case("np.trapezoid", A)
    yield case("np.trapezoid", A, None, 0.3, 0)
    yield case("np.trapezoid", A, np.array([0.1, 0.4, 1.1]))
    yield case("np.trapezoid", C, np.sort(C[::-1], 1), 1.0, 1)
    for times in range(4):
        yield case("np.diff", A, times)
    yield case("np.diff", A, 1, 0, 0.5, A[:1])
    yield case("np.ediff1d", A)
    yield case("np.ediff1d", A, 2.0, B)
    for order in (1, 2):
        yield case("np.gradient", B, edge_order=order)
        yield case("np.gradient", C, 0.3, axis=-1, edge_order=order)
        yield case("np.gradient", C[:, :, :3].repeat(2, 0), 0.3, 0.4, axis=(2, 0), edge_order=order)
        yield case("np.gradient", A, np.array([0, 2, 3]), axis=1, edge_order=order)


def elements() -> Iterator[Case]:
    for bounds in [(-0.35, 0.5), (-0.35 * B**2, 0.55 + 0 * B), (None, 0.5), (0.2, None)]:
        yield case("np.clip", A, *bounds)
        yield case(".clip", A, *bounds)
    yield case("np.clip", A, min=0.2)
    yield case("np.clip", A, a_min=0.2, a_max=0.7)
    yield case("np.where", M, A, B)
    yield case("np.where", True, 0.3, 0.5)
    yield case("np.select", [M, A > -0.5], [A, B], 1.5)
    for x in (np.array([-0.3, 0.2, 0.9, 1.8, 2.3]), 0.7):
        yield case("np.interp", x, np.array([0.0, 0.5, 1.0, 2.0]), np.array([1.0, 3.0, 2.0, 5.0]))
        yield case("np.interp", x, np.array([0.0, 0.5, 1.0, 2.0]), np.array([1.0, 3.0, 2.0, 5.0]), 1.5, 2.0)
    yield case("np.interp", 0.3, [0.0, 1.0], [2.0, 3.0])
    yield case("np.sinc", A)
    yield case("np.sinc", np.array([0.0, 1e-3, 0.09, -0.101]))
    for name in "i0 unwrap real real_if_close nan_to_num".split():
        yield case(f"np.{name}", A * 3)


def conversions() -> Iterator[Case]:
    yield case("float", 2.0)
    yield case("divmod", 5.3, -1.7)
    for args in [([1.0, 2.0],), (B,), (A, B), ([A, B],)]:
        yield case("sum", *args)
    for args in [([1.0, 3.0, 2.0],), (B,), (1.0, 3.0, 2.0)]:
        yield case("max", *args)
        yield case("min", *args)
    yield case("np.float64", A)
    yield case(".astype", A, float)
    yield case(".copy", A)
    for name in ("linspace", "logspace", "geomspace"):
        yield case(f"np.{name}", 1.0, 2.0, 5)
        yield case(f"np.{name}", P, 2.0, 4, False, axis=1)
    yield case("np.arange", 1.0, 2.05, 0.3)
    yield from (case(".item", x, *index) for x, *index in [(A[:1, :1],), (A, 2), (A, 1, 2), (A, (1, 2))])


def complex_numbers() -> Iterator[Case]:
    z, w = P * np.exp(2j * A), A[:1] + 1j * B
    for name in "exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan arcsin arccos arctan sinh cosh tanh".split():
        yield case(f"np.{name}", z)
    for name in "arcsinh arccosh arctanh square reciprocal negative positive abs conj sign real imag angle".split():
        yield case(f"np.{name}", z)
    for name in "add subtract multiply divide power".split():
        yield case(f"np.{name}", z, w)
        yield case(f"np.{name}", P, z)
        yield case(f"np.{name}", z, P)
    for name in "sum prod mean var std cumsum cumprod".split():
        yield case(f"np.{name}", z, axis=1)
    for op, *args in [("pow", 3), ("abs",), (".conj",), ("np.where", z, P), ("np.gradient",), ("np.diff",)]:
        yield case(op, *([M] if op == "np.where" else [z]), *args)
    for x, y in [(z, B), (B, z.T), (z, z.T), (A, z.T)]:
        yield case("matmul", x, y)
    for name, x, y in [("vecdot", z, B + 1j), ("matvec", z, B + 1j), ("vecmat", B + 1j, z.T)]:
        if f"np.{name}" in OPS:
            yield case(f"np.{name}", x, y)
    for op, *args in [("polar",), ("phase",), ("log",), ("sqrt",)]:
        yield case(f"cmath.{op}", 0.3 + 0.4j, *args)
    yield case("cmath.rect", 0.3, 0.4)
    yield case("complex", 2.0, 3.0)


TABLES = (
    unary, binary, operators, mathematics, reductions, running, statistics, differences, elements, conversions,
    complex_numbers,
)  # fmt: skip
CASES = {table.__name__: [each for each in table() if each[0] in OPS] for table in TABLES}


@pytest.mark.parametrize("table", CASES)
def test_derivatives(table: str) -> None:
    for op, args, kwargs in CASES[table]:
        check(op, *args, **kwargs)


# ------------------------------------------------------------------------------------------------ in other dtypes

def single(value: Any) -> Any:
    if isinstance(value, np.ndarray) and value.dtype == float:
        return value.astype(np.float32)
    return value


def ones(out: Any) -> Any:
    return tuple(map(ones, out)) if isinstance(out, (tuple, list)) else np.ones_like(out)[()]


@pytest.mark.parametrize("table", sorted(CASES.keys() - {"mathematics", "conversions", "complex_numbers"}))
def test_single_precision(table: str) -> None:
    """A rule gives float32 for float32, and the same numbers."""
    for op, args, kwargs in CASES[table]:
        if not any(isinstance(arg, np.ndarray) for arg in args):
            continue
        narrow = tuple(map(single, args))
        out, narrow_out = calling(op)(*args, **kwargs), calling(op)(*narrow, **kwargs)
        for position, rule in enumerate(lookup(op).vjp[: len(args)]):
            if rule is None or not isinstance(args[position], np.ndarray) or args[position].dtype != float:
                continue
            wanted = fit(rule(ones(out), out, *args, **kwargs), args[position])
            found = rule(ones(narrow_out), narrow_out, *narrow, **kwargs)
            dtypes = {part.dtype.name for part in (narrow_out, *narrow) if isinstance(part, (np.ndarray, np.generic))}
            if dtypes <= {"float32", "bool"} and not (position and op in ("np.nanquantile", "np.nanpercentile")):
                assert np.asarray(found).dtype == np.float32, f"{op} in argument {position}: {found.dtype}"
            assert np.allclose(fit(found, narrow[position]), wanted, rtol=1e-3, atol=1e-3), f"{op}: {found} != {wanted}"
