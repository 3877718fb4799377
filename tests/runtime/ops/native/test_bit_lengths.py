"""An op that is said to shorten a positive integer does so, whatever that is."""

from __future__ import annotations

import pytest

import autograph.runtime.ops  # noqa: F401  (declares them)
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.traits import SHORTENS
from autograph.runtime.graph.types import INT
from autograph.runtime.ops.python.operators import python_function

POSITIVE = [*range(1, 130), 2**62, 2**62 + 1, 2**63 - 1]
X, Y = Value(INT), Value(INT)


def less(value, by):
    return Node("sub", (value, by)).add_output(INT)


@pytest.mark.parametrize("op", ("rshift", "floordiv"))
def test_what_shortens_by_a_constant(op):
    for by in range(4):
        shortens = SHORTENS[op]((X, by), X)
        assert shortens == (by >= (1 if op == "rshift" else 2))
        assert not shortens or all(python_function(op)(x, by).bit_length() < x.bit_length() for x in POSITIVE)
    assert not SHORTENS[op]((Y, 1), X) and not SHORTENS[op]((X, Y), X) and not SHORTENS[op]((X, 2.0), X)


def test_clearing_the_lowest_bit():
    rule = SHORTENS["and"]
    assert rule((X, less(X, 1)), X) and rule((less(X, 1), X), X)
    assert all((x & x - 1).bit_count() < x.bit_count() for x in POSITIVE)


@pytest.mark.parametrize("args", [(X, less(X, 2)), (X, less(Y, 1)), (Y, less(X, 1)), (X, Y), (X, 1)])
def test_what_does_not_clear_it(args):
    assert not SHORTENS["and"](args, X)


def test_what_has_no_rule():
    assert set(SHORTENS) == {"rshift", "floordiv", "and"}
