"""`tf.function`: one trace for each kind of tensors and each value of all else."""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph import nest
from autograph.compat.tensorflow import graphs, variables
from autograph.compat.tensorflow.convert import convert_to_tensor
from autograph.compat.tensorflow.shapes import TensorSpec
from autograph.compat.tensorflow.tensor import Tensor
from autograph.compat.tensorflow.tracing import Traced, call, trace


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
        return self._traced([tensor._value for tensor in arguments.tensors])

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
        given = list(bound.arguments.values())
        if signature is not None:
            given = [_as_specified(value, spec) for value, spec in zip(given, signature)]
        parts = [self._take(value, name) for value, name in zip(given, self.names)]
        if signature is not None:
            for (name, _), wanted in zip(list(self.specs), nest.flatten(signature)):
                self.specs[[n for n, _ in self.specs].index(name)] = name, wanted
        self.specified = [part for part, _ in parts]
        self.key = "signature" if signature is not None else tuple(key for _, key in parts)
        self._bound = bound

    def staged(self) -> tuple[Any, Any]:
        """`(args, kwargs)` with the specs."""
        rest = iter([spec for _, spec in self.specs])
        values = [nest.map(lambda leaf: next(rest) if isinstance(leaf, TensorSpec) else leaf, each)
                  for each in self.specified]  # fmt: skip
        bound = inspect.BoundArguments(self._bound.signature, dict(zip(self.names, values)))
        return bound.args, bound.kwargs

    @property
    def tree(self) -> Any:
        return self.staged()

    def _take(self, value: Any, name: str) -> tuple[Any, Any]:
        """A value with specs for its tensors, and its key."""
        if isinstance(value, TensorSpec):
            spec = TensorSpec(value.shape, value.dtype, value.name)
            self.specs.append((value.name or name, spec))
            return spec, (spec.dtype, spec.shape)
        if isinstance(value, (Tensor, np.ndarray, np.generic)):
            tensor = convert_to_tensor(value)
            spec = TensorSpec(tensor.shape, tensor.dtype)
            self.tensors.append(tensor)
            self.specs.append((name, spec))
            return spec, (spec.dtype, spec.shape)
        kind = nest.kind_of(value)
        if kind is None:
            return value, _key_of(value)
        parts = [self._take(part, f"{name}_{key}") for key, part in kind.children(value).items()]
        keys = tuple(key for _, key in parts)
        return kind.rebuild(value, [part for part, _ in parts]), (type(value), tuple(kind.children(value)), keys)


def _key_of(value: Any) -> Any:
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return type(value), value, str(value)  # 0.0 is not -0.0
    return ByIdentity(value)


def _as_specified(value: Any, spec: Any) -> Any:
    """An argument as its spec has it."""
    if isinstance(value, TensorSpec) or not isinstance(spec, TensorSpec):
        return value
    tensor = convert_to_tensor(value, dtype_hint=spec.dtype)
    if not spec.is_compatible_with(tensor):
        raise TypeError(f"Binding inputs to tf.function failed: {tensor!r} is not compatible with {spec!r}")
    return tensor


class Function:
    """A Python function that is traced into graphs. Tensors among the arguments are staged, all else is static."""

    def __init__(
        self, python_function: Callable[..., Any], name: str, input_signature: Any, convert: bool, features: Any
    ) -> None:
        self._python_function = python_function
        self._name = getattr(python_function, "__name__", name)
        self._input_signature = input_signature
        self._convert = convert
        self._features = features
        self._signature = inspect.signature(python_function)
        self._traces: dict[Any, ConcreteFunction] = {}
        self._bound: weakref.WeakKeyDictionary[Any, Function] = weakref.WeakKeyDictionary()
        self._has_variables = False
        functools.update_wrapper(self, python_function)

    @property
    def python_function(self) -> Callable[..., Any]:
        return self._python_function

    @property
    def input_signature(self) -> Any:
        return self._input_signature

    @property
    def __tf_inline__(self) -> Callable[..., Any]:
        return lambda *args, **kwargs: call(self._python_function, args, kwargs, self._convert)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if graphs.functions_run_eagerly():
            return self._python_function(*args, **kwargs)
        if graphs.current() is not None:
            return call(self._python_function, args, kwargs, self._convert)
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
        return trace(self._python_function, self._name, arguments.staged(), arguments.specs, self._features,
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
        found = self._bound.get(instance)
        if found is None:
            method = self._python_function.__get__(instance, owner)
            signature = self._input_signature
            found = Function(method, self._name, signature, self._convert, self._features)
            self._bound[instance] = found
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
        return Function(python_function, "function", input_signature, autograph, tuple(features))

    return decorate if func is None else decorate(func)


