"""The items of a `for` loop as an expression of containers, so that a graph knows them.

`for i, x in enumerate(xs)` gets an iterator, and a graph cannot see into one. An iterator that nothing else refers to
can be made again from its containers, from its place on: `enumerate(xs[3:], 3)`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograph.common.cpython_internals import COUNTS, reference_count

SIZED = frozenset({range, tuple, list, np.ndarray})
_ITERATORS = frozenset(map(type, (iter([]), iter(()), iter(range(0)), iter(np.empty(0)))))
MADE = frozenset({enumerate, zip})      # iterators that are usually made for one loop


@dataclass
class Items:
    """The items of a loop.

    Attributes:
        text: an expression for the iterable, in which `{0}` and so on are for the parts.
        parts: the containers that it is made of, and the numbers.
        begun: whether items of a list have been taken already, so that a part is a copy of the rest.
        length: the number of items.
    """

    text: str = "{0}"
    parts: list[Any] = field(default_factory=list)
    begun: bool = False
    length: int | None = None

    def add(self, part: Any) -> str:
        """The expression for one more part."""
        self.parts.append(part)
        return f"{{{len(self.parts) - 1}}}"


def items_of(iterable: Any, taken: int, alone: bool) -> Items | None:
    """The items that are left of an iterable; None if they are not in containers.

    Args:
        taken: how many have been taken from an iterator of it.
        alone: whether nothing else refers to the iterable.
    """
    found = Items()
    if type(iterable) in MADE:
        text = _of_iterator(iterable, found) if alone else None
    else:
        text = _of_container(iterable, taken, found)
    if text is None:
        return None
    found.text = text
    return found


def _of_container(container: Any, taken: int, found: Items) -> str | None:
    kind = type(container)
    if kind not in SIZED or (kind is np.ndarray and (container.ndim == 0 or container.dtype.hasobject)):
        return None
    length = length_of(container) - taken
    found.length = length if found.length is None else min(length, found.length)
    found.begun |= kind is list and taken > 0
    return found.add(container[taken:] if taken else container)


def length_of(container: Any) -> int:
    """The number of items, also of a range that is too long for `len`."""
    if type(container) is range and container:
        return (container[-1] - container[0]) // container.step + 1
    return len(container)


def _of_iterator(iterator: Any, found: Items) -> str | None:
    """The expression for an iterator that nothing else refers to, if it is made of containers."""
    kind = type(iterator)
    inside = _inside(iterator)
    texts = [_of_inner(inner, found) if count <= _ALONE[kind] else None for inner, count in inside]
    if None in texts:
        return None
    if kind is enumerate:
        return f"ag__.enumerate_({texts[0]}, {found.add(iterator.__reduce__()[1][1])})"
    return f"ag__.zip_({', '.join(map(str, texts))})" if texts and len(iterator.__reduce__()) == 2 else None


def _inside(iterator: Any) -> list[tuple[Any, int]]:
    """The iterators in another one, each with the number of references to it."""
    made = iterator.__reduce__()[1]
    count = len(made) if type(iterator) is zip else 1
    return [(made[at], reference_count(made[at])) for at in range(count)]


_ALONE = {kind: _inside(kind(()))[0][1] if COUNTS else 0 for kind in (enumerate, zip)}


def _of_inner(iterator: Any, found: Items) -> str | None:
    """The expression for an iterator in another one."""
    if type(iterator) in MADE:
        return _of_iterator(iterator, found)
    if type(iterator) not in _ITERATORS:
        return None
    made: Any = iterator.__reduce__()
    taken = made[2] if len(made) > 2 else 0     # it has no place if it has ended
    return _of_container(made[1][0], taken or 0, found)     # from Python 3.12 on that of a range is None
