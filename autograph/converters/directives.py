"""`ag.set_loop_options(…)` in the body of a loop → `options=` of the loop's operator."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context.base import Context

_OURS = ("autograph.set_loop_options", "autograph.api.set_loop_options")
_TENSORFLOWS = "tensorflow.autograph.experimental.set_loop_options"  # in `autograph.compat`, or under an alias


def collect(loop: Any, context: Context) -> None:
    """Take the directives out of the body of a loop that will be converted, into `loop.options`."""
    loop.options = []
    kept = []
    for statement in loop.body:
        keywords = _options(statement, context)
        if keywords is None:
            kept.append(statement)
        else:
            loop.options += keywords
    loop.body[:] = kept or [gast.copy_location(gast.Pass(), loop)]


def _options(statement: Any, context: Context) -> list[Any] | None:
    """The keywords of a directive; None if the statement is none."""
    call = statement.value if isinstance(statement, gast.Expr) else None
    if not isinstance(call, gast.Call) or call.args or any(k.arg is None for k in call.keywords):
        return None
    name = context.dotted(call.func) or ""
    return call.keywords if name in _OURS or name.endswith(_TENSORFLOWS) else None
