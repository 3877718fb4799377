"""Optimizers: SGD, RMSProp, Adam, and Adam with decoupled weight decay."""

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

    Args:
        learning_rate: a number, or a function of the number of updates so far; see `schedules`.
        beta1, beta2: the shares of the averages that remain at each update.
        epsilon: added to the root of the average.

    Example:
        >>> w = ag.Variable([1.0])
        >>> optimizer = optim.Adam(0.1).init([w])
        >>> optimizer.update([w], [np.array([2.0])])
        [Variable(array([0.9]))]
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
        return _adam_step(gradient, slots, rate, step, self.beta1, self.beta2, self.epsilon)


class AdamW(Optimizer):
    """Adam, and each parameter shrinks by `rate · weight_decay` of itself (Loshchilov and Hutter, 2019).

    Args:
        learning_rate: a number, or a function of the number of updates so far; see `schedules`.
        beta1, beta2: the shares of the averages that remain at each update; see `Adam`.
        epsilon: added to the root of the average.
        weight_decay: the share of each parameter, times the rate, that is subtracted at each update.

    Example:
        >>> w = ag.Variable([1.0])
        >>> optimizer = optim.AdamW(0.1).init([w])
        >>> optimizer.update([w], [np.array([2.0])])
        [Variable(array([0.899]))]
    """

    remembered = ("mean", "square")

    def __init__(
        self,
        learning_rate: Rate = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
        weight_decay: float = 0.01,
    ) -> None:
        super().__init__(learning_rate)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.weight_decay = weight_decay

    def change(self, value: Any, gradient: Any, slots: list[Variable], rate: float, step: int) -> Any:
        shrinkage = rate * self.weight_decay * value
        return _adam_step(gradient, slots, rate, step, self.beta1, self.beta2, self.epsilon) + shrinkage


def _adam_step(
    gradient: Any, slots: list[Variable], rate: float, step: int, beta1: float, beta2: float, epsilon: float
) -> Any:
    mean, square = slots
    mean *= beta1
    mean += (1 - beta1) * gradient
    square *= beta2
    square += (1 - beta2) * gradient * gradient
    scale = math.sqrt(1 - beta2**step)
    return rate * scale / (1 - beta1**step) * mean / (np.sqrt(square) + epsilon * scale)


class SGD(Optimizer):
    """Gradient descent, with momentum (Polyak, 1964) or Nesterov's (Sutskever and others, 2013) if wanted.

        velocity = momentum · velocity + gradient
        parameter -= rate · velocity                                    (or, Nesterov's)
        parameter -= rate · (gradient + momentum · velocity)

    Args:
        learning_rate: a number, or a function of the number of updates so far; see `schedules`.
        momentum: the share of the velocity that remains at each update.
        nesterov: whether to step as Nesterov does.
        weight_decay: the share of each parameter that is added to its gradient.

    Example:
        >>> w = ag.Variable([1.0])
        >>> optimizer = optim.SGD(0.1).init([w])
        >>> optimizer.update([w], [np.array([2.0])])
        [Variable(array([0.8]))]
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


class RMSProp(Optimizer):
    """Steps by gradients over the root of a moving average of their squares (Tieleman and Hinton, 2012).

        square = decay · square + (1 - decay) · gradient²
        velocity = momentum · velocity + gradient / (√square + epsilon)
        parameter -= rate · velocity

    Args:
        learning_rate: a number, or a function of the number of updates so far; see `schedules`.
        decay: the share of the average that remains at each update.
        momentum: the share of the velocity that remains at each update.
        epsilon: added to the root of the average.

    Example:
        >>> w = ag.Variable([1.0])
        >>> optimizer = optim.RMSProp(0.1, epsilon=1e-8).init([w])
        >>> optimizer.update([w], [np.array([2.0])])
        [Variable(array([0.68377224]))]
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
