"""Operands of machine code, and the emitter: the interface by which ops describe their lowering.

A *lowering* of an op (`OpDef.lower`) is a function `rule(emit, *args, **kwargs)`. It gets operands in place of values,
and returns the operand of the result. It calls the `Emitter` only, so no op knows LLVM.

A lowering does exactly what Python and NumPy do, or it *leaves* machine code. It leaves under a condition
(`emit.leave_if`), if the machine would do something else: an integer overflows, an index is out of bounds, NumPy would
warn. For operands that it does not know it raises `NoLowering`. Python then goes on at the very node, which therefore
must not have had any effect before. See `autograph.runtime.engines.native.engine`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from inspect import CO_VARARGS, CO_VARKEYWORDS, signature
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
    """An operation has no machine code for these operands."""


@disk_cache.storable
@dataclass(slots=True, unsafe_hash=True)       # not frozen, since that takes twice the time to make one
class Number:
    """A Python number or NumPy scalar, which never changes; only the emitter knows what computes it."""

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
class Mixed:
    """A Python number that is an integer or a float, whichever turns out.

    Attributes:
        parts: its value as a float, which is exact, and whether it is an integer.
    """

    parts: tuple[Any, Any]

    @property
    def kind(self) -> Any:
        return "mixed"


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

    def at(self, parts: tuple[Any, ...]) -> Range:
        """A range of other bounds, with the same step."""
        return Range(parts, self.known, self.down)


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class Array:
    """An array: an argument, or one that was made since.

    Attributes:
        input: the number of the argument that it is; -1 for any other.
        contiguous: whether its elements are contiguous in C's order.
        flags: the relevant flags of NumPy.
        ref: the object, if it is not an argument.
        facts: the address of its data, its lengths and its strides, if it is not an argument.
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


@dataclass(frozen=True, slots=True)
class View:
    """A part of an array, or all of it, as its elements in memory: there is no object.

    Attributes:
        data: the address of its first element, an integer.
        shape: its lengths.
        strides: the bytes from one element to the next, along each axis.
        in_order: whether the axes are known to be in C's order, with the largest steps along the first.
    """

    dtype: np.dtype[Any]
    data: Number
    shape: tuple[Number, ...]
    strides: tuple[Number, ...]
    writeable: bool
    in_order: bool = True

    @property
    def length(self) -> Number:
        """The length of a vector."""
        return self.shape[0]


@dataclass(frozen=True, slots=True)
class Gathered:
    """Elements of a vector, or rows of a matrix, which are copied where they are read: `x[[2, 0, 1]]`.

    Attributes:
        of: the vector or matrix.
        places: a vector of integers, negative ones counted from the end.
    """

    of: View
    places: View

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.of.dtype

    @property
    def shape(self) -> tuple[Number, ...]:
        return *self.places.shape, *self.of.shape[1:]

    @property
    def length(self) -> Number:
        return self.places.length


@dataclass(frozen=True, slots=True)
class Computed:
    """A vector, or a matrix and so on, whose elements are computed where they are stored.

    Attributes:
        shape: its lengths.
        takes: the dtype that the operands of the rule have.
        rule: computes an element, see `number_rules`.
        parts: vectors of that shape, whose elements are converted to that dtype, and numbers of that dtype.
        singly: whether the rule computes one element at a time.
    """

    dtype: np.dtype[Any]
    shape: tuple[Number, ...]
    takes: np.dtype[Any]
    rule: Callable[..., Number | Complex]
    parts: tuple[View | Computed | Number | Complex, ...]
    singly: bool = False

    @property
    def length(self) -> Number:
        """The length of a vector."""
        return self.shape[0]


@dataclass(frozen=True, slots=True)
class Rows:
    """Parts of an array along its first axis, which are copied where they are stored: `x[[2, 0]]`."""

    parts: tuple[View, ...]


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class Given:
    """Any other object that is an argument; one that is no list can only be passed on.

    Attributes:
        of: the kind of object.
    """

    input: int
    of: Any
    ref: Any

    @property
    def kind(self) -> Any:
        return "given", self.input


@dataclass(frozen=True, slots=True)
class Boxed:
    """Any other object that was made since.

    Attributes:
        of: its class, if it is a list, whose items can be read and set, or an iterator over a list or tuple; None if it
            can only be passed on.
    """

    ref: Any
    of: type | None = None

    @property
    def kind(self) -> Any:
        return "boxed", self.of


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class Fixed:
    """A constant that is no number: None, a string, an unbound variable."""

    value: Any

    @property
    def kind(self) -> Any:
        return "fixed", id(self.value)


@disk_cache.storable
@dataclass(frozen=True, slots=True)
class Instance:
    """An object that code has made, to which only one variable refers: there are only its attributes.

    Attributes:
        of: its class.
        names: those of all its attributes.
        parts: these, numbers and constants.
    """

    of: type
    names: tuple[str, ...]
    parts: tuple[Any, ...]

    @property
    def kind(self) -> Any:
        return "instance", self.of, self.names, kind_of(self.parts)


Object: TypeAlias = "Given | Boxed | Fixed"


Operand: TypeAlias = (
    "Number | Complex | Mixed | Range | Array | View | Gathered | Computed | Rows | Given | Boxed | Fixed | Instance"
)


@cache
def takes(rule: Any, count: int, names: tuple[str, ...]) -> bool:
    """Whether a lowering can be called with `count` arguments and keywords of these names."""
    code = rule.__code__
    if not (names or code.co_kwonlyargcount or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS)):
        return code.co_argcount - 1 - count in range(len(rule.__defaults__ or ()) + 1)
    try:
        signature(rule).bind(None, *[None] * count, **dict.fromkeys(names))
    except TypeError:
        return False
    return True


def mapped(function: Callable[[Any, Any], Any], operand: Any, path: tuple[int, ...] = ()) -> Any:
    """Apply `function(path, operand)` to each operand in nested tuples, and to the parts of the others."""
    if isinstance(operand, (Complex, Mixed, Range, Instance)):
        parts = mapped(function, operand.parts, path)
        if parts is operand.parts:
            return operand
        if isinstance(operand, (Mixed, Instance)):
            return replace(operand, parts=parts)
        return Complex(operand.type, parts) if isinstance(operand, Complex) else operand.at(parts)
    if isinstance(operand, tuple):
        found = tuple([mapped(function, each, (*path, place)) for place, each in enumerate(operand)])
        return operand if all(map(is_, operand, found)) else found
    return function(path, operand)


def is_held(operand: Any) -> bool:
    """Whether an operand owns a reference to an object that was made since."""
    return isinstance(operand, Boxed) or (isinstance(operand, Array) and operand.input < 0)


def unplaced(operand: Any) -> Any:
    """The facts about an operand that hold at a merge of control flow."""
    if isinstance(operand, Number):
        return Number(operand.type, None)
    if isinstance(operand, Boxed):
        return Boxed(None, operand.of)
    return replace(operand, ref=None, facts=()) if is_held(operand) else operand


def without_refs(operand: Any) -> Any:
    """Operands without the instructions that compute them, which belong to the function being emitted."""
    return mapped(lambda _, each: replace(each, ref=None) if hasattr(each, "ref") else each, operand)


def kind_of(operand: Any) -> Any:
    """The kinds of operands, without their values."""
    return tuple(map(kind_of, operand)) if isinstance(operand, tuple) else operand.kind


class Vectors(Protocol):
    """Emits operations on vectors, which are arrays, views of them, or computed."""

    def whole(self, x: Array) -> View:
        """An array as a view."""

    def product(
        self,
        function: Callable[[Any, Any], Any],
        x: View | Gathered | Computed,
        y: View | Gathered | Computed,
        copies: bool = False,
        warns: bool = True,
    ) -> Number | Complex:
        """The product of two vectors of one dtype and length, with the bits of a function of NumPy.

        Args:
            copies: whether NumPy copies vectors unless their strides are positive, and multiplies single elements
                without adding them to 0.
            warns: whether NumPy checks for overflows and invalid operations.
        """

    def matrix_product(self, x: View, y: View) -> Array | View:
        """The product of two matrices, or of a matrix and a vector, by `np.matmul`; for ops with `MAKES_ARRAYS`."""

    def reduction(self, how: str, x: View | Gathered | Computed) -> Number:
        """The reduction of all elements: `add mean max min or and argmax argmin`, as NumPy computes it."""

    def median(self, x: View | Computed) -> Number:
        """The median of all elements, as `np.median` computes it."""

    def reduced_rows(self, how: str, x: View | Computed, root: bool = False) -> Array:
        """A new array of the reductions of the rows of a matrix, or of their roots; for ops with `MAKES_ARRAYS`."""

    def accumulated(self, how: str, x: View | Computed) -> Array:
        """The sums (`add`) or products (`mul`) up to each element, as `np.cumsum` computes them; for `MAKES_ARRAYS`."""

    def computes(self, ufunc: np.ufunc, dtypes: tuple[np.dtype[Any], ...]) -> bool:
        """Whether `Emitter.ufunc` gives for each element what NumPy gives for all of them."""

    def listed(self, dtype: np.dtype[Any], items: Sequence[Number]) -> View:
        """A vector of a few numbers of that dtype."""

    def items(self, x: View | Computed, count: int) -> list[Number | Complex]:
        """The elements of a vector; leaves machine code if it has another length."""

    def kept(self, x: Computed) -> View:
        """The elements of a vector in memory of its own; `NoLowering` if its length is not known or large."""

    def chosen(self, x: View, mask: View | Computed) -> View | Array:
        """Copies of the elements or rows for which a mask is true; a new array if the length is unknown."""

    def store_chosen(self, target: View, mask: View | Computed, value: View | Computed | Number | Complex) -> None:
        """Store a number, or the elements of a vector, in those of another for which a vector of booleans is true.

        All are computed before the first is stored; leaves machine code, with nothing stored, if NumPy would warn or
        raise, or if they may share memory.
        """

    def store_rows(self, targets: Sequence[View], values: Sequence[View]) -> None:
        """Copy vectors of one dtype to others, after all have been read; leaves machine code if shapes differ."""

    def sorted(self, x: View | Computed) -> Array | View:
        """The elements of a vector in ascending order; a new array unless only the next nodes read them."""

    def sorting_places(self, x: Array | View | Computed) -> Array:
        """The places of the elements of a vector in ascending order, as NumPy sorts them by default; the same."""

    def places(self, x: Array | View | Computed) -> tuple[Array, ...]:
        """The places of the elements that are not zero, along each axis, as `np.nonzero` gives them; the same."""

    def counted(self, start: Number, length: Number) -> Array:
        """The integers from one on; for ops with `MAKES_ARRAYS`."""

    def array(self, x: View | Gathered | Computed) -> Array:
        """A new array of the elements of a vector; `NoLowering` if NumPy's may not be in C's order."""

    def store(self, target: View, value: View | Computed | Number | Complex, apart: bool = False) -> None:
        """Store the elements of a vector of the same shape, or a number in all elements.

        All are computed before the first is stored; leaves machine code, with nothing stored, if NumPy would warn.
        """


class Draws(Protocol):
    """Draws random numbers, from the state of a generator, in place.

    A lowering leaves the code only before it draws, since Python would draw again.
    """

    def python(self, owner: Any, in_c: bool) -> Any:
        """The state of a `random.Random`; leaves machine code if methods of the class have been replaced.

        Args:
            in_c: whether to call a method that is written in C, and calls no others.
        """

    def numpy(self, owner: Any) -> Any:
        """The state of a generator of NumPy; leaves machine code if another thread draws from it."""

    def double(self, state: Any) -> Number:
        """The next float from 0 to 1, exclusive."""

    def below(self, state: Any, limit: Number) -> Number:
        """An integer from 0 to a positive limit, exclusive, from a `random.Random`."""

    def bits(self, state: Any, count: Number) -> Number:
        """An integer of 1 to 63 random bits, from a `random.Random`."""

    def normal(self, state: Any) -> Number:
        """A number of the standard normal distribution, from a `random.Random` or a `RandomState`."""

    def array(self, dtype: np.dtype[Any], lengths: Sequence[Number], draw: Callable[[], Number]) -> Array:
        """A new array of numbers that `draw` emits, which does not leave machine code; for ops with `MAKES_ARRAYS`."""

    def gauss(self, state: Any) -> Number:
        """The next number of `random.gauss`."""

    def shuffle(self, state: Any, x: Array) -> None:
        """Shuffle a contiguous vector."""

    def distribution(self, state: Any, name: str, type: TensorType, *args: Number) -> Number:
        """A number of a distribution of a `Generator` of NumPy, with parameters that are floats."""

    def bounded(self, state: Any, low: Number, span: Number, masked: bool) -> Number:
        """A 64-bit integer from `low` to `low + span`, from a generator of NumPy.

        Args:
            span: unsigned.
            masked: whether to draw as `RandomState` does.
        """


class Objects(Protocol):
    """Emits operations on Python's objects."""

    def are_one(self, a: Object, b: Object) -> Number:
        """Whether two objects are the same."""


class Emitter(Protocol):
    """Emits machine code, one operation after the other.

    Conditions are numbers of type `py.bool`. Two operands have one type.
    """

    @property
    def vectors(self) -> Vectors:
        """Emits operations on vectors; `NoLowering` if they cannot be emitted here."""

    @property
    def draws(self) -> Draws:
        """Draws random numbers; only in loops."""

    @property
    def objects(self) -> Objects:
        """Emits operations on Python's objects."""

    def constant(self, value: Any, type: TensorType) -> Number:
        """A number of that type."""

    def leave_if(self, condition: Number) -> None:
        """Leave machine code at this node, and go on in Python, if the condition holds."""

    def doubt_if(self, condition: Number) -> None:
        """Leave machine code if the condition holds, at this node or somewhat later."""

    def leave_if_warned(self, found: Number, *args: Number) -> None:
        """Leave machine code if NumPy would warn: of an infinity from finite numbers, or a NaN from other numbers."""

    def integer(self, name: str, a: Number, b: Number) -> Number:
        """`add sub mul` and so on, of integers, which wrap around; `gcd` of integers that are not negative."""

    def overflowing(self, name: str, a: Number, b: Number) -> tuple[Number, Number]:
        """`add sub mul shl` of integers, and whether the result overflows."""

    def floating(self, name: str, a: Number, b: Number) -> Number:
        """`add sub mul div rem` of floats, by the rules of IEEE 754."""

    def function(self, name: str, *args: Number) -> Number:
        """A function that is exact or correctly rounded: `sqrt fabs floor ceil trunc rint copysign ctpop ctlz`.

        `power_of_two` is the largest power of two up to a number, a positive normal `float64`.
        """

    def library(self, name: str, *args: Any, finite: bool = False) -> Any:
        """A function of the C library on `float64`, as Python calls it; `NoLowering` if Python calls another one.

        Or `powf` of `float32`, as NumPy's scalars call it.

        Or `pow` of complex numbers, by Python's own function, for exponents that are no integers.

        Args:
            finite: leave machine code if an argument or the result is not finite; of complex numbers, the result.
        """

    def ufunc(self, ufunc: np.ufunc, type: TensorType, *args: Any) -> Any:
        """The result of NumPy's own inner loop for single elements; `NoLowering` if it cannot be called."""

    def negative(self, a: Number) -> Number:
        """`-a`, of a float."""

    def compare(self, name: str, a: Number, b: Number) -> Number:
        """`lt le eq ne gt ge`; with a NaN, only `ne` holds."""

    def convert(self, a: Number, type: TensorType) -> Number:
        """Convert to another type as C does; the result is undefined if the value does not fit."""

    def select(self, condition: Number, a: Number, b: Number) -> Number:
        """`a if condition else b`; both are already computed."""

    def length(self, x: Array, axis: int) -> Number:
        """A dimension of an array."""

    def place(self, index: Number, length: Number) -> Number:
        """An index counted from 0, of one that may be negative; leaves machine code if it is out of bounds."""

    def make_array(self, dtype: np.dtype[Any], lengths: Sequence[Number], zeros: bool) -> Array:
        """Allocate an array in C's order, zeroed or not; only for ops with the trait `MAKES_ARRAYS`."""

    def copy_array(self, x: Array) -> Array:
        """Copy an array; only for ops with that trait."""

    def load(self, x: Array, index: Sequence[Number]) -> Number | Complex:
        """Load an element; the indices must be within bounds."""

    def store(self, x: Array, index: Sequence[Number], value: Number | Complex) -> None:
        """Store an element of the array's dtype."""
