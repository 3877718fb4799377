"""Decides, before anything is changed, which `if`s and loops stay plain, and why.

Sets `node.plain` on every `if` and loop of a function: None if it will be converted, else the reason. A statement stays
plain if its condition can never be staged, if it holds what cannot move into a nested function, or if a jump out of
it leads to a statement that stays plain.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters import movable, staging
from autograph.converters.base import Context, own_text
from autograph.syntax import scope

MAX_DEPTH = 20
LOOPS = (gast.For, gast.While, gast.AsyncFor)
JUMPS = {gast.Return: "return", gast.Break: "break", gast.Continue: "continue"}


def blocks(node: gast.AST) -> list[list[Any]]:
    """The blocks of statements directly inside a statement."""
    found = [block for name in ("body", "orelse", "finalbody") if isinstance(block := getattr(node, name, None), list)]
    for part in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
        found.append(part.body)
    return found


def survey(statements: list[Any], context: Context) -> None:
    """Summarise every statement, innermost first."""
    for node in statements:
        if not isinstance(node, DEFINITIONS):
            for block in blocks(node):
                survey(block, context)
        summarise(node, context)


def summarise(node: Any, context: Context) -> None:
    """Note on a statement, whose inner statements are summarised, what the decisions rest on.

    `fixed`: why it cannot move, or None; `jumps`: the jumps that lead out of it; `falls`: whether it may complete.
    """
    if isinstance(node, DEFINITIONS):
        node.fixed, node.jumps, node.falls = movable.reason(node, context), frozenset(), True
        return
    inner = blocks(node)
    node.fixed = movable.reason(own_parts(node), context) or _BY_KIND.get(type(node)) or first_fixed(*inner)
    node.jumps = _jumps(node, inner)
    node.falls = falls(node)


DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)
_BY_KIND = {kind: movable.BY_KIND[kind] for kind in (gast.AsyncFor, gast.AsyncWith)}


def own_parts(node: gast.AST) -> list[Any]:
    """What a statement holds besides blocks of statements."""
    if not blocks(node):
        return [node]
    parts = [getattr(node, name, None) for name in ("test", "target", "iter", "subject")]
    parts += getattr(node, "items", [])
    parts += [handler.type for handler in getattr(node, "handlers", ())]
    parts += [part for case in getattr(node, "cases", ()) for part in (case.pattern, case.guard)]
    return [part for part in parts if part is not None]


def first_fixed(*inner: list[Any]) -> str | None:
    """The first reason why one of these blocks cannot move."""
    return next((s.fixed for block in inner for s in block if s.fixed is not None), None)


def _jumps(node: gast.AST, inner: list[list[Any]]) -> frozenset[str]:
    if type(node) in JUMPS:
        return frozenset({JUMPS[type(node)]})
    if isinstance(node, LOOPS):
        return (block_jumps(node.body) & {"return"}) | block_jumps(node.orelse)
    return frozenset().union(*map(block_jumps, inner))


def block_jumps(block: list[Any]) -> frozenset[str]:
    """The jumps that lead out of a block."""
    return frozenset().union(*(s.jumps for s in block))


def block_falls(block: list[Any]) -> bool:
    """Whether a block may complete, so that what follows it runs."""
    return all(s.falls for s in block)


def falls(node: gast.AST) -> bool:
    if isinstance(node, (*JUMPS, gast.Raise)):
        return False
    if isinstance(node, gast.If):
        return block_falls(node.body) or block_falls(node.orelse)
    if isinstance(node, (gast.Try, gast.TryStar)):
        ways = [[*node.body, *node.orelse], *(handler.body for handler in node.handlers)]
        return any(map(block_falls, ways)) and block_falls(node.finalbody)
    return True  # a `with` may swallow an exception, a loop may end


def mark(function: gast.AST, context: Context) -> None:
    """Set `plain` on every `if` and loop of `function`."""
    survey(function.body, context)
    whole = None
    for node in scope.walk_own(*function.body):
        if isinstance(node, gast.Name) and node.id == "UnboundLocalError":
            whole = "the function handles UnboundLocalError itself"
    for statement in function.body:
        _mark(statement, context, whole, False, 0)


def _mark(node: gast.AST, context: Context, whole: str | None, in_plain_loop: bool, depth: int) -> None:
    if isinstance(node, DEFINITIONS):
        return
    if isinstance(node, (gast.If, *LOOPS)):
        node.plain = whole or _reason(node, context, in_plain_loop, depth)
        node.returns = False
        depth += node.plain is None
    for block in blocks(node):
        inside = node.plain is not None if isinstance(node, LOOPS) and block is node.body else in_plain_loop
        for statement in block:
            _mark(statement, context, whole, inside, depth)


def _reason(node: gast.AST, context: Context, in_plain_loop: bool, depth: int) -> str | None:
    if isinstance(node, gast.AsyncFor):
        return movable.BY_KIND[gast.AsyncFor]
    if isinstance(node, gast.If) and staging.never_staged(node.test, context):
        return f"its condition is never staged: {own_text(node.test)}"
    header = {gast.If: [], gast.While: ["test"], gast.For: ["target"]}[type(node)]
    why = movable.reason([getattr(node, name) for name in header], context)
    # A loop's `else` does not move.
    why = why or first_fixed(*([node.body, node.orelse] if isinstance(node, gast.If) else [node.body]))
    if why is not None:
        return why
    if in_plain_loop and node.jumps:
        return f"`{min(node.jumps)}` leads out of a loop that stays plain"
    return f"it is nested more than {MAX_DEPTH} deep" if depth >= MAX_DEPTH else None


def pin(node: Any, reason: str) -> None:
    """Keep everything in `node` plain that a jump leads out of."""
    if isinstance(node, DEFINITIONS):
        return
    if isinstance(node, (gast.If, *LOOPS)) and node.plain is None and node.jumps:
        node.plain = reason
    loop = isinstance(node, LOOPS) and node.plain is not None
    for block in blocks(node):
        for statement in block:
            if "return" in statement.jumps or (loop and statement.jumps):
                pin(statement, reason)
