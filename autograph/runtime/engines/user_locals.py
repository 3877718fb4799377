"""The user's variables in the frames of a traceback: what the variables of generated code say of them.

The generated function has the user's names for most of its variables, beside its own (`t1`). A debugger shall see the
user's, each in the frame of the function that it belongs to, and only with the value that it has there. So a name is
left out if the generated code has another value in that variable at times, or if the user's program sets it where the
generated code does not: for a name that is only copied (`y = x`) or not needed any more.

    def inner(a):               def f(x):                       f:      x, y, i
        b = a * 2                   y = x - 1                   inner:  a (which is `i`), b
        if b > 5: raise …           for i in range(10):
        return b            →           b = i * 2
                                        if b > 5: raise …
                                        y = y + b
"""

from __future__ import annotations

import dis
import re
from collections import Counter
from collections.abc import Mapping
from types import CodeType
from typing import Any

import numpy as np

from autograph.codefacts import OfCode, of_code
from autograph.runtime.engines.places import Marks, calls
from autograph.runtime.graph import UNBOUND, Node
from autograph.runtime.naming import stored_names

_GENERATED = re.compile(r"\w*_\d*|do_return")  # what conversion calls variables of its own, and hardly anybody else
Shown = list[tuple[CodeType, int]]
_OPERATIONS = frozenset({"BINARY_OP", "COMPARE_OP", "BINARY_MULTIPLY", "BINARY_ADD", "BINARY_SUBTRACT"})


_known: OfCode[dict[tuple[Any, ...], Any]] = OfCode()


def user_locals(marked: CodeType, marks: Marks, shown: Shown, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """For each frame that is shown, the user's variables as far as they are known.

    Args:
        marked: the generated code, with marks for lines.
        shown: code and instruction of each of the user's frames, outermost first.
        values: of the variables of the generated code.
    """
    known = _known.get(marked)
    if known is None:
        known = _known.put(marked, {})
    key = tuple((id(code), instruction) for code, instruction in shown)
    if key not in known:
        known[key] = shown[:], [_names(marked, marks, shown, depth) for depth in range(len(shown))]
    overwrites = any(node is not None and "out" in node.kwargs for node in marks)
    lasting = marked.co_varnames[: marked.co_argcount] if overwrites else marked.co_varnames
    return [
        {name: values[ours] for name, ours in names.items()
         if ours in values and values[ours] is not UNBOUND
         and (ours in lasting or not isinstance(values[ours], np.ndarray))}
        for names in known[key][1]
    ]  # fmt: skip


def _names(marked: CodeType, marks: Marks, shown: Shown, depth: int) -> dict[str, str]:
    """The user's variables in a frame, and where generated code has them."""
    stores, mixed = _stores(marked), _mixed(marked, marks)
    nodes = [node for node in marks if node is not None and node.place and _is_in(node, shown, depth)]
    pieces = {calls(node.place)[-1][0] for node in nodes} | {shown[depth][0]}
    names = {name for part in pieces for name in (*part.co_varnames, *part.co_cellvars, *part.co_freevars)}
    params = marked.co_varnames[: marked.co_argcount] if depth == 0 else ()
    own = {}
    for name in names.intersection(marked.co_varnames).difference(mixed):
        by = stores.get(name, [])
        is_known = bool(by) or name in params
        if is_known and not _GENERATED.fullmatch(name) and all(_sets(marks, mark, name, nodes) for mark in by):
            if _is_followed(name, pieces, nodes, by):
                own[name] = name
    found = {**_operands(marked, marks, pieces, nodes), **own}
    return {name: found[name] for name in sorted(found)}


def _mixed(marked: CodeType, marks: Marks) -> set[str]:
    """Variables that are set at a place of the user's along with others: some are for operands."""
    at: dict[Any, set[str]] = {}
    for name, by in _stores(marked).items():
        for mark, _ in by:
            node = marks[abs(mark) - 1] if mark is not None and 0 < abs(mark) <= len(marks) else None
            if node is not None and node.place and not node.blocks:
                at.setdefault(node.place[-1], set()).add(name)
    return {name for names in at.values() if len(names) > 1 for name in names}


def _is_in(node: Node, shown: Shown, depth: int) -> bool:
    """Whether a node comes from the very call that is shown at this depth."""
    chain = calls(node.place)
    if len(chain) != depth + 1 or chain[:depth] != shown[:depth]:
        return False
    one, other = chain[depth][0], shown[depth][0]
    return (one.co_filename, one.co_name, one.co_firstlineno) == (
        other.co_filename, other.co_name, other.co_firstlineno
    ) or one.co_name == other.co_name  # pieces of one function  # fmt: skip


_Store = tuple["int | None", bool]


@of_code
def _stores(marked: CodeType) -> dict[str, list[_Store]]:
    """Where generated code sets each variable: the mark, negative if it sets others, too; and whether to a constant."""
    found: dict[str, list[_Store]] = {}
    counts: Counter[int | None] = Counter()
    before = ""
    for instruction in dis.get_instructions(marked):
        if instruction.opname == "STORE_FAST":
            mark = _mark(marked, instruction.offset)
            counts[mark] += 1
            found.setdefault(instruction.argval, []).append((mark, before == "LOAD_CONST"))
        before = instruction.opname
    # Where a node sets several variables, most of them are for its operands.
    return {name: [(mark if counts[mark] == 1 else -(mark or 0), const) for mark, const in stores]
            for name, stores in found.items()}  # fmt: skip


def _mark(marked: CodeType, offset: int) -> int | None:
    return next((mark for start, end, mark in marked.co_lines() if start <= offset < end), None)


def _sets(marks: Marks, store: _Store, name: str, nodes: list[Node]) -> bool:
    """Whether generated code sets a variable where the user does: to what a node of this frame gives, or a constant."""
    mark, is_constant = store
    node = marks[abs(mark) - 1] if mark is not None and 0 < abs(mark) <= len(marks) else None
    if is_constant or node is None or mark is None:
        return is_constant
    if node.blocks:
        return node in nodes
    return node in nodes and mark > 0 and (stored_names(node.place[-1][0]).get(node.place[-1][1]) == (name,))


def _is_followed(name: str, pieces: set[CodeType], nodes: list[Node], by: list[_Store]) -> bool:
    """Whether the generated code sets a variable wherever the user's does."""
    done = {(node.place[-1][0], node.place[-1][1]) for node in nodes}
    constants = sum(is_constant for _, is_constant in by)
    for code in pieces:
        before = ""
        at = {instruction for instruction, names in stored_names(code).items() if tuple(names) == (name,)}
        followed = sum((code, instruction) in done for instruction in at)
        sets = 0
        for instruction in dis.get_instructions(code):
            if instruction.opname in ("STORE_FAST", "STORE_DEREF") and instruction.argval == name:
                if before == "LOAD_CONST":
                    constants -= 1
                else:
                    sets += 1
            before = instruction.opname
        if sets > followed:
            return False
    return constants >= 0


def _operands(
    marked: CodeType, marks: Marks, pieces: set[CodeType], nodes: list[Node]
) -> dict[str, str]:
    """Parameters of a function that was traced into: what generated code has where the user's has them as operands."""
    found: dict[str, str] = {}
    params = {name for code in pieces for name in code.co_varnames[: code.co_argcount]}
    generated = [*dis.get_instructions(marked)]
    for number, instruction in enumerate(generated):
        if number < 2 or instruction.opname not in _OPERATIONS:
            continue
        mark = _mark(marked, instruction.offset)
        node = marks[mark - 1] if mark is not None and 0 < mark <= len(marks) else None
        if node is None or node not in nodes:
            continue
        users = [*dis.get_instructions(node.place[-1][0])]
        at = next((n for n, each in enumerate(users) if each.offset == node.place[-1][1]), 0)
        if at < 2 or users[at].opname != instruction.opname:
            continue
        for user, ours in zip(users[at - 2 : at], generated[number - 2 : number]):
            loads = user.opname in ("LOAD_FAST", "LOAD_DEREF") and ours.opname == "LOAD_FAST"
            if loads and user.argval in params:
                found[user.argval] = ours.argval
    stored = {each.argval for code in pieces for each in dis.get_instructions(code) if "STORE_" in each.opname}
    return {name: value for name, value in found.items() if name not in stored}
