"""Prints a converted tree, and keeps the user's wording, comments, blank lines and layout.

An unchanged statement is copied, and only re-indented. Of a changed one, the text that still holds is kept: simple
statements and headers are spliced (see `splice`), blocks are printed statement by statement. `Unparser` prints new
nodes. Comments and blank lines come from `node.comments`, to wherever converters moved them.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Sequence

import gast

from autograph.common.printing.precedence import TEST, kind
from autograph.common.printing.unparse import shown
from autograph.syntax.lines import Lines, Place, comments, reindented
from autograph.syntax.origin import BLOCKS, NO_COMMENTS, Comments, StatementOrigin, TreeOrigin, fields, untouched
from autograph.syntax.printing.splice import Splicer
from autograph.syntax.source import Source

_DEFINITIONS = ("FunctionDef", "AsyncFunctionDef", "ClassDef")
_BLOCK_OF = {"": "body", "else": "orelse", "finally": "finalbody"}


def to_text(tree: gast.AST, source: Source) -> str:
    """Print a tree or a part of it, not indented.

    Args:
        tree: a `Module`, a statement or an expression; converted, or as parsed.
        source: the source that it was parsed from.

    Returns:
        The text; that of a module or statement ends with a line feed. It does not include the comments before and after
            a
        single statement.
    """
    origin: TreeOrigin = source.tree.origin
    printer = Printer(source.lines, origin.strings)
    printer.unit = origin.unit or printer.unit
    if isinstance(tree, ast.mod):
        printer.comment_lines(_comments(tree).before)
    if isinstance(tree, ast.mod | ast.stmt):
        printer.dispatch(tree)
        return printer.text()[1:] + "\n"
    printer.place(tree, TEST)
    printer.keep_together(0)
    return printer.text()


class Printer(Splicer):
    """Prints statements, blocks and comments."""

    def __init__(self, lines: Sequence[str], strings: frozenset[int]) -> None:
        super().__init__(lines, strings)
        self.same_line = ""  # the separator before the next statement, if it goes on the current line
        self.printed: dict[int, int] = {}  # by statement: how many of its comments are printed around the header above

    def fill(self, text: str = "") -> None:
        """Begin a line, or continue the current one."""
        self.write((self.same_line or f"\n{self.indent}") + text)
        self.same_line = ""

    def comment_lines(self, lines: Sequence[str]) -> None:
        """Print comment and blank lines."""
        for line in lines:
            self.write(f"\n{self.indent}{line}" if line else "\n")

    # -- blocks --------------------------------------------------------------------------------------------

    def block(self, owner: gast.AST, body: Sequence[gast.AST]) -> None:
        """Print statements with the comments and blank lines between them."""
        previous = None
        for node in shown(body):
            if previous is not None and _continues_line(previous, node):
                self.same_line = "; "
            elif not self.same_line:
                self.comment_lines(self.lines_before(node, owner, previous))
            mark = len(self.out)
            self.dispatch(node)
            self.restore_comments(node, mark)
            self.comment_lines(_comments(node).after)
            previous = node

    def lines_before(self, node: gast.AST, owner: gast.AST, previous: gast.AST | None) -> Sequence[str]:
        """Return the comment and blank lines to print before a statement."""
        lines = _comments(node).before[self.printed.pop(id(node), 0) :]
        if previous is None:
            if not hasattr(owner, "origin"):  # no blank line above the first statement of a block
                lines = tuple(itertools.dropwhile(lambda line: not line, lines))
        elif kind(node) in _DEFINITIONS and not hasattr(node, "origin"):
            if lines[:1] != ("",) and self.out[-1] != "\n":
                lines = ("", *lines)
        return lines

    def restore_comments(self, node: gast.AST, mark: int) -> None:
        """Print the comments that a rewriting lost above the statement, whose text begins at `mark`."""
        inside = _comments(node).inside
        lost = set(inside).difference(comments("".join(self.out[mark:]))) if inside else inside
        if lost and self.out[mark].startswith("\n"):
            above = comments("".join(self.out[:mark]))  # for example, where the test of a `while` goes
            lines = [comment for comment in inside if comment in lost and comment not in above]
            self.out[mark:mark] = [f"\n{self.indent}{line}" for line in lines]

    def suite(self, owner: gast.AST, body: Sequence[gast.AST], keyword: str = "") -> None:
        """Print a colon and a block; on the same line if it was, and still can be."""
        if self.is_inline(owner, _BLOCK_OF[keyword]):
            self.colon(owner, keyword)
            self.same_line = " "
            self.block(owner, body)
        else:
            super().suite(owner, body, keyword)

    def is_inline(self, owner: gast.AST, field: str) -> bool:
        """Whether a block is on the line of its header: `if x: return`."""
        body = getattr(owner, field)
        first = _first_as_parsed(owner, field)
        if first is None or not first.origin.inline or not all(map(_is_simple, body)):
            return False
        if len(_comments(first).before) > self.printed.get(id(first), 0):
            return False
        return all(_continues_line(*pair) for pair in itertools.pairwise(body))

    def clause(self, node: gast.AST, prefix: str = "") -> None:
        """Print the header of a statement, handler or case, and its block, with the comments above."""
        if prefix:  # an `elif`: `block` prints all other statements
            self.comment_lines(_comments(node).before)
        elif not isinstance(node, ast.stmt):
            self.lead(node, "body")
        mark = len(self.out)
        super().clause(node, prefix)
        if prefix:
            self.restore_comments(node, mark)

    def keyword_clause(self, keyword: str, owner: gast.AST, body: Sequence[gast.AST]) -> None:
        """Print an `else` or `finally`, if there is one, with the comments above."""
        if body:
            self.lead(owner, _BLOCK_OF[keyword])
        super().keyword_clause(keyword, owner, body)

    def lead(self, owner: gast.AST, field: str) -> None:
        """Print the comments above the header of a block, if its first statement still has them."""
        first = _first_as_parsed(owner, field)
        if first is not None and first.comments == first.origin.comments:
            origin: StatementOrigin = first.origin
            self.comment_lines(origin.lead)
            self.printed[id(first)] = len([line for line in (*origin.lead, origin.lead_comment) if line])

    def colon(self, owner: gast.AST, keyword: str = "") -> None:
        """Print a colon and the comment behind it."""
        self.write(":")
        if keyword or not isinstance(owner, ast.stmt):
            first = getattr(owner, _BLOCK_OF[keyword])[0]
            if id(first) in self.printed:
                self.write(first.origin.lead_comment)
        else:
            self.trailing(owner)

    # -- statements ----------------------------------------------------------------------------------------

    def trailing(self, node: gast.AST) -> None:
        """Print the comment behind a head or a new simple statement."""
        comment = _comments(node).trailing
        if comment:
            typed: str = getattr(getattr(node, "origin", None), "comment", "")
            self.write(typed if typed.lstrip() == comment else "  " + comment)

    def dispatch(self, tree: gast.AST) -> None:
        """Print any node or list of nodes."""
        if not isinstance(tree, ast.stmt):
            super().dispatch(tree)
        elif not isinstance(getattr(tree, "origin", None), StatementOrigin):
            self.print_afresh(tree)
            if _is_simple(tree):
                self.trailing(tree)
        elif _is_simple(tree):
            self.simple(tree)
        elif not self.copies(tree):
            self.print_afresh(tree)

    def simple(self, node: gast.AST) -> None:
        """Print a simple statement of the user's, with the comment behind it."""
        slots = [] if untouched(node, self.memo) else self.slots.of(node)
        if slots is None:
            self.print_afresh(node)
        else:
            self.fill()
            self.splice(node, slots, node.origin.span[:2], node.origin.span[2:])
        self.write(node.origin.comment)

    def copies(self, node: gast.AST) -> bool:
        """Print a compound statement as it was typed, if possible; return whether it was."""
        origin: StatementOrigin = node.origin
        if not untouched(node, self.memo) or _comments(node).trailing != origin.comments.trailing:
            return False
        if self.indent != origin.indent and not _is_uniform(origin, self.lines, self.strings):
            return False
        last = node
        while not _is_simple(last):
            last = _last(last)
        assert origin.span is not None
        line, offset = origin.span[2:]
        self.fill()
        first, *others = self.lines.between(_start(node, self.lines), (line, offset)).split("\n")
        self.write(first)
        for number, text in enumerate(others, origin.first + 1):
            self.write("\n" + (text if number in self.strings else reindented(text, origin.indent, self.indent)))
        self.write(last.origin.comment)
        for text in self.lines.all[line : origin.last]:
            self.write("\n" + reindented(text.rstrip(), origin.indent, self.indent))
        return True

    def is_elif(self, orelse: Sequence[gast.AST]) -> bool:
        """Whether to print the `else` of an `if` as `elif`: as typed, or always if it is new."""
        if not super().is_elif(orelse) or _comments(orelse[0]).after:
            return False
        return not hasattr(orelse[0], "origin") or self.lines.is_elif(orelse[0])

    # -- heads ---------------------------------------------------------------------------------------------

    def head(self, node: gast.AST) -> None:
        """Print a compound statement, handler or case up to the colon."""
        names = [name for name in fields(node) if name not in BLOCKS and name != "decorator_list"]
        slots = self.slots.of(node, names) if hasattr(node, "origin") else None
        if slots is None:
            super().head(node)
        else:
            line, offset = node.origin.span[:2]
            start = (line, offset + 2 * self.lines.is_elif(node))
            self.splice(node, slots, start, self.lines.find_colon(slots[-1].end if slots else start))

    def decorators(self, node: gast.AST) -> None:
        """Print decorators, as typed if they are all there."""
        slots = self.slots.of(node, ["decorator_list"]) if hasattr(node, "origin") else None
        if not slots:
            super().decorators(node)
            return
        self.fill()
        self.splice(node, slots, _start(node, self.lines), node.origin.span[:2])
        self.out[-1] = self.out[-1].rstrip()


def _comments(node: gast.AST) -> Comments:
    comments: Comments = getattr(node, "comments", NO_COMMENTS)
    return comments


def _is_simple(node: gast.AST) -> bool:
    return not (hasattr(node, "body") or hasattr(node, "cases"))


def _is_uniform(origin: StatementOrigin, lines: Lines, strings: frozenset[int]) -> bool:
    """Whether all lines of a statement begin with its indentation, literally."""
    return all(
        lines[number].startswith(origin.indent) or number in strings or lines[number].lstrip()[:1] in ("", "#")
        for number in range(origin.first, origin.last + 1)
    )


def _start(node: gast.AST, lines: Lines) -> Place:
    """Return the begin of a statement's text, with its decorators, without the `el` of an `elif`."""
    origin: StatementOrigin = node.origin
    assert origin.span is not None
    line, offset, _, _ = origin.span
    if origin.first < line:
        return origin.first, len(origin.indent.encode())
    return (line, offset + 2) if lines.is_elif(node) else (line, offset)


def _last(node: gast.AST) -> gast.AST:
    """Return the last statement of a compound statement's last block."""
    for field in ("finalbody", "orelse", "handlers", "cases", "body"):
        if body := getattr(node, field, None):
            return body[-1] if isinstance(body[-1], ast.stmt) else body[-1].body[-1]
    raise AssertionError(f"a {kind(node)} without statements")


def _first_as_parsed(owner: gast.AST, field: str) -> gast.AST | None:
    """Return the first statement of a block, if it was the first when parsed."""
    if not hasattr(owner, "origin") or not hasattr(getattr(owner, field)[0], "origin"):
        return None
    was = owner.origin.shape[fields(owner).index(field)]
    now = getattr(owner, field)
    return now[0] if was and was[0] is now[0] else None


def _continues_line(previous: gast.AST, node: gast.AST) -> bool:
    """Whether two simple statements were on one line, as in `previous; node`."""
    before, origin = getattr(previous, "origin", None), getattr(node, "origin", None)
    if not (isinstance(before, StatementOrigin) and isinstance(origin, StatementOrigin)) or not origin.inline:
        return False
    if not (_is_simple(previous) and _is_simple(node)) or _comments(node).before or _comments(previous).after:
        return False
    assert before.span is not None and origin.span is not None
    return before.span[2] == origin.span[0] and before.span[3] <= origin.span[1]
