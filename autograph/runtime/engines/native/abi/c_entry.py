"""C entry points: a C function around machine code, which Python calls as a builtin.

The function checks the kinds of the arguments, unboxes them into the frame, runs the code, and boxes the results.
Arguments of other kinds go to a Python function. After a side exit, Python continues.

Its code contains no addresses, so other processes can load it from disk. A table contains the addresses of all objects
that the code uses. The C function gets the table as its `self`, which every builtin has.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from autograph.common import cpython_internals
from autograph.common.cpython_internals import ITEMS, VALUE
from autograph.common.numpy_internals import BUFFER, BUFFER_SIZE, POINTER, SETTINGS, SHAPE, UNDERFLOWS
from autograph.runtime.engines.native.abi.calling_convention import RANGE_BOUNDS
from autograph.runtime.engines.native.analysis.side_exits import Exit, Fetch, Handed
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import ARRAY_FLAGS, SLOT, ObjectBuilder, Table, class_of
from autograph.runtime.engines.native.llvm.ir import I32, I64, NULL, PTR, Module, Parameter, Value, array
from autograph.runtime.engines.native.llvm.ir_verifier import verified
from autograph.runtime.engines.native.llvm.memory import load_number
from autograph.runtime.engines.native.llvm.printer import printed
from autograph.runtime.graph.operands import Array, Complex, Fixed, Given, Mixed, Number, Range
from autograph.runtime.graph.types import part_of


class CFunction(ObjectBuilder):
    """Builds the C function `entry`, which checks its arguments.

    Args:
        module: that it becomes part of.
        count: the number of its arguments.
        slots: of the frame.
        other: a Python function that is called with the arguments if a check fails.
        things: the objects in its table, if there is one already.

    Attributes:
        args: the address of the arguments.
        count: the number of arguments.
        frame: the address of the frame, with the inputs of the code that it calls.
        table: the address of the table.
        other: the block that calls the other function.
    """

    def __init__(
        self, module: Module, count: int, slots: int, other: Callable[..., Any], things: list[Any] | None = None
    ) -> None:
        own, self.args, self.count = Parameter("self", PTR), Parameter("args", PTR), Parameter("count", I64)
        function = module.define("entry", PTR, own, self.args, self.count, attributes="noinline optnone")
        b = Builder(function)
        self.table = b.gep(own, ITEMS)
        super().__init__(b, [] if things is None else things, self.table, self._demand_or_other)
        self.frame: Value = b.alloca(array(slots, I64))
        begin, self.other = map(function.new_block, ("begin", "other"))
        b.br(begin)
        b.begin(self.other)
        self.hand_over(other)
        b.begin(begin)
        self.demand(b.icmp("eq", self.count, count))

    def hand_over(self, function: Callable[..., Any]) -> None:
        """Return the result of a Python function for the same arguments."""
        self.b.ret(self.python("PyObject_VectorcallDict", self.address(function), self.args, self.count, NULL))

    def argument(self, place: int) -> Value:
        """An argument."""
        return self.load_at(PTR, self.args, SLOT * place)

    def slot(self, place: int) -> Value:
        """The address of a slot of the frame."""
        return self.b.gep(self.frame, SLOT * place)

    def demand_silence(self) -> None:
        """Call the other function if NumPy warns of underflows, or has buffers of an unusual size."""
        place = self.b.room(PTR)
        self.python("PyContextVar_Get", self.address(SETTINGS[0]), NULL, place)
        setting = self.b.load(PTR, place)
        pointer = self.load_at(PTR, setting, POINTER)
        errors, size = self.load_at(I32, pointer, 0), self.load_at(I64, pointer, BUFFER)
        self.forget(setting)
        self.demand(self.b.icmp("eq", self.b.and_(errors, UNDERFLOWS), 0))
        self.demand(self.b.icmp("eq", size, BUFFER_SIZE))

    def _demand_or_other(self, condition: Value) -> None:
        """Call the other function unless a condition holds."""
        on = self.b.function.new_block("on")
        self.b.cond_br(condition, on, self.other)
        self.b.begin(on)


class Entry:
    """The C function around a loop.

    Args:
        things: the objects of the table, which it shares with the code.
        operands: the operands of the inputs.
        slots: of the frame.
        exits: of the code.
        underflows: whether NumPy must not be set to warn of underflows.
        other: a Python function for arguments of other kinds.
        left: a Python function of the number of a side exit, the address of the frame, and the arguments.
        no_nans: the places of arguments that must be no NaNs.
        shapes: those that arrays at some places must have.
        kept: the places of numbers whose objects the code needs as well.
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
        no_nans: Collection[int],
        shapes: Mapping[int, Sequence[int]],
        kept: Collection[int],
    ) -> None:
        self._module, self._slot = Module(), 0
        self._c = CFunction(self._module, len(operands), slots, other, things)
        if underflows:
            self._c.demand_silence()
        for place, operand in enumerate(operands):
            self._take(self._c.argument(place), operand, place in no_nans)
            if place in shapes:
                self._demand_shape(self._c.argument(place), shapes[place])
        self._put(*map(self._c.argument, kept))
        self._run(exits, left, len(operands))

    @property
    def text(self) -> str:
        return printed(verified(self._module))

    def _put(self, *values: Value) -> None:
        """Store values in the next slots of the frame."""
        for value in values:
            self._c.b.store(value, self._c.slot(self._slot))
            self._slot += 1

    # Arguments --------------------------------------------------------------------------------------------------------

    def _take(self, thing: Value, operand: Any, is_no_nan: bool) -> None:
        """Check an argument, and unbox it into the frame; some must be no NaN."""
        c = self._c
        if isinstance(operand, Fixed):
            c.demand(c.b.icmp("eq", thing, c.address(operand.value)))
        elif isinstance(operand, Number):
            self._put_number(c.number_in(thing, operand.type), is_no_nan and operand.type.dtype.kind == "f")
        elif isinstance(operand, Complex):
            c.demand_class(thing, class_of(operand.type))
            for part in c.parts_of(thing, operand.type):
                self._put_number(part, is_no_nan)
        elif isinstance(operand, Array):
            c.demand_array(thing, operand.dtype, operand.ndim, operand.flags, ARRAY_FLAGS)
            self._put(thing)
        elif isinstance(operand, Given):
            self._demand_kind(thing, operand.of)
            self._put(thing)
        else:
            self._take_range(thing, operand)

    def _demand_shape(self, thing: Value, shape: Sequence[int]) -> None:
        c = self._c
        lengths = c.load_at(PTR, thing, SHAPE)
        for axis, length in enumerate(shape):
            c.demand(c.b.icmp("eq", c.load_at(I64, lengths, SLOT * axis), length))

    def _put_number(self, number: Value, is_no_nan: bool) -> None:
        if is_no_nan:
            self._c.demand(self._c.b.fcmp("ord", number, number))
        self._put(number)

    def _demand_kind(self, thing: Value, kind: Any) -> None:
        """Demand an object of a kind other than a number; see `calling_convention.kind_of`."""
        if isinstance(kind, tuple):
            dtype, ndim, flags = kind
            self._c.demand_array(thing, dtype, ndim, flags, ARRAY_FLAGS)
        else:
            self._c.demand_class(thing, kind)

    def _take_range(self, thing: Value, operand: Range) -> None:
        c, b = self._c, self._c.b
        c.demand_class(thing, range)
        for part, bound in enumerate(RANGE_BOUNDS):
            found = c.integer_in(c.load_at(PTR, thing, VALUE + SLOT * part))
            c.demand(b.icmp("ule", b.add(found, bound), 2 * bound))
            self._put(found)
        if operand.known is not None:
            c.demand(b.icmp("eq", found, operand.known))
        else:
            c.demand(b.icmp("slt" if operand.down else "sgt", found, 0))

    # Results ----------------------------------------------------------------------------------------------------------

    def _run(self, exits: Sequence[Exit], left: Any, count: int) -> None:
        """Run the code, and return its results."""
        c, b, new_block = self._c, self._c.b, self._c.b.function.new_block
        loop = self._module.declare("loop", I64, PTR, PTR)
        number = b.call(loop, c.frame, c.table, attributes="noinline")
        ends = {place: new_block("end") for place in ends_in(exits)}
        stop, rest = new_block("stop"), new_block("left")
        b.switch(number, rest, {0: stop} | ends)
        b.begin(stop)
        b.ret(NULL)
        for place, block in ends.items():
            b.begin(block)
            values = exits[place].values
            b.ret(made_of(c, values[0] if len(values) == 1 else values))
        b.begin(rest)
        made = [c.python("PyLong_FromLongLong", each) for each in (number, b.cast("ptrtoint", c.frame, I64))]
        found = c.call(c.address(left), [*made, *map(c.argument, range(count))])
        for each in made:
            c.forget(each)
        b.ret(found)


def made_of(c: Any, recipe: Any) -> Value:
    """A new reference to the object of a result.

    Args:
        c: the builder of a C function that has the frame, and the objects of arguments.
    """
    if isinstance(recipe, Fetch):
        found: Value = c.number_object(load_number(c.b, c.slot(recipe.slot), recipe.type.dtype), recipe.type)
    elif isinstance(recipe, Complex):
        part = part_of(recipe.type.dtype)
        parts = [load_number(c.b, c.slot(each.slot), part) for each in recipe.parts]
        found = c.complex_object(parts, recipe.type)
    elif isinstance(recipe, Mixed):
        value, is_int = (load_number(c.b, c.slot(each.slot), each.type.dtype) for each in recipe.parts)
        found = c.mixed_object(value, is_int)
    elif isinstance(recipe, Handed):
        found = c.b.load(PTR, c.slot(recipe.slot))
    elif isinstance(recipe, tuple):
        found = c.tuple_object([made_of(c, each) for each in recipe])
    elif isinstance(recipe, (Array, Given)):
        found = c.another(c.argument(recipe.input))
    else:
        found = c.another(c.address(recipe.value))
    return found


def ends_in(exits: Sequence[Exit]) -> list[int]:
    """The numbers of the exits at which the code has ended, and whose results a C function can box."""
    return [place for place, exit in enumerate(exits) if place and _is_simple(exit)]


def _is_simple(exit: Exit) -> bool:
    """Whether the loop has ended at an exit, and this function can box its results."""
    return exit.at is None and all(map(_is_made, exit.values))


def _is_made(recipe: Any) -> bool:
    if isinstance(recipe, tuple):
        return all(map(_is_made, recipe))
    return isinstance(recipe, (Array, Complex, Fetch, Fixed, Given, Handed, Mixed))


def builtin(address: int, table: Table, owner: Any) -> Callable[..., Any]:
    """A Python function for a C function. It keeps the table, and the owner of the code, alive."""
    table.owner = owner
    return cpython_internals.builtin(address, table)


class Rebindable:
    """A callable that namespaces refer to by names, and that another one may replace in all of them.

    Attributes:
        entry: the function to call.
    """

    def __init__(self, entry: Callable[..., Any]) -> None:
        self.entry = entry
        self._bound: list[tuple[dict[str, Any], str]] = []

    def bind(self, names: dict[str, Any], name: str) -> None:
        """Keep the function to call in a namespace, under a name."""
        self._bound.append((names, name))
        names[name] = self.entry

    def _rebind(self, entry: Callable[..., Any]) -> None:
        self.entry = entry
        for names, name in self._bound:
            names[name] = entry


FAST_UNDERFLOWS = bool(SETTINGS)        # whether an entry point can check whether NumPy warns of them
