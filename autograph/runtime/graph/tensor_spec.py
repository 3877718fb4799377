"""Specs of arguments: dtype and shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from autograph.common.trace_rules import on_behalf
from autograph.runtime.graph.types import ANY, ObjectType, TensorType, short_name


class TensorSpec:
    """An array of a dtype and a shape, in which `None` stands for a dimension of any length.

    Args:
        shape: `()` also stands for numbers, and `None` for arrays of any shape.
        dtype: of the elements, as NumPy knows it: `np.float32`, `"f4"`, `float`.
        name: what to call the argument, where its parameter has no name of its own.

    Raises:
        TypeError: a dimension is neither a length nor None.

    Example:
        >>> f = ag.function(lambda x: x + 1, input_signature=[ag.TensorSpec((None,), "f8")])
        >>> f(np.array([1.0, 2.0]))
        array([2., 3.])
    """

    __slots__ = ("dtype", "name", "shape")

    @on_behalf
    def __init__(self, shape: Sequence[int | None] | int | None = (), dtype: Any = np.float64, name: str = "") -> None:
        self.shape = None if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = np.dtype(dtype)
        self.name = name
        for dimension in self.shape or ():
            if dimension is not None and (not isinstance(dimension, int) or dimension < 0):
                raise TypeError(f"a dimension of a shape is a length or None, not {dimension!r}")

    @classmethod
    def of(cls, value: Any, name: str = "") -> TensorSpec:
        """The spec of an array or number.

        Args:
            value: the array or number.
            name: what to call the argument.
        """
        array = np.asarray(value)
        return cls(array.shape, array.dtype, name)

    @property
    def type(self) -> TensorType | ObjectType:
        """The type of such an argument in the graph."""
        if self.shape is None:
            return ANY
        return TensorType(self.dtype, self.shape, exact=self.shape != ())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return (self.shape, self.dtype, self.name) == (other.shape, other.dtype, other.name)

    def __hash__(self) -> int:
        return hash((self.shape, self.dtype, self.name))

    def __repr__(self) -> str:
        name = f", name={self.name!r}" if self.name else ""
        return f"TensorSpec({self.shape}, {self.dtype.name!r}{name})"

    def __str__(self) -> str:
        if self.shape is None:
            return f"{short_name(self.dtype)} of any shape"
        return f"{short_name(self.dtype)}[{','.join('?' if d is None else str(d) for d in self.shape)}]"
