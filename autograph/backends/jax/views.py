"""Which operations give views in NumPy, so that a store into the result changes the array, and which give copies.

Whether `x.reshape(…)` is a view depends on how the elements of `x` lie in memory. So NumPy is asked: with an array that
has the shape and strides of `x`, but one byte of memory, which is never read. Below are the functions of `jax.numpy`
that do what functions of NumPy do.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import core
from jax._src.lax import lax as lax_internal
from numpy.lib.stride_tricks import as_strided

from autograph.backends.jax.lines import here
from autograph.errors import StagingError

Layout = np.ndarray[Any, Any]

# Functions and methods that always give views.
_ALWAYS = frozenset(
    "transpose swapaxes moveaxis rollaxis expand_dims squeeze flip fliplr flipud rot90 atleast_1d atleast_2d "
    "atleast_3d matrix_transpose permute_dims diagonal broadcast_to".split()
)
_READ_ONLY = frozenset({"diagonal", "broadcast_to"})
VIEWS = _ALWAYS | {"reshape", "ravel"}
_SAME = frozenset({"asarray", "asanyarray"})    # may give the array itself
_SHARING = frozenset({"broadcast_arrays", "imag", "ix_", "real"})    # give views, or copies; a store is an error


class View(NamedTuple):
    """How a view depends on the array that it is a part of.

    Attributes:
        base: the array, which may be a view itself.
        get: its value → the value of the view.
        put: its value, and a value of the view → its value with the view replaced. None if it is read-only.
    """

    base: Any
    get: Callable[[Any], Any]
    put: Callable[[Any, Any], Any] | None


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
    try:
        return np.reshape(layout, shape, copy=False)
    except ValueError:
        return None


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


def check_writable(array: Any) -> None:
    while array.part_of is not None:
        if array.part_of.put is None:
            raise ValueError("assignment destination is read-only")
        array = array.part_of.base


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


# NumPy computes these by slices, which are views: also of arrays of the program.
_BY_SLICES = frozenset(
    name for name in "split array_split hsplit vsplit dsplit unstack".split() if hasattr(np, name))


def of_jax(function: Any) -> Any:
    """The function of `jax.numpy` that does what a function of NumPy does; None if there is none."""
    if getattr(function, "__name__", "") in _BY_SLICES and hasattr(function, "_implementation"):
        return function._implementation
    found: Any = jnp
    names = [*str(getattr(function, "__module__", "")).split(".")[1:], getattr(function, "__name__", "?")]
    for name in [name for name in names if not name.startswith("_") and name not in ("lib", "core")]:
        found = getattr(found, name, None)
    return found


# Operands that JAX does not take, or takes otherwise: Python's bools, and lists ---------------------------------------
#
# Python's bools are numbers: `(a > 0) + (b > 0)` counts. NumPy's are not, nor are JAX's. A staged bool is Python's if
# its type is weak, as that of a staged number is.

_C = TypeVar("_C", bound=type)
_ARITHMETIC = frozenset("add sub mul truediv floordiv mod divmod pow lshift rshift".split())
_COMPARISONS = frozenset("eq ne lt le gt ge".split())
COMPARING = _COMPARISONS | {"not"}      # the primitives of JAX


def taking_operands(kind: _C) -> _C:
    """Let the operators of a class of tracers take Python's bools for numbers, and lists for arrays."""
    for name in _ARITHMETIC:
        for method in (f"__{name}__", f"__r{name}__"):
            setattr(kind, method, _binary(kind, method, name))
    for name in _COMPARISONS:
        setattr(kind, f"__{name}__", _binary(kind, f"__{name}__", name))
    for method in ("__neg__", "__invert__", "__pos__"):
        setattr(kind, method, _unary(kind, method))
    kind.__hash__ = None  # type: ignore[assignment]
    return kind


def _binary(kind: type, method: str, name: str) -> Any:
    operator = getattr(kind, method)

    @functools.wraps(operator)
    def operate(self: Any, other: Any, modulus: Any = None) -> Any:
        if modulus is not None:
            raise here("this line calls `pow` with a modulus, in a way that JAX's does not have. Use a loop")
        if name == "pow":
            _check_power(*((self, other) if method == "__pow__" else (other, self)))
        if type(other) in (list, tuple):
            if name == "mul" and not self.ndim and jnp.issubdtype(self.dtype, jnp.integer):
                raise here("this line repeats a list a staged number of times, which JAX must know while it traces. "
                           "Use jnp.full or jnp.zeros with a known length")
            if self.aval.weak_type and not self.ndim:
                return NotImplemented       # Python's numbers do not take lists
            other = jnp.asarray(other)
        elif name in _ARITHMETIC and is_python_bool(self) and is_python_bool(other):
            return operator(_number(self), _number(other))
        return operator(self, other)

    return operate


def _check_power(base: Any, exponent: Any) -> None:
    """Let the program fail at a negative power of an integer, which is a float in Python, and an error in NumPy."""
    aval = getattr(exponent, "aval", None)
    if aval is None or aval.dtype.kind not in "iu" or np.result_type(base).kind not in "iu":
        return
    trace = exponent._trace
    with core.set_current_trace(trace.parent_trace):
        is_negative = jnp.any(trace.read(exponent) < 0)
    trace.fail(ValueError("Integers to negative integer powers are not allowed."), is_negative)


def _unary(kind: type, method: str) -> Any:
    operator = getattr(kind, method)

    @functools.wraps(operator)
    def operate(self: Any) -> Any:
        return operator(_number(self) if is_python_bool(self) else self)

    return operate


def is_python_bool(value: Any) -> bool:
    """Whether a value is a bool of Python's, staged or not."""
    if isinstance(value, bool):
        return True
    aval = getattr(value, "aval", None)
    return aval is not None and aval.dtype == bool and aval.weak_type and not aval.shape


def _number(value: Any) -> Any:
    """A bool as one of Python's integers."""
    return int(value) if isinstance(value, bool) else weak(value, int)


def weak(value: Any, kind: type) -> Any:
    """Return an array as one of Python's numbers."""
    return lax_internal._convert_element_type(value.reshape(()), jax.dtypes.canonicalize_dtype(kind), True)


def as_python(trace: Any, primitive: Any, avals: Any, results: Any) -> Any:
    """Return the results of an operation; a comparison of numbers of Python's gives a bool of Python's."""
    if primitive.name not in COMPARING or not all(aval.weak_type and not aval.shape for aval in avals):
        return results
    with core.set_current_trace(trace.parent_trace):
        return weak(results, bool)


_LIST = re.compile(r"^(\w+) requires ndarray or scalar arguments, got <class '(?:list|tuple)'> at position (\d+)")
_RENAMED = {"clip": {"a_min": "min", "a_max": "max"}}
_SORTS = frozenset({"sort", "argsort"})     # JAX's are stable, whichever `kind` NumPy is asked for


def called(function: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call a function of JAX with arguments of the one of NumPy: with lists for arrays, and NumPy's names."""
    name = getattr(function, "__name__", "")
    names = _RENAMED.get(name, {})
    kwargs = {names.get(key, key): value for key, value in kwargs.items() if not (key == "kind" and name in _SORTS)}
    while True:
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            found = _LIST.match(str(error))
            places = range(len(args)) if found and found[1] != name else [int(found[2])] if found else []
            lists = [at for at in places if at < len(args) and isinstance(args[at], (list, tuple))]
            named = {key: jnp.asarray(value) for key, value in kwargs.items() if found and isinstance(value, list)}
            if not lists and not named:
                raise
            kwargs = {**kwargs, **named}
            args = tuple(jnp.asarray(arg) if at in lists else arg for at, arg in enumerate(args))


def call(trace: Any, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a function of JAX; what is a view in NumPy is one here, and a result that is an argument is a copy."""
    name = getattr(function, "__name__", "")
    first: Any = args[0] if args else None
    arrays = [each for each in jax.tree.leaves((args, kwargs)) if _is_tracer(each)]
    if not arrays:
        return called(function, args, kwargs)
    if name in _BY_SLICES:
        return getattr(np, name)._implementation(*args, **kwargs)
    if name.startswith("atleast_") and len(args) > 1:
        return tuple(call(trace, function, (arg,), kwargs) for arg in args)
    if _is_tracer(first):
        if name == "diag" and first.ndim == 2:
            offset = args[1] if len(args) > 1 else kwargs.get("k", 0)
            return rearranged(trace, first, "diagonal", (offset,), {}, lambda x: jnp.diagonal(x, offset))
        if name in VIEWS:
            return rearranged(trace, first, name, args[1:], kwargs, lambda x: function(x, *args[1:], **kwargs))
        if (name == "real" and first.dtype.kind != "c") or (name == "array" and _is_kept(first, *args[1:], **kwargs)):
            return first
    result = called(function, args, kwargs)
    if name == "nan_to_num" and not (args[1] if len(args) > 1 else kwargs.get("copy", True)):
        return into((first,), result)
    for leaf in filter(_is_tracer, jax.tree.leaves(result)) if name in _SHARING else ():
        for array in arrays:
            trace.relate(leaf, array.root)
    return trace.own(result, *arrays) if _is_tracer(result) and name not in _SAME else result


def _is_kept(array: Any, dtype: Any = None, copy: Any = True, **options: Any) -> bool:
    """Whether `np.array(array, dtype, copy=copy)` is the array itself."""
    return not copy and (dtype is None or np.dtype(dtype) == array.dtype)


def rearranged(
    trace: Any, array: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], get: Callable[[Any], Any]
) -> Any:
    """Return the result of a function of `VIEWS`: a view, or a copy, as in NumPy."""
    def arrange(layout: Any) -> Any:
        return arranged(layout, name, args, kwargs)

    try:
        layout = array.layout
        known = layout is not None or name not in ("reshape", "ravel")
        is_view = layout is None or arrange(layout) is not None
    except ValueError:
        known, is_view = False, True
    if known and is_view:
        view = trace.part(array, get, None if name in _READ_ONLY else scattered(get, array.shape))
        view.layout_from = arrange
        return view
    value = trace.read(array)
    with core.set_current_trace(trace.parent_trace):
        value = get(value)
    result = trace.array(value)
    if not known:       # the one may be a view of the other
        trace.relate(result, array.root)
    return result


def _is_tracer(value: Any) -> bool:
    return isinstance(value, core.Tracer) and hasattr(value, "root")


def of_ufunc(ufunc: np.ufunc, method: str, inputs: Any, kwargs: dict[str, Any]) -> Any:
    """Call the function of JAX for a ufunc of NumPy, or a method of one."""
    function = getattr(jnp, ufunc.__name__, None)
    if function is None or (method != "__call__" and not hasattr(function, method)):
        raise unknown(ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}")
    out = kwargs.pop("out", ())
    if method != "__call__":
        return into(out, called(getattr(function, method), inputs, kwargs))
    dtype, where = kwargs.pop("dtype", None), kwargs.pop("where", True)
    if where is not True and not out:
        raise here("this line computes only the items where a condition holds, and leaves the others undefined: give "
                   "`out=` with the others, or use jnp.where")
    if dtype is not None:
        inputs = [jnp.asarray(each).astype(dtype) for each in inputs]
    result = called(function, inputs, kwargs)
    return into(out, result if where is True else jnp.where(where, result, out[0]))
