"""`raise error` → `raise ag__.raise_(error)`, so that a backend sees a raise in a staged branch."""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.base import Context
from autograph.syntax import template


def rewrite(node: gast.Raise, context: Context) -> Any:
    if node.exc is not None:
        node.exc = gast.copy_location(template.call("raise_", node.exc), node.exc)


REWRITERS = {gast.Raise: rewrite}
