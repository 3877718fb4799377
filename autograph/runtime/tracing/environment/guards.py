"""Conditions of guards: expressions over the sources of captured values, and facts about classes.

The guard of a class compares the class's version tag: one comparison, however many names matter. If the tag has
changed, the names are looked up, so that a class that `unittest.mock` has restored fits again. Numbers and containers
in classes have guards of their own, see `attribute_guards.py`.
"""

from __future__ import annotations

import abc
import weakref
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np

from autograph.common import disk_cache, pytree
from autograph.common.cpython_internals import assign_version_tag, version_tag
from autograph.common.statics import READERS, is_a, is_descriptor, mro_of, names_of
from autograph.runtime.graph.object_model import is_changeable
from autograph.runtime.graph.static_keys import Same, static_key
from autograph.runtime.tracing.environment.object_source import Source, fixed_parts
from autograph.runtime.tracing.state.undo_log import PATCHED

Condition: TypeAlias = "tuple[str, dict[str, Any]]"  # the arguments with which a `Guard` begins

_BY_VALUE = frozenset({int, float, complex, str, bytes, tuple, frozenset})
_COMPARED_BY_EQUALITY = frozenset({int, str, bytes})


def is_same(value: Any, source: Source) -> Condition:
    """The value is this object, or an equal constant."""
    if type(value) not in _BY_VALUE and not is_a(value, (np.generic, np.dtype)):
        return _condition("{0} is value", source, value=value)
    if type(value) in (tuple, frozenset):
        names = {"value": value, "key": static_key, "known": static_key(value)}
        return _condition("{0} is value or key({0}) == known", source, **names)
    if type(value) in _COMPARED_BY_EQUALITY:  # and Python may refuse to write an integer
        return _condition("{0} is value or (type({0}) is kind and {0} == value)", source, value=value, kind=type(value))
    expression = "{0} is value or (type({0}) is kind and {0} == value and repr({0}) == text)"
    return _condition(expression, source, value=value, kind=type(value), text=repr(value))


def is_alike(value: Any, source: Source) -> Condition:
    """The value has the same class; an array, also the same dtype and shape."""
    if type(value) is not np.ndarray:
        name = f"kind_{id(type(value))}"
        return _condition(f"type({{0}}) is {name}", source, **{name: type(value)})
    expression = "type({0}) is ndarray and {0}.dtype == dtype and {0}.shape == " + repr(value.shape)
    return _condition(expression, source, ndarray=np.ndarray, dtype=value.dtype)


def is_structure(value: Any, source: Source) -> Condition:
    """The value is a structure of the same class, with the same keys."""
    if type(value) in (list, tuple):
        return _condition(f"type({{0}}) is kind and len({{0}}) == {len(value)}", source, kind=type(value))
    if type(value) is dict:
        return _condition("type({0}) is kind and [*{0}] == known", source, kind=dict, known=[*value])
    expression = "type({0}) is kind and keys({0}) == known"
    return _condition(expression, source, kind=type(value), keys=_keys_of, known=_keys_of(value))


def has_fixed_parts(value: Any, parts: list[Any], source: Source) -> Condition:
    """The value has these objects in its places without a name: its keys, the owner of a method.

    A weak reference must be this one, and alive; the guard must not keep its object alive.
    """
    if type(value) is weakref.ref:
        return _condition("{0} is reference and reference() is not None", source, reference=value)
    return _condition("identities({0}) == known", source, identities=_identities, known=list(map(Same, parts)))


def is_alive(source: Source) -> Condition:
    """The object of a weak reference still exists."""
    return _condition("{0} is not None", source)


@disk_cache.storable
def _identities(value: Any) -> list[Same]:
    return list(map(Same, fixed_parts(value)))


@disk_cache.storable
def _keys_of(value: Any) -> list[Any]:
    kind = pytree.kind_of(value)
    return list(kind.children(value)) if kind is not None else []


def _condition(expression: str, source: Source, **names: Any) -> Condition:
    return expression.format(source.expression), {**dict(source.names), **names}


# Attributes that Python itself puts into classes, or that do not affect their instances.
_BOOKKEEPING = frozenset(
    """__doc__ __module__ __qualname__ __dict__ __weakref__ __annotations__ __annotate__ __annotate_func__
    __annotations_cache__ __firstlineno__ __static_attributes__ __parameters__ __orig_bases__""".split()
)
_OFTEN = 100  # irrelevant changes of a class
_DATA = object()  # the fact of an attribute that has a guard of its own


class ClassFacts:
    """The attributes of a class under some names, and the order of its bases.

    Args:
        names: the names that matter, besides special methods; None for all.
    """

    __slots__ = ("_facts", "_missed", "_mro", "_names", "_snapshot", "kind", "now", "tag")

    def __init__(self, kind: type, names: frozenset[str] | None) -> None:
        self.kind = kind
        self.now = version_tag(kind)
        self._names = names
        assign_version_tag(kind)
        self.tag = self.now[0] or -1  # no class has the tag -1
        self._missed = 0
        self._mro = mro_of(kind)
        self._facts = [self._facts_of(base) for base in self._mro if is_changeable(base)]
        self._take_snapshot()

    def _facts_of(self, base: type) -> dict[str, Any]:
        names = self._names
        return {
            name: _fact(name, member)
            for name, member in names_of(base).items()
            if (names is None or name in names or (name.startswith("__") and name not in _BOOKKEEPING))
            and id(member) not in READERS
        }

    def _take_snapshot(self) -> None:
        """Note facts that show quickly that only data have changed."""
        namespaces = [names_of(base) for base in self._mro if is_changeable(base)]
        self._snapshot = []
        for namespace, facts in zip(namespaces, self._facts):
            data = [(name, type(namespace[name])) for name, fact in facts.items() if fact is _DATA]
            others = [(name, namespace[name]) for name, fact in facts.items() if fact is not _DATA]
            self._snapshot.append((namespace, len(namespace), next(reversed(namespace)), data, others))

    def holds(self) -> bool:
        """Whether the class has the same attributes; if so, its present tag is the one to compare.

        A class that changes often, say because it counts its instances, gets no new tag: that takes longer than to look
        at the class.
        """
        if self.now[0] == 0 and self._missed < _OFTEN:
            self._missed += 1
            assign_version_tag(self.kind)
        tag = self.now[0]
        if not self._looks_the_same():
            if any(self.changes()):
                return False
            self._take_snapshot()
        self.tag = tag or -1
        return True

    def _looks_the_same(self) -> bool:
        if mro_of(self.kind) is not self._mro:
            return False
        for namespace, count, last, data, others in self._snapshot:
            if len(namespace) != count or next(reversed(namespace)) is not last:  # a new name is the last one
                return False
            for name, kind in data:
                if type(namespace[name]) is not kind:
                    return False
            for name, member in others:
                if namespace[name] is not member:
                    return False
        return True

    def changes(self) -> Iterable[str]:
        """The names under which the class has other attributes now."""
        mro = mro_of(self.kind)
        if len(mro) != len(self._mro) or any(base is not known for base, known in zip(mro, self._mro)):
            yield "__bases__"
            return
        for base, facts in zip(filter(is_changeable, mro), self._facts):
            found = self._facts_of(base)
            for name in dict.fromkeys([*facts, *found]):
                if found.get(name, _MISSING) is not facts.get(name, _MISSING):
                    yield name

    def details(self) -> str:
        """The changed names, as a suffix of the guard's reason."""
        changed = ", ".join(sorted(set(self.changes())))
        return changed and f": {changed}"

    @property
    def name(self) -> str:
        """The user's name of the class."""
        return self.kind.__qualname__.rpartition("<locals>.")[2]

    @property
    def condition(self) -> Condition:
        """The condition that it holds."""
        now, known = f"version_{id(self)}", f"class_{id(self)}"
        return f"{now}[0] == {known}.tag or {known}.holds()", {now: self.now, known: self}

    @property
    def condition_of_written(self) -> Condition:
        """The same for a class that the graph itself changes, so that its tag is another one in each call.

        It looks first at the attributes that have most likely stayed, without a call of Python code.
        """
        known = f"class_{id(self)}"
        names: dict[str, Any] = {known: self, "mro_of": mro_of, f"{known}_kind": self.kind, f"{known}_mro": self._mro}
        tests = [f"mro_of({known}_kind) is {known}_mro"]
        for number, (namespace, count, last, data, others) in enumerate(self._snapshot):
            there = f"{known}_{number}"
            names |= {there: namespace, f"{there}_last": last}
            tests.append(f"len({there}) == {count} and next(reversed({there})) is {there}_last")
            for at, (name, member) in enumerate([*data, *others]):
                names[f"{there}_{at}"] = member
                part = f"{there}[{name!r}]"
                tests.append(f"{part if at >= len(data) else f'type({part})'} is {there}_{at}")
        return f"({' and '.join(tests)}) or {known}.holds()", names


class CheckFacts:
    """Whether a class is a subclass of abstract classes, which depends on registrations with these."""

    __slots__ = ("_answer", "_kinds", "kind", "now", "tag", "token")

    def __init__(self, kind: type, kinds: Any) -> None:
        self.kind = kind
        self._kinds = kinds
        self.now = version_tag(kind)
        self.token, self.tag = self._versions()
        self._answer = self._ask()

    def _versions(self) -> tuple[Any, int]:
        assign_version_tag(self.kind)
        return abc.get_cache_token(), self.now[0] or -1

    def _ask(self) -> Any:
        try:
            return issubclass(self.kind, self._kinds)
        except TypeError:  # of a protocol, which needs an instance
            return object()

    def holds(self) -> bool:
        """Whether the answer is the same; if so, the present versions are the ones to compare."""
        versions = self._versions()
        if self._ask() is not self._answer:
            return False
        self.token, self.tag = versions
        return True

    @property
    def condition(self) -> Condition:
        """The condition that it holds."""
        now, known = f"version_{id(self)}", f"check_{id(self)}"
        expression = f"(token() == {known}.token and {now}[0] == {known}.tag) or {known}.holds()"
        return expression, {"token": abc.get_cache_token, now: self.now, known: self}


_MISSING = object()


def _fact(name: str, member: Any) -> Any:
    """The attribute if it must stay the same object, else `_DATA`."""
    member = PATCHED.get(id(member), member)
    is_special = name.startswith("__") and name.endswith("__")
    return member if is_special or callable(member) or is_descriptor(member) else _DATA
