"""From the low-level IR to LLVM's assembly, which is known in no other file."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.graph.graph import Place

_METADATA = 1000    # the first number of metadata; `listing` uses smaller ones, and far larger ones


class Printer:
    """Prints modules and functions. A block that several of them share is printed once.

    Attributes:
        origins: the user's source locations behind each line `;` of the last text, in order.
    """

    def __init__(self) -> None:
        self.origins: list[Place] = []
        self._lines: list[str] = []
        self._blocks: dict[ir.Block, tuple[str, list[Place]]] = {}
        self._metadata: dict[ir.Metadata, str] = {}
        self._distinct: list[ir.Metadata] = []

    def print(self, *parts: ir.Module | ir.Function) -> str:
        """Return the assembly of modules and functions."""
        self._lines, self.origins = [], []
        for part in parts:
            self._module(part) if isinstance(part, ir.Module) else self._function(part)
        nodes = [f"{self._metadata[node]} = distinct {self._node(node)}" for node in self._distinct]
        return "\n".join([*self._lines, *nodes, ""])

    def _module(self, module: ir.Module) -> None:
        self._lines += sorted(_declaration(each) for each in module.declared.values())
        self._lines += sorted(_global(each) for each in module.globals.values())
        for function in module.functions.values():
            self._function(function)

    def _function(self, function: ir.Function) -> None:
        self._lines.append(_head(function))
        for block in function.blocks.values():
            if block not in self._blocks:
                self._blocks[block] = self._block(block)
            text, places = self._blocks[block]
            self._lines.append(text)
            self.origins += places
        self._lines.append("}")

    def _block(self, block: ir.Block) -> tuple[str, list[Place]]:
        """The text of a block, and the locations behind its lines `;`."""
        lines, places, place = [f"{block.name}:"], [], None
        for each in block.instructions:
            if each.place is not place:
                place = each.place
                places.append(place)
                lines.append(";")
            if each.opcode == "call" and each.operands[-1].type == ir.METADATA:
                each.operands[-1].ref = self._named(each.operands[-1])      # type: ignore[arg-type]
            line = _FORMS[each.opcode](each)
            if each.align:
                line = f"{line}, align {each.align}"
            if each.metadata:
                line += "".join([f", !{kind} {self._named(node)}" for kind, node in each.metadata])
            lines.append(line)
        return "\n  ".join(lines), places

    def _named(self, node: ir.Metadata) -> str:
        """Metadata where it is used: by its name, if it needs one."""
        if node not in self._metadata:
            if node.distinct:
                self._metadata[node] = f"!{_METADATA + len(self._distinct)}"
                self._distinct.append(node)
                for item in node.items:
                    self._item(item)
            else:
                self._metadata[node] = self._node(node)
        return self._metadata[node]

    def _node(self, node: ir.Metadata) -> str:
        items = list(map(self._item, node.items))
        return f"!{{{', '.join([self._metadata[node], *items] if node.distinct else items)}}}"

    def _item(self, item: str | ir.Constant | ir.Metadata) -> str:
        if isinstance(item, str):
            return f'!"{item}"'
        return self._named(item) if isinstance(item, ir.Metadata) else f"{item.type} {item.ref}"


def printed(*parts: ir.Module | ir.Function) -> str:
    """The assembly of modules and functions, see `Printer`."""
    return Printer().print(*parts)


def written(instruction: ir.Instruction) -> str:
    """One instruction, without metadata, for messages."""
    return _FORMS.get(instruction.opcode, _binary)(instruction)


def _declaration(callee: ir.Callee) -> str:
    return f"declare {callee.result} {callee.ref}({', '.join(callee.takes)})"


def _global(each: ir.Global) -> str:
    initial = "" if each.initial is None else f" {each.initial.ref}"
    aligned = f", align {each.align}" if each.align else ""
    return f"{each.ref} = {each.words} {each.of}{initial}{aligned}"


def _head(function: ir.Function) -> str:
    given = ", ".join(" ".join(filter(None, (each.type, each.attributes, each.ref))) for each in function.parameters)
    words, attributes = (f"{text} " if text else "" for text in (function.words, function.attributes))
    return f"define {words}{function.result} {function.ref}({given}) {attributes}{{"


# Instructions ---------------------------------------------------------------------------------------------------------


def _typed(values: Iterable[ir.Value]) -> str:
    return ", ".join([f"{each.type} {each.ref}" for each in values])


def _binary(each: ir.Instruction) -> str:
    a, b = each.operands
    if each.detail:
        return f"{each.ref} = {each.opcode} {each.detail} {a.type} {a.ref}, {b.ref}"
    return f"{each.ref} = {each.opcode} {a.type} {a.ref}, {b.ref}"


def _unary(each: ir.Instruction) -> str:
    return f"{each.ref} = {each.opcode} {_typed(each.operands)}"


def _cast(each: ir.Instruction) -> str:
    a = each.operands[0]
    return f"{each.ref} = {each.opcode} {a.type} {a.ref} to {each.type}"


def _load(each: ir.Instruction) -> str:
    return f"{each.ref} = load {each.detail}{' ' if each.detail else ''}{each.type}, ptr {each.operands[0].ref}"


def _store(each: ir.Instruction) -> str:
    value, pointer = each.operands
    return f"store {each.detail}{' ' if each.detail else ''}{value.type} {value.ref}, ptr {pointer.ref}"


def _getelementptr(each: ir.Instruction) -> str:
    return f"{each.ref} = getelementptr {each.detail}, {_typed(each.operands)}"


def _alloca(each: ir.Instruction) -> str:
    return f"{each.ref} = alloca {each.detail}"


def _extractvalue(each: ir.Instruction) -> str:
    return f"{each.ref} = extractvalue {_typed(each.operands)}, {each.detail}"


def _phi(each: ir.Instruction) -> str:
    pairs = [f"[ {value.ref}, %{block.name} ]" for value, block in zip(each.operands, each.blocks)]
    return f"{each.ref} = phi {each.type} {', '.join(pairs)}"


def _br(each: ir.Instruction) -> str:
    if not each.operands:
        return f"br label %{each.blocks[0].name}"
    then, orelse = each.blocks
    return f"br i1 {each.operands[0].ref}, label %{then.name}, label %{orelse.name}"


def _switch(each: ir.Instruction) -> str:
    number, *cases = each.operands
    default, *others = each.blocks
    listed = " ".join(f"{case.type} {case.ref}, label %{block.name}" for case, block in zip(cases, others))
    return f"switch {number.type} {number.ref}, label %{default.name} [ {listed} ]"


def _ret(each: ir.Instruction) -> str:
    return f"ret {_typed(each.operands) or ir.VOID}"


def _call(each: ir.Instruction) -> str:
    function, *args = each.operands
    text = f"{each.type} {function.ref}({_typed(args)})"
    if each.detail:
        text = f"{each.detail} {text}" if function.ref.startswith("@llvm.") else f"{text} {each.detail}"
    return f"call {text}" if each.type == ir.VOID else f"{each.ref} = call {text}"


def _unreachable(each: ir.Instruction) -> str:
    return "unreachable"


_BINARY = "add sub mul sdiv udiv srem urem shl lshr ashr and or xor fadd fsub fmul fdiv frem icmp fcmp"
_CASTS = "zext sext trunc fpext fptrunc sitofp uitofp fptosi fptoui bitcast ptrtoint inttoptr"
_FORMS: dict[str, Callable[[ir.Instruction], str]] = {
    **dict.fromkeys(_BINARY.split(), _binary), **dict.fromkeys(_CASTS.split(), _cast),
    **dict.fromkeys(["fneg", "freeze", "select", "insertelement", "extractelement", "shufflevector"], _unary),
    "load": _load, "store": _store, "getelementptr": _getelementptr, "alloca": _alloca, "extractvalue": _extractvalue,
    "phi": _phi, "br": _br, "switch": _switch, "ret": _ret, "call": _call, "unreachable": _unreachable,
}  # fmt: skip
