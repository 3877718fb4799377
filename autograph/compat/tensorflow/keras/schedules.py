"""`tf.keras.optimizers.schedules`: those of `autograph.optim`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph import optim
from autograph.compat.tensorflow.keras.saving import configs


class LearningRateSchedule:
    """A learning rate as a function of the number of steps so far.

    Args:
        rule: that function.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return configs.noted(cls, args, kwargs)

    get_config = configs.config_of
    from_config = classmethod(configs.made_of)

    def __init__(self, rule: Callable[[int], float]) -> None:
        self.rule = rule

    def __call__(self, step: Any) -> Any:
        from autograph.compat.tensorflow.core.convert import constant

        return constant(self.rule(int(step)), "float32")


class ExponentialDecay(LearningRateSchedule):
    """Multiplies the rate by `decay_rate` in each `decay_steps` steps."""

    def __init__(
        self, initial_learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False
    ) -> None:
        kind = optim.StepDecay if staircase else optim.ExponentialDecay
        super().__init__(kind(initial_learning_rate, decay_steps, decay_rate))


class CosineDecay(LearningRateSchedule):
    """Lowers the rate along half a cosine wave, to `alpha` times the initial rate."""

    def __init__(self, initial_learning_rate: float, decay_steps: int, alpha: float = 0.0) -> None:
        super().__init__(optim.CosineDecay(initial_learning_rate, decay_steps, alpha * initial_learning_rate))


class PiecewiseConstantDecay(LearningRateSchedule):
    """A rate of its own for each interval between boundaries."""

    def __init__(self, boundaries: Any, values: Any) -> None:
        super().__init__(lambda step: values[int(np.searchsorted(boundaries, step))])
