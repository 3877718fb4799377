"""`while test: …` → `ag__.while_stmt(loop_test, loop_body, state, until=…)`."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import bodies
from autograph.converters.context.base import Context
from autograph.syntax import scope, template


def rewrite(node: Any, context: Context) -> list[Any] | None:
    context.decide(node, "while", node.plain)
    if node.plain is not None:
        return None
    result = gast.copy_location(gast.Return(node.test), node.test)
    test = bodies.body("loop_test", [result], list(scope.uses(node.test).writes), context)
    body = bodies.body("loop_body", node.body, node.state.shared["body"], context)
    arguments = [test.reference, body.reference, *bodies.state(node, context)]
    call = template.call("while_stmt", *arguments, **bodies.loop_keywords(node, context))
    return bodies.finish(node, node.test, [test, body], call)


REWRITERS = {gast.While: rewrite}
