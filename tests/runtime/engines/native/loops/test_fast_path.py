"""Iterations of which something is checked before: if the check fails, or fails for some, all is as in Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import autograph as ag
from tests.runtime.engines.native.emit.test_value_ranges import check, forgotten  # noqa: F401

FAR = 2**63 - 1


def shifted(x, start, stop, step, by):
    found = 0.0
    for i in range(start, stop, step):
        found += x[i + by]
        x[i] = i + by
    return found


@pytest.mark.parametrize("start, stop, step", [
    (0, 9, 1), (0, 10, 1), (1, 9, 1), (-1, 9, 1), (-12, 5, 1), (-20, -8, 1), (0, 12, 1), (3, 3, 1), (5, 2, 1),
    (8, -1, -1), (9, 0, -1), (12, 0, -1), (7, -12, -1), (-1, -11, -1), (0, 10, 3), (1, 20, 4), (9, -9, -4), (2, 10, 8),
])  # fmt: skip
def test_where_indices_come_out_of_bounds(start, stop, step):
    for by in (0, 1, -1, 3, 10, -10, 2**53, -(2**54), FAR, -FAR - 1):
        check(shifted, np.arange(10.0), start, stop, step, by)


def grid(a, rows, columns, i0, j0):
    total = 0.0
    for i in range(rows):
        for j in range(columns):
            a[i + i0, j] = a[i, j + j0] + a[i0, j0] - 1
            total += a[i, j]
    return total


@pytest.mark.parametrize("layout", ["C", "F"])
@pytest.mark.parametrize("rows, columns", [(2, 3), (3, 4), (4, 4), (3, 5), (0, 3), (3, 0)])
def test_two_indices(layout, rows, columns):
    for i0, j0 in itertools.product((0, 1, -1, -3, 3, 2), (0, 1, -1, -4, -5, 4)):
        check(grid, np.arange(12.0).reshape(3, 4).copy(layout), rows, columns, i0, j0)


def counted(xs, count, by):
    up = down = count
    for x in xs:
        if x > 0:
            up += 3
        else:
            down -= 2
            if x == 0:
                up -= 1
    for i in range(by):
        if xs[i] > 0:
            count += 1
    return up, down, count


@pytest.mark.parametrize("count", [0, 2**61, 2**61 + 1, 2**63 - 2, -(2**63) + 3, -(2**61) - 1, 2**64, 1.5, np.int64(3),
                                   np.int64(2**63 - 2), np.int32(2**31 - 3), True])  # fmt: skip
def test_what_is_counted(count):
    for by in (0, 4, 7):
        check(counted, np.array([1, 0, -1, 2, 5]), count, by)


def broken(x, wanted, n):
    for i in range(n):
        if x[i] == wanted:
            break
        if x[i] < 0:
            continue
        if x[i] > 50:
            return i, wanted
        x[i] += 1
    else:
        return -1
    return i


def test_jumps():
    for n, wanted in itertools.product((0, 3, 6, 7), (0, 3, -2, 9)):
        for x in ([1, 2, 3, -1, -2, 0], [9.0, -1.0, 60.0, 2.0, -2.0, 3.0]):
            check(broken, np.array(x), wanted, n)


def guarded(x, y, n):
    for i in range(n):
        if i > 0:
            y[i] = x[i - 1]
        if i + 1 < n:
            y[i] += x[i + 1]
        if x[i] > 100:
            raise ValueError(i)
    return y


@pytest.mark.parametrize("last", [5.0, 101.0])
def test_indices_in_branches(last):
    check(guarded, np.array([1.0, 2.0, last]), np.zeros(3), 3)
    check(guarded, np.array([1.0, 2.0, last]), np.zeros(3), 4)


def warned(x, y, by, n):
    for i in range(n):
        x[i] = x[i] * y[i] - by * by
    return x


@pytest.mark.parametrize("strange", [1e300, np.inf, -np.inf, np.nan])
def test_warnings_between(strange):
    for at in (0, 1, 7, 8, 9, 63, 99):
        x, y = np.arange(100.0), np.full(100, 1e10)
        x[at] = strange
        check(warned, x, y, 2.0, 100)
        check(warned, x, y, np.float64(2.0), 100)
        check(warned, x, y, np.float64(1e200), 100)
        with np.errstate(all="raise"):
            check(warned, x, y, np.float64(2.0), 100)


def changing(x, n):
    """What is carried is of another type from some iteration on."""
    found, last = 0, None
    for i in range(n):
        found = found + x[i] if i > 2 else found + i
        if x[i] > 6:
            last = i
    return found, last


def test_other_types_from_an_iteration_on():
    check(changing, np.arange(9.0), 9)
    check(changing, np.arange(9), 10)


def unrolled(x, n):
    total = 0
    for i in range(0, n, 4):
        total += int(x[i]) + int(x[i + 1]) * 2 + int(x[i + 3])
        x[n - 1 - i] = total
    return total


@pytest.mark.parametrize("n", [0, 1, 4, 8, 9, 12, 13])
def test_steps(n):
    check(unrolled, np.arange(12), n)


def long(x, n, by):
    total = 0
    for i in range(n):
        if x[i % 7 + by] > 3:
            total += 1
        total += i
    return total


def test_more_iterations_than_are_run_at_once():
    check(long, np.arange(9), 200_000, 1)
    check(long, np.arange(9), 200_000, 3)


def empty(x, n):
    for i in range(n):
        x[i, 3] = i
    return x


def test_arrays_without_elements():
    check(empty, np.zeros((2**40, 0)), 2)
    check(empty, np.zeros((0, 9)), 1)


def test_code_for_many_iterations_is_used():
    """It is the only one that is vectorized."""
    from autograph.runtime.engines.native.engine import Native

    def doubled(x, n):
        for i in range(n):
            x[i] = x[i] ^ 5
        return x

    function = ag.function(doubled, engine="native")
    function(np.arange(9), 9)
    native: Native = function.traces[0].executable.native
    assert " x i64>" in native.llvm


@pytest.mark.parametrize("function, args", [
    (shifted, (np.arange(10.0), 0, 12, 1, -1)),
    (grid, (np.arange(12.0).reshape(3, 4), 2, 4, 1, 0)),
    (counted, (np.array([1, 0, -1, 2, 5]), 2**61, 4)),
    (broken, (np.array([1, 2, 3, -1, -2, 0]), 9, 7)),
    (guarded, (np.array([1.0, 2.0, 101.0]), np.zeros(3), 3)),
    (changing, (np.arange(9.0), 9)),
])  # fmt: skip
def test_left_anywhere(function, args, fuel):
    for nodes in (*range(1, 30), *range(30, 120, 7)):
        fuel.value = nodes
        check(function, *args)
