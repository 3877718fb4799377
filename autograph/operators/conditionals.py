"""`if` statements and conditional expressions."""

from __future__ import annotations

from collections.abc import Sequence
from operator import truth
from typing import Any

from autograph.operators.backend import ACTIVE, BACKENDS, STAGED, Thunk, owner
from autograph.operators.state import State
from autograph.operators.unbound import rename


def if_stmt(
    test: Any, body: Thunk, orelse: Thunk | None = None, names: Sequence[str] = (), drops: bool = False
) -> Any:
    """`if test: body() else: orelse()`; return the result of the branch.

    Args:
        names: the variables that either branch changes and that are read afterwards.
        drops: whether a branch jumps out of a `finally`, which drops exceptions.
    """
    try:
        if type(test) is not bool:
            backend = owner(test) if ACTIVE or BACKENDS or type(test) in STAGED else None
            if backend is not None and (not drops or backend.may_drop):
                result = backend.if_stmt(test, body, orelse, State(names, body, orelse))
                if result is not NotImplemented:
                    return result
            test = truth(test)  # releases the object, as Python does before it enters the branch
        if test:
            return body()
        return None if orelse is None else orelse()
    except NameError as error:
        rename(error, body, orelse)
        raise


def if_exp(test: Any, body: Thunk, orelse: Thunk) -> Any:
    """`body() if test else orelse()`."""
    try:
        if type(test) is not bool:
            backend = owner(test) if ACTIVE or BACKENDS or type(test) in STAGED else None
            if backend is not None:
                result = backend.if_exp(test, body, orelse)
                if result is not NotImplemented:
                    return result
            test = truth(test)
        return body() if test else orelse()
    except NameError as error:
        rename(error, body, orelse)
        raise
