"""Marks where a staged value must stand for itself, or a context manager for one that a graph enters.

    x is None                 →    (ag__.concrete(x, parts=False) if ag__.ACTIVE else x) is None
    match x: case [a, b]      →    match ag__.concrete(x): case [a, b]
    with manager as f         →    with (ag__.context(manager) if ag__.ACTIVE else manager) as f

That is done for compiling only (`syntax/inline.py`): the text stays as it is.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph.converters.context.base import Context


def mark(node: Any, context: Context) -> None:
    node.guarded = True


REWRITERS = {gast.Compare: mark, gast.Match: mark, gast.With: mark}
