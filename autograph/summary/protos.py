"""TensorBoard's protocol buffers for arrays: one `Summary.Value` for each call of a writer.

TensorBoard's own modules make them; only what these leave to TensorFlow is here: buckets, PNG and WAV.
"""

from __future__ import annotations

import io
import wave
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tensorboard.compat.proto.summary_pb2 import Summary

PARTS = 30  # of a histogram, as in TensorFlow


def scalar(name: str, value: Any, description: str | None = None) -> Summary:
    """A number; an array of one element is one, too."""
    from tensorboard.plugins.scalar import summary_v2

    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "biuf":
        raise ValueError(f"the scalar {name!r} is one real number, not {_described(array)}")
    return summary_v2.scalar_pb(name, array.reshape(()), description)


def histogram(name: str, values: Any, buckets: int | None = None, description: str | None = None) -> Summary:
    """How often values occur: rows of left edge, right edge and count. Values that are not finite are left out."""
    from tensorboard.plugins.histogram import metadata

    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        raise ValueError(f"the histogram {name!r} is of real numbers, not of {_described(array)}")
    array = array.astype(float).ravel()
    rows = _buckets(array[np.isfinite(array)], PARTS if buckets is None else buckets)
    return tensor(name, rows, metadata.create_summary_metadata(None, description))


def _buckets(values: np.ndarray[Any, Any], count: int) -> np.ndarray[Any, Any]:
    rows = np.zeros((count, 3))
    if not values.size or not count:
        return rows
    if values.min() == values.max():  # all are in the last bucket, which has no width
        rows[:, :2], rows[-1, 2] = values[0], values.size
        return rows
    counts, edges = np.histogram(values, count)
    return np.stack([edges[:-1], edges[1:], counts], axis=1)


def image(name: str, images: Any, max_outputs: int = 3, description: str | None = None) -> Summary:
    """Pictures as PNG, of shape (height, width), (height, width, channels) or (count, height, width, channels)."""
    from tensorboard.plugins.image import metadata

    array = np.asarray(images)
    batch = array[None, ..., None] if array.ndim == 2 else array[None] if array.ndim == 3 else array
    if batch.ndim != 4 or batch.shape[3] not in (1, 2, 3, 4) or batch.dtype.kind not in "biuf":
        shapes = "(height, width), (height, width, channels) or (count, height, width, channels) with 1 to 4 channels"
        raise ValueError(f"the image {name!r} has a shape {shapes}, not {_described(array)}")
    height, width = batch.shape[1:3]
    pictures = [_png(picture) for picture in _bytes_of(batch[:max_outputs])]
    parts = [str(width).encode(), str(height).encode(), *pictures]
    return tensor(name, parts, metadata.create_summary_metadata(None, description))


def _bytes_of(pixels: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Pixels from 0 to 255, of floats from 0 to 1."""
    if pixels.dtype.kind in "bf":
        pixels = np.nan_to_num(pixels.astype(float)) * 255.5
    clipped: np.ndarray[Any, Any] = np.clip(pixels, 0, 255)
    return clipped.astype(np.uint8)


def _png(picture: np.ndarray[Any, Any]) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(picture[..., 0] if picture.shape[2] == 1 else picture).save(file, format="PNG")
    return file.getvalue()


def audio(name: str, waves: Any, sample_rate: int, max_outputs: int = 3, description: str | None = None) -> Summary:
    """Sounds as WAV of 16 bits, from floats from -1 to 1 of shape (count, frames, channels)."""
    from tensorboard.plugins.audio import metadata

    array = np.asarray(waves)
    if array.ndim != 3 or array.dtype.kind != "f":
        raise ValueError(
            f"the sound {name!r} is an array of floats of shape (count, frames, channels), not {_described(array)}"
        )
    encoding = metadata.Encoding.Value("WAV")
    rows = [[_wav(each, int(sample_rate)), b""] for each in array[:max_outputs]]
    return tensor(name, rows, metadata.create_summary_metadata(None, description, encoding))


def _wav(frames: np.ndarray[Any, Any], sample_rate: int) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(frames.shape[1])
        sound.setsampwidth(2)
        sound.setframerate(sample_rate)
        sound.writeframes((np.clip(np.nan_to_num(frames), -1, 1) * 32767).astype("<i2").tobytes())
    return file.getvalue()


def text(name: str, data: Any, description: str | None = None) -> Summary:
    """A text in Markdown, or an array or list of texts, which is shown as a table."""
    from tensorboard.plugins.text import summary_v2

    array = np.asarray(data, dtype=object)
    for each in array.ravel():
        if not isinstance(each, (str, bytes)):
            raise ValueError(f"the text {name!r} is a str, or a list or array of them, not {type(each).__name__}")
    return summary_v2.text_pb(name, array, description)


def blob(name: str, data: bytes, plugin: str) -> Summary:
    """Bytes for a plugin of TensorBoard, such as a graph."""
    from tensorboard.compat.proto.summary_pb2 import SummaryMetadata

    return tensor(name, data, SummaryMetadata(plugin_data={"plugin_name": plugin, "content": b"1"}))


def tensor(name: str, data: Any, metadata: Any) -> Summary:
    """Data with `SummaryMetadata`, which say how it is shown."""
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.util.tensor_util import make_tensor_proto

    return Summary(value=[Summary.Value(tag=name, metadata=metadata, tensor=make_tensor_proto(data))])


def _described(array: np.ndarray[Any, Any]) -> str:
    return f"an array of shape {array.shape} and dtype {array.dtype}" if array.ndim else repr(array[()])
