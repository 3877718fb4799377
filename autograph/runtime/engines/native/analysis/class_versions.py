"""The classes of objects whose attributes machine code reads or sets, and where instances have these attributes."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from typing import Any

from autograph.common.cpython_internals import (
    HAS_PLACES,
    ITEMS,
    AttributePlace,
    Unshadowed,
    assign_version_tag,
    attribute_place,
    count_of_names,
    member_place,
    version_tag,
    write,
)
from autograph.common.statics import class_has, reads_plainly
from autograph.runtime.graph.graph import Node
from autograph.runtime.graph.object_model import is_described
from autograph.runtime.ops.python.attributes import special_method

MOST = 3        # classes of the objects of one node
_INVALID = 0xFFFF_FFFF      # a version tag that no class has


class Version(bytes):
    """The version tag of a class for which the places of its attributes hold, in memory for machine code.

    Behind it is the number of the names of the values of its instances.

    Attributes:
        places: by the name and the method that reads or sets the attribute.
        members: by name, functions and properties of the class, and where instances could hide them.
        operators: by name, special methods that operators call.
        plain: the names of attributes that are read without code of the class.
    """

    kind: type
    places: dict[tuple[str, str], AttributePlace | None]
    members: dict[str, tuple[Any, Unshadowed | None]]
    operators: dict[str, Any]
    plain: set[str]

    @staticmethod
    def of(kind: type) -> Version:
        found = Version(8)
        found.kind, found.places, found.members, found.operators, found.plain = kind, {}, {}, {}, set()
        found.renew()
        return found

    def renew(self) -> None:
        """Take the present tag, if all places are the same."""
        tags, names = version_tag(self.kind), count_of_names(self.kind)
        if tags[0] != int.from_bytes(self[:4], "little") or names != int.from_bytes(self[4:], "little"):
            known = [(key, place) for key, place in self.places.items() if place]   # else the code asks Python
            same = all(attribute_place(self.kind, *key) == place for key, place in known)
            same &= all(member_place(self.kind, name, each) == place for name, (each, place) in self.members.items())
            same &= all(special_method(self.kind, name) is each for name, each in self.operators.items())
            same &= all(_is_plain(self.kind, name) for name in self.plain)
            assign_version_tag(self.kind)
            write(ctypes.c_uint32, id(self) + ITEMS, (tags[0] if same else 0) or _INVALID)
            write(ctypes.c_uint32, id(self) + ITEMS + 4, names)

    def place(self, name: str, method: str) -> AttributePlace | None:
        """Where instances have an attribute, if that is known."""
        key = name, method
        if key not in self.places:
            self.places[key] = attribute_place(self.kind, name, method)
        return self.places[key]

    def member(self, name: str, member: Any) -> Unshadowed | None:
        """Where instances could hide a function or property; None if unknown, or if the class has another."""
        if name not in self.members:
            self.members[name] = member, member_place(self.kind, name, member)
        known, place = self.members[name]
        return place if known is member else None

    def has_operator(self, name: str, member: Any) -> bool:
        """Whether an operator calls this special method of the class."""
        if HAS_PLACES and special_method(self.kind, name) is member:
            self.operators[name] = member
        return self.operators.get(name) is member

    def is_plain(self, name: str) -> bool:
        """Whether an attribute of instances is read without code of the class, which does not see them go either."""
        if _is_plain(self.kind, name):
            self.plain.add(name)
        return name in self.plain


def _is_plain(kind: type, name: str) -> bool:
    return reads_plainly(kind) and not is_described(kind, name) and not class_has(kind, "__del__")


class Versions:
    """The classes of the objects whose attributes a loop reads or sets, by node."""

    def __init__(self) -> None:
        self._classes: dict[Node, dict[type, None]] = {}
        self._versions: dict[type, Version] = {}

    def add(self, found: Mapping[Node, Iterable[type]]) -> None:
        """Add the classes of further objects."""
        for node, kinds in found.items():
            self._classes.setdefault(node, {}).update(dict.fromkeys(kinds))

    def renew(self) -> None:
        """Look at classes that have changed."""
        for each in self._versions.values():
            each.renew()

    def of(self, kind: type) -> Version:
        """The version of a class."""
        if kind not in self._versions:
            self._versions[kind] = Version.of(kind)
        return self._versions[kind]

    def places(self, node: Node, name: str, method: str) -> list[tuple[Version, AttributePlace]]:
        """Where the objects of a node have an attribute; empty if that is unknown of one of them."""
        kinds = self._classes.get(node, {})
        versions = [*map(self.of, kinds)] if len(kinds) <= MOST else []
        found = [(version, version.place(name, method)) for version in versions]
        return [(version, place) for version, place in found if place] if all(place for _, place in found) else []
