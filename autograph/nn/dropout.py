"""The dropout layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.modules import Module
from autograph.nn.initializers import Rng


class Dropout(Module):
    """Sets elements to 0 at random while it is trained, and scales the others so that the mean stays.

    After `eval()` it gives what it gets (Srivastava and others, 2014).

    Args:
        rate: the share of elements that become 0, at least 0 and less than 1.
    """

    def __init__(self, rate: float, rng: Rng = None) -> None:
        if not 0 <= rate < 1:
            raise ValueError(f"the rate of dropout is at least 0 and less than 1, not {rate}")
        self.rate = rate
        self.rng = np.random.default_rng(rng)

    def __call__(self, x: Any) -> Any:
        if not self.training or self.rate == 0:
            return x
        kept = self.rng.random(np.shape(x)) >= self.rate
        return np.where(kept, x / (1 - self.rate), 0)
