"""The derivatives of ops, against finite differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.runtime.derivatives import check

A = np.array([[0.3, -1.2, 0.8], [1.5, 0.1, -0.4]])
B = np.array([0.7, 1.1, -0.6])

CASES: list[tuple[Any, ...]] = [
    ("np.sin", A),
    ("np.sin", 0.3),
    ("np.sin", A.astype(np.float32)),
    ("np.multiply", A, B),
    ("np.multiply", A, 2.0),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case[0])
def test_derivative(case: tuple[Any, ...]) -> None:
    check(*case)
