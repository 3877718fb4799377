"""Where machine code cannot be made, by a fault of this library or of its text for LLVM, that is what is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import InternalError
from autograph.runtime.engines.native import products, region, target


def total(xs: Any) -> Any:
    result = 0.0
    for x in xs:
        result += x
    return result


def fused(xs: Any) -> Any:
    return xs * 2.5 + xs


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    """From its call on, LLVM gets texts that it cannot read."""
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(tmp_path))

    def begin() -> None:
        right = target._Machine.object
        monkeypatch.setattr(target._Machine, "object", lambda self, text, *more: right(self, text + "?", *more))

    return begin


def test_of_a_loop(wrong: Any) -> None:
    wrong()
    with pytest.raises(InternalError, match=r"test_faults.py:17: machine code of total cannot be made .*please report"):
        ag.function(total, engine="native")(np.arange(3.0))


def test_of_the_entry_of_a_loop(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(region, "AGAIN", 1)     # it is made at the second call
    staged = ag.function(total, engine="native")
    assert staged(np.arange(3.0)) == 3.0
    wrong()
    with pytest.raises(InternalError, match=r"machine code of total cannot be made .*please report"):
        staged(np.arange(3.0))


def test_of_a_kernel(wrong: Any) -> None:
    wrong()
    with pytest.raises(InternalError, match=r"test_faults.py:23: machine code of operations on arrays cannot be made"):
        ag.function(fused, engine="native")(np.arange(300.0))


def test_of_products(wrong: Any) -> None:
    wrong()
    product = products.Product(lambda x, y: x @ y, after=1)
    with pytest.raises(InternalError, match="machine code of products of matrices cannot be made"):
        product(np.eye(2), np.eye(2))


@pytest.fixture
def runs_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of this library are not raised, as they are in all other tests."""
    monkeypatch.delenv("AUTOGRAPH_DEBUG")


@pytest.mark.parametrize(("function", "length", "expected"), [(total, 3, 3.0), (fused, 300, 3.5 * np.arange(300.0))])
def test_python_runs_instead(wrong: Any, runs_on: None, caplog: Any, function: Any, length: int, expected: Any) -> None:
    wrong()
    staged, xs = ag.function(function, engine="native"), np.arange(float(length))
    for _ in range(3):
        assert np.array_equal(staged(xs), expected)
    told = f"{staged.explain(xs).where(kind='native')}"
    assert "cannot be made" in told and "please report it with the traceback that AUTOGRAPH_DEBUG=1" in told
    assert len(caplog.records) == 1


def test_python_runs_instead_of_a_fast_entry(wrong: Any, runs_on: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(region, "AGAIN", 1)     # it is made at the second call
    staged = ag.function(total, engine="native")
    assert staged(np.arange(3.0)) == 3.0
    wrong()
    assert [staged(np.arange(float(n))) for n in range(3, 8)] == [3.0, 6.0, 10.0, 15.0, 21.0]


def test_numpy_multiplies_instead(wrong: Any, runs_on: None) -> None:
    wrong()
    product = products.Product(np.matmul, after=1)
    assert [product(np.eye(2), np.eye(2)).sum() for _ in range(3)] == [2.0, 2.0, 2.0]


def test_errors_of_the_program_are_its_own() -> None:
    with pytest.raises(ValueError, match="operands could not be broadcast"):
        ag.function(lambda x, y: x * 2.5 + y, engine="native")(np.ones(3), np.ones(4))
