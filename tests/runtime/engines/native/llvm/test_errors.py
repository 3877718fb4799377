"""Where machine code cannot be made, by a fault of this library or of its text for LLVM, that is what is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.common import defects
from autograph.errors import InternalError
from autograph.runtime.engines.native import engine as native_engine
from autograph.runtime.engines.native.llvm import target
from autograph.runtime.engines.native.loops import region, tiering
from autograph.runtime.engines.native.matmul import small


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
    with pytest.raises(InternalError, match=r"test_errors.py:\d+: machine code of total cannot be made .*report"):
        ag.function(total, engine="native")(np.arange(3.0))


def test_of_the_entry_of_a_loop(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(region, "AGAIN", 1)     # it is made at the second call
    staged = ag.function(total, engine="native")
    assert staged(np.arange(3.0)) == 3.0
    wrong()
    with pytest.raises(InternalError, match=r"machine code of total cannot be made .*report"):
        staged(np.arange(3.0))


def test_of_a_kernel(wrong: Any) -> None:
    wrong()
    with pytest.raises(InternalError, match=r"test_errors.py:\d+: machine code of operations on arrays cannot be made"):
        ag.function(fused, engine="native")(np.arange(300.0))


def test_of_products(wrong: Any) -> None:
    wrong()
    product = small.Product(lambda x, y: x @ y, after=1)
    with pytest.raises(InternalError, match="machine code of products of matrices cannot be made"):
        product(np.eye(2), np.eye(2))


@pytest.fixture
def runs_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Errors of this library are not raised, as they are in all other tests, and none has been reported before."""
    monkeypatch.delenv("AUTOGRAPH_DEBUG")
    monkeypatch.setattr(defects, "_reported", set())


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
    product = small.Product(np.matmul, after=1)
    assert [product(np.eye(2), np.eye(2)).sum() for _ in range(3)] == [2.0, 2.0, 2.0]


def dividing(x: float, n: int) -> tuple[list[float], float]:
    seen, total = [0.0], 0.0
    for i in range(n):
        seen[0] += 1
        total += x / (i + 1)
        if i % 7 == 3:
            total = total * 10 ** 30 % 1e6
    return seen, total


def failing(x: float, n: int) -> float:
    total = 0.0
    for i in range(n):
        total += x / (20 - i)
    return total


def big(n: int) -> int:
    total = 1
    for i in range(n):
        total = total * 3 + i
    return total


def on_arrays(x: Any, n: int) -> Any:
    for i in range(n):
        x = x * 1.5 - x / (i + 1) + 2
    return x


def fail(*args: Any, **kwargs: Any) -> Any:
    raise KeyError("injected")


PARTS = [
    (native_engine, "Fuser"),
    (region, "Continuation"),
    (native_engine.Parted, "_finished"),
    (native_engine.Parted, "_make_around"),
]
CALLS = [(dividing, (2.0, 50)), (failing, (2.0, 50)), (big, (90,)), (on_arrays, (np.ones(500), 300))]


def outcome(function: Any, args: Any) -> Any:
    try:
        return repr(function(*args))
    except ZeroDivisionError as error:
        return str(error)


@pytest.mark.parametrize("engine", ["native", "auto"])
@pytest.mark.parametrize(("thing", "name"), PARTS)
@pytest.mark.parametrize(("function", "args"), CALLS)
def test_while_code_runs(
    thing: Any, name: str, function: Any, args: Any, engine: Any, runs_on: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fails once a call has begun: the NumPy engine goes on, or it is this library's error, not the program's."""
    monkeypatch.setattr(tiering, "PATIENCE", 0.0005)
    staged = ag.function(function, engine=engine)
    begun = staged.get_concrete_function(*args)     # traced and compiled
    monkeypatch.setattr(thing, name, fail)
    for _ in range(3):
        try:
            assert outcome(staged, args) == outcome(function, args)
        except InternalError as error:
            assert name == "Continuation" and "the rest of an iteration" in str(error)
    del begun


def test_the_rest_of_an_iteration_without_kernels(runs_on: None, caplog: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    staged = ag.function(big, engine="native")
    assert staged(5) == big(5)
    monkeypatch.setattr(native_engine, "Fuser", fail)
    assert [staged(60), staged(61)] == [big(60), big(61)]
    assert "kernels of big cannot be made (KeyError('injected')" in caplog.text
    assert "NumPy runs instead" in caplog.text


def test_errors_of_the_program_are_its_own() -> None:
    with pytest.raises(ValueError, match="operands could not be broadcast"):
        ag.function(lambda x, y: x * 2.5 + y, engine="native")(np.ones(3), np.ones(4))
