"""`for target in iterable: …` → `ag__.for_stmt(iterable, loop_body, state, until=…)`.

A target that is a name of no use after the loop is the parameter of the body; any other target is assigned from it.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import bodies
from autograph.converters.context.base import Context
from autograph.syntax import template


def rewrite(node: Any, context: Context) -> list[Any] | None:
    context.decide(node, "for" if isinstance(node, gast.For) else "async for", node.plain)
    if node.plain is not None:
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


REWRITERS = {gast.For: rewrite, gast.AsyncFor: rewrite}
