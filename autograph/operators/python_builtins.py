"""Builtin functions, looked up when called, so that a replaced builtin is the one that is called."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from autograph.operators.backend import ACTIVE, BACKENDS, PLAIN, STAGED, responsible
from autograph.operators.calls import call

_MISSING: Any = object()
_disjoint = STAGED.keys().isdisjoint


def _run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if ACTIVE or BACKENDS or not _disjoint([type(value) for value in (*args, *kwargs.values())]):
        backend = responsible(*args, *kwargs.values())
        if backend is not None:
            if name in ("map", "filter") and args:
                args = (call(args[0]), *args[1:])
            if "key" in kwargs:
                kwargs["key"] = call(kwargs["key"])
            result = backend.builtin(name, args, kwargs)
            if result is not NotImplemented:
                return result
    return getattr(builtins, name)(*args, **kwargs)


def _operator(name: str) -> Callable[..., Any]:
    def operator(*args: Any, **kwargs: Any) -> Any:
        return _run(name, args, kwargs)

    operator.__name__ = operator.__qualname__ = f"{name}_"
    operator.__doc__ = f"`{name}(…)`."
    return operator


range_ = _operator("range")
print_ = _operator("print")
enumerate_ = _operator("enumerate")
zip_ = _operator("zip")
map_ = _operator("map")
filter_ = _operator("filter")
complex_ = _operator("complex")
min_ = _operator("min")
max_ = _operator("max")
sum_ = _operator("sum")
any_ = _operator("any")
all_ = _operator("all")
sorted_ = _operator("sorted")
reversed_ = _operator("reversed")


# These four stand in inner loops: the usual call, of one plain value, takes no detour.


def len_(value: Any = _MISSING, /, *more: Any, **kwargs: Any) -> Any:
    """`len(value)`."""
    if type(value) in PLAIN and not (more or kwargs or ACTIVE):
        return builtins.len(value)
    return _run("len", more if value is _MISSING else (value, *more), kwargs)


def int_(value: Any = _MISSING, /, *more: Any, **kwargs: Any) -> Any:
    """`int(value)`."""
    if type(value) in PLAIN and not (more or kwargs or ACTIVE):
        return builtins.int(value)
    return _run("int", more if value is _MISSING else (value, *more), kwargs)


def float_(value: Any = _MISSING, /, *more: Any, **kwargs: Any) -> Any:
    """`float(value)`."""
    if type(value) in PLAIN and not (more or kwargs or ACTIVE):
        return builtins.float(value)
    return _run("float", more if value is _MISSING else (value, *more), kwargs)


def bool_(value: Any = _MISSING, /, *more: Any, **kwargs: Any) -> Any:
    """`bool(value)`."""
    if type(value) in PLAIN and not (more or kwargs or ACTIVE):
        return builtins.bool(value)
    return _run("bool", more if value is _MISSING else (value, *more), kwargs)
