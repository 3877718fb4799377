"""Objects that a loop made before its tracing was undone are made again: no node uses a value of a dropped node.

A loop over plain values first runs as Python. If that is undone, its nodes are dropped. A container or object from
before the loop, of which a dropped node had made the graph's own, lives on, and may be used in the loop or after it.
"""

import numpy as np
import pytest

import autograph as ag
from tests.outcomes import described


class Cell:
    def __init__(self, y):
        self.y = y


def is_kept_after_the_loop(x, n):
    cell, kept = Cell(x), [None, None]
    for _ in range(20):
        kept[n] = cell
        x = x + 1.0
    return kept, cell, x


def is_in_a_tuple(x, n):
    pair, kept = (Cell(x), [x]), [None, None]
    for _ in range(20):
        kept[n] = pair
        x = x + 1.0
    return kept, pair, x


def is_kept_again_after_the_loop(x, n):
    cell, kept = Cell(x), [None, None]
    for i in range(20):
        kept[n] = cell
        x = x + 1.0
        if np.sum(x) > 1000:
            raise ValueError(i)
    kept[n - 1] = cell
    return kept, x


def is_kept_before_an_error(x, n):
    cell, kept = Cell(x), [None, None]
    for _ in range(20):
        kept[n] = cell
        x = x + 1.0
    raise ValueError(kept[n].y, x)


def is_kept_unless_the_loop_breaks(x, n):
    cell, kept = Cell(x), [None, None]
    for _ in range(8):
        kept[n] = cell
        if np.sum(x) > 9:
            break
        x = x + 1.0
    else:
        kept[n - 1] = cell
    return kept, cell, x


def is_kept_by_the_test(x, n):
    cell, kept = Cell(x), [None, None]

    def goes_on(i):
        kept[n] = cell
        return i < 5

    i = n
    while goes_on(i):
        i = i + 1
    return kept, cell


def is_kept_by_nested_loops(x, n):
    cell, kept = Cell([x, 0.0]), {}
    for _ in range(12):
        for _ in range(12):
            kept[n] = cell
            x = x * 1.01
        kept[n + 1] = cell.y
    return kept, cell, x


def is_changed_although_the_loop_keeps_another(x, n):
    cell, kept = Cell(x), [None, None]
    i = 0
    while i < 6:
        cell.y = cell.y + 1.0
        if i > 3:
            kept[n] = i
        if np.sum(x) > i * 100:
            x = x + 1.0
        i += 1
    cell.y = 3.0
    return kept, cell, x


FUNCTIONS = [
    is_kept_after_the_loop,
    is_in_a_tuple,
    is_kept_again_after_the_loop,
    is_kept_before_an_error,
    is_kept_unless_the_loop_breaks,
    is_kept_by_the_test,
    is_kept_by_nested_loops,
    is_changed_although_the_loop_keeps_another,
]


def reported(function, *args):
    try:
        return described(function(*args))
    except (ValueError, IndexError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_what_undone_nodes_have_made_is_made_again(function):
    staged = ag.function(function)
    for n in (0, 1, 0):
        assert reported(staged, np.ones(2), n) == reported(function, np.ones(2), n)


def test_derivatives_go_through_what_is_made_again():
    def keep(p, n):
        cell, kept = Cell([p]), [None, None]
        for _ in range(20):
            kept[n] = cell.y
            p = p * 1.1
        kept[n][0] = kept[n][0] * p
        return kept[n][0] * p

    assert ag.grad(keep)(2.0, 0) == pytest.approx(3 * keep(2.0, 0) / 2.0)
    with pytest.raises(ValueError, match=r"^\(2\.0, "):
        ag.grad(is_kept_before_an_error)(2.0, 0)
