"""Builds functions of the low-level IR, instruction by instruction.

    module = Module()
    function = module.define("sum", DOUBLE, Parameter("x", PTR), Parameter("n", I64))
    x, n = function.parameters
    b = Builder(function)
    with b.loop(0, n, carried=[constant(DOUBLE, 0.0)]) as loop:
        element = b.load(DOUBLE, b.gep(x, loop.index, of=DOUBLE))
        loop.carry(b.binary("fadd", loop.carried[0], element))
    b.ret(loop.results[0])

Where a method takes an operand, it also takes a Python number, if the other operands determine its type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from autograph.runtime.engines.native.llvm import ir

Operand: TypeAlias = "ir.Value | int | float"
_RARELY, _USUALLY = ir.weights(1, 1_000_000), ir.weights(1_000_000, 1)


@dataclass(slots=True)
class Loop:
    """A counted loop that is being built.

    Attributes:
        index: the induction variable.
        carried: the values that an iteration begins with.
        results: the values behind the loop, once it has been built.
        head: the block in which an iteration begins.
    """

    index: ir.Value
    carried: list[ir.Instruction]
    head: ir.Block
    results: list[ir.Value] = field(default_factory=list)
    _next: Sequence[ir.Value] = ()

    def carry(self, *values: ir.Value) -> None:
        """Set the values that the next iteration begins with."""
        self._next = values


class Builder:
    """Appends instructions to a block.

    Attributes:
        function: the function that is built.
        block: the current block.
        place: the source location of the next instructions.
    """

    def __init__(self, function: ir.Function, block: ir.Block | None = None) -> None:
        self.function = function
        self.place: Any = ()
        self.begin(block or function.new_block("entry"))

    # Blocks -----------------------------------------------------------------------------------------------------------

    def new_block(self, hint: str) -> ir.Block:
        """A new block, which becomes part of the function when the builder begins it."""
        return self.function.new_block(hint)

    def begin(self, block: ir.Block) -> None:
        """Continue at the end of a block, which becomes part of the function."""
        self.block = self.function.blocks.setdefault(block.name, block)

    @contextmanager
    def at(self, block: ir.Block) -> Iterator[None]:
        """Meanwhile, append to another block."""
        before, self.block = self.block, block
        yield
        self.block = before

    def emit(
        self,
        type: str,
        opcode: str,
        operands: tuple[ir.Value, ...],
        detail: Any = "",
        blocks: tuple[ir.Block, ...] = (),
        align: int = 0,
    ) -> ir.Instruction:
        """Append any instruction."""
        block, ref = self.block, ""
        if type != ir.VOID:
            self.function.numbers += 1
            ref = f"%t{self.function.numbers}"
        made = ir.Instruction(type, ref, opcode, operands, detail, blocks, align, (), self.place, block)
        block.instructions.append(made)
        return made

    def copy(self, each: ir.Instruction, renamed: dict[ir.Value, ir.Value]) -> ir.Instruction:
        """Append a copy of an instruction with operands by `renamed`, and map the original to the copy there."""
        self.function.numbers += 1
        ref = f"%t{self.function.numbers}" if each.type != ir.VOID else ""
        made = renamed[each] = ir.copied(each, ref, renamed, self.block)
        self.block.instructions.append(made)
        return made

    def br(self, target: ir.Block, hints: ir.Metadata | None = None) -> None:
        """Jump to a block. The hints are about a loop, if this is its back edge."""
        made = self.emit(ir.VOID, "br", (), "", (target,))
        if hints is not None:
            made.add_metadata("llvm.loop", hints)

    def cond_br(
        self,
        condition: ir.Value,
        then: ir.Block,
        orelse: ir.Block,
        likely: bool | None = None,
        hints: ir.Metadata | None = None,
    ) -> None:
        """Branch.

        Args:
            likely: whether the condition holds nearly always, or nearly never.
        """
        made = self.emit(ir.VOID, "br", (condition,), "", (then, orelse))
        if likely is not None:
            made.add_metadata("prof", _USUALLY if likely else _RARELY)
        if hints is not None:
            made.add_metadata("llvm.loop", hints)

    def switch(self, number: ir.Value, default: ir.Block, cases: dict[int, ir.Block]) -> None:
        """Jump to the block of a number."""
        operands = (number, *(ir.constant(number.type, each) for each in cases))
        self.emit(ir.VOID, "switch", operands, "", (default, *cases.values()))

    def ret(self, value: Operand | None = None) -> None:
        """Return."""
        self.emit(ir.VOID, "ret", () if value is None else (operand(value, self.function.result),))

    # Numbers ----------------------------------------------------------------------------------------------------------

    def binary(self, opcode: str, a: Operand, b: Operand, flags: str = "") -> ir.Instruction:
        """An operation on two numbers or vectors of one type, such as `sdiv` or `fadd`."""
        type = a.type if isinstance(a, ir.Value) else b.type   # type: ignore[union-attr]
        return self.emit(type, opcode, (operand(a, type), operand(b, type)), flags)

    def add(self, a: Operand, b: Operand, flags: str = "") -> ir.Instruction:
        return self.binary("add", a, b, flags)

    def sub(self, a: Operand, b: Operand, flags: str = "") -> ir.Instruction:
        return self.binary("sub", a, b, flags)

    def mul(self, a: Operand, b: Operand, flags: str = "") -> ir.Instruction:
        return self.binary("mul", a, b, flags)

    def and_(self, a: Operand, b: Operand) -> ir.Instruction:
        return self.binary("and", a, b)

    def or_(self, a: Operand, b: Operand) -> ir.Instruction:
        return self.binary("or", a, b)

    def xor(self, a: Operand, b: Operand) -> ir.Instruction:
        return self.binary("xor", a, b)

    def fneg(self, a: ir.Value) -> ir.Instruction:
        return self.emit(a.type, "fneg", (a,))

    def icmp(self, predicate: str, a: ir.Value, b: Operand) -> ir.Instruction:
        """Compare integers or pointers."""
        return self.emit(ir.like(a.type, ir.I1), "icmp", (a, operand(b, a.type)), predicate)

    def fcmp(self, predicate: str, a: ir.Value, b: Operand) -> ir.Instruction:
        """Compare floats."""
        return self.emit(ir.like(a.type, ir.I1), "fcmp", (a, operand(b, a.type)), predicate)

    def is_null(self, pointer: ir.Value) -> ir.Instruction:
        return self.icmp("eq", pointer, ir.NULL)

    def cast(self, opcode: str, a: ir.Value, type: str) -> ir.Instruction:
        """Convert, by `zext`, `bitcast`, `sitofp` and so on."""
        return self.emit(type, opcode, (a,))

    def select(self, condition: ir.Value, a: Operand, b: Operand) -> ir.Instruction:
        type = a.type if isinstance(a, ir.Value) else b.type   # type: ignore[union-attr]
        return self.emit(type, "select", (condition, operand(a, type), operand(b, type)))

    # Memory -----------------------------------------------------------------------------------------------------------

    def alloca(self, of: str, align: int = 0) -> ir.Instruction:
        """Allocate memory on the stack."""
        return self.emit(ir.PTR, "alloca", (), of, (), align)

    def room(self, of: str, align: int = 0) -> ir.Instruction:
        """Allocate memory on the stack in the entry block, wherever the builder is."""
        first = next(iter(self.function.blocks.values()))
        with self.at(first):
            made = self.alloca(of, align)
        first.instructions.insert(0, first.instructions.pop())
        return made

    def load(self, type: str, pointer: ir.Value, align: int = 0, volatile: bool = False) -> ir.Instruction:
        return self.emit(type, "load", (pointer,), "volatile" if volatile else "", (), align)

    def store(self, value: ir.Value, pointer: ir.Value, align: int = 0, volatile: bool = False) -> ir.Instruction:
        return self.emit(ir.VOID, "store", (value, pointer), "volatile" if volatile else "", (), align)

    def gep(self, pointer: ir.Value, index: Operand, of: str = ir.I8) -> ir.Instruction:
        """The address of an element behind a pointer to the first one."""
        return self.emit(ir.PTR, "getelementptr", (pointer, operand(index, ir.I64)), of)

    # Calls ------------------------------------------------------------------------------------------------------------

    def call(self, function: ir.Callee, *args: Operand, attributes: str = "") -> ir.Instruction:
        operands = map(operand, args, function.takes)
        return self.emit(function.result, "call", (function, *operands), attributes)

    def call_outside(self, name: str, result: str, *args: ir.Value) -> ir.Instruction:
        """Call a function of another module by its name."""
        return self.call(self.function.module.declare(name, result, *(each.type for each in args)), *args)

    def intrinsic(
        self,
        name: str,
        *args: ir.Value,
        result: str | None = None,
        overload: Sequence[str] | None = None,
        flags: str = "",
    ) -> ir.Instruction:
        """Call an intrinsic of LLVM.

        Args:
            name: without `llvm.` and the types at its end.
            result: the type of its result; by default that of the first argument.
            overload: the types that its name ends with; by default that of the first argument.
            flags: of arithmetic, such as `nsz`.
        """
        types = [args[0].type] if overload is None else overload
        full = ".".join([f"llvm.{name}", *map(_mangled, types)])
        found = self.call_outside(full, result or args[0].type, *args)
        found.detail = flags
        return found

    # Parts ------------------------------------------------------------------------------------------------------------

    def phi(self, type: str, *incoming: tuple[Operand, ir.Block]) -> ir.Instruction:
        """The value by the block that control comes from; see also `Instruction.add_incoming`."""
        values = tuple(operand(value, type) for value, _ in incoming)
        return self.emit(type, "phi", values, "", tuple(block for _, block in incoming))

    def extract_value(self, a: ir.Value, place: int) -> ir.Instruction:
        """A part of a structure."""
        return self.emit(a.type[2:-2].split(", ")[place], "extractvalue", (a,), place)

    def extract_element(self, a: ir.Value, place: Operand) -> ir.Instruction:
        return self.emit(ir.element_of(a.type), "extractelement", (a, operand(place, ir.I64)))

    def insert_element(self, a: ir.Value, element: Operand, place: Operand) -> ir.Instruction:
        return self.emit(a.type, "insertelement", (a, operand(element, ir.element_of(a.type)), operand(place, ir.I64)))

    def shuffle(self, a: ir.Value, b: ir.Value, places: Sequence[int] | int) -> ir.Instruction:
        """Elements of two vectors by places; a number broadcasts that element of the first one."""
        where = [places] * ir.count_of(a.type) if isinstance(places, int) else list(places)
        mask = ir.constant(ir.vector(len(where), ir.I32), where if any(where) else 0)
        return self.emit(ir.vector(len(where), ir.element_of(a.type)), "shufflevector", (a, b, mask))

    def splat(self, a: ir.Value, count: int) -> ir.Instruction:
        """A vector with a number in all elements."""
        nothing = ir.poison(ir.vector(count, a.type))
        return self.shuffle(self.insert_element(nothing, a, 0), nothing, 0)

    # Control flow -----------------------------------------------------------------------------------------------------

    @contextmanager
    def loop(
        self,
        begin: Operand,
        end: Operand,
        step: Operand = 1,
        carried: Sequence[ir.Value] = (),
        *,
        at_least_once: bool = False,
        predicate: str = "slt",
        flags: str = "",
        hints: ir.Metadata | None = None,
    ) -> Iterator[Loop]:
        """A loop over integers, whose body is built meanwhile. Afterwards the builder is behind the loop.

        Args:
            carried: the values that the first iteration begins with, see `Loop.carry`.
            at_least_once: whether the loop checks for its end only after an iteration.
            predicate: the comparison of index and end that holds as long as there are iterations.
            flags: of the sum of index and step.
        """
        before, head, after = self.block, self.new_block("loop"), self.new_block("end")
        self.br(head)
        self.begin(head)
        type = next((each.type for each in (begin, end, step) if isinstance(each, ir.Value)), ir.I64)
        found = Loop(self.phi(type, (begin, before)), [self.phi(each.type, (each, before)) for each in carried], head)
        if not at_least_once:
            body = self.new_block("body")
            self.cond_br(self.icmp(predicate, found.index, end), body, after)
            self.begin(body)
        yield found
        following = [self.add(found.index, step, flags), *found._next]
        phis = [found.index, *found.carried]
        for phi, value in zip(phis, following):
            phi.add_incoming(value, self.block)   # type: ignore[attr-defined]
        if at_least_once:
            self.cond_br(self.icmp(predicate, following[0], end), head, after, hints=hints)
        else:
            self.br(head, hints)
        found.results = list(found._next if at_least_once else found.carried)
        self.begin(after)

    @contextmanager
    def if_then(self, condition: ir.Value, likely: bool | None = None) -> Iterator[None]:
        """Build a path that runs only if a condition holds."""
        inside, after = self.new_block("then"), self.new_block("after")
        self.cond_br(condition, inside, after, likely)
        self.begin(inside)
        yield
        if self.block.terminator is None:
            self.br(after)
        self.begin(after)

    def if_else(
        self,
        condition: ir.Value,
        then: Callable[[], ir.Value | None],
        orelse: Callable[[], ir.Value | None],
        likely: bool | None = None,
    ) -> ir.Value | None:
        """Build two paths. Returns the value of the one that is taken, if they return values."""
        paths = [(self.new_block(hint), build) for hint, build in (("then", then), ("else", orelse))]
        after, ends = self.new_block("after"), []
        self.cond_br(condition, paths[0][0], paths[1][0], likely)
        for block, build in paths:
            self.begin(block)
            value = build()
            if self.block.terminator is None:
                ends.append((value, self.block))
                self.br(after)
        self.begin(after)
        values = [(value, block) for value, block in ends if value is not None]
        return self.phi(values[0][0].type, *values) if values else None


def operand(value: Operand, type: str) -> ir.Value:
    """A value; or a constant of a type, for a Python number."""
    return value if isinstance(value, ir.Value) else ir.constant(type, value)


def _mangled(type: str) -> str:
    """A type in the name of an intrinsic."""
    if type == ir.PTR:
        return "p0"
    count, element = ir.count_of(type), ir.element_of(type)
    return f"{f'v{count}' if count else ''}{'f' if element in (ir.FLOAT, ir.DOUBLE) else 'i'}{ir.bits_of(element)}"
