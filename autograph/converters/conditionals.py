"""Branches.

    if test: … else: …     →    ag__.if_stmt(test, if_body, else_body, state)
    a if test else b       →    ag__.if_exp(test, lambda: a, lambda: b)
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context import bodies, staging
from autograph.converters.context.base import Context
from autograph.converters.logical import deferred, why_not_deferred
from autograph.syntax import template


def if_statement(node: Any, context: Context) -> list[Any] | None:
    construct = getattr(node, "construct", "if")  # what the user wrote: also a `case`, or nothing
    if construct is not None:
        context.decide(node, construct, node.plain)
    if node.plain is not None:
        return None
    functions = [bodies.body("if_body", node.body, node.state.shared["body"], context)]
    orelse: gast.AST = template.constant(None)
    if node.orelse:
        functions.append(bodies.body("else_body", node.orelse, node.state.shared["orelse"], context))
        orelse = functions[1].reference
    state = bodies.state(node, context)
    arguments = [node.test, functions[0].reference]
    if node.orelse or state:
        arguments += [orelse, *state]
    drops = {"drops": template.constant(True)} if getattr(node, "drops", False) else {}
    return bodies.finish(node, node.test, functions, template.call("if_stmt", *arguments, **drops))


def if_expression(node: gast.IfExp, context: Context) -> Any:
    if staging.never_staged(node.test, context) or why_not_deferred([node.body, node.orelse], context):
        return None
    return template.call("if_exp", node.test, deferred(node.body), deferred(node.orelse))


REWRITERS = {gast.If: if_statement, gast.IfExp: if_expression}
