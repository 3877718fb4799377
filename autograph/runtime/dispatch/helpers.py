"""Helpers that call themselves as deep as the data say: a graph that calls one calls it as a staged function.

    @ag.function
    def main(n):
        return fibonacci(n) + 1     # calls a staged form of `fibonacci`, of which all levels are machine code
"""

from __future__ import annotations

import weakref
from types import FunctionType
from typing import Any

from autograph.common import forking
from autograph.runtime.dispatch.function import Function

_made: weakref.WeakValueDictionary[Any, Any] = weakref.WeakValueDictionary()     # those that graphs call
_lock = forking.lock()


class _Helper(Function[..., Any]):
    """A staged function that the user has not asked for, so it warns of nothing."""

    made_of: Any

    def _begin(self) -> None:
        super()._begin()
        self._specializer.warns = False


def staged_helper(function: FunctionType, **options: Any) -> Any:
    """The staged form of a function as it is now, the same one for all graphs that call it."""
    made_of = function, function.__code__, function.__defaults__
    key = (*map(id, made_of), repr(options))
    with _lock:
        found = _made.get(key)
        if found is None:
            helper = _Helper(function, **options)
            helper.made_of = made_of        # as long as it is there, so are they, and the key is theirs
            found = _made[key] = helper.as_function()
        return found
