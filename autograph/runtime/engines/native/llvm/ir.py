"""The low-level IR: functions of blocks of typed instructions, from which `printer` makes LLVM's assembly.

It is LLVM's IR, in static single assignment (SSA) form. Types are strings as LLVM spells them. Values have their names
from the beginning, so passes may change a finished function. `builder` builds functions, `ir_verifier` checks them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, Final

I1, I8, I16, I32, I64, I128 = "i1", "i8", "i16", "i32", "i64", "i128"
FLOAT, DOUBLE, PTR, VOID, METADATA = "float", "double", "ptr", "void", "metadata"
FAST: Final = "reassoc nsz arcp contract"     # sums in another order, `fma` of products and sums, x * (1 / y) for x / y
TERMINATORS: Final = frozenset({"br", "switch", "ret", "unreachable"})


@cache
def vector(count: int, element: str) -> str:
    """The type of a vector."""
    return f"<{count} x {element}>"


@cache
def array(count: int, element: str) -> str:
    """The type of an array in memory."""
    return f"[{count} x {element}]"


@cache
def structure(*parts: str) -> str:
    """The type of several values together, which some instructions return."""
    return f"{{ {', '.join(parts)} }}"


@cache
def element_of(type: str) -> str:
    """The type of the elements of a vector or an array; any other type itself."""
    return type[1:-1].partition(" x ")[2] if type[0] in "<[" else type


@cache
def count_of(type: str) -> int:
    """The number of elements of a vector or an array; 0 for any other type."""
    return int(type[1:].partition(" ")[0]) if type[0] in "<[" else 0


def like(type: str, element: str) -> str:
    """The type of as many elements as `type` has, of another type."""
    return vector(count_of(type), element) if type[0] == "<" else element


@cache
def bits_of(type: str) -> int:
    """The bits of a number of a type; of a vector, those of an element."""
    type = element_of(type)
    return {FLOAT: 32, DOUBLE: 64, PTR: 64}.get(type) or int(type[1:])


@dataclass(slots=True, eq=False, repr=False)
class Value:
    """An operand of instructions.

    Attributes:
        type: as LLVM spells it.
        ref: its name, or the text of a constant.
    """

    type: str
    ref: str

    def __str__(self) -> str:
        return self.ref

    def __repr__(self) -> str:
        return f"{self.type} {self.ref}"


@dataclass(slots=True, unsafe_hash=True, repr=False)
class Constant(Value):
    """A constant; two are equal if their types and texts are.

    Attributes:
        value: the Python object of that value, if there is one.
    """

    value: Any = field(default=None, compare=False)


def constant(type: str, value: Any) -> Constant:
    """A number, a null pointer (None), or a vector or array: of a sequence, or of one number in each element."""
    return _integer(type, value) if value.__class__ is int else Constant(type, _written(type, value), value)


@lru_cache(1 << 12)
def _integer(type: str, value: int) -> Constant:
    """Most constants are integers, and few different ones."""
    return Constant(type, _written(type, value), value)


def zero(type: str) -> Constant:
    """Zero, of any type."""
    return Constant(type, "zeroinitializer" if type[0] in "<[{" else "null" if type == PTR else _written(type, 0), 0)


def poison(type: str) -> Constant:
    """An undefined value, which nothing may depend on."""
    return Constant(type, "poison")


NULL: Final = zero(PTR)
TRUE: Final = Constant(I1, "true", True)
FALSE: Final = Constant(I1, "false", False)


def _written(type: str, value: Any) -> str:
    if type[0] in "<[":
        parts = value if isinstance(value, (list, tuple, range)) else [value] * count_of(type)
        element = element_of(type)
        written = ", ".join(f"{element} {_written(element, each)}" for each in parts)
        return f"<{written}>" if type[0] == "<" else f"[{written}]"
    if isinstance(value, Value):
        return value.ref
    if type in (FLOAT, DOUBLE):
        rounded = struct.unpack("f", struct.pack("f", value))[0] if type == FLOAT else float(value)
        return f"0x{struct.pack('>d', rounded).hex().upper()}"
    if type == PTR:
        return "null"
    return ("true" if value else "false") if type == I1 else str(int(value))


class Parameter(Value):
    """A parameter of a function.

    Attributes:
        attributes: LLVM's parameter attributes, such as `noalias`.
    """

    __slots__ = ("attributes",)

    def __init__(self, name: str, type: str, attributes: str = "") -> None:
        super().__init__(type, f"%{name}")
        self.attributes = attributes


class Metadata(Value):
    """LLVM metadata: hints about loops, branches and memory.

    Attributes:
        items: texts, constants and other metadata.
        distinct: whether it differs from any other with the same items. Then its first item is itself.
    """

    __slots__ = ("distinct", "items")

    def __init__(self, *items: str | Constant | Metadata, distinct: bool = False) -> None:
        super().__init__(METADATA, "")
        self.items = items
        self.distinct = distinct


def weights(first: int, second: int) -> Metadata:
    """Relative frequencies of the two targets of a branch."""
    return Metadata("branch_weights", constant(I32, first), constant(I32, second))


def loop_hints(**hints: int | bool) -> Metadata:
    """Hints for LLVM about a loop, such as `unroll_disable=True`, `vectorize_enable=False`, `align=32`."""
    found = []
    for name, value in hints.items():
        arguments = [] if name.endswith("disable") else [constant(I1 if name.endswith("enable") else I32, value)]
        found.append(Metadata(f"llvm.loop.{name.replace('_', '.')}", *arguments))
    return Metadata(*found, distinct=True)


class Global(Value):
    """A constant or variable at a fixed address.

    Attributes:
        of: the type of its contents.
        words: LLVM's linkage and kind, such as `internal constant`.
        initial: its contents at first; None if another module defines it.
        align: of its address; 0 for the default.
    """

    __slots__ = ("align", "initial", "of", "words")

    def __init__(self, name: str, words: str, of: str, initial: Value | None = None, align: int = 0) -> None:
        super().__init__(PTR, f"@{name}")
        self.align = align
        self.words = words
        self.of = of
        self.initial = initial


class Callee(Value):
    """A function that can be called by its name.

    Attributes:
        result, takes: the types of its result and of its parameters.
    """

    __slots__ = ("result", "takes")

    def __init__(self, name: str, result: str, takes: Sequence[str]) -> None:
        super().__init__(PTR, f"@{name}")
        self.result = result
        self.takes = tuple(takes)


@dataclass(slots=True, eq=False, repr=False)
class Instruction(Value):
    """An instruction, and the value that it computes; its type is `void` if it computes none.

    Attributes:
        opcode: LLVM's word for it.
        operands: the values that it uses; a call has the function first.
        detail: of a comparison the predicate, of `getelementptr` and `alloca` the type of an element, of `extractvalue`
            the index, of `load` and `store` whether they are volatile, of others LLVM's flags.
        blocks: the targets of a terminator; the blocks that a `phi` has its operands from.
        align: of the accessed memory; 0 for the default.
        metadata: hints to LLVM, by kind.
        place: in the user's code, see `graph.Place`.
        block: the block that it is in.
    """

    opcode: str
    operands: tuple[Value, ...]
    detail: Any
    blocks: tuple[Block, ...]
    align: int
    metadata: tuple[tuple[str, Metadata], ...]
    place: Any
    block: Block | None

    def add_incoming(self, value: Value, block: Block) -> None:
        """Add the value of a `phi` for one of the blocks before."""
        self.operands += (value,)
        self.blocks += (block,)

    def add_metadata(self, kind: str, node: Metadata) -> None:
        """Add a hint to LLVM."""
        self.metadata += ((kind, node),)


def copied(each: Instruction, ref: str, renamed: dict[Value, Value], block: Block | None = None) -> Instruction:
    """A copy of an instruction, of that name, with the values that `renamed` has for its operands."""
    operands = tuple([renamed.get(operand, operand) for operand in each.operands])
    detail, blocks, metadata = each.detail, each.blocks, each.metadata
    return Instruction(each.type, ref, each.opcode, operands, detail, blocks, each.align, metadata, each.place, block)


class Block:
    """A basic block: its last instruction is a terminator."""

    __slots__ = ("instructions", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.instructions: list[Instruction] = []

    def __str__(self) -> str:
        return f"%{self.name}"

    @property
    def terminator(self) -> Instruction | None:
        """Its last instruction, once that is a terminator."""
        last = self.instructions[-1] if self.instructions else None
        return last if last is not None and last.opcode in TERMINATORS else None

    @property
    def successors(self) -> tuple[Block, ...]:
        """The blocks that may come next."""
        last = self.terminator
        return last.blocks if last is not None else ()


class Function(Callee):
    """A function that has a body.

    Attributes:
        module: that it belongs to.
        words: LLVM's linkage, such as `internal`.
        attributes: LLVM's function attributes, such as `noinline`.
        blocks: by name; the first one is its entry.
        numbers: the number of names so far.
    """

    __slots__ = ("attributes", "blocks", "module", "numbers", "parameters", "words")

    def __init__(
        self,
        module: Module,
        name: str,
        result: str,
        parameters: Sequence[Parameter],
        words: str = "",
        attributes: str = "",
    ) -> None:
        super().__init__(name, result, [each.type for each in parameters])
        self.module = module
        self.parameters = parameters
        self.words = words
        self.attributes = attributes
        self.blocks: dict[str, Block] = {}
        self.numbers = 0

    def new_block(self, hint: str) -> Block:
        """A new block, which becomes part of the function when a builder begins it."""
        self.numbers += 1
        return Block(f"{hint}{self.numbers}")


class Module:
    """A unit of compilation.

    Attributes:
        globals: by name.
        declared: functions of other modules, by name.
        functions: those with bodies, by name.
        vectors: makers of functions of vectors of some length, by the functions of numbers that do the same.
    """

    __slots__ = ("declared", "functions", "globals", "vectors")

    def __init__(self) -> None:
        self.globals: dict[str, Global] = {}
        self.declared: dict[str, Callee] = {}
        self.functions: dict[str, Function] = {}
        self.vectors: dict[Value, Callable[[int], Function]] = {}

    def declare(self, name: str, result: str, *takes: str) -> Callee:
        """Declare a function of another module."""
        if name in self.functions:
            return self.functions[name]
        return self.declared.setdefault(name, Callee(name, result, takes))

    def define(
        self, name: str, result: str, *parameters: Parameter, words: str = "", attributes: str = ""
    ) -> Function:
        """A new function."""
        found = self.functions[name] = Function(self, name, result, parameters, words, attributes)
        return found

    def constant(self, name: str, value: Constant, align: int = 0) -> Global:
        """A constant in memory."""
        found = self.globals[name] = Global(name, "internal constant", value.type, value, align)
        return found

    def outside(self, name: str, of: str = I8) -> Global:
        """A variable of another module."""
        found = self.globals[name] = Global(name, "external global", of)
        return found

    def include(self, other: Module) -> None:
        """Add all that another module has."""
        self.declared |= other.declared
        self.functions |= other.functions
        self.globals |= other.globals
