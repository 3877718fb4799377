"""`tf.data.experimental`: older names, most of them functions for `dataset.apply`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.errors import FailedPreconditionError
from autograph.compat.tensorflow.core.shapes import TensorSpec
from autograph.compat.tensorflow.core.tensor import Tensor
from autograph.compat.tensorflow.data.dataset import Dataset, Options
from autograph.compat.tensorflow.data.elements import Row
from autograph.compat.tensorflow.data.iterators import Optional
from autograph.compat.tensorflow.data.mixing import choose_from_datasets, sample_from_datasets
from autograph.compat.tensorflow.data.readers import CsvDataset, make_csv_dataset

AUTOTUNE = -1
INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -2

__all__ = [
    "AUTOTUNE", "INFINITE_CARDINALITY", "UNKNOWN_CARDINALITY", "Counter", "CsvDataset", "Optional", "Options",
    "assert_cardinality", "bucket_by_sequence_length", "cardinality", "choose_from_datasets", "enumerate_dataset",
    "get_single_element", "group_by_window", "ignore_errors", "make_csv_dataset", "parallel_interleave",
    "rejection_resample", "sample_from_datasets", "scan", "snapshot", "take_while", "unbatch", "unique",
]  # fmt: skip


def _applied(name: str) -> Callable[..., Any]:
    """A function that gives a function for `dataset.apply`, which calls the method of that name."""

    def of(*args: Any, **kwargs: Any) -> Callable[[Dataset], Any]:
        return lambda dataset: getattr(dataset, name)(*args, **kwargs)

    of.__doc__ = f"For `dataset.apply`: `dataset.{name}`."
    return of


bucket_by_sequence_length, enumerate_dataset = _applied("bucket_by_sequence_length"), _applied("enumerate")
group_by_window, ignore_errors = _applied("group_by_window"), _applied("ignore_errors")
rejection_resample = _applied("rejection_resample")
scan, snapshot, take_while = _applied("scan"), _applied("snapshot"), _applied("take_while")
unbatch, unique = _applied("unbatch"), _applied("unique")


def parallel_interleave(map_func: Callable[..., Any], cycle_length: int, block_length: int = 1, **_: Any) -> Any:
    """For `dataset.apply`: `dataset.interleave` with a thread for each open dataset."""
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, cycle_length)


def cardinality(dataset: Dataset) -> Tensor:
    """The number of elements: -1 if it is infinite, -2 if it is unknown."""
    return dataset.cardinality()


def get_single_element(dataset: Dataset) -> Any:
    """The only element."""
    return dataset.get_single_element()


def Counter(start: int = 0, step: int = 1, dtype: Any = dtypes.int64) -> Dataset:
    """An infinite dataset of numbers."""
    kind = dtypes.as_dtype(dtype).as_numpy_dtype
    return Dataset(lambda: ((kind(number),) for number in count(start, step)), TensorSpec((), dtype), -1)


def assert_cardinality(expected_cardinality: Any) -> Callable[[Dataset], Dataset]:
    """For `dataset.apply`: check the number of elements at the end."""
    wanted = int(expected_cardinality)

    def asserted(dataset: Dataset) -> Dataset:
        def rows() -> Iterator[Row]:
            expected = f"Input dataset was expected to contain {wanted} elements but contained"
            number = 0
            for number, row in enumerate(dataset._make(), 1):
                if number > wanted >= 0:
                    raise FailedPreconditionError(f"{expected} more.")
                yield row
            if number != wanted:
                raise FailedPreconditionError(f"{expected} only {number}.")

        return Dataset(rows, dataset.element_spec, wanted)

    return asserted
