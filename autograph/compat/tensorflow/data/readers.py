"""Datasets of the lines, records and tables in files."""

from __future__ import annotations

import csv
import io
import itertools
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Any

import numpy as np

from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import DType, numpy_dtype
from autograph.compat.tensorflow.core.errors import InvalidArgumentError
from autograph.compat.tensorflow.core.shapes import TensorSpec
from autograph.compat.tensorflow.data import files
from autograph.compat.tensorflow.data.dataset import Dataset
from autograph.compat.tensorflow.data.elements import Row

_STRING = TensorSpec((), dtypes.string)


class _FileDataset(Dataset):
    """The strings that `read` finds in files, one file after another."""

    def __init__(self, filenames: Any, compression_type: str | None, read: Callable[..., Iterator[bytes]]) -> None:
        self._names = filenames

        def rows() -> Iterator[Row]:
            names = filenames if isinstance(filenames, Dataset) else [files.names_of(filenames)]
            for name in itertools.chain.from_iterable(map(files.names_of, names)):
                with files.opened(name, compression_type) as file:
                    for text in read(file, name):
                        yield (text,)

        super().__init__(rows, _STRING)


class TextLineDataset(_FileDataset):
    """The lines of text files, without the line ends."""

    def __init__(self, filenames: Any, compression_type: str | None = None, buffer_size: Any = None,
                 num_parallel_reads: Any = None, name: str | None = None) -> None:  # fmt: skip
        super().__init__(filenames, compression_type, _lines)


def _lines(file: IO[bytes], name: str) -> Iterator[bytes]:
    return (line.removesuffix(b"\n").removesuffix(b"\r") for line in file)


class TFRecordDataset(_FileDataset):
    """The records of files in TensorFlow's record format."""

    def __init__(self, filenames: Any, compression_type: str | None = None, buffer_size: Any = None,
                 num_parallel_reads: Any = None, name: str | None = None) -> None:  # fmt: skip
        super().__init__(filenames, compression_type, files.records)


class FixedLengthRecordDataset(_FileDataset):
    """The records of `record_bytes` bytes of files, without a header and a footer."""

    def __init__(
        self, filenames: Any, record_bytes: int, header_bytes: int | None = None, footer_bytes: int | None = None,
        buffer_size: Any = None, compression_type: str | None = None, num_parallel_reads: Any = None,
        name: str | None = None,
    ) -> None:
        def read(file: IO[bytes], name: str) -> Iterator[bytes]:
            data = file.read()
            data = data[header_bytes or 0 : len(data) - (footer_bytes or 0)]
            if len(data) % record_bytes:
                raise InvalidArgumentError(f"{name} has {len(data)} bytes of records, no multiple of {record_bytes}.")
            return (data[at : at + record_bytes] for at in range(0, len(data), record_bytes))

        super().__init__(filenames, compression_type, read)


class CsvDataset(Dataset):
    """The rows of CSV files, a tuple of columns each.

    Args:
        record_defaults: for each column a dtype, if it must have a value, or the value of empty fields.
        header: whether the first line has no data.
        select_cols: the numbers of the columns to take; `exclude_cols`: those to leave out.
    """

    def __init__(
        self, filenames: Any, record_defaults: Sequence[Any], compression_type: str | None = None,
        buffer_size: Any = None, header: bool = False, field_delim: str = ",", use_quote_delim: bool = True,
        na_value: str = "", select_cols: Sequence[int] | None = None, exclude_cols: Sequence[int] | None = None,
    ) -> None:
        kinds = [_column(each) for each in record_defaults]

        def rows() -> Iterator[Row]:
            for name in files.names_of(filenames):
                with files.opened(name, compression_type) as file:
                    for fields in _table(file, field_delim, use_quote_delim, header):
                        yield _parsed(_selected(fields, select_cols, exclude_cols), kinds, na_value, name)

        super().__init__(rows, tuple(TensorSpec((), dtype) for dtype, _ in kinds))


def _column(default: Any) -> tuple[DType, Any]:
    """The dtype of a column, and the value of its empty fields; None if they are errors."""
    if isinstance(default, (DType, type)):
        return dtypes.as_dtype(default), None
    tensor = convert_to_tensor(default)
    value = np.asarray(tensor._value).reshape(-1)
    return tensor.dtype, (value[0] if len(value) else None) if tensor.shape.rank else tensor._value


def _table(file: IO[bytes], delimiter: str, quotes: bool, header: bool) -> Iterator[list[str]]:
    text = io.TextIOWrapper(file, "utf-8", newline="")
    lines = csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_MINIMAL if quotes else csv.QUOTE_NONE)
    return (line for line in itertools.islice(lines, int(header), None) if line)


def _selected(fields: list[str], chosen: Sequence[int] | None, left_out: Sequence[int] | None) -> list[str]:
    if chosen is not None:
        return [fields[at] for at in chosen]
    return fields if left_out is None else [each for at, each in enumerate(fields) if at not in left_out]


def _parsed(fields: Sequence[str], kinds: Sequence[tuple[DType, Any]], missing: str, name: str) -> Row:
    if len(fields) != len(kinds):
        raise InvalidArgumentError(f"Expect {len(kinds)} fields but have {len(fields)} in record of {name}")
    return tuple(_field(text, *kind, missing, at) for at, (text, kind) in enumerate(zip(fields, kinds)))


def _field(text: str, dtype: DType, default: Any, missing: str, at: int) -> Any:
    if text in ("", missing):
        if default is None:
            raise InvalidArgumentError(f"Field {at} is required but missing in record!")
        return default
    if dtype is dtypes.string:
        return text.encode()
    try:
        return numpy_dtype(dtype).type(text)
    except (ValueError, OverflowError):
        raise InvalidArgumentError(f"Field {at} in record is not a valid {dtype.name}: {text}") from None


def make_csv_dataset(
    file_pattern: Any, batch_size: int, column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None, label_name: str | None = None,
    select_columns: Sequence[Any] | None = None, field_delim: str = ",", use_quote_delim: bool = True,
    na_value: str = "", header: bool = True, num_epochs: int | None = None, shuffle: bool = True,
    shuffle_buffer_size: int = 10000, shuffle_seed: int | None = None, prefetch_buffer_size: Any = None,
    num_parallel_reads: Any = None, sloppy: bool = False, num_rows_for_inference: int | None = 100,
    compression_type: str | None = None, ignore_errors: bool = False,
) -> Dataset:
    """Batches of the rows of CSV files: a dict of columns by name, and, with `label_name`, the label beside it.

    Types that `column_defaults` does not give are inferred from the first rows. Without `num_epochs` it never ends.
    """
    names = [name.decode() for name in files.matching(file_pattern)]
    if not names:
        raise ValueError(f"No files match {file_pattern!r}.")
    with files.opened(names[0], compression_type) as file:
        table = _table(file, field_delim, use_quote_delim, False)
        first = list(itertools.islice(table, 1 + (num_rows_for_inference or 100)))
    columns = list(first[0] if column_names is None else column_names)
    chosen = list(range(len(columns)))
    if select_columns is not None:
        chosen = sorted(each if isinstance(each, int) else columns.index(each) for each in select_columns)
    examples = first[1:] if header else first
    defaults = column_defaults
    if defaults is None:
        defaults = [_inferred([row[at] for row in examples], na_value) for at in chosen]
    elif len(defaults) == len(columns) > len(chosen):
        defaults = [defaults[at] for at in chosen]
    titles = [columns[at] for at in chosen]
    if label_name is not None and label_name not in titles:
        raise ValueError(f"`label_name` provided must be one of the columns, not {label_name!r}.")
    rows: Dataset = CsvDataset(
        names, defaults, compression_type, None, header, field_delim, use_quote_delim, na_value, chosen
    )
    specs = rows.element_spec
    label = None if label_name is None else titles.index(label_name)
    features = OrderedDict((title, spec) for at, (title, spec) in enumerate(zip(titles, specs)) if at != label)

    def ordered() -> Iterator[Row]:
        return (row if label is None else (*row[:label], *row[label + 1 :], row[label]) for row in rows._make())

    found = Dataset(ordered, features if label is None else (features, specs[label]))
    if shuffle:
        found = found.shuffle(shuffle_buffer_size, shuffle_seed)
    batches: Dataset = found.repeat(num_epochs).batch(batch_size).prefetch(1)
    return batches


def _inferred(texts: Sequence[str], missing: str) -> Any:
    """A default for the column of texts: of the narrowest type that holds all."""
    filled = [text for text in texts if text not in ("", missing)]
    for dtype in (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64):
        try:
            values = [numpy_dtype(dtype).type(text) for text in filled]
        except (ValueError, OverflowError):
            continue
        if np.isfinite(np.asarray(values, float)).all():
            return convert_to_tensor(numpy_dtype(dtype).type(0), dtype)
    return ""
