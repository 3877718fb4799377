"""Probes: compares a function with another one on samples, bit by bit.

So this library finds out facts that it cannot ask for: from which library NumPy takes `exp`, in which order BLAS adds,
whether products of complex numbers are rounded once or twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

COUNT = 300     # of numbers


def agrees(candidate: Callable[..., Any], reference: Callable[..., Any], samples: Iterable[Iterable[Any]]) -> bool:
    """Whether two functions give the same for some arguments, see `same`.

    Example:
        >>> agrees(np.positive, np.abs, [(1.0,), (0.0,)]), agrees(np.positive, np.abs, [(-0.0,)])
        (True, False)

    Args:
        samples: the arguments of each call. A call of the reference must not raise.
    """
    return all(same(candidate(*args), reference(*args)) for args in map(tuple, samples))


def same(one: Any, other: Any) -> bool:
    """Whether two numbers or arrays are of one class, dtype and shape and have the same bits, also where they are NaNs.

    Two tuples are the same if their items are.
    """
    if type(one) is not type(other):
        return False
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if not isinstance(one, (np.ndarray, np.generic)):
        one, other = np.asarray(one), np.asarray(other)
    return bool(one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes())


@contextmanager
def with_warnings(function: Callable[..., Any]) -> Iterator[Callable[..., tuple[Any, bool]]]:
    """Within the block, a function that also returns whether NumPy would warn of anything but an underflow."""
    kinds: list[str] = []

    def call(*args: Any) -> tuple[Any, bool]:
        kinds.clear()
        return function(*args), bool(kinds)

    with np.errstate(all="call", under="ignore", call=lambda kind, _: kinds.append(kind)):
        yield call


def numbers(dtype: np.dtype[Any], seed: int) -> np.ndarray[Any, Any]:
    """Numbers of all sizes and special values, in memory that is not aligned to vectors."""
    if dtype.kind == "c":
        part = np.zeros(0, dtype).real.dtype
        pairs = np.stack([numbers(part, seed), np.roll(numbers(part, seed + 2), 3)], axis=1)
        return pairs.reshape(-1).view(dtype)
    draw = np.random.default_rng(seed)
    if dtype.kind == "b":
        return np.resize(draw.random(COUNT) < 0.5, COUNT)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        found = draw.integers(info.min, info.max, COUNT, dtype, endpoint=True)
        found[::2] = draw.integers(max(info.min, -9), 10, len(found[::2]))
    else:
        powers = draw.uniform(-8, 8, COUNT)
        powers[::7] *= float(np.finfo(dtype).maxexp) * 0.037
        with np.errstate(all="ignore"):
            found = (10.0**powers * np.where(draw.random(COUNT) < 0.3, -1, 1)).astype(dtype)
        found[::5] = draw.normal(size=len(found[::5]))
        found[3:40:6] = [np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -1.0]
    shifted = np.empty(COUNT + 1, dtype)[1:]
    shifted[:] = found
    return shifted
