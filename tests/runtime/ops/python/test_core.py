"""Structures and constructs of Python; and what holds for all ops."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import autograph.runtime.ops
from autograph.runtime.graph import types
from autograph.runtime.graph.opdef import FUNCTIONS, OPS, ORDERED, PURE, VIEW, WRITE
from autograph.runtime.graph.types import ANY, FLOAT, INT, STR, MaybeUnbound, ObjectType, TensorType, array, scalar

pytestmark = pytest.mark.once

X = array(float, 3, None)
PAIR = ObjectType("tuple", (INT, X))


@pytest.mark.parametrize(
    ("x", "n", "expected"),
    [
        (PAIR, 2, [INT, X]),
        (X, 3, [array(float, None)] * 3),
        (array(float, 2), 2, [scalar(float)] * 2),
        (ObjectType("list", (INT,)), 2, [INT, INT]),
        (ObjectType("EighResult", (X, X)), 2, [X, X]),
        (ObjectType("list"), 2, [ANY, ANY]),
        (ANY, 3, [ANY] * 3),
        (STR, 2, [STR, STR]),
        ((INT, "a"), 2, [INT, STR]),
    ],
)
def test_unpack(x: Any, n: int, expected: Any) -> None:
    assert OPS["unpack"].infer(x, n) == expected


@pytest.mark.parametrize(
    ("structure", "expected"),
    [
        ((INT, (X, "a")), ObjectType("tuple", (INT, ObjectType("tuple", (X, STR))))),
        ([INT, X], ObjectType("list")),         # whose items may become others
        ({"a": INT}, ObjectType("dict")),
        ((), ObjectType("tuple")),
        (INT, INT),
        (1.5, FLOAT),
    ],
)
def test_build(structure: Any, expected: Any) -> None:
    assert OPS["build"].infer(structure) == expected


def test_bound() -> None:
    assert OPS["bound"].infer(MaybeUnbound(X), name="x") == X
    assert OPS["bound"].infer(X, name="x") == X


def test_an_f_string_is_a_string() -> None:
    assert OPS["fstring"].infer("n = ", (INT, "", ">{}")) == STR


JUNK = [INT, FLOAT, ANY, STR, X, PAIR, None, 0, -1, "text", (1, X), [INT, None], slice(INT), object(), MaybeUnbound(X),
        array("U3", 2), types.inexact(X), array(float), np.ones(2), Ellipsis, {"a": X}]  # fmt: skip

# Not operators and constructs, which have as many arguments as they must.
CALLED_BY_USERS = [op for op in OPS.values() if "." in op.name]


def test_no_rule_raises() -> None:
    calls = [(), *itertools.product(JUNK, repeat=1), *itertools.product(JUNK, repeat=2)]
    calls += [(X, *pair) for pair in itertools.product(JUNK[:12], repeat=2)]
    for op, args in itertools.product(CALLED_BY_USERS, calls):
        found = op.infer(*args)
        assert isinstance(found, (TensorType, ObjectType)), (op.name, args, found)


def test_rules_bear_unknown_keywords() -> None:
    for op in CALLED_BY_USERS:
        assert isinstance(op.infer(X, no_such_keyword=1), (TensorType, ObjectType)), op.name


def test_declarations_are_sound() -> None:
    for name, op in OPS.items():
        assert op.name == name and op.effect in (PURE, VIEW, WRITE, ORDERED)
        if op.target is not None:
            assert OPS[FUNCTIONS[op.target]].target is op.target or OPS[FUNCTIONS[op.target]].target == op.target


def test_hidden_generators_have_their_methods_declared_as_functions() -> None:
    assert FUNCTIONS[np.random.normal] == "np.random.normal"
    assert all(OPS[name].effect == ORDERED for name in OPS if name.startswith(("np.random.", "random.", "time.")))


__all__ = ["autograph"]
