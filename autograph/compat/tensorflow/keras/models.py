"""`tf.keras.models`: `Sequential`, and the base class of models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.keras import fitting, functional, optimizers, saving, utils
from autograph.compat.tensorflow.keras.backend import unique_name
from autograph.compat.tensorflow.keras.compiled import Compiled
from autograph.compat.tensorflow.keras.functional import Input, Network
from autograph.compat.tensorflow.keras.layer import InputLayer, Layer, takes_training
from autograph.compat.tensorflow.keras.placeholders import KerasTensor
from autograph.compat.tensorflow.keras.saving import configs, load_model, save_model
from autograph.compat.tensorflow.keras.training import unpacked
from autograph.compat.tensorflow.staging.tape import GradientTape

__all__ = ["Model", "Sequential", "load_model", "save_model"]


class Model(Layer):
    """A layer that can be trained; subclasses define `call`, or give `inputs` and `outputs`, made by `keras.Input`.

    Attributes:
        stop_training: a callback sets it to end the training.
    """

    def __init__(self, inputs: Any = None, outputs: Any = None, name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name or (None if inputs is None else unique_name("model")), **kwargs)
        self.stop_training = False
        if inputs is not None:
            self._network = Network(inputs, outputs)
            self._stack = self._network.layers
            self.inputs, self.outputs = pytree.flatten(inputs), pytree.flatten(outputs)
            self.output_shape = pytree.map(lambda leaf: tuple(leaf.shape), outputs)
            self.built = True

    @property
    def input_names(self) -> list[str]:
        return [each.name for each in self.inputs]

    @property
    def output_names(self) -> list[str]:
        """The names of the layers that give the outputs."""
        return [each.name for each in self.outputs]

    @property
    def input(self) -> Any:
        return self._network.inputs if hasattr(self, "_network") else super().input

    @property
    def output(self) -> Any:
        return self._network.outputs if hasattr(self, "_network") else super().output

    def call(self, inputs: Any, training: bool = False) -> Any:
        if not hasattr(self, "_network"):
            raise NotImplementedError(f"the model {self.name} has no method call, and no inputs and outputs")
        return self._network.run(inputs, training)

    def compile(
        self, optimizer: Any = "rmsprop", loss: Any = None, metrics: Any = (), loss_weights: Any = None,
        run_eagerly: bool = False, jit_compile: Any = None, steps_per_execution: int = 1, weighted_metrics: Any = None,
    ) -> None:
        """Set optimizer, loss and metrics; of several outputs these are lists, or dicts by the names of outputs."""
        self.optimizer = optimizers.get(optimizer)
        self.loss = loss
        names = self.output_names if hasattr(self, "outputs") else []
        self._compiled = Compiled(loss, metrics or (), loss_weights, names)
        self.run_eagerly = run_eagerly
        fitting.forget_steps(self)
        given = {"optimizer": self.optimizer, "loss": loss, "metrics": metrics, "loss_weights": loss_weights}
        configs.note_compiled(self, given)

    @property
    def metrics(self) -> list[Any]:
        """The metrics that training reports: the mean loss, and those that `compile` got."""
        return self._compiled.metrics

    def compute_loss(self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None) -> Any:
        """The loss that `compile` got, of predictions."""
        return self._compiled.loss(y, y_pred, sample_weight)

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any = None) -> dict[str, Any]:
        """Update the metrics that `compile` got, and give their values by name."""
        return self._compiled.measure(y, y_pred)

    def train_step(self, data: Any) -> dict[str, Any]:
        """Train on one batch."""
        x, y, weight = unpacked(data)
        with GradientTape() as tape:
            predicted = fitting.predicted_batch(self, x, True)
            loss = self.compute_loss(x, y, predicted, weight)
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        self._compiled.note_loss(loss, predicted)
        return self.compute_metrics(x, y, predicted, weight)

    def test_step(self, data: Any) -> dict[str, Any]:
        """Evaluate one batch."""
        x, y, weight = unpacked(data)
        predicted = fitting.predicted_batch(self, x, False)
        self._compiled.note_loss(self.compute_loss(x, y, predicted, weight), predicted)
        return self.compute_metrics(x, y, predicted, weight)

    get_layer = functional.get_layer
    summary = utils.summary
    fit = fitting.fit
    evaluate = fitting.evaluate
    predict = fitting.predict
    train_on_batch = fitting.train_on_batch
    test_on_batch = fitting.test_on_batch

    # Files ------------------------------------------------------------------------------------------------------------

    save = saving.save_model
    export = saving.export
    save_weights = saving.save_weights
    load_weights = saving.load_weights
    _saved_form_ = saving.saved_form

    def get_config(self) -> configs.Config:
        """The layers of a model of inputs and outputs; of others, the arguments that they were made with."""
        if type(self) is not Model or not hasattr(self, "_network"):
            return configs.config_of(self)
        return {"name": self.name, "network": self._network.get_config()}

    @classmethod
    def from_config(cls, config: configs.Config) -> Any:
        if cls is not Model or "network" not in config:
            return cls(**config)
        network = Network.from_config(config["network"])
        return cls(network.inputs, network.outputs, name=config["name"])


class Sequential(Model):
    """Calls layers one after another."""

    def __init__(self, layers: Sequence[Layer] = (), name: str | None = None, **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self._stack: list[Any] = []
        self._first: Any = None  # the shape of the inputs
        self._dtype: Any = "float32"  # of the inputs
        for layer in layers:
            self.add(layer)

    def add(self, layer: Any) -> None:
        """Put a layer at the end."""
        if isinstance(layer, KerasTensor):
            self._dtype, layer = layer.dtype, layer.node.layer
        if not self._stack:
            self._first = self._first or layer.batch_input_shape
        if not isinstance(layer, InputLayer):
            self._stack.append(layer)
        self.built = False
        if self._first is not None:
            self.build(self._first)

    def pop(self) -> None:
        """Remove the last layer."""
        self._stack.pop()

    def get_config(self) -> configs.Config:
        return {"name": self.name, "layers": [configs.serialize(each) for each in self._stack]}

    @classmethod
    def from_config(cls, config: configs.Config) -> Sequential:
        return cls([configs.deserialize(each) for each in config["layers"]], name=config["name"])

    def build(self, input_shape: Any) -> None:
        shape = tuple(input_shape)
        for layer in self._stack:
            layer.ensure_built(shape)
            layer.output_shape = shape = layer.compute_output_shape(shape)
        self.built = bool(self._stack)
        vars(self).pop("_network", None)

    def _symbolic(self) -> Network:
        """Its layers as a network."""
        if "_network" not in vars(self):
            if self._first is None:
                raise AttributeError(f"The layer {self.name} has never been called and thus has no defined input.")
            begin = x = Input(batch_shape=self._first, dtype=self._dtype)
            for layer in self._stack:
                x = layer(x)
            self._network = Network(begin, x)
        return self._network

    inputs = property(lambda self: [self._symbolic().inputs])
    outputs = property(lambda self: [self._symbolic().outputs])
    input = property(lambda self: self._symbolic().inputs)
    output = property(lambda self: self._symbolic().outputs)

    @property
    def layers(self) -> list[Layer]:
        return list(self._stack)

    def compute_output_shape(self, input_shape: Any) -> Any:
        for layer in self._stack:
            input_shape = layer.compute_output_shape(input_shape)
        return input_shape

    def call(self, inputs: Any, training: bool = False) -> Any:
        for layer in self._stack:
            inputs = layer(inputs, training=training) if takes_training(layer) else layer(inputs)
        return inputs
