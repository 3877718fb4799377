"""`tf.distribute` with one replica: programs compute the same as without it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.tensor import Tensor
from autograph.compat.tensorflow.data import Dataset
from autograph.compat.tensorflow.ops import reduce_ops


class DistributedDataset(Dataset):
    """A dataset whose elements go to the only replica."""

    strict_shapes = True


class ReduceOp:
    """How to reduce the values of replicas."""

    SUM = "SUM"
    MEAN = "MEAN"


class Strategy:
    """A strategy with one replica, this process."""

    num_replicas_in_sync = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.extended = self

    def experimental_distribute_dataset(self, dataset: Dataset, options: Any = None) -> DistributedDataset:
        return DistributedDataset(dataset._make, dataset.element_spec, dataset._length)

    def reduce(self, reduce_op: Any, value: Any, axis: int | None) -> Tensor:
        tensor = convert_to_tensor(value)
        if axis is None:
            return tensor
        of = reduce_ops.reduce_mean if str(reduce_op).upper().endswith("MEAN") else reduce_ops.reduce_sum
        return of(tensor, axis)

    def run(self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None) -> Any:
        return fn(*args, **(kwargs or {}))

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        return (value,)

    @contextlib.contextmanager
    def scope(self) -> Iterator[Strategy]:
        yield self


MirroredStrategy = OneDeviceStrategy = Strategy


def get_strategy() -> Strategy:
    """The only strategy."""
    return _STRATEGY


_STRATEGY = Strategy()
