"""Guards of classes: of the attributes of a class and its bases that traced code mentions.

A guard compares the version tag of the class, which takes the time of one comparison, however many names there are.
If the tag is another one, the names are looked up: what has been put back, as `unittest.mock` does, fits again. Numbers
and containers that classes hold have guards of their own, see `attribute_guards.py`.
"""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any

from autograph.common.cpython_internals import assign_version_tag, version_tag
from autograph.common.statics import is_descriptor, mro_of, names_of
from autograph.runtime.graph.object_model import is_changeable
from autograph.runtime.tracing.environment.guards import Condition
from autograph.runtime.tracing.state.undo_log import PATCHED

# What Python itself puts into classes, and what says nothing of what their objects do.
_BOOKKEEPING = frozenset(
    """__doc__ __module__ __qualname__ __dict__ __weakref__ __annotations__ __annotate__ __annotate_func__
    __annotations_cache__ __firstlineno__ __static_attributes__ __parameters__ __orig_bases__""".split()
)
_OFTEN = 100  # changes of a class that did not matter
_DATA = object()  # in the place of what has a guard of its own


class ClassFacts:
    """What a class has under some names, and in which order its bases are asked.

    Args:
        names: those that matter besides the special ones; None for all.
    """

    __slots__ = ("_known", "_missed", "_mro", "_names", "_quick", "kind", "now", "tag")

    def __init__(self, kind: type, names: frozenset[str] | None) -> None:
        self.kind = kind
        self.now = version_tag(kind)
        self._names = names
        assign_version_tag(kind)
        self.tag = self.now[0] or -1  # which no class has
        self._missed = 0
        self._mro = mro_of(kind)
        self._known = [self._facts(base) for base in self._mro if is_changeable(base)]
        self._remember()

    def _facts(self, base: type) -> dict[str, Any]:
        names = self._names
        return {
            name: _fact(name, member)
            for name, member in names_of(base).items()
            if names is None or name in names or (name.startswith("__") and name not in _BOOKKEEPING)
        }

    def _remember(self) -> None:
        """Note what tells at a glance that only data have changed."""
        namespaces = [names_of(base) for base in self._mro if is_changeable(base)]
        self._quick = []
        for namespace, known in zip(namespaces, self._known):
            data = [(name, type(namespace[name])) for name, fact in known.items() if fact is _DATA]
            others = [(name, namespace[name]) for name, fact in known.items() if fact is not _DATA]
            self._quick.append((namespace, len(namespace), next(reversed(namespace)), data, others))

    def holds(self) -> bool:
        """Whether the class has what it had; from now on, its tag tells that again.

        A class that changes all the time, say as it counts its instances, is given no tag for that: it would take
        longer than to look at the class.
        """
        if self.now[0] == 0 and self._missed < _OFTEN:
            self._missed += 1
            assign_version_tag(self.kind)
        tag = self.now[0]
        if not self._looks_the_same():
            if any(self.changes()):
                return False
            self._remember()
        self.tag = tag or -1
        return True

    def _looks_the_same(self) -> bool:
        if mro_of(self.kind) is not self._mro:
            return False
        for namespace, count, last, data, others in self._quick:
            if len(namespace) != count or next(reversed(namespace)) is not last:  # a name that is new is the last one
                return False
            for name, kind in data:
                if type(namespace[name]) is not kind:
                    return False
            for name, member in others:
                if namespace[name] is not member:
                    return False
        return True

    def changes(self) -> Iterable[str]:
        """What the class gives under another meaning now: names, or "" for its bases."""
        mro = mro_of(self.kind)
        if len(mro) != len(self._mro) or any(base is not known for base, known in zip(mro, self._mro)):
            yield "__bases__"
            return
        for base, known in zip(filter(is_changeable, mro), self._known):
            found = self._facts(base)
            for name in dict.fromkeys([*known, *found]):
                if found.get(name, _MISSING) is not known.get(name, _MISSING):
                    yield name

    def details(self) -> str:
        """Which names the class has not as it had them."""
        changed = ", ".join(sorted(set(self.changes())))
        return changed and f": {changed}"

    @property
    def name(self) -> str:
        """What a user calls the class."""
        return self.kind.__qualname__.rpartition("<locals>.")[2]

    @property
    def condition(self) -> Condition:
        """The guard that it holds."""
        now, known = f"version_{id(self)}", f"class_{id(self)}"
        return f"{now}[0] == {known}.tag or {known}.holds()", {now: self.now, known: self}

    @property
    def condition_of_written(self) -> Condition:
        """The same for a class that the graph itself changes, so that its tag is another one at each call.

        It looks first at what has most likely stayed, without a call of Python code.
        """
        known = f"class_{id(self)}"
        names: dict[str, Any] = {known: self, "mro_of": mro_of, f"{known}_kind": self.kind, f"{known}_mro": self._mro}
        tests = [f"mro_of({known}_kind) is {known}_mro"]
        for number, (namespace, count, last, data, others) in enumerate(self._quick):
            there = f"{known}_{number}"
            names |= {there: namespace, f"{there}_last": last}
            tests.append(f"len({there}) == {count} and next(reversed({there})) is {there}_last")
            for at, (name, member) in enumerate([*data, *others]):
                names[f"{there}_{at}"] = member
                part = f"{there}[{name!r}]"
                tests.append(f"{part if at >= len(data) else f'type({part})'} is {there}_{at}")
        return f"({' and '.join(tests)}) or {known}.holds()", names


class CheckFacts:
    """What abstract classes say of a class, which depends on what is registered with them."""

    __slots__ = ("_kinds", "_said", "kind", "now", "tag", "token")

    def __init__(self, kind: type, kinds: Any) -> None:
        self.kind = kind
        self._kinds = kinds
        self.now = version_tag(kind)
        self.token, self.tag = self._versions()
        self._said = self._ask()

    def _versions(self) -> tuple[Any, int]:
        assign_version_tag(self.kind)
        return abc.get_cache_token(), self.now[0] or -1

    def _ask(self) -> Any:
        try:
            return issubclass(self.kind, self._kinds)
        except TypeError:  # of a protocol, which looks at the attributes of instances
            return object()

    def holds(self) -> bool:
        """Whether they say the same; from now on, that the versions are the same tells that again."""
        versions = self._versions()
        if self._ask() is not self._said:
            return False
        self.token, self.tag = versions
        return True

    @property
    def condition(self) -> Condition:
        """The guard that it holds."""
        now, known = f"version_{id(self)}", f"check_{id(self)}"
        expression = f"(token() == {known}.token and {now}[0] == {known}.tag) or {known}.holds()"
        return expression, {"token": abc.get_cache_token, now: self.now, known: self}


_MISSING = object()


def _fact(name: str, member: Any) -> Any:
    """What makes the class give something else if it is another one."""
    member = PATCHED.get(id(member), member)
    is_special = name.startswith("__") and name.endswith("__")
    return member if is_special or callable(member) or is_descriptor(member) else _DATA
