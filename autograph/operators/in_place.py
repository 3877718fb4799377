"""Augmented assignments that change a list, dict, set, deque or bytearray in place, without a word to a backend."""

from __future__ import annotations

import operator
from collections import deque
from typing import Any

from autograph.operators.backend import owner
from autograph.operators.calls import ref


def is_container(value: Any) -> bool:
    """Whether `value += …` changes the object rather than the variable."""
    return isinstance(value, (list, dict, set, deque, bytearray))


def in_place(name: str, target: Any, value: Any) -> Any:
    """What `target += value` leaves in the variable; `name` is `iadd`, or another function of `operator`."""
    return getattr(operator, name)(target, value)


def place(value: Any) -> Any:
    """What to write for `value` in `value[i] += …` and `value.a += …`, while a backend traces."""
    stand_in = ref(value)
    return stand_in if owner(stand_in) is not None else _Place(stand_in)


class _Place:
    """Something of which an item, or an attribute, is a container that is changed in place."""

    __slots__ = ("_thing",)

    def __init__(self, thing: Any) -> None:
        object.__setattr__(self, "_thing", thing)

    def __getattribute__(self, name: str) -> Any:
        return _changed(getattr(object.__getattribute__(self, "_thing"), name))

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, "_thing"), name, value)

    def __getitem__(self, index: Any) -> Any:
        return _changed(object.__getattribute__(self, "_thing")[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        object.__getattribute__(self, "_thing")[index] = value


def _changed(part: Any) -> Any:
    return ref(part) if is_container(part) else part
