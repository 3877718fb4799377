"""Which operations give views in NumPy, so that a store into the result changes the array, and which give copies.

Whether `x.reshape(…)` is a view depends on how the elements of `x` lie in memory. So NumPy is asked: with an array that
has the shape and strides of `x`, but one byte of memory, which is never read. Below are the functions of `jax.numpy`
that do what functions of NumPy do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.lib.stride_tricks import as_strided

from autograph.backends.jax.lines import here
from autograph.errors import StagingError

Layout = np.ndarray[Any, Any]

# Functions and methods that always give views.
_ALWAYS = frozenset(
    "transpose swapaxes moveaxis rollaxis expand_dims squeeze flip fliplr flipud rot90 atleast_1d atleast_2d "
    "atleast_3d matrix_transpose permute_dims diagonal".split()
)
VIEWS = _ALWAYS | {"reshape", "ravel"}
SAME = frozenset({"asarray", "asanyarray", "real"})     # may give the array itself


class View(NamedTuple):
    """How a view depends on the array that it is a part of.

    Attributes:
        base: the array, which may be a view itself.
        get: its value → the value of the view.
        put: its value, and a value of the view → its value with the view replaced.
    """

    base: Any
    get: Callable[[Any], Any]
    put: Callable[[Any, Any], Any]


def layout_of_new(shape: tuple[int, ...]) -> Layout:
    """The layout of a new array: C-contiguous."""
    strides = [1] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        strides[axis - 1] = strides[axis] * max(shape[axis], 1)
    return as_strided(np.empty(1, np.int8), shape, strides)


def arranged(layout: Layout, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Layout | None:
    """The layout of the result of a function of `VIEWS`; None if it is a copy.

    Raises:
        ValueError: it is not known, for other orders than C.
    """
    if name in _ALWAYS:
        result: Layout = getattr(np, name)(layout, *args, **kwargs)
        return result
    order = kwargs.get("order", args[0] if name == "ravel" and args else "C")
    if order != "C":
        raise ValueError(f"order {order!r}")
    if name == "ravel" and not layout.flags.c_contiguous:
        return None
    shape = (-1,) if name == "ravel" else (args or (kwargs.get("shape", kwargs.get("newshape")),))
    shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    result = layout.view()
    try:
        result.shape = shape
    except AttributeError:
        return None
    return result


def is_basic(index: Any) -> bool:
    """Whether `x[index]` is a view in NumPy."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is ... or isinstance(part, slice) or _is_position(part) for part in parts)


def _is_position(part: Any) -> bool:
    if isinstance(part, (bool, np.bool_)):
        return False
    if isinstance(part, (int, np.integer)):
        return True
    return isinstance(part, jax.Array) and part.ndim == 0 and np.issubdtype(part.dtype, np.integer)


def has_ellipsis(index: Any) -> bool:
    """Whether `...` is in an index."""
    return any(part is ... for part in (index if isinstance(index, tuple) else (index,)))


def indexed(layout: Layout, index: Any) -> Layout:
    """The layout of `x[index]`; where an index is staged, the first of its axis will do."""
    parts = index if isinstance(index, tuple) else (index,)
    result: Layout = layout[tuple(0 if isinstance(part, jax.Array) else part for part in parts)]
    return result


def scattered(get: Callable[[Any], Any], shape: tuple[int, ...]) -> Callable[[Any, Any], Any]:
    """Return the function that stores into the elements which `get` takes from an array of a shape."""

    def put(base: Any, new: Any) -> Any:
        with jax.ensure_compile_time_eval():
            places = get(jnp.arange(int(np.prod(shape))).reshape(shape)).ravel()
        return base.ravel().at[places].set(new.ravel()).reshape(shape)

    return put


def is_in_c_order(array: Any) -> bool:
    """Whether NumPy gives results of operations on an array in C order, as far as known."""
    if array.part_of is None:
        return bool(array.in_c_order)
    layout = array.layout
    return layout is not None and list(layout.strides) == sorted(layout.strides, reverse=True)


# Functions ------------------------------------------------------------------------------------------------------------


def unknown(name: str) -> StagingError:
    return here(f"jax.numpy has no {name}, which this line calls with a staged array")


def into(out: tuple[Any, ...], result: Any) -> Any:
    for target in out:
        target[...] = result
    return out[0] if out else result


def of_jax(function: Any) -> Any:
    """The function of `jax.numpy` that does what a function of NumPy does; None if there is none."""
    found: Any = jnp
    names = [*str(getattr(function, "__module__", "")).split(".")[1:], getattr(function, "__name__", "?")]
    for name in [name for name in names if not name.startswith("_") and name not in ("lib", "core")]:
        found = getattr(found, name, None)
    return found
