"""The arguments of a function: the key of their trace, the tensors among them, and their signature.

TensorFlow stages tensors and arrays; all else, Python numbers included, is part of the key by its value. So keys differ
from those of the runtime (`runtime/dispatch/arguments.py`), which stages numbers and objects, too; only the keys of
values are the same. The key and the tensors are found in one pass, since a call takes only microseconds.
"""

from __future__ import annotations

import abc
import inspect
import itertools
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Any, TypeAlias

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.errors import InvalidArgumentError
from autograph.compat.tensorflow.core.shapes import TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor
from autograph.runtime.dispatch.arguments import arrange
from autograph.runtime.graph.static_keys import static_key

Bind: TypeAlias = Callable[..., Sequence[Any]]     # gives the values of parameters
_CONSTANTS = frozenset({bool, int, float, complex, str, bytes, type(None)})


class TraceType(abc.ABC):
    """The type of an argument, as a class of the user says it: `__tf_tracing_type__` of an object gives it.

    Objects whose types are equal share a trace, which sees the first of them.
    """

    @abc.abstractmethod
    def is_subtype_of(self, other: Any) -> bool:
        """Whether all values of this type are of the other type."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others: Any) -> Any:
        """The narrowest type of values of this type and others; None if there is none."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        """The value that a trace sees."""

    @abc.abstractmethod
    def __hash__(self) -> int: ...

    @abc.abstractmethod
    def __eq__(self, other: object) -> bool: ...


def key_of(value: Any, tensors: list[Tensor], spec: Any = None) -> Any:
    """The key of an argument: the dtypes and shapes of its tensors, and the values of all else.

    Args:
        tensors: a list, to which the tensors of the argument are added.
        spec: the `TensorSpec`, or structure of such, that it must fit; a tensor that does needs no key.

    Raises:
        TypeError: a tensor does not fit its spec.
    """
    kind = type(value)
    if isinstance(spec, TensorSpec):
        if kind is not TensorSpec:
            tensors.append(_fitting(value, spec))
        return None
    if kind is Tensor:
        tensors.append(value)
        return Tensor, value._dtype.name, value._shape._dims
    if kind in _CONSTANTS:
        return static_key(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return key_of(convert_to_tensor(value), tensors)
    if kind is TensorSpec:
        return Tensor, value.dtype.name, value.shape._dims
    form = pytree.kind_of(value)
    if form is None:
        tracing_type = getattr(kind, "__tf_tracing_type__", None)
        return static_key(value) if tracing_type is None else (TraceType, tracing_type(value, None))
    parts = form.children(value)
    specs = {} if spec is None else form.children(spec)
    own = getattr(value, "_key_", None)
    return kind, own, tuple(parts), tuple([key_of(part, tensors, specs.get(name)) for name, part in parts.items()])


def without_shapes(key: Any) -> Any:
    """A key without the shapes of tensors."""
    if type(key) is not tuple:
        return key
    return key[:2] if key and key[0] is Tensor else tuple(map(without_shapes, key))


def is_staged(value: Any) -> bool:
    """Whether an argument is a tensor, or becomes one."""
    return isinstance(value, (Tensor, np.ndarray, np.generic))


def _fitting(value: Any, spec: TensorSpec) -> Tensor:
    """An argument as a tensor that fits a spec."""
    tensor = convert_to_tensor(value, dtype_hint=spec.dtype)
    if not spec.is_compatible_with(tensor):
        raise TypeError(f"Binding inputs to tf.function failed: {tensor!r} is not compatible with {spec!r}")
    return tensor


class Signature:
    """The arguments that a trace is made for.

    Attributes:
        names: of the parameters; `specified` are their values, with specs in place of tensors.
        specs: these specs, each with a name.
        tree: `(args, kwargs)` of the specified values.
    """

    def __init__(self, parameters: Sequence[Parameter], values: Sequence[Any], specs: Sequence[Any]) -> None:
        self.names = [parameter.name for parameter in parameters]
        self._parameters = parameters
        self._given = list(itertools.islice(specs, len(values)))
        self.specs: list[tuple[str, TensorSpec]] = []
        self.specified = [self._take(*each) for each in zip(values, self.names, self._given)]
        self.tree = arrange(parameters, self.specified)

    def _take(self, value: Any, name: str, spec: Any = None) -> Any:
        """A value with specs in place of tensors."""
        if isinstance(value, TensorSpec):
            return self._add(value.name or name, spec or value)
        if isinstance(spec, TensorSpec):
            return self._add(name, spec)
        if is_staged(value):
            tensor = convert_to_tensor(value)
            return self._add(name, TensorSpec(tensor.shape, tensor.dtype))
        kind = pytree.kind_of(value)
        if kind is None:
            return value
        specs = {} if spec is None else kind.children(spec)
        parts = kind.children(value).items()
        return kind.rebuild(value, [self._take(part, f"{name}_{key}", specs.get(key)) for key, part in parts])

    def _add(self, name: str, spec: TensorSpec) -> TensorSpec:
        own = TensorSpec(spec.shape, spec.dtype, spec.name)  # of this place only
        self.specs.append((name, own))
        return own

    def tensors(self, bind: Bind, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Tensor]:
        """The tensors of a call: of all arguments, of all but those whose values are known, or by the names of specs.

        Args:
            bind: gives the values of the parameters.

        Raises:
            TypeError: an argument is missing, is none of the function's, or has another value than the known one.
        """
        try:
            return self._tensors_in(self._bound(bind, args, kwargs))
        except TypeError:
            named = {**dict(zip([name for name, _ in self.specs], args)), **kwargs}
            if len(named) < len(args) + len(kwargs) or named.keys() != {name for name, _ in self.specs}:
                raise
            return [convert_to_tensor(named[name], dtype_hint=spec.dtype) for name, spec in self.specs]

    def _bound(self, bind: Bind, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Sequence[Any]:
        try:
            return bind(*args, **kwargs)
        except TypeError:
            known = [
                parameter if _has_specs(value) else parameter.replace(default=value)
                for parameter, value in zip(self._parameters, self.specified)
            ]
            # Those with a default need not be the last ones.
            found = inspect.Signature(known, __validate_parameters__=False).bind(*args, **kwargs)
            found.apply_defaults()
            return list(found.arguments.values())

    def _tensors_in(self, values: Sequence[Any]) -> list[Tensor]:
        tensors: list[Tensor] = []
        for name, value, known, spec in zip(self.names, values, self.specified, self._given):
            wanted = known if isinstance(known, TensorSpec) and not is_staged(value) else spec
            key = key_of(value, tensors, wanted)
            if not _has_specs(known) and key != key_of(known, []):
                raise TypeError(f"the argument {name} of this concrete function is {known!r}, not {value!r}")
        return tensors

    def check(self, tensors: Sequence[Tensor]) -> None:
        """Check that tensors fit the specs.

        Raises:
            TypeError: they do not; InvalidArgumentError if one has another type.
        """
        if len(tensors) != len(self.specs):
            raise TypeError(f"this concrete function takes {len(self.specs)} tensors, not {len(tensors)}")
        for number, (tensor, (name, spec)) in enumerate(zip(tensors, self.specs)):
            if tensor.dtype is not spec.dtype:
                raise InvalidArgumentError(
                    f"cannot compute the function as input #{number}(zero-based), {name}, was expected to be a "
                    f"{spec.dtype.kernel_name} tensor but is a {tensor.dtype.kernel_name} tensor"
                )
            if not spec.is_compatible_with(tensor):
                raise TypeError(f"the argument {name} of this concrete function is {spec!r}, not {tensor!r}")

    def filled(self, tensors: Sequence[Tensor]) -> Any:
        """`(args, kwargs)` with tensors in place of their specs."""
        by_spec = dict(zip([id(spec) for _, spec in self.specs], tensors))
        return pytree.map(lambda leaf: by_spec.get(id(leaf), leaf), self.tree)

    def typed(self, structure: Any) -> str:
        """The parameters with their types, and the type of the result."""
        parts = [
            f"{name}: {value if _has_specs(value) else f'Literal[{value!r}]'}"
            for name, value in zip(self.names, self.specified)
        ]
        return f"({', '.join(parts)}) -> {structure}"

    def pretty(self, name: str, structure: Any) -> str:
        """A function of that name, and the structure that it returns, for people to read."""
        arguments = list(zip(self.names, self.specified))
        shown = [part if isinstance(value, TensorSpec) else f"{part}={value!r}" for part, value in arguments]
        staged = [f"    {part}: {_pretty(value)}" for part, value in arguments if isinstance(value, TensorSpec)]
        lines = [f"{name}({', '.join(shown)})", *(["  Args:", *staged] if staged else [])]
        return "\n".join([*lines, "  Returns:", *(f"    {_pretty(leaf)}" for leaf in pytree.flatten(structure))])


def _has_specs(value: Any) -> bool:
    return any(isinstance(leaf, TensorSpec) for leaf in pytree.flatten(value))


def _pretty(leaf: Any) -> str:
    return f"{leaf.dtype.name} Tensor, shape={leaf.shape}" if isinstance(leaf, TensorSpec) else repr(leaf)
