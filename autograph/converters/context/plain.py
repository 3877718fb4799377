"""Decides which `if`s and loops stay plain, and why, before anything is changed.

Sets `node.plain` on every `if` and loop of a function: None if it will be converted, else the reason. A statement stays
plain if its condition can never be staged, if it contains code that cannot move into a nested function, or if a jump
out of it leads to a statement that stays plain.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import gast

from autograph.converters.context import movable, staging
from autograph.converters.context.base import Context, short_text
from autograph.syntax import scope
from autograph.syntax.trees import DEFINITIONS, blocks, own_blocks, own_statements

MAX_DEPTH = 20
LOOPS = (gast.For, gast.While, gast.AsyncFor)
JUMPS = {gast.Return: "return", gast.Break: "break", gast.Continue: "continue"}


def summarize_all(statements: list[Any], context: Context) -> None:
    """Summarize every statement, innermost first."""
    for node in own_statements(statements):
        summarize(node, context)


def summarize(node: Any, context: Context) -> None:
    """Set on a statement, whose inner statements are summarized, the facts that decisions depend on.

    - `immovable`: why it cannot move, or None.
    - `jumps`: the jumps that lead out of it.
    - `may_complete`: whether it may complete, so that the next statement runs.
    - `manages`: whether it is a `with` whose managers may raise or end exceptions.
    - `exits`: whether a jump in it runs the exit of a `with` or a `finally` on its way.
    - `undone`: whether a `try` or `with` around such an exit may catch its exception, which undoes the jump.
    """
    node.exits = node.undone = False
    managers = [item.context_expr for item in node.items] if isinstance(node, gast.With) else []
    node.manages = not all(isinstance(m, gast.Call) and context.dotted(m.func) in _INERT for m in managers)
    if isinstance(node, DEFINITIONS):
        node.immovable, node.jumps, node.may_complete = movable.reason(node, context), frozenset(), True
        return
    inner = blocks(node)
    own = movable.reason(own_expressions(node), context) or _BY_KIND.get(type(node))
    node.immovable = own or first_immovable(*inner)
    node.jumps = _jumps(node, inner)
    node.may_complete = may_complete(node)
    inside = [statement for block in inner for statement in block]
    node.undone = any(s.undone for s in inside) or bool(block_jumps(getattr(node, "finalbody", None) or []))
    node.undone |= _catches(node) and any(s.exits for s in node.body)
    node.exits = any(s.exits for s in inside) or (_runs_exit(node) and bool(node.jumps))


_BY_KIND = {kind: movable.BY_KIND[kind] for kind in (gast.AsyncFor, gast.AsyncWith)}


_INERT = frozenset({"contextlib.nullcontext"}) | {
    f"autograph.compat.tensorflow.{name}" for name in ("name_scope", "device", "control_dependencies", "init_scope")
}


def _catches(node: Any) -> bool:
    """Whether a statement may catch an exception of its body."""
    return node.manages or bool(getattr(node, "handlers", None))


def _runs_exit(node: Any) -> bool:
    """Whether code of a statement runs when a jump leaves it."""
    return node.manages or bool(getattr(node, "finalbody", None))


def own_expressions(node: gast.AST) -> list[Any]:
    """Return the expressions of a statement, without those in its blocks."""
    if not blocks(node):
        return [node]
    parts = [getattr(node, name, None) for name in ("test", "target", "iter", "subject")]
    parts += getattr(node, "items", [])
    parts += [handler.type for handler in getattr(node, "handlers", ())]
    parts += [part for case in getattr(node, "cases", ()) for part in (case.pattern, case.guard)]
    return [part for part in parts if part is not None]


def first_immovable(*inner: list[Any]) -> str | None:
    """Return the first reason why one of these blocks cannot move."""
    return next((s.immovable for block in inner for s in block if s.immovable is not None), None)


def _jumps(node: gast.AST, inner: list[list[Any]]) -> frozenset[str]:
    if type(node) in JUMPS:
        return frozenset({JUMPS[type(node)]})
    if isinstance(node, LOOPS):
        return (block_jumps(node.body) & {"return"}) | block_jumps(node.orelse)
    return frozenset().union(*map(block_jumps, inner))


def block_jumps(block: list[Any]) -> frozenset[str]:
    """Return the jumps that lead out of a block."""
    return frozenset().union(*(s.jumps for s in block))


def block_may_complete(block: list[Any]) -> bool:
    """Whether a block may complete, so that the next statement runs."""
    return all(s.may_complete for s in block)


def may_complete(node: gast.AST) -> bool:
    """Whether a statement may complete, so that the next statement runs."""
    if isinstance(node, (*JUMPS, gast.Raise)):
        return False
    if isinstance(node, gast.If):
        return block_may_complete(node.body) or block_may_complete(node.orelse)
    if isinstance(node, (gast.Try, gast.TryStar)):
        paths = [[*node.body, *node.orelse], *(handler.body for handler in node.handlers)]
        return any(map(block_may_complete, paths)) and block_may_complete(node.finalbody)
    if isinstance(node, gast.With) and not node.manages:
        return block_may_complete(node.body)
    return True  # a `with` may swallow an exception, a loop may end


class _Surroundings(NamedTuple):
    """The surroundings of a statement. `why_plain`: why all statements of its function stay plain."""

    why_plain: str | None
    plain_loop: bool = False
    depth: int = 0
    caught: bool = False  # code around it in this function may catch exceptions
    undone: bool = False  # such an exception may undo a jump from here


_UNBOUND = frozenset({"UnboundLocalError", "NameError"})


def mark_function(function: gast.AST, context: Context) -> None:
    """Set `function.why_plain`: the reason why all its statements stay plain, or None."""
    function.why_plain = None
    if (movable.READS_NAMES | _UNBOUND).isdisjoint(context.used_names):
        return
    for node in scope.walk_own(*function.body):
        if isinstance(node, gast.Name) and node.id in _UNBOUND:
            function.why_plain = f"the function handles {node.id} itself (line {node.lineno})"
        elif isinstance(node, gast.Call) and movable.reads_names(node, context):
            function.why_plain = f"`{node.func.id}` looks at the names of its function (line {node.lineno})"


def mark(function: gast.AST, context: Context) -> None:
    """Set `plain` on every `if` and loop of `function`."""
    summarize_all(function.body, context)
    for statement in function.body:
        _mark(statement, context, _Surroundings(function.why_plain))


def _mark(node: Any, context: Context, surroundings: _Surroundings) -> None:
    if isinstance(node, (gast.If, *LOOPS)):
        node.plain = surroundings.why_plain or _reason(node, context, surroundings)
        node.returns = False
        surroundings = surroundings._replace(depth=surroundings.depth + (node.plain is None))
    undone = surroundings.undone or (surroundings.caught and _runs_exit(node))
    for block in own_blocks(node):
        inside = surroundings._replace(undone=undone)
        if isinstance(node, LOOPS) and block is node.body:
            inside = inside._replace(plain_loop=node.plain is not None)
        elif _catches(node) and block is node.body:
            inside = inside._replace(caught=True)
        for statement in block:
            _mark(statement, context, inside)


def _reason(node: Any, context: Context, surroundings: _Surroundings) -> str | None:
    if isinstance(node, gast.AsyncFor):
        return movable.BY_KIND[gast.AsyncFor]
    test = getattr(node, "test", None)
    ends_by_test = isinstance(node, gast.If) or not block_jumps(node.body)  # not by a jump on a staged condition
    if test is not None and ends_by_test and staging.never_staged(test, context):
        return f"its condition is never staged: {short_text(node.test)}"
    header = {gast.If: [], gast.While: ["test"], gast.For: ["target"]}[type(node)]
    why = movable.reason([getattr(node, name) for name in header], context)
    # A loop's `else` does not move.
    why = why or first_immovable(*([node.body, node.orelse] if isinstance(node, gast.If) else [node.body]))
    if why is not None:
        return why
    if surroundings.plain_loop and node.jumps:
        return f"`{min(node.jumps)}` leads out of a loop that stays plain"
    if node.undone or (surroundings.caught and node.exits) or (surroundings.undone and node.jumps):
        return "a jump in it runs the end of a `with` or `finally`, whose exception, if caught, undoes the jump"
    return f"it is nested more than {MAX_DEPTH} deep" if surroundings.depth >= MAX_DEPTH else None


def keep_plain(node: Any, reason: str, in_loop: bool = False) -> None:
    """Keep all statements in `node` plain that a jump leaves, and in a loop that stays plain for it, every jump."""
    if isinstance(node, (gast.If, *LOOPS)) and node.plain is None and node.jumps:
        node.plain = reason
    for block in own_blocks(node):
        inside = in_loop
        if isinstance(node, LOOPS) and block is node.body:
            inside = node.plain is not None
        for statement in block:
            if "return" in statement.jumps or (inside and statement.jumps):
                keep_plain(statement, reason, inside)
