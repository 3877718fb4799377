"""Python's objects in machine code: looking into them, making them, calling them, and the references to them.

No address stands in the code, so that it serves other processes (`cache`): objects that the code knows are in a table,
of which it gets the address. Objects of unknown origin are looked at before they are looked into, where
`cpython_internals` and `numpy_internals` say.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.common import numpy_internals
from autograph.common.cpython_internals import CLASS, ITEMS, VALUE, WORD, address_of, read, write
from autograph.common.numpy_internals import ALIGNED, CONTIGUOUS, DTYPE, FLAGS, NDIM, WRITEABLE
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.ir import (
    DOUBLE,
    FLOAT,
    I1,
    I8,
    I32,
    I64,
    NULL,
    PTR,
    VOID,
    Instruction,
    Value,
    array,
    count_of,
)
from autograph.runtime.graph.types import PYTHON_TYPES, TensorType, part_of

SLOT = 8            # bytes of a place in the frame, and in the table
ARRAY_FLAGS = CONTIGUOUS | ALIGNED | WRITEABLE     # that machine code depends on
# The types of what they give, and of what they get.
_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "PyLong_AsLongLongAndOverflow": (I64, PTR, PTR),
    "PyLong_AsLongLong": (I64, PTR),
    "PyLong_FromLongLong": (PTR, I64),
    "PyFloat_FromDouble": (PTR, DOUBLE),
    "PyComplex_FromDoubles": (PTR, DOUBLE, DOUBLE),
    "PyTuple_New": (PTR, I64),
    "PyTuple_SetItem": (I32, PTR, I64, PTR),
    "PyTuple_GetItem": (PTR, PTR, I64),
    "PyObject_VectorcallDict": (PTR, PTR, PTR, I64, PTR),
    "_PyObject_New": (PTR, PTR),
    "PyIter_Next": (PTR, PTR),
    "PyErr_Occurred": (PTR,),
    "PyErr_Clear": (VOID,),
    "PyErr_CheckSignals": (I32,),
    "PyErr_Fetch": (VOID, PTR, PTR, PTR),
    "PyErr_NormalizeException": (VOID, PTR, PTR, PTR),
    "PyException_SetTraceback": (I32, PTR, PTR),
    "PyEval_SaveThread": (PTR,),
    "PyEval_RestoreThread": (VOID, PTR),
    "PyContextVar_Get": (I32, PTR, PTR, PTR),
    "PyMem_RawMalloc": (PTR, I64),
    "PyMem_RawFree": (VOID, PTR),
    "Py_IncRef": (VOID, PTR),
    "Py_DecRef": (VOID, PTR),
    "PyArray_NewFromDescr": (PTR, PTR, PTR, I32, PTR, PTR, PTR, I32, PTR),
    "PyArray_NewCopy": (PTR, PTR, I32),
    "PyArray_Zeros": (PTR, I32, PTR, PTR, I32),
}
NAMES = tuple(_FUNCTIONS)
_TYPES = {char: f"i{8 * np.dtype(char).itemsize}" for char in "bhilqBHILQ"}
_TYPES |= {"?": I1, "f": FLOAT, "d": DOUBLE, "F": array(2, FLOAT), "D": array(2, DOUBLE)}


def addresses() -> dict[str, int]:
    """Where those functions are."""
    numpys = numpy_internals.addresses()
    return {name: address_of(name) for name in NAMES if name not in numpys} | numpys


class Table(bytes):
    """The addresses of objects; it keeps them."""

    things: list[Any]
    method: Any
    owner: Any

    @staticmethod
    def of(things: Sequence[Any]) -> Table:
        table = Table(struct.pack(f"<{len(things)}Q", *map(id, things)))
        table.things = list(things)
        return table

    @property
    def address(self) -> int:
        """Where they are."""
        return id(self) + ITEMS

    def put(self, thing: Any, other: Any) -> None:
        """Put another object into the place of one."""
        for place, each in enumerate(self.things):
            if each is thing:
                self.things[place] = other
                write(WORD, self.address + SLOT * place, id(other))


class Count(bytes):
    """A number that machine code counts up."""

    def __new__(cls) -> Count:
        return super().__new__(cls, SLOT)

    @property
    def value(self) -> int:
        """What it has come to."""
        return int(read(ctypes.c_int64, id(self) + ITEMS)[0])


def llvm_type(dtype: np.dtype[Any]) -> str:
    """The type of a number in a register; of a complex one, in memory."""
    return _TYPES[dtype.char]


def memory_type(dtype: np.dtype[Any]) -> str:
    """The type of a number in memory."""
    return I8 if dtype.kind == "b" else llvm_type(dtype)


def class_of(type: TensorType) -> type:
    """The class of numbers of a type."""
    return PYTHON_TYPES[type.dtype] if type.kind == "python" else type.dtype.type


class ObjectBuilder:
    """Builds what deals with objects.

    Attributes:
        b: builds the function.
        things: the objects in the table.
        demand: builds what goes elsewhere unless a condition holds.
    """

    def __init__(self, b: Builder, things: list[Any], table: Value, demand: Callable[[Value], None]) -> None:
        self.b = b
        self.things = things
        self.demand = demand
        self._table = table
        self._overflow: Value | None = None
        self._given: Instruction | None = None      # where arguments stand

    def load_at(self, type: str, pointer: Value, offset: int) -> Value:
        """What is so many bytes behind a pointer."""
        return self.b.load(type, self.b.gep(pointer, offset))

    def place_of(self, thing: object) -> int:
        """That of an object in the table."""
        place = next((place for place, each in enumerate(self.things) if each is thing), len(self.things))
        if place == len(self.things):
            self.things.append(thing)
        return place

    def address(self, thing: object) -> Value:
        """That of an object, out of the table."""
        return self.load_at(PTR, self._table, SLOT * self.place_of(thing))

    def python(self, name: str, *args: Value | int) -> Value:
        """Call a function of Python's or NumPy's. Gives what it returns."""
        return self.b.call(self.b.function.module.declare(name, *_FUNCTIONS[name]), *args)

    def call(self, function: Value, args: Sequence[Value]) -> Value:
        """Call a function of Python's. Gives a new reference, or null for an exception."""
        if self._given is None:
            self._given = self.b.room(array(0, PTR))
        self._given.detail = array(max(count_of(self._given.detail), len(args)), PTR)
        for place, arg in enumerate(args):
            self.b.store(arg, self.b.gep(self._given, place, PTR))
        return self.python("PyObject_VectorcallDict", function, self._given, len(args), NULL)

    # References -------------------------------------------------------------------------------------------------------

    def another(self, thing: Value) -> Value:
        """Another reference to an object."""
        self.python("Py_IncRef", thing)
        return thing

    def forget(self, thing: Value) -> None:
        """Let a reference go."""
        self.python("Py_DecRef", thing)

    # Looking ----------------------------------------------------------------------------------------------------------

    def is_of_class(self, thing: Value, kind: type) -> Value:
        """Whether an object is of just that class."""
        return self.b.icmp("eq", self.load_at(PTR, thing, CLASS), self.address(kind))

    def has_size(self, thing: Value, size: int) -> Value:
        """Whether a tuple has so many items."""
        return self.b.icmp("eq", self.load_at(I64, thing, VALUE), size)

    def demand_class(self, thing: Value, kind: type) -> None:
        self.demand(self.is_of_class(thing, kind))

    def demand_array(self, thing: Value, dtype: np.dtype[Any], ndim: int, flags: int, mask: int) -> None:
        """Demand an array of a dtype, of so many dimensions, of whose flags some are so."""
        self.demand_class(thing, np.ndarray)
        self.demand(self.b.icmp("eq", self.load_at(PTR, thing, DTYPE), self.address(dtype)))
        self.demand(self.b.icmp("eq", self.load_at(I32, thing, NDIM), ndim))
        self.demand(self.b.icmp("eq", self.b.and_(self.load_at(I32, thing, FLAGS), mask), flags))

    def number_in(self, thing: Value, type: TensorType) -> Value:
        """The number that an object is, as it is in memory; demands its class, and for integers that 64 bits do."""
        dtype, kind = type.dtype, class_of(type)
        self.demand_class(thing, kind)
        if kind is int:
            return self.integer_in(thing)
        if kind is bool:
            return self.b.cast("zext", self.b.icmp("eq", thing, self.address(True)), I8)
        return self.load_at(memory_type(dtype), thing, VALUE)

    def parts_in(self, thing: Value, type: TensorType) -> list[Value]:
        """The parts of the complex number that an object is; demands its class."""
        self.demand_class(thing, class_of(type))
        part = part_of(type.dtype)
        return [self.load_at(llvm_type(part), thing, VALUE + place * part.itemsize) for place in range(2)]

    def integer_in(self, thing: Value) -> Value:
        """A Python integer, if it has no more than 64 bits."""
        if self._overflow is None:
            self._overflow = self.b.room(I32)
        found = self.python("PyLong_AsLongLongAndOverflow", thing, self._overflow)
        self.demand(self.b.icmp("eq", self.b.load(I32, self._overflow), 0))
        return found

    # Making -----------------------------------------------------------------------------------------------------------

    def number_object(self, value: Value, type: TensorType) -> Value:
        """A new reference to an object for a number in a register."""
        dtype = type.dtype
        if dtype.kind == "b":
            things = (True, False) if type.kind == "python" else (np.True_, np.False_)
            true, false = map(self.address, things)
            return self.another(self.b.select(value, true, false))
        if type.kind != "python":
            found = self.python("_PyObject_New", self.address(dtype.type))
            self.b.store(value, self.b.gep(found, VALUE))
            return found
        return self.python("PyFloat_FromDouble" if dtype.kind == "f" else "PyLong_FromLongLong", value)

    def complex_object(self, parts: Sequence[Value], type: TensorType) -> Value:
        """A new reference to an object for a complex number."""
        if type.kind == "python":
            return self.python("PyComplex_FromDoubles", *parts)
        part, found = part_of(type.dtype), self.python("_PyObject_New", self.address(type.dtype.type))
        for place, each in enumerate(parts):
            self.b.store(each, self.b.gep(found, VALUE + place * part.itemsize))
        return found

    def new_array(self, dtype: np.dtype[Any], ndim: Value | int, lengths: Value, order: int = 0) -> Value:
        """A new array of anything, in C's order, or in that of these flags; null for an exception.

        Args:
            lengths: where they stand.
        """
        kind = self.another(self.address(dtype))        # which the array takes over
        more = ndim, lengths, NULL, NULL, order, NULL
        return self.python("PyArray_NewFromDescr", self.address(np.ndarray), kind, *more)

    def zeros(self, dtype: np.dtype[Any], ndim: int, lengths: Value) -> Value:
        """The same of zeros."""
        return self.python("PyArray_Zeros", ndim, lengths, self.another(self.address(dtype)), 0)

    def tuple_object(self, parts: Sequence[Value]) -> Value:
        """A new tuple, which takes over the references to its parts."""
        found = self.python("PyTuple_New", len(parts))
        for place, part in enumerate(parts):
            self.python("PyTuple_SetItem", found, place, part)
        return found


def now_and_then(objects: ObjectBuilder, count: Count, every: int, one: object, other: object) -> Value:
    """Count, and choose one of two objects, every so many times, or else the other."""
    b, place = objects.b, objects.b.gep(objects.address(count), ITEMS)
    before = b.load(I64, place)
    b.store(b.add(before, 1), place)
    now = b.icmp("eq", b.binary("urem", before, every), 0)
    return b.select(now, objects.address(one), objects.address(other))


def take_exception(objects: ObjectBuilder, places: Sequence[Value]) -> Value:
    """A new reference to the exception that there is; there is none any more.

    Args:
        places: room for three pointers.
    """
    b = objects.b
    objects.python("PyErr_Fetch", *places)
    objects.python("PyErr_NormalizeException", *places)
    kind, error, trace = (b.load(PTR, place) for place in places)
    objects.python("PyException_SetTraceback", error, b.select(b.is_null(trace), objects.address(None), trace))
    objects.forget(kind)
    objects.forget(trace)
    return error
