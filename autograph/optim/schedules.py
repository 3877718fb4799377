"""Schedules: learning rates as functions of the number of updates so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Constant:
    """Always the same rate."""

    rate: float

    def __call__(self, step: int) -> float:
        return self.rate


@dataclass(frozen=True)
class StepDecay:
    """`factor` of what it was, after each `every` updates."""

    rate: float
    every: int
    factor: float = 0.1

    def __call__(self, step: int) -> float:
        return self.rate * self.factor ** (step // self.every)


@dataclass(frozen=True)
class ExponentialDecay:
    """`factor` of what it was, after each `every` updates, and evenly in between."""

    rate: float
    every: float
    factor: float = 0.96

    def __call__(self, step: int) -> float:
        return self.rate * math.pow(self.factor, step / self.every)


@dataclass(frozen=True)
class CosineDecay:
    """Half a wave from `rate` to `last` in so many steps, and `last` from then on (Loshchilov and Hutter, 2017)."""

    rate: float
    steps: int
    last: float = 0.0

    def __call__(self, step: int) -> float:
        done = min(step, self.steps) / self.steps
        return self.last + (self.rate - self.last) * 0.5 * (1 + math.cos(math.pi * done))


@dataclass(frozen=True)
class Warmup:
    """Straight up from 0 to where another schedule begins, in so many steps, and as that says from then on."""

    steps: int
    then: Callable[[int], float]

    def __call__(self, step: int) -> float:
        if step < self.steps:
            return self.then(0) * step / self.steps
        return self.then(step - self.steps)
