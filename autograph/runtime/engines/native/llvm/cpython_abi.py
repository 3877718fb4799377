"""Python's objects in machine code: looking into them, making them, calling them, and the references to them.

No address stands in the code, so that it serves other processes (`cache`): objects that the code knows are in a table,
of which it gets the address. Objects of unknown origin are looked at before they are looked into, where
`cpython_internals` and `numpy_internals` say.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograph.common import numpy_internals
from autograph.common.cpython_internals import CLASS, ITEMS, VALUE, WORD, address_of, read, write
from autograph.common.numpy_internals import ALIGNED, CONTIGUOUS, DTYPE, FLAGS, NDIM, WRITEABLE
from autograph.runtime.graph.types import PYTHON_TYPES, TensorType, part_of

SLOT = 8            # bytes of a place in the frame, and in the table
ARRAY_FLAGS = CONTIGUOUS | ALIGNED | WRITEABLE     # that machine code depends on
_FUNCTIONS = {
    "PyLong_AsLongLongAndOverflow": "i64 (ptr, ptr)",
    "PyLong_AsLongLong": "i64 (ptr)",
    "PyLong_FromLongLong": "ptr (i64)",
    "PyFloat_FromDouble": "ptr (double)",
    "PyComplex_FromDoubles": "ptr (double, double)",
    "PyTuple_New": "ptr (i64)",
    "PyTuple_SetItem": "i32 (ptr, i64, ptr)",
    "PyTuple_GetItem": "ptr (ptr, i64)",
    "PyObject_VectorcallDict": "ptr (ptr, ptr, i64, ptr)",
    "_PyObject_New": "ptr (ptr)",
    "PyIter_Next": "ptr (ptr)",
    "PyErr_Occurred": "ptr ()",
    "PyErr_Clear": "void ()",
    "PyErr_CheckSignals": "i32 ()",
    "PyErr_Fetch": "void (ptr, ptr, ptr)",
    "PyErr_NormalizeException": "void (ptr, ptr, ptr)",
    "PyException_SetTraceback": "i32 (ptr, ptr)",
    "PyEval_SaveThread": "ptr ()",
    "PyEval_RestoreThread": "void (ptr)",
    "PyContextVar_Get": "i32 (ptr, ptr, ptr)",
    "PyMem_RawMalloc": "ptr (i64)",
    "PyMem_RawFree": "void (ptr)",
    "Py_IncRef": "void (ptr)",
    "Py_DecRef": "void (ptr)",
    "PyArray_NewFromDescr": "ptr (ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)",
    "PyArray_NewCopy": "ptr (ptr, i32)",
    "PyArray_Zeros": "ptr (i32, ptr, ptr, i32)",
}
NAMES = tuple(_FUNCTIONS)


def addresses() -> dict[str, int]:
    """Where those functions are."""
    numpys = numpy_internals.addresses()
    return {name: address_of(name) for name in NAMES if name not in numpys} | numpys


def declaration(name: str) -> str:
    """The declaration of a function of Python's."""
    result, _, kinds = _FUNCTIONS[name].partition(" ")
    return f"declare {result} @{name}{kinds}"


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
    """What LLVM calls a number in a register."""
    if dtype.kind == "b":
        return "i1"
    if dtype.kind == "c":       # only in memory
        return f"[2 x {llvm_type(part_of(dtype))}]"
    return {4: "float", 8: "double"}[dtype.itemsize] if dtype.kind == "f" else f"i{8 * dtype.itemsize}"


def class_of(type: TensorType) -> type:
    """The class of numbers of a type."""
    return PYTHON_TYPES[type.dtype] if type.kind == "python" else type.dtype.type


class Writer:
    """What writes machine code that deals with objects.

    Attributes:
        things: the objects in the table.
        declared: the functions that the code calls, as LLVM declares them.
    """

    def __init__(self, things: list[Any], declared: set[str], table: str) -> None:
        self.things = things
        self.declared = declared
        self._table = table

    def _emit(self, text: str) -> str:
        """An instruction. Gives the register with its result."""
        raise NotImplementedError

    def _do(self, *lines: str) -> None:
        """Write instructions without results."""
        raise NotImplementedError

    def demand(self, condition: str) -> None:
        """Go elsewhere unless a condition holds."""
        raise NotImplementedError

    def _load(self, kind: str, pointer: str, offset: int) -> str:
        return self._emit(f"load {kind}, ptr {self._emit(f'getelementptr i8, ptr {pointer}, i64 {offset}')}")

    def place_of(self, thing: object) -> int:
        """That of an object in the table."""
        place = next((place for place, each in enumerate(self.things) if each is thing), len(self.things))
        if place == len(self.things):
            self.things.append(thing)
        return place

    def address(self, thing: object) -> str:
        """That of an object, out of the table."""
        return self._load("ptr", self._table, SLOT * self.place_of(thing))

    def python(self, name: str, *args: str) -> str:
        """Call a function of Python's or NumPy's. Gives what it returns."""
        result, _, kinds = _FUNCTIONS[name].partition(" ")
        self.declared.add(declaration(name))
        given = ", ".join(f"{kind} {arg}" for kind, arg in zip(kinds[1:-1].split(", "), args))
        call = f"call {result} @{name}({given})"
        if result != "void":
            return self._emit(call)
        self._do(f"  {call}")
        return ""

    # References -------------------------------------------------------------------------------------------------------

    def another(self, thing: str) -> str:
        """Another reference to an object."""
        self.python("Py_IncRef", thing)
        return thing

    def forget(self, thing: str) -> None:
        """Let a reference go."""
        self.python("Py_DecRef", thing)

    # Looking ----------------------------------------------------------------------------------------------------------

    def demand_class(self, thing: str, kind: type) -> None:
        self.demand(self._emit(f"icmp eq ptr {self._load('ptr', thing, CLASS)}, {self.address(kind)}"))

    def demand_array(self, thing: str, dtype: np.dtype[Any], ndim: int, flags: int, mask: int) -> None:
        """Demand an array of a dtype, of so many dimensions, of whose flags some are so."""
        self.demand_class(thing, np.ndarray)
        self.demand(self._emit(f"icmp eq ptr {self._load('ptr', thing, DTYPE)}, {self.address(dtype)}"))
        self.demand(self._emit(f"icmp eq i32 {self._load('i32', thing, NDIM)}, {ndim}"))
        found = self._emit(f"and i32 {self._load('i32', thing, FLAGS)}, {mask}")
        self.demand(self._emit(f"icmp eq i32 {found}, {flags}"))

    def number_in(self, thing: str, type: TensorType) -> str:
        """The number that an object is, as it is in memory; demands its class, and for integers that 64 bits do."""
        dtype, kind = type.dtype, class_of(type)
        self.demand_class(thing, kind)
        if kind is int:
            return self.integer_in(thing)
        if kind is bool:
            return self._emit(f"zext i1 {self._emit(f'icmp eq ptr {thing}, {self.address(True)}')} to i8")
        return self._load("i8" if dtype.kind == "b" else llvm_type(dtype), thing, VALUE)

    def parts_in(self, thing: str, type: TensorType) -> list[str]:
        """The parts of the complex number that an object is; demands its class."""
        self.demand_class(thing, class_of(type))
        part = part_of(type.dtype)
        return [self._load(llvm_type(part), thing, VALUE + place * part.itemsize) for place in range(2)]

    def integer_in(self, thing: str) -> str:
        """A Python integer, if it has no more than 64 bits."""
        found = self.python("PyLong_AsLongLongAndOverflow", thing, "%overflow")
        self.demand(self._emit(f"icmp eq i32 {self._emit('load i32, ptr %overflow')}, 0"))
        return found

    # Making -----------------------------------------------------------------------------------------------------------

    def number_object(self, value: str, type: TensorType) -> str:
        """A new reference to an object for a number in a register."""
        dtype = type.dtype
        kind = llvm_type(dtype)
        if dtype.kind == "b":
            things = (True, False) if type.kind == "python" else (np.True_, np.False_)
            true, false = map(self.address, things)
            return self.another(self._emit(f"select i1 {value}, ptr {true}, ptr {false}"))
        if type.kind != "python":
            found = self.python("_PyObject_New", self.address(dtype.type))
            self._do(f"  store {kind} {value}, ptr {self._emit(f'getelementptr i8, ptr {found}, i64 {VALUE}')}")
            return found
        return self.python("PyFloat_FromDouble" if dtype.kind == "f" else "PyLong_FromLongLong", value)

    def complex_object(self, parts: Sequence[str], type: TensorType) -> str:
        """A new reference to an object for a complex number."""
        if type.kind == "python":
            return self.python("PyComplex_FromDoubles", *parts)
        part, found = part_of(type.dtype), self.python("_PyObject_New", self.address(type.dtype.type))
        for place, ref in enumerate(parts):
            where = self._emit(f"getelementptr i8, ptr {found}, i64 {VALUE + place * part.itemsize}")
            self._do(f"  store {llvm_type(part)} {ref}, ptr {where}")
        return found

    def new_array(self, dtype: np.dtype[Any], ndim: str | int, lengths: str, order: int = 0) -> str:
        """A new array of anything, in C's order, or in that of these flags; null for an exception.

        Args:
            lengths: where they stand.
        """
        kind = self.another(self.address(dtype))        # which the array takes over
        more = str(ndim), lengths, "null", "null", str(order), "null"
        return self.python("PyArray_NewFromDescr", self.address(np.ndarray), kind, *more)

    def zeros(self, dtype: np.dtype[Any], ndim: int, lengths: str) -> str:
        """The same of zeros."""
        return self.python("PyArray_Zeros", str(ndim), lengths, self.another(self.address(dtype)), "0")

    def tuple_object(self, parts: Sequence[str]) -> str:
        """A new tuple, which takes over the references to its parts."""
        found = self.python("PyTuple_New", str(len(parts)))
        for place, part in enumerate(parts):
            self.python("PyTuple_SetItem", found, str(place), part)
        return found
