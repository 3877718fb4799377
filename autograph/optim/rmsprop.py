"""RMSProp."""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph.optim.optimizer import Optimizer, Rate
from autograph.variables import Variable


class RMSProp(Optimizer):
    """Steps by gradients over the root of a moving average of their squares (Tieleman and Hinton, 2012).

        square = decay · square + (1 - decay) · gradient²
        velocity = momentum · velocity + gradient / (√square + epsilon)
        parameter -= rate · velocity
    """

    def __init__(
        self, learning_rate: Rate = 0.001, decay: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-8
    ) -> None:
        super().__init__(learning_rate)
        self.decay = decay
        self.momentum = momentum
        self.epsilon = epsilon
        self.remembered = ("square", "velocity") if momentum else ("square",)

    def change(self, value: Any, gradient: Any, slots: list[Variable], rate: float, step: int) -> Any:
        square = slots[0]
        square *= self.decay
        square += (1 - self.decay) * gradient * gradient
        scaled = gradient / (np.sqrt(square) + self.epsilon)
        if not self.momentum:
            return rate * scaled
        velocity = slots[1]
        velocity *= self.momentum
        velocity += scaled
        return rate * velocity
