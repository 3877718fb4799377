"""Operators for builtin functions. Each call looks the builtin up, so that a program may replace it."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from autograph.operators.backend import ACTIVE, BACKENDS, PLAIN, STAGED, responsible
from autograph.operators.calls import call

# Builtins that are mostly called with one value; and the others.
_OF_ONE = (
    "len int float bool str repr ascii format ord chr type iter next list tuple set frozenset dict".split()
)
_OTHERS = "range print enumerate zip map filter complex min max sum any all sorted reversed".split()

__all__ = [f"{name}_" for name in (*_OF_ONE, *_OTHERS)]

_BUILTINS = vars(builtins)
_MISSING: Any = object()
_disjoint = STAGED.keys().isdisjoint


def run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a builtin, or hand the call to a backend."""
    if ACTIVE or BACKENDS or not _disjoint([type(value) for value in (*args, *kwargs.values())]):
        backend = responsible(*args, *kwargs.values())
        if backend is not None:
            if (name in ("map", "filter") and args) or (name == "iter" and len(args) == 2):
                args = (call(args[0]), *args[1:])
            if "key" in kwargs:
                kwargs["key"] = call(kwargs["key"])
            result = backend.builtin(name, args, kwargs)
            if result is not NotImplemented:
                return result
    return _BUILTINS[name](*args, **kwargs)


def _operator(name: str) -> Callable[..., Any]:
    def operator(*args: Any, **kwargs: Any) -> Any:
        return run(name, args, kwargs)

    return operator


def _operator_of_one(name: str) -> Callable[..., Any]:
    """Return an operator that calls the builtin directly if it gets one plain value."""

    def operator(value: Any = _MISSING, /, *more: Any, **kwargs: Any) -> Any:
        if not (more or kwargs or ACTIVE or value is _MISSING):
            if type(value) in PLAIN or not (BACKENDS or type(value) in STAGED):
                return _BUILTINS[name](value)
        return run(name, more if value is _MISSING else (value, *more), kwargs)

    return operator


def _define(name: str, operator: Callable[..., Any]) -> None:
    """Make an operator the attribute `name_` of this module."""
    operator.__name__ = operator.__qualname__ = f"{name}_"
    operator.__doc__ = f"`{name}(…)`."
    globals()[f"{name}_"] = operator


for _name in _OF_ONE:
    _define(_name, _operator_of_one(_name))
for _name in _OTHERS:
    _define(_name, _operator(_name))
