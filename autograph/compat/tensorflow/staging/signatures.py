"""The arguments of a function: the key of their trace, their staged parts, and their signature."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter
from typing import Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.shapes import TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor
from autograph.runtime.dispatch.arguments import arrange
from autograph.runtime.graph.static_keys import Same

_VALUES = frozenset({bool, int, str, bytes, type(None)})  # told apart by their class and value
_NUMBERS = frozenset({float, complex})  # 0.0 is not -0.0


def key_of(value: Any, tensors: list[Tensor], wanted: Any = None) -> Any:
    """The key of an argument: of tensors type and shape, of all else the value; `tensors` get those in it.

    Args:
        wanted: the spec, or structure of specs, that it must fit; a tensor that does needs no key.
    """
    kind = type(value)
    if isinstance(wanted, TensorSpec):
        if kind is not TensorSpec:
            tensors.append(_fitting(value, wanted))
        return None
    if kind is Tensor:
        tensors.append(value)
        return Tensor, value._dtype.name, value._shape._dims
    if kind in _VALUES:
        return kind, value
    if kind in _NUMBERS:
        return kind, repr(value)
    if isinstance(value, (np.ndarray, np.generic)):
        return key_of(convert_to_tensor(value), tensors)
    if kind is TensorSpec:
        return Tensor, value.dtype.name, value.shape._dims
    form = pytree.kind_of(value)
    if form is None:
        return Same(value)
    parts = form.children(value)
    specs = {} if wanted is None else form.children(wanted)
    own = getattr(value, "_key_", None)
    return kind, own, tuple(parts), tuple([key_of(part, tensors, specs.get(name)) for name, part in parts.items()])


def without_shapes(key: Any) -> Any:
    """A key that is the same for tensors of all shapes."""
    if type(key) is not tuple:
        return key
    return key[:2] if key and key[0] is Tensor else tuple(map(without_shapes, key))


def is_staged(value: Any) -> bool:
    """Whether an argument is a tensor, or becomes one."""
    return isinstance(value, (Tensor, np.ndarray, np.generic))


def _fitting(value: Any, spec: TensorSpec) -> Tensor:
    """An argument as its spec has it."""
    tensor = convert_to_tensor(value, dtype_hint=spec.dtype)
    if not spec.is_compatible_with(tensor):
        raise TypeError(f"Binding inputs to tf.function failed: {tensor!r} is not compatible with {spec!r}")
    return tensor


class Signature:
    """The arguments that a trace is made for.

    Attributes:
        names: of the parameters; `specified` are their values, with specs in the place of tensors.
        specs: these specs, each with a name.
        tree: `(args, kwargs)` of the specified values.
    """

    def __init__(self, parameters: Sequence[Parameter], values: Sequence[Any], wanted: Sequence[Any]) -> None:
        self.names = [parameter.name for parameter in parameters]
        self.specs: list[tuple[str, TensorSpec]] = []
        self.specified = [self._take(*each) for each in zip(values, self.names, wanted)]
        self.tree = arrange(parameters, self.specified)

    def _take(self, value: Any, name: str, wanted: Any = None) -> Any:
        """A value with specs for its tensors."""
        if isinstance(value, TensorSpec):
            return self._add(value.name or name, wanted or value)
        if isinstance(wanted, TensorSpec):
            return self._add(name, wanted)
        if is_staged(value):
            tensor = convert_to_tensor(value)
            return self._add(name, TensorSpec(tensor.shape, tensor.dtype))
        kind = pytree.kind_of(value)
        if kind is None:
            return value
        specs = {} if wanted is None else kind.children(wanted)
        parts = kind.children(value).items()
        return kind.rebuild(value, [self._take(part, f"{name}_{key}", specs.get(key)) for key, part in parts])

    def _add(self, name: str, spec: TensorSpec) -> TensorSpec:
        own = TensorSpec(spec.shape, spec.dtype, spec.name)  # of this place only
        self.specs.append((name, own))
        return own

    def check(self, tensors: Sequence[Tensor]) -> None:
        """Check that tensors fit the specs.

        Raises:
            TypeError: they do not.
        """
        if len(tensors) != len(self.specs):
            raise TypeError(f"this concrete function takes {len(self.specs)} tensors, not {len(tensors)}")
        for tensor, (name, spec) in zip(tensors, self.specs):
            if not spec.is_compatible_with(tensor):
                raise TypeError(f"the argument {name} of this concrete function is {spec!r}, not {tensor!r}")

    def filled(self, tensors: Sequence[Tensor]) -> Any:
        """`(args, kwargs)` with tensors in the place of their specs."""
        given = dict(zip([id(spec) for _, spec in self.specs], tensors))
        return pytree.map(lambda leaf: given.get(id(leaf), leaf), self.tree)

    def told(self, name: str, returned: Any) -> str:
        """A function of that name, with what it returns, for people to read."""
        named = list(zip(self.names, self.specified))
        fixed = [part if isinstance(value, TensorSpec) else f"{part}={value!r}" for part, value in named]
        lines = [f"{name}({', '.join(fixed)})"]
        staged = [f"    {part}: {_told(value)}" for part, value in named if isinstance(value, TensorSpec)]
        if staged:
            lines += ["  Args:", *staged]
        return "\n".join([*lines, "  Returns:", *(f"    {_told(leaf)}" for leaf in pytree.flatten(returned))])


def _told(leaf: Any) -> str:
    return f"{leaf.dtype.name} Tensor, shape={leaf.shape}" if isinstance(leaf, TensorSpec) else repr(leaf)
