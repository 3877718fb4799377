"""Notes the changes of a body, other than of its variables: of arrays, lists, dicts, sets and objects.

JAX traces both branches of an `if`, and the body of a loop once. What they do to objects must not be done yet: the
log of a body keeps the state that each object had before its first change, so that the body's changes can be
undone, and become results of the construct.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Any

_MISSING: Any = object()
CONTAINERS = (list, dict, set, deque, bytearray)


def contents_of(thing: Any) -> Any:
    """Return the items and attributes of an object: enough to put them back."""
    if isinstance(thing, CONTAINERS):
        return (thing.copy(), _attributes(thing))
    if hasattr(type(thing), "content"):     # an array
        return (thing.content, thing.own_aval, thing.doubt, thing.kin, thing.links)
    return _attributes(thing)


def _attributes(thing: Any) -> dict[str, Any]:
    return {**getattr(thing, "__dict__", {}), **{name: getattr(thing, name) for name in slots_of(type(thing))
                                                 if hasattr(thing, name)}}


def slots_of(kind: type) -> Iterator[str]:
    """The names of the slots of a class."""
    for base in kind.__mro__:
        slots = base.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name.startswith("__") and not name.endswith("__"):
                name = f"_{base.__name__.lstrip('_')}{name}"
            if name not in ("__dict__", "__weakref__"):
                yield name


def children_of(contents: Any) -> list[Any]:
    """The things in what `contents_of` has returned, keys and names included."""
    items, attributes = contents if isinstance(contents, tuple) else ((), contents)
    pairs = [*items.items()] if isinstance(items, dict) else [*enumerate(items)]
    return [part for pair in (*pairs, *attributes.items()) for part in pair]


def put_back(thing: Any, contents: Any) -> None:
    """Let an object hold again what it held."""
    if hasattr(type(thing), "content"):
        thing.content, thing.own_aval, thing.doubt, thing.kin, thing.links = contents
        return
    if isinstance(thing, CONTAINERS):
        items, contents = contents
        refill(thing, items)
    now = _attributes(thing)
    for name in now.keys() - contents.keys():
        object.__delattr__(thing, name)
    for name, value in contents.items():
        if now.get(name, _MISSING) is not value:
            object.__setattr__(thing, name, value)


def refill(container: Any, items: Any) -> None:
    """Give a container other items."""
    if isinstance(container, (list, bytearray)):
        container[:] = items
    else:
        container.clear()
        (container.extend if isinstance(container, deque) else container.update)(items)


class UndoLog:
    """The objects that a body has changed, with what they held before."""

    def __init__(self) -> None:
        self.before: dict[int, tuple[Any, Any]] = {}

    def log(self, thing: Any) -> None:
        """Note that an object is about to change."""
        if id(thing) not in self.before:
            self.before[id(thing)] = thing, contents_of(thing)

    def changed(self) -> list[tuple[Any, Any, Any]]:
        """Each changed object, with what it held before, and what it holds now."""
        return [(thing, before, contents_of(thing)) for thing, before in self.before.values()]

    def undo(self) -> None:
        """Let all objects hold what they held before."""
        for thing, before in self.before.values():
            put_back(thing, before)
