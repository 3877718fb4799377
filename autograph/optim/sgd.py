"""Stochastic gradient descent."""

from __future__ import annotations

from typing import Any

from autograph.optim.optimizer import Optimizer, Rate
from autograph.variables import Variable


class SGD(Optimizer):
    """Gradient descent, with momentum (Polyak, 1964) or Nesterov's (Sutskever and others, 2013) if wanted.

        velocity = momentum · velocity + gradient
        parameter -= rate · velocity                                    (or, Nesterov's)
        parameter -= rate · (gradient + momentum · velocity)

    Args:
        weight_decay: how much of each parameter is added to its gradient.
    """

    def __init__(
        self, learning_rate: Rate = 0.01, momentum: float = 0.0, nesterov: bool = False, weight_decay: float = 0.0
    ) -> None:
        super().__init__(learning_rate)
        self.momentum = momentum
        self.nesterov = nesterov
        self.weight_decay = weight_decay
        self.remembered = ("velocity",) if momentum else ()

    def change(self, value: Any, gradient: Any, slots: list[Variable], rate: float, step: int) -> Any:
        if self.weight_decay:
            gradient = gradient + self.weight_decay * value
        if not self.momentum:
            return rate * gradient
        (velocity,) = slots
        velocity *= self.momentum
        velocity += gradient
        return rate * (gradient + self.momentum * velocity if self.nesterov else velocity)
