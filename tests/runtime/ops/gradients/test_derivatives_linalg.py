"""The derivatives of products, equations, decompositions and norms of matrices, against finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.runtime.derivatives import check

pytestmark = pytest.mark.once

RNG = np.random.default_rng(1)
A, B, V, W = RNG.normal(size=(2, 3)), RNG.normal(size=(3, 4)), RNG.normal(size=3), RNG.normal(size=4)
D, E = RNG.normal(size=(2, 2, 3)), RNG.normal(size=(2, 3, 2))
S = RNG.normal(size=(3, 3)) + 2 * np.eye(3)
STACK = RNG.normal(size=(2, 3, 3)) + 2 * np.eye(3)
COMPLEX = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3)) + 2 * np.eye(3)
COLUMN = RNG.normal(size=3) + 1j * RNG.normal(size=3)
TALL, WIDE = RNG.normal(size=(4, 3)), RNG.normal(size=(2, 3, 4))
POSITIVE = STACK @ np.swapaxes(STACK, -1, -2) + np.eye(3)
HERMITIAN = COMPLEX @ np.conj(COMPLEX.T) + np.eye(3)

Case = tuple[Any, ...]


def single(a: Any) -> Any:
    return a.astype(np.float32)


PRODUCTS: list[Case] = [
    *(
        (name, a, b)
        for name in ("np.dot", ".dot")
        for a, b in ((V, V), (A, V), (V, B), (A, B), (D, E), (D, B), (A, E), (D, V), (single(A), single(B)), (A, 2.0))
    ),
    ("np.dot", 2.0, V),
    ("np.dot", COMPLEX, COLUMN),
    ("np.dot", [0.5, 1.5], [0.3, 0.2]),
    ("np.inner", V, V),
    ("np.inner", A, V),
    ("np.inner", D, A),
    ("np.inner", A, 0.5),
    ("np.vdot", A, A[::-1]),
    ("np.vdot", COLUMN, COLUMN[::-1]),
    ("np.outer", V, W),
    ("np.outer", A, single(V)),
    ("np.linalg.outer", V, W),
    ("np.linalg.multi_dot", [A, B]),
    ("np.linalg.multi_dot", [A, S, B, W]),
    ("np.linalg.multi_dot", (V, S, B)),
    ("np.linalg.multi_dot", [V, S, V]),
    ("np.tensordot", A, B, 1),
    ("np.tensordot", D, E),
    ("np.tensordot", V, W, 0),
    ("np.tensordot", D, E, ([2, 0], [1, 0])),
    ("np.tensordot", D, E, ([0, 2], [2, 1])),
    ("np.tensordot", D, B, (-1, 0)),
    ("np.linalg.tensordot", A, B, {"axes": 1}),
    ("np.linalg.matmul", D, E),
    ("np.linalg.vecdot", A, V),
    ("np.linalg.vecdot", COMPLEX, COLUMN),
    ("np.linalg.vecdot", D, E.swapaxes(1, 2), {"axis": 1}),
    ("np.linalg.trace", STACK),
    ("np.linalg.trace", TALL, {"offset": -1}),
    ("np.kron", A, B),
    ("np.kron", V, A),
    ("np.kron", D, V),
    ("np.kron", single(A), single(V)),
    ("np.cross", V, S),
    ("np.cross", S, STACK, {"axisa": 0}),
    ("np.cross", S, S.T, {"axis": 0}),
    ("np.cross", S, STACK, 0, 1, 0),
    ("np.linalg.cross", V, S),
    ("np.convolve", V, W),
    ("np.convolve", single(V), single(W)),
    ("np.convolve", COLUMN, W),
    *((name, a, b, mode) for name in ("np.convolve", "np.correlate") for mode in ("full", "same", "valid")
      for a, b in ((V, W), (W, V), (W, V[:2]), (V[:2], W), (W, COLUMN))),
    ("np.correlate", W, V),
]  # fmt: skip

EINSUM: list[Case] = [
    ("np.einsum", "ij,jk->ik", A, B),
    ("np.einsum", "ij,jk", A, B, {"optimize": True}),
    ("np.einsum", "ij->ji", A),
    ("np.einsum", "ij->", single(A)),
    ("np.einsum", "ij->j", A),
    ("np.einsum", "ii->i", S),
    ("np.einsum", "ii", S),
    ("np.einsum", "ii,i->", S, V),
    ("np.einsum", "i,j->ji", V, W),
    ("np.einsum", "i,i,ij->j", V, V, S),
    ("np.einsum", "...ij,...jk->...ik", D, S),
    ("np.einsum", "...ij,jk", D, S),
    ("np.einsum", "i...,i...->...", STACK, STACK[:, :1]),
    ("np.einsum", "ij,kj->i", A, S),
    ("np.einsum", A, [0, 1], B, [1, 2], [0, 2]),
    ("np.einsum", S, [0, 0]),
    ("np.einsum", D, [..., 0, 1], S, [1, 2], [..., 0, 2]),
]

EQUATIONS: list[Case] = [
    ("np.linalg.inv", S),
    ("np.linalg.inv", STACK),
    ("np.linalg.inv", COMPLEX),
    ("np.linalg.inv", single(S)),
    ("np.linalg.solve", S, V),
    ("np.linalg.solve", S, B),
    ("np.linalg.solve", STACK, B),
    ("np.linalg.solve", STACK, V),
    ("np.linalg.solve", S, E),
    ("np.linalg.solve", COMPLEX, COLUMN),
    ("np.linalg.pinv", TALL),
    ("np.linalg.pinv", WIDE),
    ("np.linalg.pinv", COMPLEX[:2]),
    ("np.linalg.det", S),
    ("np.linalg.det", STACK),
    ("np.linalg.det", COMPLEX),
    ("np.linalg.det", single(S)),
    ("np.linalg.det", np.outer(V, V)),
    ("np.linalg.det", np.diag([1.0, 2.0, 0.0])),
    ("np.linalg.det", np.array([STACK[0], np.outer(V, W[1:]) + np.outer(V[::-1], W[:3])])),
    ("np.linalg.slogdet", S),
    ("np.linalg.slogdet", -STACK),
    ("np.linalg.slogdet", COMPLEX),
    *(("np.linalg.matrix_power", S, n) for n in (-3, -1, 0, 1, 2, 5)),
    ("np.linalg.matrix_power", STACK, 3),
    ("np.linalg.lstsq", TALL, W),
    ("np.linalg.lstsq", TALL, RNG.normal(size=(4, 2)), None),
    ("np.linalg.lstsq", B, V),
    ("np.linalg.lstsq", COMPLEX[:, :2], COLUMN),
    ("np.linalg.tensorinv", RNG.normal(size=(2, 3, 3, 2)) + np.eye(6).reshape(2, 3, 3, 2)),
    ("np.linalg.tensorinv", RNG.normal(size=(4, 2, 2)), 1),
    ("np.linalg.tensorsolve", RNG.normal(size=(2, 3, 6)), A),
    ("np.linalg.tensorsolve", RNG.normal(size=(6, 2, 3)), A, (0,)),
]

DECOMPOSITIONS: list[Case] = [
    ("np.linalg.qr", S),
    ("np.linalg.qr", STACK),
    ("np.linalg.qr", TALL),
    ("np.linalg.qr", WIDE),
    ("np.linalg.qr", TALL, "r"),
    ("np.linalg.qr", COMPLEX),
    ("np.linalg.svd", S),
    ("np.linalg.svd", TALL, False),
    ("np.linalg.svd", WIDE, False),
    ("np.linalg.svd", WIDE, {"compute_uv": False}),
    ("np.linalg.svd", COMPLEX, True, False),
    ("np.linalg.svd", single(STACK), {"compute_uv": False}),
    ("np.linalg.svdvals", TALL),
    ("np.linalg.eig", np.array([[1.0, 0.3, 0.1], [0.2, 2.0, 0.3], [0.1, 0.5, 3.0]])),
    ("np.linalg.eigvals", np.array([[1.0, 0.3, 0.1], [0.2, 2.0, 0.3], [0.1, 0.5, 3.0]])),
    ("np.linalg.eigvals", np.array([[1.0, 2.0], [-3.0, 1.5]])),
    ("np.linalg.eigvals", COMPLEX),
]

SYMMETRIC: list[Case] = [
    ("np.linalg.cholesky", POSITIVE),
    ("np.linalg.cholesky", single(POSITIVE[0])),
    ("np.linalg.cholesky", HERMITIAN),
    ("np.linalg.cholesky", POSITIVE, {"upper": True}),
    ("np.linalg.cholesky", HERMITIAN, {"upper": True}),
    ("np.linalg.eigh", POSITIVE),
    ("np.linalg.eigh", POSITIVE, "U"),
    ("np.linalg.eigvalsh", POSITIVE),
    ("np.linalg.eigvalsh", HERMITIAN),
]

NORMS: list[Case] = [
    *(("np.linalg.norm", V, ord) for ord in (None, 1, 2, 3, 0.5, 0, -1, -2, np.inf, -np.inf)),
    *(("np.linalg.norm", S, ord) for ord in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)),
    *(("np.linalg.norm", STACK, ord, 1) for ord in (None, 1, 3, np.inf)),
    *(("np.linalg.norm", WIDE, ord, (2, 0)) for ord in (None, "fro", "nuc", 1, 2, np.inf)),
    *(("np.linalg.norm", COMPLEX, ord) for ord in (None, "nuc", 1, 2, np.inf)),
    *(("np.linalg.norm", COLUMN, ord) for ord in (None, 1, 3, np.inf)),
    ("np.linalg.norm", STACK),
    ("np.linalg.norm", single(STACK), None, -1, True),
    ("np.linalg.norm", STACK, "nuc", (0, 1), {"keepdims": True}),
    ("np.linalg.norm", STACK, 2, (-1, -2), {"keepdims": True}),
    ("np.linalg.vector_norm", STACK),
    ("np.linalg.vector_norm", STACK, {"axis": (0, 2), "ord": 3}),
    ("np.linalg.vector_norm", STACK, {"axis": (0, 2), "ord": np.inf, "keepdims": True}),
    ("np.linalg.matrix_norm", STACK),
    ("np.linalg.matrix_norm", STACK, {"ord": "nuc"}),
    *(("np.linalg.cond", S, p) for p in (None, 2, -2, "fro", 1, -1, np.inf)),
    ("np.linalg.cond", STACK),
    ("np.linalg.cond", COMPLEX),
]


def run(case: Case, **more: Any) -> None:
    options = case[-1] if isinstance(case[-1], dict) else {}
    args = case[: len(case) - bool(options)]
    check(*args, **options, **more)


@pytest.mark.parametrize(
    "case", PRODUCTS + EINSUM + EQUATIONS + DECOMPOSITIONS + NORMS, ids=lambda case: case[0].removeprefix("np.")
)
def test_derivative(case: Case) -> None:
    run(case)


@pytest.mark.parametrize("case", SYMMETRIC, ids=lambda case: case[0].removeprefix("np."))
def test_derivative_for_symmetric_matrices(case: Case) -> None:
    run(case, hermitian=True)
