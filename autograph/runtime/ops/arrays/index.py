"""Indexing: `x[i]`, `x[i] = v`, `del x[i]`, for arrays and for Python's containers."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from autograph.runtime.graph.opdef import VIEW, WRITE, declare
from autograph.runtime.graph.traits import (
    ADDS_NO_ITEMS,
    GIVES_ITEM,
    GIVES_PARTS,
    HANDLES_ERRORS,
    KEEPS,
    LOOKS_UP,
    MAKES_VIEWS,
    MOVES,
    ON_CONTAINER,
    ON_LIST,
    OWN_VIEW,
    PART_OF_FIRST,
    READS_ITEMS,
    READS_VIEWS,
    STATEMENT,
    VIEW_OR_COPY,
)
from autograph.runtime.graph.types import ANY, NONE, ObjectType, Shape, TensorType, Type
from autograph.runtime.ops.gradients.data_movement import scatter_add
from autograph.runtime.ops.inference.containers import item_at
from autograph.runtime.ops.inference.infer import rule
from autograph.runtime.ops.inference.shape_rules import ELEMENTARY, Unknown, broadcast, is_type, type_of_arg
from autograph.runtime.ops.native.builtins import element, set_element

INTEGERS = "iu"


@dataclass(slots=True)
class _Indexed:
    """The shape of an indexed array, computed entry by entry.

    Attributes:
        shape: of the array.
        used: the number of its dimensions that have been handled.
        result: the dimensions of the result so far, without those of index arrays.
        arrays: the shapes of those. Where there are any, an integer is one of them, too.
        position: the place of their dimensions in the result: that of the first one if they are adjacent,
            else at the front.
        closed: whether something else has come after the last of them.
        integers: whether there have been integers only.
    """

    shape: Shape
    used: int = 0
    result: list[int | None] = field(default_factory=list)
    arrays: list[Shape] = field(default_factory=list)
    fancy: bool = False
    position: int | None = None
    closed: bool = False
    integers: bool = True

    def take(self) -> int | None:
        self.used += 1
        return self.shape[self.used - 1]

    def add(self, dims: Sequence[int | None]) -> None:
        """Add dimensions that come from no index array."""
        self.result += dims
        self.integers = False
        self.closed = self.position is not None

    def add_array(self, shape: Shape, consumed: int, fancy: bool = True) -> None:
        for _ in range(consumed):
            self.take()
        self.fancy = self.fancy or fancy
        if self.position is None:
            self.position = len(self.result)
        elif self.closed:
            self.position = 0
        self.arrays.append(shape)

    def finish(self) -> Shape:
        rest = self.shape[self.used :]
        if not self.fancy:
            return (*self.result, *rest)
        at = self.position or 0
        return (*self.result[:at], *broadcast(*self.arrays), *self.result[at:], *rest)


def index_shape(shape: Shape, index: Any) -> tuple[Shape, bool]:
    """The shape of `x[index]`, and whether it is an element: whether the index has one integer for each axis."""
    entries = index if type(index) is tuple else (index,)
    if type(index) is ObjectType and index.name == "tuple":
        entries = index.items
    entries = tuple(map(_simplified, entries))
    state = _Indexed(shape)
    consumed = sum(map(_consumes, entries))
    ellipses = sum(1 for entry in entries if entry is Ellipsis)
    if consumed > len(shape) or ellipses > 1:
        raise Unknown
    for entry in entries:
        if entry is Ellipsis:
            rest = len(shape) - consumed
            state.add([state.take() for _ in range(rest)])
        else:
            _add_entry(state, entry)
    return state.finish(), state.integers and not state.fancy and state.used == len(shape)


def _add_entry(state: _Indexed, entry: Any) -> None:
    if entry is None:
        state.add([1])
    elif isinstance(entry, slice):
        state.add([slice_length(state.take(), entry)])
    elif entry is int:
        state.add_array((), 1, fancy=False)
    else:
        array, count = entry
        if array.dtype.kind == "b":
            state.add_array((count,), array.ndim)
        else:
            state.add_array(array.shape, 1)


def _simplified(entry: Any) -> Any:
    """Normalize an entry of an index: None, Ellipsis, a slice, `int`, or the type of an index array and its count.

    The count of a boolean array, if it is known, is that of its true elements.
    """
    if entry is None or entry is Ellipsis or isinstance(entry, slice):
        return entry
    if type(entry) is int:
        return int
    if isinstance(entry, ObjectType) and entry.name in ("NoneType", "ellipsis", "slice"):
        return {"NoneType": None, "ellipsis": Ellipsis, "slice": slice(ANY)}[entry.name]
    if is_type(entry):
        return _simplified_type(entry)
    if isinstance(entry, (bool, np.bool_)):
        return TensorType(np.dtype(bool)), int(entry)
    if isinstance(entry, (list, tuple)):
        return _simplified_list(entry)
    if isinstance(entry, np.ndarray):
        return _simplified_type(TensorType(entry.dtype, entry.shape))      # its elements may yet change
    operator.index(entry)
    return int


def _simplified_type(entry: Any) -> Any:
    if isinstance(entry, ObjectType) and entry.name == "tuple" and entry.items:
        return _simplified_list(entry.items)
    if not isinstance(entry, TensorType) or entry.dtype.kind not in "biu":
        raise Unknown
    if entry.dtype.kind in INTEGERS and not entry.shape:
        return int
    return entry, None


def _simplified_list(entry: Sequence[Any]) -> Any:
    """A list of constants or values, which NumPy converts to an array."""
    if not entry:
        return TensorType(np.dtype(np.intp), (0,)), None
    parts = [_simplified(part) for part in entry]
    if all(part is int for part in parts):
        return TensorType(np.dtype(np.intp), (len(parts),)), None
    if any(part is int or not isinstance(part, tuple) for part in parts):
        raise Unknown
    inner, counts = [part[0] for part in parts], [part[1] for part in parts]
    shapes = {part.shape for part in inner}
    if len({part.dtype.kind == "b" for part in inner}) > 1 or len(shapes) > 1:
        raise Unknown
    count = None if None in counts else sum(counts)
    return TensorType(inner[0].dtype, (len(parts), *inner[0].shape)), count


def _consumes(entry: Any) -> int:
    """The number of dimensions that an entry indexes."""
    if entry is None or entry is Ellipsis:
        return 0
    if isinstance(entry, tuple) and entry[0].dtype.kind == "b":
        return int(entry[0].ndim)
    return 1


def slice_length(dim: int | None, entry: slice) -> int | None:
    """The number of items that a slice selects from a dimension."""
    start, stop, step = entry.start, entry.stop, entry.step
    if start is None and stop is None and step is None:
        return dim
    if any(map(is_type, (start, stop, step))):
        return None
    if dim is None:
        return dim if not (start in (None, 0) and step in (None, 1, -1) and stop is None) else None
    return len(range(*entry.indices(dim)))


def getitem(x: Any, index: Any) -> Type:
    """`x[index]`."""
    if not isinstance(x, TensorType):
        x = type_of_arg(x)
    if isinstance(x, ObjectType):
        return item_at(x, index)
    if x.kind == "python" or x.dtype.kind not in ELEMENTARY:
        return _strange_item(x, index)
    shape, element = index_shape(x.shape, index)
    return TensorType(x.dtype, shape, "scalar" if element else "array")


def _strange_item(x: TensorType, index: Any) -> Type:
    """An item of an array of strings, structures or objects; its scalars may have narrower types."""
    if x.kind != "array" or x.dtype.kind not in "USO" or isinstance(index, str):
        raise Unknown
    shape, element = index_shape(x.shape, index)
    return ANY if element else TensorType(x.dtype, shape)


declare(
    "getitem", rule(getitem), effect=VIEW, template="{}[{}]", raises=True, fold=operator.getitem,
    vjp=lambda g, out, x, index: scatter_add(x, index, g), lower=element,
    traits=[
        VIEW_OR_COPY, MOVES, GIVES_ITEM, GIVES_PARTS, READS_ITEMS, OWN_VIEW, LOOKS_UP, PART_OF_FIRST, MAKES_VIEWS,
        (ON_LIST, "load"), (ON_CONTAINER, "item"),
    ],
)  # fmt: skip
declare(
    "setitem", NONE, effect=WRITE, template="{}[{}] = {}", raises=True, lower=set_element,
    traits=[OWN_VIEW, LOOKS_UP, KEEPS, STATEMENT, READS_VIEWS, (ON_LIST, "store"), (ON_CONTAINER, "set_item")],
)  # fmt: skip


def add_item(thing: Any, key: Any, more: Any, first: Any) -> None:
    """Add to an item of a dict, or set it if it is not there."""
    try:
        thing[key] += more
    except KeyError:
        thing[key] = first


declare(
    "add_item", NONE, effect=WRITE, target=add_item, raises=True,
    traits=[HANDLES_ERRORS, (ON_CONTAINER, "add_item")],
)  # fmt: skip
declare(
    "delitem", NONE, effect=WRITE, template="del {}[{}]", raises=True,
    traits=[OWN_VIEW, LOOKS_UP, ADDS_NO_ITEMS, STATEMENT, (ON_CONTAINER, "delete")],
)  # fmt: skip
