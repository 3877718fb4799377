"""Layers one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph.modules import Module


class Sequential(Module):
    """Calls layers, and any other functions, one after the other: each with what the one before it gave."""

    def __init__(self, *layers: Callable[[Any], Any]) -> None:
        self.layers = list(layers)

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x
