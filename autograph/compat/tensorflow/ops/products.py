"""Products that NumPy computes without BLAS, by products that it computes with it: `einsum`, and those of integers."""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core.blas import context_for
from autograph.compat.tensorflow.core.kernels import kernel

EXACT = 2.0**53     # up to there float64 has all integers
SMALL = 4096        # multiplications for which NumPy's own loops are as fast


def contraction(equation: str, first: Any, second: Any, shapes: Sequence[Sequence[int]]) -> Any:
    """`np.einsum` of two arrays of these shapes by one product of matrices; None if the equation is of another form.

    The letters of each operand are common to both and the result (a batch), common to both only (summed over), or in
    one operand and the result.
    """
    found = _parsed(equation, *map(len, shapes))
    if found is None:
        return None
    left, right, result = found
    batch = [each for each in left if each in right and each in result]
    inner = [each for each in left if each in right and each not in result]
    rows = [each for each in left if each not in right]
    columns = [each for each in right if each not in left]
    sizes = dict(zip(left, shapes[0])) | dict(zip(right, shapes[1]))
    fits = all(shapes[0][left.index(each)] == sizes[each] for each in [*batch, *inner])
    if not fits or math.prod(sizes.values()) < SMALL:
        return None  # np.einsum raises the error, or is faster
    grouped = [sizes[each] for each in batch]
    count = math.prod(sizes[each] for each in inner)
    a = np.transpose(first, [left.index(each) for each in [*batch, *rows, *inner]]).reshape([*grouped, -1, count])
    b = np.transpose(second, [right.index(each) for each in [*batch, *inner, *columns]]).reshape([*grouped, count, -1])
    with context_for(math.prod(sizes.values())):
        product = np.matmul(a, b)
    whole = product.reshape([sizes[each] for each in [*batch, *rows, *columns]])
    order = [*batch, *rows, *columns]
    return np.transpose(whole, [order.index(each) for each in result])


def _parsed(equation: str, first: int, second: int) -> tuple[str, str, str] | None:
    """The letters of two operands and of the result; None if the equation is not that of a product."""
    operands, arrow, result = equation.replace(" ", "").partition("->")
    parts = operands.split(",")
    if not arrow or len(parts) != 2 or not set(operands + result) <= {*string.ascii_letters, ","}:
        return None
    left, right = parts
    unique = all(len(set(part)) == len(part) for part in (left, right, result))
    alone = (set(left) ^ set(right)) - set(result)
    if not unique or alone or not set(left) & set(right) or (len(left), len(right)) != (first, second):
        return None
    return left, right, result


@kernel
def _integer_product(x: Any, y: Any) -> Any:
    """The product of matrices of integers, in float64 if that is exact."""
    if x.size and y.size and x.size * y.shape[-1] > 4096:
        bound = float(np.abs(x, dtype=np.float64).max()) * float(np.abs(y, dtype=np.float64).max()) * x.shape[-1]
        if bound < EXACT:
            with context_for(x.size * y.shape[-1]):
                return np.matmul(x.astype(np.float64), y.astype(np.float64)).astype(np.int64).astype(x.dtype)
    return np.matmul(x, y)


integer_product = _integer_product
