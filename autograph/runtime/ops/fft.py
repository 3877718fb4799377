"""Discrete Fourier transforms: `np.fft`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.opdef import PURE, VIEW
from autograph.runtime.ops.declaring import functions
from autograph.runtime.ops.rules import Unknown, add_dims, array_like, axis_arg, int_arg, is_constant, rule, type_of_arg
from autograph.runtime.types import FLOAT, Shape, TensorType, Type, array, type_of

Rule = Callable[..., Any]
Length = Callable[["int | None"], "int | None"]


def same(length: int | None) -> int | None:
    return length


def halved(length: int | None) -> int | None:
    """Of a real signal there are but half of the frequencies."""
    return None if length is None else length // 2 + 1


def dtype_after(function: Any, a: TensorType) -> np.dtype[Any]:
    """The dtype that a transform makes of that of `a`."""
    found = type_of(function(np.ones((2,) * max(a.ndim, 1), a.dtype)))
    if not isinstance(found, TensorType):
        raise Unknown
    return found.dtype


def replaced(shape: Shape, axis: int, dim: int | None) -> Shape:
    return (*shape[:axis], dim, *shape[axis + 1 :])


def along_axis(function: Any, length: Length, default: Length = same) -> Rule:
    """The rule of a transform along one axis.

    Args:
        length: how many elements there are after, for a signal of so many.
        default: the length of the signal, if `n` does not say so, for an axis of so many elements.
    """

    @rule
    def infer(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Type:
        if out is not None:
            return type_of_arg(out)
        a = array_like(a)
        at = axis_arg(axis, a.ndim)
        signal = default(a.shape[at]) if n is None else int_arg(n)
        return TensorType(dtype_after(function, a), replaced(a.shape, at, length(signal)))

    return infer


def doubled(length: int | None) -> int | None:
    """From half of the frequencies comes a real signal of twice the length."""
    return None if length is None else 2 * (length - 1)


def along_axes(function: Any, axes_by_default: tuple[int, ...] | None, kind: str = "") -> Rule:
    """The rule of a transform along several axes; `kind` is `r` for one of a real signal, `ir` for its inverse."""

    @rule
    def infer(a: Any, s: Any = None, axes: Any = axes_by_default, norm: Any = None, out: Any = None) -> Type:
        if out is not None:
            return type_of_arg(out)
        if s is not None or not is_constant(axes):
            raise Unknown
        a = array_like(a)
        along = [axis_arg(axis, a.ndim) for axis in (range(a.ndim) if axes is None else axes)]
        shape, last = a.shape, along[-1]
        if kind:
            shape = replaced(shape, last, halved(shape[last]) if kind == "r" else doubled(shape[last]))
        return TensorType(dtype_after(function, a), shape)

    return infer


@rule
def frequencies(n: Any, d: Any = 1.0, device: Any = None) -> Type:
    if type_of_arg(d) != FLOAT and not isinstance(d, int):
        raise Unknown
    return array(float, int_arg(n))


@rule
def half_of_frequencies(n: Any, d: Any = 1.0, device: Any = None) -> Type:
    found = frequencies(n, d)
    if not isinstance(found, TensorType):
        raise Unknown
    return array(float, add_dims(halved(found.shape[0])))


@rule
def shifted(x: Any, axes: Any = None) -> Type:
    return array_like(x)


def _declare(names: str, infer: Rule, effect: str = PURE) -> None:
    functions(names, infer, prefix="np.fft.", effect=effect)


_declare("fft", along_axis(np.fft.fft, same))
_declare("ifft", along_axis(np.fft.ifft, same))
_declare("rfft", along_axis(np.fft.rfft, halved))
_declare("irfft", along_axis(np.fft.irfft, same, doubled))
_declare("hfft", along_axis(np.fft.hfft, same, doubled))
_declare("ihfft", along_axis(np.fft.ihfft, halved))
# Along no axes at all they give the array itself.
for _inverse in ("", "i"):
    for _name, _axes in (("fft2", (-2, -1)), ("fftn", None)):
        for _kind in ("", "r"):
            _whole = f"{_inverse}{_kind}{_name}"
            _rule = along_axes(getattr(np.fft, _whole), _axes, _inverse + _kind if _kind else "")
            _declare(_whole, _rule, effect=VIEW)
_declare("fftfreq", frequencies)
_declare("rfftfreq", half_of_frequencies)
_declare("fftshift ifftshift", shifted)
