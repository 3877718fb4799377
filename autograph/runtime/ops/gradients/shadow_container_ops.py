"""Ops that update the shadows of lists and dicts as these are updated; see `shadow.py`."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator, ValuesView
from typing import Any

import numpy as np

from autograph.common.pytree import Within, resolve
from autograph.errors import DerivativeError
from autograph.runtime.graph.opdef import VIEW, WRITE, declare, lookup
from autograph.runtime.graph.traits import GRADIENT, SHARES_FIRST
from autograph.runtime.graph.types import NONE, ObjectType
from autograph.runtime.ops.gradients.adjoint_ops import like_first, parts_within
from autograph.runtime.ops.gradients.shadow_ops import ARRAYS, Blank, is_blank, parts_of, shadow_of


def shadow_after(shadow: Any, other: Any, result: Any, changed: Any, op: str) -> Any:
    """The shadow of the result of an in-place operator: that of the changed object, unless that is a number.

    Args:
        other: the shadow of the other operand, which a list was made longer by.
        op: the operation, which for a list is `iadd` or `imul`.
    """
    if result is not changed:
        return shadow_of(result)
    if isinstance(shadow, list):
        if op == "imul":
            shadow *= len(result) // len(shadow) if shadow else 0
        else:
            extended_by(shadow, other, result)
        if len(shadow) != len(result):
            raise DerivativeError("the gradient goes through a list that was changed in an unknown way")
    return shadow


def made_of(shadow: Any, thing: Any) -> Any:
    """The shadow of a list or tuple that is made of the items of something with `shadow`."""
    return type(thing)(_shadows_in(shadow, thing))


def _shadows_in(shadow: Any, things: Any) -> list[Any]:
    """The shadows of the items `things` of something with `shadow`."""
    if isinstance(shadow, Blank) and not shadow.shape:
        return [shadow] * len(things)
    return list(map(shadow_of, things) if shadow is None else parts_of(shadow))


def view_of(shadow: Any, result: Any, op: str, *args: Any, **options: Any) -> Any:
    """The shadow of a view of something that may not be an array of floats.

    Args:
        result: the view.
        args: those of the op, without the first.
    """
    if isinstance(shadow, Blank):
        return shadow.of(result)
    if shadow is None or isinstance(shadow, (list, tuple)):
        return shadow_of(result)
    if op == "getattr":
        return getattr(shadow, *args)
    target = lookup(op).target
    return getattr(shadow, op[1:])(*args, **options) if target is None else target(shadow, *args, **options)


def extended_by(shadow: Any, other: Any, things: Any) -> Any:
    """Extend the shadow of a list, after the list was, by the shadows of the new items."""
    shadow += _shadows_in(other, things[len(shadow) :])
    return shadow


def updated_by(shadow: Any, *others: Any) -> None:
    """Update the shadow of a dict as `update` updated the dict; keywords come last among the others."""
    for other in others:
        if not isinstance(other, dict):
            raise DerivativeError("the gradient goes through a dict that `update` gets pairs for: give it a dict")
        shadow.update(other)


def put_parts(shadow: Any, index: Any, other: Any, things: Any) -> None:
    """Put shadows where items were put: at an index, or in place of a slice."""
    if isinstance(index, slice) and is_blank(other):
        start, stop, step = index.indices(len(shadow))
        grown = len(things) - len(shadow)
        other = _shadows_in(other, things[index if step != 1 else slice(start, max(start, stop) + grown)])
    shadow[index] = list(parts_of(other)) if isinstance(index, slice) else other


def arranged(shadow: Any) -> Any:
    """A copy of a container of shadows, at all depths, with the same shadows: its structure as it is now."""
    return resolve(_arranged, shadow)


def _arranged(shadow: Any) -> Any:
    if type(shadow) in (dict, tuple):
        return parts_within(shadow)
    if isinstance(shadow, (*ARRAYS, itertools.repeat)) or not isinstance(shadow, (list, ValuesView, Iterator)):
        return shadow
    return Within(zip(shadow), list)


def sorted_like(parts: Any, things: Any, reverse: Any = False) -> Any:
    """The shadows of the items of a list in the order that sorts the items."""
    things, parts = list(things), list(itertools.islice(parts, len(things)))
    return [parts[at] for at in sorted(range(len(things)), key=things.__getitem__, reverse=reverse)]


def sort_like(parts: Any, things: Any, reverse: Any = False) -> None:
    """Sort the shadow of a list that is about to be sorted."""
    parts[:] = sorted_like(parts, things, reverse)


def ordered_like(parts: Any, before: Any, after: Any, in_place: Any = False) -> Any:
    """The shadows of the items of a list that was reordered; each item is found again by identity or value."""
    places: dict[Any, deque[int]] = {}
    for at, thing in enumerate(before):
        places.setdefault(_item_key(thing), deque()).append(at)
    shadows = list(itertools.islice(parts, len(after)))
    try:
        found = [shadows[places[_item_key(thing)].popleft()] for thing in after]
    except LookupError:
        raise DerivativeError("the gradient goes through a list that is sorted by unknown items") from None
    if in_place:
        parts[:] = found
    return found


def _item_key(thing: Any) -> Any:
    """A key that identifies an item: equal numbers keep their order."""
    return thing if isinstance(thing, (int, float, np.generic)) else id(thing)


def part_like(shadow: Any, things: Any, thing: Any) -> Any:
    """The shadow of the first item that equals a thing."""
    things = list(things)
    return _shadows_in(shadow, things)[things.index(thing)]


def popped_item(shadow: Any) -> Any:
    """Take the next key and value out of the shadow of a dict; returns the shadows of both."""
    if is_blank(shadow):
        return shadow, shadow
    key, part = shadow.popitem()
    return next(iter(parts_of({key: part}))), part


def put_part(shadow: Any, index: Any, part: Any) -> None:
    """Put the shadow of an item where the item was put; an array keeps its own shadow."""
    if isinstance(shadow, Blank):
        shadow.take(1.0)
    elif shadow is not None and not isinstance(shadow, ARRAYS):
        shadow[index] = part


declare("shadow_after", effect=WRITE, target=shadow_after, raises=True, traits=[GRADIENT])
declare("view_of", effect=VIEW, target=view_of, raises=True, traits=[GRADIENT, SHARES_FIRST])
declare("arranged", like_first, effect=VIEW, target=arranged, traits=[GRADIENT])
declare("sorted_like", ObjectType("list"), effect=VIEW, target=sorted_like, raises=True, traits=[GRADIENT])
declare("sort_like", NONE, effect=WRITE, target=sort_like, raises=True, traits=[GRADIENT])
declare("ordered_like", ObjectType("list"), effect=WRITE, target=ordered_like, raises=True, traits=[GRADIENT])
declare("made_of", effect=VIEW, target=made_of, raises=True, traits=[GRADIENT])
declare("extended_by", like_first, effect=WRITE, target=extended_by, raises=True, traits=[GRADIENT])
declare("updated_by", NONE, effect=WRITE, target=updated_by, raises=True, traits=[GRADIENT])
declare("put_parts", NONE, effect=WRITE, target=put_parts, raises=True, traits=[GRADIENT])
declare("part_like", effect=VIEW, target=part_like, raises=True, traits=[GRADIENT])
declare("popped_item", effect=WRITE, target=popped_item, raises=True, traits=[GRADIENT])
declare("put_part", NONE, effect=WRITE, target=put_part, raises=True, traits=[GRADIENT])
