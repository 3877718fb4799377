"""Chained comparisons, membership and identity."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

from autograph.operators.backend import ACTIVE, BACKENDS, PLAIN, STAGED, Thunk, ask, owner
from autograph.operators.logical import not_
from autograph.operators.unbound import rename


def in_(element: Any, container: Any) -> Any:
    """`element in container`."""
    if not (type(element) in PLAIN and type(container) in PLAIN) or ACTIVE:
        result = ask("in_", element, container)
        if result is not NotImplemented:
            return result
    return element in container


def not_in(element: Any, container: Any) -> Any:
    """`element not in container`."""
    return not_(in_(element, container))


def is_(left: Any, right: Any) -> Any:
    """`left is right`."""
    if ACTIVE or BACKENDS or type(left) in STAGED or type(right) in STAGED:
        result = ask("is_", left, right)
        if result is not NotImplemented:
            return result
    return left is right


def is_not(left: Any, right: Any) -> Any:
    """`left is not right`."""
    return not_(is_(left, right))


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    "==": operator.eq,
    "!=": operator.ne,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "is": is_,
    "is not": is_not,
    "in": in_,
    "not in": not_in,
}


def compare(
    left: Any, comparison: str, term: Thunk, comparison2: str = "", term2: Thunk | None = None, *rest: Any
) -> Any:
    """`left < term() <= …`: evaluates each operand once, and none after a comparison that is false.

    Args:
        rest: further pairs of comparison and operand, as in `compare(0, "<", lambda: x, "<=", lambda: n)`.
    """
    try:
        right = term()
        result = _COMPARISONS[comparison](left, right)
        if term2 is None:
            return result
        if result is not True:
            if result is False:
                return result
            backend = owner(result) if ACTIVE or BACKENDS or type(result) in STAGED else None
            if backend is not None:
                staged = backend.and_(result, (partial(compare, right, comparison2, term2, *rest),))
                if staged is not NotImplemented:
                    return staged
            if not result:
                return result
        if rest:
            return compare(right, comparison2, term2, *rest)
        return _COMPARISONS[comparison2](right, term2())
    except NameError as error:
        rename(error, term, term2)
        raise
