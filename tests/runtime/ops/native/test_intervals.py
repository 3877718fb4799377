"""The intervals and bit lengths that rules give for ops on integers hold for all integers in question."""

from __future__ import annotations

import itertools
import operator

import pytest

import autograph.runtime.ops  # noqa: F401  (declares them)
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.opdef import OPS
from autograph.runtime.graph.traits import COMPARISON, INTERVAL, NARROWS, SHORTENS
from autograph.runtime.graph.types import INT
from autograph.runtime.ops.python.operators import UNARY, python_function

ENDS = -9, -8, -3, -1, 0, 1, 2, 7, 8
SPANS = [(low, high) for low in ENDS for high in ENDS if low <= high]
OF_ONE = {*UNARY, "abs", "int"}


def integers(spans):
    """All arguments within these bounds."""
    return itertools.product(*(range(low, high + 1) for low, high in spans))


@pytest.mark.parametrize("op", sorted(INTERVAL.keys() - {"bound"}))
def test_a_result_lies_within_its_interval(op):
    python = OPS[op].target or python_function(op)
    for spans in itertools.product(SPANS, repeat=1 if op in OF_ONE else 2):
        low, high = INTERVAL[op](*spans)
        for args in integers(spans):
            if not (op in ("floordiv", "mod") and args[1] == 0) and not (op in ("lshift", "rshift") and args[1] < 0):
                assert low <= python(*args) <= high, (spans, args)


@pytest.mark.parametrize("op", sorted(NARROWS))
def test_the_first_argument_lies_within_what_a_comparison_leaves(op):
    for spans in itertools.product(SPANS, repeat=2):
        low, high = NARROWS[op](*spans)
        assert all(low <= a <= high for a, b in integers(spans) if getattr(operator, op)(a, b)), spans


def test_all_comparisons_narrow():
    assert set(NARROWS) == COMPARISON


# Bit lengths ----------------------------------------------------------------------------------------------------------

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
