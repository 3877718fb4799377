"""Of several integers, that which the iteration before gives is compared last; the result shows nothing of it."""

import numpy as np
import pytest

from autograph.runtime.engines.native.analysis.if_conversion import late_last
from autograph.runtime.graph.graph import Block, Node, walk
from autograph.runtime.graph.operands import Number
from autograph.runtime.graph.types import scalar
from tests.runtime.engines.native.kernels.test_fusion import described, native


def edit_distance(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    table[:, 0], table[0] = np.arange(len(a) + 1), np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
    return table


def by_variables(a, b):
    left, total = 0, 0
    for x in a:
        left = max(left - 1, x, total)
        total += left - x
    return left, total


def of_floats(a, b):
    x = a / 7
    x[3] = np.nan
    for i in range(1, len(x)):
        x[i] = min(x[i - 1] + 0.0, x[i] - 2, x[0])
    return x


def of_objects(a, b):
    x, y = a.astype(np.int32), 1
    for i in range(1, len(x)):
        x[i] = max(x[i - 1], x[i], np.int32(y))
        y = min(5, y + 1, i)
    return x, y


@pytest.mark.parametrize("function", [edit_distance, by_variables, of_floats, of_objects])
def test_the_result_is_the_same(function):
    a, b = (np.random.default_rng(seed).integers(-3, 9, 40 + seed) for seed in (1, 2))
    staged = native(function)
    for _ in range(3):
        assert described(staged(a, b)) == described(function(a, b))


def order(function, op):
    """In which order the arguments of an op are compared, where they are integers."""
    staged, a = native(function), np.arange(40)
    staged(a, a)
    (trace,) = staged.traces
    blocks = [block for node in walk(trace.graph.block) for block in node.blocks]
    ((node, block),) = ((node, block) for block in blocks for node in block.nodes if node.op == op)
    operands = tuple(Number(scalar(np.int64), str(place)) for place in range(len(node.args)))
    return "".join(each.ref for each in late_last(node, block, operands))


def test_what_the_iteration_before_gives_comes_last():
    assert order(edit_distance, "min") == "021" and order(by_variables, "max") == "120"


def test_floats_stay_in_order():
    node = Node("min", (1.0, 2.0))
    operands = tuple(Number(scalar(float), str(place)) for place in range(2))
    assert late_last(node, Block(), operands) == operands
