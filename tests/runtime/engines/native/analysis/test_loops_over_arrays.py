"""Loops over the rows of arrays: machine code makes no objects for the rows, and gives what Python's iterators give."""

import numpy as np
import pytest

from tests.runtime.engines.native.emit.test_products import native
from tests.runtime.engines.native.kernels.test_fusion import outcome

RANDOM = np.random.default_rng(5)


def same(staged, function, x):
    one, other = x.copy("K"), x.copy("K")
    assert outcome(staged, one) == outcome(function, other)
    assert one.tobytes() == other.tobytes() and one.shape == other.shape


def totals(a):
    total = 0
    for row in a:
        total += row[0] * row.sum() - row[-1]
    return total


def numbered(a):
    found, best = np.zeros(len(a)), -1
    for i, row in enumerate(a):
        largest = row[1:].max()
        if row.min() < largest - 1:
            found[i], best = largest, i
    return found, best


def pairs(a):
    total = 0
    for p, q in zip(a, a[::-1]):
        total += np.sqrt(((p - q) ** 2).sum())
        if total > 40:
            break
    return total


def unpacked(a):
    total = 0
    for x, y, *_ in a:
        total = total + x * y
    for x, y in a[:, :2]:
        total = total - x / y
    return total


def shifted(a):
    """Rows see what the loop writes."""
    for i, row in enumerate(a[:-1]):
        a[i + 1] += row * 0.5
        a[i, 0] = row[1] + 1
    return a


def early(a):
    for i, row in enumerate(a):
        if row[0] > 0.5:
            return i, row[1]
    return None


def too_far(a):
    total = 0
    for row in a:
        total += row[0] + row[len(a)]
    return total


def kept(a):
    found, last = [], None
    for i, row in enumerate(a):
        found.append(row)
        if last is not None and last[0] > row[0]:
            found.append(i)
        last = row
    return found, row


def nested(a):
    total = 0
    for row in a:
        for i, x in enumerate(row):
            total += x * i
    for x, y in zip(a[0], a[1]):
        total -= x * y
    return total


def reshaped(a):
    count = 0
    for row in a:
        count += row[0]
        a.shape = a.shape[::-1]
    return count


FUNCTIONS = [totals, numbered, pairs, unpacked, shifted, early, too_far, kept, nested, reshaped]
SHAPES = [(5, 4), (1, 2), (2, 7), (3, 3)]


def check_matrices(function, dtype):
    """Compare the outcomes for matrices of several shapes, in both orders, and reversed."""
    staged = native(function)
    for shape in SHAPES * 2:
        x = (RANDOM.random(shape) * 4).astype(dtype)
        for make in (x.copy, lambda x=x: np.asfortranarray(x).copy(order="K"), lambda x=x: x[::-1, ::-1].copy()[::-1]):
            same(staged, function, make())


def check_strange(function):
    """Compare the outcomes without rows, with numbers that NumPy warns of, and of another rank."""
    staged = native(function)
    strange = np.array([[0.0, 0, 1], [1e308, 1e308, np.inf], [np.nan, -0.0, 1e308]])
    for x in (np.zeros((0, 3)), strange, np.ones((3, 2, 2))):
        for _ in range(2):
            same(staged, function, x)


def check_each_exit(function, fuel):
    """Compare the outcomes if Python goes on from each node."""
    staged, x = native(function), RANDOM.random((4, 3)) * 1.5 + 0.25
    for nodes in range(60):
        fuel.value = nodes
        same(staged, function, x)
    fuel.value = -1
    same(staged, function, x)


@pytest.mark.parametrize("dtype", "df?iB")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_are_those_of_iterators(function, dtype):
    check_matrices(function, dtype)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_without_rows_and_with_numbers_that_numpy_warns_of(function):
    check_strange(function)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_python_goes_on_from_each_node(function, fuel):
    check_each_exit(function, fuel)


@pytest.mark.parametrize("function", [totals, numbered, pairs, unpacked])
def test_rows_are_no_objects(function):
    staged, x = native(function), RANDOM.random((9, 4)) + 0.25
    for _ in range(3):
        staged(x)
    assert "left to Python" not in str(staged.explain(x))
    assert "PyIter_Next" not in staged.traces[0].executable.native.llvm
