"""One function of `functions`, converted and plain, with finite differences: what its transforms are compared with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

import autograph as ag
from tests.backends.jax.functions import THEMES, handwritten, module, names
from tests.backends.jax.running import copied, on_jax, on_numpy

PLAIN = {theme: on_numpy(module(theme)) for theme in THEMES}
NAMES = list(names())
STEP = 1e-6
CLOSE = {"rtol": 2e-4, "atol": 1e-6}    # of finite differences


class Case:
    """One function, as a function of its first argument alone, and what finite differences say of it."""

    def __init__(self, theme: str, name: str) -> None:
        original = getattr(module(theme), name)
        self.reverse: bool = original.reverse
        self.x, *rest = original.example
        given = on_jax(rest)
        self.by_hand = getattr(handwritten, name, None)
        converted, plain = ag.convert(original), getattr(PLAIN[theme], name)
        self.program: Callable[[Any], Any] = lambda x: converted(x, *given)
        self.hand: Callable[[Any], Any] = lambda x: self.by_hand(x, *rest)
        self.plain: Callable[[Any], Any] = lambda x: plain(*copied((x, *rest)))
        self.value = np.asarray(self.plain(self.x))
        self.weights = np.cos(np.arange(1, self.value.size + 1)).reshape(self.value.shape)
        self.direction = np.sin(np.arange(1, np.size(self.x) + 1)).reshape(np.shape(self.x))
        self.batch = np.stack([self.x, self.x * 1.03, self.x * 0.98])

    def loss(self, x: Any) -> Any:
        """A number, for reverse mode."""
        return (self.program(x) * self.weights).sum()

    def slope(self, x: Any) -> np.ndarray:
        """The derivative of `loss`, by central differences."""
        basis = np.eye(np.size(x)).reshape(-1, *np.shape(x))
        slopes = [((self.plain(x + STEP * e) - self.plain(x - STEP * e)) * self.weights).sum() for e in basis]
        return np.array(slopes).reshape(np.shape(x)) / (2 * STEP)

    def directional(self, x: Any = None) -> np.ndarray:
        """The derivative of the function in the direction, by central differences."""
        x, step = self.x if x is None else x, STEP * self.direction
        return np.asarray(self.plain(x + step) - self.plain(x - step)) / (2 * STEP)

    def jvp(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The derivative in the direction, as a function of where."""
        return lambda x: jax.jvp(function, (x,), (self.direction,))[1]
