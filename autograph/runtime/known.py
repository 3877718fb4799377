"""What was there before a construct: the containers and objects that its bodies share with the rest of the program.

Who else knows a container can tell it from an equal one, and sees it change; so no other may take its place where
paths meet.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable
from functools import cached_property
from sys import getrefcount
from types import BuiltinFunctionType, ModuleType
from typing import Any

import numpy as np

from autograph.marks import UNBOUND
from autograph.runtime.holding import HOLDERS, held
from autograph.runtime.journal import Changes, inside, reached
from autograph.runtime.tensor import is_tensor


class Known:
    """Tells what was there before from what a body made.

    Args:
        roots: gives what the program could reach then.
        changes: what was noted of the contents that things had then, unless they have them again.
    """

    def __init__(self, roots: Callable[[], Iterable[Any]], changes: Changes | None = None) -> None:
        self._roots = roots
        self._changes = Changes() if changes is None else changes
        self._given_away: list[Any] = []

    @cached_property
    def _found(self) -> dict[int, bool] | None:
        return reached((root for root in self._roots() if root is not UNBOUND), self._changes)

    def give_away(self, container: Any) -> None:
        """Take a container for a new one from now on: only a variable knew it that is bound to another one."""
        self._given_away.append(container)

    def __call__(self, thing: Any) -> bool:
        """Whether a container or object was there before; if that is too much to look through, everything was."""
        if any(thing is container for container in self._given_away):
            return False
        return self._found is None or id(thing) in self._found

    def can_be_held(self, container: Any) -> bool:
        """Whether the graph can hold the contents of such a container: not if it holds the attributes of an object."""
        return self._found is not None and not self._found[id(container)]

    def within(self, value: Any) -> list[Any]:
        """The containers that were there before in a value which the graph has to make anew."""
        found: list[Any] = []
        seen: set[int] = set()
        rest = [value]
        while rest:
            part = rest.pop()
            if isinstance(part, _CONSTANT) or is_tensor(part) or id(part) in seen or held(part) is not None:
                continue
            seen.add(id(part))
            if isinstance(part, tuple) or not self(part):
                rest.extend(inside(part))
            elif type(part) in HOLDERS:
                found.append(part)
        return found


def is_alone(container: Any, variable: Any, notes: type) -> bool:
    """Whether nothing but a variable knows a container, and what notes the values of variables while tracing.

    Locals of running functions are not among the referrers that the garbage collector knows, but count.
    """
    unknown: list[Any] = []
    own = getrefcount(unknown)
    referrers = gc.get_referrers(container)
    if getrefcount(container) - own != len(referrers):
        return False
    cell = getattr(variable, "cell", None)
    return all(each is cell or type(each) is notes or _notes_values(each) for each in referrers)


def _notes_values(thing: Any) -> bool:
    return type(thing) is dict and all(hasattr(key, "get") and hasattr(key, "set") for key in thing)


_CONSTANT = (type(None), int, float, complex, str, bytes, range, type, ModuleType, BuiltinFunctionType, np.generic,
             np.ndarray, np.dtype, np.ufunc)  # fmt: skip
