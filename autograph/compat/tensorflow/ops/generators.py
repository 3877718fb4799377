"""`tf.random.Generator`, and the random numbers that depend on a seed only, such as `stateless_uniform`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.compat.tensorflow.core import dtypes, graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.dtypes import as_dtype, numpy_dtype
from autograph.compat.tensorflow.core.tensor import Tensor, run_later
from autograph.compat.tensorflow.ops.array_ops import plain, static_shape

Draw = Callable[..., Any]     # of a generator, sizes, and parameters


def _uniform(generator: np.random.Generator, dims: Any, kind: Any, low: Any, high: Any) -> Any:
    if kind.kind in "iu":
        return generator.integers(low, high, size=dims, dtype=kind)
    return np.asarray(low + (high - low) * generator.random(dims)).astype(kind)


def _normal(generator: np.random.Generator, dims: Any, kind: Any, mean: Any, deviation: Any) -> Any:
    return np.asarray(mean + deviation * generator.standard_normal(dims)).astype(kind)


def _truncated(generator: np.random.Generator, dims: Any, kind: Any, mean: Any, deviation: Any) -> Any:
    result = np.asarray(generator.standard_normal(dims))
    while (far := np.abs(result) > 2).any():
        result[far] = generator.standard_normal(int(far.sum()))
    return np.asarray(mean + deviation * result).astype(kind)


def _full_range(generator: np.random.Generator, dims: Any, kind: Any) -> Any:
    limits = np.iinfo(kind)
    return generator.integers(limits.min, limits.max, size=dims, dtype=kind, endpoint=True)


def _binomial(generator: np.random.Generator, dims: Any, kind: Any, counts: Any, probs: Any) -> Any:
    return generator.binomial(counts, probs, size=dims).astype(kind)


def drawn(op: str, source: Callable[[], Any], draw: Draw, shape: Any, dtype: Any, *parameters: Any) -> Tensor:
    """Draw random numbers when the graph runs, from the generator that `source` gives then."""
    wanted = as_dtype(dtype)
    values = [convert_to_tensor(each, dtype_hint=wanted)._value for each in parameters]
    kind = numpy_dtype(wanted)
    return run_later(op, lambda dims, *rest: draw(source(), dims, kind, *rest), plain(shape), *values,
                     dtype=wanted, shape=static_shape(shape), repeatable=False)  # fmt: skip


def _high(maxval: Any, dtype: Any) -> Any:
    if maxval is None and as_dtype(dtype).is_integer:
        raise ValueError("Must specify maxval for integer dtype")
    return 1 if maxval is None else maxval


class Generator:
    """A source of random numbers with a state of its own; `from_seed` makes one whose numbers can be had again."""

    def __init__(self, seed: Any = None) -> None:
        graph = graphs.current()
        if graph is not None:
            graph.check_variables()
        self.reset_from_seed(seed)

    @classmethod
    def from_seed(cls, seed: Any, alg: Any = None) -> Generator:
        """A generator that gives the same numbers for the same seed."""
        return cls(seed)

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator that gives other numbers each time."""
        return cls()

    from_state = from_key_counter = None

    def reset_from_seed(self, seed: Any) -> None:
        """Begin again from a seed."""
        entropy = None if seed is None else int(np.asarray(convert_to_tensor(seed)._value)) & (2**64 - 1)
        self._sequence = np.random.SeedSequence(entropy)
        self._generator = np.random.Generator(np.random.Philox(self._sequence))

    def _draw(self, op: str, draw: Draw, shape: Any, dtype: Any, *parameters: Any) -> Tensor:
        return drawn(op, lambda: self._generator, draw, shape, dtype, *parameters)

    def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32,
                name: str | None = None) -> Tensor:  # fmt: skip
        """Uniform random numbers in [minval, maxval)."""
        return self._draw("StatelessRandomUniform", _uniform, shape, dtype, minval, _high(maxval, dtype))

    def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
               name: str | None = None) -> Tensor:  # fmt: skip
        """Numbers of the normal distribution."""
        return self._draw("StatelessRandomNormal", _normal, shape, dtype, mean, stddev)

    def truncated_normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32,
                         name: str | None = None) -> Tensor:  # fmt: skip
        """Numbers of the normal distribution, at most two standard deviations from the mean."""
        return self._draw("StatelessTruncatedNormal", _truncated, shape, dtype, mean, stddev)

    def uniform_full_int(self, shape: Any, dtype: Any = dtypes.uint64, name: str | None = None) -> Tensor:
        """Integers of the whole range of a type."""
        return self._draw("StatelessRandomUniformFullInt", _full_range, shape, dtype)

    def binomial(self, shape: Any, counts: Any, probs: Any, dtype: Any = dtypes.int32,
                 name: str | None = None) -> Tensor:  # fmt: skip
        """Numbers of successes among `counts` trials."""
        probability = convert_to_tensor(probs, dtype_hint=dtypes.float32)
        return self._draw("StatelessRandomBinomial", _binomial, shape, dtype, counts, probability)

    def make_seeds(self, count: int = 1) -> Tensor:
        """Seeds for the functions whose names begin with `stateless_`, an array of `[2, count]`."""
        return self.uniform_full_int((2, count), dtypes.int64)

    def split(self, count: int = 1) -> list[Generator]:
        """New generators, whose numbers are independent of each other's."""
        found = []
        for sequence in self._sequence.spawn(count):
            other = Generator(0)
            other._sequence = sequence
            other._generator = np.random.Generator(np.random.Philox(sequence))
            found.append(other)
        return found


_global: list[Generator] = []


def get_global_generator() -> Generator:
    """The generator of the whole program."""
    if not _global:
        _global.append(Generator())
    return _global[0]


def set_global_generator(generator: Generator) -> None:
    """Set the generator of the whole program."""
    _global[:] = [generator]


# By seeds -------------------------------------------------------------------------------------------------------------


def _by_seed(op: str, draw: Draw, shape: Any, seed: Any, dtype: Any, *parameters: Any) -> Tensor:
    """Draw numbers that depend on the two numbers of a seed only."""
    key, wanted = convert_to_tensor(seed), as_dtype(dtype)
    if key.shape.rank is not None and key.shape != (2,):
        raise ValueError(f"seed must have shape [2], got {key.shape}")
    values = [convert_to_tensor(each, dtype_hint=wanted)._value for each in parameters]
    kind = numpy_dtype(wanted)

    def run(dims: Any, numbers: Any, *rest: Any) -> Any:
        entropy = [int(number) & (2**64 - 1) for number in numbers]
        return draw(np.random.Generator(np.random.Philox(np.random.SeedSequence(entropy))), dims, kind, *rest)

    return run_later(op, run, plain(shape), key._value, *values, dtype=wanted, shape=static_shape(shape))


def stateless_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: str | None = None,
    alg: Any = None,
) -> Tensor:
    """Uniform random numbers in [minval, maxval) that depend on the seed only."""
    return _by_seed("StatelessRandomUniform", _uniform, shape, seed, dtype, minval, _high(maxval, dtype))


def stateless_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None,
    alg: Any = None,
) -> Tensor:
    """Numbers of the normal distribution that depend on the seed only."""
    return _by_seed("StatelessRandomNormal", _normal, shape, seed, dtype, mean, stddev)


def stateless_truncated_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: str | None = None,
    alg: Any = None,
) -> Tensor:
    """Numbers of the truncated normal distribution that depend on the seed only."""
    return _by_seed("StatelessTruncatedNormal", _truncated, shape, seed, dtype, mean, stddev)


def split(seed: Any, num: int = 2, alg: Any = None) -> Tensor:
    """New seeds from one."""
    return _by_seed("StatelessRandomUniformFullInt", _full_range, (num, 2), seed, dtypes.int64)


def fold_in(seed: Any, data: Any, alg: Any = None) -> Tensor:
    """A new seed from one and a number."""
    number = convert_to_tensor(data)

    def run(numbers: Any, more: Any) -> Any:
        entropy = [int(each) & (2**64 - 1) for each in (*numbers, more)]
        return np.random.SeedSequence(entropy).generate_state(2, np.uint64).view(np.int64)

    key = convert_to_tensor(seed)
    return run_later("StatelessFoldIn", run, key._value, number._value, dtype=dtypes.int64, shape=[2])
