"""Placeholders for the tensors of a model, and the calls of layers with them; `functional.py` makes models of these.

A layer that is called with a `KerasTensor` computes nothing: it notes the call as a `Node`, and returns `KerasTensor`s
for the results.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Mapping
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.core import dtypes, graphs
from autograph.compat.tensorflow.core.shapes import TensorShape, TensorSpec
from autograph.compat.tensorflow.staging.function import function

_numbers = itertools.count()
_calls: weakref.WeakKeyDictionary[Any, list[Node]] = weakref.WeakKeyDictionary()


def calls_of(layer: Any) -> list[Node]:
    """The calls of a layer with placeholders, in their order."""
    return _calls.setdefault(layer, [])


class KerasTensor:
    """The tensors that a layer will get or give: a shape and a dtype.

    Attributes:
        node: the call that gives it.
    """

    __array_priority__ = 1000.0

    def __init__(self, shape: Any, dtype: Any, node: Node, name: str) -> None:
        self.shape = TensorShape(shape)
        self.dtype = dtypes.as_dtype(dtype)
        self.node = node
        self.name = name

    @property
    def ndim(self) -> int | None:
        return self.shape.rank

    def __bool__(self) -> bool:
        raise TypeError(f"{self!r} has no value: use layers in place of Python's control flow")

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise ValueError(
            f"A KerasTensor cannot be used as input to a TensorFlow function: {self!r} is a placeholder for the "
            "tensors that a model gets. Use a layer, such as keras.layers.Lambda, that calls the function"
        )

    __array__ = __iter__ = __len__ = __float__ = __int__ = _refuse

    def _as_tensor(self) -> Any:
        return self._refuse()

    def __repr__(self) -> str:
        return f"<KerasTensor shape={self.shape}, dtype={self.dtype.name}, name={self.name}>"


class Node:
    """A call of a layer.

    Attributes:
        layer: the layer; an `InputLayer` makes its tensor without arguments.
        args, kwargs: its arguments, with a `KerasTensor` for each tensor.
        outputs: the structure of its results.
    """

    def __init__(self, layer: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None) -> None:
        self.layer = layer
        self.args, self.kwargs = args, dict(kwargs or {})
        self.number = next(_numbers)
        self.outputs: Any = None

    @property
    def inputs(self) -> list[KerasTensor]:
        return [leaf for leaf in pytree.flatten((self.args, self.kwargs)) if isinstance(leaf, KerasTensor)]


def is_symbolic(args: Any) -> bool:
    """Whether there is a `KerasTensor` among arguments."""
    return any(isinstance(leaf, KerasTensor) for leaf in pytree.flatten(args))


def note(layer: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
    """Note the call of a layer; gives a `KerasTensor` for each of its results."""
    node = Node(layer, args, kwargs)
    layer.ensure_built(pytree.map(lambda leaf: getattr(leaf, "shape", None), args[0] if args else kwargs))
    specs = _results(layer, node)
    node.outputs = pytree.map(lambda spec: KerasTensor(spec.shape, spec.dtype, node, layer.name), specs)
    layer.output_shape = pytree.map(lambda spec: tuple(spec.shape) if spec.shape.rank is not None else None, specs)
    calls_of(layer).append(node)
    return node.outputs


def _results(layer: Any, node: Node) -> Any:
    """The specs of the results of a call: those that the layer computes, or those that tracing it gives."""
    first = node.args[0] if node.args else None
    own = type(layer).compute_output_shape.__module__.startswith("autograph.compat.tensorflow.keras")
    library = type(layer).call.__module__.startswith("autograph.compat.tensorflow.keras")
    if own and library and layer.infers_shapes and isinstance(first, KerasTensor) and first.shape.rank is not None:
        kind = first.dtype if first.dtype.is_floating else dtypes.as_dtype(layer.dtype)
        return TensorSpec(layer.compute_output_shape(tuple(first.shape)), kind)
    inputs = node.inputs

    def run(*tensors: Any) -> Any:
        values = {id(tensor): value for tensor, value in zip(inputs, tensors)}
        args, kwargs = pytree.map(lambda leaf: values.get(id(leaf), leaf), (node.args, node.kwargs))
        return layer(*args, **kwargs)

    with graphs.building(None):
        traced = function(run, autograph=False)
        return traced.get_concrete_function(*[TensorSpec(each.shape, each.dtype) for each in inputs]).structured_outputs
