"""`tf.random`: random numbers, drawn when the graph runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import dtypes
from autograph.compat.tensorflow.core.convert import convert_to_tensor, is_tensor
from autograph.compat.tensorflow.core.dtypes import as_dtype, numpy_dtype
from autograph.compat.tensorflow.core.kernels import kernel
from autograph.compat.tensorflow.core.tensor import Tensor, name_ops, run_later
from autograph.compat.tensorflow.ops import math_ops
from autograph.compat.tensorflow.ops.array_ops import plain, static_shape
from autograph.compat.tensorflow.ops.generators import Generator as Generator
from autograph.compat.tensorflow.ops.generators import fold_in, get_global_generator, set_global_generator, split
from autograph.compat.tensorflow.ops.generators import stateless_normal as stateless_normal
from autograph.compat.tensorflow.ops.generators import stateless_truncated_normal as stateless_truncated_normal
from autograph.compat.tensorflow.ops.generators import stateless_uniform as stateless_uniform

experimental = SimpleNamespace(
    Generator=Generator, get_global_generator=get_global_generator, set_global_generator=set_global_generator,
    stateless_split=split, stateless_fold_in=fold_in,
)  # fmt: skip
_state = {"generator": np.random.default_rng()}


def set_seed(seed: int) -> None:
    """Seed the generator of all random numbers that have no seed of their own."""
    _state["generator"] = np.random.default_rng(seed)


def generator_of(seed: int | None) -> np.random.Generator:
    return _state["generator"] if seed is None else np.random.default_rng(seed)


def uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, seed: int | None = None,
    name: str | None = None,
) -> Tensor:
    """Uniform random numbers in [minval, maxval)."""
    wanted = as_dtype(dtype)
    if maxval is None and wanted.is_integer:
        raise ValueError("Must specify maxval for integer dtype")
    ends = minval, 1 if maxval is None else maxval
    if wanted.is_floating and any(map(is_tensor, ends)):  # the result has gradients in them
        low, high = (convert_to_tensor(each, dtype_hint=wanted) for each in ends)
        return math_ops.add(uniform(shape, dtype=dtype, seed=seed) * (high - low), low)
    low, high = (convert_to_tensor(each, dtype_hint=wanted)._value for each in ends)
    kind, own = numpy_dtype(wanted), None if seed is None else generator_of(seed)

    return run_later("RandomUniform", partial(_uniform, kind, own), plain(shape), low, high, dtype=wanted,
                     shape=static_shape(shape), repeatable=False)  # fmt: skip


@kernel
def _uniform(kind: np.dtype[Any], own: np.random.Generator | None, dims: Any, low: Any, high: Any) -> Any:
    """Uniform random numbers of a generator, or of that of all numbers."""
    generator = own or generator_of(None)
    if kind.kind in "iu":
        return generator.integers(low, high, size=dims, dtype=kind)
    return np.asarray(low + (high - low) * generator.random(dims)).astype(kind)


def _normals(title: str, draw: Callable[[np.random.Generator, Any], Any]) -> Callable[..., Tensor]:
    def of(
        shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, seed: int | None = None,
        name: str | None = None,
    ) -> Tensor:
        wanted = as_dtype(dtype)
        if is_tensor(mean) or is_tensor(stddev):
            return math_ops.add(of(shape, dtype=dtype, seed=seed) * stddev, mean)
        middle, width = (convert_to_tensor(each, dtype_hint=wanted)._value for each in (mean, stddev))
        own = None if seed is None else generator_of(seed)
        drawn = partial(_normal, draw, numpy_dtype(wanted), own)
        return run_later("RandomNormal", drawn, plain(shape), middle, width, dtype=wanted, shape=static_shape(shape),
                         repeatable=False)  # fmt: skip

    of.__doc__ = f"Numbers of the {title} distribution."
    return of


@kernel
def _normal(draw: Any, kind: np.dtype[Any], own: np.random.Generator | None, dims: Any, mean: Any, stddev: Any) -> Any:
    """Random numbers of a generator, or of that of all numbers, with this mean and deviation."""
    return np.asarray(mean + stddev * draw(own or generator_of(None), dims)).astype(kind)


@kernel
def _standard(generator: np.random.Generator, dims: Any) -> Any:
    return generator.standard_normal(dims)


@kernel
def _truncated(generator: np.random.Generator, dims: Any) -> Any:
    """Normal random numbers, at most two standard deviations from the mean."""
    result = np.asarray(generator.standard_normal(dims))
    while (far := np.abs(result) > 2).any():
        result[far] = generator.standard_normal(int(far.sum()))
    return result


normal = _normals("normal", _standard)
truncated_normal = _normals("truncated normal", _truncated)


name_ops(globals())


def shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """Shuffle the rows of a tensor."""
    tensor = convert_to_tensor(value)
    return run_later("RandomShuffle", partial(_shuffled, seed), tensor._value, dtype=tensor.dtype, shape=tensor.shape,
                     repeatable=False)  # fmt: skip


@kernel
def _shuffled(seed: int | None, rows: Any) -> Any:
    return generator_of(seed).permutation(rows)
