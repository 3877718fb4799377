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
class _Exits:
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
    set_flags: Flags = field(default_factory=dict)  # flags that stop the statements behind this block

    @property
    def returns_directly(self) -> bool:
        """Whether a set `do_return` can become a `return` here."""
        return self.kind == "function" and self.tail


def restructure(function: gast.AST, context: Context) -> None:
    """Replace the jumps of a function whose statements are marked (see `plain.mark`)."""
    function.body = _Restructure(context).block(function.body, _Exits("function"))


class _Restructure:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.return_flags: tuple[str, str] | None = None  # the names do_return and retval_, once needed

    def block(self, statements: list[Any], exits: _Exits) -> list[Any]:
        out: list[Any] = []
        immovable_suffixes = _immovable_suffixes(statements) if exits.kind == "function" else None
        for i, node in enumerate(statements):
            if immovable_suffixes and immovable_suffixes[i + 1] and node.jumps:
                plain.keep_plain(node, f"`return`, and what follows cannot move: {immovable_suffixes[i + 1]}")
            if type(node) in plain.JUMPS and (isinstance(node, gast.Return) or not exits.native_loop):
                out += self.leave(node, exits)
            elif isinstance(node, gast.If) and node.plain is None and node.jumps:
                return out + self.branch(node, statements[i + 1 :], exits)
            else:
                last = i == len(statements) - 1
                new, after, set_flags = self.statement(node, exits if last else replace(exits, tail=False))
                if set_flags or after:
                    return out + self.follow(new, set_flags, [*after, *statements[i + 1 :]], exits)
                out += new
        return out

    def body(self, statements: list[Any], exits: _Exits) -> list[Any]:
        """Return the body of a generated function; it needs no `return` at its end."""
        out = self.block(statements, exits)
        if out and isinstance(out[-1], gast.Return) and out[-1].value is None and exits.kind != "function":
            _hide_last(out)
        return out or [gast.Pass()]

    # Jumps

    def leave(self, node: Any, exits: _Exits) -> list[Any]:
        """Return the statements that replace a jump."""
        jump = plain.JUMPS[type(node)]
        if jump == "return" and exits.in_loop:
            why = "the loop stays plain" if exits.kind == "function" else None
            self.context.decide(node, "return in a loop", why)
        if exits.kind == "function":
            return [node]
        if jump == "return":
            flag, value = self.names()
            result = node.value if node.value is not None else template.constant(None)
            # the value first: computing it may raise
            new = [template.assign(value, result), template.assign(flag, template.constant(True))]
        elif jump == "break" or exits.kind == "branch":
            if jump not in exits.loop_flags:
                exits.loop_flags[jump] = self.context.namer.fresh(f"{jump}_")
            flag = exits.loop_flags[jump]
            new = [template.assign(flag, template.constant(True))]
        else:
            flag, new = None, []
        if flag is not None:
            exits.used[flag] = None
        return _place_at([*new, gast.Return(None)], node)

    def names(self) -> tuple[str, str]:
        if self.return_flags is None:
            self.return_flags = self.context.namer.fresh("do_return"), self.context.namer.fresh("retval_")
        return self.return_flags

    # An `if` that a jump leads out of

    def branch(self, node: Any, rest: list[Any], exits: _Exits) -> list[Any]:
        if exits.depth >= plain.MAX_DEPTH:
            for statement in (node, *rest):
                plain.keep_plain(statement, f"it is behind more than {plain.MAX_DEPTH} early exits")
            return self.block([node, *rest], exits)
        unreachable: list[Any] = []
        may_complete = plain.block_may_complete(node.body), plain.block_may_complete(node.orelse)
        if not any(may_complete):
            unreachable, rest = rest, []
        elif rest and not all(may_complete):
            (node.body if may_complete[0] else node.orelse).extend(rest)
            rest = []
        deeper = replace(exits, depth=exits.depth + 1)
        node.may_complete = plain.may_complete(node)
        if not rest and (exits.tail or not node.may_complete):
            new = self.last(node, replace(deeper, tail=True), exits.tail and not unreachable)
            return new + self.block(unreachable, exits)
        inside = replace(deeper, kind="branch", tail=True, used={}, set_flags={})
        self.branches(node, inside)
        exits.used.update(inside.used)
        return self.follow([node], inside.used, rest, exits)

    def branches(self, node: Any, inside: _Exits) -> None:
        node.body = self.body(node.body, inside)
        node.orelse = self.body(node.orelse, inside) if node.orelse else []

    def last(self, node: Any, inside: _Exits, at_end: bool) -> list[Any]:
        """Return an `if` with nothing behind it: its branches leave as the code around it does."""
        node.returns = inside.kind == "function"
        self.branches(node, inside)
        return [node] if node.returns or at_end else [node, *_place_at([gast.Return(None)], node, comments=False)]

    def follow(self, new: list[Any], set_flags: Flags, rest: list[Any], exits: _Exits) -> list[Any]:
        """Return statements that may set the flags `set_flags`, then `rest`, guarded by the flags."""
        if not set_flags:
            return new + self.block(rest, exits)
        if exits.returns_directly:
            flag, value = self.names()
            leave = [trees.at_header(gast.Return(template.name(value)), new[-1])]
            plain.summarize_all(leave, self.context)
            new = [_insert_before(template.assign(flag, template.constant(False)), new[0]), *new]
            guard = self.guard(template.name(flag), leave, rest)
        else:
            exits.set_flags.update(set_flags)
            if not rest:
                return new
            guard = self.guard(gast.UnaryOp(gast.Not(), any_of(set_flags)), rest, [])
        trees.at_header(guard, new[-1])
        if guard.plain is not None and exits.returns_directly:
            guard.orelse = []
            return new + self.block([guard, *rest], exits)
        return new + self.block([guard], exits)

    def guard(self, test: gast.AST, body: list[Any], orelse: list[Any]) -> Any:
        guard = gast.If(test, body, orelse)
        plain.summarize(guard, self.context)
        guard.plain = guard.immovable and f"what it guards cannot move: {guard.immovable}"
        guard.returns, guard.construct = False, None
        return guard

    # Other statements

    def statement(self, node: Any, exits: _Exits) -> tuple[list[Any], list[Any], Flags]:
        """Return the new statement, the statements to put behind it, and the flags that it may set."""
        if isinstance(node, plain.LOOPS):
            return self.loop(node, exits)
        set_flags: Flags = {}
        set_in_body: Flags = {}  # set in the body of a `try`; its `else` then must not run
        for block in trees.own_blocks(node):
            if set_in_body and block is node.orelse:
                guard = self.guard(gast.UnaryOp(gast.Not(), any_of(set_in_body)), [*block], [])
                block[:] = [trees.at_header(guard, node)]
            if block is getattr(node, "finalbody", None):
                always_returns = exits.kind == "function" and not plain.block_may_complete(block)
                if always_returns and plain.block_jumps(block) == {"return"}:
                    for inner in trees.own_statements(block):
                        inner.drops = bool(isinstance(inner, gast.If) and inner.jumps)
                else:
                    for inner in block:
                        plain.keep_plain(inner, "a jump out of `finally` drops exceptions")
            inside = replace(exits, tail=exits.tail and _runs_last(node, block), set_flags={})
            block[:] = self.block(block, inside)
            set_flags.update(inside.set_flags)
            if isinstance(node, (gast.Try, gast.TryStar)) and block is node.body and node.orelse:
                set_in_body.update(inside.set_flags)
        return [node], [], set_flags

    def loop(self, node: Any, exits: _Exits) -> tuple[list[Any], list[Any], Flags]:
        if node.plain is not None:
            inside = replace(exits, tail=False, in_loop=True, native_loop=True)
            node.body = self.block(node.body, inside)
            orelse = replace(exits, tail=False, set_flags={})
            node.orelse = self.block(node.orelse, orelse)
            return [node], [], orelse.set_flags
        inside = _Exits("loop", in_loop=True, depth=exits.depth)
        node.body = self.body(node.body, inside)
        break_, continue_ = inside.loop_flags.get("break"), inside.loop_flags.get("continue")
        if continue_ is not None:
            node.body[:0] = _place_at([template.assign(continue_, template.constant(False))], node, comments=False)
        set_flags = {flag: None for flag in inside.used if flag not in (break_, continue_)}
        node.until = [flag for flag in inside.used if flag != continue_]
        after, node.orelse = node.orelse, []
        if after and break_ is not None:
            after = [self.guard(gast.UnaryOp(gast.Not(), template.name(break_)), after, [])]
            trees.at_header(after[0], node)
        exits.used.update(set_flags)
        begin = [] if break_ is None else [_insert_before(template.assign(break_, template.constant(False)), node)]
        return [*begin, node], after, set_flags


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
        previous = getattr(block[-2], "comments", NO_COMMENTS)
        block[-2].comments = previous._replace(after=previous.after + lines)


def _insert_before(new: Any, node: Any) -> Any:
    """Place a new statement in front of `node`, with the comments above `node` and behind its header."""
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
