"""Optimizers, schedules of learning rates, clipping of gradients: in plain NumPy style, staged like the user's code.

    optimizer = optim.Adam(optim.CosineDecay(1e-3, steps=1000)).init(model.trainable_variables)
    optimizer.update(model.trainable_variables, gradients)

Parameters and gradients are structures of the same form. Variables are changed in place; of arrays and numbers,
`update` returns the new ones.
"""

from autograph.optim.lbfgs import Minimum, lbfgs
from autograph.optim.optimizer import Optimizer
from autograph.optim.optimizers import SGD, Adam, AdamW, RMSProp
from autograph.optim.schedules import Constant, CosineDecay, ExponentialDecay, StepDecay, Warmup
from autograph.optim.structures import clip_by_global_norm, clip_by_norm, clip_by_value, global_norm

__all__ = [
    "SGD", "Adam", "AdamW", "Constant", "CosineDecay", "ExponentialDecay", "Minimum", "Optimizer", "RMSProp",
    "StepDecay", "Warmup", "clip_by_global_norm", "clip_by_norm", "clip_by_value", "global_norm", "lbfgs",
]  # fmt: skip
