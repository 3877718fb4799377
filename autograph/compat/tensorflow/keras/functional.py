"""Models as graphs of layers: `keras.Input`, and `keras.Model(inputs, outputs)`.

A `Network` runs the calls of layers that lead from placeholders to others; `placeholders.py` has these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.keras.backend import unique_name
from autograph.compat.tensorflow.keras.layer import InputLayer, Layer, takes_training
from autograph.compat.tensorflow.keras.placeholders import KerasTensor, Node, calls_of
from autograph.compat.tensorflow.keras.saving import configs
from autograph.compat.tensorflow.ops import indexing, math_ops


def Input(
    shape: Any = None, batch_size: int | None = None, dtype: Any = None, sparse: bool = False,
    batch_shape: Any = None, name: str | None = None, tensor: Any = None, batch_input_shape: Any = None,
) -> KerasTensor:
    """A placeholder for the inputs of a model.

    Args:
        shape: of one example.
        batch_size: the number of examples in a batch, if it is fixed.
        batch_shape: the shape of a batch; instead of `shape`.
    """
    whole = batch_input_shape if batch_shape is None else batch_shape
    whole = (batch_size, *shape) if whole is None else tuple(whole)
    layer = InputLayer(name=name or unique_name("input"), batch_input_shape=whole, dtype=dtype or "float32")
    layer.built, layer.output_shape = True, whole
    node = Node(layer)
    node.outputs = result = KerasTensor(whole, dtype or "float32", node, layer.name)
    calls_of(layer).append(node)
    return result


class Operation(Layer):
    """A layer for an operator between tensors of a model."""

    infers_shapes = False

    def __init__(self, operation: Callable[..., Any], name: str) -> None:
        super().__init__(name=unique_name(name))
        self._operation = operation

    def call(self, *inputs: Any) -> Any:
        return self._operation(*inputs)


def _operator(name: str, operation: Callable[..., Any], swapped: bool = False) -> Any:
    def method(self: KerasTensor, *others: Any) -> Any:
        if others and not isinstance(others[0], KerasTensor):  # a constant takes on the type of the tensor
            fixed = (lambda x: operation(*others, x)) if swapped else (lambda x: operation(x, *others))
            return Operation(fixed, name)(self)
        return Operation(operation, name)(self, *others)

    return method


for _name, _title in (
    ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"), ("floordiv", "floordiv"),
    ("pow", "pow"), ("mod", "mod"), ("matmul", "matmul"),
):  # fmt: skip
    _function: Callable[..., Any] = getattr(math_ops, _title)
    setattr(KerasTensor, f"__{_name}__", _operator(_title, _function))
    setattr(KerasTensor, f"__r{_name}__", _operator(_title, _function, swapped=True))
setattr(KerasTensor, "__neg__", _operator("negative", math_ops.negative))  # noqa: B010
setattr(KerasTensor, "__abs__", _operator("absolute", math_ops.abs))  # noqa: B010
setattr(KerasTensor, "__getitem__", lambda x, at: Operation(lambda y: indexing.getitem(y, at), "getitem")(x))  # noqa: B010


class Network:
    """The nodes that lead from some tensors to others.

    Attributes:
        layers: those of the nodes, each once, in the order of their first calls.
    """

    def __init__(self, inputs: Any, outputs: Any) -> None:
        self.inputs, self.outputs = inputs, outputs
        for leaf in (*pytree.flatten(inputs), *pytree.flatten(outputs)):
            if not isinstance(leaf, KerasTensor):
                raise ValueError(f"Inputs and outputs of a functional model must be KerasTensors, not {leaf!r}.")
        self._given = {id(leaf) for leaf in pytree.flatten(inputs)}
        found: dict[int, Node] = {}
        pending = pytree.flatten(outputs)
        while pending:
            tensor = pending.pop()
            if id(tensor) in self._given or tensor.node.number in found:
                continue
            if not tensor.node.inputs:
                raise ValueError(f"{tensor!r} is no input of the model, but its outputs depend on it.")
            found[tensor.node.number] = tensor.node
            pending += tensor.node.inputs
        self.nodes = [found[number] for number in sorted(found)]
        firsts = [leaf.node.layer for leaf in pytree.flatten(inputs) if isinstance(leaf.node.layer, InputLayer)]
        self.layers: list[Layer] = list({id(each): each for each in self._ordered(firsts)}.values())

    def _ordered(self, firsts: Sequence[Layer]) -> Iterator[Layer]:
        yield from firsts
        yield from (node.layer for node in self.nodes)

    def run(self, inputs: Any, training: bool) -> Any:
        """The outputs for inputs in the structure of the model's, or in a dict by their names."""
        values = dict(zip(self._given_order(), self._flat(inputs)))
        for node in self.nodes:
            args, kwargs = pytree.map(lambda leaf: values.get(id(leaf), leaf), (node.args, node.kwargs))
            if takes_training(node.layer):
                kwargs.setdefault("training", training)
            results = node.layer(*args, **kwargs)
            values.update(zip(map(id, pytree.flatten(node.outputs)), pytree.flatten(results)))
        return pytree.map(lambda leaf: values[id(leaf)], self.outputs)

    def _given_order(self) -> list[int]:
        return [id(leaf) for leaf in pytree.flatten(self.inputs)]

    def _flat(self, inputs: Any) -> list[Any]:
        wanted = pytree.flatten(self.inputs)
        if isinstance(inputs, dict):
            names = list(self.inputs) if isinstance(self.inputs, dict) else [leaf.name for leaf in wanted]
            missing = [name for name in names if name not in inputs]
            if missing:
                raise ValueError(f"Missing data for input {missing[0]!r}. The model expects the inputs {names}.")
            return [inputs[name] for name in names]
        given = pytree.flatten(inputs)
        if len(given) != len(wanted):
            raise ValueError(f"The model expects {len(wanted)} input(s), but it received {len(given)}.")
        return given


    # Configurations ---------------------------------------------------------------------------------------------------

    def get_config(self) -> configs.Config:
        """The inputs, the layers, and their calls, as JSON has them.

        Raises:
            ValueError: an operator between tensors, or a layer without a configuration, is among them.
        """
        for layer in self.layers:
            if isinstance(layer, Operation):
                raise ValueError(f"the operator {layer.name} between tensors cannot be saved: use a layer in its place")
        leaves = pytree.flatten(self.inputs)
        places: dict[int, Any] = {id(leaf): ["input", at] for at, leaf in enumerate(leaves)}
        for number, node in enumerate(self.nodes):
            places.update({id(leaf): [number, at] for at, leaf in enumerate(pytree.flatten(node.outputs))})

        def placed(structure: Any) -> Any:
            return configs.serialize(pytree.map(
                lambda leaf: {"tensor": places[id(leaf)]} if isinstance(leaf, KerasTensor) else leaf, structure
            ))  # fmt: skip

        layers = list(dict.fromkeys(node.layer for node in self.nodes))
        calls = [{"layer": layers.index(node.layer), "args": placed(node.args), "kwargs": placed(node.kwargs)}
                 for node in self.nodes]  # fmt: skip
        given = [{"shape": list(leaf.shape), "dtype": str(getattr(leaf.dtype, "name", leaf.dtype)), "name": leaf.name}
                 for leaf in leaves]  # fmt: skip
        ends = {"inputs": placed(self.inputs), "outputs": placed(self.outputs)}
        return {"given": given, "layers": [configs.serialize(each) for each in layers], "calls": calls, **ends}

    @classmethod
    def from_config(cls, config: configs.Config) -> Network:
        """A network of new layers.

        Raises:
            ValueError: a call gets a tensor that does not exist yet.
        """
        begin = [Input(batch_shape=each["shape"], dtype=each["dtype"], name=each["name"]) for each in config["given"]]
        layers = [configs.deserialize(each) for each in config["layers"]]
        results: list[list[Any]] = []

        def found(record: Any) -> Any:
            if isinstance(record, dict) and record.keys() == {"tensor"}:
                number, at = record["tensor"]
                if number != "input" and not 0 <= number < len(results):
                    raise ValueError("a call gets a tensor that does not exist yet")
                return begin[at] if number == "input" else results[number][at]
            if isinstance(record, dict) and record.get("class_name") == "__tuple__":
                return tuple([found(each) for each in record["items"]])
            if isinstance(record, dict) and "class_name" not in record:
                return {name: found(each) for name, each in record.items()}
            return [found(each) for each in record] if isinstance(record, list) else configs.deserialize(record)

        for call in config["calls"]:
            outputs = layers[call["layer"]](*found(call["args"]), **found(call["kwargs"]))
            results.append(pytree.flatten(outputs))
        return cls(found(config["inputs"]), found(config["outputs"]))


def get_layer(model: Any, name: str | None = None, index: int | None = None) -> Any:
    """The layer of that name, or at that place."""
    if index is not None:
        return model.layers[index]
    found = next((layer for layer in model.layers if layer.name == name), None)
    if found is None:
        raise ValueError(f"No such layer: {name}. Existing layers are: {[layer.name for layer in model.layers]}.")
    return found
