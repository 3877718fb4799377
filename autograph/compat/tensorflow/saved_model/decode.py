"""From records to objects with TensorFlow's API: `autograph.saving.decode` with tensors, variables and functions."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from inspect import Parameter
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.dtypes import DType, numpy_dtype
from autograph.compat.tensorflow.core.kernels import KERNELS
from autograph.compat.tensorflow.core.shapes import TensorShape, TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor, eager, type_of
from autograph.compat.tensorflow.module import Module
from autograph.compat.tensorflow.ops.variables import Storage, Variable
from autograph.compat.tensorflow.ragged import RaggedTensor
from autograph.compat.tensorflow.saved_model.restored import SavedConcrete, SavedGraphs
from autograph.compat.tensorflow.sparse import SparseTensor
from autograph.compat.tensorflow.staging.function import ConcreteFunction, Function
from autograph.errors import LoadError
from autograph.runtime.graph.effects import tame
from autograph.saving import vocabulary
from autograph.saving.decode import Decoder, Record
from autograph.saving.loaded import parameter_of

_DTYPES = {each.name: each for each in (*dtypes.ALL, dtypes.variant)}
_COMPOSITE: dict[str, Any] = {"RaggedTensor": RaggedTensor, "SparseTensor": SparseTensor}


class Loaded(Module):
    """An object that was saved: its variables, functions and modules are attributes.

    Attributes:
        signatures: of the object that was loaded, the functions that were saved under names of their own.
    """

    signatures: Signatures

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {', '.join(vars(self)) or 'no attributes'}>"


class LoadedCallable(Loaded):
    """An object that was saved with a function `__call__`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return vars(self)["__call__"](*args, **kwargs)


class Signatures(dict[str, ConcreteFunction]):
    """The functions that were saved under names of their own."""

    def __repr__(self) -> str:
        return f"_SignatureMap({dict.__repr__(self)})"


_WHOLE = frozenset({"module", "object", "tf.object", "tf.function", "tf.concrete"})


class _NoFunctions:
    """Refuses functions of `ag.function`."""

    def blank(self) -> Any:
        raise LoadError("the object has functions that ag.save has written: load it with ag.load")

    def fill(self, made: Any, decoder: Decoder, record: Record) -> None:
        self.blank()


class TensorFlowDecoder(Decoder):
    """Makes the objects of records.

    Attributes:
        variables: by the ids of their storages.
    """

    def __init__(self, document: Record, arrays: Mapping[str, Any]) -> None:
        super().__init__(document, arrays, {}, _NoFunctions())
        self.variables: dict[int, Variable] = {}

    def _within(self, number: int) -> Any:
        """An object that a graph refers to."""
        found = super()._within(number)
        if self._records[number]["kind"] in _WHOLE:
            raise LoadError(f"a graph must not refer to the object {number}, whose attributes lead to this library")
        return found

    def _fill_object(self, record: Record, made: Any) -> None:
        """Set the attributes of an object, which may contain itself."""
        for name, each in record["attributes"].items():
            if name != "__call__" and not vocabulary.is_attribute(name):
                raise LoadError(f"{vocabulary.shown(name)} is no name of an attribute")
            vars(made)[name] = self.held(each)
        if not isinstance(vars(made).get("__call__"), (Function, ConcreteFunction, type(None))):
            raise LoadError("what is called as the object is no function")
        if "signatures" in record:
            found = {name: self._signature(each) for name, each in record["signatures"].items()}
            vars(made)["signatures"] = Signatures(found)
        if "metadata" in record:
            vars(made)["_saved_metadata"] = record["metadata"]

    # Data -------------------------------------------------------------------------------------------------------------

    def of(self, kind: Any, number: int) -> Any:
        """The object of a number, which must be of a class.

        Raises:
            LoadError: it is not.
        """
        found = self.object(number)
        if not isinstance(found, kind):
            raise LoadError(f"the object {number} is no {kind.__name__}")
        return found

    def _storage(self, record: Record) -> Storage:
        value = self.held(record["value"])
        if not isinstance(value, (np.ndarray, np.generic, bytes)):
            raise LoadError(f"{vocabulary.shown(value)} is no value of a variable")
        return Storage(value)

    def _tf_variable(self, record: Record) -> Variable:
        storage, dtype = self.of(Storage, record["storage"]), dtype_of(record["dtype"])
        shape = TensorShape(record["shape"])
        check_value(storage.value, dtype, shape)
        made: Variable = object.__new__(Variable)
        made._dtype, made._shape, made._storage = dtype, shape, storage
        made._name, made.trainable = record["name"], record["trainable"]
        self.variables[id(storage)] = made
        return made

    def _tensor(self, record: Record) -> Tensor:
        value, dtype = self.held(record["value"]), dtype_of(record["dtype"])
        check_value(value, dtype, TensorShape(None))
        return eager(value, dtype)

    def _strings(self, record: Record) -> Any:
        items = [self.held(each) for each in record["items"]]
        size = functools.reduce(lambda product, length: product * length, record["shape"], 1)
        if size != len(items) or not all(isinstance(each, (bytes, str)) for each in items):
            raise LoadError("an array of texts has other texts than its shape says")
        made = np.empty(size, object)
        made[:] = items
        return made.reshape(record["shape"])

    def _kernel(self, record: Record) -> Any:
        if record["name"] not in KERNELS:
            raise LoadError(f"there is no function {vocabulary.shown(record['name'])} for graphs of TensorFlow")
        return KERNELS[record["name"]]

    def _partial(self, record: Record) -> Any:
        function = self.held(record["function"])
        if not any(function is each for each in KERNELS.values()):
            raise LoadError("options are given to a function that takes none")
        return tame(functools.partial(function, *map(self.held, record["args"])))

    # Functions --------------------------------------------------------------------------------------------------------

    def _concrete(self, record: Record) -> SavedConcrete:
        for number in record["variables"]:
            self.of(Variable, number)
        arguments, structure = self.held(record["arguments"]), self.held(record["results"])
        draws = [dtype_of(name) for name in record["draws"]]
        graph = self.graph(record["graph"])
        if not isinstance(arguments, tuple):
            raise LoadError("the arguments of a graph are none")
        made = SavedConcrete(record["name"], graph, arguments, structure, draws, self.variables)
        if [each.type for each in graph.params] != [type_of(spec.dtype, spec.shape) for spec in made.specs]:
            raise LoadError(f"the graph {vocabulary.shown(record['name'])} takes other arguments than it says")
        results = graph.block.results
        if results is not None and (
            len(results) != 1 or type(results[0]) is not tuple or len(results[0]) != len(made.results) + len(draws)
        ):
            raise LoadError(f"the graph {vocabulary.shown(record['name'])} has other results than it says")
        return made

    def _function(self, record: Record) -> Any:
        parameters = [parameter_of(self, each) for each in record["parameters"]]
        concretes = [self.of(SavedConcrete, number) for number in record["concrete"]]
        function = function_of(record["name"], record["doc"], parameters, concretes)
        if any(len(each.arguments) != len(parameters) for each in concretes):
            raise LoadError(f"a graph of {vocabulary.shown(record['name'])} takes other arguments than the function")
        return concrete_of(function, concretes[0].arguments) if record["single"] and concretes else function

    def _signature(self, record: Record) -> ConcreteFunction:
        """A function with named tensors as arguments, and a dict of named tensors as result."""
        saved, inputs, outputs = self.of(SavedConcrete, record["concrete"]), record["inputs"], record["outputs"]
        if len(inputs) != len(saved.specs) or len(outputs) != len(saved.results) or len({*inputs}) < len(inputs):
            raise LoadError("a signature has other names than its graph has tensors")
        arguments = [TensorSpec(spec.shape, spec.dtype, name) for spec, name in zip(saved.specs, inputs)]
        results = {name: TensorSpec(spec.shape, spec.dtype, name) for spec, name in zip(saved.results, outputs)}
        named = SavedConcrete("signature_wrapper", saved.graph, arguments, results, saved.draws, self.variables)
        parameters = [{"name": name, "kind": "KEYWORD_ONLY"} for name in inputs]
        function = function_of("signature_wrapper", None, [parameter_of(self, each) for each in parameters], [named])
        found = concrete_of(function, dict(zip(inputs, arguments)))
        for name, spec in found.structured_outputs.items():
            spec.name = name
        return found


def function_of(
    name: str, doc: str | None, parameters: Sequence[Parameter], concretes: Sequence[SavedConcrete]
) -> Function:
    """A function of saved graphs."""
    try:
        return Function(SavedGraphs(name, doc, parameters, concretes), None, False, ())
    except ValueError as error:
        raise LoadError(f"the parameters of {vocabulary.shown(name)} are none: {error}") from error


def concrete_of(function: Function, arguments: Any) -> ConcreteFunction:
    """The function for arguments with specs, positional ones or by name.

    Raises:
        LoadError: its graph cannot become a part of another one, so it was changed.
    """
    try:
        if isinstance(arguments, dict):
            return function.get_concrete_function(**arguments)
        return function.get_concrete_function(*arguments)
    except Exception as error:  # of any operation in the graph
        raise LoadError(f"the graph of {vocabulary.shown(function._name)} cannot be used: {error!r}") from error


def dtype_of(name: str) -> DType:
    """The type of a name.

    Raises:
        LoadError: there is none.
    """
    if name not in _DTYPES:
        raise LoadError(f"there is no type {vocabulary.shown(name)}")
    return _DTYPES[name]


def check_value(value: Any, dtype: DType, shape: TensorShape) -> None:
    """Check that a value is one of a tensor of that type and shape.

    Raises:
        LoadError: it is not.
    """
    if isinstance(value, bytes):
        fits = dtype is dtypes.string and shape.is_compatible_with(())
    else:
        is_array = isinstance(value, (np.ndarray, np.generic)) and value.dtype == numpy_dtype(dtype)
        fits = is_array and shape.is_compatible_with(value.shape)
    if not fits:
        raise LoadError(f"a value is no tensor of {dtype.name} of shape {shape}")


def _spec(decoder: TensorFlowDecoder, record: Record) -> TensorSpec:
    return TensorSpec(record["shape"], dtype_of(record["dtype"]), record["name"])


def _composite(decoder: TensorFlowDecoder, record: Record) -> Any:
    parts = [decoder.held(each) for each in record["parts"]]
    made = object.__new__(_COMPOSITE[record["class"]])
    names = ("values", "row_splits") if record["class"] == "RaggedTensor" else ("indices", "values", "dense_shape")
    if len(parts) != len(names) or not all(isinstance(each, (TensorSpec, Tensor)) for each in parts):
        raise LoadError(f"a {record['class']} has other parts")
    for name, each in zip(names, parts):
        setattr(made, name, each)
    return made


def _object(decoder: Decoder, record: Record) -> Loaded:
    kind = LoadedCallable if "__call__" in record["attributes"] else Loaded
    made: Loaded = object.__new__(kind)
    return made


TensorFlowDecoder.shells = {**Decoder.shells, "tf.object": _object}
TensorFlowDecoder.fillers = {**Decoder.fillers, "tf.object": TensorFlowDecoder._fill_object}
TensorFlowDecoder.makers = {
    **Decoder.makers,
    "tf.storage": TensorFlowDecoder._storage,
    "tf.variable": TensorFlowDecoder._tf_variable,
    "tf.tensor": TensorFlowDecoder._tensor,
    "tf.strings": TensorFlowDecoder._strings,
    "tf.kernel": TensorFlowDecoder._kernel,
    "tf.partial": TensorFlowDecoder._partial,
    "tf.concrete": TensorFlowDecoder._concrete,
    "tf.function": TensorFlowDecoder._function,
    "tf.composite": _composite,
    "tf.spec": _spec,
    "tf.shape": lambda decoder, record: TensorShape(record["shape"]),
    "tf.dtype": lambda decoder, record: dtype_of(record["name"]),
}
