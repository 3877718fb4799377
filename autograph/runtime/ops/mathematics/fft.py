"""Discrete Fourier transforms: `np.fft`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import VIEW, Infer, Vjp
from autograph.runtime.graph.traits import SHARES
from autograph.runtime.graph.types import FLOAT, Shape, TensorType, Type, array
from autograph.runtime.ops.gradients import adjoint_ops
from autograph.runtime.ops.gradients.data_movement import numbered
from autograph.runtime.ops.gradients.toolkit import conj, ndim, on_proxies
from autograph.runtime.ops.gradients.toolkit import shape as sizes
from autograph.runtime.ops.inference import sharing
from autograph.runtime.ops.inference.declare import functions
from autograph.runtime.ops.inference.numpy_probe import dtype_of, probe
from autograph.runtime.ops.inference.shape_rules import (
    Unknown,
    array_like,
    axis_arg,
    int_arg,
    is_constant,
    like_first,
    type_of_arg,
)

Length = Callable[["int | None"], "int | None"]


def same(length: int | None) -> int | None:
    return length


def halved(length: int | None) -> int | None:
    """The number of frequencies of a real signal, whose negative ones are left out."""
    return None if length is None else length // 2 + 1


def doubled(length: int | None) -> int | None:
    """The length of the real signal with that number of frequencies."""
    return None if length is None else 2 * (length - 1)


def _dtype_after(function: Any, a: TensorType) -> np.dtype[Any]:
    """The dtype of the transform of an array."""
    return dtype_of(probe(function, TensorType(a.dtype, (None,) * max(a.ndim, 1))))


def replaced(shape: Shape, axis: int, dim: int | None) -> Shape:
    return (*shape[:axis], dim, *shape[axis + 1 :])


def along_axis(function: Any, length: Length, default: Length = same) -> Infer:
    """The rule of a transform along one axis.

    Args:
        length: gives the number of elements afterwards, for the length of a signal.
        default: gives the length of the signal without `n`, for the length of an axis.
    """

    def infer(a: Any, n: Any = None, axis: Any = -1, norm: Any = None, out: Any = None) -> Type:
        a = array_like(a)
        at = axis_arg(axis, a.ndim)
        signal = default(a.shape[at]) if n is None else int_arg(n)
        return TensorType(_dtype_after(function, a), replaced(a.shape, at, length(signal)))

    return infer


def along_axes(name: str, axes_by_default: tuple[int, ...] | None) -> Infer:
    """The rule of a transform along several axes; `rfftn` halves the last one and `irfftn` doubles it."""
    function = getattr(np.fft, name)

    def infer(a: Any, s: Any = None, axes: Any = axes_by_default, norm: Any = None, out: Any = None) -> Type:
        if not is_constant(axes):
            raise Unknown
        a = array_like(a)
        lengths = None if s is None else list(map(int_arg, s))
        along = [axis_arg(axis, a.ndim) for axis in _all_axes(a, lengths, axes)]
        shape, last = a.shape, along[-1]
        for axis, length in zip(along, lengths or ()):
            shape = replaced(shape, axis, shape[axis] if length == -1 else length)
        if name.startswith("rfft"):
            shape = replaced(shape, last, halved(shape[last]))
        elif name.startswith("irfft") and not (lengths and lengths[-1] != -1):
            shape = replaced(shape, last, doubled(shape[last]))
        return TensorType(_dtype_after(function, a), shape)

    return infer


def frequencies(n: Any, d: Any = 1.0, device: Any = None) -> TensorType:
    if type_of_arg(d) != FLOAT and not isinstance(d, int):
        raise Unknown
    return array(float, int_arg(n))


# --------------------------------------------------------------------------------------------------- derivatives
#
# A transform multiplies by a symmetric matrix, of powers of a root of unity, so it is its own derivative; before, it
# crops its argument or pads it with zeros.

cropped = on_proxies(adjoint_ops.cropped)
# How the inverse is scaled.
_SCALED: dict[Any, Any] = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def on_one_axis(rule: Vjp) -> Vjp:
    """The derivative of a transform along one axis, by one for several: `rule(g, a, s, axes, norm)`."""

    def vjp(g: Any, out: Any, a: Any, n: Any = None, axis: Any = -1, norm: Any = None, *_: Any, **__: Any) -> Any:
        return rule(g, a, None if n is None else (n,), (axis,), norm)

    return vjp


def on_axes(rule: Vjp, axes_by_default: tuple[int, ...] | None) -> Vjp:
    """The derivative of a transform along several axes."""

    def vjp(
        g: Any, out: Any, a: Any, s: Any = None, axes: Any = axes_by_default, norm: Any = None, *_: Any, **__: Any
    ) -> Any:
        return rule(g, a, s, _all_axes(a, s, axes), norm)

    return vjp


def _all_axes(a: Any, s: Any, axes: Any) -> tuple[int, ...]:
    return tuple(range(ndim(a)) if axes is None and s is None else range(-len(s), 0) if axes is None else axes)


def of_transform(function: Any) -> Vjp:
    return lambda g, out, a, n=None, axis=-1, norm=None, *_, **__: cropped(function(g, None, axis, norm), a)


def of_transforms(function: Any) -> Vjp:
    return lambda g, a, s, axes, norm: cropped(function(g, None, axes, norm), a)


def of_half(g: Any, a: Any, s: Any, axes: tuple[int, ...], norm: Any) -> Any:
    """The derivative of the transform of a real signal: the frequencies that it leaves out have no gradient."""
    lengths = [_length(a, None if s is None else s[i], axis) for i, axis in enumerate(axes)]
    return cropped(np.real(np.fft.fftn(g, lengths, axes, norm)), a)


def of_whole(g: Any, a: Any, s: Any, axes: tuple[int, ...], norm: Any) -> Any:
    """The derivative of the transform back to a real signal: most frequencies count twice."""
    last, found = axes[-1] % ndim(g), np.fft.rfftn(g, None, axes, _SCALED[norm])
    length = sizes(found)[last]
    number = np.moveaxis(numbered(np.moveaxis(found, last, -1)) % length, -1, last)
    alone = np.logical_or(number == 0, 2 * number == sizes(g)[last])
    return cropped(conj(np.where(alone, found, 2 * found)), a)


def _length(a: Any, n: Any, axis: int) -> Any:
    return sizes(a)[axis] if n is None or n == -1 else n


def of_hermitian(g: Any, a: Any, s: Any, axes: tuple[int, ...], norm: Any) -> Any:
    """The derivative of `hfft`."""
    return conj(of_whole(g, a, s, axes, _SCALED[norm]))


def of_inverse_hermitian(g: Any, a: Any, s: Any, axes: tuple[int, ...], norm: Any) -> Any:
    """The derivative of `ihfft`."""
    return of_half(conj(g), a, s, axes, _SCALED[norm])


# ------------------------------------------------------------------------------------------------ declarations

functions("np.fft.fft", along_axis(np.fft.fft, same), vjp=of_transform(np.fft.fft))
functions("np.fft.ifft", along_axis(np.fft.ifft, same), vjp=of_transform(np.fft.ifft))
functions("np.fft.rfft", along_axis(np.fft.rfft, halved), vjp=on_one_axis(of_half))
functions("np.fft.irfft", along_axis(np.fft.irfft, same, doubled), vjp=on_one_axis(of_whole))
functions("np.fft.hfft", along_axis(np.fft.hfft, same, doubled), vjp=on_one_axis(of_hermitian))
functions("np.fft.ihfft", along_axis(np.fft.ihfft, halved), vjp=on_one_axis(of_inverse_hermitian))
for _name, _vjp in {
    "fft": of_transforms(np.fft.fftn), "ifft": of_transforms(np.fft.ifftn), "rfft": of_half, "irfft": of_whole,
}.items():  # fmt: skip
    for _count, _axes in (("2", (-2, -1)), ("n", None)):
        functions(
            f"np.fft.{_name}{_count}", along_axes(_name + _count, _axes), vjp=on_axes(_vjp, _axes),
            effect=VIEW, traits=[(SHARES, sharing.transform)],      # along no axes at all, it is the array itself
        )  # fmt: skip
functions("np.fft.fftfreq", frequencies)
functions("np.fft.rfftfreq", lambda n, d=1.0, device=None: array(float, halved(frequencies(n, d).shape[0])))
functions("np.fft.fftshift", like_first, vjp=lambda g, out, x, axes=None: np.fft.ifftshift(g, axes))
functions("np.fft.ifftshift", like_first, vjp=lambda g, out, x, axes=None: np.fft.fftshift(g, axes))
