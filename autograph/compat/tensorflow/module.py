"""`tf.Module`: objects that hold variables and other modules."""

from __future__ import annotations

import re
import weakref
from abc import ABCMeta
from collections.abc import Callable, Iterator
from typing import Any

from autograph.compat.tensorflow.core.graphs import name_scope
from autograph.compat.tensorflow.ops.variables import Variable

_noticed: dict[int, Callable[[], None]] = {}    # by the ids of objects


def notice_attributes(thing: Any, function: Callable[[], None]) -> None:
    """Call a function after each attribute that an object gets from now on; its class has `set_attribute`."""
    if id(thing) not in _noticed:
        weakref.finalize(thing, _noticed.pop, id(thing), None)
    _noticed[id(thing)] = function


def set_attribute(self: Any, name: str, value: Any) -> None:
    """Set an attribute: a `__setattr__` for classes, whose objects are restored while they get their attributes."""
    object.__setattr__(self, name, value)
    if _noticed and id(self) in _noticed:
        _noticed[id(self)]()


class Module(metaclass=ABCMeta):  # noqa: B024  (for `register`)
    """An object that holds variables, in its attributes, and in lists, tuples and dicts there.

    Keras layers are registered: they have the same interface, but order their variables differently.
    """

    __setattr__ = set_attribute

    def __init__(self, name: str | None = None) -> None:
        self._name = name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(self).__name__).lower()

    @property
    def name(self) -> str:
        return self._name

    @property
    def name_scope(self) -> Any:
        return name_scope(self._name)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return tuple(part for part in _parts(self, set()) if isinstance(part, Variable))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(variable for variable in self.variables if variable.trainable)

    @property
    def non_trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(variable for variable in self.variables if not variable.trainable)

    @property
    def submodules(self) -> tuple[Module, ...]:
        return submodules_of(self)


def submodules_of(module: Any) -> tuple[Any, ...]:
    """All modules within a module, except itself."""
    return tuple(part for part in _parts(module, set()) if isinstance(part, Module) and part is not module)


def _parts(value: Any, visited: set[int]) -> Iterator[Any]:
    """Yield the variables and modules that a value holds, each once; attributes are sorted by name."""
    if id(value) in visited:
        return
    visited.add(id(value))
    if isinstance(value, (Module, Variable)):
        yield value
    inside: Any = ()
    if isinstance(value, Module):
        inside = [vars(value)[name] for name in sorted(vars(value))]
    elif isinstance(value, (list, tuple, dict)):
        inside = value.values() if isinstance(value, dict) else value
    for part in inside:
        yield from _parts(part, visited)
