"""The calling convention: Python's objects to the frame of machine code, and back.

The frame is a buffer of 64-bit slots. The caller stores the inputs in order: numbers, the bounds of ranges, the
addresses of arrays and other objects. The code stores its results. Each combination of *kinds* of inputs has its own
code: the kind of an object is its class, that of an array its dtype, number of dimensions and layout.

`examples_of` makes objects of the kinds of types, so that code can be compiled, and listed, before the first call.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from autograph.common.code_marks import UNBOUND
from autograph.common.cpython_internals import release
from autograph.common.numpy_internals import ALIGNED, CONTIGUOUS, WRITEABLE
from autograph.runtime.engines.native.analysis.side_exits import Fetch, Handed
from autograph.runtime.engines.native.emit.emitter import Emitter
from autograph.runtime.engines.native.llvm.cpython_abi import ARRAY_FLAGS
from autograph.runtime.graph.graph import Constant, Value
from autograph.runtime.graph.operands import COMPLEX, DTYPES, Array, Boxed, Complex, Fixed, Given, Mixed, Number, Range
from autograph.runtime.graph.traits import MAKES_RANGES
from autograph.runtime.graph.types import INT, PYTHON_TYPES, TensorType, python, scalar
from autograph.runtime.ops.native.complex_rules import part_type

_FORMATS = dict(zip("?bhilBHILfd", "?bhiqBHIQfd"))
NUMBERS: dict[type, TensorType] = {kind: python(kind) for kind in (bool, int, float)}
NUMBERS |= {dtype.type: scalar(dtype) for dtype in DTYPES.values()}
COMPLEX_NUMBERS: dict[type, TensorType] = {complex: python(complex)}
COMPLEX_NUMBERS |= {dtype.type: scalar(dtype) for dtype in COMPLEX.values()}
ELEMENTS = DTYPES | COMPLEX
WIDE = 2**63
Words: TypeAlias = tuple[int, str, list[str]]   # the number of inputs, a format of `struct`, and an expression a slot
RANGE_BOUNDS = 2**53, 2**53, 2**31      # of start, stop and step


def kind_of(value: Any) -> Any:
    """The kind of an input, for which machine code is specialized."""
    kind = type(value)
    if kind in NUMBERS or kind in COMPLEX_NUMBERS:
        return kind
    if kind is np.ndarray and value.dtype.char in ELEMENTS:     # `longlong` is another class that equals int64
        return value.dtype, value.ndim, value.flags.num & ARRAY_FLAGS
    if kind is range:
        parts = value.start, value.stop, value.step
        small = all(type(part) is int and abs(part) <= bound for part, bound in zip(parts, RANGE_BOUNDS))
        return (value.step if value.step in (1, -1) else None, value.step < 0) if small else range
    return value if value is None or value is UNBOUND else kind


def are_wide(values: Sequence[Any]) -> bool:
    """Whether one of some values is an integer of more than 64 bits, for which there is no code."""
    for value in values:  # noqa: SIM110 -- `any` would take three times as long
        if type(value) is int and not -WIDE <= value < WIDE:
            return True
    return False


class Caller:
    """Unboxes inputs of certain kinds into a frame.

    Args:
        kept: the places of inputs whose objects the code needs, even if they are numbers.

    Attributes:
        operands: the operands of the inputs.
        objects: those of the numbers among `kept`, by their places.
        words: the contents of the frame, for `putting`.
    """

    def __init__(self, emit: Emitter, inputs: Sequence[Any], kept: Sequence[int] = ()) -> None:
        self._emit = emit
        self._format = ""
        self._words: list[str] = []
        self.operands = [self._operand(place, value) for place, value in enumerate(inputs)]
        self.objects = {place: self._object(place) for place in kept if isinstance(self.operands[place], Number)}
        self.slots = len(self._format)
        self.words: Words = len(inputs), self._format, self._words

    def _operand(self, place: int, value: Any) -> Any:
        kind, name, slot = kind_of(value), f"x{place}", len(self._format)
        if kind in NUMBERS:
            type = NUMBERS[kind]
            self._add(type.dtype, name)
            return Number(type, self._emit.frame.argument(slot, type.dtype))
        if kind in COMPLEX_NUMBERS:
            type = COMPLEX_NUMBERS[kind]
            part = part_type(type)
            for field in ("real", "imag"):
                self._add(part.dtype, f"{name}.{field}")
            real, imag = (Number(part, self._emit.frame.argument(slot + each, part.dtype)) for each in range(2))
            return Complex(type, (real, imag))
        if isinstance(value, range) and kind is not range:
            for field in ("start", "stop", "step"):
                self._add(INT.dtype, f"{name}.{field}")
            known, down = kind
            count = 3 if known is None else 2
            parts = tuple(Number(INT, self._emit.frame.argument(slot + each, INT.dtype)) for each in range(count))
            return Range(parts, known, down)
        if value is None or value is UNBOUND:
            return Fixed(value)
        self._add(INT.dtype, f"id({name})")
        if is_machines(kind):
            self._emit.frame.argument_array(slot, place)
            return array_of(place, kind)
        return Given(place, kind, self._emit.frame.argument_object(slot))

    def _object(self, place: int) -> Boxed:
        slot = len(self._format)
        self._add(INT.dtype, f"id(x{place})")
        return Boxed(self._emit.frame.argument_object(slot))

    def _add(self, dtype: np.dtype[Any], word: str) -> None:
        self._format += _FORMATS[dtype.char]
        self._words.append(word)


def putting(words: Words) -> Callable[..., Any]:
    """A function that stores inputs, none of them wide, in a buffer."""
    count, format, written = words
    names = ", ".join(f"x{place}" for place in range(count))
    source = f"lambda buffer, {names}: pack({', '.join(['buffer', '0', *written])})"
    padded = "<" + "".join(f"{code}{8 - struct.calcsize('<' + code)}x" for code in format)
    function: Callable[..., Any] = eval(source, {"pack": struct.Struct(padded).pack_into})
    return function


def is_machines(kind: Any) -> bool:
    """Whether objects of a kind are arrays that machine code can read."""
    if not isinstance(kind, tuple) or len(kind) != 3:
        return False
    dtype, ndim, flags = kind
    return bool(dtype.char in ELEMENTS and dtype.isnative and flags & ALIGNED and ndim)


def array_of(input: int, kind: Any) -> Array:
    """The operand of an array of a kind."""
    dtype, ndim, flags = kind
    return Array(input, dtype, ndim, bool(flags & CONTIGUOUS), bool(flags & WRITEABLE), flags)


def fetch(recipe: Any, buffer: Any, inputs: Sequence[Any]) -> Any:
    """Box a value of the frame."""
    if isinstance(recipe, Fetch):
        dtype = recipe.type.dtype
        (value,) = struct.unpack_from("<" + _FORMATS[dtype.char], buffer, 8 * recipe.slot)
        return value if recipe.type.kind == "python" else dtype.type(value)
    if isinstance(recipe, Complex):
        number = complex(*(fetch(each, buffer, inputs) for each in recipe.parts))
        return number if recipe.type.kind == "python" else recipe.type.dtype.type(number)
    if isinstance(recipe, Mixed):
        value, is_int = (fetch(each, buffer, inputs) for each in recipe.parts)
        return int(value) if is_int else value
    if isinstance(recipe, Range):
        step = [] if recipe.known is None else [recipe.known]
        return range(*(fetch(each, buffer, inputs) for each in recipe.parts), *step)
    if isinstance(recipe, Handed):
        found = ctypes.py_object.from_buffer(buffer, 8 * recipe.slot).value
        release(found)
        return found
    if isinstance(recipe, tuple):
        return tuple(fetch(each, buffer, inputs) for each in recipe)
    if isinstance(recipe, (Array, Given)):
        return inputs[recipe.input]
    assert isinstance(recipe, Fixed)
    return recipe.value


_OBJECTS: dict[str, Any] = {"NoneType": None, "list": [], "tuple": (), "dict": {}, "str": "", "set": set()}


def examples_of(inputs: Sequence[Any]) -> tuple[Any, ...] | None:
    """An object of the kind of each input; None if the types do not determine all kinds."""
    found = []
    for each in inputs:
        if isinstance(each, Value):
            known, each = _example(each)
            if not known:
                return None
        found.append(each.value if isinstance(each, Constant) else each)
    return tuple(found)


def _example(value: Value) -> tuple[bool, Any]:
    """Whether the type of a value determines its kind, and an object of that kind."""
    type, node = value.type, value.node
    if isinstance(type, TensorType):
        if not type.exact:
            return False, None
        if type.kind == "python":
            return True, PYTHON_TYPES[type.dtype](0)
        if type.kind == "scalar":
            return True, type.dtype.type(0)
        return True, np.zeros([1 if length == 1 else 2 for length in type.shape], type.dtype)
    if node is not None and node.op in MAKES_RANGES:
        step = node.args[2] if len(node.args) > 2 else 1
        return (True, range(0, 0, step)) if isinstance(step, int) and step else (False, None)
    name = getattr(type, "name", "")
    return name in _OBJECTS, _OBJECTS.get(name)
