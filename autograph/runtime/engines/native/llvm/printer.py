"""From the low-level IR to LLVM's assembly, which is known in no other file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from autograph.runtime.engines.native.llvm.ir import (
    METADATA,
    VOID,
    Callee,
    Constant,
    Function,
    Global,
    Instruction,
    Metadata,
    Module,
    Value,
)
from autograph.runtime.graph.graph import Place


class Printer:
    """Prints what belongs to one module.

    Attributes:
        origins: the places in the user's code that are behind each line `;`, in their order.
    """

    def __init__(self, first: int = 1000) -> None:
        self._first = first
        self.origins: list[Place] = []
        self._lines: list[str] = []
        self._distinct: dict[Metadata, str] = {}

    @property
    def text(self) -> str:
        """All that has been printed."""
        named = [f"{name} = distinct {self._node(node)}" for node, name in self._distinct.items()]
        return "\n".join([*self._lines, *named, ""])

    def module(self, module: Module) -> None:
        """Print a module."""
        self._lines += sorted(_declaration(each) for each in module.declared.values())
        self._lines += sorted(_global(each) for each in module.globals.values())
        for function in module.functions.values():
            self.function(function)

    def function(self, function: Function) -> None:
        """Print a function with its body."""
        lines, place = self._lines, ()
        lines.append(_head(function))
        for block in function.blocks.values():
            lines.append(f"{block.name}:")
            for each in block.instructions:
                if each.place is not place:
                    place = each.place
                    self.origins.append(place)
                    lines.append(";")
                lines.append(self._line(each))
        lines.append("}")

    def _line(self, each: Instruction) -> str:
        if each.opcode == "call" and each.operands[-1].type == METADATA:
            each.operands[-1].ref = self._named(each.operands[-1])      # type: ignore[arg-type]
        text = _FORMS.get(each.opcode, _binary)(each)
        if each.align:
            text = f"{text}, align {each.align}"
        if each.metadata:
            text += "".join(f", !{kind} {self._named(node)}" for kind, node in each.metadata)
        return f"  {text}" if each.type == VOID else f"  {each.ref} = {text}"

    def _named(self, node: Metadata) -> str:
        """Metadata where it is used: by its name, if it needs one."""
        if not node.distinct:
            return self._node(node)
        if node not in self._distinct:
            self._distinct[node] = f"!{self._first + len(self._distinct)}"
            for item in node.items:
                self._item(item)
        return self._distinct[node]

    def _node(self, node: Metadata) -> str:
        items = list(map(self._item, node.items))
        return f"!{{{', '.join([self._distinct[node], *items] if node.distinct else items)}}}"

    def _item(self, item: str | Constant | Metadata) -> str:
        if isinstance(item, str):
            return f'!"{item}"'
        return self._named(item) if isinstance(item, Metadata) else f"{item.type} {item.ref}"


def printed(*parts: Module | Function, first: int = 1000) -> str:
    """The assembly of a module, or of some functions.

    Args:
        first: from which number on metadata is numbered.
    """
    printer = Printer(first)
    for part in parts:
        printer.module(part) if isinstance(part, Module) else printer.function(part)
    return printer.text


def written(instruction: Instruction) -> str:
    """One instruction, without metadata, for messages."""
    text = _FORMS.get(instruction.opcode, _binary)(instruction)
    return text if instruction.type == VOID else f"{instruction.ref} = {text}"


def _declaration(callee: Callee) -> str:
    return f"declare {callee.result} {callee.ref}({', '.join(callee.takes)})"


def _global(each: Global) -> str:
    initial = "" if each.initial is None else f" {each.initial.ref}"
    aligned = f", align {each.align}" if each.align else ""
    return f"{each.ref} = {each.words} {each.of}{initial}{aligned}"


def _head(function: Function) -> str:
    given = ", ".join(" ".join(filter(None, (each.type, each.attributes, each.ref))) for each in function.parameters)
    words, attributes = (f"{text} " if text else "" for text in (function.words, function.attributes))
    return f"define {words}{function.result} {function.ref}({given}) {attributes}{{"


# Instructions ---------------------------------------------------------------------------------------------------------


def _typed(values: Iterable[Value]) -> str:
    return ", ".join([f"{each.type} {each.ref}" for each in values])


def _binary(each: Instruction) -> str:
    a, b = each.operands
    return f"{each.opcode} {each.detail}{' ' if each.detail else ''}{a.type} {a.ref}, {b.ref}"


def _unary(each: Instruction) -> str:
    return f"{each.opcode} {_typed(each.operands)}"


def _compared(each: Instruction) -> str:
    a, b = each.operands
    return f"{each.opcode} {each.detail} {a.type} {a.ref}, {b.ref}"


def _converted(each: Instruction) -> str:
    a = each.operands[0]
    return f"{each.opcode} {a.type} {a.ref} to {each.type}"


def _load(each: Instruction) -> str:
    return f"load {each.detail}{' ' if each.detail else ''}{each.type}, ptr {each.operands[0].ref}"


def _store(each: Instruction) -> str:
    value, pointer = each.operands
    return f"store {each.detail}{' ' if each.detail else ''}{value.type} {value.ref}, ptr {pointer.ref}"


def _address(each: Instruction) -> str:
    return f"getelementptr {each.detail}, {_typed(each.operands)}"


def _reserved(each: Instruction) -> str:
    return f"alloca {each.detail}"


def _extracted(each: Instruction) -> str:
    return f"extractvalue {_typed(each.operands)}, {each.detail}"


def _phi(each: Instruction) -> str:
    pairs = [f"[ {value.ref}, %{block.name} ]" for value, block in zip(each.operands, each.blocks)]
    return f"phi {each.type} {', '.join(pairs)}"


def _branch(each: Instruction) -> str:
    targets = ", ".join([f"label %{block.name}" for block in each.blocks])
    return f"br i1 {each.operands[0].ref}, {targets}" if each.operands else f"br {targets}"


def _switch(each: Instruction) -> str:
    number, *cases = each.operands
    default, *others = each.blocks
    listed = " ".join(f"{case.type} {case.ref}, label %{block.name}" for case, block in zip(cases, others))
    return f"switch {number.type} {number.ref}, label %{default.name} [ {listed} ]"


def _returned(each: Instruction) -> str:
    return f"ret {_typed(each.operands) or VOID}"


def _call(each: Instruction) -> str:
    function, *args = each.operands
    called = f"{each.type} {function.ref}({_typed(args)})"
    if not each.detail:
        return f"call {called}"
    return f"call {each.detail} {called}" if function.ref.startswith("@llvm.") else f"call {called} {each.detail}"


def _never(each: Instruction) -> str:
    return "unreachable"


_CASTS = "zext sext trunc fpext fptrunc sitofp uitofp fptosi fptoui bitcast ptrtoint inttoptr"
_FORMS: dict[str, Callable[[Instruction], str]] = {
    **dict.fromkeys(_CASTS.split(), _converted),
    **dict.fromkeys(["fneg", "freeze", "select", "insertelement", "extractelement", "shufflevector"], _unary),
    "icmp": _compared, "fcmp": _compared, "load": _load, "store": _store, "getelementptr": _address,
    "alloca": _reserved, "extractvalue": _extracted, "phi": _phi, "br": _branch, "switch": _switch, "ret": _returned,
    "call": _call, "unreachable": _never,
}  # fmt: skip
