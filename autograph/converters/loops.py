"""Loops, and the options that the user gives them.

    while test: …             →    ag__.while_stmt(loop_test, loop_body, state, until=…)
    for target in items: …    →    ag__.for_stmt(items, loop_body, state, until=…)

A target that is a name, and is not read after the loop, becomes the parameter of the body; any other is assigned from
the parameter.
`ag.set_loop_options(…)` in the body becomes `options=` of the operator.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import bodies
from autograph.converters.context.base import Context
from autograph.syntax import scope, template

_OURS = ("autograph.set_loop_options", "autograph.api.set_loop_options")
_TENSORFLOWS = "tensorflow.autograph.experimental.set_loop_options"  # in `autograph.compat`, or under an alias


def while_loop(node: Any, context: Context) -> list[Any] | None:
    if not context.decide(node, "while", node.plain):
        return None
    result = gast.copy_location(gast.Return(node.test), node.test)
    test = bodies.body("loop_test", [result], list(scope.uses(node.test).writes), context)
    body = bodies.body("loop_body", node.body, node.state.shared["body"], context)
    arguments = [test.reference, body.reference, *bodies.state(node, context)]
    call = template.call("while_stmt", *arguments, **bodies.loop_keywords(node, context))
    return bodies.finish(node, node.test, [test, body], call)


def for_loop(node: Any, context: Context) -> list[Any] | None:
    if not context.decide(node, "for" if isinstance(node, gast.For) else "async for", node.plain):
        return None
    shared, block = node.state.shared["body"], node.body
    if isinstance(node.target, gast.Name) and node.target.id not in shared:
        parameter = node.target.id
    else:
        parameter = context.namer.reusable("item")
        assign = gast.Assign([node.target], template.name(parameter), None)
        block = [gast.copy_location(assign, node.target), *block]
    body = bodies.body("loop_body", block, shared, context, parameter)
    arguments = [node.iter, body.reference, *bodies.state(node, context)]
    call = template.call("for_stmt", *arguments, **bodies.loop_keywords(node, context))
    return bodies.finish(node, node.iter, [body], call)


def take_options(loop: Any, context: Context) -> None:
    """Move the directives in the body of a loop that will be converted into `loop.options`."""
    loop.options = []
    statements = []
    for statement in loop.body:
        keywords = _options(statement, context)
        if keywords is None:
            statements.append(statement)
        else:
            loop.options += keywords
    loop.body[:] = statements or [gast.copy_location(gast.Pass(), loop)]


def _options(statement: Any, context: Context) -> list[Any] | None:
    """Return the keywords of a directive; None if the statement is none."""
    call = statement.value if isinstance(statement, gast.Expr) else None
    if not isinstance(call, gast.Call) or call.args or any(k.arg is None for k in call.keywords):
        return None
    name = context.dotted(call.func) or ""
    return call.keywords if name in _OURS or name.endswith(_TENSORFLOWS) else None


REWRITERS = {gast.While: while_loop, gast.For: for_loop, gast.AsyncFor: for_loop}
