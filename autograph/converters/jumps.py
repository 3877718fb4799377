"""Replaces `return`, `break`, `continue` and loop `else`, so that no jump leaves a body that becomes a function.

The result is still Python, with one change of meaning: in the body of a converted loop or `if`, a bare `return`
leaves that body. There are three ways to replace a jump out of a converted `if`:

* If the rest of the block can move into the branch that completes, the branches simply return. `node.returns` marks an
  `if` that becomes `return ag__.if_stmt(...)`.
* A jump out of a loop's body sets a flag that the loop tests, `node.until`: `break_`, or `do_return` with `retval_`.
* If both branches may complete, the jump sets its flag, and `if not flag` guards the statements that follow.

Behind a statement that may have set `do_return` comes `if do_return: return retval_`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import gast

from autograph.converters.context import plain
from autograph.converters.context.base import Context, move_comments
from autograph.syntax import template, trees
from autograph.syntax.origin import NO_COMMENTS

Flags = dict[str, None]  # an ordered set of flag names


@dataclass
class _JumpContext:
    """How jumps leave the code at hand.

    `kind`: 'function' (the user's own function, or a branch that returns from it), 'loop' (the body of a converted
    loop), or 'branch' (a branch of an `if` with statements behind it).
    """

    kind: str
    tail: bool = True  # nothing follows but the end of the function
    depth: int = 0  # the number of branches into which the rest of blocks has moved
    in_loop: bool = False
    native_loop: bool = False  # directly in a loop that stays plain, and so keeps its `break` and `continue`
    loop_flags: dict[str, str] = field(default_factory=dict)  # 'break' and 'continue' of the converted loop around
    used: Flags = field(default_factory=dict)  # flags that this generated function sets
    raised: Flags = field(default_factory=dict)  # flags that stop the statements behind this block

    @property
    def returns_directly(self) -> bool:
        """Whether a set `do_return` can become a `return` here."""
        return self.kind == "function" and self.tail


def restructure(function: gast.AST, context: Context) -> None:
    """Replace the jumps of a function whose statements are marked (see `plain.mark`)."""
    function.body = _Restructure(context).block(function.body, _JumpContext("function"))


class _Restructure:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.return_flags: tuple[str, str] | None = None  # the names do_return and retval_, once needed

    def block(self, statements: list[Any], where: _JumpContext) -> list[Any]:
        out: list[Any] = []
        immovable_suffixes = _immovable_suffixes(statements) if where.kind == "function" else None
        for i, node in enumerate(statements):
            if immovable_suffixes and immovable_suffixes[i + 1] and node.jumps:
                plain.keep_plain(node, f"`return`, and what follows cannot move: {immovable_suffixes[i + 1]}")
            if type(node) in plain.JUMPS and (isinstance(node, gast.Return) or not where.native_loop):
                out += self.leave(node, where)
            elif isinstance(node, gast.If) and node.plain is None and node.jumps:
                return out + self.branch(node, statements[i + 1 :], where)
            else:
                last = i == len(statements) - 1
                new, after, raised = self.statement(node, where if last else replace(where, tail=False))
                if raised or after:
                    return out + self.follow(new, raised, [*after, *statements[i + 1 :]], where)
                out += new
        return out

    def body(self, statements: list[Any], where: _JumpContext) -> list[Any]:
        """Return the body of a generated function; it needs no `return` at its end."""
        out = self.block(statements, where)
        if out and isinstance(out[-1], gast.Return) and out[-1].value is None and where.kind != "function":
            _hide_last(out)
        return out or [gast.Pass()]

    # Jumps

    def leave(self, node: Any, where: _JumpContext) -> list[Any]:
        """Return the statements that replace a jump."""
        jump = plain.JUMPS[type(node)]
        if jump == "return" and where.in_loop:
            why = "the loop stays plain" if where.kind == "function" else None
            self.context.decide(node, "return in a loop", why)
        if where.kind == "function":
            return [node]
        if jump == "return":
            flag, value = self.names()
            result = node.value if node.value is not None else template.constant(None)
            # the value first: computing it may raise
            new = [template.assign(value, result), template.assign(flag, template.constant(True))]
        elif jump == "break" or where.kind == "branch":
            if jump not in where.loop_flags:
                where.loop_flags[jump] = self.context.namer.fresh(f"{jump}_")
            flag = where.loop_flags[jump]
            new = [template.assign(flag, template.constant(True))]
        else:
            flag, new = None, []
        if flag is not None:
            where.used[flag] = None
        return _place_at([*new, gast.Return(None)], node)

    def names(self) -> tuple[str, str]:
        if self.return_flags is None:
            self.return_flags = self.context.namer.fresh("do_return"), self.context.namer.fresh("retval_")
        return self.return_flags

    # An `if` that a jump leads out of

    def branch(self, node: Any, rest: list[Any], where: _JumpContext) -> list[Any]:
        if where.depth >= plain.MAX_DEPTH:
            for statement in (node, *rest):
                plain.keep_plain(statement, f"it is behind more than {plain.MAX_DEPTH} early exits")
            return self.block([node, *rest], where)
        unreachable: list[Any] = []
        may_complete = plain.block_may_complete(node.body), plain.block_may_complete(node.orelse)
        if not any(may_complete):
            unreachable, rest = rest, []
        elif rest and not all(may_complete):
            (node.body if may_complete[0] else node.orelse).extend(rest)
            rest = []
        deeper = replace(where, depth=where.depth + 1)
        node.may_complete = plain.may_complete(node)
        if not rest and (where.tail or not node.may_complete):
            new = self.last(node, replace(deeper, tail=True), where.tail and not unreachable)
            return new + self.block(unreachable, where)
        inside = replace(deeper, kind="branch", tail=True, used={}, raised={})
        self.branches(node, inside)
        where.used.update(inside.used)
        return self.follow([node], inside.used, rest, where)

    def branches(self, node: Any, inside: _JumpContext) -> None:
        node.body = self.body(node.body, inside)
        node.orelse = self.body(node.orelse, inside) if node.orelse else []

    def last(self, node: Any, inside: _JumpContext, at_end: bool) -> list[Any]:
        """Return an `if` with nothing behind it: its branches leave as the code around it does."""
        node.returns = inside.kind == "function"
        self.branches(node, inside)
        return [node] if node.returns or at_end else [node, *_place_at([gast.Return(None)], node, comments=False)]

    def follow(self, new: list[Any], raised: Flags, rest: list[Any], where: _JumpContext) -> list[Any]:
        """Return statements that may set the flags `raised`, then `rest`, guarded by the flags."""
        if not raised:
            return new + self.block(rest, where)
        if where.returns_directly:
            flag, value = self.names()
            leave = [trees.at_header(gast.Return(template.name(value)), new[-1])]
            plain.summarize_all(leave, self.context)
            new = [_insert_before(template.assign(flag, template.constant(False)), new[0]), *new]
            guard = self.guard(template.name(flag), leave, rest)
        else:
            where.raised.update(raised)
            if not rest:
                return new
            guard = self.guard(gast.UnaryOp(gast.Not(), any_of(raised)), rest, [])
        trees.at_header(guard, new[-1])
        if guard.plain is not None and where.returns_directly:
            guard.orelse = []
            return new + self.block([guard, *rest], where)
        return new + self.block([guard], where)

    def guard(self, test: gast.AST, body: list[Any], orelse: list[Any]) -> Any:
        guard = gast.If(test, body, orelse)
        plain.summarize(guard, self.context)
        guard.plain = guard.immovable and f"what it guards cannot move: {guard.immovable}"
        guard.returns, guard.construct = False, None
        return guard

    # Other statements

    def statement(self, node: Any, where: _JumpContext) -> tuple[list[Any], list[Any], Flags]:
        """Return the new statement, the statements to put behind it, and the flags that it may set."""
        if isinstance(node, plain.LOOPS):
            return self.loop(node, where)
        raised: Flags = {}
        left: Flags = {}  # set in the body of a `try`; its `else` then must not run
        for block in trees.own_blocks(node):
            if left and block is node.orelse:
                guard = self.guard(gast.UnaryOp(gast.Not(), any_of(left)), [*block], [])
                block[:] = [trees.at_header(guard, node)]
            if block is getattr(node, "finalbody", None):
                always_returns = where.kind == "function" and not plain.block_may_complete(block)
                if always_returns and plain.block_jumps(block) == {"return"}:
                    for inner in trees.own_statements(block):
                        inner.drops = bool(isinstance(inner, gast.If) and inner.jumps)
                else:
                    for inner in block:
                        plain.keep_plain(inner, "a jump out of `finally` drops exceptions")
            inside = replace(where, tail=where.tail and _runs_last(node, block), raised={})
            block[:] = self.block(block, inside)
            raised.update(inside.raised)
            if isinstance(node, (gast.Try, gast.TryStar)) and block is node.body and node.orelse:
                left.update(inside.raised)
        return [node], [], raised

    def loop(self, node: Any, where: _JumpContext) -> tuple[list[Any], list[Any], Flags]:
        if node.plain is not None:
            inside = replace(where, tail=False, in_loop=True, native_loop=True)
            node.body = self.block(node.body, inside)
            orelse = replace(where, tail=False, raised={})
            node.orelse = self.block(node.orelse, orelse)
            return [node], [], orelse.raised
        inside = _JumpContext("loop", in_loop=True, depth=where.depth)
        node.body = self.body(node.body, inside)
        break_, continue_ = inside.loop_flags.get("break"), inside.loop_flags.get("continue")
        if continue_ is not None:
            node.body[:0] = _place_at([template.assign(continue_, template.constant(False))], node, comments=False)
        raised = {flag: None for flag in inside.used if flag not in (break_, continue_)}
        node.until = [flag for flag in inside.used if flag != continue_]
        after, node.orelse = node.orelse, []
        if after and break_ is not None:
            after = [self.guard(gast.UnaryOp(gast.Not(), template.name(break_)), after, [])]
            trees.at_header(after[0], node)
        where.used.update(raised)
        begin = [] if break_ is None else [_insert_before(template.assign(break_, template.constant(False)), node)]
        return [*begin, node], after, raised


def _runs_last(node: Any, block: list[Any]) -> bool:
    """Whether no other code of `node` runs after this block."""
    if isinstance(node, (gast.Try, gast.TryStar)):
        return block is not node.finalbody and not (block is node.body and node.orelse)
    return True


def _immovable_suffixes(statements: list[Any]) -> list[str | None]:
    """Return for each index the reason why the statements from there on cannot move, or None."""
    reasons: list[str | None] = [None]
    for node in reversed(statements):
        reasons.append(node.immovable or reasons[-1])
    return reasons[::-1]


def any_of(flags: Flags | list[str]) -> gast.AST:
    """Return `a or b or c`."""
    loads = [template.name(flag) for flag in flags]
    return loads[0] if len(loads) == 1 else gast.BoolOp(gast.Or(), loads)


def _hide_last(block: list[Any]) -> None:
    """Let the last statement be compiled but not printed: debuggers see its line run. Its comments are printed."""
    block[-1].silent = True
    comments = getattr(block[-1], "comments", NO_COMMENTS)
    lines = (*comments.before, *([comments.trailing] if comments.trailing else []), *comments.after)
    if len(block) > 1 and any(lines):
        there = getattr(block[-2], "comments", NO_COMMENTS)
        block[-2].comments = there._replace(after=there.after + lines)


def _insert_before(new: Any, node: Any) -> Any:
    """Place a new statement in front of `node`, and move the comments above `node` and behind its header above the new
    one.
    """
    comments = getattr(node, "comments", NO_COMMENTS)
    header = (comments.trailing,) if comments.trailing else ()
    new.comments = NO_COMMENTS._replace(before=comments.before + header)
    node.comments = comments._replace(before=(), trailing=None)
    return gast.copy_location(new, node)


def _place_at(nodes: list[Any], at: gast.AST, comments: bool = True) -> list[Any]:
    """Give new statements the position and, if `comments`, the comments of `at`."""
    for node in nodes:
        gast.copy_location(node, at)
    if comments:
        move_comments(at, [node for node in nodes if not isinstance(node, gast.Return)] or nodes)
    return nodes
