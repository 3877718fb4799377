"""Rules for the relation SHARES: does an op that may return a view return one of its first argument?

A rule gets a node. It returns True for a view of an array, False for a copy, None if unknown.
"""

from __future__ import annotations

from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.types import TensorType


def never(node: Node) -> bool | None:
    return False


def attribute(node: Node) -> bool | None:
    return True if node.args[1] in ("T", "mT", "real", "flat") else None


def cast(node: Node) -> bool | None:
    """The rule of `x.astype(dtype)` and `np.array(x)`, which copy by default."""
    return None if "copy" in node.kwargs or len(node.args) > 2 else False


def as_array(node: Node) -> bool | None:
    """The rule of `np.asarray`: it returns an array of the right dtype itself, and otherwise a copy."""
    given, found = node.args[0], node.output.type
    if not isinstance(given, Value) or node.kwargs.keys() - {"dtype"} or len(node.args) > 2:
        return None
    before = given.type
    if not (isinstance(before, TensorType) and isinstance(found, TensorType) and before.exact and found.exact):
        return None
    return before.dtype == found.dtype if before.kind == "array" else False


def power(node: Node) -> bool | None:
    """The rule of `np.linalg.matrix_power`: the first power is the matrix itself."""
    exponent = node.args[1] if len(node.args) > 1 else None
    return exponent == 1 if isinstance(exponent, int) else None


def transform(node: Node) -> bool | None:
    """The rule of `np.fft.fftn` and so on: without axes to transform, they return the array itself."""
    return None if len(node.args) > 2 or "axes" in node.kwargs else False


def einsum(node: Node) -> bool | None:
    """The rule of `np.einsum`, which may return a view of a single operand."""
    return False if len(node.args) > 2 else None


def diagonal(node: Node) -> bool | None:
    """The rule of `np.diag`: a view of a matrix, or a new matrix for a vector."""
    given = node.args[0].type if isinstance(node.args[0], Value) else None
    return False if isinstance(given, TensorType) and given.exact and given.ndim == 1 else None


def summed(node: Node) -> bool | None:
    """The rule of Python's `sum`, where `0 + item` is a new array."""
    return False if len(node.args) == 1 and not node.kwargs else None
