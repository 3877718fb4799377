"""Constructs of Python: blocks, structures, names, f-strings, calls of any function."""

from __future__ import annotations

from typing import Any

from autograph.runtime.graph.opdef import ORDERED, PURE, VIEW, declare
from autograph.runtime.graph.traits import (
    GIVES_ITEM,
    INTERVAL,
    LOOP,
    MAKES_OBJECTS,
    MOVES,
    ON_CONTAINER,
    READS_ITEMS,
    READS_VIEWS,
    SHALLOW,
    STATEMENT,
)
from autograph.runtime.graph.types import NONE, STR, Type
from autograph.runtime.ops.inference.containers import build_type, iterated, list_of, tuple_items
from autograph.runtime.ops.inference.shape_rules import type_of_arg
from autograph.runtime.ops.native import intervals
from autograph.runtime.ops.native.vectors import unpacked


def unpack(x: Any, n: int, star: int | None = None) -> list[Type]:
    """The types for `a, b = x`; with `star=1`, for `a, *b = x`."""
    found = type_of_arg(x)
    if star is not None:
        types = [iterated(found)] * n
        types[star] = list_of(iterated(found))
        return types
    items = tuple_items(found)
    if items is not None and len(items) == n:
        return list(items)
    return [iterated(found)] * n


def bound(x: Any, name: str = "", free: bool = False) -> Type:
    """The type of a variable that must be bound; `free` if a function reads it that does not own it."""
    return type_of_arg(x)


# The effects of blocks are those of their nodes; the statement itself may run forever, raise, or consume an iterator.
declare("if", effect=ORDERED, raises=True)
declare("while", effect=ORDERED, raises=True, traits=[LOOP, STATEMENT])
declare("for", effect=ORDERED, raises=True, traits=[LOOP, STATEMENT])
declare("raise", effect=ORDERED, raises=True, traits=[STATEMENT])

# A new object each time, which refers to its parts.
declare("build", build_type, effect=VIEW, traits=[MOVES, (ON_CONTAINER, "build")])
# A new instance of a class with these attributes; no code of the class runs.
declare("new", effect=ORDERED, traits=[STATEMENT, MAKES_OBJECTS])
declare(
    "unpack", unpack, effect=VIEW, raises=True, lower=unpacked,
    traits=[READS_VIEWS, SHALLOW, MOVES, GIVES_ITEM, READS_ITEMS, STATEMENT, (ON_CONTAINER, "unpack")],
)  # fmt: skip
declare("bound", bound, effect=VIEW, raises=True, traits=[MOVES, STATEMENT, (INTERVAL, intervals.same)])
declare("fstring", STR, effect=PURE, raises=True)
declare("call", effect=ORDERED, raises=True)
# `with`: the nodes between the two, in one block, run within the context manager of the first.
declare("enter", NONE, effect=ORDERED, raises=True, traits=[STATEMENT])
declare("exit", NONE, effect=ORDERED, raises=True, traits=[STATEMENT])
