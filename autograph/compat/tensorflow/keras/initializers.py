"""`tf.keras.initializers`: those of `autograph.nn`, under their names in Keras."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from autograph import nn
from autograph.compat.tensorflow.core.convert import constant
from autograph.compat.tensorflow.core.dtypes import as_dtype, numpy_dtype
from autograph.compat.tensorflow.keras.saving import configs
from autograph.compat.tensorflow.ops.random_ops import generator_of


class Initializer:
    """Makes the initial value of a variable.

    Args:
        make: a function of a shape, a generator and a dtype.
        seed: of a generator of its own; without it, that of `tf.random.set_seed` is used.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return configs.noted(cls, args, kwargs)

    def __init__(self, make: Callable[..., Any], seed: int | None = None, **options: Any) -> None:
        self._make = make
        self._seed = seed
        self._options = options

    def __call__(self, shape: Any, dtype: Any = "float32", **_: Any) -> Any:
        kind = as_dtype(dtype)
        drawn = self._make(tuple(shape), generator_of(self._seed), numpy_dtype(kind), **self._options)
        return constant(drawn, kind)

    def get_config(self) -> configs.Config:
        return {"make": self._make.__name__, "seed": self._seed, **self._options}

    @classmethod
    def from_config(cls, config: configs.Config) -> Initializer:
        options = dict(config)
        name = options.pop("make")
        if name not in _MAKERS:
            raise TypeError(f"there is no initializer {name!r}")
        return cls(_MAKERS[name], **options)


def constants(shape: Any, rng: Any, dtype: Any, value: float) -> Any:
    """An array of one number."""
    return nn.zeros(shape, rng, dtype) + dtype.type(value)


_MAKERS: dict[str, Callable[..., Any]] = {each.__name__: each for each in (
    nn.zeros, nn.ones, nn.glorot_uniform, nn.glorot_normal, nn.he_uniform, nn.he_normal, nn.uniform, nn.normal,
    nn.orthogonal, constants,
)}  # fmt: skip

Zeros, Ones = partial(Initializer, nn.zeros), partial(Initializer, nn.ones)
GlorotUniform, GlorotNormal = partial(Initializer, nn.glorot_uniform), partial(Initializer, nn.glorot_normal)
HeUniform, HeNormal = partial(Initializer, nn.he_uniform), partial(Initializer, nn.he_normal)


def Constant(value: float = 0.0) -> Initializer:
    return Initializer(constants, value=value)


def RandomUniform(minval: float = -0.05, maxval: float = 0.05, seed: int | None = None) -> Initializer:
    return Initializer(nn.uniform, seed, low=minval, high=maxval)


def RandomNormal(mean: float = 0.0, stddev: float = 0.05, seed: int | None = None) -> Initializer:
    return Initializer(nn.normal, seed, mean=mean, stddev=stddev)


def Orthogonal(gain: float = 1.0, seed: int | None = None) -> Initializer:
    return Initializer(nn.orthogonal, seed, scale=gain)


zeros, ones = Zeros, Ones

_NAMES: dict[str, Callable[[], Initializer]] = {
    "zeros": Zeros, "ones": Ones, "uniform": RandomUniform, "random_uniform": RandomUniform, "normal": RandomNormal,
    "random_normal": RandomNormal, "glorot_uniform": GlorotUniform, "glorot_normal": GlorotNormal,
    "he_uniform": HeUniform, "he_normal": HeNormal, "orthogonal": Orthogonal,
}  # fmt: skip


def get(identifier: Any) -> Any:
    """The initializer of that name; other objects are returned as they are."""
    if not isinstance(identifier, str):
        return identifier() if isinstance(identifier, type) else identifier
    if identifier not in _NAMES:
        raise ValueError(f"Unknown initializer: {identifier!r}; known are {', '.join(_NAMES)}")
    return _NAMES[identifier]()
