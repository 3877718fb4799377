"""The steps that run over a whole function's statements before they are rewritten."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from autograph.converters import directives, match
from autograph.converters.context import plain
from autograph.converters.context.base import Context


def matches(function: Any, context: Context) -> None:
    """Turn every `match` over values into `if`s."""
    _replace(function.body, gast.Match, lambda node: match.lower(node, function.whole, context))


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


def _replace(block: list[Any], kind: type, lower: Callable[[Any], list[Any] | None]) -> None:
    new: list[Any] = []
    for node in block:
        if not isinstance(node, plain.DEFINITIONS):
            for inner in plain.blocks(node):
                _replace(inner, kind, lower)
        replaced = lower(node) if isinstance(node, kind) else None
        new += [node] if replaced is None else replaced
    block[:] = new
