"""Records where each node of a parsed tree came from: its position, its original fields, the comments around it.

`record` walks a freshly parsed gast tree once. Converters may then change the tree. `untouched` tells which nodes are
still as parsed, so that the printer can copy their text, and `node.comments` of a statement moves to its replacement.

Blank lines and comments belong to the statement below them, unless they are indented like the block that ends above
them: then they belong to its last statement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeGuard, TypeVar

from .lines import Lines, Span, inner_lines


class Comments(NamedTuple):
    """The comments and blank lines of one statement; immutable, so that several statements may share it.

    Attributes:
        before: the lines between the previous statement (or block header) and this one, stripped; '' is a blank line.
            The comments on and above an `else:`, `finally:`, `except` or `case` line are `before` of the first
            statement below.
        trailing: the `# ...` behind the header of a compound statement; of new simple statements, too.
        after: the comment lines at the end of the block, if this is its last statement.
        inside: the comments inside a simple statement, or a header, of several lines. They are part of its text; if a
            rewriting loses one, it is printed above the statement.

    A line that is indented deeper than the block, such as the second line of an aligned remark, keeps the difference.
    """

    before: tuple[str, ...] = ()
    trailing: str | None = None
    after: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()


NO_COMMENTS = Comments()
AnyOrigin = TypeVar("AnyOrigin", bound="Origin")


class Origin:
    """The record of a node.

    Attributes:
        span: its position; None where Python gives none.
        shape: the values of its fields as parsed, without `ctx`, lists as tuples.
        indent: the indentation of the line on which its statement begins.
        in_fstring: whether it is inside an f-string, so that its span may be wrong.
    """

    __slots__ = ("in_fstring", "indent", "shape", "span")

    def __init__(self, span: Span | None, shape: tuple[Any, ...], indent: str, in_fstring: bool) -> None:
        self.span = span
        self.shape = shape
        self.indent = indent
        self.in_fstring = in_fstring


class StatementOrigin(Origin):
    """The record of a statement.

    Attributes:
        comments: `node.comments` as parsed.
        first: its first line, decorators included.
        last: its last line, comments at the end of its inner blocks included.
        inline: whether other code precedes it on its line: `if x: here`, `before; here`.
        comment: the `# ...` at the end of a simple statement's line, or behind a compound statement's header, with the
            white space before it; or ''.
        lead: for the first statement below `else:`, `finally:`, `except`, `case`: the comment lines above that line.
        lead_comment: the comment behind that line, with the white space before it.
    """

    comments = NO_COMMENTS
    first = 0
    last = 0
    inline = False
    comment = ""
    lead: tuple[str, ...] = ()
    lead_comment = ""


class TreeOrigin(Origin):
    """The record of a whole tree.

    Attributes:
        strings: the lines that begin inside a string, whose indentation must not change.
        unit: the indentation of the first block, or '' if it is unusual.
    """

    strings: frozenset[int] = frozenset()
    unit = ""


def record(tree: ast.AST, lines: Sequence[str]) -> None:
    """Set an `Origin` on every node of a freshly parsed gast tree, and `Comments` on every statement.

    Args:
        tree: the tree, usually a `gast.Module`, with positions in `lines`.
        lines: the lines of the file; `lines[0]` is line 1.
    """
    recorder = _Recorder(lines)
    origin = recorder.node(tree, "", TreeOrigin)
    if isinstance(tree, ast.mod) and isinstance(body := getattr(tree, "body", None), list):
        recorder.block(body, 0)
        alone = () if body else recorder.lines.above(len(lines) + 1, 0, 0)
        tree.comments = Comments(before=alone)  # type: ignore[attr-defined]
    origin.strings, origin.unit = frozenset(recorder.strings), recorder.unit or ""


def untouched(node: ast.AST, memo: dict[int, bool] | None = None) -> bool:
    """Whether `node` and all nodes below it are the parsed objects, with the parsed comments.

    Args:
        node: any node; a new one is never untouched. Its own comments do not count.
        memo: results so far; one dictionary for all calls of a walk avoids repeated walks.
    """
    memo = {} if memo is None else memo
    if id(node) not in memo:
        order: list[tuple[ast.AST, list[ast.AST] | None]] = []
        todo = [node]  # no recursion: sums can be long
        while todo:
            found = todo.pop()
            if id(found) not in memo:
                parts = _parts(found)
                order.append((found, parts))
                todo.extend(parts or ())
        for found, parts in reversed(order):
            memo[id(found)] = parts is not None and all(memo[id(part)] for part in parts)
    return memo[id(node)]


def _parts(node: ast.AST) -> list[ast.AST] | None:
    """Return the nodes directly below a node, if they are the parsed ones, else None."""
    origin = getattr(node, "origin", None)
    if origin is None:
        return None
    parts: list[ast.AST] = []
    for name, was in zip(fields(node), origin.shape):
        now = getattr(node, name, None)
        if type(was) is not tuple or type(now) is not list:
            was, now = (was,), [now]
        if len(now) != len(was):
            return None
        for one, other in zip(now, was):
            if not (one is other or (type(one) is type(other) and not isinstance(one, ast.AST) and one == other)):
                return None
            if is_node(one):
                parts.append(one)
                if isinstance(one, ast.stmt) and not _keeps_comments(one):
                    return None
    return parts


def _keeps_comments(node: ast.stmt) -> bool:
    origin = getattr(node, "origin", None)
    return isinstance(origin, StatementOrigin) and getattr(node, "comments", None) == origin.comments


_FIELDS: dict[type, tuple[str, ...]] = {}


def fields(node: ast.AST) -> tuple[str, ...]:
    """Return the fields of a node in the order of `Origin.shape`: all but `ctx`, which has no text."""
    try:
        return _FIELDS[type(node)]
    except KeyError:
        names = tuple(name for name in node._fields if name != "ctx")
        return _FIELDS.setdefault(type(node), names)


def is_node(value: object) -> TypeGuard[ast.AST]:
    """Whether the value of a field is a node with a text of its own: not an operator, not a context, not None."""
    return isinstance(value, ast.AST) and bool(value._fields or value._attributes)


BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
"""The fields with the blocks of a statement, a handler or a case."""

_HOLDERS = (ast.stmt, ast.excepthandler, ast.mod)


class _Recorder:
    """Walks blocks, statements and expressions in source order."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = Lines(lines)
        self.strings: set[int] = set()
        self.unit: str | None = None

    # -- every node but the blocks -------------------------------------------------------------------------

    def node(self, root: ast.AST, indent: str, root_type: type[AnyOrigin]) -> AnyOrigin:
        """Set the origins of `root` and the nodes in it, except in inner blocks; return that of `root`."""
        todo = [(root, False)]  # no recursion: sums can be long
        while todo:
            node, inside = todo.pop()
            kind = type(node).__name__
            blocks = BLOCKS if isinstance(node, _HOLDERS) or kind == "match_case" else ()
            inner = inside or kind == "JoinedStr"
            shape: list[Any] = []
            for name in fields(node):
                value = getattr(node, name, None)
                if type(value) is list:
                    shape.append(tuple(value))
                    if name not in blocks:
                        todo += [(child, inner) for child in value if is_node(child)]
                    continue
                shape.append(value)
                if isinstance(value, ast.AST) and is_node(value):
                    todo.append((value, inner))
            span = _span(node)
            origin_type = root_type if node is root else Origin
            node.origin = origin_type(span, tuple(shape), indent, inside)  # type: ignore[attr-defined]
            if span and span[0] != span[2] and kind in ("Constant", "JoinedStr") and not inside:
                self.note_string_lines(node, span)
        return root.origin  # type: ignore[attr-defined, no-any-return]

    def note_string_lines(self, node: ast.AST, span: Span) -> None:
        """Add the lines that begin inside the string tokens of a multi-line literal."""
        text = self.lines.between(span[:2], span[2:])
        self.strings.update(inner_lines(text, span[0], type(node).__name__ == "JoinedStr"))

    # -- statements ----------------------------------------------------------------------------------------

    def block(self, body: Sequence[ast.stmt], floor: int) -> int:
        """Record the statements of a block, all below line `floor`; return its last line."""
        for statement in body:
            floor = self.statement(statement, floor)
        if body and not _origin(body[0]).inline:
            after = self.lines.below(floor, self.lines.width(body[0].lineno))
            if after:
                _set_comments(body[-1], _origin(body[-1]).comments._replace(after=after))
                floor += len(after)
        return floor

    def statement(self, node: ast.stmt, floor: int) -> int:
        """Record one statement that follows line `floor`; return its last line."""
        origin = self.open(node, floor)
        if isinstance(getattr(node, "body", getattr(node, "cases", None)), list):
            origin.last = self.clauses(node)
        else:
            origin.last = node.end_lineno or node.lineno
            origin.comment = self.lines.comment_behind(origin.last, node.end_col_offset or 0, only=True)
            self.inside(node, origin.last)
        return origin.last

    def open(self, node: ast.stmt, floor: int) -> StatementOrigin:
        """Set the origin of a statement, and the comments above it."""
        first = self.first_line(node, floor)
        indent = self.lines.indent(node.lineno)
        inline = first == node.lineno and len(indent.encode()) < node.col_offset
        origin = self.node(node, indent, StatementOrigin)
        origin.first, origin.inline = first, inline
        before = () if inline else self.lines.above(first, floor, self.lines.width(first))
        _set_comments(node, Comments(before) if before else NO_COMMENTS)
        return origin

    def inside(self, node: ast.stmt, last: int) -> None:
        """Record the comments in a statement or header of several lines, except the one at the end."""
        origin = _origin(node)
        if last > origin.first and (found := self.lines.comments(origin.first, last)):
            found = found[:-1] if origin.comment else found
            _set_comments(node, origin.comments._replace(inside=found))

    def clauses(self, node: ast.stmt) -> int:
        """Record the blocks of a compound statement; return its last line."""
        chain = [node]
        for link in chain:  # grows by each `elif`: no recursion, there can be many
            floor = link.lineno
            for holder, body in _clauses(link):
                if holder is None and self.lines.is_elif(body[0]):
                    self.open(body[0], floor)
                    chain.append(body[0])
                else:
                    floor = self.clause(link, holder, body, floor)
        for link in chain:
            _origin(link).last = floor
        return floor

    def clause(self, node: ast.stmt, holder: ast.AST | None, body: list[ast.stmt], floor: int) -> int:
        """Record the block of `node` below the header of `holder`; return its last line."""
        if not (holder is None or holder is node):
            self.holder(holder, floor)
        end = _header_end(holder) or (floor, 0)
        if self.unit is None:
            unit = self.lines.indent(body[0].lineno).removeprefix(_origin(node).indent)
            self.unit = unit if len(unit) <= 4 else ""
        last = self.block(body, max(floor, end[0]))
        if holder is node:
            self.head(node, self.header_line(body[0]))
        else:
            top = self.lead(holder, body[0], floor, end)
            if holder in getattr(node, "cases", ())[:1]:  # a match has no block right below its own header
                self.head(node, top - 1)
        return last

    def holder(self, node: Any, floor: int) -> None:
        """Set the origin of a handler or a case. Python keeps no position of a case, so search its line."""
        if isinstance(node, ast.excepthandler):
            self.node(node, self.lines.indent(node.lineno), Origin)
            return
        line = self.lines.search_up(node.pattern.lineno, floor, "case")
        indent = self.lines.indent(line)
        end = _header_end(node) or (line, 0)
        self.node(node, indent, Origin).span = (line, len(indent.encode()), *end)

    def head(self, node: ast.stmt, header: int) -> None:
        """Record the comments in and behind a compound statement's header, which ends on line `header`, if not 0."""
        end = _header_end(node)
        if header and end:
            origin = _origin(node)
            origin.comment = self.lines.comment_behind(header, end[1] if end[0] == header else 0)
            if origin.comment:
                _set_comments(node, origin.comments._replace(trailing=origin.comment.lstrip()))
            self.inside(node, header)

    def lead(self, holder: Any, first: ast.stmt, floor: int, end: tuple[int, int]) -> int:
        """Record the comments around the header of the block that `first` begins; return their first line.

        Args:
            holder: the handler or case; None for `else` and `finally`.
            first: the first statement of the block.
            floor: the last line of the previous block.
            end: the end of the last expression in the header.
        """
        origin = _origin(first)
        header = self.header_line(first)
        comment = self.lines.comment_behind(header, end[1] if end[0] == header else 0) if header else ""
        header = holder.origin.span[0] if holder else header or first.lineno
        origin.lead, origin.lead_comment = self.lines.above(header, floor, self.lines.width(header)), comment
        moved = tuple(line.lstrip() for line in (*origin.lead, comment) if line)
        if moved:
            _set_comments(first, origin.comments._replace(before=moved + origin.comments.before))
        return header - len(origin.lead)

    def first_line(self, node: ast.stmt, floor: int) -> int:
        """Return the first line of a statement: that of its first decorator's `@`, if it has one."""
        decorators = getattr(node, "decorator_list", None)
        return self.lines.search_up(decorators[0].lineno, floor, "@") if decorators else node.lineno

    def header_line(self, first: ast.stmt) -> int:
        """Return the last line of the header of the block that `first` begins; 0 if they share a line."""
        origin = _origin(first)
        return 0 if origin.inline else origin.first - len(origin.comments.before) - 1


def _origin(node: ast.stmt) -> StatementOrigin:
    origin = node.origin  # type: ignore[attr-defined]
    assert isinstance(origin, StatementOrigin)
    return origin


def _set_comments(node: ast.stmt, comments: Comments) -> None:
    node.comments = _origin(node).comments = comments  # type: ignore[attr-defined]


def _span(node: ast.AST) -> Span | None:
    line = getattr(node, "lineno", None)
    if line is None:
        return None
    return (line, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def _clauses(node: ast.stmt) -> Iterator[tuple[ast.AST | None, list[ast.stmt]]]:
    """Yield the blocks of a compound statement in source order, each with the node that has the header above it."""
    if (body := getattr(node, "body", None)) is not None:
        yield node, body
    for holder in [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]:
        yield holder, holder.body
    for body in (getattr(node, "orelse", None), getattr(node, "finalbody", None)):
        if body:
            yield None, body


def _header_end(node: ast.AST | None) -> tuple[int, int] | None:
    """Return the end of the last expression of a header, or the begin of the statement."""
    if node is None:
        return None
    ends = [span[:2]] if (span := _span(node)) else []
    for name in fields(node):
        value = getattr(node, name, None) if name not in BLOCKS else None
        for part in value if type(value) is list else (value,):
            if is_node(part) and (end := (_span(part) or ())[2:] or _header_end(part)):
                ends.append(end)
    return max(ends, default=None)
