"""`and`, `or` and `not`."""

from __future__ import annotations

from typing import Any

from autograph.operators.backend import BACKENDS, Thunk, owner
from autograph.operators.unbound import rename


def and_(first: Thunk, *rest: Thunk, test: bool = False) -> Any:
    """`first() and rest[0]() and …`: as lazy, and the last value it computed.

    Args:
        test: only the truth of the result matters; what decides is not asked for its truth once more, then.
    """
    try:
        value = first()
        for term in rest:
            if value is not True:
                if value is False:
                    return value
                backend = owner(value) if BACKENDS else None
                if backend is not None:
                    result = backend.and_(value, rest[rest.index(term) :])
                    if result is not NotImplemented:
                        return result
                if not value:
                    return False if test else value
                value = None  # Python does not hold on to it either
            value = term()
        return value
    except NameError as error:
        rename(error, first, *rest)
        raise


def or_(first: Thunk, *rest: Thunk, test: bool = False) -> Any:
    """`first() or rest[0]() or …`: as lazy, and the last value it computed; `test` as for `and_`."""
    try:
        value = first()
        for term in rest:
            if value is not False:
                if value is True:
                    return value
                backend = owner(value) if BACKENDS else None
                if backend is not None:
                    result = backend.or_(value, rest[rest.index(term) :])
                    if result is not NotImplemented:
                        return result
                if value:
                    return True if test else value
                value = None
            value = term()
        return value
    except NameError as error:
        rename(error, first, *rest)
        raise


def not_(value: Any) -> Any:
    """`not value`."""
    backend = owner(value) if BACKENDS else None
    if backend is not None:
        result = backend.not_(value)
        if result is not NotImplemented:
            return result
    return not value
