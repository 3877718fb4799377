"""Innermost loops over arrays that the loops around them have made: they run ahead, and nobody's reference is lost."""

import ctypes
import gc
import tracemalloc

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.loops import lowering
from tests.runtime.engines.native.kernels.test_fusion import outcome


def distance(a, b):
    """Of two texts, row by row."""
    row = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        new = np.empty(len(b) + 1, np.int64)
        new[0] = i
        for j in range(1, len(b) + 1):
            new[j] = min(row[j - 1] + (a[i - 1] != b[j - 1]), row[j] + 1, new[j - 1] + 1)
        row = new
    return row[len(b)]


def heat(u, steps, rate):
    u = u.copy()
    for _ in range(steps):
        new = u.copy()
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                new[i, j] = u[i, j] + rate * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4 * u[i, j])
        u = new
    return u


def kept(xs, n):
    """What was made before is still there behind the loop, also if that is never run."""
    rows, last = [], None
    for i in range(n):
        row, other = np.zeros(len(xs)), xs * i
        for j in range(len(xs) - i):
            row[j] = xs[j] * other[j + i] - i
        rows.append(row)
        last = other
    return rows, last, len(rows)


def left(xs, n):
    """An index comes out of bounds, which is an IndexError, at an iteration in the midst."""
    total = 0.0
    for i in range(n):
        row = np.ones(i + 2)
        for j in range(len(xs)):
            row[j] = xs[j] + total
            total += row[j]
    return total


def exchanged(xs, n):
    one = xs.copy()
    for _ in range(n):
        other = one * 2
        for j in range(len(xs)):
            one, other = other, one
            one[j] += 1
    return one, other


def branches(xs, n):
    found = np.zeros(3)
    for i in range(n):
        row = xs - i
        best = row[0]
        for j in range(len(row)):
            if row[j] > best:
                best = row[j]
            elif row[j] < 0:
                row[j] = -row[j]
                found[j % 3] += best
        found = found + row[:3]
    return found, row


XS = np.linspace(-3, 5, 70)
CASES = [
    (distance, (np.arange(40) % 7, np.arange(33) % 5)),
    (heat, (np.outer(XS, XS), 5, 0.1)),
    (heat, (np.outer(XS, XS) * 1e306, 3, 100.0)),       # NumPy warns
    (kept, (XS, 6)),
    (kept, (XS[:0], 3)),
    (left, (XS, 5)),
    (exchanged, (XS, 4)),
    (branches, (XS, 5)),
    (branches, (np.where(XS > 4, np.nan, XS), 3)),
]


@pytest.mark.parametrize("function, args", CASES)
@pytest.mark.parametrize("fuel", [None, 7, 60, 900])
def test_they_do_what_python_does(function, args, fuel, monkeypatch):
    """Also if the code is left after so many nodes."""
    left_after = ctypes.c_int64(-1 if fuel is None else fuel)
    monkeypatch.setattr(lowering, "FUEL", [ctypes.addressof(left_after)] if fuel else [])
    staged = ag.function(function, engine="native")
    for _ in range(3):
        left_after.value = fuel or -1
        assert outcome(staged, *args) == outcome(function, *args)


def test_they_run_ahead():
    """Only iterations that do are made vectors."""
    function, args = CASES[1]
    assert "x double>" in ag.function(function, engine="native").lower(*args).llvm


@pytest.mark.parametrize("function, args", CASES)
def test_nothing_is_leaked(function, args):
    staged = ag.function(function, engine="native")

    def call():
        try:
            with np.errstate(all="ignore"):
                staged(*args)
        except IndexError:
            pass

    for _ in range(20):
        call()
    tracemalloc.start()
    try:
        call()
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(50):
            call()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 20_000     # of arrays that each call makes, 500 bytes each
    finally:
        tracemalloc.stop()
