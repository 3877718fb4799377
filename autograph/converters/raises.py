"""`raise error from other` → `raise ag__.raise_(error) from ag__.raise_(other)`: a backend may have either staged."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context.base import Context
from autograph.syntax import template


def rewrite(node: gast.Raise, context: Context) -> Any:
    if node.exc is not None:
        node.exc = gast.copy_location(template.call("raise_", node.exc), node.exc)
    if node.cause is not None and not isinstance(node.cause, gast.Constant):
        node.cause = gast.copy_location(template.call("raise_", node.cause), node.cause)


REWRITERS = {gast.Raise: rewrite}
