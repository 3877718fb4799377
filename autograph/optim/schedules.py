"""Schedules: learning rates as functions of the number of updates so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Constant:
    """Always the same rate.

    Args:
        rate: the learning rate.

    Example:
        >>> optim.Constant(0.1)(1000)
        0.1
    """

    rate: float

    def __call__(self, step: int) -> float:
        return self.rate


@dataclass(frozen=True)
class StepDecay:
    """Multiplies the rate by `factor` after each `every` updates.

    Args:
        rate: the first rate.
        every: a number of updates.
        factor: the ratio of successive rates.

    Example:
        >>> optim.StepDecay(1.0, every=100, factor=0.5)(250)
        0.25
    """

    rate: float
    every: int
    factor: float = 0.1

    def __call__(self, step: int) -> float:
        return self.rate * self.factor ** (step // self.every)


@dataclass(frozen=True)
class ExponentialDecay:
    """Multiplies the rate by `factor` in each `every` updates, in equal steps.

    Args:
        rate: the first rate.
        every: a number of updates.
        factor: the ratio of the rate after `every` updates to the rate before.

    Example:
        >>> optim.ExponentialDecay(1.0, every=100, factor=0.25)(50)
        0.5
    """

    rate: float
    every: float
    factor: float = 0.96

    def __call__(self, step: int) -> float:
        return self.rate * math.pow(self.factor, step / self.every)


@dataclass(frozen=True)
class CosineDecay:
    """Lowers the rate along half a cosine wave, and then keeps it (Loshchilov and Hutter, 2017).

    Args:
        rate: the first rate.
        steps: the number of updates until the rate is `last`.
        last: the rate from then on.

    Example:
        >>> optim.CosineDecay(1.0, steps=100)(50)
        0.5
    """

    rate: float
    steps: int
    last: float = 0.0

    def __call__(self, step: int) -> float:
        done = min(step, self.steps) / self.steps
        return self.last + (self.rate - self.last) * 0.5 * (1 + math.cos(math.pi * done))


@dataclass(frozen=True)
class Warmup:
    """Raises the rate from 0 to the first rate of another schedule, and then follows that (Goyal and others, 2017).

    Args:
        steps: the number of updates until the other schedule starts.
        then: the other schedule.

    Example:
        >>> optim.Warmup(10, optim.Constant(0.5))(5)
        0.25
    """

    steps: int
    then: Callable[[int], float]

    def __call__(self, step: int) -> float:
        if step < self.steps:
            return self.then(0) * step / self.steps
        return self.then(step - self.steps)
