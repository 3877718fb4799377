"""Tools for derivatives of ops: static facts about arguments, and functions that also take proxies.

The rules themselves are in the files of their ops; `Vjp` in `opdef.py` describes their arguments and results.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import op_of
from autograph.runtime.graph.types import ObjectType, TensorType, type_of


def on_proxies(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function record the op that it is, when it gets proxies, as NumPy's functions do.

    The op's target is `function` itself, or the result of this decorator.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for arg in args:
            handler = getattr(type(arg), "__array_function__", None)
            if handler is not None and not isinstance(arg, np.ndarray):
                return handler(arg, call if op_of(call) else function, (type(arg),), args, kwargs)
        return function(*args, **kwargs)

    return call


# ------------------------------------------------------------------------------------------------------ static facts


def shape(x: Any) -> Any:
    """The shape of an array or number, or of the array that NumPy makes of a list."""
    if isinstance(x, (list, tuple)):
        return (len(x), *shape(x[0])) if x else (0,)
    return np.shape(x) if _may_be_anything(x) else getattr(as_array(x), "shape", ())


def ndim(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return len(shape(x))
    return np.ndim(x) if _may_be_anything(x) else getattr(as_array(x), "ndim", 0)


def _may_be_anything(x: Any) -> bool:
    """Whether it is unknown before the run if this is an array, a number or a list."""
    value = getattr(x, "_ag_value", None)
    return value is not None and not (isinstance(value.type, TensorType) and value.type.exact) and not is_list(x)


def is_list(x: Any) -> bool:
    """Whether it is a list or tuple, or a proxy of one."""
    found = getattr(getattr(x, "_ag_value", None), "type", None)
    return isinstance(x, (list, tuple)) or (isinstance(found, ObjectType) and found.name in ("list", "tuple"))


def is_real(x: Any) -> bool:
    """Whether a value is certainly not complex."""
    value = getattr(x, "_ag_value", None)      # of a proxy: its type says more than its attributes do
    found = type_of(x) if value is None else value.type
    return isinstance(found, TensorType) and found.dtype.kind != "c"


def conj(x: Any) -> Any:
    return x if is_real(x) else np.conj(x)


def as_array(x: Any) -> Any:
    """The array that NumPy makes of a list, which may contain proxies; anything else as it is."""
    if isinstance(x, (list, tuple)):
        return np.stack(list(map(as_array, x))) if x else x
    return np.atleast_1d(x) if is_list(x) else x


def is_true(option: Any) -> bool:
    """Whether an option was passed, and is true."""
    return option is not np._NoValue and bool(option)


def same(g: Any, out: Any, /, *_: Any, **__: Any) -> Any:
    """The derivative of an op that gives its argument, perhaps in another form: the gradient as it is."""
    return g
