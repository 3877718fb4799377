"""Operands of machine code, and the emitter: the interface by which ops describe their lowering.

A *lowering* of an op (`OpDef.lower`) is a function `rule(emit, *args, **kwargs)`. Where a node has values, it gets
operands, and it gives back the operand of what the op gives. It speaks to the `Emitter` only, so no op knows LLVM.

A lowering does what Python and NumPy do, exactly, or it *leaves*: under a condition (`emit.leave_if`), where the
machine would do something else, as when an integer does not fit into its bits, an index is out of bounds, or NumPy
would warn; or always (`NoLowering`), for operands that it knows nothing of. What has been left is gone on with in
Python, at the very node, which therefore must not have had any effect yet. See
`autograph.runtime.engines.native.engine`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Any, Protocol, TypeAlias

import numpy as np

from autograph.common import disk_cache
from autograph.runtime.graph.types import TensorType

# The dtypes that machine code knows. (By their characters: `longlong` is another class of scalars than `int64`.)
DTYPES: dict[str, np.dtype[Any]] = {
    np.dtype(name).char: np.dtype(name)
    for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
}
# And those of complex numbers, as scalars and elements of arrays.
COMPLEX: dict[str, np.dtype[Any]] = {np.dtype(name).char: np.dtype(name) for name in ("complex64", "complex128")}


class NoLowering(Exception):
    """There is no machine code for an operation on such operands."""


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class Number:
    """A Python number or NumPy scalar; what computes it is up to the emitter."""

    type: TensorType
    ref: Any
    known: int | float | None = None        # its value, if it is known already

    @property
    def kind(self) -> Any:
        """Its kind, apart from its value."""
        return self.type


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class Complex:
    """A complex number of Python's or NumPy's.

    Attributes:
        parts: the real one and the imaginary one, floats of the same kind.
    """

    type: TensorType
    parts: tuple[Any, Any]

    @property
    def kind(self) -> Any:
        return "complex", self.type


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class Range:
    """A `range` of integers of at most 53 bits, in steps of at most 31, so that counting never overflows.

    Attributes:
        parts: numbers: its start, its stop, and its step if that is not known.
        known: its step, if that is known already.
        down: whether that is negative, if that is known.
    """

    parts: tuple[Any, ...]
    known: int | None
    down: bool | None

    @property
    def kind(self) -> Any:
        return "range", self.known, self.down


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class Array:
    """An array with `ndim` dimensions: an argument, or one that was made meanwhile.

    Attributes:
        input: the number of the argument that it is; -1 for any other.
        contiguous: whether its elements stand side by side, in C's order.
        flags: NumPy's, as far as they matter.
        ref: the object, if it is no argument.
        facts: likewise where its data are, its lengths and its strides.
    """

    input: int
    dtype: np.dtype[Any]
    ndim: int
    contiguous: bool
    writeable: bool
    flags: int
    ref: Any = None
    facts: tuple[Any, ...] = ()

    @property
    def kind(self) -> Any:
        return ("array", self.input) if self.input >= 0 else ("array", self.dtype, self.ndim, self.flags)


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class Given:
    """Any other object that was handed in, and can only be handed on: the argument of that number.

    Attributes:
        of: what kind of object it is.
    """

    input: int
    of: Any
    ref: Any

    @property
    def kind(self) -> Any:
        return "given", self.input


@dataclass(frozen=True, slots=True)
class Boxed:
    """Any other object that has come up meanwhile, and can only be handed on."""

    ref: Any

    @property
    def kind(self) -> Any:
        return "boxed"


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class Fixed:
    """A constant that is no number: None, a string, what stands for an unbound variable."""

    value: Any

    @property
    def kind(self) -> Any:
        return "fixed", id(self.value)


Operand: TypeAlias = "Number | Complex | Range | Array | Given | Boxed | Fixed"


def mapped(function: Callable[[Any, Any], Any], operand: Any, path: tuple[int, ...] = ()) -> Any:
    """`function(path, each)` for each operand in a structure of tuples, and for the parts of numbers and ranges."""
    if isinstance(operand, (Complex, Range)):
        parts = mapped(function, operand.parts, path)
        return operand if parts is operand.parts else replace(operand, parts=parts)
    if isinstance(operand, tuple):
        found = tuple([mapped(function, each, (*path, place)) for place, each in enumerate(operand)])
        return operand if all(map(is_, operand, found)) else found
    return function(path, operand)


def is_held(operand: Any) -> bool:
    """Whether it is an object that has come up meanwhile, so that it has to be kept alive, and let go."""
    return isinstance(operand, Boxed) or (isinstance(operand, Array) and operand.input < 0)


def unplaced(operand: Any) -> Any:
    """The facts about an operand that hold wherever paths meet."""
    if isinstance(operand, Number):
        return Number(operand.type, None)
    if isinstance(operand, Boxed):
        return Boxed(None)
    return replace(operand, ref=None, facts=()) if is_held(operand) else operand


def without_refs(operand: Any) -> Any:
    """A structure of operands without what computes them, which belongs to the code that is being emitted."""
    return mapped(lambda _, each: replace(each, ref=None) if hasattr(each, "ref") else each, operand)


def kind_of(operand: Any) -> Any:
    """The kinds of a structure of operands, apart from values."""
    return tuple(map(kind_of, operand)) if isinstance(operand, tuple) else operand.kind


class Emitter(Protocol):
    """Makes machine code, one operation after the other.

    Conditions are numbers of type `py.bool`. Where there are two numbers, they are of one type.
    """

    def constant(self, value: Any, type: TensorType) -> Number:
        """A number of that type."""

    def leave_if(self, condition: Number) -> None:
        """Go on in Python, at this node, if the condition holds."""

    def doubt_if(self, condition: Number) -> None:
        """Leave if the condition holds, but there is no harm in computing on for a while as if it did not."""

    def leave_if_warned(self, found: Number, *args: Number) -> None:
        """Leave if NumPy would warn of what it has found of floats: an infinity of finite ones, a NaN of no NaN."""

    def integer(self, name: str, a: Number, b: Number) -> Number:
        """`add sub mul` and so on, of integers: with the bits that there are."""

    def overflowing(self, name: str, a: Number, b: Number) -> tuple[Number, Number]:
        """`add sub mul shl` of integers, and whether to leave as the result may have more bits than there are."""

    def floating(self, name: str, a: Number, b: Number) -> Number:
        """`add sub mul div rem` of floats, by the rules of IEEE 754."""

    def function(self, name: str, *args: Number) -> Number:
        """A function of floats that is exact or rounded correctly: `sqrt fabs floor ceil trunc rint copysign`."""

    def library(self, name: str, *args: Number) -> Number:
        """A function of the C library on `float64`, which is what Python calls; `NoLowering` if it is not."""

    def ufunc(self, ufunc: np.ufunc, type: TensorType, *args: Number) -> Number:
        """The result of NumPy's own loop for one element of each; `NoLowering` if it cannot be called."""

    def negative(self, a: Number) -> Number:
        """`-a`, of a float."""

    def compare(self, name: str, a: Number, b: Number) -> Number:
        """`lt le eq ne gt ge`; with a NaN, only `ne` holds."""

    def convert(self, a: Number, type: TensorType) -> Number:
        """To another type, as C does: what does not fit is the emitter's secret."""

    def select(self, condition: Number, a: Number, b: Number) -> Number:
        """`a if condition else b`, of which both are computed already."""

    def length(self, x: Array, axis: int) -> Number:
        """A dimension of an array."""

    def place(self, index: Number, length: Number) -> Number:
        """Where an index leads, counted from 0, which may be negative; leave if it is out of bounds."""

    def make_array(self, dtype: np.dtype[Any], lengths: Sequence[Number], zeros: bool) -> Array:
        """A new one, in C's order, of zeros or of anything; only for ops that are said to make arrays, see `lower`."""

    def copy_array(self, x: Array) -> Array:
        """Likewise a copy."""

    def load(self, x: Array, index: Sequence[Number]) -> Number | Complex:
        """An element; the indices must be within bounds."""

    def store(self, x: Array, index: Sequence[Number], value: Number | Complex) -> None:
        """Set an element; the value must be of the array's dtype."""
