"""Finite differences: what the derivatives of ops are held against."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.engines.numpy.engine import compile
from autograph.runtime.graph.opdef import lookup
from autograph.runtime.graph.types import TensorType, type_of
from autograph.runtime.ops.gradients.adjoint_ops import fit
from autograph.runtime.ops.python.operators import python_function
from autograph.runtime.tracing.proxies.context import TraceContext
from autograph.runtime.tracing.state.trace import Trace


def close(actual: Any, wanted: Any, tolerance: float) -> bool:
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    return bool(np.all(np.abs(np.asarray(actual) - np.asarray(wanted)) <= tolerance * scale))


def numeric(function: Callable[..., Any], args: list[Any], which: int, g: Any) -> Any:
    """The gradient of `(g * function(*args)).sum()` in one argument, an array, number or list of these.

    In a complex argument it is that which `(gradient * change).sum().real` is the change of the sum's real part for.
    """

    def changed(value: Any) -> Any:
        return function(*args[:which], value, *args[which + 1 :])

    def gradient(value: Any, put: Callable[[Any], Any]) -> Any:
        if isinstance(value, (list, tuple)):
            return [gradient(part, lambda new, at=at: put([*value[:at], new, *value[at + 1 :]]))
                    for at, part in enumerate(value)]
        array = np.asarray(value)
        step = 1e-2 if array.dtype in (np.float32, np.complex64) else 1e-6
        exact = np.result_type(array, float)
        found = np.zeros(array.shape, exact)
        for at in np.ndindex(array.shape):
            for direction in (1, 1j) if array.dtype.kind == "c" else (1,):
                ends = []
                for sign in (1, -1):
                    moved = array.astype(exact)
                    moved[at] += sign * step * direction
                    moved = moved.astype(array.dtype) if isinstance(value, (np.ndarray, np.generic)) else moved.item()
                    ends.append(contract(g, changed(put(moved))))
                found[at] += (ends[0] - ends[1]) / (2 * step) * np.conj(direction)
        return found

    return gradient(args[which], lambda new: new)


def contract(g: Any, out: Any) -> float:
    if isinstance(out, (tuple, list)):
        return sum(contract(a, b) for a, b in zip(g, out))
    return float(np.sum(np.asarray(g, complex) * np.asarray(out)).real)


def cotangent(out: Any) -> Any:
    """Some gradient for what an op gave."""
    if isinstance(out, (tuple, list)):
        return tuple(map(cotangent, out))
    array = np.asarray(out)
    if array.dtype.kind not in "fc":
        return np.zeros(array.shape)
    parts = np.random.default_rng(array.size).normal(size=(2, *array.shape))
    found = (parts[0] + 1j * parts[1] if array.dtype.kind == "c" else parts[0]).astype(array.dtype)
    return found if isinstance(out, np.ndarray) else found[()]


def calling(op: str) -> Callable[..., Any]:
    """The function that an op is."""
    if op.startswith("."):
        return lambda x, *args, **kwargs: getattr(x, op[1:])(*args, **kwargs)
    function: Callable[..., Any] = lookup(op).target or getattr(builtins, op, None) or python_function(op)
    return function


def check(op: str, *args: Any, tolerance: float | None = None, hermitian: bool = False, **kwargs: Any) -> None:
    """Hold the derivatives of an op, in all its arguments that are floats, against finite differences.

    Args:
        hermitian: of the arguments, which are matrices, the op looks at one triangle.
    """
    definition = lookup(op)

    def call(*args: Any) -> Any:
        return calling(op)(*args, **kwargs)

    out = call(*args)
    g = cotangent(out)
    assert definition.vjp is not None, f"{op} has no derivative"
    checked = 0
    for which, rule in enumerate(definition.vjp):
        if rule is None or which >= len(args) or not _is_float(args[which]):
            continue
        actual = rule(g, out, *args, **kwargs)
        for lengths in (True, False):
            assert_same(staged(rule, lengths, g, out, args, kwargs), actual, op)
        wanted = numeric(call, list(args), which, g)
        for mine, theirs, primal in _leaves(actual, wanted, args[which]):
            fitted = fit(mine, primal)
            if hermitian:
                theirs = (theirs + np.conj(np.swapaxes(theirs, -1, -2))) / 2
            single = np.asarray(primal).dtype in (np.float32, np.complex64)
            assert np.shape(fitted) == np.shape(primal), f"{op} in argument {which}: {np.shape(fitted)}"
            near = close(fitted, theirs, tolerance or (2e-2 if single else 1e-5))
            assert near, f"{op} in argument {which}: {fitted} != {theirs}"
        checked += 1
    assert checked, f"{op} was not checked in any argument"


def staged(rule: Any, lengths: bool, g: Any, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What the rule gives by way of a graph, if it knows the lengths of axes or does not.

    All that is in the graph has derivatives in turn.
    """
    trace, values = Trace("rule", TraceContext()), []

    def proxy(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [*map(proxy, value)] if isinstance(value, list) else tuple(map(proxy, value))
        if not isinstance(value, (np.ndarray, np.generic)):
            return value
        values.append(value)
        found = type_of(value)
        if not lengths and isinstance(found, TensorType):
            found = TensorType(found.dtype, (None,) * found.ndim, found.kind)
        return trace.proxy(trace.block.add_param(found))

    result = rule(*map(proxy, (g, out, *args)), **{key: proxy(value) for key, value in kwargs.items()})
    for node in trace.block.nodes:
        kinds = {value.type.dtype.kind for value in node.outputs if isinstance(value.type, TensorType)}
        assert not kinds & {"f", "c"} or node.op == "unpack" or lookup(node.op).vjp, f"{node.op} has no derivative"
    trace.block.results = (trace.lower(result),)
    return compile(trace.graph)(*values)


def assert_same(actual: Any, wanted: Any, op: str) -> None:
    for mine, theirs in _leaves(actual, wanted):
        assert np.shape(mine) == np.shape(theirs) and np.array_equal(mine, theirs, equal_nan=True), f"{op} is staged"


def _leaves(*values: Any) -> list[tuple[Any, ...]]:
    """What belongs together in structures of the same form; an array may stand for a list."""
    if isinstance(values[-1], (list, tuple)):
        return [leaf for parts in zip(*values, strict=True) for leaf in _leaves(*parts)]
    return [values]


def _is_float(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_is_float, value))
    return np.asarray(value).dtype.kind in "fc"
