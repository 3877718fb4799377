"""What is told of the result of an op on integers is true of all integers between those bounds."""

from __future__ import annotations

import itertools
import operator

import pytest

import autograph.runtime.ops  # noqa: F401  (declares them)
from autograph.runtime.graph.opdef import OPS
from autograph.runtime.graph.traits import COMPARISON, INTERVAL, NARROWS
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
