"""`tf.keras.optimizers`: those of `autograph.optim`; they change variables when the graph runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import Any

import numpy as np

from autograph import optim
from autograph.compat.tensorflow.core import graphs
from autograph.compat.tensorflow.core.convert import convert_to_tensor
from autograph.compat.tensorflow.core.tensor import effect
from autograph.compat.tensorflow.keras import schedules
from autograph.compat.tensorflow.keras.saving import configs
from autograph.compat.tensorflow.module import Module
from autograph.compat.tensorflow.ops.variables import Storage, Variable


class Optimizer(Module):
    """Applies the rule of an optimizer of `autograph.optim` to variables.

    Args:
        rule: computes by how much to lower a parameter.
        learning_rate: a number, a variable, or a function of the number of steps so far.
        clipnorm, clipvalue, global_clipnorm: bounds for each gradient's norm, its elements, and the norm of all.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return configs.noted(cls, args, kwargs)

    get_config = configs.config_of
    from_config = classmethod(configs.made_of)

    def __init__(
        self, rule: optim.Optimizer, learning_rate: Any, name: str, clipnorm: float | None = None,
        clipvalue: float | None = None, global_clipnorm: float | None = None,
    ) -> None:
        super().__init__(name)
        self._rule = rule
        self._schedule = learning_rate if isinstance(learning_rate, schedules.LearningRateSchedule) else None
        is_given = self._schedule is not None or isinstance(learning_rate, Variable)
        self._rate = learning_rate if is_given else _rate(learning_rate)
        self._clip: list[Callable[[list[Any]], Any]] = []
        if clipnorm is not None:
            self._clip.append(lambda gradients: optim.clip_by_norm(gradients, clipnorm))
        if clipvalue is not None:
            self._clip.append(lambda gradients: optim.clip_by_value(gradients, -clipvalue, clipvalue))
        if global_clipnorm is not None:
            self._clip.append(lambda gradients: optim.clip_by_global_norm(gradients, global_clipnorm))
        self._built = False
        self._slots: dict[Storage, list[Any]] = {}
        self.iterations = Variable(0, False, name="iterations", dtype="int64")

    @property
    def learning_rate(self) -> Any:
        return self._rate

    @learning_rate.setter
    def learning_rate(self, value: Any) -> None:
        if isinstance(self._rate, Variable):
            self._rate.assign(value)
        else:
            self._rate, self._schedule = _rate(value), None

    lr = learning_rate

    def apply_gradients(self, grads_and_vars: Iterable[tuple[Any, Variable]], **_: Any) -> Variable:
        """Step each variable against its gradient; variables whose gradient is None stay as they are."""
        pairs = [(convert_to_tensor(grad), variable) for grad, variable in grads_and_vars if grad is not None]
        if not pairs:
            raise ValueError(f"No gradients provided for any variable: {[v.name for _, v in grads_and_vars]}.")
        storages = [variable._storage for _, variable in pairs]
        graph = graphs.current()
        if graph is not None and not self._built and self._rule.remembered:  # it makes its variables here
            graph.check_variables()
            graph.has_state = True
        self._built = True
        with ExitStack() as changes:
            for pair in pairs:
                changes.enter_context(pair[1]._changing())
            effect(lambda *gradients: self._apply(storages, list(gradients)), *[grad._value for grad, _ in pairs])
        return self.iterations

    def minimize(self, loss: Any, var_list: Any, tape: Any = None) -> Variable:
        """Take one step against the gradients of a loss: a function, or a tensor that a tape has recorded."""
        from autograph.compat.tensorflow.staging.tape import GradientTape

        variables = var_list() if callable(var_list) else var_list
        if tape is None:
            with GradientTape() as tape:
                loss = loss()
        return self.apply_gradients(zip(tape.gradient(loss, variables), variables))

    def _apply(self, storages: list[Storage], gradients: list[Any]) -> None:
        """Take one step on the values of variables."""
        done = self.iterations._storage
        done.value = done.value + 1
        step = int(done.value)
        rate = self._rate._storage.value if self._schedule is None else self._schedule.rule(step - 1)
        for clip in self._clip:
            gradients = clip(gradients)
        for storage, gradient in zip(storages, gradients):
            value = storage.value
            slots = self._slots.get(storage)
            if slots is None:
                slots = self._slots[storage] = [np.zeros_like(np.asarray(value)) for _ in self._rule.remembered]
            change = self._rule.change(value, gradient, slots, float(rate), step)
            storage.value = np.subtract(value, change).astype(value.dtype, copy=False)


def _rate(value: float) -> Variable:
    return Variable(value, False, name="learning_rate", dtype="float32")


class SGD(Optimizer):
    """Gradient descent, with momentum."""

    def __init__(
        self, learning_rate: Any = 0.01, momentum: float = 0.0, nesterov: bool = False, name: str = "SGD", **clip: Any
    ) -> None:
        super().__init__(optim.SGD(momentum=momentum, nesterov=nesterov), learning_rate, name, **clip)


class Adam(Optimizer):
    """Steps by moving averages of gradients and of their squares."""

    def __init__(
        self, learning_rate: Any = 0.001, beta_1: float = 0.9, beta_2: float = 0.999, epsilon: float = 1e-7,
        name: str = "Adam", **clip: Any,
    ) -> None:
        super().__init__(optim.Adam(beta1=beta_1, beta2=beta_2, epsilon=epsilon), learning_rate, name, **clip)


class AdamW(Optimizer):
    """Adam with decoupled weight decay."""

    def __init__(
        self, learning_rate: Any = 0.001, weight_decay: float = 0.004, beta_1: float = 0.9, beta_2: float = 0.999,
        epsilon: float = 1e-7, name: str = "AdamW", **clip: Any,
    ) -> None:
        rule = optim.AdamW(beta1=beta_1, beta2=beta_2, epsilon=epsilon, weight_decay=weight_decay)
        super().__init__(rule, learning_rate, name, **clip)


class RMSprop(Optimizer):
    """Steps by gradients over the root of a moving average of their squares."""

    def __init__(
        self, learning_rate: Any = 0.001, rho: float = 0.9, momentum: float = 0.0, epsilon: float = 1e-7,
        name: str = "RMSprop", **clip: Any,
    ) -> None:
        super().__init__(optim.RMSProp(decay=rho, momentum=momentum, epsilon=epsilon), learning_rate, name, **clip)


_NAMES: dict[str, Callable[[], Optimizer]] = {"sgd": SGD, "adam": Adam, "adamw": AdamW, "rmsprop": RMSprop}


def get(identifier: Any) -> Optimizer:
    """The optimizer of that name; optimizers are returned as they are."""
    if isinstance(identifier, Optimizer):
        return identifier
    if str(identifier).lower() not in _NAMES:
        raise ValueError(f"Unknown optimizer: {identifier!r}; known are {', '.join(_NAMES)}")
    return _NAMES[identifier.lower()]()
