"""The derivatives of ops that move elements of arrays, against finite differences."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from autograph.runtime.graph.opdef import lookup
from autograph.runtime.ops.gradients.adjoint_ops import fit
from tests.runtime.derivatives import check, close, cotangent, numeric

pytestmark = pytest.mark.once

A = np.array([[0.3, -1.2, 0.8], [1.5, 0.1, -0.4]])
V = np.array([0.7, 1.1, -0.6])
S = np.array([[0.5, -0.9, 1.3], [0.2, 1.7, -1.1], [0.6, -0.3, 0.9]])
D = np.random.default_rng(0).normal(size=(2, 3, 4))
SINGLE = D.astype(np.float32)
COMPLEX = S + 1j * S.T[::-1]

Case = tuple[Any, ...]

SHAPE: list[Case] = [
    ("np.reshape", A, (3, 2)),
    ("np.reshape", A, (3, 2), "F"),
    ("np.reshape", np.asfortranarray(A), (3, 2), "A"),
    ("np.reshape", A, -1),
    (".reshape", A, 3, 2),
    (".reshape", SINGLE, (6, -1)),
    (".reshape", A, 3, -1, {"order": "F"}),
    (".ravel", A),
    ("np.ravel", A, "F"),
    ("np.ravel", A.T, "K"),
    (".flatten", D, "F"),
    ("np.expand_dims", A, 1),
    ("np.expand_dims", A, (0, -1)),
    ("np.squeeze", A[None]),
    (".squeeze", A[:, None], 1),
    ("np.atleast_1d", 0.5),
    ("np.atleast_2d", V, A),
    ("np.atleast_3d", V, A, D),
    ("np.broadcast_to", V, (2, 3)),
    ("np.broadcast_to", A[:, :1], (2, 2, 4)),
    ("np.broadcast_arrays", A, V, 0.5),
    ("np.resize", A, (2, 5)),
    ("np.resize", A, 4),
    ("np.transpose", D),
    ("np.transpose", D, (1, 2, 0)),
    ("np.transpose", SINGLE, (-1, 0, 1)),
    (".transpose", D, 2, 0, 1),
    (".transpose", D, (2, 0, 1)),
    (".transpose", A),
    ("np.matrix_transpose", D),
    ("np.swapaxes", D, 0, 2),
    (".swapaxes", D, -1, 1),
    ("np.moveaxis", D, 0, -1),
    ("np.moveaxis", D, (0, 1), (2, 0)),
    *(("np.rollaxis", D, axis, start) for axis in (0, 1, -1) for start in (0, 1, 3, -1)),
    ("np.flip", D),
    ("np.flip", D, 1),
    ("np.flip", D, (0, 2)),
    ("np.flipud", A),
    ("np.fliplr", A),
    ("np.roll", A, 2),
    ("np.roll", D, (1, -1), (0, 2)),
    ("np.roll", SINGLE, 1, 1),
    ("np.rot90", A),
    ("np.rot90", D, -1, (1, 2)),
    ("getattr", D, "T"),
    ("getattr", D, "mT"),
    ("getattr", COMPLEX, "real"),
    ("getattr", COMPLEX, "imag"),
    ("getattr", A, "real"),
]

CREATION: list[Case] = [
    ("np.array", [0.5, 1.5]),
    ("np.array", [[0.5, 1.5], [V[0], V[1]]]),
    ("np.array", [V, V * 2]),
    ("np.array", [V, V * 2], {"ndmin": 4}),
    ("np.asarray", A),
    ("np.copy", A),
    (".copy", A),
    (".item", A, 4),
    (".item", A, 1, 2),
    (".item", V[:1]),
    ("np.ascontiguousarray", 0.5),
    ("np.tril", S),
    ("np.tril", D, 1),
    ("np.tril", V),
    ("np.triu", A, -1),
    ("np.diag", V),
    ("np.diag", V, -1),
    ("np.diag", A),
    ("np.diag", S, 1),
    ("np.diagflat", A, 1),
    ("np.meshgrid", V, A[0, :2]),
    ("np.meshgrid", V, A[0, :2], V, {"indexing": "ij"}),
    ("np.meshgrid", V, A[0, :2], V, {"sparse": True}),
    ("np.meshgrid", V),
    ("np.vander", V),
    ("np.vander", V, 2, True),
    ("np.linspace", 0.5, 2.0, 5),
    ("np.linspace", V, V * 2, 4, {"endpoint": False, "axis": -1}),
    ("np.linspace", 0.5, 2.0, 5, {"retstep": True}),
    ("np.linspace", 0.5, 2.0, 1),
    ("np.full", (2, 3), 0.5),
    ("np.full", (2, 3), V),
    ("np.full_like", A, 0.5),
]

JOINING: list[Case] = [
    ("np.concatenate", [A, S]),
    ("np.concatenate", (A, A[:, :1]), 1),
    ("np.concatenate", [A, V], None),
    ("np.concatenate", [D, SINGLE], -1),
    ("np.concatenate", D, 1),
    ("np.stack", [V, A[0]]),
    ("np.stack", [A, A * 2], -1),
    ("np.stack", D, 1),
    ("np.vstack", [V, A]),
    ("np.vstack", [V, 2 * V]),
    ("np.hstack", [V, V]),
    ("np.hstack", [A, A]),
    ("np.hstack", [0.5, V]),
    ("np.dstack", [V, V]),
    ("np.dstack", [A, A]),
    ("np.dstack", [D, D]),
    ("np.column_stack", [V, S]),
    ("np.block", [[A, A[:, :1]], [S, V[:, None]]]),
    ("np.block", [V, 0.5]),
    ("np.block", [A, A]),
    ("np.append", A, V),
    ("np.append", A, A, 0),
    ("np.insert", V, 1, 0.5),
    ("np.insert", A, 1, V, 0),
    ("np.insert", A, [0, 2], V[:2, None], 1),
    ("np.delete", A, 1),
    ("np.delete", A, 0, 1),
    ("np.delete", D, [0, 2], 1),
    ("np.tile", V, 2),
    ("np.tile", A, (2, 1, 2)),
    ("np.tile", D, (2, 2)),
    ("np.repeat", A, 2),
    ("np.repeat", A, 3, 1),
    ("np.repeat", A, [1, 2], 0),
    (".repeat", D, 2, -1),
    ("np.pad", V, 1),
    ("np.pad", A, (1, 2), {"constant_values": 3.0}),
    ("np.pad", A, ((1, 0), (2, 3))),
    ("np.pad", A, ((1, 2),), "edge"),
    ("np.pad", A, ((0, 1), (2, 2)), "reflect"),
    ("np.pad", A, 2, "wrap"),
    ("np.pad", A, 1, "symmetric"),
    ("np.split", V, 3),
    ("np.split", D, [1, 3], 2),
    ("np.array_split", V, 2),
    ("np.hsplit", A, 3),
    ("np.hsplit", V, 3),
    ("np.vsplit", A, 2),
    ("np.dsplit", D, 2),
    ("np.unstack", A),
    ("np.unstack", D, {"axis": 1}),
]


SELECTION: list[Case] = [
    ("np.take", A, [4, 0, 4]),
    ("np.take", A, np.array([[0, 1], [2, 2]]), 1),
    ("np.take", A, 1, -1),
    ("np.take", A, [5, 1], None, {"mode": "wrap"}),
    (".take", D, [0, 2, 2], 1),
    (".take", A, 3),
    ("np.take_along_axis", A, np.array([[0, 2, 2, 1], [1, 1, 0, 0]]), 1),
    ("np.take_along_axis", A, np.array([4, 0, 4]), None),
    ("np.compress", [True, False, True], A, 1),
    (".compress", A, [False, True], 0),
    ("np.extract", A > 0, A),
    ("np.choose", np.array([1, 0, 1]), [V, A]),
    (".choose", np.array([1, 3, -1]), [V, 2 * V], {"mode": "wrap"}),
    (".choose", np.array([1, 0, -1]), V, 2 * V, {"mode": "clip"}),
    ("np.diagonal", S, 1),
    (".diagonal", D, -1, 0, 2),
    ("np.linalg.diagonal", D, {"offset": 1}),
    ("np.select", [A > 0, A > -1], [A, 2 * A], 0.5),
    ("np.select", [V > 0, V < 1], [V, 0.3]),
    ("getitem", A, 1),
    ("getitem", A, (slice(None), [0, 0, 2])),
    ("getitem", A, (..., None, slice(None, None, -2))),
    ("getitem", D, np.array([[1, 0], [1, 1]])),
    ("getitem", D, D > 0),
    ("getitem", D, ([0, 1, 0], slice(1, 3), [1, 1, 1])),
    ("getitem", SINGLE, (1, 2, 3)),
]

SORTING: list[Case] = [
    ("np.sort", A),
    ("np.sort", D, 1),
    ("np.sort", A.astype(np.float32), None),
    ("np.partition", A, 1),
    ("np.partition", D[0], 2, 0),
    ("np.partition", D, 7, None),
    ("np.unique", A),
    ("np.unique", A, True, False, True),
    ("np.unique", A[::-1], {"axis": 0}),
    ("np.bincount", np.array([0, 2, 2]), V),
]

TRANSFORMS: list[Case] = [
    *(
        (f"np.fft.{name}", a, n, -1, norm)
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for a in ((V,) if name in ("rfft", "ihfft") else (V, COMPLEX))
        for n in (None, 2, 5)
        for norm in (None, "ortho", "forward")
    ),
    ("np.fft.fft", D, None, 0),
    ("np.fft.rfft", D),
    ("np.fft.rfft", D, None, 1),
    ("np.fft.irfft", COMPLEX, 4, 0),
    ("np.fft.fft", SINGLE),
    *((f"np.fft.{name}", D) for name in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn")),
    ("np.fft.fftn", COMPLEX, (2, 4), (1, 0)),
    ("np.fft.rfftn", D, (2, 5), (0, 2), "ortho"),
    ("np.fft.irfftn", COMPLEX, (2, 5), (1, 0)),
    ("np.fft.fftshift", V),
    ("np.fft.ifftshift", A, 1),
]

POLYNOMIALS: list[Case] = [
    ("np.polyval", V, A),
    ("np.polyval", [0.5, 0.3], 2.0),
    ("np.polyval", [0.5], V),
    ("np.polyder", V),
    ("np.polyder", D[0, 0], 2),
    ("np.polyint", V),
    ("np.polyint", V, 2, [0.5, 0.3]),
    ("np.polyint", V, 2, 0.5),
    ("np.polyadd", V, V[:2]),
    ("np.polysub", V[:2], V),
    ("np.polymul", V, V[:2]),
    ("np.roots", np.array([1.0, -0.5, 1.3, 0.2])),
    ("np.polyfit", np.array([0.1, 0.5, 0.9, 1.4]), D[0, 0], 2),
    ("np.polyfit", np.array([0.1, 0.5, 0.9, 1.4]), D[0].T, 1),
]


CASES = SHAPE + CREATION + JOINING + SELECTION + SORTING + TRANSFORMS + POLYNOMIALS


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0].removeprefix("np."))
def test_derivative(case: Case) -> None:
    options = case[-1] if isinstance(case[-1], dict) else {}
    args = case[: len(case) - bool(options)]
    if hasattr(np, args[0].removeprefix("np.").removeprefix(".")) or args[0][0] != "n":
        check(*args, **options)


DRAWS: list[Case] = [
    *((f"np.random.{name}", V, np.array(1.5)) for name in ("normal", "laplace", "logistic", "gumbel", "lognormal")),
    ("np.random.uniform", V, np.array([2.0, 3.0, 4.0])),
    ("np.random.exponential", np.array([0.5, 2.0])),
    ("np.random.rayleigh", np.array(2.0)),
    ("random.uniform", 0.5, 1.5),
    ("random.gauss", 0.5, 1.5),
    ("random.expovariate", 1.5),
    ("random.lognormvariate", 0.5, 1.5),
]


@pytest.mark.parametrize("case", DRAWS, ids=lambda case: case[0])
def test_derivative_for_the_same_draws(case: Case) -> None:
    op, *args = case
    definition = lookup(op)

    def draw(*args: Any) -> Any:
        np.random.seed(0)
        random.seed(0)
        return definition.target(*args)

    out = draw(*args)
    assert definition.vjp is not None
    for which, rule in enumerate(definition.vjp):
        assert rule is not None
        found = fit(rule(cotangent(out), out, *args), args[which])
        assert close(found, numeric(draw, list(args), which, cotangent(out)), 1e-5)


def test_derivative_of_a_draw_of_a_generator() -> None:
    rule = lookup(".normal").vjp[2]
    assert rule(1.0, 2.5, np.random.default_rng(0), 0.5, 4.0) == 0.5
