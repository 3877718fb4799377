"""`assert` and `raise`."""

from __future__ import annotations

from typing import Any

from autograph.operators.backend import ACTIVE, BACKENDS, STAGED, Thunk, owner, substitute
from autograph.operators.unbound import rename


def assert_stmt(test: Thunk, message: Thunk | None = None) -> None:
    """`assert test(), message()`; does nothing under `python -O`."""
    if not __debug__:
        return
    try:
        value = test()
        if value is True:
            return
        backend = owner(value) if ACTIVE or BACKENDS or type(value) in STAGED else None
        if backend is not None and backend.assert_stmt(value, message) is not NotImplemented:
            return
        if not value:
            raise AssertionError if message is None else AssertionError(message())
    except NameError as error:
        rename(error, test, message)
        raise


def raise_(exception: Any) -> Any:
    """Return the exception to raise for `raise exception`, or to put behind its `from`."""
    return substitute("raise_", exception) if ACTIVE else exception
