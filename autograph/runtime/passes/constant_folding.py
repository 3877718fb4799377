"""Constant folding: what is computed from constants alone is computed now.

    v1 = mul(2, 3)
    v2 = add(x, v1)           →      v2 = add(x, 6)

Only where the result is small and never changes; and not if that raises or warns, which it shall do when the program
runs, every time.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.graph import Block, Graph, Node
from autograph.runtime.graph.opdef import PURE, VIEW, lookup
from autograph.runtime.passes.rewriter import Outcome, Rewriter, shown

MOST_BITS = 4096
MOST_ITEMS = 256


def run(graph: Graph) -> Outcome:
    """Compute what can be computed now."""
    return _Folding().run(graph)


class _Folding(Rewriter):
    def node(self, node: Node, block: Block) -> None:
        function = None if node.blocks or len(node.outputs) != 1 else _function(node)
        if function is not None and all(map(_is_small, node.args)) and not node.kwargs and _is_cheap(node):
            try:
                value = _quietly(function, node.args)
            except Exception:           # whatever it is, the program will meet it when it runs
                value = None
            if value is not None and _is_small(value):
                self.replace(node.outputs, [value], f"{shown(node)} of constants is computed once for all", node.place)
                return
        super().node(node, block)


def _quietly(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """What a function gives; raises if it warns."""
    with np.errstate(all="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        return function(*args)


_OPERATORS: dict[str, Callable[..., Any]] = {
    name: getattr(operator, f"__{name}__")
    for name in """add sub mul truediv floordiv mod pow lshift rshift and or xor neg pos invert abs lt le eq ne gt ge
    getitem iadd isub imul itruediv ifloordiv imod ipow ilshift irshift iand ior ixor""".split()
} | {"not": operator.not_, "in": lambda element, container: element in container}
_FUNCTIONS = {kind.__name__: kind for kind in (bool, int, float, complex, str, repr, len, round, min, max, divmod)}
_UNBOUNDED = frozenset({"math.factorial", "math.comb", "math.perm", "math.prod"})


def _function(node: Node) -> Callable[..., Any] | None:
    """What computes a node from its arguments, if it is one of those that are known to give the same every time."""
    op = lookup(node.op)
    if node.op in _OPERATORS:
        return _OPERATORS[node.op]
    if op.effect not in (PURE, VIEW):
        return None
    if node.op in _FUNCTIONS:
        return _FUNCTIONS[node.op]
    if isinstance(op.target, np.ufunc) and len(node.args) == op.target.nin:
        return op.target
    if node.op.startswith("math.") and node.op not in _UNBOUNDED and callable(op.target):
        target: Callable[..., Any] = op.target
        return target
    return None


def _is_small(value: Any) -> bool:
    """Whether it is a constant that never changes, and is not large."""
    kind = type(value)
    if kind is int:
        return bool(value.bit_length() <= MOST_BITS)
    if kind is str:
        return len(value) <= MOST_ITEMS
    if kind is tuple:
        return len(value) <= MOST_ITEMS and all(map(_is_small, value))
    return kind in (bool, float, complex) or (isinstance(value, np.generic) and value.dtype.kind in "biufc")


def _is_cheap(node: Node) -> bool:
    """Whether the result can be no larger than we want to find out."""
    if len(node.args) != 2:
        return True
    first, second = node.args
    if node.op in ("pow", "ipow") and type(first) is type(second) is int:
        return abs(first) < 2 or first.bit_length() * abs(second) <= MOST_BITS
    if node.op in ("lshift", "ilshift") and type(second) is int:
        return second <= MOST_BITS
    if node.op in ("mul", "imul", "mod", "imod"):
        return not any(isinstance(arg, (str, tuple)) for arg in node.args)
    return True
