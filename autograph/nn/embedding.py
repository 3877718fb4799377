"""The embedding layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.modules import Module
from autograph.nn.initializers import Rng, standard_normal
from autograph.variables import Variable


class Embedding(Module):
    """A table of vectors, of which it gives those with the numbers it is called with.

    Args:
        size: how many there are; numbers are those of `range(size)`.
        features: how long each is: numbers of shape (…) give an array of shape (…, features).
        init: makes the table; see `initializers`.
    """

    def __init__(
        self,
        size: int,
        features: int,
        init: Callable[..., Any] = standard_normal,
        rng: Rng = None,
        dtype: Any = float,
    ) -> None:
        self.table = Variable(init((size, features), rng, dtype))

    def __call__(self, numbers: Any) -> Any:
        return self.table[numbers]
