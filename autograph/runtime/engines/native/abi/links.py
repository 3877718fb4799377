"""Links: machine code calls the machine code of a helper, a function that recurses as deep as the data say.

    direct(args, table, run)        arguments and result in words, see `emit/recursion.py` for the run

Each helper has a link for each combination of kinds of arguments. It has a *cell*: the address of `direct`, that of its
table, and the epoch in which the guards of the helper's trace were checked last. An epoch ends where code of the user's
may run, which may replace the helper or what it reads. In another epoch, or if there is no code yet, the caller calls
`renewed`. If the helper has no such code, the caller calls it through Python.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autograph.common.cpython_internals import ITEMS, write
from autograph.common.numpy_internals import SHAPE
from autograph.errors import AutographError
from autograph.runtime.engines.native.abi.c_entry import ends_in, made_of
from autograph.runtime.engines.native.abi.calling_convention import are_wide
from autograph.runtime.engines.native.analysis.side_exits import Exit, Fetch
from autograph.runtime.engines.native.llvm.builder import Builder
from autograph.runtime.engines.native.llvm.cpython_abi import SLOT, ObjectBuilder
from autograph.runtime.engines.native.llvm.ir import I64, PTR, Module, Parameter, Value, array, constant
from autograph.runtime.engines.native.llvm.ir_verifier import verified
from autograph.runtime.engines.native.llvm.link_cells import (
    CHECKED,
    CODE,
    FAILED,
    NUMBERS,
    OBJECT,
    REFUSED,
    TABLE,
    LinkCell,
)
from autograph.runtime.engines.native.llvm.memory import load_number
from autograph.runtime.engines.native.llvm.printer import printed
from autograph.runtime.graph.operands import Array, Fixed, Given, Number
from autograph.runtime.graph.recursion import Helper
from autograph.runtime.graph.types import PYTHON_TYPES, TensorType

TRIES = 16          # to find the code of a helper


def _never() -> bool:
    return False


class Link:
    """A link of machine code to the code of a helper for arguments of some kinds.

    Attributes:
        cell: its memory.
        renewed: `renew`, always the same object.
        translated: translates the traceback of an exception that the code has raised.
        type: of the result, if the code gives only numbers of that type.
    """

    def __init__(self, helper: Helper) -> None:
        self._helper = helper
        self._holds: Callable[[], bool] = _never
        self._executable: Any = None
        self._tries = 0
        self._is_looking = False
        self.type: TensorType | None = None
        self._kept: list[Any] = []      # code that may be running
        self.cell = LinkCell()
        self.renewed, self.translated = self._renew, self._translate

    def _renew(self, *values: Any) -> None:
        """Look for the code of the helper, unless there is some whose guards hold."""
        if not self._holds():
            self.cut()
            if self._tries < TRIES:
                self._tries += 1
                self._find(values)

    def _translate(self, error: BaseException) -> None:
        self._executable.translate(error)
        del error

    def cut(self) -> None:
        """Let callers look for other code."""
        self._holds = _never
        self._set(CODE, 0)
        self._set(CHECKED, -1)

    def prepare(self, types: Sequence[Any]) -> None:
        """Look for the code before the first call, if the arguments are numbers of some types."""
        if self._holds is _never and not self._tries and all(each in NUMBERS for each in types):
            self._tries += 1
            self._find([PYTHON_TYPES[each.dtype](0) for each in types])

    def _find(self, values: Sequence[Any]) -> None:
        if self._is_looking:        # functions that call each other
            return
        self._is_looking = True
        try:
            self._look(values)
        except AutographError:      # the call in Python raises it
            return
        finally:
            self._is_looking = False

    def _look(self, values: Sequence[Any]) -> None:
        target = self._helper.target(values)
        region = None if target is None else getattr(target.executable, "whole", None)
        if target is None or region is None:
            return
        given = dict(zip(target.names, values))
        if any(value.name not in given for value in region.inputs) or are_wide(values):
            return
        places = [target.names.index(value.name) for value in region.inputs]
        shapes = {target.names.index(name): shape for name, shape in target.shapes.items()}
        found = region.linked(self, tuple(given[value.name] for value in region.inputs), places, shapes)
        if found is not None and target.holds():
            address, table, code, self.type = found
            self._kept.append((table, code))
            self._holds, self._executable = target.holds, target.executable
            self._set(TABLE, table.address)
            self._set(CODE, address)

    def _set(self, place: int, value: int) -> None:
        write(ctypes.c_int64, id(self.cell) + ITEMS + place, value)


def link_of(helper: Helper, kinds: Any) -> Link:
    """The link to a helper for arguments of some kinds."""
    found: Link = helper.links.setdefault(kinds, Link(helper))
    return found


class _Direct(ObjectBuilder):
    """Builds `direct`.

    Args:
        places: those of the inputs among the arguments.
        slots: of the frame.
    """

    def __init__(
        self, module: Module, things: list[Any], operands: Sequence[Any], places: Sequence[int], slots: int
    ) -> None:
        self.args, self.table, self.run = Parameter("args", PTR), Parameter("table", PTR), Parameter("run", PTR)
        function = module.define("direct", I64, self.args, self.table, self.run)
        super().__init__(Builder(function), things, self.table, self._demand_or_refuse)
        self._module, self._operands, self._places = module, operands, places
        self.frame: Value = self.b.alloca(array(slots, I64))
        begin, self._refused = map(function.new_block, ("begin", "refused"))
        self.b.br(begin)
        self.b.begin(self._refused)
        self.b.ret(constant(I64, REFUSED))
        self.b.begin(begin)

    def _demand_or_refuse(self, condition: Value) -> None:
        on = self.b.function.new_block("on")
        self.b.cond_br(condition, on, self._refused)
        self.b.begin(on)

    def word(self, input: int) -> Value:
        """The address of the word of an input."""
        return self.b.gep(self.args, SLOT * self._places[input])

    def argument(self, input: int) -> Value:
        """The object of an input."""
        return self.b.load(PTR, self.word(input))

    def slot(self, place: int) -> Value:
        """The address of a slot of the frame."""
        return self.b.gep(self.frame, SLOT * place)

    def check(self, no_nans: Sequence[int], shapes: Mapping[int, Sequence[int | None]]) -> None:
        """Refuse NaNs as some inputs, and arrays of other shapes than that of the trace."""
        for input in no_nans:
            if isinstance(self._operands[input], Number) and self._operands[input].type.dtype.kind == "f":
                number = load_number(self.b, self.word(input), self._operands[input].type.dtype)
                self.demand(self.b.fcmp("ord", number, number))
        for place, shape in shapes.items():
            lengths = self.load_at(PTR, self.load_at(PTR, self.args, SLOT * place), SHAPE)
            for axis, length in enumerate(shape):
                if length is not None:
                    self.demand(self.b.icmp("eq", self.load_at(I64, lengths, SLOT * axis), length))

    def enter(self, exits: Sequence[Exit], left: Any) -> None:
        """Run the level, and return its result."""
        b, new_block = self.b, self.b.function.new_block
        words = [each for each, operand in enumerate(self._operands) if not isinstance(operand, Fixed)]
        for place, input in enumerate(words):
            b.store(b.load(I64, self.word(input)), self.slot(place))
        level = self._module.declare("level", I64, PTR, PTR, PTR)
        number = b.call(level, self.frame, self.table, self.run)
        ends = {place: new_block("end") for place in ends_in(exits) if len(exits[place].values) == 1}
        stop, rest = new_block("stop"), new_block("left")
        b.switch(number, rest, {0: stop} | ends)
        b.begin(stop)
        b.ret(constant(I64, FAILED))
        for place, block in ends.items():
            b.begin(block)
            self._end(exits[place].values[0])
        b.begin(rest)
        self._end_left(number, left)

    def _end(self, recipe: Any) -> None:
        b = self.b
        if isinstance(recipe, Fetch) and recipe.type in NUMBERS:
            b.store(b.load(I64, self.slot(recipe.slot)), self.args)
            b.ret(constant(I64, NUMBERS[recipe.type]))
            return
        b.store(made_of(self, recipe), self.args)
        b.ret(constant(I64, OBJECT))

    def _end_left(self, number: Value, left: Any) -> None:
        """Let Python finish the level."""
        b = self.b
        made = [self.python("PyLong_FromLongLong", each) for each in (number, b.cast("ptrtoint", self.frame, I64))]
        inputs = []
        for input, operand in enumerate(self._operands):
            if isinstance(operand, Number):
                inputs.append(self.number_object(load_number(b, self.word(input), operand.type.dtype), operand.type))
                made.append(inputs[-1])
            else:
                inputs.append(self.address(operand.value) if isinstance(operand, Fixed) else self.argument(input))
        found = self.call(self.address(left), [*made[:2], *inputs])
        for each in made:
            self.forget(each)
        stop, on = self.b.function.new_block("stop"), self.b.function.new_block("on")
        b.cond_br(b.is_null(found), stop, on)
        b.begin(stop)
        b.ret(constant(I64, FAILED))
        b.begin(on)
        b.store(found, self.args)
        b.ret(constant(I64, OBJECT))


def type_of_results(exits: Sequence[Exit]) -> TensorType | None:
    """The type of the numbers that code gives, if it gives nothing else, as far as its exits tell."""
    ends = [each for exit in exits[1:] if exit.at is None for each in exit.values]
    types = {each.type if isinstance(each, Fetch) else None for each in ends}
    (only,) = types if len(types) == 1 else (None,)
    return only if only in NUMBERS else None


def direct_text(
    things: list[Any],
    operands: Sequence[Any],
    places: Sequence[int],
    slots: int,
    exits: Sequence[Exit],
    left: Any,
    no_nans: Sequence[int],
    shapes: Mapping[int, Sequence[int | None]],
) -> str | None:
    """The assembly of `direct`; None if there is none for these operands.

    Args:
        things: the objects of the table, which it shares with the level.
        operands: those of the inputs of the level.
        places: those of the inputs among the arguments.
        left: a Python function of the number of a side exit, the address of the frame, and the inputs.
        shapes: the lengths that arrays must have, by place among the arguments.
    """
    if not all(isinstance(each, (Number, Array, Given, Fixed)) for each in operands):
        return None
    module = Module()
    direct = _Direct(module, things, operands, places, slots)
    direct.check(no_nans, shapes)
    direct.enter(exits, left)
    return printed(verified(module))
