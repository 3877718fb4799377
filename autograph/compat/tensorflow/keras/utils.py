"""`tf.keras.utils`: files, images, `to_categorical`, and the summary of models."""

from __future__ import annotations

import gzip
import hashlib
import os
import shutil
import tarfile
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlretrieve

import numpy as np

from autograph.compat.tensorflow.keras.layer import Layer, count

_WIDTH, _COLUMNS = 65, (29, 55, 65)  # of a summary, as in TensorFlow


def to_categorical(y: Any, num_classes: int | None = None) -> Any:
    """One-hot arrays of class numbers."""
    numbers = np.asarray(y, int)
    return np.eye(num_classes or numbers.max() + 1, dtype=np.float32)[numbers]


def summary_of(model: Layer) -> str:
    """The table of the layers of a model."""

    def row(*fields: Any) -> str:
        line = ""
        for field, end in zip(fields, _COLUMNS):
            line = f"{line}{field}"[:end].ljust(end)
        return line

    thin, thick = "_" * _WIDTH, "=" * _WIDTH
    lines = [f'Model: "{model.name}"', thin, row("Layer (type)", "Output Shape", "Param #"), thick]
    for at, layer in enumerate(model.layers):
        shape = "multiple" if layer.output_shape is None else str(tuple(layer.output_shape))
        lines += [row(f"{layer.name} ({type(layer).__name__})", shape, layer.count_params())]
        lines += [thin if at + 1 < len(model.layers) else thick]
    trained, rest = count(model.trainable_weights), count(model.non_trainable_weights)
    lines += [f"Total params: {trained + rest:,}", f"Trainable params: {trained:,}"]
    return "\n".join([*lines, f"Non-trainable params: {rest:,}", thin])


def summary(model: Any, line_length: Any = None, positions: Any = None, print_fn: Any = None) -> None:
    """Print a table of the layers."""
    if not model.built:
        raise ValueError(
            "This model has not yet been built. Build the model first by calling `build()` or by calling the model "
            "on a batch of data."
        )
    (print_fn or print)(summary_of(model))


def get_file(
    fname: Any = None, origin: str | None = None, untar: bool = False, md5_hash: str | None = None,
    file_hash: str | None = None, cache_subdir: str = "datasets", hash_algorithm: str = "auto", extract: bool = False,
    archive_format: str = "auto", cache_dir: Any = None, force_download: bool = False,
) -> str:
    """The path of a file from the network, which is kept in `~/.keras`, or in the folder `KERAS_HOME`.

    Args:
        untar: whether it is an archive; the result is the folder of that name, then.
        extract: whether to take the files out of an archive, into the folder that it is in.
        file_hash: its SHA-256, which is checked.
    """
    folder = Path(cache_dir or os.environ.get("KERAS_HOME") or Path.home() / ".keras") / cache_subdir
    path = folder / (fname or str(origin).rpartition("/")[2])
    archive = path.with_name(f"{path.name}.tar.gz") if untar else path
    folder.mkdir(parents=True, exist_ok=True)
    if force_download or not path.exists():
        _download(str(origin), archive, file_hash or md5_hash)
        if untar or extract:
            _extract(archive, folder)
    return str(path)


def _download(origin: str, path: Path, wanted: str | None) -> None:
    """Download a file.

    Raises:
        URLError: it cannot be had.
        ValueError: its hash is another one than `wanted`.
    """
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        urlretrieve(origin, temporary)
    except OSError as error:
        raise URLError(f"URL fetch failure on {origin}: {error}") from error
    if wanted is not None:
        found = hashlib.new("md5" if len(wanted) == 32 else "sha256", temporary.read_bytes()).hexdigest()
        if found != wanted:
            temporary.unlink()
            raise ValueError(f"the hash of {origin} is {found}, not {wanted}: it is incomplete or another file")
    temporary.replace(path)


def _extract(archive: Path, folder: Path) -> None:
    """Take the files out of an archive; those outside of the folder are refused."""
    if tarfile.is_tarfile(archive):
        with tarfile.open(archive) as file:
            file.extractall(folder, filter="data")
    else:
        shutil.unpack_archive(archive, folder, "zip")


def load_img(
    path: Any, color_mode: str = "rgb", target_size: Any = None, interpolation: str = "nearest",
    keep_aspect_ratio: bool = False,
) -> Any:
    """Read an image, as an image of Pillow; `target_size` is height and width."""
    from PIL import Image

    modes = {"rgb": "RGB", "rgba": "RGBA", "grayscale": "L"}
    image = Image.open(path).convert(modes[color_mode])
    if target_size is None:
        return image
    return image.resize((target_size[1], target_size[0]), getattr(Image.Resampling, interpolation.upper()))


def img_to_array(img: Any, data_format: str | None = None, dtype: Any = "float32") -> Any:
    """The values of an image of Pillow."""
    array = np.asarray(img, dtype)
    return array if array.ndim == 3 else array[..., None]


def array_to_img(x: Any, data_format: str | None = None, scale: bool = True, dtype: Any = None) -> Any:
    """An image of Pillow with the values of an array; `scale` lets these have the whole range of 8 bits."""
    from PIL import Image

    array = np.asarray(x, np.float32)
    if scale:
        array = array - array.min()
        array = array * (255 / (array.max() or 1))
    array = array.astype(np.uint8)
    return Image.fromarray(array[..., 0] if array.shape[-1] == 1 else array)


def load_mnist(path: str = "mnist.npz") -> Any:
    """Images of digits, with labels: for training, and for tests."""
    origin = f"https://storage.googleapis.com/tensorflow/tf-keras-datasets/{path}"
    with np.load(get_file(path, origin), allow_pickle=False) as arrays:
        return (arrays["x_train"], arrays["y_train"]), (arrays["x_test"], arrays["y_test"])


def load_fashion_mnist() -> Any:
    """Images of clothes, with labels: for training, and for tests."""
    base, found = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/", []
    for part in ("train", "t10k"):
        names = f"{part}-labels-idx1-ubyte.gz", f"{part}-images-idx3-ubyte.gz"
        labels, images = (
            gzip.decompress(Path(get_file(name, base + name, cache_subdir="datasets/fashion-mnist")).read_bytes())
            for name in names
        )
        rows = np.frombuffer(labels, np.uint8, offset=8)
        found.append((np.frombuffer(images, np.uint8, offset=16).reshape(len(rows), 28, 28), rows))
    return tuple(found)
