"""`tf.io`: files, records, and arrays as bytes."""

from __future__ import annotations

import base64
import gzip
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import as_dtype, numpy_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError, NotFoundError
from autograph.compat.tensorflow.core.tensor import Tensor, effect, run_later
from autograph.compat.tensorflow.data import files
from autograph.compat.tensorflow.image import (
    decode_bmp,
    decode_image,
    decode_jpeg,
    decode_png,
    encode_jpeg,
    encode_png,
)

__all__ = [
    "TFRecordWriter", "decode_base64", "decode_bmp", "decode_image", "decode_jpeg", "decode_png", "decode_raw",
    "encode_base64", "encode_jpeg", "encode_png", "gfile", "matching_files", "read_file", "write_file",
]  # fmt: skip


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The bytes of a file."""

    def read(path: Any) -> bytes:
        try:
            return Path(path.decode() if isinstance(path, bytes) else path).read_bytes()
        except FileNotFoundError:
            raise NotFoundError(f"{path.decode()}; No such file or directory [Op:ReadFile]") from None

    return run_later("ReadFile", read, convert_to_tensor(filename)._value, dtype=dtypes.string, shape=())


def write_file(filename: Any, contents: Any, name: str | None = None) -> None:
    """Write bytes to a file."""

    def write(path: bytes, data: bytes) -> None:
        target = Path(path.decode())
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    effect(write, convert_to_tensor(filename)._value, convert_to_tensor(contents)._value)


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """The names of the files that match patterns."""
    found = np.array([*files.matching(pattern), None], object)[:-1]
    return convert_to_tensor(found)


def decode_raw(
    input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The numbers whose bytes are in strings of equal length."""
    texts, wanted = convert_to_tensor(input_bytes), as_dtype(out_type)
    kind = numpy_dtype(wanted).newbyteorder("<" if little_endian else ">")

    def decoded(value: Any) -> Any:
        flat = [value] if isinstance(value, bytes) else value.reshape(-1).tolist()
        if fixed_length is not None:
            flat = [text[:fixed_length].ljust(fixed_length, b"\0") for text in flat]
        if len(set(map(len, flat))) > 1 or any(len(text) % kind.itemsize for text in flat):
            raise InvalidArgumentError(
                f"Input to DecodeRaw has lengths {sorted(set(map(len, flat)))}, which must be equal, and multiples of "
                f"{kind.itemsize}, the size of {wanted.name} [Op:DecodeRaw]"
            )
        shape = () if isinstance(value, bytes) else value.shape
        return np.array([np.frombuffer(text, kind) for text in flat]).astype(numpy_dtype(wanted)).reshape((*shape, -1))

    shape = None if texts.shape.rank is None else [*texts.shape, None]
    return run_later("DecodeRaw", decoded, texts._value, dtype=wanted, shape=shape)


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """A string as web-safe base64."""

    def encode(text: bytes) -> bytes:
        found = base64.urlsafe_b64encode(text)
        return found if pad else found.rstrip(b"=")

    return run_later("EncodeBase64", encode, convert_to_tensor(input)._value, dtype=dtypes.string, shape=())


def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """The string of web-safe base64."""

    def decode(text: bytes) -> bytes:
        return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))

    return run_later("DecodeBase64", decode, convert_to_tensor(input)._value, dtype=dtypes.string, shape=())


class TFRecordWriter:
    """Writes records to a file, which `tf.data.TFRecordDataset` reads."""

    def __init__(self, path: Any, options: Any = None) -> None:
        self._path, self._options = Path(str(path)), options or ""
        self._records: list[bytes] = []
        if self._options not in ("", "GZIP", "ZLIB"):
            raise ValueError(f"options must be '', 'GZIP' or 'ZLIB', not {options!r}")
        self._path.write_bytes(b"")

    def write(self, record: bytes) -> None:
        """Add a record."""
        self._records.append(files.record(record))

    def flush(self) -> None:
        """Write the records so far to the file."""
        data = b"".join(self._records)
        if self._options:
            data = gzip.compress(data) if self._options == "GZIP" else zlib.compress(data)
        self._path.write_bytes(data)

    close = flush

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *raised: Any) -> None:
        self.close()


class gfile:
    """`tf.io.gfile`: files and folders."""

    @staticmethod
    def GFile(name: Any, mode: str = "r") -> Any:
        return Path(name).open(mode)

    @staticmethod
    def exists(path: Any) -> bool:
        return Path(path).exists()

    @staticmethod
    def isdir(path: Any) -> bool:
        return Path(path).is_dir()

    @staticmethod
    def makedirs(path: Any) -> None:
        Path(path).mkdir(parents=True, exist_ok=True)

    @staticmethod
    def listdir(path: Any) -> list[str]:
        return sorted(each.name for each in Path(path).iterdir())

    @staticmethod
    def glob(pattern: Any) -> list[str]:
        return [name.decode() for name in files.matching(pattern)]
