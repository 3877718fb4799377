"""A C function around machine code, which Python calls as any builtin: the fast path of calls.

It looks whether the arguments are of the kinds that the code is for, takes their values out of the objects into the
frame, runs the code, and makes objects of what the frame holds then. If the kinds are others, it calls who knows about
them; if the code has been left, who goes on in Python.

All this is LLVM's assembly, in which no address stands, so that its code serves other processes (`cache`). The objects
that it knows are in a table, which the C function gets as the `self` that every builtin has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from autograph.common import cpython_internals
from autograph.common.cpython_internals import ITEMS, VALUE
from autograph.common.numpy_internals import SETTINGS
from autograph.runtime.engines.native.abi.calling_convention import RANGE_BOUNDS
from autograph.runtime.engines.native.analysis.side_exits import Exit, Fetch, Handed
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import ARRAY_FLAGS, SLOT, Table, Writer, llvm_type
from autograph.runtime.engines.native.llvm.ir import I64, PTR, Module, Parameter, Value
from autograph.runtime.engines.native.llvm.printer import declarations, printed
from autograph.runtime.graph.operands import Array, Complex, Fixed, Given, Number, Range
from autograph.runtime.graph.types import TensorType, part_of


class Builtin(Writer):
    """The text of a C function that looks at its arguments.

    Args:
        things: for the table.
        declared: see `Writer`.
        count: of its arguments.
    """

    def __init__(self, things: list[Any], declared: set[str], count: int) -> None:
        function = Module().define(
            "entry", PTR, Parameter("self", PTR), Parameter("args", PTR), Parameter("count", I64),
            attributes="noinline optnone",
        )  # fmt: skip
        super().__init__(Builder(function), things, Value(PTR, "%table"), self._demand_or_other)
        self.declared = declared
        self._overflow = Value(PTR, "%overflow")
        self._numbers = 0
        self._slot = 0
        self._frame = "%frame"
        self._count = count

    @property
    def text(self) -> str:
        return printed(self.b.function)

    # Writing ----------------------------------------------------------------------------------------------------------

    def _emit(self, text: str) -> str:
        return self.b.raw(text)     # type: ignore[return-value]

    def _do(self, *lines: str) -> None:
        self.b.raw_lines(*lines)

    def _load(self, kind: str, pointer: Any, offset: int) -> str:
        return self.load_at(kind, pointer, offset)  # type: ignore[no-any-return]

    def python(self, name: str, *args: Any) -> Any:
        found = super().python(name, *args)
        self.declared |= declarations(self.b.function.module)
        return found

    def _label(self) -> str:
        self._numbers += 1
        return f"l{self._numbers}"

    def _store(self, kind: str, ref: str) -> None:
        """Put a number into the next place of the frame."""
        where = self._emit(f"getelementptr i8, ptr {self._frame}, i64 {SLOT * self._slot}")
        self._do(f"  store {kind} {ref}, ptr {where}")
        self._slot += 1

    def _demand_or_other(self, condition: Any) -> None:
        """Call the other one unless a condition holds."""
        on = self._label()
        self._do(f"  br i1 {condition}, label %{on}, label %other", f"{on}:")

    def _open(self, slots: int, other: Any) -> None:
        self._do(f"  %frame = alloca [{slots} x i64]", "  %overflow = alloca i32", "  %setting = alloca ptr")
        self._do(f"  %table = getelementptr i8, ptr %self, i64 {ITEMS}")
        self._do("  br label %begin", "other:")
        self._do(f"  ret ptr {self.python('PyObject_VectorcallDict', self.address(other), '%args', '%count', 'null')}")
        self._do("begin:")
        self.demand(self._emit(f"icmp eq i64 %count, {self._count}"))

    def _demand_silence(self) -> None:
        """Call the other one unless NumPy's settings are those that it begins with."""
        variable, default = map(self.address, SETTINGS)
        self.python("PyContextVar_Get", variable, "null", "%setting")
        setting = self._emit("load ptr, ptr %setting")
        self.forget(setting)
        self.demand(self._emit(f"icmp eq ptr {setting}, {default}"))

    def _take_number(self, thing: str, type: TensorType) -> None:
        """Put a number into the frame; of a complex one both parts."""
        if type.dtype.kind == "c":
            for part in self.parts_in(thing, type):
                self._store(llvm_type(part_of(type.dtype)), part)
            return
        self._store("i8" if type.dtype.kind == "b" else llvm_type(type.dtype), self.number_in(thing, type))

class Entry(Builtin):
    """The text of the C function around a loop.

    Args:
        things: for the table, which this shares with the code.
        operands: what the inputs are to the code.
        slots: of the frame.
        exits: of the code.
        underflows: whether NumPy must not be set to tell of underflows.
        other: is called with the arguments if they are of other kinds.
        left: is called with the number of an exit, the address of the frame, and the arguments.
    """

    def __init__(
        self,
        things: list[Any],
        operands: Sequence[Any],
        slots: int,
        exits: Sequence[Exit],
        underflows: bool,
        other: Callable[..., Any],
        left: Callable[..., Any],
    ) -> None:
        super().__init__(things, set(), len(operands))
        self._open(slots, other)
        if underflows:
            self._demand_silence()
        for place, operand in enumerate(operands):
            self._take(place, operand)
        self._call(exits, left)

    # Arguments --------------------------------------------------------------------------------------------------------

    def _take(self, place: int, operand: Any) -> None:
        """Look at an argument, and put what it holds into the frame."""
        thing = self._load("ptr", "%args", 8 * place)
        if isinstance(operand, Fixed):
            self.demand(self._emit(f"icmp eq ptr {thing}, {self.address(operand.value)}"))
        elif isinstance(operand, (Number, Complex)):
            self._take_number(thing, operand.type)
        elif isinstance(operand, Array):
            self.demand_array(thing, operand.dtype, operand.ndim, operand.flags, ARRAY_FLAGS)
            self._store("ptr", thing)
        elif isinstance(operand, Given):
            self._demand_kind(thing, operand.of)
            self._store("ptr", thing)
        else:
            self._take_range(thing, operand)

    def _demand_kind(self, thing: str, kind: Any) -> None:
        """Demand an object of a kind that is no number; see `calling_convention.kind_of`."""
        if isinstance(kind, tuple):
            dtype, ndim, flags = kind
            self.demand_array(thing, dtype, ndim, flags, ARRAY_FLAGS)
        else:
            self.demand_class(thing, kind)

    def _take_range(self, thing: str, operand: Range) -> None:
        self.demand_class(thing, range)
        for part, bound in enumerate(RANGE_BOUNDS):
            found = self.integer_in(self._load("ptr", thing, VALUE + 8 * part))
            self.demand(self._emit(f"icmp ule i64 {self._emit(f'add i64 {found}, {bound}')}, {2 * bound}"))
            self._store("i64", found)
        if operand.known is not None:
            self.demand(self._emit(f"icmp eq i64 {found}, {operand.known}"))
        else:
            self.demand(self._emit(f"icmp {'slt' if operand.down else 'sgt'} i64 {found}, 0"))

    # Results ----------------------------------------------------------------------------------------------------------

    def _call(self, exits: Sequence[Exit], left: Any) -> None:
        """Run the code, and give back what there is."""
        number = self._emit("call i64 @loop(ptr %frame, ptr %table) noinline")
        ends = {place: self._label() for place, exit in enumerate(exits) if place and _is_simple(exit)}
        cases = " ".join(f"i64 {place}, label %{label}" for place, label in ends.items())
        self._do(f"  switch i64 {number}, label %left [ i64 0, label %stop {cases} ]", "stop:", "  ret ptr null")
        for place, label in ends.items():
            self._do(f"{label}:")
            values = exits[place].values
            self._do(f"  ret ptr {self._made(values[0] if len(values) == 1 else values)}")
        self._do("left:")
        numbers = [number, self._emit("ptrtoint ptr %frame to i64")]
        made = [self.python("PyLong_FromLongLong", each) for each in numbers]
        handed = self._emit(f"alloca [{self._count + 2} x ptr]")
        given = [self._load("ptr", "%args", 8 * place) for place in range(self._count)]
        for place, each in enumerate([*made, *given]):
            self._do(f"  store ptr {each}, ptr {self._emit(f'getelementptr ptr, ptr {handed}, i64 {place}')}")
        found = self.python("PyObject_VectorcallDict", self.address(left), handed, str(self._count + 2), "null")
        for each in made:
            self.forget(each)
        self._do(f"  ret ptr {found}")

    def _made(self, recipe: Any) -> Any:
        """A new reference to the object for a value."""
        if isinstance(recipe, Fetch):
            return self.number_object(self._in_frame(recipe.slot, recipe.type.dtype), recipe.type)
        if isinstance(recipe, Complex):
            part = part_of(recipe.type.dtype)
            return self.complex_object([self._in_frame(each.slot, part) for each in recipe.parts], recipe.type)
        if isinstance(recipe, Handed):
            return self._load("ptr", "%frame", SLOT * recipe.slot)
        if isinstance(recipe, tuple):
            return self.tuple_object([self._made(each) for each in recipe])
        if isinstance(recipe, (Array, Given)):
            return self.another(self._load("ptr", "%args", 8 * recipe.input))
        return self.another(self.address(recipe.value))

    def _in_frame(self, slot: int, dtype: np.dtype[Any]) -> str:
        """A number in the frame."""
        if dtype.kind == "b":
            return self._emit(f"icmp ne i8 {self._load('i8', '%frame', SLOT * slot)}, 0")
        return self._load(llvm_type(dtype), "%frame", SLOT * slot)


def _is_simple(exit: Exit) -> bool:
    """Whether the code has come to its end, and this function can make objects of the results."""
    return exit.at is None and all(map(_is_made, exit.values))


def _is_made(recipe: Any) -> bool:
    if isinstance(recipe, tuple):
        return all(map(_is_made, recipe))
    return isinstance(recipe, (Array, Complex, Fetch, Fixed, Given, Handed))


def builtin(address: int, table: Table, owner: Any) -> Callable[..., Any]:
    """A function of Python's for the C function at that address. It keeps the table, and the owner of the code."""
    made, table.method = cpython_internals.builtin(address, table)
    table.owner = owner
    return made


FAST_UNDERFLOWS = bool(SETTINGS)        # whether an entry can see whether NumPy warns of them
