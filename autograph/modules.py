"""Modules: objects that hold variables and other modules, and list, save and load them.

    class Dense(ag.Module):
        def __init__(self, inputs, outputs):
            self.w = ag.Variable(np.zeros((inputs, outputs)))
            self.b = ag.Variable(np.zeros(outputs))

        def __call__(self, x):
            return x @ self.w + self.b

A module holds its attributes, also in lists, tuples, dicts, dataclasses and other modules, in the order in which they
were set; `layers.0.w` is a path. An object at several places counts once, at the first.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from autograph.common.pytree import fields_of_tuple
from autograph.variables import Variable

if TYPE_CHECKING:
    from typing_extensions import Self


class Module:
    """A base class for objects that hold variables.

    Args:
        name: shown in texts; by default the name of the class in snake case.

    Attributes:
        training: whether it is being trained; some layers depend on it; `train()` and `eval()` set it.

    Example:
        >>> class Scale(ag.Module):
        ...     def __init__(self):
        ...         self.factor = ag.Variable(2.0)
        ...     def __call__(self, x):
        ...         return x * self.factor
        >>> scale = Scale()
        >>> scale(np.array([1.0, 2.0])), list(scale.named_variables())
        (array([2., 4.]), ['factor'])
    """

    training = True
    __ag_apart__ = True  # lists of modules are traced item by item, however long they are

    def __init__(self, name: str | None = None) -> None:
        if name is not None:
            self._name = name

    @property
    def name(self) -> str:
        """The name that was passed, or the name of the class in snake case."""
        given: str | None = getattr(self, "_name", None)
        return given if given is not None else _snake_case(type(self).__name__)

    # Contents ---------------------------------------------------------------------------------------------------------

    def named_variables(self) -> dict[str, Variable]:
        """All variables, by their paths."""
        return {path: part for path, part in _within(self).items() if isinstance(part, Variable)}

    @property
    def variables(self) -> list[Variable]:
        """All variables."""
        return list(self.named_variables().values())

    @property
    def trainable_variables(self) -> list[Variable]:
        """The variables that optimizers change."""
        return [variable for variable in self.variables if variable.trainable]

    @property
    def submodules(self) -> list[Module]:
        """All modules in it, without itself."""
        return [part for part in _within(self).values() if isinstance(part, Module) and part is not self]

    def train(self, mode: bool = True) -> Self:
        """Set it, and all modules in it, to training mode.

        Args:
            mode: whether they are being trained.

        Returns:
            the module.
        """
        modules: tuple[Module, ...] = (self, *self.submodules)
        for module in modules:
            module.training = mode
        return self

    def eval(self) -> Self:
        """Set it, and all modules in it, to evaluation mode: they are used, and not trained.

        Returns:
            the module.
        """
        return self.train(False)

    # Saving ----------------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, np.ndarray[Any, Any]]:
        """Copies of the arrays of all variables, by their paths, as for `np.savez(file, **module.state_dict())`."""
        return {path: variable.numpy() for path, variable in self.named_variables().items()}

    def load_state_dict(self, state: Mapping[str, Any], strict: bool = True) -> None:
        """Set all variables to arrays that `state_dict` returned.

        Args:
            state: arrays by the paths of variables.
            strict: whether `state` must have an array for each variable, and no others; if not, what fits is loaded.

        Raises:
            ValueError: something is missing, unexpected, or of another shape; then nothing is changed.
        """
        variables = self.named_variables()
        wrong = [f"{path} is missing" for path in variables if path not in state]
        wrong += [f"{path} is unexpected" for path in state if path not in variables]
        if not strict:
            wrong = []
        arrays = {path: np.asarray(state[path]) for path in variables if path in state}
        wrong += filter(None, [_misfit(path, variables[path], value) for path, value in arrays.items()])
        if wrong:
            raise ValueError(f"the state does not fit {type(self).__name__}: {'; '.join(wrong)}")
        for path, value in arrays.items():
            variables[path].assign(value)

    # Text -------------------------------------------------------------------------------------------------------------

    def summary(self) -> str:
        """A table of the variables: path, shape, dtype, number of elements."""
        rows = [
            (path, str(each.shape), str(each.dtype) + ("" if each.trainable else ", not trainable"), f"{each.size:,}")
            for path, each in self.named_variables().items()
        ]
        rows = [("variable", "shape", "dtype", "elements"), *rows]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = ["  ".join([*map(str.ljust, row[:3], widths), row[3].rjust(widths[3])]) for row in rows]
        total = sum(each.size for each in self.variables)
        trainable = sum(each.size for each in self.trainable_variables)
        return "\n".join([*lines, f"{type(self).__name__}: {total:,} elements, {trainable:,} of them trainable"])

    def __repr__(self) -> str:
        shown = {name: part for name, part in vars(self).items() if not (name.startswith("_") or _is_method(part))}
        lines = [f"  {name}={_described(part)},\n" for name, part in shown.items()]
        return f"{type(self).__name__}(\n{''.join(lines)})" if lines else f"{type(self).__name__}()"


def _within(thing: Any) -> dict[str, Any]:
    """All modules and variables in an object, itself included, each once, by their paths."""
    result: dict[str, Any] = {}
    visited: dict[int, Any] = {}
    rest: list[tuple[Any, str]] = [(thing, "")]
    while rest:
        thing, path = rest.pop()
        if id(thing) in visited:
            continue
        visited[id(thing)] = thing
        if isinstance(thing, (Variable, Module)):
            result[path] = thing
        inside = [(part, f"{path}.{name}" if path else str(name)) for name, part in _parts(thing).items()]
        rest.extend(inside[::-1])
    return result


def _parts(thing: Any) -> Mapping[Any, Any]:
    if isinstance(thing, Module):
        return vars(thing)
    if isinstance(thing, dict):
        return thing
    if isinstance(thing, tuple) and hasattr(thing, "_fields"):
        return fields_of_tuple(thing)
    if isinstance(thing, (list, tuple)):
        return dict(enumerate(thing))
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)}
    return {}


def _misfit(path: str, variable: Variable, value: np.ndarray[Any, Any]) -> str:
    if value.shape != variable.shape:
        return f"{path} has shape {variable.shape}, but shape {value.shape} was given"
    if not np.can_cast(value.dtype, variable.dtype, "same_kind"):
        return f"{path} has dtype {variable.dtype}, but dtype {value.dtype} was given"
    return ""


def _is_method(part: Any) -> bool:
    """Whether an attribute is a staged function, as the methods of loaded modules are."""
    return hasattr(type(part), "__ag_staged__")


def _described(part: Any) -> str:
    """The text of an attribute for `repr`; arrays show their shape and dtype."""
    if isinstance(part, (Variable, np.ndarray)):
        return f"{type(part).__name__}(shape={part.shape}, dtype={part.dtype})"
    if isinstance(part, (list, tuple)) and any(isinstance(each, (Module, Variable)) for each in part):
        inside = "".join(f"    {_described(each)},\n".replace("\n  ", "\n    ") for each in part)
        return f"[\n{inside}  ]"
    return repr(part).replace("\n", "\n  ")


def _snake_case(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
