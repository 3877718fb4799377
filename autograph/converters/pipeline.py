"""The order of the steps and converters."""

from __future__ import annotations

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
    counting,
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
    """Lower every `match` over values to `if`s."""
    _lower_matches(function.body, function.why_plain, context)


def loop_directives(function: Any, context: Context) -> None:
    """Move calls of `set_loop_options` to `options` of the loops that will be converted."""
    for node in trees.own_statements(function.body):
        if isinstance(node, plain.LOOPS) and node.plain is None:
            loops.take_options(node, context)


def _lower_matches(block: list[Any], why_plain: str | None, context: Context) -> None:
    new: list[Any] = []
    for node in block:
        for inner in trees.own_blocks(node):
            _lower_matches(inner, why_plain, context)
        lowered = match.lower(node, why_plain, context) if isinstance(node, gast.Match) else None
        new += [node] if lowered is None else lowered
    block[:] = new


# Each step changes the statements of a whole function, before its names are analyzed.
PREPARE = (
    plain.mark_function,  # functions whose statements all stay plain
    matches,  # `match` over values becomes a chain of `if`s
    plain.mark,  # statements that stay plain
    counting.mark,  # `try: d[k] += n` with `except KeyError: d[k] = n`
    loop_directives,  # `set_loop_options` becomes an attribute of its loop
    jumps.restructure,  # `return`, `break`, `continue` and loop `else` become branches and flags
)

# Each rewrites the nodes of one construct, innermost first. Of two for the same type of node, the first one wins.
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
    counting,  # try: d[k] += n
)


@dataclass
class Converted:
    """A converted tree, the decisions, and the names of the generated functions."""

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
