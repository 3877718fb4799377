"""`tf.function`: one trace for each kind of tensors and each value of all else."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from types import MethodType
from typing import Any

import numpy as np

from autograph import nest
from autograph.compat.tensorflow import graphs, variables
from autograph.compat.tensorflow.backend import TENSORFLOW
from autograph.compat.tensorflow.convert import convert_to_tensor
from autograph.compat.tensorflow.shapes import TensorSpec
from autograph.compat.tensorflow.tensor import Tensor
from autograph.compat.tensorflow.tracing import Traced, call, trace
from autograph.operators.backend import traced_by


class ByIdentity:
    """Something that is told apart by its identity, in a key."""

    __slots__ = ("it",)

    def __init__(self, it: Any) -> None:
        self.it = it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and other.it is self.it

    def __hash__(self) -> int:
        return id(self.it)


class ConcreteFunction:
    """A function for arguments of certain kinds.

    Attributes:
        graph: what it runs.
    """

    def __init__(self, function: Function, arguments: Arguments, traced: Traced, graph: graphs.FuncGraph) -> None:
        self._function = function
        self._arguments = arguments
        self._traced = traced
        self.graph = graph

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._run(self._function._read(args, kwargs))

    def _run(self, arguments: Arguments) -> Any:
        values = [tensor._value for tensor in arguments.tensors]
        if not graphs.tapes():
            return self._traced(values)
        reads = [variable._as_tensor() for variable in self.graph.accessed.values()]
        result = self._traced(values)
        outputs = [leaf for leaf in nest.flatten(result) if isinstance(leaf, Tensor)]
        graphs.note(self._again, [*arguments.tensors, *reads], outputs)
        return result

    def _again(self, *tensors: Tensor) -> list[Tensor]:
        """Make a call a part of the graph that is being made, without its effects."""
        graph = graphs.current()
        assert graph is not None, "calls are repeated only in graphs"
        given = dict(zip([id(spec) for _, spec in self._arguments.specs], tensors))
        args, kwargs = nest.map(lambda leaf: given.get(id(leaf), leaf), self._arguments.tree)
        before = graph.reads, graph.replaying
        graph.reads = dict(zip(self.graph.accessed, tensors[len(given) :]))
        graph.replaying = True
        try:
            with traced_by(TENSORFLOW):
                found = call(self._function.python_function, args, kwargs, self._function._convert)
        finally:
            graph.reads, graph.replaying = before
        return [convert_to_tensor(leaf) for leaf in nest.flatten(found) if leaf is not None]

    @property
    def name(self) -> str:
        return self.graph.name

    @property
    def structured_input_signature(self) -> Any:
        return self._arguments.tree

    @property
    def structured_outputs(self) -> Any:
        return self._traced.structure

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """What it takes and gives, for people to read."""
        fixed = [f"{name}={value!r}" if not isinstance(value, TensorSpec) else name for name, value in self._named()]
        lines = [f"{self._function._name}({', '.join(fixed)})"]
        staged = [(name, value) for name, value in self._named() if isinstance(value, TensorSpec)]
        if staged:
            lines += ["  Args:", *(f"    {name}: {_told(value)}" for name, value in staged)]
        returned = self._traced.structure
        lines += ["  Returns:", *(f"    {_told(leaf)}" for leaf in nest.flatten(returned))]
        return "\n".join(lines)

    def _named(self) -> list[tuple[str, Any]]:
        return list(zip(self._arguments.names, self._arguments.specified))

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.pretty_printed_signature().splitlines()[0]} at 0x{id(self):X}>"

    __str__ = pretty_printed_signature


def _told(leaf: Any) -> str:
    return f"{leaf.dtype.name} Tensor, shape={leaf.shape}" if isinstance(leaf, TensorSpec) else repr(leaf)


class Arguments:
    """The arguments of a call, taken apart.

    Attributes:
        key: of the trace that takes them.
        names: of the parameters; `specified` are their values, with specs in the place of tensors.
        tree: `(args, kwargs)` of such values.
        tensors: what is staged, `specs` of what kind each is, with a name for it.
    """

    def __init__(self, bound: inspect.BoundArguments, signature: Any) -> None:
        self.names = list(bound.arguments)
        self.tensors: list[Tensor] = []
        self.specs: list[tuple[str, TensorSpec]] = []
        wanted = [None] * len(self.names) if signature is None else signature
        parts = [self._take(value, *rest) for value, *rest in zip(bound.arguments.values(), self.names, wanted)]
        self.specified = [part for part, _ in parts]
        self.key = tuple(key for _, key in parts)
        staged = inspect.BoundArguments(bound.signature, dict(zip(self.names, self.specified)))
        self.tree = staged.args, staged.kwargs

    def _take(self, value: Any, name: str, wanted: Any = None) -> tuple[Any, Any]:
        """A value with specs for its tensors, and its key.

        Args:
            wanted: the spec, or structure of specs, that it must fit.
        """
        if isinstance(value, TensorSpec):
            return self._specified(value.name or name, wanted or value)
        if isinstance(wanted, TensorSpec):
            value = _as_specified(value, wanted)
        if isinstance(value, (Tensor, np.ndarray, np.generic)):
            tensor = convert_to_tensor(value)
            self.tensors.append(tensor)
            return self._specified(name, wanted or TensorSpec(tensor.shape, tensor.dtype))
        kind = nest.kind_of(value)
        if kind is None:
            return value, _key_of(value)
        specs = {} if wanted is None else kind.children(wanted)
        parts = [
            self._take(part, f"{name}_{key}", specs.get(key)) for key, part in kind.children(value).items()
        ]
        keys = tuple(key for _, key in parts)
        return kind.rebuild(value, [part for part, _ in parts]), (type(value), tuple(kind.children(value)), keys)

    def _specified(self, name: str, spec: TensorSpec) -> tuple[TensorSpec, Any]:
        own = TensorSpec(spec.shape, spec.dtype, spec.name)  # of this place only
        self.specs.append((name, own))
        return own, (own.dtype, own.shape)


def _key_of(value: Any) -> Any:
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return type(value), value, str(value)  # 0.0 is not -0.0
    return ByIdentity(value)


def _as_specified(value: Any, spec: Any) -> Any:
    """An argument as its spec has it."""
    tensor = convert_to_tensor(value, dtype_hint=spec.dtype)
    if not spec.is_compatible_with(tensor):
        raise TypeError(f"Binding inputs to tf.function failed: {tensor!r} is not compatible with {spec!r}")
    return tensor


class Function:
    """A Python function that is traced into graphs. Tensors among the arguments are staged, all else is static."""

    def __init__(
        self, python_function: Callable[..., Any], input_signature: Any, convert: bool, features: Any, owner: Any = None
    ) -> None:
        self._plain = python_function
        self._owner = None if owner is None else weakref.ref(owner)  # the object that it is a method of
        self._name = getattr(python_function, "__name__", "function")
        self._input_signature = input_signature
        self._convert = convert
        self._features = features
        self._signature = inspect.signature(self.python_function)
        self._traces: dict[Any, ConcreteFunction] = {}
        self._methods: dict[int, tuple[weakref.ref[Any], Function]] = {}  # by the ids of objects
        self._has_variables = False
        functools.update_wrapper(self, python_function)

    @property
    def python_function(self) -> Callable[..., Any]:
        if self._owner is None:
            return self._plain
        owner = self._owner()
        if owner is None:
            raise ReferenceError(f"the object is gone that {self._name} is a method of")
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
        arguments = self._read(args, kwargs)
        return self._concrete(arguments)._run(arguments)

    def _read(self, args: Any, kwargs: Any) -> Arguments:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return Arguments(bound, self._input_signature)

    def _concrete(self, arguments: Arguments) -> ConcreteFunction:
        found = self._traces.get(arguments.key)
        if found is None:
            found = self._traces[arguments.key] = self._trace(arguments)
        return found

    def _trace(self, arguments: Arguments) -> ConcreteFunction:
        traced, graph = self._traced(arguments)
        if graph.variables:  # those belong to the function from now on; a second trace must make none
            self._has_variables = True
            traced, graph = self._traced(arguments)
        return ConcreteFunction(self, arguments, traced, graph)

    def _traced(self, arguments: Arguments) -> tuple[Traced, graphs.FuncGraph]:
        return trace(self.python_function, self._name, arguments.tree, arguments.specs, self._features,
                     self._check_variables, self._convert)  # fmt: skip

    def _check_variables(self) -> None:
        if self._has_variables or self._traces:
            raise variables.singleton_error()

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The function for such arguments, for which a `TensorSpec` may stand."""
        if not args and not kwargs and self._input_signature is not None:
            args = tuple(self._input_signature)
        return self._concrete(self._read(args, kwargs))

    def experimental_get_tracing_count(self) -> int:
        return len(self._traces)

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """What it has been traced for, one below the other."""
        return "\n\n".join(each.pretty_printed_signature() for each in self._traces.values())

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        number = id(instance)
        known = self._methods.get(number)
        if known is not None and known[0]() is instance:
            return known[1]
        found = Function(self._plain, self._input_signature, self._convert, self._features, instance)
        self._methods[number] = weakref.ref(instance, lambda _: self._methods.pop(number, None)), found
        return found

    def __repr__(self) -> str:
        return f"<tensorflow function {self._name}, {len(self._traces)} traces>"


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
        experimental_autograph_options: optional features of AutoGraph, one or several.
    """
    options = experimental_autograph_options
    features = options if isinstance(options, (list, tuple, set, frozenset)) else () if options is None else (options,)

    def decorate(python_function: Callable[..., Any]) -> Function:
        return Function(python_function, input_signature, autograph, tuple(features))

    return decorate if func is None else decorate(func)


