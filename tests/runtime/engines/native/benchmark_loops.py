"""Loops of numbers and elements of arrays, and what to call them with."""

import importlib.util
from pathlib import Path

from tests.runtime.engines.native.programs import collection

LOOPS, calls = collection()


def measured():
    """The loops that the benchmarks measure."""
    path = Path(__file__).parents[4] / "benchmarks" / "loops.py"
    spec = importlib.util.spec_from_file_location("loops_measured", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


LOOPS_MEASURED = measured()
calls("27", "1", "2**62 + 1", "2**70 + 3")(LOOPS_MEASURED.collatz)
calls("12", "0")(LOOPS_MEASURED.collatz_sum)
calls("np.arange(40) % 3, np.arange(35) % 4", "np.array([1, 2]), np.array([2])")(LOOPS_MEASURED.edit_distance)
calls("50", "3", "0")(LOOPS_MEASURED.sieve)
calls("np.eye(9) * 20 + np.arange(81).reshape(9, 9)", "np.zeros((9, 9))", "np.full((9, 9), np.nan)")(LOOPS_MEASURED.lu)
calls("np.cos(np.arange(40))")(LOOPS_MEASURED.heap_sort)
calls("1.0, 2.0, 3.0, 9, 0.01", "1e308, 1e308, -1e308, 9, 1.0", "1.0, 2, 3.0, 0, 0.01")(LOOPS_MEASURED.lorenz)
calls("3, 4, 9")(LOOPS_MEASURED.mandelbrot)


@calls("np.arange(20.0)", "np.arange(20)", "np.arange(40.0)[::-2]", "np.array([])", "[1, 2.5, 3j]")
def widening(xs):
    """The total is an `int` at first, and what `best` is even depends on the way."""
    total = 0
    best = None
    for x in xs:
        total += x
        if best is None or x > best:
            best = x
    return total, best


@calls("np.arange(20), 5", "np.arange(20), 25", "np.arange(20.0), 3.0", "np.arange(4), -1")
def search(xs, wanted):
    for i in range(len(xs) + 30):
        if xs[i] == wanted:
            return i
    return -1


@calls("np.arange(12).reshape(3, 4), 3", "np.arange(12.0).reshape(4, 3).T, 3", "np.ones((3, 4), bool), 3")
def backwards(a, n):
    for i in range(n):
        for j in range(4):
            a[-1 - i, -1 - j] = a[i, j] + i
    return a


@calls("np.arange(30, dtype='i1'), 30", "np.full(9, 200, 'u1'), 9", "np.arange(30, dtype='f4'), 30")
def narrow(xs, n):
    total = xs[0]
    for i in range(n):
        total = total + xs[i] * 2
        xs[i] = i * 3
    return total, xs


@calls("np.arange(20.0), np.zeros(20), 7", "np.arange(20.0), np.zeros(20), 0")
def swapped(a, b, n):
    """Two arrays that take turns."""
    for _ in range(n):
        for i in range(1, 19):
            b[i] = (a[i - 1] + a[i + 1]) / 2
        a, b = b, a
    return a, b


@calls("20, 5", "20, 100", "-3, 5")
def unbound(n, k):
    for i in range(n):
        if i == k:
            found = i
    return found


@calls("40, 0.5", "40, 0.0", "4, float('nan')")
def raising(n, x):
    total = 0.0
    for i in range(n):
        if i > 30:
            raise ValueError(f"{i} is more than thirty, and {total} is so far")
        total += i / x
    return total


@calls("np.zeros(20), 9")
def read_only(x, n):
    for i in range(n):
        if i == 5:
            x.flags.writeable = False
        x[i] = i
    return x


@calls("np.zeros(9), 20", "np.zeros(9), 3", "np.zeros(9), 0")
def partly_read(xs, n):
    """Only one of the numbers that it carries is read behind it; another becomes a big integer."""
    a, b, c = 1, 0, 2.5
    for i in range(n):
        a, b, c = a * 32, b + i, c * 1.5
        xs[i % 9] = a + c
    return b


@calls("np.zeros(9)", "np.zeros(0)")
def not_read(xs):
    i = 0
    while i < len(xs):
        xs[i] = i * i
        i += 1
