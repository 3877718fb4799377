"""Machine code in which something is known of numbers does what Python does."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import autograph as ag


def outcome(function, *args):
    """What a function gives, raises, warns of, and makes of its arguments."""
    args = [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = function(*args)
        except Exception as error:
            found = error
    return type(found), repr(found), args, [(each.category, str(each.message), each.lineno) for each in told]


_staged = {}


@pytest.fixture(autouse=True)
def forgotten():
    """Code is made once in a test."""
    yield
    _staged.clear()


def check(function, *args):
    staged = _staged.setdefault(function, None) or ag.function(function, engine="native")
    _staged[function] = staged
    assert repr(outcome(staged, *args)) == repr(outcome(function, *args))


def tripled(x, n):
    for _ in range(n):
        x = 3 * x + 1
    return x


def lowered(x, n):
    for _ in range(n):
        x = x * -7 - 5
    return x


def erased(x, n):
    for _ in range(n):
        x = 0 * x
    return x


@pytest.mark.parametrize("function", [tripled, lowered, erased])
@pytest.mark.parametrize("kind", [int, np.int64, np.uint64, np.int32])
def test_products_of_constants(function, kind):
    for start in (0, 1, -1, 2**61, -(2**61), 2**62 // 3 + 1, -(2**62) // 3 - 1, 2**63 - 1, -(2**63)):
        if kind is int or np.iinfo(kind).min <= start <= np.iinfo(kind).max:
            for iterations in (1, 2, 5):
                check(function, kind(start), iterations)


def counting(n, far):
    total = 0
    for i in range(far, far + n):
        total = (i + 1) * 512 - i * 2 + (i - far) * 1000
        if i < -(2**60) or i == 2**53 + 9 or i >= far:
            total += 1
    return total


def test_items_of_ranges():
    for far in (0, 2**53 - 5, 2**53, -(2**53), -(2**53) - 5, 2**62, 2**63 - 2):
        check(counting, 5, far)


def chosen(xs, n):
    last, count, flag = 0, 2**63 - 4, False
    for i in range(n):
        last = i if xs[i] > 0 else last
        flag = xs[i] > 2 if flag else i > 3
        if xs[i] < 0:
            count += 1
    return last, count, flag


@pytest.mark.parametrize("xs", [[1, 2, 3, 0, 5], [1.5, -1.0, 0.0, -2.0, -1.0, -3.0], [-1] * 9])
def test_choices(xs):
    check(chosen, np.array(xs), len(xs))


def jumping(x, at, n):
    found = 0.0
    for _ in range(n):
        if x[at] > 0:
            x[at] = -x[at] - x[at - 1]
        found += x[at] + x[at - 1]
        at = at - 3 if at > 0 else at + 2
    return found, at


def test_places():
    for at in (0, 1, 4, -1, -5, -6, 5, 2**62, -(2**63)):
        check(jumping, np.arange(5.0), at, 3)


def neighbors(x, j, n, taken):
    found = total = 0
    for i in range(n):
        if taken[i % len(taken)]:
            total += x[j]
            found = j + 1
        else:
            found = j - 1
        j += 1
    return found, total, j


@pytest.mark.parametrize("dtype", [bool, np.int64])
@pytest.mark.parametrize("j", [0, 3, -1, -7, 6, 7, -8, 2**63 - 2, 2**63 - 1, -(2**63), -(2**63) + 1])
def test_indices_that_were_within_bounds(dtype, j):
    """What is computed of them does not overflow; of others it does."""
    for taken in ([True], [False], [False, True], [True, False]):
        check(neighbors, np.arange(7).astype(dtype), j, 3, np.array(taken))


def sorted_in_place(x):
    for i in range(1, len(x)):
        item = x[i]
        j = i - 1
        while j >= 0 and x[j] > item:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = item


def test_how_far_arrays_reach():
    check(sorted_in_place, np.array([3.0, 1.0, np.nan, 2.0, -1.0, 5.0]))
    staged = ag.function(sorted_in_place, engine="native")
    staged(np.arange(3.0))
    text = staged.traces[0].executable.native.regions[0].compiled[0].code.text
    assert "llvm.sadd.with.overflow" not in text and "llvm.ssub.with.overflow" not in text


def wide(xs, n):
    """What is more than 63 bits can tell, is no negative number where it is made another one."""
    total, step = 0, n
    for x in xs:
        if total > 40:
            break
        for i in range(0, 4, step | 1):
            total += 1 + i % 2
        total += (step | 4) > -1
    return total, int(step | 1)


def indexed(xs, n):
    total = 0.0
    for i in range(3):
        total += xs[n | np.uint64(i)]
    return total


@pytest.mark.parametrize("n", [2**63, 2**64 - 2, 2**62, 2**40, 6, 0])
def test_unsigned_integers(n):
    check(wide, np.arange(3.0), np.uint64(n))
    check(indexed, np.arange(9.0), np.uint64(n))
