"""`and`, `or` and `not`."""

from __future__ import annotations

from typing import Any

from autograph.operators.backend import ACTIVE, BACKENDS, STAGED, Thunk, owner
from autograph.operators.unbound import rename

# Plain parameters, at most four operands (converters nest more): Python calls such functions much faster.


def and_(
    first: Thunk, second: Thunk, third: Thunk | None = None, fourth: Thunk | None = None, test: bool = False
) -> Any:
    """`first() and second() and …`: evaluates no more operands than Python does, and returns the last one.

    Args:
        test: only the truth of the result matters; so the truth of an operand is not computed twice.
    """
    try:
        value = first()
        if value is not True:
            if value is False:
                return value
            backend = owner(value) if ACTIVE or BACKENDS or type(value) in STAGED else None
            if backend is not None and test:
                value = backend.truth(value)
            if backend is not None and type(value) is not bool:
                result = backend.and_(value, _present(second, third, fourth), test)
                if result is not NotImplemented:
                    return result
            if not value:
                return False if test else value
            value = None  # Python releases it here, too
        return second() if third is None else and_(second, third, fourth, None, test)
    except NameError as error:
        rename(error, first, second)
        raise


def or_(
    first: Thunk, second: Thunk, third: Thunk | None = None, fourth: Thunk | None = None, test: bool = False
) -> Any:
    """`first() or second() or …`: evaluates no more operands than Python does, and returns the last one.

    Args:
        test: as for `and_`.
    """
    try:
        value = first()
        if value is not False:
            if value is True:
                return value
            backend = owner(value) if ACTIVE or BACKENDS or type(value) in STAGED else None
            if backend is not None and test:
                value = backend.truth(value)
            if backend is not None and type(value) is not bool:
                result = backend.or_(value, _present(second, third, fourth), test)
                if result is not NotImplemented:
                    return result
            if value:
                return True if test else value
            value = None
        return second() if third is None else or_(second, third, fourth, None, test)
    except NameError as error:
        rename(error, first, second)
        raise


def _present(*operands: Thunk | None) -> list[Thunk]:
    return [operand for operand in operands if operand is not None]


def not_(value: Any) -> Any:
    """`not value`."""
    backend = owner(value) if ACTIVE or BACKENDS or type(value) in STAGED else None
    if backend is not None:
        result = backend.not_(value)
        if result is not NotImplemented:
            return result
    return not value
