"""`tf.py_function` and `tf.numpy_function`: Python that runs whenever the graph does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import as_dtype, numpy_dtype
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, eager, effect, run_later, wrap
from autograph.runtime.graph.effects import tame


def py_function(func: Callable[..., Any], inp: Any, Tout: Any, name: str | None = None) -> Any:
    """What a function of eager tensors gives, of the types `Tout`."""
    return _called(func, inp, Tout, lambda value, dtype: eager(value, dtype))


def numpy_function(
    func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: str | None = None
) -> Any:
    """What a function of NumPy's arrays gives, of the types `Tout`."""
    return _called(func, inp, Tout, lambda value, _: value)


def _called(function: Callable[..., Any], inp: Any, types: Any, given: Callable[..., Any]) -> Any:
    tensors = [convert_to_tensor(each) for each in inp]
    kinds = [as_dtype(getattr(each, "dtype", each)) for each in pytree.flatten(types)]

    def run(*values: Any) -> Any:
        with graphs.building(None):
            found = function(*(given(value, each.dtype) for value, each in zip(values, tensors)))
            leaves = [found] if not pytree.is_nested(types) else pytree.flatten(found)
            parts = [_of(convert_to_tensor(leaf), kind) for leaf, kind in zip(leaves, kinds)]
        return parts[0] if not pytree.is_nested(types) else tuple(parts)

    values = [each._value for each in tensors]
    graph = graphs.current()
    if not kinds:
        effect(lambda *values: run(*values) and None, *values)
        return []
    if not pytree.is_nested(types):
        return run_later("PyFunc", run, *values, dtype=kinds[0], shape=None)
    if graph is None:
        return [eager(part, kind) for part, kind in zip(run(*values), kinds)]
    parts = graph.trace.unpack(graph.trace.record("call", (tame(run), *values)), len(kinds))
    return [wrap(part, kind, TensorShape(None), "PyFunc") for part, kind in zip(parts, kinds)]


def _of(tensor: Tensor, dtype: Any) -> Any:
    value = tensor._value
    return value if tensor.dtype is dtype else value.astype(numpy_dtype(dtype))
