"""Constant folding: compute operations on constants before the program runs.

    v1 = mul(2, 3)
    v2 = add(x, v1)           →      v2 = add(x, 6)

It folds ops whose declaration says how, if the result is small and immutable. An operation that raises or warns stays,
because it must do so at each run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.graph import Block, Graph, Node
from autograph.runtime.graph.opdef import lookup
from autograph.runtime.ops.python.constants import MOST_BITS
from autograph.runtime.passes.rewriter import Outcome, Rewriter, shown

MOST_ITEMS = 256


def run(graph: Graph) -> Outcome:
    """Fold constants."""
    return _Folding().run(graph)


class _Folding(Rewriter):
    def node(self, node: Node, block: Block) -> None:
        function = None if node.blocks or len(node.outputs) != 1 else lookup(node.op).fold
        if function is not None and all(map(_is_small, node.args)) and not node.kwargs:
            try:
                value = _quietly(function, node.args)
            except Exception:           # whatever it is, the program will meet it when it runs
                value = None
            if value is not None and _is_small(value):
                self.replace(node.outputs, [value], f"{shown(node)} of constants is computed while tracing", node.place)
                return
        super().node(node, block)


def _quietly(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """The result of a function; raises if it warns."""
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        return function(*args)


def _is_small(value: Any) -> bool:
    """Whether a value is a small constant of an immutable type."""
    kind = type(value)
    if kind is int:
        return bool(value.bit_length() <= MOST_BITS)
    if kind is str:
        return len(value) <= MOST_ITEMS
    if kind is tuple:
        return len(value) <= MOST_ITEMS and all(map(_is_small, value))
    return kind in (bool, float, complex) or (isinstance(value, np.generic) and value.dtype.kind in "biufc")
