"""Stand-ins for functions and modules in traced code. They look like the originals."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from autograph.common.trace_rules import is_own, on_behalf


class StandInMeta(type):
    """The metaclass of classes whose instances have the `__doc__` of their original."""

    __doc__ = property(lambda cls: vars(cls).get("_ag_about"))


class _Module(str):
    """The module of a class; an instance has the `__module__` of its original."""

    __slots__ = ()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else instance.__wrapped__.__module__


# `__doc__` and `__module__` of the original. Python sets these in every class, so that subclasses do not inherit them.
DESCRIPTION: Any = property(lambda self: self.__wrapped__.__doc__), _Module(__name__)


class StandIn(metaclass=StandInMeta):
    """Replaces a function or module, the *original*, in traced code.

    Attributes:
        __wrapped__: the original.
    """

    __slots__ = ("__wrapped__",)

    __wrapped__: Any

    def __init__(self, wrapped: Any) -> None:
        object.__setattr__(self, "__wrapped__", wrapped)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class of the original, so that `isinstance` gives the user's code the right answer."""
        return StandIn if is_own(sys._getframe(1).f_code.co_filename) else type(self.__wrapped__)

    @on_behalf
    def __getattr__(self, name: str) -> Any:
        return getattr(self.__wrapped__, name)

    def __eq__(self, other: object) -> bool:
        return bool(self.__wrapped__ == original_of(other))

    def __hash__(self) -> int:
        return hash(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)


class ModuleStandIn(StandIn):
    """The stand-in for a module. Subclasses define how to get and set an attribute."""

    __slots__ = ("_ag_owner",)

    get: Callable[[ModuleType, Any, str], Any]
    set: Callable[[ModuleType, Any, str, Any], None]

    def __init__(self, module: ModuleType, owner: Any) -> None:
        """
        Args:
            owner: passed to `get` and `set`.
        """
        super().__init__(module)
        object.__setattr__(self, "_ag_owner", owner)

    @on_behalf
    def __getattribute__(self, name: str) -> Any:  # even for names such as `__eq__`, which the module may define
        if name == "__wrapped__":
            return object.__getattribute__(self, name)
        return type(self).get(self.__wrapped__, object.__getattribute__(self, "_ag_owner"), name)

    @on_behalf
    def __setattr__(self, name: str, value: Any) -> None:
        type(self).set(self.__wrapped__, object.__getattribute__(self, "_ag_owner"), name, value)


def original_of(value: Any) -> Any:
    """The original of a stand-in; any other value as it is."""
    return value.__wrapped__ if issubclass(type(value), StandIn) else value
