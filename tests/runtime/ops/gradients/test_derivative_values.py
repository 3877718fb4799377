"""Derivatives where there is a choice: in complex numbers, at kinks, ties and zeros, far out, and under masks."""

from __future__ import annotations

import cmath
import warnings
from typing import Any

import numpy as np
import pytest

from autograph.runtime.graph.opdef import lookup
from autograph.runtime.ops.gradients.adjoint_ops import fit
from tests.runtime.derivatives import calling

pytestmark = pytest.mark.once

A = np.array([[0.3, -1.2, 0.8], [1.5, 0.1, -0.4]])
B = np.array([0.7, 1.1, -0.6])
C = np.ones((2, 3, 3))
Z1, Z2 = 0.3 + 0.4j, -1.2 - 0.7j


@pytest.mark.parametrize("z", [Z1, Z2, 2.5 + 0.1j])
def test_complex_functions(z: complex) -> None:
    """Of holomorphic functions, the derivative itself."""
    for name in "acos acosh asin asinh atan atanh cos cosh exp log log10 sin sinh sqrt tan tanh".split():
        function = getattr(cmath, name)
        wanted = (function(z + 1e-6) - function(z - 1e-6)) / 2e-6
        own = f"arc{name[1:]}" if name.startswith("a") else name
        for op, at in [(f"cmath.{name}", z), (f"np.{own}", np.array([z]))]:
            found = lookup(op).vjp[0](1.0, calling(op)(at), at)
            assert np.allclose(found, wanted, 1e-6), f"{op}: {found} != {wanted}"


def gradient(op: str, *args: Any, which: int = 0, g: Any = 1.0, **kwargs: Any) -> Any:
    rule = lookup(op).vjp[which]
    return None if rule is None else rule(g, calling(op)(*args, **kwargs), *args, **kwargs)


def test_complex_conventions() -> None:
    """Of a real function, the derivative in the real part less `1j` times that in the imaginary part, as in JAX."""
    z, g = np.array([Z1, Z2]), np.array([2.0, -1.0])
    x, y, r = z.real, z.imag, np.abs(z)
    assert np.allclose(gradient("np.abs", z, g=g), g * (x - 1j * y) / r)
    assert np.allclose(gradient("abs", z, g=g), g * (x - 1j * y) / r)
    assert np.allclose(gradient("np.real", z, g=g), g)
    assert np.allclose(gradient("np.imag", z, g=g), -1j * g)
    assert np.allclose(gradient("np.angle", z, g=g), g * (-y - 1j * x) / r**2)
    assert np.allclose(gradient("np.angle", z, True, g=g), g * (-y - 1j * x) / r**2 / np.radians(1))
    assert np.allclose(gradient("np.conj", z, g=g * (1 + 2j)), g * (1 - 2j))
    assert np.allclose(gradient(".conj", z, g=g * (1 + 2j)), g * (1 - 2j))
    assert np.allclose(gradient("np.multiply", z, Z2, g=g), g * Z2)
    assert np.allclose(gradient("np.divide", 1.0, z, g=g, which=1), -g / z**2)
    assert np.allclose(gradient("pow", z, 3, g=g), 3 * g * z**2)
    assert np.allclose(gradient("np.var", z), (z - z.mean()).conj())
    assert np.allclose(gradient("np.prod", z), z[::-1])
    assert np.allclose(gradient("cmath.phase", Z1), gradient("np.angle", Z1))
    assert fit(gradient("np.multiply", 2.0, Z2), 2.0) == Z2.real
    assert gradient("abs", 0j) == 0
    assert gradient("complex", 2.0, 3.0, g=1 - 2j) == 1 - 2j
    assert fit(gradient("complex", 2.0, 3.0, g=1 - 2j, which=1), 3.0) == 2


# ------------------------------------------------------------------------------------- kinks, ties and far numbers


def test_ties_share_the_gradient() -> None:
    same = np.array([1.0, 3.0, 3.0])
    assert np.array_equal(gradient("np.max", same), [0, 0.5, 0.5])
    assert np.array_equal(gradient("np.min", np.ones(4)), np.full(4, 0.25))
    assert np.array_equal(gradient("np.maximum", same, 3.0, g=np.ones(3)), [0, 1, 1])
    assert np.array_equal(gradient("np.maximum", same, 3.0, g=np.ones(3), which=1), [1, 0, 0])
    assert np.array_equal(gradient("np.clip", same, 1.0, 2.0, g=np.ones(3)), [0.5, 0, 0])
    assert gradient("max", 2.0, 2.0, 1.0) == 0.5
    assert np.array_equal(gradient("max", [2.0, 2.0, 1.0]), [0.5, 0.5, 0])
    assert np.array_equal(gradient("np.fmax", np.array([np.nan, 2.0]), 1.0, g=np.ones(2)), [0, 1])


def test_kinks() -> None:
    zero = np.zeros(2)
    assert np.array_equal(gradient("np.abs", zero, g=np.ones(2)), zero)
    assert np.array_equal(gradient("np.hypot", zero, 0.0, g=np.ones(2)), zero)
    assert np.array_equal(gradient("np.std", np.ones(3)), np.zeros(3))
    assert np.array_equal(gradient("np.power", zero, 2, g=np.ones(2)), zero)
    assert np.array_equal(gradient("np.power", zero, np.array([1.0, 3.0]), g=np.ones(2)), [1, 0])
    assert np.array_equal(gradient("np.power", zero, np.array([1.0, 3.0]), g=np.ones(2), which=1), zero)
    for op in "np.floor np.ceil np.trunc np.rint np.sign np.round np.floor_divide floordiv round math.floor".split():
        assert gradient(op, *[2.5] * (2 if "div" in op else 1)) in (None, 0), op


FAR = [
    ("np.logaddexp", -np.inf, -np.inf), ("np.logaddexp", -np.inf, 1.0), ("np.logaddexp", 800.0, -800.0),
    ("np.arctan", 1e300), ("np.arcsinh", 1e300), ("np.arccosh", 1e300), ("np.tanh", 1e3), ("np.hypot", 1e300, 1e300),
    ("np.arctan2", 1e300, 1e300), ("np.arctan2", 1e-300, 1e-300), ("np.power", 0.0, 1), ("np.power", 0.0, 0.0),
    ("np.expm1", -1e-20), ("np.log1p", 1e-20), ("np.sinc", 1e-300), ("math.atan", 1e300), ("np.prod", np.zeros(3)),
    ("math.hypot", 0.0, 0.0), ("np.logaddexp.accumulate", np.array([-np.inf, 1.0, 2.0])), ("np.cumprod", np.zeros(3)),
    ("np.logaddexp.reduce", np.full(3, -np.inf)), ("np.nanmean", np.array([np.nan, 1.0])), ("np.copysign", 0.0, -1.0),
]  # fmt: skip


@pytest.mark.parametrize("case", FAR, ids=lambda case: case[0])
def test_where_the_derivative_is_finite_so_is_what_the_rule_gives(case: tuple[Any, ...]) -> None:
    op, *args = case
    out = calling(op)(*args)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rule in lookup(op).vjp[: len(args)]:
            if rule is not None:
                assert np.all(np.isfinite(rule(np.ones_like(out)[()], out, *args)))


@pytest.mark.parametrize("name", "log sqrt arcsin arccosh arctanh reciprocal divide arctan2 power".split())
def test_where_the_mask_is_false_nothing_depends_on_anything(name: str) -> None:
    ufunc, mask = getattr(np, name), np.array([True, False])
    args = [np.array([0.6 + (name == "arccosh"), -1.0]), np.array([0.3, 0.0])][: ufunc.nin]
    out = ufunc(*args, where=mask, out=np.full(2, np.nan))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for at, rule in enumerate(lookup(f"np.{name}").vjp):
            found = rule(np.ones(2), out, *args, where=mask)
            assert found[1] == 0 and found[0] == gradient(f"np.{name}", *[arg[0] for arg in args], which=at)


def test_products_know_zeros_to_the_second_derivative() -> None:
    x = np.array([2.0, 0.0, 0.0])
    for op, rest in [("np.prod", ()), ("np.cumprod", (0,))]:
        rule = lookup(op).vjp[0]
        g = np.ones_like(calling(op)(x, *rest))[()]
        moved = [rule(g, calling(op)(x + step, *rest), x + step, *rest) for step in np.eye(3) * 1e-6]
        wanted = {"np.prod": [[0, 0, 0], [0, 0, 2], [0, 2, 0]], "np.cumprod": [[0, 1, 0], [1, 0, 2], [0, 2, 0]]}[op]
        assert np.allclose((np.array(moved) - rule(g, calling(op)(x, *rest), x, *rest)) / 1e-6, wanted, atol=1e-4)


def test_what_is_not_known_is_refused() -> None:
    for op, args, kwargs in [
        ("np.quantile", (A, 0.5), {"method": "inverted_cdf"}),
        ("np.matmul", (C, C), {"axes": [(1, 2), (2, 1), (1, 2)]}),
        ("np.interp", (0.5, B, B), {"period": 1.0}),
        ("np.median", (A,), {"overwrite_input": True}),
    ]:
        with pytest.raises(NotImplementedError, match="derivative"):
            lookup(op).vjp[0](1.0, 1.0, *args, **kwargs)
