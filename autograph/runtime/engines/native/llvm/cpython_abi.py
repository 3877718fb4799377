"""Python's objects in machine code: unboxing, boxing, calls and references.

The code contains no addresses, so that other processes can load it from disk. The objects that it uses are in a table,
whose address it gets. It checks the class of any other object before it reads it; `cpython_internals` and
`numpy_internals` have the layouts.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.common import cpython_internals, numpy_internals
from autograph.common.cpython_internals import (
    ALLOCATED,
    CLASS,
    DIGIT,
    DIGIT_BITS,
    IMMORTALS,
    ITEMS,
    LIST_ITEMS,
    SIZE,
    SMALL_INTS,
    TUPLE_ITEMS,
    VALUE,
    WORD,
    address_of,
    read,
    write,
)
from autograph.common.numpy_internals import ALIGNED, CONTIGUOUS, DTYPE, FLAGS, NDIM, WRITEABLE
from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.graph.operands import Fixed, Number, Object
from autograph.runtime.graph.types import BOOL, PYTHON_TYPES, TensorType, part_of

SLOT = 8            # bytes of a slot of the frame, and of the table
ARRAY_FLAGS = CONTIGUOUS | ALIGNED | WRITEABLE     # that machine code depends on
# The types of their results and parameters.
_FUNCTIONS: dict[str, tuple[str, ...]] = {
    "PyLong_AsLongLongAndOverflow": (ir.I64, ir.PTR, ir.PTR),
    "PyLong_AsLongLong": (ir.I64, ir.PTR),
    "PyLong_FromLongLong": (ir.PTR, ir.I64),
    "PyFloat_FromDouble": (ir.PTR, ir.DOUBLE),
    "PyComplex_FromDoubles": (ir.PTR, ir.DOUBLE, ir.DOUBLE),
    "PyList_Append": (ir.I32, ir.PTR, ir.PTR),
    "PyTuple_New": (ir.PTR, ir.I64),
    "PyTuple_GetItem": (ir.PTR, ir.PTR, ir.I64),
    "PyObject_VectorcallDict": (ir.PTR, ir.PTR, ir.PTR, ir.I64, ir.PTR),
    "PyType_GenericAlloc": (ir.PTR, ir.PTR, ir.I64),
    "_PyObject_New": (ir.PTR, ir.PTR),
    "PyList_New": (ir.PTR, ir.I64),
    "PyList_Insert": (ir.I32, ir.PTR, ir.I64, ir.PTR),
    "PyList_Reverse": (ir.I32, ir.PTR),
    "PyList_GetSlice": (ir.PTR, ir.PTR, ir.I64, ir.I64),
    "PyList_SetSlice": (ir.I32, ir.PTR, ir.I64, ir.I64, ir.PTR),
    "PyDict_New": (ir.PTR,),
    "PyDict_GetItemWithError": (ir.PTR, ir.PTR, ir.PTR),
    "PyDict_SetItem": (ir.I32, ir.PTR, ir.PTR, ir.PTR),
    "PySet_Add": (ir.I32, ir.PTR, ir.PTR),
    "PySet_Discard": (ir.I32, ir.PTR, ir.PTR),
    "PyObject_SetItem": (ir.I32, ir.PTR, ir.PTR, ir.PTR),
    "PyObject_DelItem": (ir.I32, ir.PTR, ir.PTR),
    "PyObject_Size": (ir.I64, ir.PTR),
    "PyObject_GetAttr": (ir.PTR, ir.PTR, ir.PTR),
    "PyObject_GenericSetAttr": (ir.I32, ir.PTR, ir.PTR, ir.PTR),
    "PyObject_SetAttr": (ir.I32, ir.PTR, ir.PTR, ir.PTR),
    "PyObject_GetItem": (ir.PTR, ir.PTR, ir.PTR),
    "PyObject_RichCompareBool": (ir.I32, ir.PTR, ir.PTR, ir.I32),
    "PySequence_GetItem": (ir.PTR, ir.PTR, ir.I64),
    "PySequence_List": (ir.PTR, ir.PTR),
    "PySequence_DelItem": (ir.I32, ir.PTR, ir.I64),
    "PySequence_Index": (ir.I64, ir.PTR, ir.PTR),
    "PySequence_Count": (ir.I64, ir.PTR, ir.PTR),
    "PySequence_InPlaceConcat": (ir.PTR, ir.PTR, ir.PTR),
    "PySequence_Contains": (ir.I32, ir.PTR, ir.PTR),
    "PySequence_Repeat": (ir.PTR, ir.PTR, ir.I64),
    "PySequence_Concat": (ir.PTR, ir.PTR, ir.PTR),
    "PyObject_GetIter": (ir.PTR, ir.PTR),
    "PyIter_Next": (ir.PTR, ir.PTR),
    "PyErr_Occurred": (ir.PTR,),
    "PyErr_Clear": (ir.VOID,),
    "PyErr_CheckSignals": (ir.I32,),
    "PyErr_Fetch": (ir.VOID, ir.PTR, ir.PTR, ir.PTR),
    "PyErr_NormalizeException": (ir.VOID, ir.PTR, ir.PTR, ir.PTR),
    "PyException_SetTraceback": (ir.I32, ir.PTR, ir.PTR),
    "PyThreadState_Get": (ir.PTR,),
    "PyThreadState_GetID": (ir.I64, ir.PTR),
    "PyEval_SaveThread": (ir.PTR,),
    "PyEval_RestoreThread": (ir.VOID, ir.PTR),
    "PyContextVar_Get": (ir.I32, ir.PTR, ir.PTR, ir.PTR),
    "PyMem_RawMalloc": (ir.PTR, ir.I64),
    "PyMem_RawFree": (ir.VOID, ir.PTR),
    "Py_IncRef": (ir.VOID, ir.PTR),
    "Py_DecRef": (ir.VOID, ir.PTR),
    "_Py_Dealloc": (ir.VOID, ir.PTR),
    "PyArray_NewFromDescr": (ir.PTR, ir.PTR, ir.PTR, ir.I32, ir.PTR, ir.PTR, ir.PTR, ir.I32, ir.PTR),
    "PyArray_NewCopy": (ir.PTR, ir.PTR, ir.I32),
    "PyArray_Zeros": (ir.PTR, ir.I32, ir.PTR, ir.PTR, ir.I32),
    "PyArray_Sort": (ir.I32, ir.PTR, ir.I32, ir.I32),
    "PyArray_ArgSort": (ir.PTR, ir.PTR, ir.I32, ir.I32),
    "PyArray_Nonzero": (ir.PTR, ir.PTR),
    "PyArray_SetBaseObject": (ir.I32, ir.PTR, ir.PTR),
}
NAMES = tuple(_FUNCTIONS)
_TYPES = {char: f"i{8 * np.dtype(char).itemsize}" for char in "bhilqBHILQ"}
_TYPES |= {"?": ir.I1, "f": ir.FLOAT, "d": ir.DOUBLE, "F": ir.array(2, ir.FLOAT), "D": ir.array(2, ir.DOUBLE)}


def addresses() -> dict[str, int]:
    """The addresses of those functions."""
    of_numpy = numpy_internals.addresses()
    return {name: address_of(name) for name in NAMES if name not in of_numpy} | of_numpy


class Table(bytes):
    """The addresses of objects, which it keeps alive."""

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
        """The address of the table."""
        return id(self) + ITEMS

    def put(self, thing: Any, other: Any) -> None:
        """Replace an object by another one."""
        for place, each in enumerate(self.things):
            if each is thing:
                self.things[place] = other
                write(WORD, self.address + SLOT * place, id(other))


class Count(bytes):
    """A counter that machine code increments."""

    def __new__(cls) -> Count:
        return super().__new__(cls, SLOT)

    @property
    def value(self) -> int:
        """The count."""
        return int(read(ctypes.c_int64, id(self) + ITEMS)[0])


def llvm_type(dtype: np.dtype[Any]) -> str:
    """The type of a number in a register; of a complex one, in memory."""
    return _TYPES[dtype.char]


def memory_type(dtype: np.dtype[Any]) -> str:
    """The type of a number in memory."""
    return ir.I8 if dtype.kind == "b" else llvm_type(dtype)


def class_of(type: TensorType) -> type:
    """The class of numbers of a type."""
    return PYTHON_TYPES[type.dtype] if type.kind == "python" else type.dtype.type


def integer_of_one_digit(b: Builder, thing: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Whether a Python integer has at most one digit, and its value if so; see `cpython_internals.HAS_DIGITS`."""
    word = b.load(ir.I64, b.gep(thing, SIZE))
    digit = b.cast("zext", b.load(ir.I32, b.gep(thing, DIGIT)), ir.I64)
    is_compact = b.icmp("ult", word, 16) if IMMORTALS else b.icmp("ult", b.add(word, 1), 3)
    return is_compact, b.mul(digit, b.sub(1, b.and_(word, 3)) if IMMORTALS else word)


class ObjectBuilder:
    """Builds accesses to objects.

    Attributes:
        b: builds the function.
        things: the objects in the table.
        demand: builds a check of a condition, and where to go if it fails.
    """

    def __init__(self, b: Builder, things: list[Any], table: ir.Value, demand: Callable[[ir.Value], None]) -> None:
        self.b = b
        self.things = things
        self.demand = demand
        self._table = table
        self._overflow: ir.Value | None = None
        self._given: ir.Instruction | None = None      # memory for arguments

    def load_at(self, type: str, pointer: ir.Value, offset: int) -> ir.Value:
        """Load from `offset` bytes behind a pointer."""
        return self.b.load(type, self.b.gep(pointer, offset))

    def place_of(self, thing: object) -> int:
        """The place of an object in the table, which gets it if it is new."""
        place = next((place for place, each in enumerate(self.things) if each is thing), len(self.things))
        if place == len(self.things):
            self.things.append(thing)
        return place

    def address(self, thing: object) -> ir.Value:
        """The address of an object, from the table."""
        return self.load_at(ir.PTR, self._table, SLOT * self.place_of(thing))

    def are_one(self, a: Object, b: Object) -> Number:
        """Whether two objects are the same."""
        one, other = (self.address(each.value) if isinstance(each, Fixed) else each.ref for each in (a, b))
        return Number(BOOL, self.b.icmp("eq", one, other))

    def python(self, name: str, *args: ir.Value | int) -> ir.Value:
        """Call a function of the C API of Python or NumPy."""
        return self.b.call(self.b.function.module.declare(name, *_FUNCTIONS[name]), *args)

    def call(self, function: ir.Value, args: Sequence[ir.Value]) -> ir.Value:
        """Call a Python function. Returns a new reference, or null for an exception."""
        if self._given is None:
            self._given = self.b.room(ir.array(0, ir.PTR))
        self._given.detail = ir.array(max(ir.count_of(self._given.detail), len(args)), ir.PTR)
        for place, arg in enumerate(args):
            self.b.store(arg, self.b.gep(self._given, place, ir.PTR))
        return self.python("PyObject_VectorcallDict", function, self._given, len(args), ir.NULL)

    # References -------------------------------------------------------------------------------------------------------

    def another(self, thing: ir.Value) -> ir.Value:
        """Another reference to an object, which may be null."""
        self.python("Py_IncRef", thing)
        return thing

    def forget(self, thing: ir.Value) -> None:
        """Release a reference to an object, which may be null."""
        self.python("Py_DecRef", thing)

    def acquire(self, thing: ir.Value) -> ir.Value:
        """Another reference to an object, without a call."""
        if not cpython_internals.HAS_SIMPLE_COUNTS:
            return self.another(thing)
        kind = ir.I32 if IMMORTALS else ir.I64
        count = self.b.add(self.b.load(kind, thing), 1)
        if IMMORTALS:
            count = self.b.select(self.b.icmp("eq", count, 0), -1, count)
        self.b.store(count, thing)
        return thing

    def release(self, thing: ir.Value) -> None:
        """Release a reference to an object, without a call if there are others."""
        if not cpython_internals.HAS_SIMPLE_COUNTS:
            self.forget(thing)
            return
        b = self.b
        done = b.new_block("released")
        if IMMORTALS:
            mortal = b.new_block("mortal")
            b.cond_br(b.icmp("slt", b.load(ir.I32, thing), 0), done, mortal)
            b.begin(mortal)
        left, last = b.sub(b.load(ir.I64, thing), 1), b.new_block("last")
        b.store(left, thing)
        b.cond_br(b.icmp("eq", left, 0), last, done)
        b.begin(last)
        self.python("_Py_Dealloc", thing)
        b.br(done)
        b.begin(done)

    # Unboxing ---------------------------------------------------------------------------------------------------------

    def is_of_class(self, thing: ir.Value, kind: type) -> ir.Value:
        """Whether an object is of exactly this class."""
        return self.b.icmp("eq", self.load_at(ir.PTR, thing, CLASS), self.address(kind))

    def has_size(self, thing: ir.Value, size: int) -> ir.Value:
        """Whether a tuple has `size` items."""
        return self.b.icmp("eq", self.load_at(ir.I64, thing, VALUE), size)

    def demand_class(self, thing: ir.Value, kind: type) -> None:
        self.demand(self.is_of_class(thing, kind))

    def demand_array(self, thing: ir.Value, dtype: np.dtype[Any], ndim: int, flags: int, mask: int) -> None:
        """Demand an array of a dtype and number of dimensions, with these flags under a mask."""
        self.demand_class(thing, np.ndarray)
        self.demand(self.b.icmp("eq", self.load_at(ir.PTR, thing, DTYPE), self.address(dtype)))
        self.demand(self.b.icmp("eq", self.load_at(ir.I32, thing, NDIM), ndim))
        self.demand(self.b.icmp("eq", self.b.and_(self.load_at(ir.I32, thing, FLAGS), mask), flags))

    def number_in(self, thing: ir.Value, type: TensorType) -> ir.Value:
        """Unbox a number; demands its class, and that integers have at most 64 bits."""
        self.demand_class(thing, class_of(type))
        return self.value_of(thing, type)

    def value_of(self, thing: ir.Value, type: TensorType) -> ir.Value:
        """Unbox a number of a certain class; demands that integers have at most 64 bits."""
        dtype, kind = type.dtype, class_of(type)
        if kind is int:
            return self.integer_in(thing)
        if kind is bool:
            return self.b.cast("zext", self.b.icmp("eq", thing, self.address(True)), ir.I8)
        return self.load_at(memory_type(dtype), thing, VALUE)

    def parts_of(self, thing: ir.Value, type: TensorType) -> list[ir.Value]:
        """Unbox the parts of a complex number of a certain class."""
        part = part_of(type.dtype)
        return [self.load_at(llvm_type(part), thing, VALUE + place * part.itemsize) for place in range(2)]

    def integer_in(self, thing: ir.Value) -> ir.Value:
        """Unbox a Python integer; demands that it has at most 64 bits."""
        if not cpython_internals.HAS_DIGITS:
            return self._long_integer_in(thing)
        b = self.b
        long, on = map(b.new_block, ("long", "on"))
        (is_compact, value), here = integer_of_one_digit(b, thing), b.block
        b.cond_br(is_compact, on, long, True)
        b.begin(long)
        found = self._long_integer_in(thing)
        there = b.block
        b.br(on)
        b.begin(on)
        return b.phi(ir.I64, (value, here), (found, there))

    def _long_integer_in(self, thing: ir.Value) -> ir.Value:
        if self._overflow is None:
            self._overflow = self.b.room(ir.I32)
        found = self.python("PyLong_AsLongLongAndOverflow", thing, self._overflow)
        self.demand(self.b.icmp("eq", self.b.load(ir.I32, self._overflow), 0))
        return found

    # Boxing -----------------------------------------------------------------------------------------------------------

    def number_object(self, value: ir.Value, type: TensorType) -> ir.Value:
        """Box a number. Returns a new reference."""
        dtype = type.dtype
        if dtype.kind == "b":
            things = (True, False) if type.kind == "python" else (np.True_, np.False_)
            true, false = map(self.address, things)
            return self.another(self.b.select(value, true, false))
        if type.kind != "python":
            found = self.python("_PyObject_New", self.address(dtype.type))
            self.b.store(value, self.b.gep(found, VALUE))
            return found
        return self.python("PyFloat_FromDouble", value) if dtype.kind == "f" else self._integer_object(value)

    def mixed_object(self, value: ir.Value, is_int: ir.Value) -> ir.Value:
        """Box a float that stands for an integer if a condition holds. Returns a new reference."""
        def integer() -> ir.Value:
            return self._integer_object(self.b.cast("fptosi", value, ir.I64))

        found = self.b.if_else(is_int, integer, lambda: self.python("PyFloat_FromDouble", value))
        assert found is not None
        return found

    def _integer_object(self, value: ir.Value) -> ir.Value:
        """Box an integer; a small one is an object that is there. Returns a new reference."""
        step = cpython_internals.SMALL_INT_STEP
        if not step:
            return self.python("PyLong_FromLongLong", value)

        def small() -> ir.Value:
            known = self.b.gep(self.address(0), self.b.mul(value, step))
            return known if IMMORTALS else self.acquire(known)

        found = self.b.if_else(self._is_small(value), small, lambda: self.python("PyLong_FromLongLong", value))
        assert found is not None
        return found

    def _is_small(self, value: ir.Value) -> ir.Value:
        """Whether an integer is one of which there is one object."""
        return self.b.icmp("ult", self.b.sub(value, SMALL_INTS.start), len(SMALL_INTS))

    def overwrite(
        self, thing: ir.Value, parts: list[ir.Value], kind: type, done: ir.Block, only_if: ir.Value = ir.TRUE
    ) -> None:
        """Write a number into an object that has one reference, if it is of the same class and size; go to `done` then.

        Args:
            parts: the number; of a complex one, both parts.
            kind: `float`, `complex` or `int`.
            only_if: a further condition.
        """
        b = self.b
        if not (cpython_internals.HAS_SIMPLE_COUNTS and cpython_internals.HAS_DIGITS):
            return
        is_own = b.and_(self.is_of_class(thing, kind), b.icmp("eq", b.load(ir.I64, thing), 1))
        is_own = is_own if only_if is ir.TRUE else b.and_(is_own, only_if)
        write, other = map(b.new_block, ("write", "replace"))
        if kind is int:
            (value,), word = parts, self.load_at(ir.I64, thing, SIZE)
            one_digit = b.icmp("ult", b.sub(word, 8), 3) if IMMORTALS else b.icmp("eq", b.or_(b.add(word, 1), 2), 2)
            is_own = b.and_(is_own, one_digit)
            far = (1 << DIGIT_BITS) - 1
            short = b.icmp("ule", b.add(value, far), 2 * far)
            is_own = b.and_(is_own, b.and_(short, b.xor(self._is_small(value), ir.TRUE)))
        b.cond_br(is_own, write, other)
        b.begin(write)
        if kind is int:
            negative = b.icmp("slt", value, 0)
            words = (8 + 2, 8) if IMMORTALS else (-1, 1)
            b.store(b.select(negative, *(ir.constant(ir.I64, each) for each in words)), b.gep(thing, SIZE))
            digit = b.select(negative, b.sub(0, value), value)
            b.store(b.cast("trunc", digit, ir.I32), b.gep(thing, DIGIT))
        else:
            for place, part in enumerate(parts):
                b.store(part, b.gep(thing, VALUE + place * SLOT))
        b.br(done)
        b.begin(other)

    def complex_object(self, parts: Sequence[ir.Value], type: TensorType) -> ir.Value:
        """Box a complex number. Returns a new reference."""
        if type.kind == "python":
            return self.python("PyComplex_FromDoubles", *parts)
        part, found = part_of(type.dtype), self.python("_PyObject_New", self.address(type.dtype.type))
        for place, each in enumerate(parts):
            self.b.store(each, self.b.gep(found, VALUE + place * part.itemsize))
        return found

    def new_array(self, dtype: np.dtype[Any], ndim: ir.Value | int, lengths: ir.Value, order: int = 0) -> ir.Value:
        """A new array, uninitialized, in C's order or that of some flags; null for an exception.

        Args:
            lengths: their address.
        """
        kind = self.another(self.address(dtype))        # which the array takes over
        more = ndim, lengths, ir.NULL, ir.NULL, order, ir.NULL
        return self.python("PyArray_NewFromDescr", self.address(np.ndarray), kind, *more)

    def zeros(self, dtype: np.dtype[Any], ndim: int, lengths: ir.Value) -> ir.Value:
        """A new array of zeros; null for an exception."""
        return self.python("PyArray_Zeros", ndim, lengths, self.another(self.address(dtype)), 0)

    def tuple_object(self, parts: Sequence[ir.Value]) -> ir.Value:
        """A new tuple, which takes over the references to its parts."""
        found = self.python("PyTuple_New", len(parts))
        for place, part in enumerate(parts):
            self.b.store(part, self.b.gep(found, TUPLE_ITEMS + SLOT * place))
        return found

    def append(self, items: ir.Value, thing: ir.Value, is_new: bool) -> ir.Value:
        """Append an object to a list. Returns a number that is not 0 if that has failed.

        Args:
            is_new: whether the list may take over the reference.
        """
        b, count = self.b, self.load_at(ir.I64, items, SIZE)

        def put() -> ir.Value:
            place = b.gep(self.load_at(ir.PTR, items, LIST_ITEMS), count, ir.PTR)
            b.store(thing if is_new else self.acquire(thing), place)
            b.store(b.add(count, 1), b.gep(items, SIZE))
            return ir.constant(ir.I32, 0)

        def grow() -> ir.Value:
            failed = self.python("PyList_Append", items, thing)
            if is_new:
                self.forget(thing)
            return failed

        found = b.if_else(b.icmp("slt", count, self.load_at(ir.I64, items, ALLOCATED)), put, grow, True)
        assert found is not None
        return found


def now_and_then(objects: ObjectBuilder, count: Count, every: int, one: object, other: object) -> ir.Value:
    """Count, and select an object: every `every` times the first, otherwise the second."""
    b, place = objects.b, objects.b.gep(objects.address(count), ITEMS)
    before = b.load(ir.I64, place)
    b.store(b.add(before, 1), place)
    now = b.icmp("eq", b.binary("urem", before, every), 0)
    return b.select(now, objects.address(one), objects.address(other))


def take_exception(objects: ObjectBuilder, places: Sequence[ir.Value]) -> ir.Value:
    """Clear the current exception. Returns a new reference to it.

    Args:
        places: memory for three pointers.
    """
    b = objects.b
    objects.python("PyErr_Fetch", *places)
    objects.python("PyErr_NormalizeException", *places)
    kind, error, trace = (b.load(ir.PTR, place) for place in places)
    objects.python("PyException_SetTraceback", error, b.select(b.is_null(trace), objects.address(None), trace))
    objects.forget(kind)
    objects.python("Py_DecRef", trace)      # it may be null
    return error
