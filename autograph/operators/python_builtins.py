"""Operators for builtin functions. Each call looks the builtin up, so that a program may replace it."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from autograph.operators.backend import ACTIVE, BACKENDS, PLAIN, STAGED, responsible
from autograph.operators.calls import call

_NAMES = (
    "all any ascii bool chr complex dict enumerate filter float format frozenset int iter len list map max min next "
    "ord print range repr reversed set sorted str sum tuple type zip"
).split()

__all__ = [f"{name}_" for name in _NAMES]

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
    """Return the operator for a builtin. If it gets one plain value, it calls the builtin directly."""

    def operator(value: Any = _MISSING, /, *more: Any, **kwargs: Any) -> Any:
        if not (more or kwargs or ACTIVE or value is _MISSING):
            if type(value) in PLAIN or not (BACKENDS or type(value) in STAGED):
                return _BUILTINS[name](value)
        args = more if value is _MISSING else (value, *more)
        del value, more     # a trace counts the references to a list, to find out whether a variable has the only one
        return run(name, args, kwargs)

    operator.__name__ = operator.__qualname__ = f"{name}_"
    operator.__doc__ = f"`{name}(…)`."
    return operator


for _name in _NAMES:
    globals()[f"{_name}_"] = _operator(_name)
