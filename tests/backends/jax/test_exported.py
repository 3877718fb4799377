"""Converted functions exported by `jax.export`, also for any size, and run after they are read back."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("flatbuffers")

from jax import export  # noqa: E402

import autograph as ag  # noqa: E402
from tests.backends.jax.functions import module, names  # noqa: E402
from tests.backends.jax.running import copied, on_jax, on_numpy, same  # noqa: E402

jnp = jax.numpy
pytestmark = pytest.mark.once
NAMES = list(names())[::4]
# Callbacks check variables and bounds of loops when the program runs; JAX does not export these.
WITH_CALLBACKS = frozenset("found_or_else newton_root while_with_break return_from_while euclid writes_until".split())


def read_back(program: Any, *specs: Any) -> Any:
    """What an exported program is in another process: its bytes, called."""
    exported = export.export(jax.jit(ag.convert(program)))(*specs)
    return jax.jit(export.deserialize(exported.serialize()).call)


def specs_of(args: Any) -> Any:
    return [jax.ShapeDtypeStruct(np.shape(arg), np.asarray(arg).dtype) for arg in args]


@pytest.mark.parametrize(("theme", "name"), NAMES, ids=[".".join(pair) for pair in NAMES])
def test_exported(theme: str, name: str) -> None:
    function = getattr(module(theme), name)
    if name in WITH_CALLBACKS:
        with pytest.raises(NotImplementedError, match="host_callbacks"):
            read_back(function, *specs_of(function.example))
        return
    called = read_back(function, *specs_of(function.example))
    same(called(*on_jax(function.example)), getattr(on_numpy(module(theme)), name)(*copied(function.example)))


def test_export_keeps_derivatives() -> None:
    exported = export.export(jax.jit(ag.convert(module("loops").sum_of_squares)))(*specs_of([np.ones(3)]))
    called = export.deserialize(exported.serialize(vjp_order=1)).call
    same(jax.grad(called)(jnp.array([1.0, 2.0, 3.0])), np.array([2.0, 4.0, 6.0]))


ANY_SIZE = {
    "branches": "huber",
    "loops": "sum_of_squares positive_part until_limit dot_by_zip weighted_by_enumerate long_loop_with_break "
             "long_loop_with_continue largest first_above_one",
    "stores": "by_mask",
    "state": "attributes dict_in_loop",
}  # fmt: skip
SIZED = [(theme, name) for theme, listed in ANY_SIZE.items() for name in listed.split()]


@pytest.mark.parametrize(("theme", "name"), SIZED, ids=[".".join(pair) for pair in SIZED])
def test_exported_for_any_size(theme: str, name: str) -> None:
    function, plain = getattr(module(theme), name), getattr(on_numpy(module(theme)), name)
    count = len(function.example)
    size = export.symbolic_shape("n", constraints=["n >= 2"])
    called = read_back(function, *[jax.ShapeDtypeStruct(size, np.dtype(float))] * count)
    for length in (2, 3, 17):
        args = [np.linspace(-1.0, 2.0, length)] * count
        same(called(*args), plain(*copied(args)))


def test_rows_of_any_number() -> None:
    def f(m: Any) -> Any:
        best = m[0]
        for row in m:
            if row.sum() > best.sum():
                best = row
        return best

    rows, columns = export.symbolic_shape("r, c", constraints=["r >= 1", "c >= 1"])
    called = read_back(f, jax.ShapeDtypeStruct((rows, columns), np.dtype(float)))
    for shape in ((1, 1), (4, 2), (3, 7)):
        m = np.random.default_rng(0).standard_normal(shape)
        same(called(m), m[m.sum(axis=1).argmax()])


def by_index(x: Any) -> Any:
    total, doubled = 0.0, jnp.zeros(len(x))
    for i in range(len(x)):
        doubled[i] = 2 * x[i]
        if x[i] > 0:
            total += x[i]
    return total, doubled


def until(x: Any) -> Any:
    total, i = 0.0, 0
    while i < len(x):
        total += x[i]
        i += 1
        if total > 3:
            break
    return total, len(x) - i


@pytest.mark.parametrize("function", [by_index, until])
def test_len_of_any_size(function: Any) -> None:
    called = read_back(function, jax.ShapeDtypeStruct(export.symbolic_shape("n"), np.dtype(float)))
    plain = FunctionType(function.__code__, {"jnp": np})
    for length in (1, 2, 9):
        x = np.linspace(-1.0, 2.0, length)
        same(called(x), plain(x))
