"""`tf.keras.layers.Layer`: a module that makes its variables, and learns its shapes, at its first call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from autograph.compat.tensorflow import module
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor, is_convertible, with_dtype
from autograph.compat.tensorflow.core.dtypes import as_dtype
from autograph.compat.tensorflow.core.graphs import name_scope, node_scope
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.keras import initializers, placeholders
from autograph.compat.tensorflow.keras.backend import snake_case, unique_name
from autograph.compat.tensorflow.keras.saving import configs
from autograph.compat.tensorflow.module import Module, submodules_of
from autograph.compat.tensorflow.ops.variables import Variable
from autograph.compat.tensorflow.staging.tracing import call

from autograph.common import pytree  # isort: skip


@Module.register
class Layer:
    """A base class; subclasses define `call`, and `build` if they have variables.

    Args:
        input_shape: of one example; with it, a model can be built before it is called.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return configs.noted(cls, args, kwargs)

    __setattr__ = module.set_attribute
    get_config = configs.config_of
    from_config = classmethod(configs.made_of)

    is_shown = True  # among the layers of the object that has it as an attribute
    infers_shapes = True  # whether `compute_output_shape` is right for all its inputs

    def __init__(
        self, trainable: bool = True, name: str | None = None, dtype: Any = "float32", input_shape: Any = None,
        input_dim: int | None = None, batch_input_shape: Any = None,
    ) -> None:
        self._name = name or unique_name(snake_case(type(self).__name__))
        self.trainable = trainable
        self.built = False
        self.dtype = dtype
        self._own: list[Variable] = []
        shape = (input_dim,) if input_dim is not None else input_shape
        self.batch_input_shape: Any = batch_input_shape if shape is None else (None, *shape)
        self.output_shape: Any = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def name_scope(self) -> Any:
        return name_scope(self._name)

    def build(self, input_shape: Any) -> None:
        """Make the variables; a subclass that has variables defines it."""

    def call(self, inputs: Any) -> Any:
        raise NotImplementedError(f"the layer {self.name} has no method call")

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the result for inputs of a shape."""
        return input_shape

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if placeholders.is_symbolic((args, kwargs)):
            return placeholders.note(self, args, kwargs)
        if not args:
            first = next(iter(kwargs), None)
            if first is None:
                raise ValueError(f"the layer {self.name} needs inputs")
            return self._computed(kwargs.pop(first), **kwargs)
        return self._computed(*args, **kwargs)

    def _computed(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        inputs = pytree.map(lambda leaf: _converted(leaf, self.dtype), inputs)
        self.ensure_built(pytree.map(lambda leaf: getattr(leaf, "shape", None), inputs))
        if graphs.current() is None:
            return self.call(inputs, *args, **kwargs)
        with node_scope(self.name):
            return call(self.call, (inputs, *args), kwargs)

    def ensure_built(self, shape: Any) -> None:
        """Make the variables for inputs of a shape, unless they exist."""
        if self.built:
            return
        with name_scope(self.name):
            self.build(shape)
        self.built = True
        dims = shape.as_list() if isinstance(shape, TensorShape) and shape.rank is not None else shape
        self.batch_input_shape = self.batch_input_shape or dims

    def add_weight(
        self, name: str | None = None, shape: Any = (), dtype: Any = None, initializer: Any = "glorot_uniform",
        trainable: bool = True,
    ) -> Variable:
        """Make a variable of this layer."""
        value = initializers.get(initializer)(shape, dtype or self.dtype)
        variable = Variable(value, trainable=trainable, name=name)
        self._own.append(variable)
        return variable

    # Contents ---------------------------------------------------------------------------------------------------------

    @property
    def layers(self) -> list[Layer]:
        """The layers in its attributes, in the order in which they were set."""
        return list(_layers_in([part for name, part in vars(self).items() if name != "_own"]))

    @property
    def weights(self) -> list[Variable]:
        """All variables, the trained ones first."""
        return [*self.trainable_weights, *self.non_trainable_weights]

    @property
    def trainable_weights(self) -> list[Variable]:
        if not self.trainable:
            return []
        own = [variable for variable in _variables_of(self) if variable.trainable]
        return own + [variable for layer in self.layers for variable in layer.trainable_weights]

    @property
    def non_trainable_weights(self) -> list[Variable]:
        trained = {id(variable) for variable in self.trainable_weights}
        own = [variable for variable in _variables_of(self) if id(variable) not in trained]
        inner = [variable for layer in self.layers for variable in layer.weights]
        return own + [variable for variable in inner if id(variable) not in trained]

    variables = property(lambda self: self.weights)
    trainable_variables = property(lambda self: self.trainable_weights)
    non_trainable_variables = property(lambda self: self.non_trainable_weights)
    submodules = property(submodules_of)

    def count_params(self) -> int:
        """The number of elements of its variables."""
        return count(self.weights)

    def get_weights(self) -> list[Any]:
        return [variable.numpy() for variable in self.weights]

    def set_weights(self, weights: Any) -> None:
        if len(weights) != len(self.weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a weight list of length '
                f"{len(weights)}, but the layer was expecting {len(self.weights)} weights."
            )
        for variable, value in zip(self.weights, weights):
            variable.assign(value)

    # Calls with placeholders ------------------------------------------------------------------------------------------

    @property
    def output(self) -> Any:
        """The placeholders that its first call gave."""
        return _first_call(self, "output").outputs

    @property
    def input(self) -> Any:
        """The placeholders that its first call got."""
        node = _first_call(self, "input")
        return node.args[0] if node.args else node.outputs

    def __repr__(self) -> str:
        return f"<{type(self).__name__} name={self.name}, built={self.built}>"


class InputLayer(Layer):
    """Gives the shape of examples, as the first item of a `Sequential`, which does not count it as a layer."""


def _converted(leaf: Any, dtype: Any) -> Any:
    """An input as a tensor; real numbers get the type of the layer."""
    if not is_convertible(leaf):
        return leaf
    tensor, own = convert_to_tensor(leaf), as_dtype(dtype)
    return with_dtype(tensor, own) if tensor.dtype.is_floating and own.is_floating else tensor


def _first_call(layer: Layer, what: str) -> Any:
    if not placeholders.calls_of(layer):
        raise AttributeError(f"The layer {layer.name} has never been called and thus has no defined {what}.")
    return placeholders.calls_of(layer)[0]


def count(variables: Iterable[Variable]) -> int:
    """The number of elements of variables."""
    return sum(int(np.size(variable.numpy())) for variable in variables)


def _variables_of(layer: Layer) -> list[Variable]:
    """A layer's own variables, in the order in which they were made."""
    result = {id(each): each for each in layer._own}
    result |= {id(part): part for part in vars(layer).values() if isinstance(part, Variable)}
    return list(result.values())


def _layers_in(parts: Any) -> Iterator[Layer]:
    for part in parts:
        if isinstance(part, Layer):
            if part.is_shown:
                yield part
        elif isinstance(part, (list, tuple, dict)):
            yield from _layers_in(part.values() if isinstance(part, dict) else part)


def takes_training(layer: Any) -> bool:
    """Whether a layer behaves differently while training."""
    code = getattr(type(layer).call, "__code__", None)
    return code is not None and "training" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
