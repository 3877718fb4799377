"""Discrete Fourier transforms: `np.fft`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import PURE, VIEW, Vjp, derive
from autograph.runtime.graph.traits import SHARES
from autograph.runtime.graph.types import FLOAT, Shape, TensorType, Type, array, type_of
from autograph.runtime.ops.gradients import adjoint_ops
from autograph.runtime.ops.gradients.data_movement import numbered
from autograph.runtime.ops.gradients.toolkit import conj, ndim, on_proxies
from autograph.runtime.ops.gradients.toolkit import shape as sizes
from autograph.runtime.ops.inference import sharing
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    add_dims,
    array_like,
    axis_arg,
    int_arg,
    is_constant,
    type_of_arg,
)

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
        length: gives the number of elements afterwards, for the length of a signal.
        default: gives the length of the signal without `n`, for the length of an axis.
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


def _signal(length: int | None, whole: Any) -> int | None:
    return length if whole else doubled(length)


def along_axes(function: Any, axes_by_default: tuple[int, ...] | None, kind: str = "") -> Rule:
    """The rule of a transform along several axes; `kind` is `r` for one of a real signal, `ir` for its inverse."""

    @rule
    def infer(a: Any, s: Any = None, axes: Any = axes_by_default, norm: Any = None, out: Any = None) -> Type:
        if out is not None:
            return type_of_arg(out)
        if not is_constant(axes):
            raise Unknown
        a = array_like(a)
        lengths = None if s is None else list(map(int_arg, s))
        along = [axis_arg(axis, a.ndim) for axis in _all_axes(a, lengths, axes)]
        shape, last = a.shape, along[-1]
        for axis, length in zip(along, lengths or ()):
            shape = replaced(shape, axis, shape[axis] if length == -1 else length)
        if kind:
            whole = lengths and lengths[-1] != -1
            shape = replaced(shape, last, halved(shape[last]) if kind == "r" else _signal(shape[last], whole))
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
            SHARES[f"np.fft.{_whole}"] = sharing.transform
_declare("fftfreq", frequencies)
_declare("rfftfreq", half_of_frequencies)
_declare("fftshift ifftshift", shifted)


# --------------------------------------------------------------------------------------------------- derivatives
#
# A transform multiplies by a symmetric matrix, of powers of a root of unity, so it is its own derivative; before, it
# crops its argument or pads it with zeros.

cropped = on_proxies(adjoint_ops.cropped)

# How the same is scaled on the way back.
_SCALED: dict[Any, Any] = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def of_transform(function: Any) -> Vjp:
    """The rule of a transform along one axis."""

    def vjp(g: Any, out: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, *_: Any, **__: Any) -> Any:
        return cropped(function(g, None, axis, norm), a)

    return vjp


def of_transforms(function: Any, axes_by_default: tuple[int, ...] | None) -> Vjp:
    """The rule of a transform along several axes."""

    def vjp(
        g: Any, out: Any, a: Any, s: Any = None, axes: Any = axes_by_default, norm: Any = None, *_: Any, **__: Any
    ) -> Any:
        return cropped(function(g, None, _all_axes(a, s, axes), norm), a)

    return vjp


def _all_axes(a: Any, s: Any, axes: Any) -> tuple[int, ...]:
    return tuple(range(ndim(a)) if axes is None and s is None else range(-len(s), 0) if axes is None else axes)


def of_half(g: Any, out: Any, a: Any, s: Any, axes: tuple[int, ...], norm: Any) -> Any:
    """Of the transform of a real signal: the frequencies that it leaves out have no gradient."""
    lengths = [_length(a, None if s is None else s[i], axis) for i, axis in enumerate(axes)]
    return cropped(np.real(np.fft.fftn(g, lengths, axes, norm)), a)


def of_whole(g: Any, out: Any, a: Any, axes: tuple[int, ...], norm: Any) -> Any:
    """Of the transform back to a real signal: of most frequencies there are two, of which but one is given."""
    last, found = axes[-1] % ndim(g), np.fft.rfftn(g, None, axes, _SCALED[norm])
    length = sizes(found)[last]
    number = np.moveaxis(numbered(np.moveaxis(found, last, -1)) % length, -1, last)
    alone = np.logical_or(number == 0, 2 * number == sizes(g)[last])
    return cropped(conj(np.where(alone, found, 2 * found)), a)


def _length(a: Any, n: Any, axis: int) -> Any:
    return sizes(a)[axis] if n is None or n == -1 else n


def of_rfft(g: Any, out: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, *_: Any, **__: Any) -> Any:
    return of_half(g, out, a, None if n is None else (n,), (axis,), norm)


def of_irfft(g: Any, out: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, *_: Any, **__: Any) -> Any:
    return of_whole(g, out, a, (axis,), norm)


def of_hfft(g: Any, out: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, *_: Any, **__: Any) -> Any:
    return conj(of_whole(g, out, a, (axis,), _SCALED[norm]))


def of_ihfft(g: Any, out: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, *_: Any, **__: Any) -> Any:
    return of_half(conj(g), out, a, None if n is None else (n,), (axis,), _SCALED[norm])


def of_halves(axes_by_default: tuple[int, ...] | None) -> tuple[Vjp, Vjp]:
    """The rules of the transform of a real signal along several axes, and back."""

    def there(
        g: Any, out: Any, a: Any, s: Any = None, axes: Any = axes_by_default, norm: Any = None, *_: Any, **__: Any
    ) -> Any:
        return of_half(g, out, a, s, _all_axes(a, s, axes), norm)

    def back(
        g: Any, out: Any, a: Any, s: Any = None, axes: Any = axes_by_default, norm: Any = None, *_: Any, **__: Any
    ) -> Any:
        return of_whole(g, out, a, _all_axes(a, s, axes), norm)

    return there, back


for _name in ("fft", "ifft"):
    derive(f"np.fft.{_name}", of_transform(getattr(np.fft, _name)))
    derive(f"np.fft.{_name}2", of_transforms(getattr(np.fft, f"{_name}n"), (-2, -1)))
    derive(f"np.fft.{_name}n", of_transforms(getattr(np.fft, f"{_name}n"), None))
derive("np.fft.rfft", of_rfft)
derive("np.fft.irfft", of_irfft)
derive("np.fft.hfft", of_hfft)
derive("np.fft.ihfft", of_ihfft)
for _name, _axes_of in (("fft2", (-2, -1)), ("fftn", None)):
    for _kind, _vjp in zip(("r", "ir"), of_halves(_axes_of)):
        derive(f"np.fft.{_kind}{_name}", _vjp)
derive("np.fft.fftshift", lambda g, out, x, axes=None: np.fft.ifftshift(g, axes))
derive("np.fft.ifftshift", lambda g, out, x, axes=None: np.fft.fftshift(g, axes))
