"""Indexing: the rule of `x[index]` against NumPy, for any index, and against Python's containers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograph.runtime.graph import types
from autograph.runtime.graph.opdef import OPS
from autograph.runtime.graph.types import ANY, FLOAT, INT, STR, ObjectType, array, inexact, scalar
from tests.runtime.ops.calls import MODES, Call, holds

pytestmark = pytest.mark.once

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@st.composite
def integer_arrays(draw: st.DrawFn, dim: int) -> Any:
    """Integers for an axis of `dim` elements; the shapes fit each other."""
    shape = draw(st.sampled_from([(), (3,), (1,), (2, 3), (2, 1)]))
    found = draw(st.integers(0, 99)) + np.arange(int(np.prod(shape))).reshape(shape)
    found = (found % max(dim, 1)).astype(draw(st.sampled_from(["i8", "u1"])))
    return found.tolist() if draw(st.booleans()) else found


@st.composite
def masks(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """Booleans, three of them true or none, so that they fit the arrays of integers."""
    found = np.zeros(shape, bool)
    found.reshape(-1)[: draw(st.sampled_from([0, 1, 3]))] = True
    return found.tolist() if draw(st.booleans()) else found


def slices(dim: int) -> st.SearchStrategy[slice]:
    bounds = st.none() | st.integers(-dim - 1, dim + 1)
    return st.builds(slice, bounds, bounds, st.sampled_from([None, None, 1, 2, -1, -3]))


@st.composite
def indices(draw: st.DrawFn, shape: tuple[int, ...]) -> Any:
    """An index of arrays of a shape, that NumPy may yet refuse."""
    entries: list[Any] = []
    at = 0
    while at < len(shape) and draw(st.integers(0, 5)):
        kind = draw(st.sampled_from(["integer", "slice", "slice", "array", "mask", "new", "all"]))
        if kind == "integer":
            entries.append(draw(st.integers(-shape[at], shape[at] - 1)) if shape[at] else 0)
        elif kind == "slice":
            entries.append(draw(slices(shape[at])))
        elif kind == "array":
            entries.append(draw(integer_arrays(shape[at])))
        elif kind == "mask":
            ndim = draw(st.integers(0, min(2, len(shape) - at)))
            entries.append(draw(masks(shape[at : at + ndim])))
            at += ndim - 1
        elif kind == "new":
            entries.append(None)
            at -= 1
        else:
            entries.append(slice(None))
        at += 1
    if draw(st.booleans()):
        entries.insert(draw(st.integers(0, len(entries))), Ellipsis)
    return entries[0] if len(entries) == 1 and draw(st.booleans()) else tuple(entries)


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_index(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    index = data.draw(indices(shape))
    call = Call("getitem", (np.ones(shape), index), {})
    try:
        result = call.run()
    except IndexError:
        return
    for mode, abstract in MODES.items():
        found = call.infer(abstract)
        assert holds(found, result), f"{mode}: {found}"
        if mode in ("known", "staged"):
            assert isinstance(found, types.TensorType) and found.exact
            assert found.kind == ("array" if isinstance(result, np.ndarray) else "scalar")


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_nothing_is_left_unknown_without_booleans(data: st.DataObject) -> None:
    shape = data.draw(shapes)
    index = data.draw(indices(shape).filter(lambda index: not re.search("True|False|bool", repr(index))))
    call = Call("getitem", (np.ones(shape), index), {})
    try:
        result = call.run()
    except IndexError:
        return
    assert call.infer(MODES["known"]) == types.type_of(result)


X = array(float, 3, 4)


@pytest.mark.parametrize(
    ("x", "index", "expected"),
    [
        (X, INT, array(float, 4)),
        (X, (INT, INT), scalar(float)),
        (X, slice(None, INT), array(float, None, 4)),
        (X, (slice(None), None), array(float, 3, 1, 4)),
        (X, slice(1, None), array(float, 2, 4)),
        (array(float, None, 4), slice(None), array(float, None, 4)),
        (array(float, None, 4), slice(None, None, -1), array(float, None, 4)),
        (array(float, None, 4), slice(1, None), array(float, None, 4)),
        (X, array(bool, 3, 4), array(float, None)),
        (X, types.BOOL, array(float, None, 3, 4)),
        (X, array(int, 5, 6), array(float, 5, 6, 4)),
        (X, array(int), array(float, 4)),
        (X, [INT, INT], array(float, 2, 4)),
        (X, ObjectType("tuple", (INT, INT)), scalar(float)),
        (X, ObjectType("slice"), array(float, None, 4)),
        (X, FLOAT, ANY),
        (X, ANY, ANY),
        (X, "name", ANY),
        (X, (INT, INT, INT), ANY),
        (inexact(X), INT, inexact(array(float, 4))),
        (inexact(X), (INT, INT), inexact(scalar(float))),
        (array(object, 3), 0, ANY),
        (array(object, 3), slice(1, None), array(object, 2)),
        (array("U5", 3), 0, ANY),                               # of U5, or fewer
        (scalar(float), (), scalar(float)),
        (INT, 0, ANY),
        (ObjectType("list", (INT,)), INT, INT),
        (ObjectType("tuple", (INT, FLOAT)), 1, FLOAT),
        (ObjectType("tuple", (INT, INT)), INT, INT),
        (ObjectType("tuple", (INT, FLOAT)), INT, inexact(FLOAT)),
        (ObjectType("tuple", (INT, FLOAT)), slice(1), ObjectType("tuple", (INT,))),
        (ObjectType("tuple"), 0, ANY),
        (ObjectType("EighResult", (X, INT)), 0, X),
        (STR, INT, STR),
        (ObjectType("dict"), "key", ANY),
        (ObjectType("dict", (STR, INT)), "key", INT),
        (ObjectType("range", (INT,)), INT, INT),
        (ObjectType("range", (INT,)), slice(1), ObjectType("range", (INT,))),
        (ANY, 0, ANY),
        ((1, "a"), 1, STR),
    ],
)  # fmt: skip
def test_types_of_items(x: Any, index: Any, expected: Any) -> None:
    assert OPS["getitem"].infer(x, index) == expected


def test_a_boolean_indexes_by_its_class_rather_than_its_value() -> None:
    """What is an integer or a boolean may index in two ways, which have nothing in common."""
    assert OPS["getitem"].infer(X, inexact(INT)) == ANY


def test_an_array_keeps_what_is_assigned_to_it() -> None:
    assert OPS["setitem"].effect == OPS["delitem"].effect == "write"
