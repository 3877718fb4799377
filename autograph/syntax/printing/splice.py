"""Expressions with the user's text kept: what was not touched is copied, what was is spliced into its surroundings.

An original node some of whose children were replaced is printed as its own text, with the new children's text in
the places of the old ones. Only where its shape itself changed (an argument more, another operator) is it printed
afresh by `Unparser`; even then, what is below it is copied or spliced.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import gast

from autograph.syntax.lines import Brackets, column, segment
from autograph.syntax.origin import fields, is_node, untouched
from autograph.syntax.printing import literals, precedence
from autograph.syntax.printing.precedence import kind, method_of
from autograph.syntax.printing.unparse import Unparser, falls_apart, means

Place = tuple[int, int]
"""A line, from 1, and a column in UTF-8 bytes."""

_COMMENT = re.compile(r"#[^\n]*")
_JOINTS = re.compile(r"(?:[\s\\(),<>=!]|\b(?:and|or|not|in|is)\b)*")
_LINES = (ast.stmt, ast.excepthandler)
_FAR = 50  # lines; what is further apart are parts of different statements
_SPACE = " \t\f\n\\"
_OPENING_QUOTE = re.compile(r"[a-zA-Z]*('''|\"\"\"|'|\")")
_ARGUMENTS = {("Call", "args"), ("Call", "keywords"), ("ClassDef", "bases"), ("ClassDef", "keywords")}


class Slot(NamedTuple):
    """A place in an original node's text: the child that stood there, and the one that stands there now."""

    was: gast.AST
    now: gast.AST
    owner: gast.AST
    field: str

    @property
    def level(self) -> int:
        """The level of precedence that the place demands."""
        unpacked = (
            kind(self.owner) == "Dict"
            and self.field == "values"
            and any(value is self.now and key is None for key, value in zip(self.owner.keys, self.owner.values))
        )
        return precedence.BIT_OR if unpacked else precedence.demand(self.owner, self.field)

    @property
    def start(self) -> Place:
        line, offset, _, _ = self.was.origin.span
        return line, offset

    @property
    def end(self) -> Place:
        _, _, line, offset = self.was.origin.span
        return line, offset


class Splicer(Unparser):
    """Prints expressions.

    Args:
        lines: the lines of the user's file.
        strings: the lines that begin inside a string.
    """

    def __init__(self, lines: Sequence[str], strings: frozenset[int]) -> None:
        super().__init__()
        self.lines = lines
        self.strings = strings
        self.memo: dict[int, bool] = {}
        self.in_verified_fstring = False

    # -- the user's text -----------------------------------------------------------------------------------

    def raw(self, start: Place, end: Place) -> str:
        """The text between two places, as typed."""
        line = self.lines[start[0] - 1]
        if start[0] == end[0]:
            return line[column(line, start[1]) : column(line, end[1])]
        return segment(self.lines, (*start, *end))

    def copy(self, start: Place, end: Place, brackets: Brackets | None) -> None:
        """Print the text between two places; lines that were aligned with a bracket stay so, where it is now."""
        if brackets is None:
            self.write(self.raw(start, end))
            return
        lines = self.raw(start, end).split("\n")
        typed = column(self.lines[start[0] - 1], start[1])
        fixed = [number in self.strings for number in range(start[0], end[0] + 1)]
        self.write(brackets.move(lines, typed, self.column(), fixed))

    def brackets(self, node: gast.AST) -> Brackets | None:
        """For moving the text of a node; None if it is on one line, and cannot lose its alignment."""
        origin = node.origin
        if origin.span and origin.span[0] == origin.span[2]:
            return None
        return Brackets(lambda line: self.reindent(line, origin.indent), self.pad)

    def reindent(self, line: str, indent: str) -> str:
        """A line that was indented by `indent`, or more, indented as we are; other lines stay as they are."""
        if not line or indent == self.indent or not line.startswith(indent):
            return line
        return self.indent + line[len(indent) :]

    def pad(self, width: int) -> str:
        """The white space before a column of a line of ours."""
        return self.indent + " " * (width - len(self.indent)) if width > len(self.indent) else " " * width

    def column(self) -> int:
        """The column that we are at."""
        width = 0
        for piece in reversed(self.out):
            width += len(piece) - piece.rfind("\n") - 1
            if "\n" in piece:
                break
        return width

    def has_text(self, node: gast.AST) -> bool:
        """Whether the place of a node in the user's text is known."""
        origin = getattr(node, "origin", None)
        if origin is None or origin.span is None:
            return False
        return self.in_verified_fstring or not origin.in_fstring

    # -- what to print how ---------------------------------------------------------------------------------

    def dispatch(self, tree: gast.AST) -> None:
        """Copy, splice or print a node that is not a statement; or a list of nodes."""
        if isinstance(tree, list):
            for node in tree:
                self.dispatch(node)
        elif not self.has_text(tree):
            self.print_afresh(tree)
        elif untouched(tree, self.memo):
            span = tree.origin.span
            self.copy(span[:2], span[2:], self.brackets(tree))
        elif kind(tree) == "JoinedStr":
            self.fstring(tree)
        elif (slots := self.slots(tree)) is not None:
            self.splice(tree, slots, tree.origin.span[:2], tree.origin.span[2:])
        else:
            self.print_afresh(tree)

    def print_afresh(self, node: gast.AST) -> None:
        """Print a node by its own method of `Unparser`."""
        getattr(self, method_of(node))(node)

    def place(self, node: gast.AST, level: int) -> None:
        """Print an expression; a tuple's own parentheses are part of its text."""
        if kind(node) == "Tuple" and self.brings_parentheses(node):
            self.dispatch(node)
        else:
            super().place(node, level)

    def is_link(self, node: gast.AST, level: int) -> bool:
        """Whether an operand is an operation that is to be printed afresh, without parentheses."""
        return super().is_link(node, level) and not self.has_text(node)

    def brings_parentheses(self, node: gast.AST) -> bool:
        """Whether a tuple will come out as typed, and was typed in parentheses."""
        slots = self.slots(node) if len(node.elts) > 1 and self.has_text(node) else None
        if not slots:
            return False
        first, *others = self.gaps(slots, node.origin.span[:2])
        depth = lowest = first.count("(")
        for character in "".join(others):
            depth += _depth(character)
            lowest = min(lowest, depth)
        return lowest > 0

    def part(self, owner: gast.AST, field: str, node: gast.AST) -> None:
        """Print a part of a node; of a statement, in parentheses if it would not stay on its line."""
        mark = len(self.out)
        super().part(owner, field, node)
        if _is_line(owner):
            self.keep_together(mark)

    def keep_together(self, mark: int) -> None:
        """Parenthesize what was printed since `mark` if a line feed outside of brackets would end it early."""
        text = "".join(self.out[mark:])
        if "\n" in text and falls_apart(text):
            self.out.insert(mark, "(")
            self.write(")")

    def places(self, nodes: Iterable[gast.AST]) -> None:
        """Print expressions in brackets: on lines of their own, with the comments between, where the user did."""
        nodes = list(nodes)
        extents = map(self.extent, nodes if len(nodes) > 1 else ())
        breaks = [self.line_break(*pair) for pair in itertools.pairwise(extents)]
        margin = f"\n{self.pad(self.column())}" if any(breaks) else ""
        for node, lines in itertools.zip_longest(nodes, breaks):
            self.place(node, precedence.TEST)
            if lines is not None:
                self.write("," + margin.join(lines) if lines else ", ")

    def extent(self, node: gast.AST) -> tuple[Place, Place] | None:
        """From where to where the parts of a node stood in the user's text, if anywhere."""
        if self.has_text(node):
            return node.origin.span[:2], node.origin.span[2:]
        parts = [part for part in map(self.extent, gast.iter_child_nodes(node)) if part]
        return (min(parts)[0], max(end for _, end in parts)) if parts else None

    def line_break(self, left: tuple[Place, Place] | None, right: tuple[Place, Place] | None) -> list[str]:
        """What ends the lines between two expressions if the second was typed below the first; else nothing."""
        if self.in_verified_fstring or left is None or right is None:
            return []
        if not 0 < right[0][0] - left[1][0] < _FAR:
            return []
        lines = self.raw(left[1], right[0]).split("\n")
        if not _JOINTS.fullmatch(_COMMENT.sub("", "\n".join(lines))):
            return []
        comments = [found[0].rstrip() if (found := _COMMENT.search(line)) else "" for line in lines]
        return ["  " * bool(comments[0]) + comments[0], *filter(None, comments[1:]), ""]

    # -- slots ---------------------------------------------------------------------------------------------

    def slots(self, node: gast.AST, names: Sequence[str] | None = None) -> list[Slot] | None:
        """The places of a node's children (in some fields) in its text, in order; None if its shape changed."""
        found: list[Slot] = []
        if not self._collect(node, fields(node) if names is None else names, found):
            return None
        found.sort(key=lambda slot: slot.start)
        return found

    def _collect(self, node: gast.AST, names: Sequence[str], found: list[Slot]) -> bool:
        for name, was in zip(fields(node), node.origin.shape):
            if name not in names:
                continue
            now = getattr(node, name, None)
            if type(was) is not tuple or type(now) is not list:
                was, now = [was], [now]
            if len(was) != len(now) or not all(self._slot(node, name, *pair, found) for pair in zip(was, now)):
                return False
        return True

    def _slot(self, owner: gast.AST, field: str, was: Any, now: Any, found: list[Slot]) -> bool:
        if not is_node(was):
            return was is now or (type(was) is type(now) and (isinstance(was, ast.AST) or was == now))
        if not (is_node(now) and hasattr(was, "origin")):
            return False
        if kind(owner) == "JoinedStr" and kind(was) == "Constant":
            return was is now and untouched(now, self.memo)
        if was.origin.span is None or kind(was) == "FormattedValue" or field == "format_spec":
            return was is now and self._collect(now, fields(now), found)
        if kind(now) == "Tuple" and field in ("slice", "context_expr"):
            if now is not was or self.slots(now) is None:
                return False  # parentheses would change what it means there
        found.append(Slot(was, now, owner, field))
        return True

    def expand(self, slots: Sequence[Slot]) -> list[Slot]:
        """The slots, those of nodes that are spliced themselves replaced by their own: no recursion in long sums."""
        found: list[Slot] = []
        todo = list(reversed(slots))
        while todo:
            slot = todo.pop()
            inner = None
            if slot.now is slot.was and not untouched(slot.now, self.memo) and kind(slot.now) != "JoinedStr":
                inner = self.slots(slot.now)
            if inner is None:
                found.append(slot)
            else:
                todo.extend(reversed(inner))
        return found

    def gaps(self, slots: Sequence[Slot], start: Place) -> list[str]:
        """The text before each slot, down to the slot before; there is nothing in it but punctuation."""
        ends = [start, *(slot.end for slot in slots)]
        return [self.gap(end, slot.start) for end, slot in zip(ends, slots)]

    def gap(self, start: Place, end: Place) -> str:
        return _COMMENT.sub("", self.raw(start, end))

    # -- splicing ------------------------------------------------------------------------------------------

    def splice(self, node: gast.AST, slots: Sequence[Slot], start: Place, end: Place) -> None:
        """Print the text from `start` to `end`, with what now stands in the slots."""
        slots = self.expand(slots)
        gaps = [*self.gaps(slots, start), self.gap(slots[-1].end if slots else start, end)]
        brackets = self.brackets(node)
        position, depth = start, 0
        for slot, before, after in zip(slots, gaps, gaps[1:]):
            depth += _depth(before)
            if slot.now is slot.was and untouched(slot.now, self.memo):
                continue
            (line, left), (last, right) = slot.start, slot.end
            drop = _drops_parentheses(slot, before, after) - _is_lone_generator(slot)  # its own are the call's
            self.copy(position, (line, left - drop), brackets)
            mark = len(self.out)
            self.fill_slot(slot, before, after)
            if depth == 0 and _is_line(node):
                self.keep_together(mark)
            position = (last, right + drop)
        self.copy(position, end, brackets)

    def fill_slot(self, slot: Slot, before: str, after: str) -> None:
        """Print what stands in a slot, between these texts, apart from words that touch it."""
        mark = len(self.out)
        if kind(slot.now) != "Tuple" and _parenthesized(slot, before, after):
            self.dispatch(slot.now)
        else:
            self.place(slot.now, slot.level)
        if _in_word(before[-1:]) and _in_word(self.out[mark][:1]):  # as in `return-x`
            self.out.insert(mark, " ")
        if _in_word(after[:1]) and _in_word(self.out[-1][-1:]):
            self.write(" ")

    # -- f-strings -----------------------------------------------------------------------------------------

    def fstring(self, node: gast.AST) -> None:
        """Splice a changed f-string if what comes out is what is meant, else print it afresh.

        Until Python 3.12 the places inside are often wrong, and what now stands there may hold the wrong quotes.
        """
        start, end = node.origin.span[:2], node.origin.span[2:]
        found = _OPENING_QUOTE.match(self.raw(start, end))
        quote = found[1] if found else "'"
        outer, mark = (self.quoting, self.in_verified_fstring), len(self.out)
        self.quoting, self.in_verified_fstring = self.quoting.inside(quote), True
        slots = self.slots(node)
        try:
            if slots is None or not _in_order(slots, start, end):
                raise literals.UnprintableError
            self.splice(node, slots, start, end)
            good = outer[1] or means("".join(self.out[mark:]), node)
        except literals.UnprintableError:
            good = False
        self.quoting, self.in_verified_fstring = outer
        if not good:
            del self.out[mark:]
            quoting = literals.Quoting(self.quoting.taken, preferred=quote)
            self.write(literals.fstring(node, self.in_fstring, quoting))

    @classmethod
    def plain(cls, quoting: literals.Quoting) -> Unparser:
        """A printer for an expression inside an f-string: the user's text may not fit in there."""
        return Unparser(quoting)


def _is_line(node: gast.AST) -> bool:
    """Whether a line feed outside of brackets would end a node."""
    return isinstance(node, _LINES) or kind(node) in ("match_case", "withitem")


def _is_lone_generator(slot: Slot) -> bool:
    """Whether a generator expression, now replaced, was a call's only argument, without parentheses of its own."""
    if slot.now is slot.was or kind(slot.was) != "GeneratorExp" or kind(slot.owner) != "Call":
        return False
    return bool(slot.end == slot.owner.origin.span[2:])


def _parenthesized(slot: Slot, before: str, after: str) -> bool:
    """Whether the user typed parentheses around what stood in a slot."""
    if not (before.rstrip(_SPACE).endswith("(") and after.lstrip(_SPACE).startswith(")")):
        return False
    return (kind(slot.owner), slot.field) not in _ARGUMENTS or before.count("(") > 1 or "," in before


def _drops_parentheses(slot: Slot, before: str, after: str) -> bool:
    """Whether the user's parentheses became needless: `(a and b)` is now `ag__.and_(...)`."""
    if not (before.endswith("(") and after.startswith(")") and _is_new_call(slot.now)):
        return False
    return _parenthesized(slot, before, after) and not (_in_word(before[-2:-1]) or _in_word(after[1:2]))


def _is_new_call(node: gast.AST) -> bool:
    """Whether a node is a call like `ag__.operator(...)`, made by a converter."""
    if kind(node) != "Call":
        return False
    while kind(node) in ("Call", "Attribute") and not hasattr(node, "origin"):
        node = getattr(node, "func", None) or node.value
    return kind(node) == "Name" and not hasattr(node, "origin")


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _depth(text: str) -> int:
    """By how many brackets a text leads inwards."""
    return sum(map(text.count, "([{")) - sum(map(text.count, ")]}"))


def _in_order(slots: Sequence[Slot], start: Place, end: Place) -> bool:
    """Whether slots lie one after the other between two places."""
    places = [start, *(place for slot in slots for place in (slot.start, slot.end)), end]
    return places == sorted(places)
