"""The verifier of the low-level IR: finds what LLVM would reject, or worse, misinterpret."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from autograph.runtime.engines.native.llvm import ir
from autograph.runtime.engines.native.llvm.printer import written
from autograph.runtime.graph.graph import checks_graphs

_INTEGER = frozenset("add sub mul sdiv udiv srem urem shl lshr ashr and or xor".split())
_FLOAT = frozenset("fadd fsub fmul fdiv frem fneg".split())
_PREDICATES = {
    "icmp": frozenset("eq ne slt sle sgt sge ult ule ugt uge".split()),
    "fcmp": frozenset("oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno".split()),
}
# For each conversion whether it takes and returns floats, and whether bits grow (1), shrink (-1), or may do either.
_CASTS = {
    "zext": (False, False, 1), "sext": (False, False, 1), "trunc": (False, False, -1), "fpext": (True, True, 1),
    "fptrunc": (True, True, -1), "sitofp": (False, True, 0), "uitofp": (False, True, 0), "fptosi": (True, False, 0),
    "fptoui": (True, False, 0),
}  # fmt: skip


class InvalidIR(Exception):
    """A malformed function."""


def verify_module(module: ir.Module) -> None:
    """Check the functions of a module.

    Raises:
        InvalidIR: one is malformed.
    """
    for function in module.functions.values():
        verify(function)


def verified(module: ir.Module) -> ir.Module:
    """Return a module, after checking its functions if graphs are checked.

    Raises:
        InvalidIR: one is malformed.
    """
    if checks_graphs():
        verify_module(module)
    return module


def verify(function: ir.Function) -> None:
    """Check a function.

    Raises:
        InvalidIR: it is malformed. The message names the function, the block and the instruction.
    """
    for block, each, wrong in _problems(function):
        where = f"block {block.name}" + (f": {written(each)}" if each is not None else "")
        raise InvalidIR(f"function {function.ref}, {where}: {wrong}")


def _problems(function: ir.Function) -> Iterator[tuple[ir.Block, ir.Instruction | None, str]]:
    reached = _order(function)
    for block in function.blocks.values():
        if block.terminator is None:
            yield block, None, "it has no terminator"
        if reached[0] in block.successors:
            yield block, block.terminator, "it leads back to the first block"
        for place, each in enumerate(block.instructions):
            if each.opcode in ir.TERMINATORS and place + 1 < len(block.instructions):
                yield block, each, "a terminator before the end"
            for target in each.blocks:
                if target.name not in function.blocks:
                    yield block, each, f"block {target.name} is not in the function"
            wrong = _RULES.get(each.opcode, _unknown)(function, each)
            if wrong:
                yield block, each, wrong
    yield from _wrong_uses(function, reached)


# Types ----------------------------------------------------------------------------------------------------------------


def _is_float(type: str) -> bool:
    return ir.element_of(type) in ("float", "double")


def _is_integer(type: str) -> bool:
    return ir.element_of(type).startswith("i") and type[0] in "i<"


def _arithmetic(function: ir.Function, each: ir.Instruction) -> str:
    if {operand.type for operand in each.operands} != {each.type}:
        return "operands of other types"
    known = _is_float if each.opcode in _FLOAT else _is_integer
    return "" if known(each.type) else f"there is no {each.opcode} of {each.type}"


def _comparison(function: ir.Function, each: ir.Instruction) -> str:
    a, b = each.operands
    if a.type != b.type or each.type != ir.like(a.type, ir.I1):
        return "operands of other types"
    known = _is_float(a.type) if each.opcode == "fcmp" else _is_integer(a.type) or a.type == ir.PTR
    return "" if known and each.detail in _PREDICATES[each.opcode] else f"{each.detail} of {a.type}"


def _conversion(function: ir.Function, each: ir.Instruction) -> str:
    before, after = each.operands[0].type, each.type
    from_float, to_float, grows = _CASTS[each.opcode]
    fits = (_is_float if from_float else _is_integer)(before) and (_is_float if to_float else _is_integer)(after)
    if not fits or ir.count_of(before) != ir.count_of(after):
        return f"there is no {each.opcode} from {before} to {after}"
    return "" if not grows or (ir.bits_of(after) - ir.bits_of(before)) * grows > 0 else f"from {before} to {after}"


def _bits(function: ir.Function, each: ir.Instruction) -> str:
    before, after = each.operands[0].type, each.type
    size = [ir.bits_of(type) * (ir.count_of(type) or 1) for type in (before, after)]
    return "" if size[0] == size[1] and ir.PTR not in (before, after) else f"from {before} to {after}"


def _address(function: ir.Function, each: ir.Instruction) -> str:
    before, after = (each.operands[0].type, each.type)[:: 1 if each.opcode == "ptrtoint" else -1]
    return "" if before == ir.PTR and _is_integer(after) else "only between pointers and integers"


def _selection(function: ir.Function, each: ir.Instruction) -> str:
    condition, a, b = each.operands
    fits = condition.type in (ir.I1, ir.like(a.type, ir.I1)) and a.type == b.type == each.type
    return "" if fits else "operands of other types"


def _access(function: ir.Function, each: ir.Instruction) -> str:
    if each.operands[-1].type != ir.PTR:
        return "no pointer"
    moved = each.type if each.opcode == "load" else each.operands[0].type
    return "" if moved != ir.VOID else "of nothing"


def _element(function: ir.Function, each: ir.Instruction) -> str:
    pointer, *indices = each.operands
    fits = pointer.type == ir.PTR and all(_is_integer(index.type) for index in indices)
    return "" if fits else "no pointer, or index"


def _part(function: ir.Function, each: ir.Instruction) -> str:
    whole = each.operands[0].type
    if each.opcode == "extractvalue":
        parts = whole[2:-2].split(", ")
        return "" if whole == ir.structure(*parts) and parts[each.detail] == each.type else f"no part of {whole}"
    element = each.type if each.opcode == "extractelement" else each.operands[1].type
    fits = whole[0] == "<" and ir.element_of(whole) == element and each.type in (whole, element)
    return "" if fits else f"no {element} in {whole}"


def _shuffle(function: ir.Function, each: ir.Instruction) -> str:
    a, b, mask = each.operands
    fits = a.type == b.type and each.type == ir.vector(ir.count_of(mask.type), ir.element_of(a.type))
    return "" if fits and isinstance(mask, ir.Constant) else "operands of other types"


def _call(function: ir.Function, each: ir.Instruction) -> str:
    callee, *given = each.operands
    if not isinstance(callee, ir.Callee):
        return "" if callee.type == ir.PTR else "no function"
    module = function.module
    name = callee.ref[1:]
    known = module.functions.get(name) or module.declared.get(name)
    if known is None or (known.result, known.takes) != (callee.result, callee.takes):
        return f"{callee.ref} is not declared so"
    types = tuple(value.type for value in given)
    fits = callee.result == each.type and types == callee.takes
    return "" if fits else f"it takes ({', '.join(callee.takes)}) and gives {callee.result}"


def _branch(function: ir.Function, each: ir.Instruction) -> str:
    if each.opcode == "br":
        fits = len(each.blocks) == 1 + len(each.operands) and all(value.type == ir.I1 for value in each.operands)
    else:
        fits = len(each.blocks) == len(each.operands) and len({value.type for value in each.operands}) == 1
    return "" if fits else "targets and operands do not fit"


def _return(function: ir.Function, each: ir.Instruction) -> str:
    found = each.operands[0].type if each.operands else ir.VOID
    return "" if found == function.result else f"the function gives {function.result}"


def _phi(function: ir.Function, each: ir.Instruction) -> str:
    return "" if all(value.type == each.type for value in each.operands) else "operands of other types"


def _none(function: ir.Function, each: ir.Instruction) -> str:
    return ""


def _unknown(function: ir.Function, each: ir.Instruction) -> str:
    return f"no instruction is called {each.opcode}"


_RULES: dict[str, Callable[[ir.Function, ir.Instruction], str]] = {
    **dict.fromkeys(_INTEGER | _FLOAT, _arithmetic), **dict.fromkeys(_PREDICATES, _comparison),
    **dict.fromkeys(_CASTS, _conversion), "bitcast": _bits, "ptrtoint": _address, "inttoptr": _address,
    "select": _selection, "load": _access, "store": _access, "getelementptr": _element, "alloca": _none,
    "extractvalue": _part, "extractelement": _part, "insertelement": _part, "shufflevector": _shuffle, "call": _call,
    "br": _branch, "switch": _branch, "ret": _return, "unreachable": _none, "phi": _phi, "freeze": _none,
}  # fmt: skip


# Uses -----------------------------------------------------------------------------------------------------------------


def _order(function: ir.Function) -> list[ir.Block]:
    """The reachable blocks in reverse postorder.

    Names identify blocks and values, since a copy of a function has other objects of the same names.
    """
    blocks = function.blocks
    first = next(iter(blocks.values()))
    seen, found, stack = {first.name}, [], [(first, iter(first.successors))]
    while stack:
        block, rest = stack[-1]
        for target in rest:
            if target.name in blocks and target.name not in seen:
                seen.add(target.name)
                stack.append((blocks[target.name], iter(blocks[target.name].successors)))
                break
        else:
            found.append(block)
            stack.pop()
    return found[::-1]


def _wrong_uses(function: ir.Function, order: list[ir.Block]) -> Iterator[tuple[ir.Block, ir.Instruction | None, str]]:
    """Names that occur twice, uses of values that are not computed on all paths, and phis that do not fit."""
    names = {each.ref for each in function.parameters}
    for block in function.blocks.values():
        for each in block.instructions:
            if each.ref in names:
                yield block, each, "there is another value of this name"
            names |= {each.ref} - {""}
    before: dict[str, list[str]] = {name: [] for name in function.blocks}
    for block in function.blocks.values():
        for name in {target.name for target in block.successors} & before.keys():
            before[name].append(block.name)
    begin, end = _available(function, order, before)
    for block in order:
        here, phis = set(begin[block.name]), True
        for each in block.instructions:
            if each.opcode == "phi":
                if not phis:
                    yield block, each, "a phi behind other instructions"
                if {source.name for source in each.blocks} != set(before[block.name]):
                    yield block, each, f"the blocks before it are {', '.join(sorted(before[block.name]))}"
            phis = phis and each.opcode == "phi"
            for number, operand in enumerate(each.operands):
                there = end.get(each.blocks[number].name, here) if each.opcode == "phi" else here
                if operand.ref[:1] == "%" and operand.ref not in names:
                    yield block, each, f"{operand} is nowhere in the function"
                elif operand.ref[:1] == "%" and operand.ref not in there:
                    yield block, each, f"{operand} is used before it is computed"
            here.add(each.ref)


def _available(
    function: ir.Function, order: list[ir.Block], before: dict[str, list[str]]
) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """The values that are computed on all paths to the beginning and to the end of each block."""
    computed = {block.name: {each.ref for each in block.instructions} for block in order}
    begin = {order[0].name: {each.ref for each in function.parameters}}
    end = {order[0].name: begin[order[0].name] | computed[order[0].name]}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            found = set.intersection(*(end[name] for name in before[block.name] if name in end))
            if begin.get(block.name) != found:
                changed, begin[block.name], end[block.name] = True, found, found | computed[block.name]
    return begin, end
