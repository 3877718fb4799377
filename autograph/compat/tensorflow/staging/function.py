"""`tf.function`: one trace for each kind of tensors and each value of all else."""

from __future__ import annotations

import functools
import itertools
import weakref
from collections.abc import Callable
from types import MethodType
from typing import Any

from autograph.common import pytree
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.shapes import TensorShape, TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor
from autograph.compat.tensorflow.ops import variables
from autograph.compat.tensorflow.staging.backend import TENSORFLOW
from autograph.compat.tensorflow.staging.signatures import Signature, is_staged, key_of, without_shapes
from autograph.compat.tensorflow.staging.tracing import Traced, call, trace
from autograph.operators.backend import traced_by
from autograph.runtime.dispatch.dispatcher import make_binder
from autograph.runtime.graph.callables import parameters_of
from autograph.runtime.graph.static_keys import Same


class ConcreteFunction:
    """A function for arguments of one signature.

    Attributes:
        graph: the graph that it runs.
    """

    def __init__(self, function: Function, signature: Signature, traced: Traced, graph: graphs.FuncGraph) -> None:
        self._function = function
        self._signature = signature
        self._traced = traced
        self.graph = graph

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        tensors = self._signature.tensors(self._function._bind, args, kwargs)
        self._signature.check(tensors)
        return self._run(tensors)

    def _run(self, tensors: list[Tensor]) -> Any:
        values = [tensor._value for tensor in tensors]
        if not graphs.tapes():
            return self._traced(values)
        reads = [variable._as_tensor() for variable in self.graph.accessed.values()]
        result, drawn = self._traced.with_draws(values)
        outputs = [leaf for leaf in pytree.flatten(result) if isinstance(leaf, Tensor)]
        graphs.note(self._again, [*tensors, *reads, *drawn], outputs, Same(self))
        return result

    def _again(self, *tensors: Tensor) -> list[Tensor]:
        """Make a call a part of the graph that is being made, without its effects.

        Args:
            tensors: the arguments, then the values of the variables that it read and the random numbers that it drew.
        """
        graph = graphs.recording()
        args, kwargs = self._signature.filled(tensors)
        before, accessed = graph.replay, self.graph.accessed
        others = tensors[len(self._signature.specs) :]
        graph.replay = graphs.Replay(dict(zip(accessed, others)), list(others[len(accessed) :]))
        try:
            with traced_by(TENSORFLOW):
                found = call(self._function.python_function, args, kwargs, self._function._convert)
        finally:
            graph.replay = before
        return [convert_to_tensor(leaf) for leaf in pytree.flatten(found) if leaf is not None]

    @property
    def name(self) -> str:
        return self.graph.name

    @property
    def inputs(self) -> list[Tensor]:
        return list(self.graph.inputs)

    @property
    def outputs(self) -> list[Tensor]:
        return list(self.graph.outputs)

    @property
    def structured_input_signature(self) -> Any:
        return self._signature.tree

    @property
    def structured_outputs(self) -> Any:
        return self._traced.structure

    @property
    def function_type(self) -> str:
        """The parameters with their types, and the type of the result, as a text."""
        return self._signature.typed(self._traced.structure)

    @property
    def inference_fn(self) -> ConcreteFunction:
        """The function without gradients, which here is the function itself."""
        return self

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """Arguments and results, for people to read."""
        return self._signature.pretty(self._function._name, self._traced.structure)

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature().splitlines()[0]} at 0x{id(self):X}>"

    __str__ = pretty_printed_signature


class Function:
    """A Python function that is traced into graphs. Tensors among the arguments are staged, all else is static."""

    def __init__(
        self, python_function: Callable[..., Any], input_signature: Any, convert: bool, features: Any,
        reduce_retracing: bool = False, owner: Any = None,
    ) -> None:
        self._plain = python_function
        self._owner = None if owner is None else weakref.ref(owner)  # the object that it is a method of
        self._name = getattr(python_function, "__name__", "function")
        self._input_signature = input_signature
        self._convert = convert
        self._features = features
        self._reduces = reduce_retracing and input_signature is None
        self._parameters = parameters_of(self.python_function)
        self._bind = make_binder(self.python_function, self._parameters)
        self._specs: Any = itertools.repeat(None) if input_signature is None else input_signature
        self._traces: dict[Any, ConcreteFunction] = {}  # by keys; several may lead to one
        self._shapes: dict[Any, tuple[list[TensorShape], ConcreteFunction]] = {}  # the latest, by keys without shapes
        self._methods: dict[int, tuple[weakref.ref[Any], Function]] = {}  # by the ids of objects
        self._has_variables = False
        functools.update_wrapper(self, python_function)

    @property
    def python_function(self) -> Callable[..., Any]:
        if self._owner is None:
            return self._plain
        owner = self._owner()
        if owner is None:
            raise ReferenceError(f"the object that {self._name} is a method of does not exist any more")
        return MethodType(self._plain, owner)

    @property
    def input_signature(self) -> Any:
        return self._input_signature

    @property
    def __tf_inline__(self) -> Callable[..., Any]:
        return lambda *args, **kwargs: call(self.python_function, args, kwargs, self._convert)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if graphs.functions_run_eagerly():
            return self.python_function(*args, **kwargs)
        if graphs.current() is not None:
            return call(self.python_function, args, kwargs, self._convert)
        key, tensors, values = self._read(args, kwargs)
        found = self._traces.get(key)
        return (self._other(key, tensors, values) if found is None else found)._run(tensors)

    def _other(self, key: Any, tensors: list[Tensor], values: tuple[Any, ...]) -> ConcreteFunction:
        """The trace for a new key: with `reduce_retracing` the latest one of other shapes, or one for all of these.

        The runtime opens single dimensions (`runtime/dispatch/generalize.py`); TensorFlow also opens the rank.
        """
        if not self._reduces:
            return self._trace(key, values)
        form, shapes = without_shapes(key), [tensor.shape for tensor in tensors]
        if form not in self._shapes:
            found = self._trace(key, values)
        else:
            before, found = self._shapes[form]
            narrow, shapes = shapes, [old.most_general(shape) for old, shape in zip(before, shapes)]
            if not all(shape.is_subtype_of(old) for shape, old in zip(narrow, before)):
                specs = iter([TensorSpec(shape, tensor.dtype) for shape, tensor in zip(shapes, tensors)])
                found = self._trace(key, pytree.map(lambda leaf: next(specs) if is_staged(leaf) else leaf, values))
        self._shapes[form] = shapes, found
        self._traces[key] = found
        return found

    def _read(self, args: Any, kwargs: Any) -> tuple[Any, list[Tensor], tuple[Any, ...]]:
        """The key of a call, the tensors among its arguments, and the values of all parameters."""
        values, tensors = self._bind(*args, **kwargs), list[Tensor]()
        return tuple([key_of(value, tensors, spec) for value, spec in zip(values, self._specs)]), tensors, values

    def _trace(self, key: Any, values: tuple[Any, ...]) -> ConcreteFunction:
        signature = Signature(self._parameters, values, self._specs)
        traced, graph = self._traced(signature)
        if graph.variables:  # these belong to the function from now on; a second trace must make none
            self._has_variables = True
            traced, graph = self._traced(signature)
        self._has_variables = self._has_variables or graph.has_state
        found = self._traces[key] = ConcreteFunction(self, signature, traced, graph)
        return found

    def _traced(self, signature: Signature) -> tuple[Traced, graphs.FuncGraph]:
        check = self._check_variables
        return trace(self.python_function, self._name, signature, self._features, check, self._convert)

    def _check_variables(self) -> None:
        if self._has_variables or self._traces:
            raise variables.singleton_error()

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for such arguments, or for `TensorSpec`s in their place."""
        if not args and not kwargs and self._input_signature is not None:
            args = tuple(self._input_signature)
        key, _, values = self._read(args, kwargs)
        found = self._traces.get(key)
        return self._trace(key, values) if found is None else found

    def experimental_get_tracing_count(self) -> int:
        return len(set(self._traces.values()))

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """All signatures that it has been traced for."""
        return "\n\n".join(each.pretty_printed_signature() for each in dict.fromkeys(self._traces.values()))

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        number = id(instance)
        reference, found = self._methods.get(number, (None, self))
        if reference is not None and reference() is instance:
            return Method(found, instance)
        found = Function(self._plain, self._input_signature, self._convert, self._features, self._reduces, instance)
        self._methods[number] = weakref.ref(instance, lambda _: self._methods.pop(number, None)), found
        return Method(found, instance)

    def __repr__(self) -> str:
        return f"<tensorflow function {self._name}, {self.experimental_get_tracing_count()} traces>"


class Method:
    """A function as a method of an object, which it keeps alive; the function does not."""

    __slots__ = ("__self__", "_function")

    def __init__(self, function: Function, instance: Any) -> None:
        self._function = function
        self.__self__ = instance

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._function(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._function, name)

    def __repr__(self) -> str:
        return f"<method of {self.__self__!r}: {self._function!r}>"


def function(
    func: Any = None,
    input_signature: Any = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """Make a Python function one that runs as a graph: `tf.function`, as a decorator or not.

    Args:
        input_signature: a `TensorSpec` for each argument: there is one trace, then.
        autograph: whether its control flow is converted.
        reduce_retracing: whether a second shape leads to a trace for any such shapes.
        experimental_autograph_options: optional features of AutoGraph, one or several.
    """
    options = experimental_autograph_options
    features = options if isinstance(options, (list, tuple, set, frozenset)) else () if options is None else (options,)

    def decorate(python_function: Callable[..., Any]) -> Function:
        reduces = reduce_retracing or bool(experimental_relax_shapes)
        return Function(python_function, input_signature, autograph, tuple(features), reduces)

    return decorate if func is None else decorate(func)


