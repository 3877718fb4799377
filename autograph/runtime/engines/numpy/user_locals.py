"""The user's variables in the frames of a traceback, from the variables of generated code.

The generated function has the user's names for most of its variables, beside its own (`t1`). A debugger must show the
user's, each in the frame of its function, and only with its value there. So a name is left out if the generated code
sometimes has another value in that variable, or if the user's program sets it where the generated code does not: in a
loop, a name that is only copied (`y = x`) or not needed any more. Arguments and copies of them are shown as the caller
passed them. For a loop of machine code, the code around it has the variables that the loop does not change.

    def inner(a):               def f(x):                       f:      x, y, i
        b = a * 2                   y = x - 1                   inner:  a (which is `i`), b
        if b > 5: raise …           for i in range(10):
        return b            →           b = i * 2
                                        if b > 5: raise …
                                        y = y + b
"""

from __future__ import annotations

import dis
import inspect
import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from types import CodeType
from typing import Any

import numpy as np

from autograph.common.bytecode import instructions, stored_names
from autograph.common.code_flags import OfCode, code_line, of_code
from autograph.common.code_marks import is_body, shelters
from autograph.common.line_tables import Position
from autograph.runtime.engines.numpy.line_table import Marks, Places, calls, node_of, pieces_of
from autograph.runtime.graph.graph import UNBOUND, Node, Place

_GENERATED = re.compile(r"\w*_\d*|do_return")  # names of the converters' own variables, which users hardly use
Shown = list[tuple[CodeType, int]]
_OPERATIONS = frozenset({"BINARY_OP", "COMPARE_OP", "BINARY_MULTIPLY", "BINARY_ADD", "BINARY_SUBTRACT"})


_cache: OfCode[dict[tuple[Any, ...], Any]] = OfCode()


def user_locals(marked: CodeType, marks: Marks, place: Place, values: Mapping[str, Any]) -> list[dict[str, Any]]:
    """For each of the user's frames at a place, the user's variables as far as they are known.

    Args:
        marked: the generated code, with marks for lines.
        values: of the variables of the generated code.
    """
    shown = calls(place)
    by_place = _cache.get(marked)
    if by_place is None:
        by_place = _cache.put(marked, {})
    key = tuple((id(code), instruction) for code, instruction in shown)
    if key not in by_place:
        by_place[key] = shown[:], [_names(marked, marks, place, shown, depth) for depth in range(len(shown))]
    overwrites = any(node is not None and "out" in node.kwargs for node in marks)
    lasting = marked.co_varnames[: marked.co_argcount] if overwrites else marked.co_varnames
    return [
        {name: values[ours] for name, ours in names.items()
         if ours in values and values[ours] is not UNBOUND
         and (ours in lasting or not isinstance(values[ours], np.ndarray))}
        for names in by_place[key][1]
    ]  # fmt: skip


def _names(marked: CodeType, marks: Marks, place: Place, shown: Shown, depth: int) -> dict[str, str]:
    """The user's variables in a frame, and the variables of generated code that hold them."""
    chain = pieces_of(place)[depth]
    stores, mixed = _stores(marked), _mixed(marked, marks)
    nodes = {node: None for node in marks if node is not None and node.place and _is_in(node, shown, depth)}
    constructs = [node for node in nodes if node.blocks]
    wholes = {pieces_of(node.place)[depth][0][0] for node in nodes}
    pieces = {shown[depth][0], *(piece for whole in wholes for piece in nested_pieces(whole))}
    names = user_names(pieces)
    params = _arguments(marked, pieces) if depth == 0 else ()
    own = {}
    for name in names.intersection(marked.co_varnames).difference(mixed):
        by = stores.get(name, [])
        loops = sum(name in _items(piece) for piece in pieces)
        is_known = (bool(by) or name in params) and len({mark for mark, _ in by}) >= loops
        if is_known and all(_sets(marks, mark, name, nodes) for mark in by):
            stored = [node_of(marks, abs(mark or 0)) for mark, _ in by]
            followed = [node for node in stored if node is not None and node in nodes]
            is_moved = any(_is_moved(node, constructs) for node in followed)
            if not is_moved and is_of_one_loop(name, pieces, chain) and is_followed(name, pieces, done_by(followed)):
                own[name] = name
    copies = Counter(node.op for node in marks if node is not None and node.place == place)
    is_copied = max(copies.values(), default=0) > 1     # by unrolling: operands are those of one of the copies
    found = own if is_copied else {**_operands(marked, marks, pieces, nodes), **own}
    return {name: found[name] for name in sorted(found)}


def _is_moved(node: Node, constructs: list[Node]) -> bool:
    """Whether a node has moved out of a loop or branch in which it is in the user's code."""
    around = [each for each in constructs if each.place == node.place[: len(each.place)] != node.place]
    return not all(node in within(each) for each in around)


def within(node: Node) -> Iterator[Node]:
    """The nodes in the blocks of a node."""
    for block in node.blocks:
        for inner in block.nodes:
            yield inner
            yield from within(inner)


def user_names(pieces: Collection[CodeType]) -> set[str]:
    """The user's names of variables in these pieces of a function."""
    names = {name for piece in pieces for name in (*piece.co_varnames, *piece.co_cellvars, *piece.co_freevars)}
    return {name for name in names if not _GENERATED.fullmatch(name)}


def nested_pieces(code: CodeType) -> list[CodeType]:
    """Converted code, and the bodies of its branches and loops."""
    bodies = [each for each in code.co_consts if isinstance(each, CodeType) and is_body(each)]
    return [code, *(piece for body in bodies for piece in nested_pieces(body))]


def _arguments(marked: CodeType, pieces: Collection[CodeType]) -> set[str]:
    """The arguments of generated code, without those that share their name with the items of a loop."""
    items = {name for piece in pieces for name in _items(piece)}
    return {*marked.co_varnames[: marked.co_argcount]} - items


def _mixed(marked: CodeType, marks: Marks) -> set[str]:
    """Variables that are set at a place of the user's along with others: some of them hold operands."""
    at: dict[Any, set[str]] = {}
    for name, by in _stores(marked).items():
        for mark, _ in by:
            node = node_of(marks, abs(mark or 0))
            if node is not None and node.place and not node.blocks:
                at.setdefault(node.place[-1], set()).add(name)
    return {name for names in at.values() if len(names) > 1 for name in names}


def _is_in(node: Node, shown: Shown, depth: int) -> bool:
    """Whether a node comes from the very call that is shown at this depth."""
    chain = calls(node.place)
    if len(chain) != depth + 1 or chain[:depth] != shown[:depth]:
        return False
    return chain[depth][0].co_name == shown[depth][0].co_name  # pieces of one function


_Store = tuple["int | None", bool]


@of_code
def _stores(marked: CodeType) -> dict[str, list[_Store]]:
    """Where generated code sets each variable: the mark, negative if it sets others, too; and whether to a constant."""
    found: dict[str, list[_Store]] = {}
    counts: Counter[int | None] = Counter()
    before = ""
    for offset, does, name in instructions(marked):
        if does == "STORE_FAST":
            mark = code_line(marked, offset)
            counts[mark] += 1
            found.setdefault(name, []).append((mark, before == "LOAD_CONST"))
        before = does
    # Where a node sets several variables, most of them are for its operands.
    return {name: [(mark if counts[mark] == 1 else -(mark or 0), const) for mark, const in stores]
            for name, stores in found.items()}  # fmt: skip


def _sets(marks: Marks, store: _Store, name: str, nodes: Collection[Node]) -> bool:
    """Whether generated code sets a variable as the user does: to a constant, or the result of a node of the frame."""
    mark, is_constant = store
    node = node_of(marks, abs(mark or 0))
    if is_constant or node is None or mark is None:
        return is_constant
    if node.blocks:
        return node in nodes
    return node in nodes and mark > 0 and (stored_names(node.place[-1][0]).get(node.place[-1][1]) == (name,))


def is_of_one_loop(name: str, pieces: Collection[CodeType], chain: Shown) -> bool:
    """Whether a variable is the item of one loop at most, up to a place. (Generated code may lack a loop.)

    Args:
        pieces: of the function.
        chain: those that the place is in, the innermost last.
    """
    takes = {piece for piece in pieces if name in _items(piece)}
    inner = next((piece for piece, _ in reversed(chain) if piece in takes), None)
    if len(takes) <= 1 or inner is None:
        return len(takes) <= 1
    first, here = min(_lines(inner)), code_line(*chain[-1]) or 0
    return all(min(_lines(other)) > here or max(_lines(other)) < first for other in takes - {inner})


def _items(piece: CodeType) -> tuple[str, ...]:
    """The name of an item in the body of a loop."""
    return piece.co_varnames[: piece.co_argcount] if is_body(piece) else ()


def done_by(nodes: Iterable[Node]) -> set[tuple[CodeType, int]]:
    """The instructions of the user's code that nodes do."""
    return {node.place[-1][:2] for node in nodes}


def _lines(code: CodeType) -> list[int]:
    return [line for _, _, line in code.co_lines() if line]


def is_followed(name: str, pieces: Collection[CodeType], done: Set[tuple[CodeType, int]]) -> bool:
    """Whether the graph sets a variable wherever the user's code does.

    Where the user's code sets it once (`x += y`), converted code may have several instructions for that, of which it
    runs one.

    Args:
        done: the instructions that nodes do, see `done_by`.
    """
    sets: set[tuple[str, Position]] = set()
    followed: set[tuple[str, Position]] = set()
    for code in pieces:
        results = stored_names(code)
        for before, offset, position in () if name in _only_begun(code) else _sites(code).get(name, ()):
            sets.add((code.co_name, position))
            if any((code, at) in done and results.get(at) == (name,) for at in range(before, offset, 2)):
                followed.add((code.co_name, position))
    lines = {position.line for _, position in followed}
    return all(each.column is None and each.line in lines for _, each in sets - followed)


_COPIED = frozenset({"LOAD_CONST", "LOAD_FAST", "LOAD_DEREF", "LOAD_FAST_CHECK", "LOAD_FAST_BORROW"})


@of_code
def _sites(code: CodeType) -> dict[str, list[tuple[int, int, Position]]]:
    """Where code sets each local variable: the instruction before, the instruction, and the place in the file."""
    found: dict[str, list[tuple[int, int, Position]]] = {}
    places, before = Places(), 0
    for offset, does, name in instructions(code):
        if does in ("STORE_FAST", "STORE_DEREF"):
            found.setdefault(name, []).append((before, offset, places.position(code, offset)))
        before = offset
    return found


@of_code
def _only_begun(code: CodeType) -> frozenset[str]:
    """The variables that a function sets once, by copying something, and then only its bodies do.

    Generated code may do that later, when the first of these begins; up to there, it has no such variable.
    """
    stores: dict[Any, list[tuple[int, bool]]] = {}
    bodies: dict[str, int] = {}     # the first that sets a variable
    before = ""
    for offset, does, argument in () if is_body(code) else instructions(code):
        if does[:6] in ("STORE_", "DELETE"):
            stores.setdefault(argument, []).append((offset, before in _COPIED))
        body = code.co_consts[argument] if does == "LOAD_CONST" else None
        for piece in nested_pieces(body) if isinstance(body, CodeType) else ():
            for name in _set_names(piece):
                bodies.setdefault(name, offset)
        before = does
    once = {name: sites[0] for name, sites in stores.items() if len(sites) == 1}
    return frozenset(name for name, (offset, copies) in once.items() if copies and offset < bodies.get(name, 0))


def arguments(whole: CodeType, at: int, values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call that the user's function never sets to anything else; and copies of them.

    Args:
        at: the instruction up to which the function has run.
    """
    params, copies = _lasting(whole)
    found = {name: values[name] for name in params if name in values}
    values_of: dict[Any, Any] = {**found, **dict(enumerate(whole.co_consts))}
    for offset, name, source in copies:
        if offset < at and source in values_of:
            found[name] = values_of[name] = values_of[source]
    return found


@of_code
def _lasting(whole: CodeType) -> tuple[list[str], list[tuple[int, str, Any]]]:
    """The arguments that a function never sets, and the variables that it sets once, to a copy.

    Returns:
        The names of the arguments; and of each copy the instruction, the name, and the source: another variable, or
        the number of a constant.
    """
    pieces = nested_pieces(whole)
    sets = Counter(name for piece in pieces for name in _set_names(piece))
    sets.update(name for piece in pieces for name in _items(piece))
    optional = bool(whole.co_flags & inspect.CO_VARARGS) + bool(whole.co_flags & inspect.CO_VARKEYWORDS)
    params = whole.co_varnames[: whole.co_argcount + whole.co_kwonlyargcount + optional]
    jumps = {each.offset: each.argval for each in dis.get_instructions(whole) if each.opcode in _JUMPS}
    copies, jumped = [], 0      # up to where the instructions may be jumped over
    for (offset, loads, source), (_, stores, name) in itertools.pairwise(instructions(whole)):
        is_copy = loads in _COPIED and stores in ("STORE_FAST", "STORE_DEREF") and not shelters(whole)
        is_known = sets[name] == 1 and name not in params and offset >= jumped
        if is_copy and is_known and not _GENERATED.fullmatch(name):
            copies.append((offset, name, source))
        jumped = max(jumped, jumps.get(offset, 0))
    return [name for name in params if name not in sets], copies


# Before Python 3.11, `try` is an instruction with a target: the guard of converted code is one.
_JUMPS = {each for each in (*dis.hasjrel, *dis.hasjabs) if not dis.opname[each].startswith("SETUP_")}


@of_code
def _set_names(code: CodeType) -> list[str]:
    """The variables that code sets, once for each time."""
    return [name for _, does, name in instructions(code) if does[:6] in ("STORE_", "DELETE") and isinstance(name, str)]


def _operands(marked: CodeType, marks: Marks, pieces: set[CodeType], nodes: Collection[Node]) -> dict[str, str]:
    """Parameters of an inlined function: variables of generated code that are operands where the user has these."""
    found: dict[str, set[str]] = {}
    params = {name for code in pieces if not is_body(code) for name in code.co_varnames[: code.co_argcount]}
    for offset, (operation, generated) in _operations(marked).items():
        mark = code_line(marked, offset)
        node = node_of(marks, mark)
        if node is None or node not in nodes:
            continue
        code, at = node.place[-1][:2]
        users_operation, users = _operations(code).get(at, ("", []))
        for (loads, name), (ours_loads, ours) in zip(users, generated) if users_operation == operation else ():
            is_load = loads in ("LOAD_FAST", "LOAD_DEREF") and ours_loads == "LOAD_FAST"
            if is_load and name in params and len(_stores(marked).get(ours, ())) <= 1:
                found.setdefault(name, set()).add(ours)
    stored = {name for code in pieces for name in (*_set_names(code), *_items(code))}
    return {name: value for name, (value, *others) in found.items() if name not in stored and not others}


@of_code
def _operations(code: CodeType) -> dict[int, tuple[str, list[tuple[str, Any]]]]:
    """The binary operations in code by offset: the name of each, and the two instructions before it."""
    every = instructions(code)
    return {
        offset: (does, [(loads, name) for _, loads, name in every[number - 2 : number]])
        for number, (offset, does, _) in enumerate(every)
        if number >= 2 and does in _OPERATIONS
    }
