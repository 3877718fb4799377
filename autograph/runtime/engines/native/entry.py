"""A C function around machine code, which Python calls as any builtin: the fast path of calls.

It looks whether the arguments are of the kinds that the code is for, takes their values out of the objects into the
frame, runs the code, and makes objects of what the frame holds then. If the kinds are others, it calls who knows about
them; if the code has been left, who goes on in Python.

All this is LLVM's assembly, in which no address stands, so that its code serves other processes (`cache`). The objects
that it knows are in a table, which the C function gets as the `self` that every builtin has.
"""

from __future__ import annotations

import contextvars
import ctypes
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.runtime.engines.native.calls import ARRAY_FLAGS, RANGE_BOUNDS
from autograph.runtime.engines.native.emitter import SLOT, llvm_type
from autograph.runtime.engines.native.exits import Exit, Fetch
from autograph.runtime.operands import Array, Fixed, Number, Range
from autograph.runtime.types import PYTHON_TYPES, TensorType

VALUE = 16          # where objects of numbers hold them, behind count and class
_CLASS, _NDIM, _DTYPE, _FLAGS = 8, 24, 56, 64
_TABLE = 32         # where `bytes` hold theirs
_FUNCTIONS = {
    "PyLong_AsLongLongAndOverflow": "i64 (ptr, ptr)",
    "PyLong_FromLongLong": "ptr (i64)",
    "PyLong_FromUnsignedLongLong": "ptr (i64)",
    "PyFloat_FromDouble": "ptr (double)",
    "PyTuple_New": "ptr (i64)",
    "PyTuple_SetItem": "i32 (ptr, i64, ptr)",
    "PyObject_CallOneArg": "ptr (ptr, ptr)",
    "PyObject_Vectorcall": "ptr (ptr, ptr, i64, ptr)",
    "PyContextVar_Get": "i32 (ptr, ptr, ptr)",
    "Py_IncRef": "void (ptr)",
    "Py_DecRef": "void (ptr)",
}
NAMES = tuple(_FUNCTIONS)


class Table(bytes):
    """The addresses of objects; it keeps them."""

    things: list[Any]
    method: Any
    owner: Any


class Entry:
    """The text of the C function.

    Args:
        operands: what the inputs are to the code.
        slots: of the frame.
        exits: of the code.
        underflows: whether NumPy must not be set to tell of underflows.
        other: is called with the arguments if they are of other kinds.
        left: is called with the number of an exit, the address of the frame, and the arguments.
    """

    def __init__(
        self,
        operands: Sequence[Any],
        slots: int,
        exits: Sequence[Exit],
        underflows: bool,
        other: Callable[..., Any],
        left: Callable[..., Any],
    ) -> None:
        self.things: list[Any] = []
        self._lines: list[str] = []
        self._numbers = 0
        self._slot = 0
        self._count = len(operands)
        self._open(slots, other)
        if underflows:
            self._demand_silence()
        for place, operand in enumerate(operands):
            self._take(place, operand)
        self._call(exits, left)

    @property
    def text(self) -> str:
        declared = [
            f"declare {kind.partition(' ')[0]} @{name}{kind.partition(' ')[2]}" for name, kind in _FUNCTIONS.items()
        ]
        head = "define ptr @entry(ptr %self, ptr %args, i64 %count) noinline optnone {"
        return "\n".join([*declared, head, *self._lines, "}", ""])

    @property
    def table(self) -> Table:
        """What the C function is to get as its `self`."""
        table = Table(struct.pack(f"<{len(self.things)}Q", *map(id, self.things)))
        table.things = self.things
        return table

    def _address(self, thing: object) -> str:
        """That of an object, out of the table."""
        place = next((place for place, each in enumerate(self.things) if each is thing), len(self.things))
        if place == len(self.things):
            self.things.append(thing)
        return self._load("ptr", "%self", _TABLE + SLOT * place)

    # Writing ----------------------------------------------------------------------------------------------------------

    def _emit(self, text: str) -> str:
        self._numbers += 1
        self._lines.append(f"  %e{self._numbers} = {text}")
        return f"%e{self._numbers}"

    def _do(self, *lines: str) -> None:
        self._lines += lines

    def _label(self) -> str:
        self._numbers += 1
        return f"l{self._numbers}"

    def _load(self, kind: str, pointer: str, offset: int) -> str:
        return self._emit(f"load {kind}, ptr {self._emit(f'getelementptr i8, ptr {pointer}, i64 {offset}')}")

    def _store(self, kind: str, ref: str) -> None:
        """Put a number into the next place of the frame."""
        self._do(f"  store {kind} {ref}, ptr {self._emit(f'getelementptr i8, ptr %frame, i64 {SLOT * self._slot}')}")
        self._slot += 1

    def _demand(self, condition: str) -> None:
        """Call the other one unless a condition holds."""
        on = self._label()
        self._do(f"  br i1 {condition}, label %{on}, label %other", f"{on}:")

    def _open(self, slots: int, other: Any) -> None:
        self._do(f"  %frame = alloca [{slots} x i64]", "  %overflow = alloca i32", "  %setting = alloca ptr")
        self._do("  br label %begin", "other:")
        vector = f"call ptr @PyObject_Vectorcall(ptr {self._address(other)}, ptr %args, i64 %count, ptr null)"
        self._do(f"  ret ptr {self._emit(vector)}", "begin:")
        self._demand(self._emit(f"icmp eq i64 %count, {self._count}"))

    def _demand_silence(self) -> None:
        """Call the other one unless NumPy's settings are those that it begins with."""
        variable, default = map(self._address, _SETTINGS)
        self._emit(f"call i32 @PyContextVar_Get(ptr {variable}, ptr null, ptr %setting)")
        setting = self._emit("load ptr, ptr %setting")
        self._do(f"  call void @Py_DecRef(ptr {setting})")
        self._demand(self._emit(f"icmp eq ptr {setting}, {default}"))

    # Arguments --------------------------------------------------------------------------------------------------------

    def _take(self, place: int, operand: Any) -> None:
        """Look at an argument, and put what it holds into the frame."""
        thing = self._load("ptr", "%args", 8 * place)
        if isinstance(operand, Fixed):
            self._demand(self._emit(f"icmp eq ptr {thing}, {self._address(operand.value)}"))
        elif isinstance(operand, Number):
            self._take_number(thing, operand.type)
        elif isinstance(operand, Array):
            self._take_array(thing, operand)
        else:
            self._take_range(thing, operand)

    def _demand_class(self, thing: str, kind: type) -> None:
        self._demand(self._emit(f"icmp eq ptr {self._load('ptr', thing, _CLASS)}, {self._address(kind)}"))

    def _take_number(self, thing: str, type: TensorType) -> None:
        dtype = type.dtype
        kind = PYTHON_TYPES[dtype] if type.kind == "python" else dtype.type
        self._demand_class(thing, kind)
        if kind is int:
            self._store("i64", self._integer(thing))
        elif kind is bool:
            self._store("i8", self._emit(f"zext i1 {self._emit(f'icmp eq ptr {thing}, {self._address(True)}')} to i8"))
        else:
            in_memory = "i8" if dtype.kind == "b" else llvm_type(dtype)
            self._store(in_memory, self._load(in_memory, thing, VALUE))

    def _integer(self, thing: str) -> str:
        """A Python integer, if it has no more than 64 bits."""
        found = self._emit(f"call i64 @PyLong_AsLongLongAndOverflow(ptr {thing}, ptr %overflow)")
        self._demand(self._emit(f"icmp eq i32 {self._emit('load i32, ptr %overflow')}, 0"))
        return found

    def _take_array(self, thing: str, array: Array) -> None:
        self._demand_class(thing, np.ndarray)
        self._demand(self._emit(f"icmp eq ptr {self._load('ptr', thing, _DTYPE)}, {self._address(array.dtype)}"))
        self._demand(self._emit(f"icmp eq i32 {self._load('i32', thing, _NDIM)}, {array.ndim}"))
        flags = self._emit(f"and i32 {self._load('i32', thing, _FLAGS)}, {ARRAY_FLAGS}")
        self._demand(self._emit(f"icmp eq i32 {flags}, {array.flags}"))
        self._store("ptr", thing)

    def _take_range(self, thing: str, operand: Range) -> None:
        self._demand_class(thing, range)
        for part, bound in enumerate(RANGE_BOUNDS):
            found = self._integer(self._load("ptr", thing, VALUE + 8 * part))
            self._demand(self._emit(f"icmp ule i64 {self._emit(f'add i64 {found}, {bound}')}, {2 * bound}"))
            self._store("i64", found)
        if operand.known is not None:
            self._demand(self._emit(f"icmp eq i64 {found}, {operand.known}"))
        else:
            self._demand(self._emit(f"icmp {'slt' if operand.down else 'sgt'} i64 {found}, 0"))

    # Results ----------------------------------------------------------------------------------------------------------

    def _call(self, exits: Sequence[Exit], left: Any) -> None:
        """Run the code, and give back what there is."""
        number = self._emit("call i64 @loop(ptr %frame) noinline")
        ends = {place: self._label() for place, exit in enumerate(exits) if place and _is_simple(exit)}
        cases = " ".join(f"i64 {place}, label %{label}" for place, label in ends.items())
        self._do(f"  switch i64 {number}, label %left [ i64 0, label %stop {cases} ]", "stop:", "  ret ptr null")
        for place, label in ends.items():
            self._do(f"{label}:")
            values = exits[place].values
            self._do(f"  ret ptr {self._made(values[0] if len(values) == 1 else values)}")
        self._do("left:")
        numbers = [number, self._emit("ptrtoint ptr %frame to i64")]
        made = [self._emit(f"call ptr @PyLong_FromLongLong(i64 {each})") for each in numbers]
        handed = self._emit(f"alloca [{self._count + 2} x ptr]")
        given = [self._load("ptr", "%args", 8 * place) for place in range(self._count)]
        for place, each in enumerate([*made, *given]):
            self._do(f"  store ptr {each}, ptr {self._emit(f'getelementptr ptr, ptr {handed}, i64 {place}')}")
        arguments = f"ptr {self._address(left)}, ptr {handed}, i64 {self._count + 2}, ptr null"
        found = self._emit(f"call ptr @PyObject_Vectorcall({arguments})")
        for each in made:
            self._do(f"  call void @Py_DecRef(ptr {each})")
        self._do(f"  ret ptr {found}")

    def _made(self, recipe: Any) -> str:
        """A new reference to the object for a value."""
        if isinstance(recipe, Fetch):
            assert recipe.type is not None
            return self._number(recipe.slot, recipe.type)
        if isinstance(recipe, tuple):
            parts = [self._made(each) for each in recipe]
            found = self._emit(f"call ptr @PyTuple_New(i64 {len(parts)})")
            for place, part in enumerate(parts):
                self._emit(f"call i32 @PyTuple_SetItem(ptr {found}, i64 {place}, ptr {part})")
            return found
        if isinstance(recipe, Array):
            return self._another(self._load("ptr", "%args", 8 * recipe.input))
        return self._another(self._address(recipe.value))

    def _another(self, thing: str) -> str:
        self._do(f"  call void @Py_IncRef(ptr {thing})")
        return thing

    def _number(self, slot: int, type: TensorType) -> str:
        dtype = type.dtype
        if dtype.kind == "b":
            things = (True, False) if type.kind == "python" else (np.True_, np.False_)
            true, false = map(self._address, things)
            holds = self._emit(f"icmp ne i8 {self._load('i8', '%frame', SLOT * slot)}, 0")
            return self._another(self._emit(f"select i1 {holds}, ptr {true}, ptr {false}"))
        kind = llvm_type(dtype)
        value = self._load(kind, "%frame", SLOT * slot)
        if dtype.kind == "f":
            wide = value if kind == "double" else self._emit(f"fpext float {value} to double")
            found = self._emit(f"call ptr @PyFloat_FromDouble(double {wide})")
        else:
            how, unsigned = ("sext", "") if dtype.kind == "i" else ("zext", "Unsigned")
            wide = value if kind == "i64" else self._emit(f"{how} {kind} {value} to i64")
            found = self._emit(f"call ptr @PyLong_From{unsigned}LongLong(i64 {wide})")
        if type.kind == "python":
            return found
        scalar = self._emit(f"call ptr @PyObject_CallOneArg(ptr {self._address(dtype.type)}, ptr {found})")
        self._do(f"  call void @Py_DecRef(ptr {found})")
        return scalar


def _is_simple(exit: Exit) -> bool:
    """Whether the code has come to its end, and this function can make objects of the results."""
    return exit.at is None and all(map(_is_made, exit.values))


def _is_made(recipe: Any) -> bool:
    if isinstance(recipe, tuple):
        return all(map(_is_made, recipe))
    return isinstance(recipe, (Array, Fixed)) or (isinstance(recipe, Fetch) and recipe.type is not None)


class _Method(ctypes.Structure):
    """`PyMethodDef`"""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


_FASTCALL = 0x80
_new = ctypes.pythonapi.PyCFunction_NewEx
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]


def builtin(place: int, table: Table, owner: Any) -> Callable[..., Any]:
    """A function of Python's for the C function at that address. It keeps the table, and the owner of the code."""
    table.method, table.owner = _Method(b"loop", place, _FASTCALL, None), owner
    made: Callable[..., Any] = _new(ctypes.addressof(table.method), table, None)
    return made


def layout_is_known() -> bool:
    """Whether objects hold their values where this file and `emitter` look for them."""
    array, parts = np.zeros((3, 5), np.int16)[:, :2], (_RANGE.start, _RANGE.stop, _RANGE.step)
    words = (ctypes.c_int64 * 9).from_address(id(array))
    lengths, strides = ((ctypes.c_int64 * 2).from_address(words[place]) for place in (4, 5))
    table = Table(struct.pack("<Q", 2**60 + 1))
    return (
        ctypes.c_int64.from_address(id(table) + _TABLE).value == 2**60 + 1
        and (words[1], words[7]) == (id(np.ndarray), id(array.dtype))
        and words[2] == array.ctypes.data
        and (*lengths, *strides) == (*array.shape, *array.strides)
        and ctypes.c_int32.from_address(id(array) + _NDIM).value == 2
        and ctypes.c_int32.from_address(id(array) + _FLAGS).value == array.flags.num
        and ctypes.c_double.from_address(id(_HALF) + VALUE).value == _HALF
        and ctypes.c_double.from_address(id(_SCALAR) + VALUE).value == _HALF
        and (ctypes.c_int64 * 3).from_address(id(_RANGE) + VALUE)[:] == list(map(id, parts))
    )


def tells_of_underflows() -> bool:
    """Whether NumPy is set to warn of underflows, or the like, which it is not to begin with."""
    return np.geterr()["under"] != "ignore"


def _settings() -> tuple[Any, ...]:
    """The variable in which NumPy has its settings, and what is in it to begin with; nothing if that is not known."""
    variable = getattr(getattr(getattr(np, "_core", None), "umath", None), "_extobj_contextvar", None)
    if not isinstance(variable, contextvars.ContextVar):
        return ()
    default = contextvars.Context().run(variable.get)
    return (variable, default) if not contextvars.Context().run(tells_of_underflows) else ()


_SETTINGS = _settings()
FAST_UNDERFLOWS = bool(_SETTINGS)       # whether an entry can see whether NumPy tells of them
_HALF, _SCALAR, _RANGE = 0.5, np.float64(0.5), range(3, 1000, 2)
