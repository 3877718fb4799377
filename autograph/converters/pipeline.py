"""The order in which a function is converted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gast

from autograph.converters import (
    asserts,
    builtins,
    calls,
    comparisons,
    comprehensions,
    for_,
    fstrings,
    functions,
    identity,
    if_,
    if_exp,
    jumps,
    logical,
    percent,
    prepare,
    raises,
    ref,
    while_,
)
from autograph.converters.context import plain
from autograph.converters.context.base import Context, Decision, Rewrite
from autograph.converters.context.known import module_context

# Each step changes the statements of a whole function, before its names are analysed.
PREPARE = (
    plain.judge,  # functions that stay as they are
    prepare.matches,  # `match` over values becomes a chain of `if`s
    plain.mark,  # what stays as the user wrote it, and why
    prepare.loop_directives,  # `set_loop_options` goes to its loop
    jumps.restructure,  # `return`, `break`, `continue` and loop `else` become branches and flags
)

# Each rewrites the nodes of one construct, innermost first; where two know the same node, the first has its say.
REWRITE = (
    identity,  # x is None, match x, with x
    ref,  # x[i], x[i] = v, x.a = v
    logical,  # and, or, not
    comparisons,  # a < b < c, in
    if_exp,  # a if c else b
    comprehensions,  # [e for x in xs]
    fstrings,  # f"{x}"
    percent,  # "%d" % x
    builtins,  # range, len, print, …
    calls,  # f(x)
    asserts,
    raises,
    if_,
    while_,
    for_,
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
