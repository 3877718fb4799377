"""Finite differences: what the derivatives of ops are held against."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.opdef import lookup
from autograph.runtime.ops.adjoints import fit
from autograph.runtime.ops.operators import python_function


def close(actual: Any, wanted: Any, tolerance: float) -> bool:
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    return bool(np.all(np.abs(np.asarray(actual) - np.asarray(wanted)) <= tolerance * scale))


def numeric(function: Callable[..., Any], args: list[Any], which: int, g: Any) -> Any:
    """The gradient of `(g * function(*args)).sum()` in one argument, an array, number or list of these."""

    def changed(value: Any) -> Any:
        return function(*args[:which], value, *args[which + 1 :])

    def gradient(value: Any, put: Callable[[Any], Any]) -> Any:
        if isinstance(value, (list, tuple)):
            return [gradient(part, lambda new, at=at: put([*value[:at], new, *value[at + 1 :]]))
                    for at, part in enumerate(value)]
        array = np.asarray(value)
        step = 1e-2 if array.dtype == np.float32 else 1e-6
        found = np.zeros(array.shape)
        for at in np.ndindex(array.shape):
            ends = []
            for sign in (1, -1):
                moved = array.astype(float) if array.dtype.kind == "f" else array.copy()
                moved[at] += sign * step
                moved = moved.astype(array.dtype) if isinstance(value, (np.ndarray, np.generic)) else moved.item()
                ends.append(contract(g, changed(put(moved))))
            found[at] = (ends[0] - ends[1]) / (2 * step)
        return found

    return gradient(args[which], lambda new: new)


def contract(g: Any, out: Any) -> float:
    if isinstance(out, (tuple, list)):
        return sum(contract(a, b) for a, b in zip(g, out))
    return float(np.sum(np.asarray(g, float) * np.asarray(out, float)))


def cotangent(out: Any) -> Any:
    """Some gradient for what an op gave."""
    if isinstance(out, (tuple, list)):
        return tuple(map(cotangent, out))
    array = np.asarray(out)
    if array.dtype.kind not in "fc":
        return np.zeros(array.shape)
    found = np.random.default_rng(array.size).normal(size=array.shape).astype(array.dtype)
    return found if isinstance(out, np.ndarray) else found[()]


def check(op: str, *args: Any, tolerance: float | None = None, **kwargs: Any) -> None:
    """Hold the derivatives of an op, in all its arguments that are floats, against finite differences."""
    definition = lookup(op)

    def call(*args: Any) -> Any:
        if op.startswith("."):
            return getattr(args[0], op[1:])(*args[1:], **kwargs)
        return (definition.target or python_function(op))(*args, **kwargs)

    out = call(*args)
    g = cotangent(out)
    assert definition.vjp is not None, f"{op} has no derivative"
    checked = 0
    for which, rule in enumerate(definition.vjp):
        if rule is None or which >= len(args) or not _is_float(args[which]):
            continue
        actual = rule(g, out, *args, **kwargs)
        wanted = numeric(call, list(args), which, g)
        pairs = zip(actual, wanted, args[which]) if isinstance(wanted, list) else [(actual, wanted, args[which])]
        for mine, theirs, primal in pairs:
            fitted = fit(mine, primal)
            single = getattr(np.asarray(primal), "dtype", None) == np.float32
            assert np.shape(fitted) == np.shape(primal), f"{op} in argument {which}: {np.shape(fitted)}"
            near = close(fitted, theirs, tolerance or (2e-2 if single else 1e-5))
            assert near, f"{op} in argument {which}: {fitted} != {theirs}"
        checked += 1
    assert checked, f"{op} was not checked in any argument"


def _is_float(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_is_float, value))
    return np.asarray(value).dtype.kind in "fc"
