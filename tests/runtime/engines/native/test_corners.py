"""Whatever loops are called with, they do what they do in Python: nothing crashes, nothing comes out else."""

import array  # noqa: F401  (for arguments)
import collections  # noqa: F401  (for arguments)
import decimal  # noqa: F401  (for arguments)
import enum
import fractions  # noqa: F401  (for arguments)
import signal
import warnings

import numpy as np
import pytest

import autograph as ag
from tests import outcomes
from tests.test_staged_fuzz import told


class Kept(np.ndarray):
    """Arrays that may mean something else by `x[i]`."""

    def __getitem__(self, index):
        return super().__getitem__(index) * 2


class Whole(int):
    def __add__(self, other):
        return Whole(int(self) + int(other) + 1)


class Real(float):
    pass


class Color(enum.IntEnum):
    RED = 2


def strided(size, stride, dtype="f8"):
    """Elements that lie in one another, or all in one place."""
    base = np.arange(64, dtype="u1").view(dtype)
    return np.lib.stride_tricks.as_strided(base, (size,), (stride,))


def frozen(x):
    x.flags.writeable = False
    return x


def misaligned(dtype, size):
    return np.arange(size * np.dtype(dtype).itemsize + 1, dtype="u1")[1:].view(dtype)


NAMES = {**globals()}
SCALARS = """bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 longlong ulonglong float16 float32 float64
    longdouble complex64 complex128 clongdouble""".split()
NUMBERS = [
    *"0 1 3 -1 5 True False 2.5 -0.0 5e-324 1e308 float('nan') float('inf') -float('inf') 1j None".split(),
    *"2**53+1 2**62 2**63-1 2**63 -2**63 -2**63-1 2**64 10**30 -10**30".split(),
    *(f"np.{name}(3)" for name in SCALARS), *(f"np.{name}(100)" for name in ("int8", "uint8", "uint64", "float16")),
    "np.int64(2**63-1)", "np.uint64(2**64-1)", "np.float64('nan')", "np.float32(3e38)", "Whole(3)", "Real(1.5)",
    "Color.RED", "fractions.Fraction(7, 2)", "decimal.Decimal('2.5')", "np.datetime64(3, 'D')",
    "np.timedelta64(3, 's')", "np.str_('a')", "np.bytes_(b'a')", "np.void(b'abc')", "'a'", "b'a'", "(1, 2)", "[1]",
    "range(3)",
    "np.array(3.0)",
]  # fmt: skip
ARRAYS = [
    "np.zeros(0)", "np.zeros(1)", "np.zeros((0, 4))", "np.zeros((4, 0))", "np.array(5.0)", "np.zeros((4, 1))",
    "np.arange(5.0)", "np.arange(5)", "np.arange(12.0)[::3]", "np.arange(5)[::-1]", "np.arange(20.0)[::-4]",
    "np.arange(12).reshape(4, 3)", "np.arange(12.0).reshape(3, 4).T", "np.arange(12.0).reshape(3, 4)[:, 1]",
    "np.arange(24.0).reshape(2, 3, 4)", "np.asfortranarray(np.ones((4, 4)))", "np.diagonal(np.ones((5, 5)))",
    "misaligned('f8', 5)", "misaligned('i4', 5)", "misaligned('i2', 5)", "np.frombuffer(bytes(range(41)), 'f4', 5, 1)",
    "np.frombuffer(bytes(40), 'f8')", "frozen(np.arange(5.0))", "frozen(np.arange(8)[::2])",
    "np.arange(5, dtype='>i4')", "np.arange(5, dtype='>f8')", "np.arange(5.0).astype('=f8')",
    "np.broadcast_to(np.float64(3), 5)", "np.broadcast_to(np.arange(3.0), (5, 3))", "strided(5, 0)", "strided(9, 1)",
    "strided(5, 4)", "strided(9, 2, 'i4')", "np.matrix([[1.0, 2, 3, 4]])", "np.matrix(np.eye(4))",
    "np.ma.array([1.0, 2, 3, 4], mask=[0, 1, 0, 0])", "np.arange(5.0).view(Kept)", "np.arange(5).view(np.recarray)",
    *(f"np.arange(5).astype(np.{name})" for name in SCALARS), "np.array([1, 2.5, None, 2**70], object)",
    "np.array(['a', 'b', 'c', 'd'])", "np.array([b'a', b'b', b'', b'd'])", "np.arange(5).astype('M8[D]')",
    "np.arange(5).astype('m8[s]')", "np.zeros(5, 'i4,f8')", "np.zeros(5, [('a', 'i4')])", "np.zeros(5, 'V3')",
    "np.arange(5.0).astype(np.dtype('f8', metadata={'unit': 'm'}))", "[1, 2.5, 3, 4]", "(1, 2, 3, 4)",
    "'abcd'", "b'abcd'", "bytearray(5)", "memoryview(bytes(range(5)))", "array.array('d', [1, 2, 3, 4])", "range(5)",
    "range(9, -9, -4)", "collections.deque([1, 2, 3, 4])", "{0: 1, 1: 2.5, 2: 3, 3: 4}", "[np.float32(1)] * 4",
    "None",
]  # fmt: skip
PAIRS = [
    "*(2 * [np.arange(5.0)])", "*(lambda x: (x[:-1], x[1:]))(np.arange(6.0))",
    "*(lambda x: (x[1:], x[:-1]))(np.arange(6))",
    "*(lambda x: (x, x[::-1]))(np.arange(5.0))", "*(lambda x: (x[::2], x[1::2]))(np.arange(10.0))",
    "*(lambda x: (x, x.view('i8')))(np.arange(5.0))", "*(lambda x: (x, x.view('u1')[3:]))(np.arange(5))",
    "*(lambda x: (x, frozen(x[:])))(np.arange(5.0))", "*(lambda x: (x, x.reshape(5, 1)[:, 0]))(np.arange(5.0))",
    "strided(5, 0), np.arange(5.0)", "np.arange(5.0), strided(5, 0)", "strided(9, 1), strided(5, 4)",
    "np.arange(5.0), np.arange(5, dtype='i1')", "np.arange(5), np.full(5, 1.5)", "np.zeros(5, '?'), np.arange(5.0)",
    "np.zeros(5, 'u1'), np.arange(5) * 100", "np.zeros(5, 'f4'), np.full(5, 1e300)", "np.arange(5.0), [1, 2, 3, 4, 5]",
    "misaligned('f8', 5), np.arange(5.0)", "np.arange(5, dtype='>f8'), np.arange(5.0)", "np.zeros(0), np.zeros(3)",
]  # fmt: skip
RANGES = [
    "0, 3", "0, 0", "0, -1", "2**31, 2**31 + 3", "2**53, 2**53 + 3", "2**53 - 1, 2**60", "2**62, 2**62 + 2",
    "2**63 - 2, 2**63 + 2",
    "2**64, 2**64 + 3", "-2**63, -2**63 + 2", "-2**70, -2**70 + 2", "0, 2**63", "0, 2**80", "5, 0, -1", "5, 0, -2**40",
    "0, 9, 2**31", "0, 9, 2**32", "0, 2**53, 2**31 + 1", "0, 2**63 - 1, 2**62", "0, -2**63, -2**62", "0, 5, 0",
    "0, 5, 1.0", "0, 1.0", "0, True", "False, np.int8(3)", "0, np.uint64(3)", "np.uint64(2**63), 2**63 + 2",
    "0, np.float64(3)",
    "0, None", "0, '3'", "0, 3, np.int16(-3)", "np.int8(100), np.int8(127)", "np.uint8(5), 0, -1",
    "0, np.int64(5), np.int8(2)", "Whole(0), Color.RED", "-3, 3, 2", "3, -3, -2", "2**53, -2**53, -2**52",
]  # fmt: skip


def items(x):
    found = 0
    for each in x:
        found += each
    return found


def elements(x, n=4):
    found = 0
    for i in range(n):
        found = found + x[i]
    return found


def largest(x):
    best, where = None, -1
    for i in range(len(x)):
        if best is None or x[i] > best:
            best, where = x[i], i
    return best, where


def written(x, n=3):
    for i in range(n):
        x[i] = x[i + 1]
        x[-1 - i] = i
    return x


def increased(x, n=4):
    for i in range(n):
        x[i] += 1.5
    return x


def matrix(x, n=3):
    found = 0
    for i in range(n):
        for j in range(3):
            found += x[i, j]
            x[j, i] = found
    return found, x


def both(x, y, n=4):
    for i in range(n):
        x[i] = y[i]
        y[n - i] = x[i] + y[i]
    return x, y


def swapped(x, y, n=3):
    for i in range(n):
        x[i], y[i] = y[i], x[i]
        x, y = y, x
    return x, y


def arithmetic(x, n=3):
    y = x
    for i in range(n):
        y = y * 3 + i
        if y > 1000:
            y = y % 7
    return y


def divided(x, n=3):
    y = 0
    for i in range(n):
        y = (y + x) // (i + 2) - x / 3
    return y


def bits(x, n=3):
    y = 1
    for i in range(n):
        y = (y << 2) ^ x | (x & 6) >> i
    return y


def counted(x, n=4):
    y = 0
    while y < x:
        y += 1
        n -= 1
        if n == 0:
            break
    return y, n


def indices(x, n=3):
    table, found = np.arange(4.0), 0
    for i in range(n):
        found += table[x]
        table[x] = i
    return found, table


def converted(x, n=2):
    found = None
    for i in range(n):
        found = int(x), float(x), bool(x), not x, abs(x), -x, x is None
    return found


def ranged(start, stop, step=1):
    iterations, item = 0, None
    for item in range(start, stop, step):
        iterations += 1
        if iterations > 3:
            break
    return iterations, item


def ranges_inside(start, stop, step=1):
    iterations, item = 0, None
    for i in range(start - start + 2):
        for item in range(start, stop, step):
            iterations += 1
            if iterations > 3:
                break
    return iterations, item


def times(x):
    iterations = 0
    for i in range(x):
        iterations += i
        if iterations > 9:
            break
    return iterations


LOOPS = {
    items: [*ARRAYS, *NUMBERS], elements: ARRAYS, largest: ARRAYS, written: ARRAYS, increased: ARRAYS, matrix: ARRAYS,
    both: PAIRS, swapped: PAIRS, arithmetic: NUMBERS, divided: NUMBERS, bits: NUMBERS, counted: NUMBERS,
    indices: NUMBERS, converted: NUMBERS, ranged: RANGES, ranges_inside: RANGES, times: NUMBERS,
}  # fmt: skip


@pytest.mark.parametrize("plain", LOOPS, ids=lambda plain: plain.__name__)
def test_corner(plain):
    function = ag.function(plain, engine="native", max_traces=1000)
    for arguments in (*LOOPS[plain], *reversed(LOOPS[plain])):
        wanted, found = (outcomes.run(each, arguments, NAMES) for each in (plain, function))
        wanted.warnings, found.warnings = told(wanted), told(found)
        assert found == wanted, arguments
        assert found.raised_at == wanted.raised_at, arguments
    regions = [region for trace in function.traces if trace.executable for region in trace.executable.native.regions]
    assert any(region.compiled for region in regions)


def test_huge_arrays():
    """What is asked for may not be there; what is there by name only may be looked at."""
    @ag.function(engine="native")
    def far(x, n):
        found = 0
        for i in range(n):
            found += x[i * (len(x) // n)] + x[-1 - i]
        return found

    for shape in (2**40, 2**59):
        assert far(np.broadcast_to(0.5, shape), 5) == 5.0

    @ag.function(engine="native")
    def made(n):
        found = 0.0
        for i in range(2):
            x = np.zeros(n)
            found += x[i]
        return found

    assert made(5) == 0
    with pytest.raises(MemoryError):
        made(2**45)


def test_an_array_that_changes_under_the_loop():
    """What code that is not staged does with an array inside of a loop shows in the loop."""
    def shrunk(x, n, step):
        for i in range(n):
            if i == step:
                x.resize(3, refcheck=False)
            x[i] = i
        return x

    function = ag.function(shrunk, engine="native")
    for step in (9, 2, 6):
        wanted, found = (outcomes.run(each, f"np.arange(8.0), 8, {step}", NAMES) for each in (shrunk, function))
        assert found == wanted


def down(x, n):
    for i in range(n, 0, -1):
        x[0] += 1
    return x


def nested(x, n):
    for i in range(n):
        for j in range(3):
            x[j] += 1
    return x


def over_items(x, n):
    total = 0.0
    while n > 0:
        for each in x:
            total += each
    return total


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
@pytest.mark.parametrize("engine", ["native", "auto"])
@pytest.mark.parametrize("plain", [down, nested, over_items], ids=lambda plain: plain.__name__)
def test_interrupted(plain, engine):
    """What a signal raises ends a loop between two iterations, wherever that is; the next call is as good as ever."""
    def stop(*_):
        raise TimeoutError("it is time")

    function, x = ag.function(plain, engine=engine), np.zeros(3)
    function(x, -1)     # so that nothing else is interrupted
    before = signal.signal(signal.SIGALRM, stop)
    try:
        for _ in range(2):
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            with pytest.raises(TimeoutError, match="it is time"):
                function(x, 2**52)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert plain is over_items or x[0] > 1000
    assert outcomes.run(function, "np.zeros(3), -1", NAMES) == outcomes.run(plain, "np.zeros(3), -1", NAMES)


@pytest.mark.parametrize("numbers", [[1e308] * 3, [1.0, 1e308, 1e308, 2.0], [np.inf, -np.inf, 1.0]])
def test_left_at_the_end_of_an_iteration(numbers):
    """What the iteration before has left is what Python goes on with, not what this one has come to already."""

    def totals(xs):
        found, count = np.float64(0.0), 0.0
        for x in xs:
            found = found + x
            count = count + 1.0
        return found, count

    xs, function = np.array(numbers), ag.function(totals, engine="native")
    for _ in range(3):
        outcomes = []
        for each in (totals, function):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                outcomes.append((repr(each(xs)), [str(warning.message) for warning in caught]))
        assert outcomes[0] == outcomes[1]


def test_left_by_both_ways():
    """Both ways of a condition leave with what is in the same cells, and each takes it out for itself."""

    def largest(n, m, f, a):
        i, j, k = n, 1, 0
        p, q = f, 0.5
        t, left = None, 60
        for i in range(m):
            if i < j:
                for q in a[0]:
                    left -= 1
                    if left < 0:
                        break
                    if n > 1:
                        p = i
                    else:
                        if t is None or i > t:
                            t = i
            p = (q + p) + i
        return i, j, k, p, q, t, left

    function = ag.function(largest, engine="native")
    for n in (0, 2):
        for _ in range(2):
            assert function(n, 3, 0.5, np.ones((2, 3))) == largest(n, 3, 0.5, np.ones((2, 3)))
