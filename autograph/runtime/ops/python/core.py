"""Ops that are constructs of Python rather than computations: blocks, structures, names, f-strings, any calls."""

from __future__ import annotations

from typing import Any

from autograph.runtime.graph.opdef import ORDERED, PURE, VIEW, declare
from autograph.runtime.graph.traits import GIVES_ITEM, INTERVAL, LOOP, MOVES, READS_ITEMS, SHALLOW, STATEMENT, mark
from autograph.runtime.graph.types import NONE, STR, Type
from autograph.runtime.ops.inference.containers import build_type, iterated, list_of, tuple_items
from autograph.runtime.ops.inference.declare import always
from autograph.runtime.ops.inference.shape_rules import type_of_arg
from autograph.runtime.ops.native import intervals


def unpack(x: Any, n: int, star: int | None = None) -> list[Type]:
    """`a, b = x`; with `star=1`, `a, *b = x`."""
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
    """`x`, which is not unbound, or else this raises; `free`: it is read by a function that it does not belong to."""
    return type_of_arg(x)


def fstring(*parts: Any) -> Type:
    return STR


# The effects of blocks are those of their nodes; the statement itself may run forever, raise, or consume an iterator.
declare("if", effect=ORDERED, raises=True)
declare("while", effect=ORDERED, raises=True, traits=[LOOP])
declare("for", effect=ORDERED, raises=True, traits=[LOOP])
declare("raise", effect=ORDERED, raises=True)

# A new object each time, which refers to what it is built of.
declare("build", build_type, effect=VIEW, traits=[MOVES])
declare("unpack", unpack, effect=VIEW, raises=True, traits=[SHALLOW, MOVES])
declare("bound", bound, effect=VIEW, raises=True, traits=[MOVES])
declare("fstring", fstring, effect=PURE, raises=True)
declare("call", effect=ORDERED, raises=True)

# `with`: what stands between the two, in one block, runs within the context manager that the first names.
declare("enter", always(NONE), effect=ORDERED, raises=True)
declare("exit", always(NONE), effect=ORDERED, raises=True)

mark("while for raise unpack bound enter exit", STATEMENT)
INTERVAL["bound"] = intervals.same

mark("unpack", GIVES_ITEM, READS_ITEMS)
