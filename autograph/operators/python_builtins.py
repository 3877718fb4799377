"""Builtin functions, looked up when called, so that a replaced builtin is the one that is called."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

from autograph.operators.backend import ACTIVE, BACKENDS, PLAIN, STAGED, responsible
from autograph.operators.calls import call

__all__ = [
    "all_", "any_", "ascii_", "bool_", "chr_", "complex_", "dict_", "enumerate_", "filter_", "float_", "format_",
    "frozenset_", "int_", "iter_", "len_", "list_", "map_", "max_", "min_", "next_", "ord_", "print_", "range_",
    "repr_", "reversed_", "set_", "sorted_", "str_", "sum_", "tuple_", "type_", "zip_",
]  # fmt: skip

_BUILTINS = vars(builtins)
_MISSING: Any = object()
_disjoint = STAGED.keys().isdisjoint


def _run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
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
        return _run(name, args, kwargs)

    return _named(operator, name)


def _named(operator: Callable[..., Any], name: str) -> Callable[..., Any]:
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


def _of_one(name: str) -> Callable[..., Any]:
    """The operator for a builtin mostly called with one value; that call, of a plain one, is made directly."""

    def operator(value: Any = _MISSING, /, *more: Any, **kwargs: Any) -> Any:
        if not (more or kwargs or ACTIVE or value is _MISSING):
            if type(value) in PLAIN or not (BACKENDS or type(value) in STAGED):
                return _BUILTINS[name](value)
        return _run(name, more if value is _MISSING else (value, *more), kwargs)

    return _named(operator, name)


len_ = _of_one("len")
int_ = _of_one("int")
float_ = _of_one("float")
bool_ = _of_one("bool")
str_ = _of_one("str")
repr_ = _of_one("repr")
ascii_ = _of_one("ascii")
format_ = _of_one("format")
ord_ = _of_one("ord")
chr_ = _of_one("chr")
type_ = _of_one("type")
iter_ = _of_one("iter")
next_ = _of_one("next")
list_ = _of_one("list")
tuple_ = _of_one("tuple")
set_ = _of_one("set")
frozenset_ = _of_one("frozenset")
dict_ = _of_one("dict")
