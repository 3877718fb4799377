"""`x[mask]` for a staged mask: how many items there are is known only when the program runs.

JAX has no such arrays. But programs mostly change these items (`x[mask] += 1`, `x[mask] = y[mask] * 2`) or reduce them
(`x[mask].sum()`), and both can be computed of all items of `x`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from autograph.backends.jax.lines import here


class Masked:
    """The items of an array where a mask is true.

    Attributes:
        full: all items; those elsewhere mean nothing.
        mask: which items belong to it; of the first axes of `full`.
    """

    def __init__(self, full: Any, mask: Any) -> None:
        self.full = full
        self.mask = mask

    @property
    def dtype(self) -> Any:
        return self.full.dtype

    def _spread(self) -> Any:
        return spread(self.mask, self.full.ndim)

    def _with(self, function: Callable[..., Any], other: Any, swapped: bool = False) -> Masked:
        if isinstance(other, Masked):
            other = other.of_mask(self.mask)
        elif jnp.ndim(other) > self.full.ndim - self.mask.ndim:
            raise _unknown_length()
        return Masked(function(other, self.full) if swapped else function(self.full, other), self.mask)

    def of_mask(self, mask: Any) -> Any:
        """Return the array, for an operation with items at a mask, which must be the same one.

        Raises:
            StagingError: it is another mask.
        """
        if mask is not self.mask:
            raise here("JAX stages `x[mask]` together with `y[mask]` only if this is one and the same mask")
        return self.full

    def _reduced(self, neutral: Any, function: Callable[..., Any]) -> Any:
        return function(jnp.where(self._spread(), self.full, jnp.asarray(neutral, self.dtype)))

    def astype(self, dtype: Any) -> Masked:
        return Masked(self.full.astype(dtype), self.mask)

    def copy(self) -> Masked:
        return self

    def sum(self) -> Any:
        return self._reduced(0, jnp.sum)

    def prod(self) -> Any:
        return self._reduced(1, jnp.prod)

    def mean(self) -> Any:
        return self.sum() / self.size

    @property
    def size(self) -> Any:
        return jnp.broadcast_to(self._spread(), self.full.shape).sum()

    def any(self) -> Any:
        return jnp.any(self._spread() & (self.full != 0))

    def all(self) -> Any:
        return jnp.all(~self._spread() | (self.full != 0))

    def __neg__(self) -> Masked:
        return Masked(-self.full, self.mask)

    def __abs__(self) -> Masked:
        return Masked(abs(self.full), self.mask)

    def __getattr__(self, name: str) -> Any:
        raise _unknown_length()

    def __getitem__(self, index: Any) -> Any:
        raise _unknown_length()

    def __setitem__(self, index: Any, value: Any) -> None:
        raise _unknown_length()

    __iter__ = __len__ = __bool__ = __array__ = __jax_array__ = lambda self, *args: self.__getattr__("")


def _unknown_length() -> Exception:
    return here("how many items `x[mask]` has is known only when the program runs. JAX stages stores into it, "
                "operations with numbers and with other arrays at the same mask, and sum, mean, any, all; else use "
                "jnp.where")


def _define(name: str) -> None:
    function = getattr(operator, name)
    setattr(Masked, f"__{name.strip('_')}__", lambda self, other: self._with(function, other))
    if name.strip("_") not in ("lt", "le", "eq", "ne", "gt", "ge"):
        setattr(Masked, f"__r{name.strip('_')}__", lambda self, other: self._with(function, other, swapped=True))


for _name in "add sub mul truediv floordiv mod pow and_ or_ xor lt le eq ne gt ge".split():
    _define(_name)


def is_mask(index: Any) -> bool:
    """Whether an index is a staged array of bools."""
    is_staged = isinstance(index, jax.core.Tracer) and isinstance(index, jax.Array)
    return is_staged and index.dtype == bool and index.ndim > 0


def spread(mask: Any, ndim: int) -> Any:
    """A mask of the first axes, for all axes of an array."""
    return mask.reshape(mask.shape + (1,) * (ndim - mask.ndim))


def check_fits(array: Any, mask: Any, value: Any) -> None:
    """Check that a value can be stored at all places of a mask, however many there are.

    Raises:
        StagingError: it has an item for each.
    """
    value = jnp.asarray(value)
    if value.ndim > array.ndim - mask.ndim and value.size != 1:
        raise _unknown_length()
