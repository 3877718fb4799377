"""The objects in an object that a checkpoint saves, by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from autograph.compat.tensorflow.module import Module, set_attribute
from autograph.compat.tensorflow.ops.variables import Variable


class Tracked:
    """An object whose attributes are saved."""

    __setattr__ = set_attribute


class ListWrapper(list[Any]):
    """A list as an attribute of a checkpoint: values that are added to it later are restored, too.

    Attributes:
        changed: is called after an addition.
    """

    def __init__(self, items: Iterable[Any] = ()) -> None:
        super().__init__(items)
        self.changed: Any = lambda: None

    def append(self, item: Any) -> None:
        super().append(item)
        self.changed()

    def extend(self, items: Iterable[Any]) -> None:
        super().extend(items)
        self.changed()

    def insert(self, at: Any, item: Any) -> None:
        super().insert(at, item)
        self.changed()

    def __repr__(self) -> str:
        return f"ListWrapper({list.__repr__(self)})"


def is_iterator(thing: Any) -> bool:
    """Whether it is the iterator of a dataset, of which the position is saved."""
    return hasattr(thing, "position") and hasattr(thing, "seek")


def is_optimizer(thing: Any) -> bool:
    """Whether it remembers arrays for variables."""
    return isinstance(thing, Module) and hasattr(thing, "_slots") and hasattr(thing, "_rule")


def is_tracked(thing: Any) -> bool:
    """Whether a checkpoint saves it."""
    if isinstance(thing, (list, tuple, dict)):
        parts = thing.values() if isinstance(thing, dict) else thing
        return isinstance(thing, ListWrapper) or any(map(is_tracked, parts))
    return isinstance(thing, (Variable, Module, Tracked)) or is_iterator(thing)


def children_of(thing: Any) -> dict[str, Any]:
    """The objects in an object that are saved, by name; variables of a layer without an attribute come last."""
    if isinstance(thing, Variable) or is_iterator(thing):
        return {}
    if isinstance(thing, dict):
        found = {str(key): part for key, part in thing.items()}
    elif isinstance(thing, (list, tuple)):
        found = {str(place): part for place, part in enumerate(thing)}
    else:
        root = vars(thing).get("_root")
        found = {} if root is None or not isinstance(thing, Tracked) else children_of(root)
        own = {name: part for name, part in vars(thing).items() if name not in _HIDDEN}
        found = {**found, **own, **{name: vars(thing)[name] for name in ("_own",) if name in vars(thing)}}
    return {name: part for name, part in found.items() if is_tracked(part)}


_HIDDEN = frozenset({"_own", "_root", "_network", "_compiled", "_train", "_test", "_mean", "_measured"})
