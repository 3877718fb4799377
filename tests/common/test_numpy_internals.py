"""NumPy's internals: layouts, the C API, loops, settings; and what happens where they differ."""

from __future__ import annotations

import contextvars
import ctypes
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.common import numpy_internals
from autograph.common.numpy_internals import LOOP_TYPE, matmul_loop, strided_loop, warns_of_underflows
from autograph.errors import EngineError
from autograph.runtime.dispatch.options import can_compile

FLOAT, INT = np.dtype(float), np.dtype(int)


def test_the_layout_is_known() -> None:
    assert numpy_internals.LAYOUT_PROBLEM == ""


@pytest.mark.parametrize(
    "name, offset, problem",
    [
        ("DATA", 32, "an array's data are not at 32"),
        ("NDIM", 64, "its dimensions are not at 64"),
        ("DTYPE", 48, "its dtype is not at 48"),
        ("FLAGS", 24, "its flags are not at 24"),
        ("SHAPE", 40, "its lengths are not at 40"),
        ("STRIDES", 32, "its strides are not at 32"),
        ("_CLASS", 3, "the C API does not have its class at 3"),
    ],
)
def test_the_problem_of_another_layout(name: str, offset: int, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numpy_internals, name, offset)
    assert numpy_internals._layout_problem() == problem


def test_a_numpy_without_its_c_api(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(np._core._multiarray_umath, "_ARRAY_API")  # type: ignore[attr-defined]
    assert numpy_internals._layout_problem() == "the C API does not have its class at 2"


@pytest.mark.skipif(not can_compile(), reason="needs llvmlite")
def test_with_another_layout_there_is_no_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The native engine says why; the default engine runs in Python, and `explain` says why."""
    from autograph.runtime.engines.native.llvm import target

    def total(xs: Any) -> Any:
        found = 0.0
        for x in xs:
            found += x
        return found

    monkeypatch.setattr(numpy_internals, "LAYOUT_PROBLEM", "its strides are not at 40")
    target.binding.cache_clear()
    try:
        with pytest.raises(EngineError, match=r"does not know this build of Python or NumPy \(its strides are not at"):
            ag.function(total, engine="native")(np.ones(3))
        staged, xs = ag.function(total, engine="auto"), np.ones(300_000)
        assert staged(xs) == staged(xs) == len(xs)
        told = str(staged.explain(xs))
        assert "this cannot become machine code" in told and "(its strides are not at 40)" in told
    finally:
        target.binding.cache_clear()


def test_a_loop_gives_what_the_ufunc_gives() -> None:
    loop = strided_loop(np.add, (FLOAT, FLOAT, FLOAT))
    assert loop is not None
    arrays = [np.array([1.0, 2, 3]), np.array([10.0, 20, 30]), np.zeros(3)]
    data = (ctypes.c_void_p * 3)(*(each.ctypes.data for each in arrays))
    count, strides = ctypes.c_ssize_t(3), (ctypes.c_ssize_t * 3)(8, 8, 8)
    LOOP_TYPE(loop.address)(loop.context, *map(ctypes.addressof, (data, count, strides)), loop.more)
    assert arrays[2].tolist() == [11, 22, 33]


def test_no_loop_is_known() -> None:
    assert strided_loop(np.add, (INT, FLOAT, FLOAT)) is None, "NumPy converts the first operand"
    assert strided_loop(np.add, (np.dtype(object),) * 3) is None, "it needs the GIL"


def test_the_loop_of_matmul(monkeypatch: pytest.MonkeyPatch) -> None:
    assert matmul_loop("d") and matmul_loop("f") and matmul_loop("d") != matmul_loop("f")
    for name, offset in (("_COUNTS", 20), ("_NUMBER", 52), ("_TYPES", 32)):
        with monkeypatch.context() as patched:
            patched.setattr(numpy_internals, name, offset)
            assert matmul_loop("d") is None, name


def test_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    variable, default = numpy_internals.SETTINGS
    assert contextvars.Context().run(variable.get) is default and not warns_of_underflows()
    with np.errstate(under="warn"):
        assert variable.get() is not default and warns_of_underflows()
    for name, other in {"POINTER": 24, "BUFFER": 16, "UNDERFLOWS": 7 << 3}.items():
        with monkeypatch.context() as patched:
            patched.setattr(numpy_internals, name, other)
            assert numpy_internals._settings() == (), name
    monkeypatch.delattr(np._core.umath, "_extobj_contextvar")  # type: ignore[attr-defined]
    assert numpy_internals._settings() == ()


@pytest.mark.parametrize("char", "fd")
def test_the_order_of_sums(char: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dtype = np.dtype(char)
    assert numpy_internals.sums_are_known(dtype)
    monkeypatch.setattr(numpy_internals, "PAIRWISE", 64)
    numpy_internals.sums_are_known.cache_clear()
    assert not numpy_internals.sums_are_known(dtype)
    monkeypatch.undo()
    numpy_internals.sums_are_known.cache_clear()
    x = np.random.default_rng(1).normal(size=5000).astype(dtype)
    if numpy_internals.SUMMED_AT_ONCE is None:
        assert numpy_internals._pairwise_sum(x) == np.add.reduce(x)


@pytest.mark.parametrize("char", "fd")
def test_rows_are_added_one_after_the_other(char: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dtype, known = np.dtype(char), numpy_internals.sums_of_rows_are_known
    assert known(dtype)
    monkeypatch.setattr(np, "zeros_like", np.ones_like)     # so that the sums differ
    assert not known.__wrapped__(dtype)


@pytest.mark.skipif(not can_compile(), reason="needs llvmlite")
def test_sums_of_another_order_are_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    from autograph.runtime.engines.native.kernels import elementwise

    def total(x: Any) -> Any:
        return (x * x).sum(axis=1), (x * x).max(axis=1)

    def compiled() -> bool:
        staged = ag.function(total, engine="native")
        x = np.random.default_rng(1).normal(size=(30, 200))
        for one, other in zip(staged(x), total(x)):
            assert one.tobytes() == other.tobytes()
        return "fadd" in "".join(kernel.compiled[0].code.text for kernel in staged.traces[-1].executable.native.kernels)

    assert compiled()
    monkeypatch.setattr(elementwise, "sums_are_known", lambda dtype: False)
    assert not compiled()
