"""Helpers that call themselves as deep as the data say: a graph that calls one calls it as a staged function.

    @ag.function
    def main(n):
        return fibonacci(n) + 1     # calls a staged form of `fibonacci`, of which all levels are machine code
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from itertools import combinations
from types import FunctionType
from typing import Any

from autograph.common import forking
from autograph.runtime.dispatch.arguments import VARIADIC, Reading
from autograph.runtime.dispatch.function import Function
from autograph.runtime.dispatch.trace_entry import holding
from autograph.runtime.graph.recursion import Helper, Target
from autograph.runtime.graph.signature import Dynamic, Signature
from autograph.runtime.graph.types import TensorType

_made: weakref.WeakValueDictionary[Any, Any] = weakref.WeakValueDictionary()     # those that graphs call
_lock = forking.lock()


class _Helper(Function[..., Any], Helper):
    """A staged function that the user has not asked for, so it warns of nothing."""

    made_of: Any

    def _begin(self) -> None:
        super()._begin()
        self._specializer.warns = False
        self.links = {}

    def target(self, values: Sequence[Any]) -> Target | None:
        if any(parameter.kind in VARIADIC for parameter in self._parameters) or len(values) != len(self._parameters):
            return None
        trace = self._specializer.trace_for(tuple(values))
        names = tuple(parameter.name for parameter in self._parameters)
        apart = [name for name, part in zip(names, _parts(trace)) if type(part) in (list, dict)]
        if apart:
            self._specializer.take_whole(apart)
            trace = self._specializer.trace_for(tuple(values))
        holds = None if trace.plain else holding(trace.guards, Reading(self._specializer.policy))
        if holds is None or _are_one(values) or any(not _is_whole(trace.signature, part) for part in _parts(trace)):
            return None
        leaves = [trace.signature.leaves[number] for number in _parts(trace)]
        types = {name: leaf.type for name, leaf in zip(names, leaves) if isinstance(leaf, Dynamic)}
        shapes = {name: type.shape for name, type in types.items() if isinstance(type, TensorType) and type.shape}
        return Target(trace.executable, names, shapes, holds)


def _parts(trace: Any) -> list[Any]:
    """The parts of a signature for the parameters."""
    args, kwargs = trace.signature.tree
    return [*args, *kwargs.values()]


def _is_whole(signature: Signature, part: Any) -> bool:
    """Whether the graph is given an argument, rather than its parts, or a constant in its place."""
    return type(part) is int and isinstance(signature.leaves[part], Dynamic)


def _are_one(values: Sequence[Any]) -> bool:
    """Whether two arguments are one object, other than a number."""
    objects = [each for each in values if not isinstance(each, (int, float))]
    return any(one is other for one, other in combinations(objects, 2))


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
