"""Makes fresh names that the user's program does not use."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import gast

from autograph.syntax import trees


def all_names(tree: gast.AST) -> set[str]:
    """Return every identifier that occurs anywhere in `tree`, in any role."""
    found: set[str] = set()
    for node in trees.walk(tree):
        fields = node.__dict__
        for field in _fields(type(node)):  # type: ignore[arg-type]
            value = fields.get(field)
            if isinstance(value, str):
                found.add(value.partition(".")[0])
            elif field == "names":
                found.update(name for name in value if isinstance(name, str))
    return found


@functools.cache
def _fields(kind: type[gast.AST]) -> list[str]:
    """Return the fields of a node class that are identifiers."""
    return [field for field in ("id", "name", "attr", "arg", "asname", "rest", "names") if field in kind._fields]


class Namer:
    """Makes names that are not in `used`.

    The same requests in the same order give the same names (law 8).
    """

    def __init__(self, used: Iterable[str] = ()) -> None:
        self._used = set(used)
        self._counts: dict[str, int] = {}   # by root: all smaller numbers are taken

    def reusable(self, root: str) -> str:
        """Return `root`, or the first of `root_1`, `root_2`, … that is not taken.

        Several calls may return the same name. So it is for names of bodies, which are used at once and may be defined
        again.
        """
        count = self._counts.get(root, 0)
        name = f"{root.rstrip('_')}_{count}" if count else root
        while name in self._used:
            count += 1
            name = f"{root.rstrip('_')}_{count}"
        self._counts[root] = count
        return name

    def fresh(self, root: str) -> str:
        """Return a name as `reusable` does, and mark it as taken."""
        name = self.reusable(root)
        self._used.add(name)
        return name


def mangle(name: str, class_name: str | None) -> str:
    """Return the name under which Python stores `name` inside class `class_name`."""
    if class_name is None or not name.startswith("__") or name.endswith("__") or "." in name:
        return name
    stripped = class_name.lstrip("_")
    return f"_{stripped}{name}" if stripped else name
