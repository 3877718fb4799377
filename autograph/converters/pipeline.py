"""The order in which a function is converted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast

from autograph.converters import (
    assertions,
    builtins,
    calls,
    comparisons,
    comprehensions,
    conditionals,
    fstrings,
    functions,
    jumps,
    logical,
    loops,
    match,
    ref,
)
from autograph.converters.context import plain
from autograph.converters.context.base import Context, Decision, Rewrite
from autograph.converters.context.known import module_context
from autograph.syntax import trees


def matches(function: Any, context: Context) -> None:
    """Turn every `match` over values into `if`s."""
    _replace(function.body, gast.Match, lambda node: match.lower(node, function.whole, context))


def loop_directives(function: Any, context: Context) -> None:
    """Take `set_loop_options` out of the loops that will be converted."""
    _each(function.body, lambda node: loops.take_options(node, context))


def _each(block: list[Any], act: Callable[[Any], None]) -> None:
    for node in block:
        if isinstance(node, plain.DEFINITIONS):
            continue
        for inner in trees.blocks(node):
            _each(inner, act)
        if isinstance(node, plain.LOOPS) and node.plain is None:
            act(node)


def _replace(block: list[Any], kind: type, lower: Callable[[Any], list[Any] | None]) -> None:
    new: list[Any] = []
    for node in block:
        if not isinstance(node, plain.DEFINITIONS):
            for inner in trees.blocks(node):
                _replace(inner, kind, lower)
        replaced = lower(node) if isinstance(node, kind) else None
        new += [node] if replaced is None else replaced
    block[:] = new


# Each step changes the statements of a whole function, before its names are analyzed.
PREPARE = (
    plain.judge,  # functions that stay as they are
    matches,  # `match` over values becomes a chain of `if`s
    plain.mark,  # what stays as the user wrote it, and why
    loop_directives,  # `set_loop_options` goes to its loop
    jumps.restructure,  # `return`, `break`, `continue` and loop `else` become branches and flags
)

# Each rewrites the nodes of one construct, innermost first; where two know the same node, the first has its say.
REWRITE = (
    ref,  # x[i], x[i] = v, x.a = v
    logical,  # and, or, not
    comparisons,  # a < b < c, in, is; match x, with x
    conditionals,  # if, a if c else b
    comprehensions,  # [e for x in xs]
    fstrings,  # f"{x}", "%d" % x
    builtins,  # range, len, print, …
    calls,  # f(x)
    assertions,  # assert, raise
    loops,  # while, for
)


@dataclass
class Converted:
    """A converted tree, what was decided on the way, and the names of the functions that were generated."""

    tree: Any
    decisions: list[Decision]
    generated: frozenset[str]


def convert(tree: Any, context: Context) -> Converted:
    """Convert a Module, a FunctionDef or a Lambda, in place."""
    rewriters: dict[type, list[Rewrite]] = {}
    for converter in REWRITE:
        for kind, rewrite in converter.REWRITERS.items():
            rewriters.setdefault(kind, []).append(rewrite)
    convert_functions = functions.Functions(PREPARE, rewriters, context)
    if isinstance(tree, gast.Module):
        convert_functions.block(tree.body)
    else:
        convert_functions.inner(tree, context)
    return Converted(tree, context.decisions, frozenset(context.generated))


__all__ = ["Converted", "convert", "module_context"]
