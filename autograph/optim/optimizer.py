"""The base class of optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from autograph.api import set_loop_options
from autograph.modules import Module
from autograph.optim.structures import leaves, packed
from autograph.variables import Variable

Rate = float | Callable[[int], float]


class Optimizer(Module):
    """A base class for optimizers. Subclasses define `change`, which computes by how much to lower one parameter.

    Its state consists of variables, the slots of each parameter: `state_dict` saves them, and updates can be staged.

    Args:
        learning_rate: a number, or a function of the number of updates so far; see `schedules`.

    Example:
        >>> class Descent(optim.Optimizer):
        ...     def change(self, value, gradient, slots, rate, step):
        ...         return rate * gradient
        >>> Descent(0.5).update(np.array([1.0]), np.array([1.0]))
        array([0.5])
    """

    remembered: tuple[str, ...] = ()  # the names of the slots: variables of the shape of a parameter, zeros at first

    def __init__(self, learning_rate: Rate) -> None:
        self.learning_rate = learning_rate
        self.steps = Variable(0, trainable=False, name="steps")
        self.slots: dict[str, list[Variable]] | None = None

    def init(self, parameters: Any) -> Any:
        """Make the slots of each parameter.

        The first `update` calls this, unless you have. If the updates are in a staged loop, call it before the loop.

        Args:
            parameters: a variable, an array, or a structure of these.

        Returns:
            the optimizer.
        """
        self.slots = {
            name: [Variable(np.zeros_like(each), trainable=False) for each in leaves(parameters)]
            for name in self.remembered
        }
        return self

    def update(self, parameters: Any, gradients: Any) -> Any:
        """Change parameters by one step against their gradients.

        Args:
            parameters: a variable, an array, or a structure of these; the same ones at each call.
            gradients: a structure of the same form.

        Returns:
            the parameters: the same variables, and new arrays in the place of arrays.

        Raises:
            ValueError: the numbers of parameters, of gradients, or of parameters with slots differ.
        """
        values, gradient_leaves = leaves(parameters), leaves(gradients)
        if len(values) != len(gradient_leaves):
            raise ValueError(f"there are {len(values)} parameters, but {len(gradient_leaves)} gradients")
        if self.slots is None:
            self.init(parameters)
        slot_count = len(self.slots[self.remembered[0]]) if self.remembered else len(values)  # type: ignore[index]
        if slot_count != len(values):
            raise ValueError(
                f"there are {len(values)} parameters, but {type(self).__name__} remembers {slot_count} from before: "
                "use an optimizer for each model, or let init() begin anew"
            )
        rate = self.learning_rate
        if callable(rate):
            rate = float(rate(int(self.steps.value)))
        self.steps.assign_add(1)
        step = int(self.steps.value)
        changed = []
        for at in range(len(values)):
            set_loop_options(unroll=True)
            slots = [self.slots[name][at] for name in self.remembered]  # type: ignore[index]
            changed.append(_lowered(values[at], self.change(values[at], gradient_leaves[at], slots, rate, step)))
        return packed(parameters, changed)

    def change(self, value: Any, gradient: Any, slots: list[Variable], rate: float, step: int) -> Any:
        """Compute by how much to lower a parameter.

        Args:
            value: the parameter.
            gradient: its gradient.
            slots: its slots, in the order of `remembered`; change them in place.
            rate: the learning rate.
            step: the number of this update, from 1 on.
        """
        raise NotImplementedError


def _lowered(value: Any, change: Any) -> Any:
    return value.assign_sub(change) if isinstance(value, Variable) else value - change
