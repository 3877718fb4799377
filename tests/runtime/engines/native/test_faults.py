"""Where machine code cannot be made, by a fault of this library or of its text for LLVM, that is what is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import InternalError
from autograph.runtime.engines.native import machine, products, region


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
        right = machine._Machine.object
        monkeypatch.setattr(machine._Machine, "object", lambda self, text, *more: right(self, text + "?", *more))

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
    with pytest.raises(InternalError, match="machine code of products of matrices cannot be made"):
        products.entry_of(lambda x, y: x @ y)


def test_errors_of_the_program_are_its_own() -> None:
    with pytest.raises(ValueError, match="operands could not be broadcast"):
        ag.function(lambda x, y: x * 2.5 + y, engine="native")(np.ones(3), np.ones(4))
