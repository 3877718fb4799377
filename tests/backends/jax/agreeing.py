"""Compares a call under `jax.jit(ag.convert(f))` with the plain call on NumPy's arrays."""

from __future__ import annotations

import contextlib
import copy
import io
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import autograph as ag


def agrees(function: Callable[..., Any], *args: Any) -> None:
    """Assert that a call returns and prints the same when JAX computes it."""
    wanted, said = printed(function, args)
    actual, says = printed(jax.jit(ag.convert(function)), args)
    assert jax.tree.structure(actual) == jax.tree.structure(wanted)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12), actual, wanted)
    assert says == said


def printed(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[Any, str]:
    """What a call returns, and prints."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        result = jax.block_until_ready(function(*copy.deepcopy(args)))
        jax.effects_barrier()
    return result, output.getvalue()


def refuses(function: Callable[..., Any], *args: Any) -> str:
    """Return the message of the error with which staging refuses a call; it names the file of the function."""
    try:
        result = jax.jit(ag.convert(function))(*args)
    except ag.errors.StagingError as error:
        assert error.filename == function.__code__.co_filename
        return error.message
    raise AssertionError(f"not refused: {result}")
