"""Effect analysis of code that the graph calls as it is: it may change what traced code has read.

    total = self.count                                  # read while tracing
    functools.reduce(lambda p, x: self.step(x), xs)     # changes it when the graph runs
    return self.count - total

The analysis walks from a callable, or an argument of one, to all that its code can get at by the names in it. It finds
what may change, not whether it does; so a function that changes nothing of what traced code reads may be refused, if
its code looks as if it could.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Iterable, Iterator, Mapping, Set
from typing import Any, NamedTuple

from autograph.common.bytecode import (
    DECISIVE,
    instructions,
    rebound_globals,
    rebound_outside,
    set_attributes,
)
from autograph.common.code_flags import codes_in, names_in, of_code
from autograph.common.packages import package_of_function
from autograph.common.statics import ATOMS, cell_content, class_attribute, is_a, module_name, mro_of, names_of
from autograph.common.trace_rules import is_plain
from autograph.runtime.graph.object_model import is_open, is_users, is_users_object, own_dict
from autograph.runtime.tracing.environment.globals import Globals
from autograph.runtime.tracing.proxies.stand_in import original_of
from autograph.runtime.tracing.state.undo_log import PATCHED, attributes

_SETS_ITEM = frozenset({"STORE_SUBSCR", "STORE_SLICE", "DELETE_SUBSCR"})
# Names of functions and methods with effects.
_EFFECTFUL = frozenset(
    "print input open exec eval setattr delattr next append extend insert add update pop popitem remove discard clear "
    "sort reverse setdefault appendleft popleft extendleft rotate move_to_end write shuffle setitem delitem heappush "
    "heappop heapify heapreplace heappushpop insort insort_left insort_right reload __setattr__ __delattr__ "
    "__setitem__ __delitem__".split()
)
_CHANGING = _EFFECTFUL - {"print", "input", "open", "write"}
_SETTERS = frozenset({"setattr", "delattr", "__setattr__", "__delattr__", "exec", "eval", "reload"})
_GETTERS = frozenset({"getattr", "attrgetter", "methodcaller", "__getattribute__", "vars", "__dict__", "eval", "exec"})
_NAMESPACES = frozenset({"globals", "vars", "__dict__"})
_ALL_MODULES = frozenset({"globals", "exec", "eval", "modules", "import_module", "reload", "__import__"})
_MAKERS = ("__new__", "__init__", "__post_init__")      # whose object is new
_MUTABLE = (list, dict, set, bytearray)
_WRITTEN_IN_C = (
    types.BuiltinFunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MethodWrapperType
)
_HOLDERS = (*_MUTABLE, tuple, frozenset)
_MOST = 100_000     # things that are looked at


class _Effects(NamedTuple):
    """The effects of code, and of code in it, on things that others hold, too.

    Attributes:
        attributes: the attributes that it sets.
        rebound: the globals that it sets.
        free: the variables of functions around it, or around code in it, that are set.
        imported: the modules that it imports.
        sets_items: whether it sets items.
        sets_any: whether it sets attributes or globals whose names it computes.
        gets_any: whether it gets attributes whose names it computes.
        has_all: whether it gets at modules that it does not name.
    """

    attributes: frozenset[str]
    rebound: frozenset[str]
    free: frozenset[str]
    imported: frozenset[str]
    sets_items: bool
    sets_any: bool
    gets_any: bool
    has_all: bool


@of_code
def _effects(code: types.CodeType) -> _Effects:
    steps = [(each, does, part) for each in codes_in(code) for _, does, part in instructions(each)]
    imported = frozenset(each.co_names[part] for each, does, part in steps if does == "IMPORT_NAME")
    sets_items = any(does in _SETS_ITEM for _, does, _ in steps)
    names = set(names_in(code))
    changes = sets_items or not _CHANGING.isdisjoint(names)
    sets_any = not _SETTERS.isdisjoint(names) or (changes and not _NAMESPACES.isdisjoint(names))
    gets_any, has_all = not _GETTERS.isdisjoint(names), not _ALL_MODULES.isdisjoint(names)
    return _Effects(
        set_attributes(code), rebound_globals(code), rebound_outside(code), imported, sets_items, sets_any, gets_any,
        has_all,
    )  # fmt: skip


@of_code
def has_effects(code: types.CodeType) -> bool:
    """Whether code may have effects, which the trace would miss if it ran while tracing."""
    does = _effects(code)
    is_setting = does.attributes or does.rebound or does.free or does.sets_items
    return bool(is_setting) or not _EFFECTFUL.isdisjoint(names_in(code))


class Changes:
    """The things that a call may change, since the code that it runs gets at them.

    Args:
        things: what is called, and its arguments.

    Attributes:
        objects: the user's objects.
        containers: lists, dicts and sets.
        classes: the user's classes, by identity.
        modules: the names of the user's modules, by identity.
        attributes: the attributes that are set.
        rebound: the globals that are set: the names of the module, and the name.
        cells: the variables of functions that are set.
        sets_any: whether attributes or globals are set whose names are computed.
        has_all: whether modules may change that are not named.
        has_effects: whether anything may change, or be printed.
        has_changes: the same without output.
        has_mutable: whether it gets at anything that can change.
    """

    def __init__(self, *things: Any) -> None:
        self.objects: list[Any] = []
        self.containers: list[Any] = []
        self.classes: dict[int, type] = {}
        self.modules: dict[int, dict[str, Any]] = {}
        self.attributes: set[str] = set()
        self.rebound: list[tuple[dict[str, Any], str]] = []
        self.cells: list[tuple[types.CellType, str]] = []
        self.sets_any = self.has_all = self.has_effects = self.has_changes = self.has_mutable = False
        self._seen: dict[int, Any] = {}
        self._names: set[str] = {"__call__"}
        self._gets_any = False
        self._owners: list[Mapping[str, Any]] = []
        self._walk([*things])

    def _walk(self, rest: list[Any]) -> None:
        asked: set[str] = set()     # names of attributes that all owners so far have been asked for
        while rest and len(self._seen) <= _MOST:
            while rest and len(self._seen) <= _MOST:
                rest += self._inside(rest.pop())
            names, asked = self._names - asked, {*self._names}
            found = (part for own in self._owners for part in self._under(names, own))
            rest += [part for part in found if type(part) not in ATOMS and id(part) not in self._seen]
        if rest:
            self.sets_any = self.has_all = self.has_effects = self.has_changes = True

    def _under(self, names: Set[str], own: Mapping[str, Any]) -> Iterable[Any]:
        """The attributes under some names; all, if the code computes names."""
        return [own[name] for name in (own.keys() if self._gets_any else names & own.keys())]

    def _owner(self, own: Mapping[str, Any]) -> Iterable[Any]:
        """Note the attributes of an object, a class or a module; returns those under the names so far."""
        self._owners.append(own)
        return self._under(self._names, own)

    def _inside(self, thing: Any) -> Iterable[Any]:
        """The things that a thing holds, or that its code names."""
        if id(thing) in self._seen or type(thing) in ATOMS:
            return ()
        self._seen[id(thing)] = thing
        thing = original_of(PATCHED.get(id(thing), thing))
        if type(thing) is types.FunctionType:
            return self._named(thing)
        if type(thing) in _WRITTEN_IN_C:
            self.has_effects |= thing.__name__ in _EFFECTFUL
            self.has_changes |= thing.__name__ in _CHANGING
            return (getattr(thing, "__self__", None),)
        if type(thing) is types.MethodType:
            return thing.__func__, thing.__self__
        if type(thing) is functools.partial:
            return thing.func, *thing.args, *thing.keywords.values()
        if type(thing) in (staticmethod, classmethod):
            return (thing.__func__,)
        if type(thing) is property:
            return thing.fget, thing.fset, thing.fdel
        if is_a(thing, types.ModuleType):
            return self._module(thing)
        if is_a(thing, type):
            return self._class(thing) if is_users(thing) else ()
        is_object = is_users_object(thing) or is_open(type(thing))
        self.has_mutable |= is_object or is_a(thing, _MUTABLE)
        if is_object:
            self.objects.append(thing)
            return *self._owner(attributes(thing)), *_items(thing), *self._bases(type(thing))
        if is_a(thing, _HOLDERS):
            if is_a(thing, _MUTABLE):
                self.containers.append(thing)
            return _items(thing)
        return _callables(own_dict(thing))

    def _module(self, module: types.ModuleType) -> Iterable[Any]:
        if is_plain(module_name(module)):
            return ()
        names = object.__getattribute__(module, "__dict__")
        self.has_mutable = True
        self.modules[id(names)] = names
        return self._owner(names)

    def _bases(self, kind: type) -> Iterator[Any]:
        """Note a class and its bases; gives their attributes under the names so far, and their special methods."""
        for base in filter(is_users, mro_of(kind)):
            if id(base) not in self.classes:
                self.classes[id(base)] = base
                yield from (*self._owner(names_of(base)), *_special_methods(base))

    def _class(self, kind: type) -> Iterable[Any]:
        """The functions that make an object of a class; what they set are its own attributes."""
        self.has_mutable = True
        yield from self._bases(kind)
        made = [class_attribute(kind, name) for name in _MAKERS]
        for function in made:
            if type(function) is types.FunctionType and id(function) not in self._seen:
                self._seen[id(function)] = function
                yield from self._named(function, is_new=True)

    def _named(self, function: types.FunctionType, is_new: bool = False) -> Iterable[Any]:
        """The values of a function's variables and defaults; of a library's function, what it wraps."""
        inner = _callables(vars(function))
        if is_plain(str(function.__globals__.get("__name__"))) or package_of_function(function):
            return [*inner, *map(cell_content, function.__closure__ or ())]
        code, names = function.__code__, names_in(function.__code__)
        does = _effects(code)
        self._names.update(names)
        self.attributes |= does.attributes
        self.sets_any |= does.sets_any
        self._gets_any |= does.gets_any
        self.has_all |= does.has_all
        is_changing = does.sets_items or bool(does.rebound) or not _CHANGING.isdisjoint(names)
        self.has_changes |= is_changing or bool(does.attributes and not is_new)
        self.has_effects |= is_changing if is_new else has_effects(code)
        sets_outside = does.rebound or does.free.intersection(code.co_freevars) or does.attributes & DECISIVE
        self.has_mutable |= bool(sets_outside) or does.has_all
        names_of_module: Any = function.__globals__
        real = names_of_module.real if isinstance(names_of_module, Globals) else names_of_module
        self.rebound += [(real, name) for name in does.rebound]
        cells = list(zip(code.co_freevars, function.__closure__ or ()))
        self.cells += [(cell, name) for name, cell in cells if name in does.free]
        variables = [real[name] for name in names if name in real]
        imported = [sys.modules[name] for name in does.imported if name in sys.modules]
        defaults = *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()
        return [*inner, *(cell_content(cell) for _, cell in cells), *defaults, *variables, *imported]


def may_change_others(thing: Any) -> bool:
    """Whether a call of a thing may change mutable objects in its variables, defaults or owners."""
    found = Changes(thing)
    return found.has_effects and found.has_mutable


def _items(holder: Any) -> list[Any]:
    """The items of a container, if some of them may be called, or hold what may be called."""
    if is_a(holder, dict):
        found = list(dict.values(holder))
    elif is_a(holder, (list, tuple, set, frozenset)):
        found = list(next(kind for kind in (list, tuple, set, frozenset) if is_a(holder, kind)).__iter__(holder))
    else:
        return []
    return [] if ATOMS.issuperset(map(type, found)) else found


def _callables(names: Any) -> list[Any]:
    """The user's functions and objects among the attributes of a thing of a library."""
    kinds = (types.FunctionType, types.MethodType, functools.partial)
    return [part for part in (names or {}).values() if is_a(part, kinds) or is_users_object(part)]


def _special_methods(kind: type) -> list[Any]:
    """The methods of a class that Python calls by itself."""
    is_special = {name: name.startswith("__") and name.endswith("__") and name not in _MAKERS for name in vars(kind)}
    return [part for name, part in vars(kind).items() if is_special[name] and type(part) is types.FunctionType]
