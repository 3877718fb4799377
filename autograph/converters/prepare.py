"""The steps that run over a whole function's statements before they are rewritten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from autograph.converters import directives, match, plain
from autograph.converters.base import Context


def matches(function: Any, context: Context) -> None:
    """Turn every `match` over values into `if`s."""
    _replace(function.body, gast.Match, match.lower, context)


def loop_directives(function: Any, context: Context) -> None:
    """Take `set_loop_options` out of the loops that will be converted."""
    _each(function.body, lambda node: directives.collect(node, context))


def _each(block: list[Any], act: Callable[[Any], None]) -> None:
    for node in block:
        if isinstance(node, plain.DEFINITIONS):
            continue
        for inner in plain.blocks(node):
            _each(inner, act)
        if isinstance(node, plain.LOOPS) and node.plain is None:
            act(node)


def _replace(block: list[Any], kind: type, lower: Callable[[Any, Context], list[Any] | None], context: Context) -> None:
    new: list[Any] = []
    for node in block:
        if not isinstance(node, plain.DEFINITIONS):
            for inner in plain.blocks(node):
                _replace(inner, kind, lower, context)
        replaced = lower(node, context) if isinstance(node, kind) else None
        new += [node] if replaced is None else replaced
    block[:] = new
