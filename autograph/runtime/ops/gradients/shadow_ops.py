"""Ops that make, move and empty shadows; see `autograph.runtime.autodiff.shadow`."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import ItemsView, Iterator, KeysView
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from autograph.common.code_marks import UNBOUND
from autograph.common.pytree import Within, resolve
from autograph.errors import DerivativeError
from autograph.runtime.graph.opdef import NO_GRADIENT, VIEW, WRITE, declare
from autograph.runtime.graph.traits import GIVES_PARTS, GRADIENT, MOVES, SHARES_FIRST, STRONG_ZEROS
from autograph.runtime.graph.types import NONE, TensorType, Type
from autograph.runtime.ops.gradients.adjoint_ops import fit, is_basic, joined_like, like_first, parts_within
from autograph.runtime.ops.gradients.toolkit import same
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.shape_rules import tensor_arg

ARRAYS = (np.ndarray, np.flatiter)


class Blank:
    """The shadow of an object without a gradient, such as an integer, or whose gradient is unknown.

    Args:
        thing: the object.
        name: of the variable, or the expression, that has given it; None if nothing is lost without its gradient.
        what: a description for errors.
    """

    __slots__ = ("_name", "_what", "shape")

    def __init__(self, thing: Any, name: str | None = None, what: str = "") -> None:
        is_array = isinstance(thing, np.ndarray)
        self.shape: tuple[int, ...] = thing.shape if is_array else ()
        self._name = name
        is_what = f"an array of {thing.dtype}" if is_array else f"an object of class {type(thing).__name__}"
        self._what = what or is_what

    def take(self, gradient: Any) -> None:
        """Refuse a gradient that is not zero, if that would be lost.

        Raises:
            DerivativeError: see above.
        """
        if self._name is None or not _is_some(gradient):
            return
        raise DerivativeError(
            f"the gradient goes through {f'`{self._name}`, ' if self._name else ''}{self._what}. Gradients "
            "are known of floats, arrays of floats, and of what lists, tuples and dicts hold: compute with these, or "
            "make it a constant by ag.stop_gradient"
        )

    def zeros(self) -> Any:
        """A gradient of zeros."""
        return np.zeros(self.shape) if self.shape else 0.0

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, str):      # a field, or an entry
            return self
        return self.of(part_of(np.broadcast_to(0, self.shape), index) if self.shape else None)

    def of(self, thing: Any) -> Any:
        """The blank of an object that was made from this blank's object."""
        return resolve(self._of, thing)

    def _of(self, thing: Any) -> Any:
        if isinstance(thing, (list, tuple)):
            return Within(zip(thing), joined_like(thing))
        made = copy.copy(self)
        made.shape = np.shape(thing) if isinstance(thing, np.ndarray) else ()
        return made

    def __iter__(self) -> Iterator[Blank]:
        return map(self.__getitem__, range(self.shape[0])) if self.shape else itertools.repeat(self)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args: self.take(1.0)     # an operation without a known derivative


def shadow_of(thing: Any, name: str | None = None) -> Any:
    """The shadow of an object: zeros for arrays and floats, at all depths; None or blanks for everything else.

    Args:
        name: the name of an active value; if it is a text or the like, it refuses a gradient.
    """
    return resolve(_shadow_of, thing, name)


def _shadow_of(thing: Any, name: str | None) -> Any:
    kind = type(thing)
    if kind in (list, tuple, dict) or (isinstance(thing, tuple) and hasattr(kind, "_fields")):
        return parts_within(thing, name)
    if isinstance(thing, np.ndarray) and thing.dtype.kind not in "OVSU":
        return _zeros(thing) if thing.dtype.kind in "fc" else Blank(thing)
    if isinstance(thing, (float, complex, np.inexact)):
        return np.zeros((), np.asarray(thing).dtype)
    if isinstance(thing, _ENCODING):
        return None if name is None else Blank(thing, name)
    return None if thing is None or isinstance(thing, _WITHOUT_NUMBERS) else Blank(thing, name or "")


_ENCODING = (str, bytes, FunctionType, Iterator)
_WITHOUT_NUMBERS = (
    int, type, range, slice, np.generic, np.dtype, np.random.Generator, BuiltinFunctionType, ModuleType, type(...),
    type(UNBOUND), Blank,
)  # fmt: skip


def blank(thing: Any, name: str) -> Any:
    """The shadow of an object that has no gradient, but encodes a value that has one."""
    return Blank(thing, name)


def _zeros(array: Any) -> Any:
    """Zeros with the memory layout of an array, so that views of both correspond."""
    found = np.zeros_like(array, subok=False)
    if found.strides == array.strides or 0 in array.strides:
        return found
    low, high = np.lib.array_utils.byte_bounds(array)
    start = array.__array_interface__["data"][0] - low
    return np.ndarray(array.shape, array.dtype, np.zeros(high - low, np.uint8), start, array.strides)


def part_of(shadow: Any, index: Any) -> Any:
    """The shadow of an item, from that of an array or container; the index of an array must be basic."""
    if not isinstance(shadow, ARRAYS):
        return None if shadow is None else shadow[index]
    if isinstance(shadow, np.flatiter):
        shadow, index = shadow.base, np.unravel_index(index, shadow.base.shape)
    entries = index if isinstance(index, tuple) else (index,)
    return shadow[entries if any(each is ... for each in entries) else (*entries, ...)]


def parts_of(shadow: Any, form: Any = None) -> Any:
    """Iterate over the shadows of items. `form`, a tuple, says how each item will be unpacked."""
    if type(form) is tuple:
        return (_in_form(part, form) for part in parts_of(shadow))
    if isinstance(shadow, np.ndarray):
        return [shadow[at, ...] for at in range(len(shadow))]
    if isinstance(shadow, np.flatiter):
        return [part_of(shadow, at) for at in range(len(shadow))]
    if isinstance(shadow, (dict, KeysView)):
        return map(_of_key, shadow)
    if isinstance(shadow, ItemsView):
        return ((_of_key(key), part) for key, part in shadow)
    return itertools.repeat(None) if shadow is None else shadow


def _of_key(key: Any) -> Any:
    """The shadow of a key of a dict: whether its numbers depend on the inputs is unknown."""
    if isinstance(key, tuple):
        return tuple(map(_of_key, key))
    return Blank(key, "", f"the key {key!r} of a dict") if isinstance(key, _IN_KEYS) else None


_IN_KEYS = (float, complex, np.inexact, str, bytes)


def _in_form(part: Any, form: tuple[Any, ...]) -> Any:
    """A shadow, with tuples of None for None where the form has tuples."""
    if part is not None and tuple not in map(type, form):
        return part
    parts = itertools.repeat(None) if part is None else part
    return tuple(_in_form(each, inner) if type(inner) is tuple else each for each, inner in zip(parts, form))


def is_blank(shadow: Any) -> bool:
    """Whether a shadow holds no gradient, or an unknown one."""
    return shadow is None or isinstance(shadow, Blank)


def zeros_for(shadow: Any) -> Any:
    """A gradient of zeros for an object that has none."""
    return shadow.zeros() if isinstance(shadow, Blank) else 0.0


def _is_some(gradient: Any) -> bool:
    """Whether anything in a gradient is not zero."""
    return bool(resolve(_is_any, gradient))


def _is_any(gradient: Any) -> Any:
    if isinstance(gradient, (list, tuple, dict)):
        return Within(zip(gradient.values() if isinstance(gradient, dict) else gradient), any)
    return gradient is not None and bool(np.any(gradient))


def accumulate_each(shadow: Any, gradient: Any) -> None:
    """Add a gradient to the shadow of each item of a list."""
    if isinstance(shadow, Blank):
        shadow.take(gradient)
        return
    for part in parts_of(shadow) if shadow is not None else ():
        accumulate(part, gradient)


def sum_of_parts(shadow: Any) -> Any:
    """The transpose of `accumulate_each`."""
    parts = () if is_blank(shadow) else parts_of(shadow)
    return sum((in_shadow(part) for part in parts), 0.0)


def accumulate(shadow: Any, gradient: Any) -> None:
    """Add a gradient to a shadow of the same structure; None and 0.0 are zeros of any structure."""
    resolve(_accumulate, shadow, gradient)


def _accumulate(shadow: Any, gradient: Any) -> Any:
    if shadow is None or gradient is None or (type(gradient) is float and not gradient):
        return None
    if isinstance(shadow, Blank):
        shadow.take(gradient)
    elif isinstance(shadow, np.ndarray):
        if shadow.ndim or not isinstance(gradient, (list, tuple, dict)):    # or it is that of zeros of any structure
            shadow += fit(gradient, shadow)
    else:
        if isinstance(gradient, (np.ndarray, np.generic, float, complex)) and isinstance(shadow, (list, tuple)):
            gradient = _of_items(gradient, shadow)
        if len(gradient) != len(shadow):
            raise DerivativeError("the gradient goes through lists that are put together in an unknown way")
        parts = shadow.items() if isinstance(shadow, dict) else enumerate(shadow)
        return Within(((part, gradient[at]) for at, part in parts), _nothing)
    return None


def _nothing(_: Any) -> None:
    """Join nothing: the parts are changed in place."""


def _of_items(gradient: Any, shadow: Any) -> Any:
    """The gradient of a list that NumPy converted to an array, in the shape of the list."""
    try:
        return fit(gradient, np.broadcast_to(np.zeros((), np.result_type(gradient)), _shape(shadow)))
    except ValueError:
        raise DerivativeError("the gradient goes through a list of arrays of several shapes") from None


def _shape(shadow: Any) -> tuple[int, ...]:
    lengths: list[int] = []
    while isinstance(shadow, (list, tuple)):
        lengths.append(len(shadow))
        shadow = shadow[0] if shadow else None
    return *lengths, *(np.shape(shadow) if isinstance(shadow, np.ndarray) else ())


def add_at(shadow: Any, index: Any, gradient: Any) -> None:
    """Add a gradient to the items at `index`; an item that the index repeats gets it each time."""
    if shadow is None:
        return
    if isinstance(shadow, (list, tuple, dict, Blank)):
        accumulate(shadow[index], gradient)
    elif is_basic(index):
        shadow[index] += gradient
    else:
        np.add.at(shadow, index, gradient)


def gradient_in(shadow: Any, like: Any) -> Any:
    """The gradient in a shadow, in the form of its object: numbers for numbers."""
    return resolve(_gradient_in, like, shadow)


def _gradient_in(like: Any, shadow: Any) -> Any:
    if isinstance(like, (list, tuple)):
        return Within(zip(like, shadow), joined_like(like))
    if isinstance(like, dict):
        parts = ((value, shadow[key]) for key, value in like.items())
        return Within(parts, lambda made: dict(zip(like, made)))
    if is_blank(shadow):
        raise DerivativeError(f"a gradient is asked for in something of class {type(like).__name__}, which is no float")
    return float(shadow) if type(like) is float else complex(shadow) if type(like) is complex else shadow[()]


def some_gradient(thing: Any, seed: int) -> Any:
    """Small random floats in the form of a thing, as an arbitrary cotangent."""
    return resolve(_some_gradient, thing, np.random.default_rng(seed))


def _some_gradient(thing: Any, rng: np.random.Generator) -> Any:
    if (parts := parts_within(thing, rng)) is not None:
        return parts
    shadow = shadow_of(thing)
    if not isinstance(shadow, np.ndarray):
        return np.zeros_like(thing) if isinstance(thing, (np.ndarray, np.generic)) else 0.0
    shadow += (rng.random(shadow.shape) + 1) * 1e-3
    return gradient_in(shadow, thing)


def in_shadow(shadow: Any) -> Any:
    """The gradient in the shadow of a number, as a number; in that of a container of numbers, a container of such."""
    return resolve(_in_shadow, shadow)


def _in_shadow(shadow: Any) -> Any:
    return parts_within(shadow) or (zeros_for(shadow) if is_blank(shadow) else shadow[()])


def or_zero(shadow: Any) -> Any:
    """A shadow as a gradient; zeros for an object that turns out to be an integer at run time."""
    return zeros_for(shadow) if is_blank(shadow) else shadow


def snapshot(thing: Any) -> Any:
    """A copy of an array, or of a container with the arrays in it; anything else as it is."""
    return resolve(_snapshot, thing)


def _snapshot(thing: Any) -> Any:
    if isinstance(thing, np.ndarray):
        return thing.copy()
    return parts_within(thing) if type(thing) in (list, tuple, dict) else thing


def take_out(shadow: Any, where: Any = True) -> Any:
    """Take the gradient out of a shadow and set it to zero, because its object was overwritten.

    Args:
        where: the part that was, if it was not all.
    """
    if not isinstance(shadow, np.ndarray):
        return zeros_for(shadow)
    found = shadow.copy() if where is True else np.where(where, shadow, 0)
    np.copyto(shadow, 0, where=where)
    return found


def take_at(shadow: Any, index: Any) -> Any:
    """Take the gradients of the items at `index`, which were overwritten; of a repeated item, the last write counts."""
    if is_blank(shadow):
        return zeros_for(shadow and shadow[index])
    found = shadow[index]
    if _may_repeat(index):
        last = np.zeros(shadow.shape if isinstance(shadow, np.ndarray) else len(shadow), int)
        order = np.arange(1, found.size + 1).reshape(found.shape)
        last[index] = order
        found = np.where(last[index] == order, found, 0)
    found = snapshot(found)
    shadow[index] = 0
    return found


def take_back(shadow: Any, index: Any) -> Any:
    """`take_at` for an array; items of lists and dicts have shadows of their own."""
    return take_at(shadow, index) if isinstance(shadow, ARRAYS) else 0.0


def put_back(shadow: Any, index: Any, gradient: Any, where: Any = True) -> None:
    """The transpose of `take_back`, or of `take_out` with `where`."""
    if isinstance(shadow, ARRAYS) and where is True:
        shadow[index] = gradient
    elif isinstance(shadow, np.ndarray):
        np.copyto(shadow, gradient, where=where)


def gradient_at(shadow: Any, index: Any) -> Any:
    """The gradients of the items at `index`; zeros if the object is an array of integers at run time."""
    return zeros_for(shadow and shadow[index]) if is_blank(shadow) else snapshot(shadow[index])


def take_overwritten(shadow: Any, op: str, place: int, *args: Any, **options: Any) -> Any:
    """Take the gradient of the value that a function has written into some items of an array.

    To find out which of the value's items has come where, the function is made to write their numbers.

    Args:
        op: the function.
        place: the position of the value among all arguments.
        args: all arguments but the first.
    """
    if is_blank(shadow):
        return np.zeros(np.shape(args[place - 1]))[()]
    came, shape = np.zeros(shadow.shape, int), np.shape(args[place - 1])
    numbers = np.arange(1, math.prod(shape) + 1).reshape(shape)
    function = getattr(np, op[op.index(".") + 1 :])
    function(came, *args[: place - 1], numbers, *args[place:], **options)
    found = np.zeros(math.prod(shape) + 1, shadow.dtype)
    np.add.at(found, came.ravel(), shadow.ravel())
    shadow[came > 0] = 0
    return found[1:].reshape(shape)[()]


def unless_view(shadow: Any, base: Any, is_item: bool) -> Any:
    """Take the gradient of a result that may be a view or an item; a view has none of its own.

    Args:
        is_item: whether it is an item, or some, if that is a list.
    """
    if not isinstance(shadow, np.ndarray):
        return zeros_for(shadow)
    return take_out(shadow) if _is_apart(shadow, base, is_item) else np.zeros_like(shadow)


def put_unless_view(shadow: Any, base: Any, is_item: bool, gradient: Any) -> None:
    """The transpose of `unless_view`."""
    if isinstance(shadow, np.ndarray) and _is_apart(shadow, base, is_item):
        shadow[...] = gradient


def _is_apart(shadow: Any, base: Any, is_item: bool) -> bool:
    return not np.may_share_memory(shadow, base) if isinstance(base, np.ndarray) else not is_item


def _may_repeat(index: Any) -> bool:
    """Whether an index may select an item twice."""
    parts = index if isinstance(index, tuple) else (index,)
    arrays = [np.asarray(part) for part in parts if isinstance(part, (list, np.ndarray))]
    if len(arrays) == 1 and arrays[0].ndim == 1 and arrays[0].dtype.kind in "iu":
        found = arrays[0].tolist()
        return len(set(found)) < len(found) or min(found, default=0) < 0
    return any(array.dtype.kind != "b" for array in arrays)


def number(shadow: Any) -> Type:
    found = tensor_arg(shadow)
    return TensorType(found.dtype, found.shape, "array" if found.shape else "scalar")


declare("shadow_of", target=shadow_of, vjp=NO_GRADIENT, traits=[GRADIENT, STRONG_ZEROS])
declare("blank", target=blank, vjp=NO_GRADIENT, traits=[GRADIENT])
declare("part_of", effect=VIEW, target=part_of, raises=True, traits=[GIVES_PARTS, GRADIENT, STRONG_ZEROS])
declare("parts_of", effect=VIEW, target=parts_of, raises=True, traits=[GRADIENT])
declare("add_at", NONE, effect=WRITE, target=add_at, raises=True, traits=[GRADIENT])
declare("accumulate", NONE, effect=WRITE, target=accumulate, raises=True, traits=[GRADIENT])


declare("gradient_in", effect=VIEW, target=gradient_in, raises=True, traits=[GRADIENT])
declare(
    "in_shadow", rule(number), effect=VIEW, target=in_shadow, vjp=same, traits=[GRADIENT, STRONG_ZEROS, SHARES_FIRST]
)
declare("or_zero", like_first, effect=VIEW, target=or_zero, vjp=same, traits=[GRADIENT, SHARES_FIRST])
declare("snapshot", like_first, target=snapshot, vjp=same, traits=[GRADIENT, MOVES])
declare("take_out", like_first, effect=WRITE, target=take_out, traits=[GRADIENT, STRONG_ZEROS])
declare("take_at", effect=WRITE, target=take_at, raises=True, traits=[GRADIENT, STRONG_ZEROS])
declare("take_back", effect=WRITE, target=take_back, raises=True, traits=[GRADIENT, STRONG_ZEROS])
declare("take_overwritten", effect=WRITE, target=take_overwritten, raises=True, traits=[GRADIENT, STRONG_ZEROS])
declare("unless_view", like_first, effect=WRITE, target=unless_view, traits=[GRADIENT, STRONG_ZEROS])
declare("put_unless_view", NONE, effect=WRITE, target=put_unless_view, raises=True, traits=[GRADIENT])
declare("put_back", NONE, effect=WRITE, target=put_back, raises=True, traits=[GRADIENT])
declare("gradient_at", target=gradient_at, raises=True, traits=[GRADIENT])
declare("accumulate_each", NONE, effect=WRITE, target=accumulate_each, raises=True, traits=[GRADIENT])
declare("sum_of_parts", target=sum_of_parts, raises=True, traits=[GRADIENT, STRONG_ZEROS])
declare("some_gradient", like_first, target=some_gradient, raises=True, vjp=(None, None), traits=[GRADIENT])
