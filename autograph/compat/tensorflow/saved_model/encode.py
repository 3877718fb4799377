"""From objects with TensorFlow's API to records: `autograph.saving.encode` with tensors, variables and functions."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from inspect import Parameter
from types import FunctionType
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core.dtypes import DType
from autograph.compat.tensorflow.core.kernels import kernel_name
from autograph.compat.tensorflow.core.shapes import TensorShape, TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor
from autograph.compat.tensorflow.module import Module
from autograph.compat.tensorflow.ops.variables import Storage, Variable
from autograph.compat.tensorflow.saved_model.restored import SavedConcrete, SavedGraphs
from autograph.compat.tensorflow.staging.function import ConcreteFunction, Function, Method
from autograph.runtime.graph.graph import Node
from autograph.saving.encode import Encoder, Record, full_name

DEFAULT = "serving_default"
_DATA = (bool, int, float, complex, str, bytes, type(None), np.generic, DType, TensorSpec, TensorShape)
_DEEP = 20  # containers in each other


class TensorFlowEncoder(Encoder):
    """Makes the records of an object with TensorFlow's API.

    Args:
        root: the object to save.
        signatures: of `tf.saved_model.save`.
    """

    def __init__(self, root: Any, signatures: Any) -> None:
        super().__init__((), _no_function)
        self.root = root
        self._parts, self._metadata = form_of(root)
        self.signatures = _signatures(root, self._parts, signatures)
        self._arrays_of: dict[int, tuple[Any, Any]] = {}    # for arrays that share memory with others, copies, by id
        self._concretes: dict[int, Any] = {}                # those of functions, by their ids: all live until the end

    def number(self, thing: Any, about: Any = None) -> int:
        if type(thing) is Method:
            thing = thing._function
        if type(thing) is np.ndarray and thing.base is not None:
            thing = self._arrays_of.setdefault(id(thing), (thing, thing.copy()))[1]
        return super().number(thing, about)

    def check_use(self, thing: Any, node: Node) -> None:
        if type(thing) not in (Storage, functools.partial) and kernel_name(thing) is None:
            super().check_use(thing, node)

    def record(self, thing: Any, about: Any) -> Record:
        kind = type(thing)
        if kind is Storage:
            return {"kind": "tf.storage", "value": self.arg(thing.value, about)}
        if kind is Variable:
            description = {"dtype": thing.dtype.name, "shape": _dims(thing.shape), "name": thing._name}
            storage = self.number(thing._storage, about)
            return {"kind": "tf.variable", "storage": storage, "trainable": bool(thing.trainable), **description}
        if kind is Tensor:
            return {"kind": "tf.tensor", "value": self.arg(thing.numpy(), about), "dtype": thing.dtype.name}
        if kind is TensorSpec:
            description = {"dtype": thing.dtype.name, "shape": _dims(thing.shape), "name": thing.name}
            return {"kind": "tf.spec", **description}
        if kind is TensorShape:
            return {"kind": "tf.shape", "shape": _dims(thing)}
        if kind is DType:
            return {"kind": "tf.dtype", "name": thing.name}
        if kind is np.ndarray and thing.dtype == object:
            return {"kind": "tf.strings", "shape": [*thing.shape], "items": [self._text(each) for each in thing.flat]}
        name = kernel_name(thing)
        if name is not None:
            return {"kind": "tf.kernel", "name": name}
        if kind is functools.partial and kernel_name(thing.func) is not None:
            parts = [self.arg(each, about) for each in thing.args]
            return {"kind": "tf.partial", "function": self.arg(thing.func, about), "args": parts}
        if isinstance(thing, (Function, ConcreteFunction)):
            return self._function(thing)
        if isinstance(thing, SavedConcrete):
            return self._concrete(thing)
        if thing is self.root or isinstance(thing, Module):
            return self._object(thing)
        if isinstance(thing, (FunctionType, functools.partial)):
            raise self.refused(
                f"the graph calls Python code of its own, {full_name(getattr(thing, 'func', thing))}, which a saved "
                "graph does not contain: a tf.py_function, an optimizer, an iterator or a summary",
                about,
            )
        composite = _COMPOSITE.get(kind.__name__) if pytree.kind_of(thing) is not None else None
        if composite is not None:
            parts = [self.arg(each, about) for each in composite(thing)]
            return {"kind": "tf.composite", "class": kind.__name__, "parts": parts}
        return super().record(thing, about)

    def _text(self, value: Any) -> Any:
        if not isinstance(value, (bytes, str)):
            raise self.refused(f"an array of Python objects, such as {value!r}, cannot be saved", None)
        return self.arg(value, None)

    # Functions --------------------------------------------------------------------------------------------------------

    def _function(self, function: Function | ConcreteFunction) -> Record:
        """The record of a function with all its graphs, or of one with a single graph."""
        is_single = isinstance(function, ConcreteFunction)
        whole: Function = function._function if isinstance(function, ConcreteFunction) else function
        concretes = [function] if isinstance(function, ConcreteFunction) else concretes_of(function)
        return {
            "kind": "tf.function",
            "name": whole._name,
            "doc": whole.__doc__ if isinstance(whole.__doc__, str) else None,
            "parameters": [self._parameter(each, whole._name) for each in whole._parameters],
            "concrete": [self.concrete_number(each) for each in concretes],
            "single": is_single,
        }

    def concrete_number(self, concrete: Any) -> int:
        """The number of the graph of a function."""
        if isinstance(concrete, ConcreteFunction):
            known = self._concretes.get(id(concrete))
            if known is None:
                known = self._concretes[id(concrete)] = SavedConcrete.of(concrete)
            concrete = known
        return self.number(concrete)

    def _parameter(self, parameter: Parameter, name: str) -> Record:
        record: Record = {"name": parameter.name, "kind": parameter.kind.name}
        if parameter.default is not Parameter.empty:
            record["default"] = self.arg(parameter.default, f"the default of `{parameter.name}` of {name}")
        return record

    def _concrete(self, concrete: SavedConcrete) -> Record:
        about = f"the arguments of {concrete.name}"
        return {
            "kind": "tf.concrete",
            "name": concrete.name,
            "arguments": self.arg(tuple(concrete.arguments), about),
            "results": self.arg(concrete.structure, f"the results of {concrete.name}"),
            "draws": [dtype.name for dtype in concrete.draws],
            "variables": [self.number(each) for each in concrete.variables.values()],
            "graph": self.graph(concrete.graph, {}),
        }

    # Objects ----------------------------------------------------------------------------------------------------------

    def _object(self, thing: Any) -> Record:
        own = self._parts if thing is self.root else form_of(thing)[0]
        kept = {name: part for name, part in own.items() if self._is_data(part)}
        attributes = {name: self.arg(part, f"the attribute `{name}`") for name, part in kept.items()}
        record: Record = {"kind": "tf.object", "class": full_name(type(thing)), "attributes": attributes}
        if thing is self.root:
            record["signatures"] = {name: self._signature(each) for name, each in self.signatures.items()}
            if self._metadata is not None:
                record["metadata"] = self._metadata
        return record

    def _signature(self, function: ConcreteFunction) -> Record:
        outputs = list(named_results(function.structured_outputs))
        number = self.concrete_number(function)
        return {"concrete": number, "inputs": [name for name, _ in function._signature.specs], "outputs": outputs}

    def _is_data(self, value: Any, depth: int = 0) -> bool:
        """Whether an attribute is saved: a variable, function, module, tensor, number or text, or several of these."""
        if isinstance(value, (*_DATA, Variable, Module, Function, Method, ConcreteFunction)):
            return True
        if type(value) is Tensor:
            return value._graph is None
        if type(value) is np.ndarray:
            return bool(value.dtype.kind != "O")
        is_container = type(value) in (list, tuple, dict) or (isinstance(value, tuple) and hasattr(value, "_fields"))
        parts = [*value, *value.values()] if type(value) is dict else value
        return is_container and depth < _DEEP and all(self._is_data(part, depth + 1) for part in parts)


def _dims(shape: TensorShape) -> list[int | None] | None:
    return None if shape.rank is None else shape.as_list()


def _no_function(encoder: Encoder, thing: Any) -> Record:
    raise encoder.refused(f"a function of ag.function is saved by ag.save: {thing!r}", None)


_COMPOSITE: dict[str, Any] = {
    "RaggedTensor": lambda value: (value.values, value.row_splits),
    "SparseTensor": lambda value: (value.indices, value.values, value.dense_shape),
}


def form_of(thing: Any) -> tuple[dict[str, Any], str | None]:
    """The attributes to save of an object, with its methods that are functions, and a text that is saved with it.

    An object with a method `_saved_form_` gives its own.
    """
    given = getattr(thing, "_saved_form_", None)
    if given is not None:
        parts, text = given()
        return dict(parts), str(text)
    inherited = {name: part for kind in reversed(type(thing).__mro__) for name, part in vars(kind).items()}
    methods = {name: getattr(thing, name) for name, part in inherited.items() if isinstance(part, Function)}
    return {**methods, **{name: part for name, part in vars(thing).items() if name != "signatures"}}, None


def concretes_of(function: Function) -> list[Any]:
    """The graphs of a function, each once; with an input signature it is traced for that."""
    if isinstance(function._plain, SavedGraphs):
        return list(function._plain.concretes)
    if function.input_signature is not None:
        function.get_concrete_function()
    return list(dict.fromkeys(function._traces.values()))


# Signatures -----------------------------------------------------------------------------------------------------------


def _signatures(root: Any, parts: dict[str, Any], given: Any) -> dict[str, ConcreteFunction]:
    """The functions to save under names of their own.

    Raises:
        ValueError: one is no function, or has no input signature.
    """
    if given is None:
        earlier = vars(root).get("signatures")
        return dict(earlier) if isinstance(earlier, dict) else dict(_default(parts))
    named = given if isinstance(given, dict) else {DEFAULT: given}
    found = {}
    for name, each in named.items():
        concrete = _concrete_of(each)
        if concrete is None:
            raise ValueError(
                f"Expected a TensorFlow function for which to generate a signature, but got {each!r}. Only "
                "`tf.functions` with an input signature or concrete functions can be used as a signature."
            )
        named_results(concrete.structured_outputs)
        found[name] = concrete
    return found


def _default(parts: dict[str, Any]) -> Iterator[tuple[str, ConcreteFunction]]:
    """The only function of an object that can be a signature."""
    candidates = [parts[DEFAULT]] if DEFAULT in parts else list(parts.values())
    found = [each for each in map(_concrete_of, candidates) if each is not None and _is_signature(each)]
    if len(found) == 1:
        yield DEFAULT, found[0]


def _concrete_of(function: Any) -> ConcreteFunction | None:
    if isinstance(function, ConcreteFunction):
        return function
    if isinstance(function, (Function, Method)) and function.input_signature is not None:
        concrete: ConcreteFunction = function.get_concrete_function()
        return concrete
    return None


def _is_signature(concrete: ConcreteFunction) -> bool:
    """Whether a function can be a signature by default: it has results, and these are not nested."""
    try:
        return bool(named_results(concrete.structured_outputs))
    except ValueError:
        return False


def named_results(structure: Any) -> dict[str, Any]:
    """The results of a signature by name: the keys of a dict, or `output_0` and so on.

    Raises:
        ValueError: they are nested.
    """
    if isinstance(structure, dict):
        named = structure
    else:
        parts = structure if isinstance(structure, (list, tuple)) else [] if structure is None else [structure]
        named = {f"output_{number}": part for number, part in enumerate(parts)}
    for name, part in named.items():
        if not isinstance(name, str) or not isinstance(part, TensorSpec):
            raise ValueError(
                f"Got a dictionary containing non-Tensor value {part!r} for key {name!r} in the output of a function "
                "used to generate a SavedModel signature. Outputs for functions used as signatures should be a single "
                "Tensor, a sequence of Tensors, or a dictionary from string to Tensor."
            )
    return named
