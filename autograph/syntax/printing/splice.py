"""Prints expressions: copies unchanged parts of the user's text, and splices changed ones in.

A parsed node with replaced children is printed as its own text, with the text of the new children in place of the old.
Only if its shape changed (another argument, another operator) does `Unparser` print it afresh; even then, the nodes
below are copied or spliced.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterable, Sequence

import gast

from autograph.common.parsing import parse
from autograph.common.printing import literals, precedence
from autograph.common.printing.precedence import kind
from autograph.common.printing.unparse import Unparser
from autograph.syntax.bridge import to_gast
from autograph.syntax.lines import Brackets, Lines, Place, column, padding
from autograph.syntax.origin import untouched
from autograph.syntax.printing.slots import Slot, Slots, depth, gaps, in_order, in_word

_COMMENT = re.compile(r"#[^\n]*")
_JOINTS = re.compile(r"(?:[\s\\(),<>=!]|\b(?:and|or|not|in|is)\b)*")
_LINES = (ast.stmt, ast.excepthandler)
_FAR = 50  # lines; parts that are further apart belong to different statements
_OPENING_QUOTE = re.compile(r"[a-zA-Z]*('''|\"\"\"|'|\")")


class Splicer(Unparser):
    """Prints expressions.

    Args:
        lines: the lines of the user's file.
        strings: the lines that begin inside a string.
    """

    def __init__(self, lines: Sequence[str], strings: frozenset[int]) -> None:
        super().__init__()
        self.lines = Lines(lines)
        self.strings = strings
        self.memo: dict[int, bool] = {}
        self.slots = Slots(self.memo)
        self.in_verified_fstring = False

    # -- the user's text -----------------------------------------------------------------------------------

    def copy(self, start: Place, end: Place, brackets: Brackets | None) -> None:
        """Print the text between two places; lines aligned with a bracket stay aligned."""
        if brackets is None:
            self.write(self.lines.between(start, end))
            return
        lines = self.lines.between(start, end).split("\n")
        typed = column(self.lines[start[0]], start[1])
        fixed = [number in self.strings for number in range(start[0], end[0] + 1)]
        self.write(brackets.move(lines, typed, _width(self.out), fixed))

    def brackets(self, node: gast.AST) -> Brackets | None:
        """Return the brackets for moving the text of a node; None if it is on one line."""
        origin = node.origin
        if origin.span and origin.span[0] == origin.span[2]:
            return None
        return Brackets(origin.indent, self.indent)

    def has_text(self, node: gast.AST) -> bool:
        """Whether the place of a node in the user's text is known."""
        origin = getattr(node, "origin", None)
        if origin is None or origin.span is None:
            return False
        return self.in_verified_fstring or not origin.in_fstring

    # -- expressions ---------------------------------------------------------------------------------------

    def dispatch(self, tree: gast.AST) -> None:
        """Copy, splice or print a node that is not a statement."""
        if not self.has_text(tree):
            self.print_afresh(tree)
        elif untouched(tree, self.memo):
            span = tree.origin.span
            self.copy(span[:2], span[2:], self.brackets(tree))
        elif kind(tree) == "JoinedStr":
            self.fstring(tree)
        elif (slots := self.slots.of(tree)) is not None:
            self.splice(tree, slots, tree.origin.span[:2], tree.origin.span[2:])
        else:
            self.print_afresh(tree)

    def place(self, node: gast.AST, level: int) -> None:
        """Print an expression; a tuple's own parentheses are part of its text."""
        if kind(node) == "Tuple" and self.has_own_parentheses(node):
            self.dispatch(node)
        else:
            super().place(node, level)

    def is_link(self, node: gast.AST, level: int) -> bool:
        """Whether an operand is an operation to print afresh, without parentheses."""
        return super().is_link(node, level) and not self.has_text(node)

    def has_own_parentheses(self, node: gast.AST) -> bool:
        """Whether a tuple will be printed as typed, in parentheses."""
        slots = self.slots.of(node) if len(node.elts) > 1 and self.has_text(node) else None
        if not slots:
            return False
        first, *others, _ = gaps(self.lines, slots, node.origin.span[:2], node.origin.span[2:])
        depths = itertools.accumulate(map(depth, "".join(others)), initial=first.count("("))
        return min(depths) > 0

    def part(self, owner: gast.AST, field: str, node: gast.AST) -> None:
        """Print a part of a node; of a statement, in parentheses if it would otherwise end the line early."""
        mark = len(self.out)
        super().part(owner, field, node)
        if _ends_at_line_feed(owner):
            self.keep_together(mark)

    def keep_together(self, mark: int) -> None:
        """Parenthesize the text since `mark` if a line feed outside of brackets would end it early."""
        text = "".join(self.out[mark:])
        if "\n" in text and _needs_parentheses(text):
            self.out.insert(mark, "(")
            self.write(")")

    def places(self, nodes: Iterable[gast.AST]) -> None:
        """Print expressions in brackets; on lines of their own, with the comments between, if the user did so."""
        nodes = list(nodes)
        extents = map(self.extent, nodes if len(nodes) > 1 else ())
        breaks = [self.line_break(*pair) for pair in itertools.pairwise(extents)]
        margin = f"\n{padding(_width(self.out), self.indent)}" if any(breaks) else ""
        for node, lines in itertools.zip_longest(nodes, breaks):
            self.place(node, precedence.TEST)
            if lines is not None:
                self.write("," + margin.join(lines) if lines else ", ")

    def extent(self, node: gast.AST) -> tuple[Place, Place] | None:
        """Return the begin and end of a node in the user's text, or of its parsed parts; None if it has none."""
        if self.has_text(node):
            return node.origin.span[:2], node.origin.span[2:]
        parts = [part for part in map(self.extent, gast.iter_child_nodes(node)) if part]
        return (min(parts)[0], max(end for _, end in parts)) if parts else None

    def line_break(self, left: tuple[Place, Place] | None, right: tuple[Place, Place] | None) -> list[str]:
        """Return the line ends between two expressions if the second was typed below the first; else []."""
        if self.in_verified_fstring or left is None or right is None:
            return []
        if not 0 < right[0][0] - left[1][0] < _FAR:
            return []
        lines = self.lines.between(left[1], right[0]).split("\n")
        if not _JOINTS.fullmatch(_COMMENT.sub("", "\n".join(lines))):
            return []
        comments = [found[0].rstrip() if (found := _COMMENT.search(line)) else "" for line in lines]
        return ["  " * bool(comments[0]) + comments[0], *filter(None, comments[1:]), ""]

    # -- splicing ------------------------------------------------------------------------------------------

    def splice(self, node: gast.AST, slots: Sequence[Slot], start: Place, end: Place) -> None:
        """Print the text from `start` to `end`, with the new contents of the slots."""
        slots = self.slots.expanded(slots)
        texts = gaps(self.lines, slots, start, end)
        brackets = self.brackets(node)
        position, inside = start, 0
        for slot, before, after in zip(slots, texts, texts[1:]):
            inside += depth(before)
            if slot.now is slot.was and untouched(slot.now, self.memo):
                continue
            (line, left), (last, right) = slot.start, slot.end
            drop = slot.drops_parentheses(before, after) - slot.is_lone_generator()  # which shares the call's
            self.copy(position, (line, left - drop), brackets)
            mark = len(self.out)
            self.fill_slot(slot, before, after)
            if inside == 0 and _ends_at_line_feed(node):
                self.keep_together(mark)
            position = (last, right + drop)
        self.copy(position, end, brackets)

    def fill_slot(self, slot: Slot, before: str, after: str) -> None:
        """Print the contents of a slot between two texts, separated from adjacent words."""
        mark = len(self.out)
        if kind(slot.now) != "Tuple" and slot.is_parenthesized(before, after):
            self.dispatch(slot.now)
        else:
            self.place(slot.now, slot.level)
        if in_word(before[-1:]) and in_word(self.out[mark][:1]):  # as in `return-x`
            self.out.insert(mark, " ")
        if in_word(after[:1]) and in_word(self.out[-1][-1:]):
            self.write(" ")

    # -- f-strings -----------------------------------------------------------------------------------------

    def fstring(self, node: gast.AST) -> None:
        """Splice a changed f-string if the result parses to the tree, else print it afresh.

        Until Python 3.12 positions inside f-strings are often wrong, and a new part may contain the wrong quotes.
        """
        start, end = node.origin.span[:2], node.origin.span[2:]
        found = _OPENING_QUOTE.match(self.lines.between(start, end))
        quote = found[1] if found else "'"
        outer, mark = (self.quoting, self.in_verified_fstring), len(self.out)
        self.quoting, self.in_verified_fstring = self.quoting.inside(quote), True
        slots = self.slots.of(node)
        try:
            if slots is None or not in_order(slots, start, end):
                raise literals.UnprintableError
            self.splice(node, slots, start, end)
            good = outer[1] or _parses_to("".join(self.out[mark:]), node)
        except literals.UnprintableError:
            good = False
        self.quoting, self.in_verified_fstring = outer
        if not good:
            del self.out[mark:]
            quoting = literals.Quoting(self.quoting.outer, preferred=quote)
            self.write(literals.fstring(node, self.in_fstring, quoting))

    def inner(self, quoting: literals.Quoting) -> Unparser:
        """Return a printer for an expression inside an f-string, where the user's text may not fit."""
        return Unparser(quoting)


def _width(pieces: Sequence[str]) -> int:
    """Return the width of the last line of a text."""
    width = 0
    for piece in reversed(pieces):
        width += len(piece) - piece.rfind("\n") - 1
        if "\n" in piece:
            break
    return width


def _ends_at_line_feed(node: gast.AST) -> bool:
    """Whether a line feed outside of brackets would end a node."""
    return isinstance(node, _LINES) or kind(node) in ("match_case", "withitem")


def _needs_parentheses(text: str) -> bool:
    """Whether an expression of several lines would fall apart without parentheses."""
    try:
        return len(parse(f"_ = {text}").body) != 1
    except SyntaxError:
        return True


def _parses_to(text: str, node: gast.AST) -> bool:
    """Whether a text parses to this expression."""
    try:
        return bool(gast.dump(to_gast(parse(f"({text}\n)", mode="eval").body)) == gast.dump(node))
    except SyntaxError:
        return False
