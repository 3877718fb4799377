"""`tf.image`: images, arrays of `[height, width, channels]`, or batches of them."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import dtypes, graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import as_dtype, numpy_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError
from autograph.compat.tensorflow.core.shapes import TensorShape
from autograph.compat.tensorflow.core.tensor import Tensor, apply, eager, run_later
from autograph.compat.tensorflow.ops import array_ops, indexing, math_ops, random_ops, reduce_ops


class ResizeMethod:
    """The ways to resize."""

    AREA, BICUBIC, BILINEAR, NEAREST_NEIGHBOR = "area", "bicubic", "bilinear", "nearest"


def _images(image: Any) -> tuple[Tensor, int]:
    """An image or a batch of images, as a tensor, and the axis of its height.

    Raises:
        ValueError: it is neither.
    """
    tensor = convert_to_tensor(image)
    if tensor.shape.rank not in (3, 4):
        raise ValueError("'image' must have either 3 or 4 dimensions.")
    return tensor, tensor.shape.rank - 3


def _sizes(tensor: Tensor, axis: int) -> tuple[int, int]:
    height, width = tensor.shape[axis], tensor.shape[axis + 1]
    if height is None or width is None:
        raise ValueError(f"the height and width of images must be known while tracing; their shape is {tensor.shape}")
    return height, width


def _when_known(op: str, change: Callable[[Tensor], Tensor], tensor: Tensor, dtype: Any, shape: TensorShape) -> Tensor:
    """Change images when the graph runs, since their sizes are not known before. It has no gradient."""

    def run(value: Any) -> Any:
        with graphs.building(None):
            return change(eager(value, tensor.dtype))._value

    return run_later(op, run, tensor._value, dtype=dtype, shape=shape)


# Resizing -------------------------------------------------------------------------------------------------------------


def resize(
    images: Any, size: Any, method: str = ResizeMethod.BILINEAR, preserve_aspect_ratio: bool = False,
    antialias: bool = False, name: str | None = None,
) -> Tensor:
    """Resize images to `size`, `[height, width]`.

    Args:
        method: `bilinear`, `nearest`, `bicubic` or `area`. All but `nearest` give `float32`.
        preserve_aspect_ratio: whether to keep the ratio of the sizes; `size` is a bound, then.
        antialias: whether to average over more pixels when the images become smaller.
    """
    tensor, axis = _images(images)
    wanted = [int(each) for each in np.asarray(array_ops.plain(size)).tolist()]
    if len(wanted) != 2:
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    if method not in _WEIGHTS:
        raise ValueError(f"Resize method is not implemented: {method}. Those that are: {', '.join(_WEIGHTS)}.")
    if None in tensor.shape[axis : axis + 2].as_list():
        rest = (None, None) if preserve_aspect_ratio else wanted
        dtype = tensor.dtype if method == "nearest" else dtypes.float32
        shape = TensorShape([*tensor.shape[:axis], *rest, tensor.shape[axis + 2]])
        again = lambda x: resize(x, wanted, method, preserve_aspect_ratio, antialias)  # noqa: E731
        return _when_known("Resize", again, tensor, dtype, shape)
    before = _sizes(tensor, axis)
    if preserve_aspect_ratio:
        scale = min(new / old for new, old in zip(wanted, before))
        wanted = [round(old * scale) for old in before]
    if method == "nearest":
        rows, columns = (_nearest(*each) for each in zip(before, wanted))
        return apply("ResizeNearest", lambda x: np.take(np.take(x, rows, axis), columns, axis + 1), tensor)
    weights = [_WEIGHTS[method](*each, antialias) for each in zip(before, wanted)]
    real = math_ops.cast(tensor, dtypes.float32)
    if tuple(wanted) == before and method != "area":
        return real
    return apply(f"Resize{method.title()}", lambda x: _weighted(x, *weights), real)


def _weighted(x: Any, rows: Any, columns: Any) -> Any:
    """The images whose pixels are sums of pixels, by a matrix for the rows and one for the columns."""
    return np.einsum("...hwc,ih,jw->...ijc", x, rows, columns)


def _nearest(before: int, after: int) -> Any:
    return np.minimum(np.floor((np.arange(after) + 0.5) * (before / after)).astype(int), before - 1)


def _kernel_weights(kernel: Callable[[Any], Any], radius: float, before: int, after: int, antialias: bool) -> Any:
    """A matrix of weights: how much each old pixel counts in each new one, by their distance."""
    scale = before / after
    wide = max(scale, 1.0) if antialias else 1.0
    centers = (np.arange(after) + 0.5) * scale
    distances = (np.arange(before) + 0.5 - centers[:, None]) / wide
    if radius == 1 and not antialias:  # pixels over the edge count as the one at the edge
        distances = _clamped(centers, before)
    weights = np.where(np.abs(distances) < radius, kernel(np.abs(distances)), 0)
    return (weights / weights.sum(1, keepdims=True)).astype(np.float32)


def _clamped(centers: Any, before: int) -> Any:
    return np.arange(before) - np.clip(centers - 0.5, 0, before - 1)[:, None]


def _triangle(x: Any) -> Any:
    return 1 - x


def _cubic(x: Any) -> Any:
    near, far = (1.5 * x - 2.5) * x * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x < 1, near, far)


def _area(before: int, after: int, antialias: bool) -> Any:
    scale = before / after
    ends = np.arange(after + 1) * scale
    pixels = np.arange(before)
    covered = np.minimum(ends[1:, None], pixels + 1) - np.maximum(ends[:-1, None], pixels)
    return (np.maximum(covered, 0) / scale).astype(np.float32)


_WEIGHTS: dict[str, Any] = {
    "bilinear": partial(_kernel_weights, _triangle, 1), "bicubic": partial(_kernel_weights, _cubic, 2), "area": _area,
    "nearest": None,
}  # fmt: skip


def resize_with_crop_or_pad(image: Any, target_height: int, target_width: int) -> Tensor:
    """Cut off, or add zeros, at all sides, so that images get a size."""
    tensor, axis = _images(image)
    for at, size in enumerate((int(target_height), int(target_width)), axis):
        old = _sizes(tensor, axis)[at - axis]
        less, more = max(old - size, 0), max(size - old, 0)
        part = (slice(None),) * at + (slice(less // 2, less // 2 + min(old, size)),)
        tensor = _padded(tensor[part], at, more // 2, more - more // 2)
    return tensor


def resize_with_pad(image: Any, target_height: int, target_width: int, method: str = "bilinear",
                    antialias: bool = False) -> Tensor:  # fmt: skip
    """Resize images, keeping the ratio of their sizes, and add zeros at the sides."""
    tensor, axis = _images(image)
    before, wanted = _sizes(tensor, axis), (int(target_height), int(target_width))
    ratio = max(old / new for old, new in zip(before, wanted))
    top, left = (int((new - old / ratio) / 2) for old, new in zip(before, wanted))
    small = resize(tensor, [int(old / ratio) for old in before], method, antialias=antialias)
    return pad_to_bounding_box(small, top, left, *wanted)


def _padded(tensor: Tensor, axis: int, before: int, after: int) -> Tensor:
    if not before and not after:
        return tensor
    return array_ops.pad(tensor, [[before, after] if at == axis else [0, 0] for at in range(len(tensor.shape))])


# Parts ----------------------------------------------------------------------------------------------------------------


def crop_to_bounding_box(
    image: Any, offset_height: int, offset_width: int, target_height: int, target_width: int
) -> Tensor:
    """A part of images.

    Raises:
        ValueError: it is not within them.
    """
    tensor, axis = _images(image)
    box = (offset_height, target_height), (offset_width, target_width)
    for (offset, size), whole, side in zip(box, _sizes(tensor, axis), ("height", "width")):
        if offset < 0 or size <= 0 or offset + size > whole:
            raise ValueError(f"{side} must be >= target + offset, but is {whole}, with offset {offset} and size {size}")
    return tensor[(slice(None),) * axis + tuple(slice(offset, offset + size) for offset, size in box)]


def pad_to_bounding_box(
    image: Any, offset_height: int, offset_width: int, target_height: int, target_width: int
) -> Tensor:
    """Images at a place in larger ones of zeros.

    Raises:
        ValueError: they are not within these.
    """
    tensor, axis = _images(image)
    box = (offset_height, target_height), (offset_width, target_width)
    for at, ((offset, size), old) in enumerate(zip(box, _sizes(tensor, axis)), axis):
        if offset < 0 or size - offset - old < 0:
            raise ValueError(f"the target size {size} must be >= the size {old} + the offset {offset}.")
        tensor = _padded(tensor, at, offset, size - offset - old)
    return tensor


def central_crop(image: Any, central_fraction: float) -> Tensor:
    """The middle of images, a share of each of their sides."""
    if not 0 < central_fraction <= 1:
        raise ValueError("central_fraction must be within (0, 1]")
    tensor, axis = _images(image)
    if None in tensor.shape[axis : axis + 2].as_list():
        shape = TensorShape([*tensor.shape[:axis], None, None, tensor.shape[axis + 2]])
        return _when_known("CentralCrop", lambda x: central_crop(x, central_fraction), tensor, tensor.dtype, shape)
    offsets = [int((size - size * central_fraction) / 2) for size in _sizes(tensor, axis)]
    sizes = [size - 2 * offset for size, offset in zip(_sizes(tensor, axis), offsets)]
    return crop_to_bounding_box(tensor, *offsets, *sizes)


def _flip(image: Any, number: int) -> Tensor:
    tensor, axis = _images(image)
    return array_ops.reverse(tensor, [axis + number])


def flip_up_down(image: Any) -> Tensor:
    """Images upside down."""
    return _flip(image, 0)


def flip_left_right(image: Any) -> Tensor:
    """Images in a mirror."""
    return _flip(image, 1)


def transpose(image: Any, name: str | None = None) -> Tensor:
    """Images with rows and columns exchanged."""
    tensor, axis = _images(image)
    return array_ops.transpose(tensor, [*range(axis), axis + 1, axis, axis + 2])


def rot90(image: Any, k: int = 1, name: str | None = None) -> Tensor:
    """Images rotated counterclockwise by `k` times 90 degrees."""
    tensor, axis = _images(image)
    return apply("Rot90", lambda x: np.rot90(x, int(k) % 4, (axis, axis + 1)), tensor)


# Types and values -----------------------------------------------------------------------------------------------------


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False, name: str | None = None) -> Tensor:
    """Convert images to a type, and scale their values: integers have its whole range, real numbers 0 to 1."""
    tensor, wanted = convert_to_tensor(image), as_dtype(dtype)
    if tensor.dtype is wanted:
        return tensor
    if tensor.dtype.is_integer and wanted.is_integer:
        old, new = tensor.dtype.max + 1, wanted.max + 1
        if old > new:
            return math_ops.cast(tensor // (old // new), wanted)
        return math_ops.multiply(math_ops.cast(tensor, wanted), new // old)
    if tensor.dtype.is_integer:
        return math_ops.multiply(math_ops.cast(tensor, wanted), 1.0 / tensor.dtype.max)
    if wanted.is_floating:
        return math_ops.cast(tensor, wanted)
    scaled = tensor * (wanted.max + 0.5)
    return math_ops.saturate_cast(scaled, wanted) if saturate else math_ops.cast(scaled, wanted)


def _in_float(change: Callable[[Tensor], Tensor], image: Any) -> Tensor:
    """Apply a change of real numbers to images of any type."""
    tensor = convert_to_tensor(image)
    if tensor.dtype.is_floating:
        return change(tensor)
    return convert_image_dtype(change(convert_image_dtype(tensor, dtypes.float32)), tensor.dtype, saturate=True)


def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """Add a number to all values, 1 being the whole range."""
    return _in_float(lambda x: x + math_ops.cast(delta, x.dtype), image)


def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Multiply the distance of each value from the mean of its channel. It has no gradient, as in TensorFlow."""
    factor = convert_to_tensor(contrast_factor)
    tensor, axis = _images(images)

    def adjusted(x: Tensor) -> Tensor:
        with graphs.untaped():
            mean = reduce_ops.reduce_mean(x, [axis, axis + 1], keepdims=True)
            result = (x - mean) * math_ops.cast(factor, x.dtype) + mean
        graphs.note(_no_gradient("AdjustContrastv2"), [tensor, factor], [result])
        return result

    return _in_float(adjusted, tensor)


def _no_gradient(op: str) -> Callable[..., Any]:
    def again(*tensors: Any) -> Any:
        raise LookupError(f"gradient registry has no entry for: {op}")

    return again


def adjust_gamma(image: Any, gamma: float = 1, gain: float = 1) -> Tensor:
    """Raise values to a power, and multiply them by `gain`."""
    if gamma < 0:
        raise ValueError("Gamma should be a non-negative real number.")
    return _in_float(lambda x: math_ops.pow(x, math_ops.cast(gamma, x.dtype)) * gain, image)


def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """Multiply the saturation of colors."""

    def adjusted(x: Tensor) -> Tensor:
        hue, saturation, value = array_ops.unstack(rgb_to_hsv(x), axis=-1)
        more = math_ops.clip_by_value(saturation * math_ops.cast(saturation_factor, x.dtype), 0, 1)
        return hsv_to_rgb(array_ops.stack([hue, more, value], axis=-1))

    return _in_float(adjusted, image)


def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """Shift the hues by a share of the color circle."""

    def adjusted(x: Tensor) -> Tensor:
        hue, saturation, value = array_ops.unstack(rgb_to_hsv(x), axis=-1)
        shifted = math_ops.floormod(hue + math_ops.cast(delta, x.dtype), math_ops.cast(1, x.dtype))
        return hsv_to_rgb(array_ops.stack([shifted, saturation, value], axis=-1))

    return _in_float(adjusted, image)


def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Hue, saturation and value of colors."""

    def converted(x: Any) -> Any:
        red, green, blue = x[..., 0], x[..., 1], x[..., 2]
        value = np.max(x, -1)
        spread = value - np.min(x, -1)
        safe = np.where(spread > 0, spread, 1)
        hue = np.where(value == red, (green - blue) / safe, np.where(
            value == green, 2 + (blue - red) / safe, 4 + (red - green) / safe))  # fmt: skip
        hue = np.where(spread > 0, hue / 6, 0)
        saturation = np.where(value > 0, spread / np.where(value > 0, value, 1), 0)
        return np.stack([np.where(hue < 0, hue + 1, hue), saturation, value], -1)

    tensor = convert_to_tensor(images)
    return apply("RGBToHSV", converted, tensor if tensor.dtype.is_floating else math_ops.cast(tensor, dtypes.float32))


def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """The colors of hue, saturation and value."""

    def converted(x: Any) -> Any:
        hue, saturation, value = x[..., 0] * 6, x[..., 1], x[..., 2]
        parts = [np.abs(hue - 3) - 1, 2 - np.abs(hue - 2), 2 - np.abs(hue - 4)]
        return np.stack([value * (1 - saturation + saturation * np.clip(each, 0, 1)) for each in parts], -1)

    return apply("HSVToRGB", converted, convert_to_tensor(images))


def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """The brightness of colors, as one channel."""
    tensor = convert_to_tensor(images)
    real = convert_image_dtype(tensor, dtypes.float32)
    weights = convert_to_tensor(np.array([0.2989, 0.587, 0.114], numpy_dtype(real.dtype)))
    return convert_image_dtype(reduce_ops.reduce_sum(real * weights, -1, keepdims=True), tensor.dtype)


def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Images of one channel as images of three equal ones."""
    tensor = convert_to_tensor(images)
    return array_ops.concat([tensor] * 3, -1)


def per_image_standardization(image: Any) -> Tensor:
    """Shift and scale the values of each image to mean 0 and variance 1."""
    tensor, axis = _images(image)
    real = tensor if tensor.dtype.is_floating else math_ops.cast(tensor, dtypes.float32)
    axes, count = [axis, axis + 1, axis + 2], (tensor.shape[axis:].num_elements() or 1)
    deviation = reduce_ops.reduce_std(real, axes, keepdims=True)
    least = math_ops.cast(1 / np.sqrt(count), real.dtype)
    return (real - reduce_ops.reduce_mean(real, axes, keepdims=True)) / math_ops.maximum(deviation, least)


def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio between images, in decibels."""
    a, b = (convert_image_dtype(each, dtypes.float32) for each in (a, b))
    biggest = convert_image_dtype(math_ops.cast(max_val, convert_to_tensor(max_val).dtype), dtypes.float32)
    error = reduce_ops.reduce_mean(math_ops.squared_difference(a, b), [-3, -2, -1])
    return math_ops.multiply(math_ops.log(biggest * biggest / error), np.float32(10 / np.log(10)))


# At random ------------------------------------------------------------------------------------------------------------


def _random(change: Callable[..., Tensor], low: float, high: float, image: Any, seed: Any) -> Tensor:
    return change(image, random_ops.uniform((), low, high, seed=seed))


def random_brightness(image: Any, max_delta: float, seed: Any = None) -> Tensor:
    """Adjust the brightness by a random number in [-max_delta, max_delta)."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return _random(adjust_brightness, -max_delta, max_delta, image, seed)


def random_contrast(image: Any, lower: float, upper: float, seed: Any = None) -> Tensor:
    """Adjust the contrast by a random factor."""
    if not 0 <= lower < upper:
        raise ValueError("upper must be > lower, and lower must be non-negative.")
    return _random(adjust_contrast, lower, upper, image, seed)


def random_saturation(image: Any, lower: float, upper: float, seed: Any = None) -> Tensor:
    """Adjust the saturation by a random factor."""
    if not 0 <= lower < upper:
        raise ValueError("upper must be > lower, and lower must be non-negative.")
    return _random(adjust_saturation, lower, upper, image, seed)


def random_hue(image: Any, max_delta: float, seed: Any = None) -> Tensor:
    """Shift the hues by a random share of the color circle."""
    if not 0 <= max_delta <= 0.5:
        raise ValueError("max_delta must be <= 0.5 and non-negative.")
    return _random(adjust_hue, -max_delta, max_delta, image, seed)


def _random_flip(image: Any, number: int, seed: Any) -> Tensor:
    """Flip each image with a probability of one half."""
    tensor, axis = _images(image)
    shape = (tensor.shape[0], 1, 1, 1) if axis else ()
    if None in shape:
        shape = (array_ops.shape(tensor)[0], 1, 1, 1)
    chosen = random_ops.uniform(shape, seed=seed) < 0.5
    return indexing.where(chosen, _flip(tensor, number), tensor)


def random_flip_left_right(image: Any, seed: Any = None) -> Tensor:
    """Mirror each image with a probability of one half."""
    return _random_flip(image, 1, seed)


def random_flip_up_down(image: Any, seed: Any = None) -> Tensor:
    """Flip each image upside down with a probability of one half."""
    return _random_flip(image, 0, seed)


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Tensor:
    """A part of a tensor of a size, at a random place.

    Raises:
        InvalidArgumentError: the tensor is smaller.
    """
    tensor, sizes = convert_to_tensor(value), [int(each) for each in np.asarray(array_ops.plain(size)).tolist()]

    def cropped(x: Any) -> Any:
        rooms = [whole - part for whole, part in zip(x.shape, sizes)]
        if min(rooms) < 0:
            raise InvalidArgumentError(f"Need value.shape >= size, got {list(x.shape)} and {sizes}")
        starts = [random_ops.generator_of(seed).integers(room + 1) for room in rooms]
        return x[tuple(slice(start, start + part) for start, part in zip(starts, sizes))]

    return run_later("RandomCrop", cropped, tensor._value, dtype=tensor.dtype, shape=sizes, repeatable=False)


# Files ----------------------------------------------------------------------------------------------------------------


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise ImportError("reading and writing images needs Pillow: pip install pillow") from None
    return Image


_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}


def decode_image(
    contents: Any, channels: int | None = None, dtype: Any = dtypes.uint8, name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """Read an image from the bytes of a file: PNG, JPEG, GIF, BMP and what else Pillow reads."""
    if channels not in (None, 0, *_MODES):
        raise ValueError(f"channels must be in (None, 0, 1, 3, 4), not {channels}")

    def decoded(data: bytes) -> Any:
        try:
            image = _pillow().open(io.BytesIO(data))
            image.load()
        except OSError as error:
            raise InvalidArgumentError(f"Unknown image file format: {error} [Op:DecodeImage]") from None
        wanted = _MODES[channels] if channels else image.mode if image.mode in _MODES.values() else "RGB"
        array = np.asarray(image.convert(wanted))
        return array if array.ndim == 3 else array[..., None]

    shape = TensorShape([None, None, channels or None])
    found = run_later("DecodeImage", decoded, convert_to_tensor(contents)._value, dtype=dtypes.uint8, shape=shape)
    return convert_image_dtype(found, dtype)


def decode_png(contents: Any, channels: int = 0, dtype: Any = dtypes.uint8, name: str | None = None) -> Tensor:
    """Read an image from the bytes of a PNG file."""
    return decode_image(contents, channels, dtype)


def decode_jpeg(contents: Any, channels: int = 0, name: str | None = None, **_: Any) -> Tensor:
    """Read an image from the bytes of a JPEG file."""
    return decode_image(contents, channels)


decode_bmp = decode_png


def _encoded(image: Any, format: str, **options: Any) -> Tensor:
    tensor = convert_to_tensor(image)
    if tensor.dtype is not dtypes.uint8:
        raise ValueError(f"image must be of type uint8, not {tensor.dtype.name}")

    def encode(array: Any) -> bytes:
        buffer = io.BytesIO()
        plain = array[..., 0] if array.shape[-1] == 1 else array
        _pillow().fromarray(plain).save(buffer, format, **options)
        return buffer.getvalue()

    return run_later(f"Encode{format.title()}", encode, tensor._value, dtype=dtypes.string, shape=())


def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """The bytes of a PNG file with an image."""
    return _encoded(image, "PNG")


def encode_jpeg(image: Any, format: str = "", quality: int = 95, name: str | None = None, **_: Any) -> Tensor:
    """The bytes of a JPEG file with an image."""
    return _encoded(image, "JPEG", quality=quality)

