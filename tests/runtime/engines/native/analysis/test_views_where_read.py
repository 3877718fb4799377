"""Views that are read in branches, too, are no objects; what is read, written and raised is the same."""

import numpy as np
import pytest

from tests.runtime.engines.native.analysis.test_loops_over_arrays import (
    RANDOM,
    check_each_exit,
    check_matrices,
    check_strange,
)
from tests.runtime.engines.native.emit.test_products import native


def rows(a):
    total = 0
    for row in a:
        if row[0] > 0.5:
            total += row[1]
            if row[1] > 1:
                total -= row[-1]
        else:
            total += row.sum()
    return total


def indexed(a):
    total = 0
    for i in range(len(a)):
        row = a[i]
        if row[0] < row[1]:
            total += row[1]
        elif row[-1] > 1:
            total -= row[0]
        total += row[0]
    return total


def written(a):
    """Views made again see what has been written meanwhile, by them and past them."""
    for i in range(1, len(a)):
        row, before = a[i], a[i - 1]
        if row[0] > before[0]:
            row[0] = before[1] + 1
            a[i - 1, 0] += 1
            if before[0] > 2:
                before[-1] = row[0]
    return a


def paired(a):
    total = 0
    for p, q in zip(a, a[::-1]):
        if p[0] < q[0]:
            total += p[1]
        if q[1] < 1:
            continue
        total -= q[1]
    return total


def columns(a):
    found = np.zeros(a.shape[1])
    for j in range(a.shape[1]):
        column = a[:, j]
        if column[0] > 1:
            found[j] = column.max()
        elif column[-1] > 1:
            found[j] = column[0]
    return found


def beyond(a):
    """The last row is out of bounds, also if nothing reads it."""
    total = 0
    for i in range(len(a) + 1):
        row = a[i]
        if total > 3:
            total += row[0]
    return total


def too_far(a):
    total = 0
    for row in a:
        if row[0] > 1:
            total += row[len(a)]
    return total


def rebound(a):
    total, row = 0, a[0]
    for i in range(len(a)):
        if row[0] > 0.5:
            row = a[i]
        total += row[1]
    return total, row


def kept(a):
    best, last = None, None
    for row in a:
        if best is None or row[0] > best[0]:
            best = row
        if row is last:
            return last
        last = row
    return best, last


def around(a):
    total = 0
    for row in a:
        if row[0] > 0.5:
            for j in range(len(row)):
                total += row[j] * j
    return total


def swapped(a):
    """The array of the view is another one by the time that it is read."""
    total, b = 0, a + 1
    for i in range(len(a)):
        row = a[i]
        a, b = b, a
        if row[0] > 1:
            total += row[1]
    return total


def reshaped(a):
    total = 0
    for i in range(2):
        row = a[i]
        a.shape = a.shape[::-1]
        if row[0] > 0.5:
            total += row[-1]
    return total


NO_OBJECTS = [rows, indexed, written, paired, columns]
FUNCTIONS = [*NO_OBJECTS, beyond, too_far, rebound, kept, around, swapped, reshaped]


@pytest.mark.parametrize("dtype", "df?iB")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_are_those_of_objects(function, dtype):
    check_matrices(function, dtype)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_strange_numbers_and_shapes(function):
    check_strange(function)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_python_goes_on_from_each_node(function, fuel):
    check_each_exit(function, fuel)


@pytest.mark.parametrize("function", NO_OBJECTS)
def test_views_are_no_objects(function):
    staged, x = native(function), RANDOM.random((9, 4)) * 2
    for _ in range(3):
        staged(x.copy())
    assert "left to Python" not in str(staged.explain(x))
    assert "PyIter_Next" not in staged.traces[0].executable.native.llvm
