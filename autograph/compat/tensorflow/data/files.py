"""The files of datasets: names that match patterns, elements that were kept, and TensorFlow's records."""

from __future__ import annotations

import glob
import gzip
import io
import itertools
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from autograph.common import pytree
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.errors import DataLossError, InvalidArgumentError, NotFoundError

Row = tuple[Any, ...]


def names_of(filenames: Any) -> list[str]:
    """The names in a string, a path, a tensor or a list of these."""
    if isinstance(filenames, (str, bytes, os.PathLike)):
        return [os.fsdecode(filenames)]
    leaves = [os.fspath(each) if isinstance(each, os.PathLike) else each for each in pytree.flatten(filenames)]
    values = [convert_to_tensor(leaf)._value for leaf in leaves]
    return [os.fsdecode(each) for value in values for each in np.atleast_1d(np.asarray(value, object)).tolist()]


def matching(patterns: Any) -> list[bytes]:
    """The names of the files that match patterns, sorted."""
    return sorted({os.fsencode(name) for pattern in names_of(patterns) for name in glob.glob(pattern)})


@contextmanager
def opened(name: str, compression: str | None = None) -> Iterator[IO[bytes]]:
    """A file to read.

    Raises:
        NotFoundError: there is none of that name.
        InvalidArgumentError: the compression is unknown.
    """
    if compression not in (None, "", "GZIP", "ZLIB"):
        raise InvalidArgumentError(f"Unsupported compression_type: {compression}. It must be '', 'GZIP' or 'ZLIB'.")
    if not Path(name).exists():
        raise NotFoundError(f"{name}; No such file or directory")
    if compression == "ZLIB":
        yield io.BytesIO(zlib.decompress(Path(name).read_bytes()))
        return
    file: Any
    with gzip.GzipFile(name) if compression == "GZIP" else Path(name).open("rb") as file:
        yield file


# Elements that were kept ----------------------------------------------------------------------------------------------


def stored(path: Path, make: Callable[[], Iterator[Row]]) -> Iterator[Row]:
    """The rows in a file; the first whole iteration over `make()` writes it."""
    if path.exists():
        with np.load(path) as arrays:
            width = int(arrays["width"])
            flat = [_unpacked(arrays, number) for number in range(int(arrays["count"]))]
        yield from zip(*[iter(flat)] * width)
        return
    rows: list[Row] = []
    for row in make():
        rows.append(row)
        yield row
    arrays = {"width": np.int64(len(rows[0]) if rows else 1), "count": np.int64(sum(map(len, rows)))}
    for number, value in enumerate(value for row in rows for value in row):
        arrays.update(_packed(value, number))
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    with temporary.open("wb") as file:
        np.savez(file, **arrays)
    temporary.replace(path)


def _packed(value: Any, number: int) -> dict[str, Any]:
    """The arrays for a value: itself, or the bytes and the lengths of strings."""
    array = np.asarray(value, object) if isinstance(value, bytes) else np.asarray(value)
    if array.dtype != object:
        return {f"array_{number}": array}
    texts = array.reshape(-1).tolist()
    return {
        f"bytes_{number}": np.frombuffer(b"".join(texts), np.uint8),
        f"ends_{number}": np.cumsum([0, *map(len, texts)]),
        f"shape_{number}": np.array(array.shape, np.int64),
    }


def _unpacked(arrays: Any, number: int) -> Any:
    if f"array_{number}" in arrays:
        array = arrays[f"array_{number}"]
        return array if array.ndim else array[()]
    text, ends = arrays[f"bytes_{number}"].tobytes(), arrays[f"ends_{number}"]
    result = np.empty(len(ends) - 1, object)
    result[:] = [text[begin:end] for begin, end in itertools.pairwise(ends)]
    result = result.reshape(arrays[f"shape_{number}"])
    return result if result.ndim else result[()]


# TensorFlow's records -------------------------------------------------------------------------------------------------


def _table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ 0x82F63B78 * (byte & 1)
        table.append(byte)
    return table


_CRC = _table()


def masked_crc(data: bytes) -> int:
    """The CRC-32C of data, as files of records have it: rotated, and a constant added."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data: bytes) -> bytes:
    """A record: length, its checksum, data, their checksum."""
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc(length)) + data + struct.pack("<I", masked_crc(data))


def records(file: IO[bytes], name: str) -> Iterator[bytes]:
    """The data of the records of a file.

    Raises:
        DataLossError: a record is cut off or damaged.
    """
    while head := file.read(12):
        if len(head) < 12 or struct.unpack("<I", head[8:])[0] != masked_crc(head[:8]):
            raise DataLossError(f"corrupted record in {name}: the checksum of its length is wrong")
        (length,) = struct.unpack("<Q", head[:8])
        data, check = file.read(length), file.read(4)
        if len(data) < length or len(check) < 4:
            raise DataLossError(f"truncated record in {name}")
        if struct.unpack("<I", check)[0] != masked_crc(data):
            raise DataLossError(f"corrupted record in {name}: the checksum of its data is wrong")
        yield data
