"""Ops that only gradients consist of: they bring a gradient to the shape and dtype of its value.

Some of them work on optional parts: lists of arrays in which None means zeros, and values that may be None.
"""

from __future__ import annotations

import cmath
import reprlib
from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.common.pytree import Within, resolve
from autograph.errors import DerivativeError
from autograph.runtime.graph.opdef import NO_GRADIENT, VIEW, WRITE, declare, lookup
from autograph.runtime.graph.traits import (
    CHOOSES,
    GRADIENT,
    MASKS,
    MOVES,
    PART_OF_FIRST,
    SAME_IN_PLACE,
    SHARES,
    SHARES_FIRST,
    STRONG_ZEROS,
)
from autograph.runtime.graph.types import NONE, TensorType, Type
from autograph.runtime.ops.gradients.toolkit import on_proxies, same
from autograph.runtime.ops.inference import sharing
from autograph.runtime.ops.inference.containers import build_type
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    array_like,
    broadcast,
    inexact_dtype,
    is_type,
    operand,
    tensor_arg,
    type_of_arg,
)


def fit(gradient: Any, like: Any) -> Any:
    """A gradient, summed over the dimensions in which `like` was broadcast, as an array or scalar of its dtype.

    Args:
        gradient: an array or number, of a shape that `like` can be broadcast to, or that can be broadcast to `like`'s;
            of a list, it may be those of its items one by one.
        like: an array or number of floats or complex numbers, or a list that was taken for an array.
    """
    if isinstance(like, (list, tuple)):
        return gradient if isinstance(gradient, (list, tuple)) else fit(gradient, np.asarray(like))
    shape = np.shape(like)
    found = np.asarray(gradient)
    if found.shape != shape:
        if found.ndim > len(shape):
            found = found.sum(tuple(range(found.ndim - len(shape))))
        axes = tuple(axis for axis, size in enumerate(found.shape) if size != 1 and shape[axis - found.ndim] == 1)
        if axes:
            found = found.sum(axes, keepdims=True)
        if found.shape != shape:
            found = np.broadcast_to(found, shape)
    dtype = np.asarray(like).dtype
    if found.dtype != dtype and dtype.kind in "fc":
        found = (found.real if dtype.kind == "f" and found.dtype.kind == "c" else found).astype(dtype)
    return found if isinstance(like, np.ndarray) else found[()]


def one_in(value: Any, name: str) -> Any:
    """The gradient of a float in itself.

    Args:
        value: the result of the function `name`.

    Raises:
        DerivativeError: that is no float.
    """
    if np.ndim(value) or not isinstance(value, (float, complex, int, np.number, np.ndarray)):
        what = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else f"{reprlib.repr(value)}"
        raise DerivativeError(
            f"the gradient is asked for of {name}, which has returned {what}; it must return one float. "
            "Return one on every path, also where a loop has no iteration"
        )
    return fit(1.0, value)


def scatter_add(like: Any, index: Any, gradient: Any) -> Any:
    """Zeros like `like`, with the gradient added to the items at `index`: the cotangent of `x` for `x[index]`."""
    found = np.zeros_like(like)
    if is_basic(index):
        found[index] += gradient
    else:
        np.add.at(found, index, gradient)
    return found


def run_rule(op: str, position: int, gradient: Any, result: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Apply the derivative of an op when the graph runs, for arrays of unknown dimensions."""
    if type(gradient) is float and not gradient:
        return 0.0  # zeros of any form
    vjp = lookup(op).vjp
    assert vjp is not None
    rule = vjp[position]
    assert rule is not None
    return rule(gradient, result, *args, **kwargs)


# They put arrays together and take them apart, so that the gradient of a gradient goes the way that the arrays go.
_MOVING = frozenset(
    """np.array np.asarray np.stack np.concatenate np.concat np.vstack np.hstack np.dstack np.column_stack np.block
    np.split np.array_split np.hsplit np.vsplit np.dsplit np.unstack .tolist""".split()
)


def _of_moved(g: Any, out: Any, op: str, position: int, gradient: Any, result: Any, args: Any, kwargs: Any) -> Any:
    """The gradient that `run_rule` passes back to its own gradient."""
    _of_shapes(g, out, op, position)
    target = lookup(op).target
    return getattr(g, op[1:])() if target is None else on_proxies(target)(g, *args[1:], **kwargs)


def _of_shapes(g: Any, out: Any, op: str, position: int, *_: Any) -> None:
    """The gradient of the arguments whose shapes alone matter to `run_rule`."""
    if op not in _MOVING or position:
        raise NotImplementedError(f"the second derivative of {op} for what only the run knows the form of")


def joined_like(thing: Any) -> Callable[[list[Any]], Any]:
    """A function that makes a list or tuple of the class of `thing`, named tuples included."""
    kind = type(thing)
    return (lambda made: tuple.__new__(kind, made)) if hasattr(kind, "_fields") else kind


def parts_within(thing: Any, *options: Any) -> Within | None:
    """For `resolve`: the items of a list, tuple or dict, to be put into a new one; None for anything else."""
    if isinstance(thing, (list, tuple)):
        return Within(((part, *options) for part in thing), joined_like(thing))
    if isinstance(thing, dict):
        return Within(((part, *options) for part in thing.values()), lambda made: dict(zip(thing, made)))
    return None


def zero_gradient(like: Any) -> Any:
    """An array of zeros to add the gradients of a number or array to; for a container, a container of such."""
    return resolve(_zero_gradient, like)


def _zero_gradient(like: Any) -> Any:
    return parts_within(like) or np.zeros(np.shape(like), inexact_dtype(np.asarray(like).dtype))


def is_basic(index: Any) -> bool:
    """Whether an index consists of numbers and slices, and so selects no item twice."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is ... or isinstance(part, (int, np.integer, slice)) for part in parts)


def cleared(found: Any, gradient: Any, elementwise: bool) -> Any:
    """The cotangent that a rule computed, with zeros wherever the incoming gradient is a strong zero."""
    if _is_finite(found):
        return found
    if not isinstance(found, np.ndarray):
        return found if np.any(gradient) else type(found)(0)
    if elementwise:
        return np.where(np.equal(gradient, 0), 0, found)
    return found if np.any(gradient) else np.zeros_like(found)


def kept(g: Any, found: Any, gradient: Any, elementwise: bool) -> Any:
    """The gradient of the result of `cleared`, as one of its argument: zero where `cleared` put a zero. It is a new
    array.
    """
    return +g if _is_finite(found) else cleared(np.where(np.isfinite(found), g, found)[()], gradient, elementwise)


def cleared_product(found: Any, op: str, position: int, gradient: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """`cleared` for sums of products: leaves out the products in which the incoming gradient is zero."""
    if _is_finite(found):
        return found

    def of_factors(gradient: Any, factor: Callable[[Any], Any]) -> Any:
        given = [factor(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
        return run_rule(op, position, gradient, None, given, kwargs)

    finite = of_factors(gradient, lambda arg: np.where(np.isfinite(arg), arg, 0))
    others = of_factors(np.not_equal(gradient, 0) * 1.0, lambda arg: np.logical_not(np.isfinite(arg)) * 1.0)
    return np.where(others == 0, finite, found)[()]


def _is_finite(found: Any) -> bool:
    """Whether an array or number is finite. This is fast for large arrays, too."""
    return cmath.isfinite(np.vdot(found, found) if isinstance(found, np.ndarray) else found)


def as_result(x: Any, out: Any) -> Any:
    """A number, as a complex one if `out` is: Python's power of a negative float and a fraction is complex."""
    return x + 0j if np.isrealobj(x) and np.iscomplexobj(out) else x


_WHOLE = {np.dtype("f4"): np.dtype("i4"), np.dtype("f8"): np.dtype("i8")}


def masked(gradient: Any, mask: Any, out: Any = None) -> Any:
    """`np.where(mask, gradient, 0)` in a fifth of the time, also where the gradient is infinite.

    Args:
        gradient: an array or number.
        mask: booleans.
        out: an array that may hold the result.
    """
    whole = _WHOLE.get(gradient.dtype) if type(gradient) is np.ndarray and gradient.ndim else None
    if whole is not None:   # multiply the bits of the floats, as integers, by one or zero
        bits = gradient.view(whole)
        if out is None:
            return np.multiply(bits, mask).view(gradient.dtype)
        np.multiply(bits, mask, out=bits if out is gradient else out.view(whole))
        return out
    if _is_finite(gradient):
        return gradient * mask if out is None else np.multiply(gradient, mask, out)
    if np.ndim(mask) or isinstance(gradient, (np.ndarray, np.generic)):
        return np.where(mask, gradient, 0)[()]
    return gradient if mask else type(gradient)(0)


def custom_gradient(values: Any, inputs: Any) -> Any:
    """Return the values; the reverse asks a function of the user's for the gradients of the inputs."""
    return values


def numbered(like: Any) -> Any:
    """The numbers of an array's elements, in its shape and its order in memory."""
    found = np.empty_like(like, np.intp, subok=False)
    found[...] = np.arange(found.size).reshape(found.shape)
    return found


def cropped(gradient: Any, like: Any) -> Any:
    """A gradient in the shape of `like`: cut off where it is longer, filled with zeros where it is shorter."""
    gradient = np.asarray(gradient)
    if gradient.shape == np.shape(like):
        return gradient
    found = np.zeros(np.shape(like), gradient.dtype)
    common = tuple(slice(min(sizes)) for sizes in zip(found.shape, gradient.shape))
    found[common] = gradient[common]
    return found


def cofactors(a: Any) -> Any:
    """The matrices of cofactors: the derivative of determinants, of singular matrices, too."""
    inverse = _inverse(a)
    if inverse is not None:
        return np.linalg.det(a)[..., None, None] * inverse
    u, s, vh, sign = _rotations(a)
    others = np.where(np.eye(s.shape[-1], dtype=bool), 1, s[..., None, :]).prod(-1)
    return sign * np.conj(u * others[..., None, :] @ vh)


def cofactors_change(g: Any, a: Any) -> Any:
    """The derivative of the cofactors, which is symmetric: it is its own transpose."""
    inverse = _inverse(a)
    if inverse is not None:
        found = (g * inverse).sum((-2, -1), keepdims=True) * inverse - inverse @ np.swapaxes(g, -1, -2) @ inverse
        return np.linalg.det(a)[..., None, None] * found
    u, s, vh, sign = _rotations(a)
    alone = np.eye(s.shape[-1], dtype=bool)
    left_out = alone[:, None] | alone
    others = np.where(left_out, 1, s[..., None, None, :]).prod(-1) * ~alone      # the product of all but two
    inner = np.conj(np.swapaxes(u, -1, -2)) @ g @ np.conj(np.swapaxes(vh, -1, -2))
    diagonal = (others @ np.diagonal(inner, 0, -2, -1)[..., None]) * alone
    return sign * np.conj(u) @ (diagonal - others * np.swapaxes(inner, -1, -2)) @ np.conj(vh)


def _inverse(a: Any) -> Any:
    """The transposed inverses; None if a matrix is close to singular."""
    try:
        found = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return None
    near = np.max(np.abs(found), initial=0) * np.max(np.abs(a), initial=0) > np.finfo(found.dtype).eps ** -0.5
    return None if near else np.swapaxes(found, -1, -2)


def _rotations(a: Any) -> tuple[Any, ...]:
    u, s, vh = np.linalg.svd(a)
    return u, s, vh, (np.linalg.det(u) * np.linalg.det(vh))[..., None, None]


def _third(g: Any, out: Any, h: Any, a: Any) -> Any:
    """The third derivative of determinants of regular matrices."""
    inverse = np.swapaxes(np.linalg.inv(a), -1, -2)
    first, second = (np.matmul(np.matmul(inverse, np.swapaxes(each, -1, -2)), inverse) for each in (g, h))
    by_first, by_second = (np.sum(each * inverse, (-2, -1), keepdims=True) for each in (g, h))
    both = np.sum(first * h, (-2, -1), keepdims=True)
    mixed = np.matmul(np.matmul(first, np.swapaxes(h, -1, -2)), inverse)
    mixed = mixed + np.matmul(np.matmul(second, np.swapaxes(g, -1, -2)), inverse)
    whole = (by_first * by_second - both) * inverse - by_first * second - by_second * first + mixed
    return np.linalg.det(a)[..., None, None] * whole


def stack_items(items: Any, zero: Any) -> Any:
    """Stack items; None means zeros.

    Args:
        zero: zeros like an item, in case there is none.
    """
    if not items:
        return np.zeros((0, *zero.shape), zero.dtype)
    known = next((item for item in items if item is not None), zero)
    return np.stack([np.zeros_like(known) if item is None else item for item in items])


def fill_gap(items: Any, index: Any, zero: Any) -> None:
    """Replace None at a place of a list by zeros."""
    if items is not None and items[index] is None and zero is not None:
        items[index] = np.zeros_like(zero)


def given(value: Any, message: str) -> Any:
    """Return the value, unless it is None."""
    if value is None:
        raise ValueError(message)
    return value


# ------------------------------------------------------------------------------------------------ declarations


@rule
def fitted(gradient: Any, like: Any) -> Type:
    target = array_like(like) if isinstance(like, (list, tuple)) else tensor_arg(like)
    return TensorType(inexact_dtype(target.dtype), target.shape, "scalar" if target.kind == "python" else target.kind)


def scattered(like: Any, index: Any, gradient: Any) -> Type:
    found = tensor_arg(like)
    if not is_type(like):
        raise Unknown
    return TensorType(found.dtype, found.shape, "array", found.exact)


def zeroed(like: Any) -> Type:
    found = tensor_arg(like)
    return TensorType(inexact_dtype(found.dtype), found.shape, "array", found.exact or not found.shape)


@rule
def like_first(first: Any, *_: Any) -> Type:
    """The rule of an op whose result is of the type of its first argument."""
    return type_of_arg(first)


def of_result(x: Any, out: Any) -> Type:
    found = tensor_arg(x)
    return TensorType(np.result_type(found.dtype, tensor_arg(out).dtype), found.shape, found.kind, exact=False)


def of_masked(gradient: Any, mask: Any, out: Any = None) -> Type:
    found, other = tensor_arg(gradient), tensor_arg(mask)
    shape = broadcast(found.shape, other.shape)
    kind = "array" if shape else "python" if found.weak and other.weak else "scalar"
    return TensorType(found.dtype, shape, kind, found.exact and other.exact)


def numbers(like: Any) -> Type:
    return TensorType(np.dtype(np.intp), operand(like).shape)


def crop(gradient: Any, like: Any) -> Type:
    return TensorType(operand(gradient).dtype, operand(like).shape)


declare("one_in", target=one_in, raises=True, vjp=(None, None))
declare(
    "run_rule", target=run_rule, raises=True, vjp=(None, None, _of_moved, _of_shapes, _of_shapes), traits=[GRADIENT]
)
declare("zero_gradient", rule(zeroed), target=zero_gradient, vjp=NO_GRADIENT, traits=[GRADIENT, STRONG_ZEROS])
declare(
    "custom_gradient", rule(lambda values, inputs: build_type(values)), effect=VIEW, target=custom_gradient,
    traits=[SHARES_FIRST],
)  # fmt: skip
declare("stop_gradient", like_first, template="{}", vjp=NO_GRADIENT)
# The results of these two have no other references.
declare(
    "cleared", like_first, effect=VIEW, target=cleared,
    vjp=(lambda g, out, *args: on_proxies(kept)(g, *args), None, None),
    traits=[GRADIENT, PART_OF_FIRST, (SHARES, sharing.never)],
)  # fmt: skip
declare(
    "cleared_product", like_first, effect=VIEW, target=cleared_product, vjp=(same, None, None, None, None, None),
    traits=[GRADIENT, PART_OF_FIRST, (SHARES, sharing.never)],
)  # fmt: skip
declare(
    "kept", like_first, target=kept, vjp=(lambda g, out, found, *rest: on_proxies(kept)(g, *rest), None, None, None),
    traits=[GRADIENT, CHOOSES, MOVES],
)  # fmt: skip
declare("fit", fitted, target=fit, vjp=(same, None), traits=[GRADIENT, MOVES])
declare(
    "masked", rule(of_masked), target=masked, vjp=(lambda g, out, gradient, mask: on_proxies(masked)(g, mask), None),
    traits=[GRADIENT, SAME_IN_PLACE, CHOOSES, MASKS, MOVES],
)  # fmt: skip
declare("as_result", rule(of_result), target=as_result, vjp=(same, None), traits=[GRADIENT])
declare(
    "scatter_add", rule(scattered), target=scatter_add, raises=True,
    vjp=(None, None, lambda g, out, like, index, gradient: g[index]), traits=[GRADIENT, STRONG_ZEROS, MOVES],
)  # fmt: skip
declare("numbered", rule(numbers), target=numbered, vjp=NO_GRADIENT)
declare(
    "cropped", rule(crop), target=cropped, vjp=(lambda g, out, gradient, like: on_proxies(cropped)(g, gradient), None),
    traits=[MOVES],
)  # fmt: skip
declare(
    "cofactors", rule(operand), target=cofactors, raises=True,
    vjp=lambda g, out, a: on_proxies(cofactors_change)(g, a),
)  # fmt: skip
declare(
    "cofactors_change", rule(lambda g, a: operand(a)), target=cofactors_change, raises=True,
    vjp=(lambda g, out, h, a: on_proxies(cofactors_change)(g, a), _third),
)  # fmt: skip
declare("given", like_first, effect=VIEW, target=given, raises=True, vjp=same, traits=[GRADIENT])
declare("stack_items", target=stack_items, raises=True, vjp=lambda g, out, items, zero: list(g), traits=[GRADIENT])
declare("fill_gap", NONE, effect=WRITE, target=fill_gap, raises=True, traits=[GRADIENT])
