"""Effect analysis of functions that are handed to code that is not staged: they may change objects of traced code.

    total = self.count                                  # read while tracing
    functools.reduce(lambda p, x: self.step(x), xs)     # changes it when the graph runs
    return self.count - total

The analysis finds whether a function, or one that it names, has effects, but not on which objects.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from autograph.common.bytecode import instructions
from autograph.common.code_flags import codes_in, names_in, of_code
from autograph.common.statics import cell_content, class_attribute, is_a, mro_of
from autograph.runtime.graph.object_model import is_users, is_users_object, own_dict
from autograph.runtime.tracing.environment.globals import Globals
from autograph.runtime.tracing.state.undo_log import PATCHED

_CHANGES = frozenset("STORE_ATTR STORE_SUBSCR STORE_SLICE STORE_GLOBAL DELETE_ATTR DELETE_SUBSCR DELETE_GLOBAL".split())
# Names of functions and methods with effects.
_EFFECTFUL = frozenset(
    "print input open exec eval setattr delattr next append extend insert add update pop popitem remove discard clear "
    "sort reverse setdefault appendleft popleft write".split()
)
_CHANGING = _EFFECTFUL - {"print", "input", "open", "write"}
_MUTABLE = (list, dict, set, bytearray)


@of_code
def has_effects(code: types.CodeType) -> bool:
    """Whether code may have effects, which the trace would miss if it ran while tracing."""
    return not _EFFECTFUL.isdisjoint(names_in(code)) or any(
        does in _CHANGES or (does == "STORE_DEREF" and name in each.co_freevars)
        for each in codes_in(code)
        for _, does, name in instructions(each)
    )


def may_change_others(thing: Any) -> bool:
    """Whether a call of a thing may change mutable objects in its variables, defaults or owners."""
    found = _Reach()
    found.add(thing)
    return found.has_effects and found.has_mutable


class Changes(NamedTuple):
    """The things that a function may change, since it names them or their owners.

    Attributes:
        objects: the user's objects.
        containers: lists, dicts and sets.
        classes: the user's classes,
        attributes: and their attributes.
    """

    objects: list[Any]
    containers: list[Any]
    classes: list[type]
    attributes: set[str]


def changes_of(function: types.FunctionType) -> Changes:
    """The things that a function, or one that it names, may change."""
    found = _Reach()
    found.add(function)
    objects = found.objects if found.has_effects else []
    containers = found.containers if found.has_changes else []
    return Changes(objects, containers, found.classes, found.stored)


class _Reach:
    """The objects that functions name, directly and indirectly."""

    def __init__(self) -> None:
        self.has_effects = self.has_mutable = False
        self._seen: dict[int, Any] = {}
        self.objects: list[Any] = []
        self.containers: list[Any] = []
        self.classes: list[type] = []
        self.has_changes = False    # effects other than output
        self.stored: set[str] = set()       # the attributes that are set
        self._names: set[str] = {"__call__"}

    def add(self, thing: Any) -> None:
        """Add a thing that is, or may be, called."""
        rest = [thing]
        while rest:
            while rest:
                rest += self._inside(rest.pop())
            named = [part for each in self.objects for name in self._names for part in _attributes(each, name)]
            rest = [part for part in named if id(part) not in self._seen]

    def _inside(self, thing: Any) -> list[Any]:
        if id(thing) in self._seen:
            return []
        self._seen[id(thing)] = thing
        if type(thing) is types.MethodType:
            return [thing.__func__, thing.__self__]
        if type(thing) is functools.partial:
            return [thing.func, *thing.args, *thing.keywords.values()]
        if type(thing) is property:
            return [thing.fget]
        self.has_mutable |= is_users_object(thing) or is_a(thing, _MUTABLE)
        if is_users_object(thing):
            self.objects.append(thing)
            self.classes += filter(is_users, mro_of(type(thing)))
        elif is_a(thing, _MUTABLE):
            self.containers.append(thing)
        elif is_a(thing, type) and is_users(thing):
            self.classes.append(thing)
        function = PATCHED.get(id(thing), thing)
        return self._named(function) if type(function) is types.FunctionType else []

    def _named(self, function: types.FunctionType) -> list[Any]:
        """The values of a function's variables and defaults."""
        code, names = function.__code__, names_in(function.__code__)
        self._names.update(names)
        self.has_effects |= has_effects(code)
        self.has_changes |= not _CHANGING.isdisjoint(names)
        for each in codes_in(code):
            for _, does, name in instructions(each):
                self.has_changes |= does in _CHANGES
                if does in ("STORE_ATTR", "DELETE_ATTR"):
                    self.stored.add(each.co_names[name])
        self.has_mutable |= any(does == "STORE_GLOBAL" for _, does, _ in instructions(code))
        names_of_module: Any = function.__globals__
        real = names_of_module.real if isinstance(names_of_module, Globals) else names_of_module
        variables = [real[name] for name in names if name in real]
        return [*map(cell_content, function.__closure__ or ()), *(function.__defaults__ or ()), *variables]


def _attributes(thing: Any, name: str) -> Iterator[Any]:
    """The attributes of an object under a name: that of its class, and its own."""
    yield class_attribute(type(thing), name)
    own = own_dict(thing) or {}
    if name in own:
        yield own[name]
