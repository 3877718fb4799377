"""Adam, and its form with decoupled weight decay."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from autograph.optim.optimizer import Optimizer, Rate
from autograph.variables import Variable


class Adam(Optimizer):
    """Steps by moving averages of gradients and of their squares (Kingma and Ba, 2015).

        mean   = beta1 · mean + (1 - beta1) · gradient
        square = beta2 · square + (1 - beta2) · gradient²
        parameter -= rate · mean / (1 - beta1ⁿ) / (√(square / (1 - beta2ⁿ)) + epsilon)      at the n-th update
    """

    remembered = ("mean", "square")

    def __init__(
        self, learning_rate: Rate = 0.001, beta1: float = 0.9, beta2: float = 0.999, epsilon: float = 1e-8
    ) -> None:
        super().__init__(learning_rate)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def change(self, value: Any, gradient: Any, slots: list[Variable], rate: float, step: int) -> Any:
        mean, square = slots
        mean *= self.beta1
        mean += (1 - self.beta1) * gradient
        square *= self.beta2
        square += (1 - self.beta2) * gradient * gradient
        scale = math.sqrt(1 - self.beta2**step)
        return rate * scale / (1 - self.beta1**step) * mean / (np.sqrt(square) + self.epsilon * scale)


class AdamW(Adam):
    """Adam, and each parameter shrinks by `rate · weight_decay` of itself (Loshchilov and Hutter, 2019)."""

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(learning_rate, beta1, beta2, epsilon)
        self.weight_decay = weight_decay

    def change(self, value: Any, gradient: Any, slots: list[Variable], rate: float, step: int) -> Any:
        shrinkage = rate * self.weight_decay * value
        return Adam.change(self, value, gradient, slots, rate, step) + shrinkage
