"""Stand-ins for functions and modules in traced code, which look like these."""

from __future__ import annotations

import sys
from typing import Any

from autograph.common.trace_rules import is_own, on_behalf


class Standing(type):
    """The class of classes of which `__doc__` of an instance is that of what it stands for."""

    __doc__ = property(lambda cls: vars(cls).get("_ag_about"))


class _Module(str):
    """The module of a class; `__module__` of an instance is that of what it stands for."""

    __slots__ = ()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else instance.__wrapped__.__module__


# Documentation and module of what a stand-in stands for. Every class has these of its own, so none inherits them.
DESCRIPTION: Any = property(lambda self: self.__wrapped__.__doc__), _Module(__name__)


class StandIn(metaclass=Standing):
    """What traced code gets in the place of something that is the same at each run.

    Attributes:
        __wrapped__: that thing.
    """

    __slots__ = ("__wrapped__",)

    __wrapped__: Any

    def __init__(self, wrapped: Any) -> None:
        object.__setattr__(self, "__wrapped__", wrapped)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """The class of what it stands for, so that `isinstance` tells the user's code the truth."""
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


def original_of(value: Any) -> Any:
    """What a value stands for, if it is a stand-in; else the value."""
    return value.__wrapped__ if issubclass(type(value), StandIn) else value
