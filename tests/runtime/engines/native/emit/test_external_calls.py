"""Arrays that machine code makes itself: they are NumPy's, are refused as NumPy refuses them, and nothing is leaked."""

import ctypes
import gc
import re
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import autograph as ag
from autograph.common import numpy_internals
from autograph.runtime.engines.native.loops import lowering
from tests.runtime.engines.native.kernels.test_fusion import outcome


def rows(xs, n):
    """All kinds of dtypes and shapes; each array is kept."""
    kept = ()
    for i in range(n):
        one, two = np.zeros(n), np.zeros((n, i), dtype=np.int16)
        three, four = np.empty(i, bool), np.empty((2, n, 1), "complex64")
        three[:], four[...] = i > 1, i - 2j
        one[i] = xs[i] + len(two)
        kept = one, two, three, four, np.zeros(np.int32(i)), np.zeros((i,), np.dtype("uint8"))
        if i % 2:
            one[0] = -1
    return kept


def alike(xs, n):
    kept = xs
    for i in range(n):
        other, more, flags = np.zeros_like(kept), np.empty_like(xs), np.zeros_like(xs, bool)
        for j in range(len(xs)):
            more[j] = xs[j] * i
            flags[j] = more[j] > 1
        other[0] = more[n % 3]
        kept = other + more + flags
    return kept, more, flags


def copies(xs, n):
    """Of what is in C's order, in Fortran's, in neither; and of a list."""
    found, names = (), ["a", "b"]
    for i in range(n):
        across, apart = xs.reshape(2, -1).T, xs[::2]
        one, two, three, four = xs.copy(), across.copy(), apart.copy(), np.copy(across)
        one[i] = two[i, 1] = three[i] = four[i, 0] = i
        others = names.copy()
        names.append("c")
        found = one, two, three, four, np.copy(one), len(others)
        xs = found[4]
    return found


def summed(xs, n):
    """What is made in an iteration is let go in it; innermost loops make arrays."""
    total = 0.0
    for i in range(n):
        for j in range(len(xs)):
            pair = np.zeros(2)
            pair[i % 2] = xs[j]
            pair = pair.copy()
            total += pair[0] - pair[1]
    return total


def fibonacci(xs, n):
    """As long as what a number comes to, of which one iteration makes two, and none is used if it is odd."""
    a, b = 1, 1
    found = xs
    while a < 100:
        new = np.empty(a, np.int64)
        for i in range(a):
            new[i] = i * b
        if a % 2 == 0:
            found = new
        a, b = b, a + b
    return found


def refused(shape):
    def function(xs, n):
        total = 0.0
        for i in range(n):
            total += xs[i]
            new = np.zeros(shape - 3 * (i == 1), float) if shape < 9 else np.empty((shape + i, shape), float)
            total += len(new)
        return total

    return function


def of_strange_dtypes(xs, n):
    """For which there is no machine code; nor is there for arrays without dimensions."""
    for i in range(n):
        one, two = np.zeros(i + 1, ">i4"), np.empty(i + 1, "datetime64[s]")
        one[0], two[:] = i, 0
        three, four = np.zeros(()), np.zeros(i, np.longlong)
        five, six = np.zeros((2, i + 1), order="F"), np.zeros(i + 1, [("a", int)])
    return one, two, three, four, five, six["a"]


def of_no_dtype(xs, n):
    """That makes NumPy raise or warn, by its version."""
    for i in range(n):
        one = np.zeros(i, np.integer)
    return one


def of_no_dtype_at_all(xs, n):
    for i in range(n):
        one = np.empty(i, "nothing")
    return one


def without_sense(xs, n):
    """A length that is none."""
    for i in range(n):
        one = np.zeros(n - 0.5 * i)
    return one


XS = np.linspace(-3, 5, 12)
PROGRAMS = [rows, alike, copies, summed, fibonacci, refused(2), refused(2**40), refused(2**62), of_strange_dtypes]
PROGRAMS += [of_no_dtype, of_no_dtype_at_all, without_sense]


@pytest.mark.parametrize("fuel", [None, *range(1, 60, 7), 99])
@pytest.mark.parametrize("function", PROGRAMS)
def test_they_are_numpys(function, fuel, monkeypatch):
    """Also if the code is left after so many nodes."""
    left_after = ctypes.c_int64(-1)
    monkeypatch.setattr(lowering, "FUEL", [ctypes.addressof(left_after)] if fuel else [])
    staged = ag.function(function, engine="native")
    for n in (5, 0, 6):
        left_after.value = fuel or -1
        assert outcome(staged, XS, n) == outcome(function, XS, n)


@pytest.mark.parametrize("function", [rows, alike, copies, summed, fibonacci, refused(2), refused(2**62)])
@pytest.mark.parametrize("fuel", [None, 5, 23])
def test_nothing_is_leaked(function, fuel, monkeypatch):
    left_after = ctypes.c_int64(-1)
    monkeypatch.setattr(lowering, "FUEL", [ctypes.addressof(left_after)] if fuel else [])
    staged = ag.function(function, engine="native")

    def call():
        left_after.value = fuel or -1
        outcome(staged, XS, 6)

    dtypes = [np.dtype(name) for name in ("float64", "int16", "complex64", "bool")]
    for _ in range(20):
        call()
    tracemalloc.start()
    try:
        gc.collect()
        before, references = tracemalloc.get_traced_memory()[0], list(map(sys.getrefcount, dtypes))
        for _ in range(50):
            call()
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] - before < 20_000     # each call makes a dozen of them
        changes = [abs(sys.getrefcount(each) - count) for each, count in zip(dtypes, references)]
        assert fuel or max(changes) < 20        # NumPy 2.4 itself loses one of them in each `np.zeros(2)`
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("function", [rows, alike, summed, fibonacci])
def test_python_is_not_called_for_them(function):
    staged = ag.function(function, engine="native")
    staged(XS, 5)
    assert "PyArray" in staged.lower(XS, 5).llvm
    told = [event.message for event in staged.explain(XS, 5).where(kind="native_callback")]
    assert not [message for message in told if "np.zeros" in message or "np.empty" in message or ".copy" in message]


def test_numpys_functions_are_where_its_headers_say():
    header = Path(np.get_include(), "numpy", "__multiarray_api.h").read_text()
    places = numpy_internals._FUNCTIONS | {"PyArray_Type": numpy_internals._CLASS}
    for name, place in places.items():
        defined = re.search(rf"#define {name} .*?PyArray_API\[(\d+)\]", header, re.DOTALL)
        assert defined and int(defined[1]) == place, name


def test_no_memory():
    """An error of NumPy's, with the user's line, after which all goes on."""

    def function(n):
        total = 0
        for i in range(n):
            total += len(np.empty(2**i, np.int8))
        return total

    staged = ag.function(function, engine="native")
    assert staged(20) == function(20)
    for _ in range(2):
        with pytest.raises(MemoryError, match="Unable to allocate"):
            staged(60)
        assert staged(20) == function(20)
