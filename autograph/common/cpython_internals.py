"""What this library reads of CPython's own structures: one place for each layout, checked at import.

CPython gives each class a version tag when an attribute is looked up in it, and takes the tag away from the class and
from all its subclasses when an attribute or the bases change. No tag is given twice. So if the tag is the same, the
class gives what it gave, under all names.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

UNTAGGED: Sequence[int] = (0,)  # the version of a class that cannot be known
_TAG_OFFSET = 384  # of `tp_version_tag` in a `PyTypeObject`, from CPython 3.10 to 3.13, of 64 bits


def version_tag(kind: type) -> Sequence[int]:
    """The version tag of a class, as a view of one item; 0 if it has none at the moment.

    Who keeps the view must keep the class.
    """
    return _tag_at(kind) if _HAS_TAGS else UNTAGGED


def assign_version_tag(kind: type) -> None:
    """See to it that a class has a version tag, if CPython has any left for it."""
    with suppress(AttributeError):
        type.__getattribute__(kind, "ag_absent")


def _tag_at(kind: type) -> Sequence[int]:
    return memoryview((ctypes.c_uint32 * 1).from_address(id(kind) + _TAG_OFFSET)).cast("B").cast("I")


def _has_tags() -> bool:
    """Whether version tags are where they should be, and do what is said above."""
    is_gil_there: Any = getattr(sys, "_is_gil_enabled", lambda: True)
    if sys.implementation.name != "cpython" or ctypes.sizeof(ctypes.c_void_p) != 8 or not is_gil_there():
        return False
    if not (3, 10) <= sys.version_info[:2] <= (3, 13):
        return False
    base = type("Base", (), {"first": 1})
    kind, other = type("Kind", (base,), {}), type("Other", (), {})
    tags = _tag_at(kind)
    seen: list[int] = []
    changes: tuple[Callable[[], None], ...] = (
        lambda: None,
        lambda: setattr(base, "second", 2),
        lambda: delattr(base, "first"),
        lambda: setattr(kind, "third", 3),
        lambda: setattr(kind, "__bases__", (other,)),
    )
    for change in changes:
        change()
        if seen and tags[0] != 0:
            return False
        assign_version_tag(kind)
        seen.append(tags[0])
        assign_version_tag(kind)
        if seen[-1] == 0 or tags[0] != seen[-1]:
            return False
    return len(set(seen)) == len(seen)


_HAS_TAGS = _has_tags()
