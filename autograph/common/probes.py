"""Whether a function gives what another one gives: it is tried on samples, and believed if each bit is the same.

So this library finds out what it cannot ask: which library NumPy takes `exp` from, in which order BLAS adds, whether
products of complex numbers are rounded once or twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


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
    """Meanwhile, a function that also tells whether NumPy would warn of anything but an underflow."""
    kinds: list[str] = []

    def call(*args: Any) -> tuple[Any, bool]:
        kinds.clear()
        return function(*args), bool(kinds)

    with np.errstate(all="call", under="ignore", call=lambda kind, _: kinds.append(kind)):
        yield call
