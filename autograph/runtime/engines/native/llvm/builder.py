"""Builds functions of the low-level IR, one instruction after the other.

    module = Module()
    function = module.define("sum", DOUBLE, Parameter("x", PTR), Parameter("n", I64))
    x, n = function.parameters
    b = Builder(function)
    with b.loop(0, n, carried=[constant(DOUBLE, 0.0)]) as loop:
        element = b.load(DOUBLE, b.gep(x, loop.index, of=DOUBLE))
        loop.carry(b.binary("fadd", loop.carried[0], element))
    b.ret(loop.results[0])

Where a method takes an operand, it takes a Python number, too, if it is clear of which type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

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
    Block,
    Callee,
    Function,
    Instruction,
    Metadata,
    Value,
    bits_of,
    constant,
    copied,
    count_of,
    element_of,
    like,
    poison,
    vector,
    weights,
)

Operand: TypeAlias = "Value | int | float"
_RARELY, _USUALLY = weights(1, 1_000_000), weights(1_000_000, 1)


@dataclass(slots=True)
class Loop:
    """A counted loop that is being built.

    Attributes:
        index: the number of an iteration.
        carried: what an iteration begins with.
        results: what the loop gives; known once it has been built.
        head: the block in which an iteration begins.
    """

    index: Value
    carried: list[Instruction]
    head: Block
    results: list[Value] = field(default_factory=list)
    _next: Sequence[Value] = ()

    def carry(self, *values: Value) -> None:
        """Let the next iteration begin with these."""
        self._next = values


class Builder:
    """Appends instructions to a block.

    Attributes:
        function: what is built.
        block: the block that it is in.
        place: where in the user's code the next instructions come from.
    """

    def __init__(self, function: Function, block: Block | None = None) -> None:
        self.function = function
        self.place: Any = ()
        self.begin(block or function.new_block("entry"))

    # Blocks -----------------------------------------------------------------------------------------------------------

    def new_block(self, hint: str) -> Block:
        """A block, which becomes part of the function when the builder begins it."""
        return self.function.new_block(hint)

    def begin(self, block: Block) -> None:
        """Go on at the end of a block, which becomes part of the function if it is none yet."""
        self.block = self.function.blocks.setdefault(block.name, block)

    @contextmanager
    def at(self, block: Block) -> Iterator[None]:
        """Meanwhile, be at the end of another block."""
        before, self.block = self.block, block
        yield
        self.block = before

    def emit(
        self,
        type: str,
        opcode: str,
        operands: tuple[Value, ...],
        detail: Any = "",
        blocks: tuple[Block, ...] = (),
        align: int = 0,
    ) -> Instruction:
        """Append any instruction."""
        block, ref = self.block, ""
        if type != VOID:
            self.function.numbers += 1
            ref = f"%t{self.function.numbers}"
        made = Instruction(type, ref, opcode, operands, detail, blocks, align, (), self.place, block)
        block.instructions.append(made)
        return made

    def copy(self, each: Instruction, renamed: dict[Value, Value]) -> Instruction:
        """Append a copy of an instruction; what uses the original by `renamed` uses the copy from then on."""
        self.function.numbers += 1
        ref = f"%t{self.function.numbers}" if each.type != VOID else ""
        made = renamed[each] = copied(each, ref, renamed, self.block)
        self.block.instructions.append(made)
        return made

    def br(self, target: Block, hints: Metadata | None = None) -> None:
        """Go to a block. The hints are of the loop, if it leads back to its head."""
        made = self.emit(VOID, "br", (), "", (target,))
        if hints is not None:
            made.add_metadata("llvm.loop", hints)

    def cond_br(
        self, condition: Value, then: Block, orelse: Block, likely: bool | None = None, hints: Metadata | None = None
    ) -> None:
        """Go to one of two blocks.

        Args:
            likely: whether the condition nearly always holds, or nearly never.
        """
        made = self.emit(VOID, "br", (condition,), "", (then, orelse))
        if likely is not None:
            made.add_metadata("prof", _USUALLY if likely else _RARELY)
        if hints is not None:
            made.add_metadata("llvm.loop", hints)

    def switch(self, number: Value, default: Block, cases: dict[int, Block]) -> None:
        """Go to the block of a number."""
        operands = (number, *(constant(number.type, each) for each in cases))
        self.emit(VOID, "switch", operands, "", (default, *cases.values()))

    def ret(self, value: Operand | None = None) -> None:
        """Give a value back."""
        self.emit(VOID, "ret", () if value is None else (operand(value, self.function.result),))

    # Numbers ----------------------------------------------------------------------------------------------------------

    def binary(self, opcode: str, a: Operand, b: Operand, flags: str = "") -> Instruction:
        """Any operation on two numbers or vectors of one type, such as `sdiv` or `fadd`."""
        type = a.type if isinstance(a, Value) else b.type   # type: ignore[union-attr]
        return self.emit(type, opcode, (operand(a, type), operand(b, type)), flags)

    def add(self, a: Operand, b: Operand, flags: str = "") -> Instruction:
        return self.binary("add", a, b, flags)

    def sub(self, a: Operand, b: Operand, flags: str = "") -> Instruction:
        return self.binary("sub", a, b, flags)

    def mul(self, a: Operand, b: Operand, flags: str = "") -> Instruction:
        return self.binary("mul", a, b, flags)

    def and_(self, a: Operand, b: Operand) -> Instruction:
        return self.binary("and", a, b)

    def or_(self, a: Operand, b: Operand) -> Instruction:
        return self.binary("or", a, b)

    def xor(self, a: Operand, b: Operand) -> Instruction:
        return self.binary("xor", a, b)

    def fneg(self, a: Value) -> Instruction:
        return self.emit(a.type, "fneg", (a,))

    def icmp(self, predicate: str, a: Value, b: Operand) -> Instruction:
        """Compare integers or pointers."""
        return self.emit(like(a.type, I1), "icmp", (a, operand(b, a.type)), predicate)

    def fcmp(self, predicate: str, a: Value, b: Operand) -> Instruction:
        """Compare floats."""
        return self.emit(like(a.type, I1), "fcmp", (a, operand(b, a.type)), predicate)

    def is_null(self, pointer: Value) -> Instruction:
        return self.icmp("eq", pointer, NULL)

    def cast(self, opcode: str, a: Value, type: str) -> Instruction:
        """Convert, by `zext`, `bitcast`, `sitofp` and so on."""
        return self.emit(type, opcode, (a,))

    def select(self, condition: Value, a: Operand, b: Operand) -> Instruction:
        type = a.type if isinstance(a, Value) else b.type   # type: ignore[union-attr]
        return self.emit(type, "select", (condition, operand(a, type), operand(b, type)))

    # Memory -----------------------------------------------------------------------------------------------------------

    def alloca(self, of: str, align: int = 0) -> Instruction:
        """Room on the stack."""
        return self.emit(PTR, "alloca", (), of, (), align)

    def room(self, of: str, align: int = 0) -> Instruction:
        """Room on the stack that is there as long as the function runs, wherever the builder is."""
        first = next(iter(self.function.blocks.values()))
        with self.at(first):
            made = self.alloca(of, align)
        first.instructions.insert(0, first.instructions.pop())
        return made

    def load(self, type: str, pointer: Value, align: int = 0, volatile: bool = False) -> Instruction:
        return self.emit(type, "load", (pointer,), "volatile" if volatile else "", (), align)

    def store(self, value: Value, pointer: Value, align: int = 0, volatile: bool = False) -> Instruction:
        return self.emit(VOID, "store", (value, pointer), "volatile" if volatile else "", (), align)

    def gep(self, pointer: Value, index: Operand, of: str = I8) -> Instruction:
        """The address of an element behind a pointer to the first one."""
        return self.emit(PTR, "getelementptr", (pointer, operand(index, I64)), of)

    # Calls ------------------------------------------------------------------------------------------------------------

    def call(self, function: Callee, *args: Operand, attributes: str = "") -> Instruction:
        given = tuple(map(operand, args, function.takes))
        return self.emit(function.result, "call", (function, *given), attributes)

    def call_outside(self, name: str, result: str, *args: Value) -> Instruction:
        """Call a function that somebody else has, by its name."""
        return self.call(self.function.module.declare(name, result, *(each.type for each in args)), *args)

    def intrinsic(
        self,
        name: str,
        *args: Value,
        result: str | None = None,
        overload: Sequence[str] | None = None,
        flags: str = "",
    ) -> Instruction:
        """Call a function of LLVM's own.

        Args:
            name: without `llvm.` and the types at its end.
            result: the type that it gives; by default that of the first argument.
            overload: the types that its name ends with; by default that of the first argument.
            flags: of arithmetic, such as `nsz`.
        """
        types = [args[0].type] if overload is None else overload
        full = ".".join([f"llvm.{name}", *map(_mangled, types)])
        found = self.call_outside(full, result or args[0].type, *args)
        found.detail = flags
        return found

    # Parts ------------------------------------------------------------------------------------------------------------

    def phi(self, type: str, *incoming: tuple[Operand, Block]) -> Instruction:
        """What comes from each of the blocks before; see also `Instruction.add_incoming`."""
        values = tuple(operand(value, type) for value, _ in incoming)
        return self.emit(type, "phi", values, "", tuple(block for _, block in incoming))

    def extract_value(self, a: Value, place: int) -> Instruction:
        """A part of a structure."""
        return self.emit(a.type[2:-2].split(", ")[place], "extractvalue", (a,), place)

    def extract_element(self, a: Value, place: Operand) -> Instruction:
        return self.emit(element_of(a.type), "extractelement", (a, operand(place, I64)))

    def insert_element(self, a: Value, element: Operand, place: Operand) -> Instruction:
        return self.emit(a.type, "insertelement", (a, operand(element, element_of(a.type)), operand(place, I64)))

    def shuffle(self, a: Value, b: Value, places: Sequence[int] | int) -> Instruction:
        """Elements of two vectors; for a number, that element of the first of them, so many times as it has."""
        where = [places] * count_of(a.type) if isinstance(places, int) else list(places)
        mask = constant(vector(len(where), I32), where if any(where) else 0)
        return self.emit(vector(len(where), element_of(a.type)), "shufflevector", (a, b, mask))

    def splat(self, a: Value, count: int) -> Instruction:
        """A vector of one number."""
        nothing = poison(vector(count, a.type))
        return self.shuffle(self.insert_element(nothing, a, 0), nothing, 0)

    # Control flow -----------------------------------------------------------------------------------------------------

    @contextmanager
    def loop(
        self,
        begin: Operand,
        end: Operand,
        step: Operand = 1,
        carried: Sequence[Value] = (),
        *,
        at_least_once: bool = False,
        predicate: str = "slt",
        flags: str = "",
        hints: Metadata | None = None,
    ) -> Iterator[Loop]:
        """A loop over integers; what is built meanwhile is its body. Behind it, the builder is in the block after it.

        Args:
            carried: what the first iteration begins with, see `Loop.carry`.
            at_least_once: whether the first iteration needs no look whether there is one.
            predicate: what an index and the end are like as long as there are iterations.
            flags: of the sum of an index and the step.
        """
        before, head, after = self.block, self.new_block("loop"), self.new_block("end")
        self.br(head)
        self.begin(head)
        type = next((each.type for each in (begin, end, step) if isinstance(each, Value)), I64)
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
    def if_then(self, condition: Value, likely: bool | None = None) -> Iterator[None]:
        """What is built meanwhile runs only if a condition holds."""
        inside, after = self.new_block("then"), self.new_block("after")
        self.cond_br(condition, inside, after, likely)
        self.begin(inside)
        yield
        if self.block.terminator is None:
            self.br(after)
        self.begin(after)

    def if_else(
        self,
        condition: Value,
        then: Callable[[], Value | None],
        orelse: Callable[[], Value | None],
        likely: bool | None = None,
    ) -> Value | None:
        """Build two paths. Gives what comes of the one that is taken, if they give anything."""
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


def operand(value: Operand, type: str) -> Value:
    """A value, or a Python number as a constant of a type."""
    return value if isinstance(value, Value) else constant(type, value)


def _mangled(type: str) -> str:
    """A type as names of intrinsics have it."""
    if type == PTR:
        return "p0"
    count, element = count_of(type), element_of(type)
    return f"{f'v{count}' if count else ''}{'f' if element in (FLOAT, DOUBLE) else 'i'}{bits_of(element)}"
