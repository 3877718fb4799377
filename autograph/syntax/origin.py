"""Where every node of a parsed tree came from: its place, its shape at parse time, the comments around it.

`record` walks a freshly parsed gast tree once. From then on converters may mutate the tree as they like:
`untouched` tells which nodes are still exactly what the user typed, so that the printer can copy their text,
and `node.comments` (on statements) travels with whatever replaces a statement.

Blank lines and comments are the property of the statement that follows them, unless they are indented with
the block that ends above them: then they belong to its last statement.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, TypeGuard, TypeVar

from .lines import Lines, Span, inner_lines


class Comments(NamedTuple):
    """The comments and blank lines of one statement; immutable, so that moving it is sharing it.

    Attributes:
        before: the lines between the previous statement (or block header) and this one, stripped; '' is a
            blank line. What stands on or above an `else:`, `finally:`, `except` or `case` line counts as
            `before` of the first statement below it.
        trailing: the `# ...` behind a compound statement's header, if any; on new simple statements, too.
        after: the comment lines that end the block, if this is the block's last statement.
        inside: the comments inside a simple statement, or a compound one's head, of several lines. They are part of
            its text; those that get lost in a rewriting are printed above it.

    What is indented deeper than the block, as the second line of an aligned remark is, keeps the difference.
    """

    before: tuple[str, ...] = ()
    trailing: str | None = None
    after: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()


NO_COMMENTS = Comments()
AnyOrigin = TypeVar("AnyOrigin", bound="Origin")


class Origin:
    """What `record` knows of a node: `span` (None where Python gives no place), `shape` (its fields' values
    then, lists as tuples, without `ctx`), `indent` (white space before the line its statement begins on), and
    `in_fstring`: its span is not to be trusted, because it stands inside an f-string.
    """

    __slots__ = ("in_fstring", "indent", "shape", "span")

    def __init__(self, span: Span | None, shape: tuple[Any, ...], indent: str, in_fstring: bool) -> None:
        self.span = span
        self.shape = shape
        self.indent = indent
        self.in_fstring = in_fstring


class StatementOrigin(Origin):
    """The origin of a statement.

    Attributes:
        comments: `node.comments` as recorded.
        first: the line it begins on, decorators included.
        last: the line it ends on, comments at the end of its inner blocks included.
        inline: it shares its line with what precedes it: `if x: here`, `before; here`.
        comment: the `# ...` at the end of a simple statement's line, or behind a compound statement's header,
            with the space before it; or ''.
        lead: for the first statement below `else:`, `finally:`, `except`, `case`: the lines above that.
        lead_comment: ... and the comment behind it, with the space before.
    """

    comments = NO_COMMENTS
    first = 0
    last = 0
    inline = False
    comment = ""
    lead: tuple[str, ...] = ()
    lead_comment = ""


class TreeOrigin(Origin):
    """A whole tree's origin; `strings` are the lines that begin inside a string, not to be re-indented; `unit` is
    what the first block is indented by, if that is not unusual ('' then).
    """

    strings: frozenset[int] = frozenset()
    unit = ""


def record(tree: ast.AST, lines: Sequence[str]) -> None:
    """Put an `Origin` on every node of a freshly parsed gast tree, and `Comments` on every statement.

    Args:
        tree: the tree, usually a `gast.Module`; its positions are those of `lines`.
        lines: the lines of the file, `lines[0]` being line 1.
    """
    recorder = _Recorder(lines)
    origin = recorder.node(tree, "", TreeOrigin)
    if isinstance(tree, ast.mod) and isinstance(body := getattr(tree, "body", None), list):
        recorder.block(body, 0)
        alone = () if body else recorder.lines.above(len(lines) + 1, 0, 0)
        tree.comments = Comments(before=alone)  # type: ignore[attr-defined]
    origin.strings, origin.unit = frozenset(recorder.strings), recorder.unit or ""


def untouched(node: ast.AST, memo: dict[int, bool] | None = None) -> bool:
    """Whether `node` and all below it are the very objects that were parsed, with the comments recorded.

    Args:
        node: any node; one without origin is never untouched. Its own comments are not looked at.
        memo: share one dictionary between the calls of one walk, and no tree is looked at twice.
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
    """The nodes right below a node, if they are those that were parsed, else None."""
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
    """The fields of a node in the order of `Origin.shape`: all but `ctx`, which has no text of its own."""
    try:
        return _FIELDS[type(node)]
    except KeyError:
        names = tuple(name for name in node._fields if name != "ctx")
        return _FIELDS.setdefault(type(node), names)


def is_node(value: object) -> TypeGuard[ast.AST]:
    """Whether a field's value is a node that says something: not an operator, not a context, not None."""
    return isinstance(value, ast.AST) and bool(value._fields or value._attributes)


BLOCKS = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
"""The fields that hold the blocks of a statement, a handler or a case."""

_HOLDERS = (ast.stmt, ast.excepthandler, ast.mod)


class _Recorder:
    """Walks blocks, statements and expressions in source order; looks at each line a few times at most."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = Lines(lines)
        self.strings: set[int] = set()
        self.unit: str | None = None

    # -- every node but the blocks -------------------------------------------------------------------------

    def node(self, root: ast.AST, indent: str, root_type: type[AnyOrigin]) -> AnyOrigin:
        """Give `root` and its parts an origin; inner blocks are left to `block`."""
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
        """Note the lines that begin inside a string token of a multi-line literal."""
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
        """Give a statement its origin and the comments above it."""
        first = self.first_line(node, floor)
        indent = self.lines.indent(node.lineno)
        inline = first == node.lineno and len(indent.encode()) < node.col_offset
        origin = self.node(node, indent, StatementOrigin)
        origin.first, origin.inline = first, inline
        before = () if inline else self.lines.above(first, floor, self.lines.width(first))
        _set_comments(node, Comments(before) if before else NO_COMMENTS)
        return origin

    def inside(self, node: ast.stmt, last: int) -> None:
        """Note the comments on the lines of a statement or head of several lines, except the one at the end."""
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
        """Record a block of `node`, that which stands below the header of `holder`; return its last line."""
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
        """Give a handler or a case its origin; of a case, whose place Python does not keep, find the line."""
        if isinstance(node, ast.excepthandler):
            self.node(node, self.lines.indent(node.lineno), Origin)
            return
        line = self.lines.search_up(node.pattern.lineno, floor, "case")
        indent = self.lines.indent(line)
        end = _header_end(node) or (line, 0)
        self.node(node, indent, Origin).span = (line, len(indent.encode()), *end)

    def head(self, node: ast.stmt, header: int) -> None:
        """Note the comments in and behind a compound statement's head, which ends on line `header`, if not 0."""
        end = _header_end(node)
        if header and end:
            origin = _origin(node)
            origin.comment = self.lines.comment_behind(header, end[1] if end[0] == header else 0)
            if origin.comment:
                _set_comments(node, origin.comments._replace(trailing=origin.comment.lstrip()))
            self.inside(node, header)

    def lead(self, holder: Any, first: ast.stmt, floor: int, end: tuple[int, int]) -> int:
        """Note what stands around the header of the block that `first` begins; return the first line of it.

        Args:
            holder: the handler or case; None for `else` and `finally`.
            first: the block's first statement.
            floor: the last line of the block before.
            end: where the last expression in the header ends.
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
        """The first line of a statement: its first decorator's `@`, if it has any."""
        decorators = getattr(node, "decorator_list", None)
        return self.lines.search_up(decorators[0].lineno, floor, "@") if decorators else node.lineno

    def header_line(self, first: ast.stmt) -> int:
        """The line that ends the header of the block that `first` begins; 0 if they share a line."""
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
    """The blocks of a compound statement in source order, each with the node whose header stands above it."""
    if (body := getattr(node, "body", None)) is not None:
        yield node, body
    for holder in [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]:
        yield holder, holder.body
    for body in (getattr(node, "orelse", None), getattr(node, "finalbody", None)):
        if body:
            yield None, body


def _header_end(node: ast.AST | None) -> tuple[int, int] | None:
    """Where the last expression of a header ends, or where the statement begins."""
    if node is None:
        return None
    ends = [span[:2]] if (span := _span(node)) else []
    for name in fields(node):
        value = getattr(node, name, None) if name not in BLOCKS else None
        for part in value if type(value) is list else (value,):
            if is_node(part) and (end := (_span(part) or ())[2:] or _header_end(part)):
                ends.append(end)
    return max(ends, default=None)
