"""Speculative iterations: what NumPy warns of, what overlaps, and what interrupts them, is as without."""

import _thread
import math
import signal
import threading
import warnings

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.emit import simd, speculation
from autograph.runtime.engines.native.loops import counted_loops
from tests.runtime.engines.native.programs import regions

INF, NAN, BIG = np.inf, np.nan, 1e308


@pytest.fixture(params=[(3, (16, 8)), (speculation.STRIP, (32,)), (speculation.STRIP, ())], autouse=True)
def iterations(request, monkeypatch):
    """How many speculative iterations there are in a strip, and the sizes of vectors."""
    strip, sizes = request.param
    for module in (speculation, counted_loops):
        monkeypatch.setattr(module, "STRIP", strip)
    monkeypatch.setattr(simd, "SIZES", sizes)


def outcome(function, args):
    """What a function gives or raises, what becomes of its arguments, and what is warned of, and where."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = function(*args)
        except Exception as error:      # whatever it is, it is the same
            found = type(error), str(error)
    after = [arg.copy() for arg in args if isinstance(arg, np.ndarray)]
    return found, after, [(str(each.message), each.lineno) for each in told]


def same(one, other):
    return repr(one) == repr(other) and all(a.tobytes() == b.tobytes() for a, b in zip(one[1], other[1]))


def check(function, *examples):
    """Compare with Python. Each example makes arguments."""
    native = ag.function(function, engine="native")
    for make in examples:
        assert same(outcome(native, make()), outcome(function, make())), make()
    return native


def is_speculative(native):
    texts = [version.code.text for region in regions(native) for version in region.compiled]
    return any("feclearexcept" in text for text in texts)


def axpy(y, x, a, n):
    for i in range(n):
        y[i] += a * x[i]


def strange(size, *places):
    def make():
        x, y = np.linspace(1, 2, size), np.linspace(3, 4, size)
        for place, value in places:
            x[place] = value
        return y, x, 4.0, size

    return make


@pytest.mark.parametrize("value", [INF, -INF, NAN, BIG, -BIG, 5e-324])
def test_what_numpy_warns_of(value):
    native = check(
        axpy,
        *(strange(size, (size // 2, value)) for size in (1, 3, 4, 9, 700)),
        strange(700, (0, value), (1, 1.0), (699, value)),
        strange(700, (5, value), (6, NAN), (300, BIG), (301, INF)),
    )
    assert is_speculative(native)


def test_flags_that_others_have_raised():
    native = check(axpy, strange(20))
    with np.errstate(all="ignore"):
        np.array([1.0]) / np.array([0.0])
        assert same(outcome(native, strange(20)()), outcome(axpy, strange(20)()))


def test_many_that_are_strange():
    """After some, iterations no longer speculate."""
    check(axpy, strange(40 * speculation.STRIP, *((place, BIG) for place in range(0, 40 * speculation.STRIP, 1000))))


@pytest.mark.parametrize("setting", ["raise", "ignore", "call"])
def test_how_numpy_is_set(setting):
    native = ag.function(axpy, engine="native")
    found = []
    for function in (native, axpy):
        told = []
        with np.errstate(all=setting, call=lambda *args: told.append(args)):  # noqa: B023
            found.append((outcome(function, strange(30, (20, BIG), (25, BIG))()), told))
    assert same(found[0][0], found[1][0]) and found[0][1] == found[1][1]


def shifted(x, a, by, n):
    for i in range(n):
        x[i] = x[i + by] * a + x[3]


@pytest.mark.parametrize("by", [-5, -2, -1, 0, 1, 2, 7])
@pytest.mark.parametrize("value", [1.0, BIG])
def test_iterations_that_read_what_others_write(by, value):
    def make(size=60):
        x = np.linspace(1, 2, size)
        x[size // 2] = value
        return x, 1.5, by, size - 8

    check(shifted, make, lambda: make(1500))


@pytest.mark.parametrize("value", [1.0, BIG])
@pytest.mark.parametrize("cut", [
    lambda z: (z[8:58], z[:50]), lambda z: (z[:50], z[8:58]), lambda z: (z[1:51], z[:50]), lambda z: (z[:50], z[1:51]),
    lambda z: (z[:50], z[:50]), lambda z: (z[::2], z[1::2]), lambda z: (z[50::-1], z[:51]),
    lambda z: (z[:20], z[19:40]),
])  # fmt: skip
def test_arrays_that_overlap(cut, value):
    def make():
        z = np.linspace(1, 2, 100)
        z[10] = value
        y, x = cut(z)
        return y, x, 2.0, len(x)

    check(axpy, make)


def two(x, y, z, n):
    k = 0
    for i in range(n - 1, 0, -1):
        x[i] = y[i] * z[0]
        k += 2
        y[i - 1] = x[i] - z[i]
        x[i] = y[i] + k
    return k


@pytest.mark.parametrize("value", [1.0, INF, BIG])
def test_several_writes_and_a_count(value):
    def make():
        x, y, z = (np.linspace(1, by, 50) for by in (2, 3, 4))
        z[0], y[20], z[7] = value, value, -value
        return x, y, z, 50

    check(two, make, lambda: (*[make()[0]] * 3, 50))


def clipped(x, y, n):
    for i in range(n):
        x[i] = min(x[i], y[i] + y[0])
        y[i] = y[i] * 2.0 if i % 2 == 0 else y[i]


@pytest.mark.parametrize("value", [1.0, INF, -INF, BIG, NAN])
def test_what_is_only_compared(value):
    def make():
        x, y = np.full(40, 2.5), np.linspace(0, 1, 40)
        y[0], y[17] = value, -value
        return x, y, 40

    check(clipped, make)


def whole(x, y, n):
    for i in range(n):
        x[i] = x[i] + y[i] - 3


@pytest.mark.parametrize("dtype", ["int64", "int32", "int8", "uint8", "float32", "float64"])
def test_dtypes(dtype):
    top = np.iinfo(dtype).max if np.dtype(dtype).kind in "iu" else np.finfo(dtype).max

    def make(place=11):
        x, y = np.full(30, 7, dtype), np.full(30, 5, dtype)
        x[place] = y[place] = top
        return x, y, 30

    check(whole, make, lambda: make(0), lambda: make(29))


def narrowed(x, y, n):
    for i in range(n):
        x[i] = y[i] * 2.0


def test_what_does_not_fit():
    check(narrowed, lambda: (np.zeros(9, "f4"), np.array([1, 2, 1e38, 1e39, INF, NAN, 1e308, 0, 1]), 9))


def bounds(x, y, start, stop):
    for i in range(start, stop):
        x[i] = y[i + 1] * 2.0


@pytest.mark.parametrize("start, stop", [(0, 9), (0, 10), (-3, 5), (5, 30), (-12, 3)])
def test_indices_out_of_bounds(start, stop):
    check(bounds, lambda: (np.zeros(10), np.arange(10) + 0.5, start, stop))


def read_only():
    x = np.ones(9)
    x.flags.writeable = False
    return x, np.ones(9), 1.0, 9


def test_read_only_and_layouts():
    check(
        axpy,
        read_only,
        lambda: (np.ones((9, 2))[:, 1], np.arange(18.0)[::2], 3.0, 9),
        lambda: (np.broadcast_to(np.ones(1), 9).copy(), np.broadcast_to(np.array([2.0]), 9), 3.0, 9),
        lambda: (np.ones(9), np.ones(9, ">f8"), 3.0, 9),
        lambda: (np.lib.stride_tricks.as_strided(np.ones(9), (9,), (0,)), np.arange(9.0), 2.0, 9),
        lambda: (np.zeros(0), np.zeros(0), 2.0, 0),
    )


def forever(x, y, n):
    while True:
        for i in range(n):
            x[i] = y[i] + 1.0
        for i in range(n):
            y[i] = x[i] - 1.0
        if n < 0:
            break


@pytest.mark.parametrize("size", [3, 5000])
def test_interrupts(size):
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs in the background ignores it
    native = ag.function(forever, engine="native")
    x, y = np.zeros(size), np.arange(size) * 1.0
    native(x, y, -1)
    timer = threading.Timer(0.5, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            native(x, y, size)
    finally:
        signal.signal(signal.SIGINT, before)
    timer.join()
    assert np.array_equal(y, np.arange(size)) and set(x - y) <= {0.0, 1.0}


def lu(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def smooth(u, v):
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])


@pytest.mark.parametrize("size", [1, 2, 7, 20])
def test_matrices(size):
    def matrix(*places):
        a = np.random.default_rng(size).random((size, size)) + np.eye(size)
        for place, value in places:
            a.flat[place % a.size] = value
        return a

    for places in ([], [(0, 0.0)], [(3, NAN)], [(5, INF), (6, BIG)], [(25, 1e200), (30, 1e-200)]):
        assert size < 20 or is_speculative(check(lu, lambda: (matrix(*places),), lambda: (matrix(*places).T,)))  # noqa: B023
        check(smooth, lambda: (matrix(*places), matrix()), lambda: (a := matrix(*places), a))    # noqa: B023


def eliminated(a, i, k, begin, end, step):
    for j in range(begin, end, step):
        a[i, j] -= a[i, k] * a[k, j]


def crossed(a, i, k, begin, end, step):
    for j in range(begin, end, step):
        a[j, i] = a[k, i] * a[j, i] + a[k, j] - a[i, k]


@pytest.mark.parametrize("function", [eliminated, crossed])
@pytest.mark.parametrize("begin, end, step", [(0, 9, 1), (2, 9, 1), (0, 6, 1), (4, 5, 1), (8, -1, -1), (-9, -2, 1)])
def test_elements_that_iterations_read_of_what_they_write(function, begin, end, step):
    def make(i, k, value=1.0):
        a = np.random.default_rng(k % 9).random((9, 9))
        a[3, 3] = value
        return lambda: (a.copy(), i, k, begin, end, step)

    cases = [(i, k) for i in (0, 1, 3, 8, -1) for k in (0, 1, 2, 3, 5, 8, -1, -9)]
    native = check(function, *(make(*case) for case in cases), *(make(*case, BIG) for case in cases[::5]))
    assert is_speculative(native)
    for strides in ((0, 8), (8, 0), (0, 0), (8, 8), (80, 16)):
        def spread(strides=strides):
            base = np.linspace(1, 2, 100)
            return np.lib.stride_tricks.as_strided(base, (9, 9) if strides[0] < 80 else (1, 9), strides)

        check(function, *(lambda i=i, k=k: (spread(), i, k, begin, end, step) for i, k in [(0, 1), (3, 5), (2, 2)]))


def moved(a, i, k, begin, end, by):
    for j in range(begin, end):
        a[i, j + by] = a[i, k] * 2.0 + a[i, j + by]


@pytest.mark.parametrize("by", [-2, -1, 0, 1, 3])
def test_elements_beside_those_that_iterations_write(by):
    """The element read is the first, the last, or next to them: iterations must not begin as if it were apart."""
    def make(begin, end, k):
        return lambda: (np.random.default_rng(7).random((3, 12)), 1, k, begin, end, by)

    native = check(moved, *(make(2, end, k) for end in (3, 4, 9) for k in range(12)))
    assert is_speculative(native)


def windows(x, width):
    out = np.zeros(max(0, len(x) - width + 1))
    for i in range(len(out)):
        total = 0.0
        for j in range(width):
            total += x[i + j]
        out[i] = total
    return out


def horner(factors, x):
    total = 1.0
    for i in range(len(factors) - 1, -1, -1):
        total = total * x - factors[i]
    return total


def product(x, y, n):
    total, scaled = y[0], 0.0
    for i in range(n):
        scaled = 2.0 * (x[i] - scaled)
        total *= y[i] + x[i]
    return total, scaled


@pytest.mark.parametrize("function, args", [
    (windows, (3,)), (windows, (0,)), (windows, (700,)), (horner, (1.5,)), (horner, (np.float64(0.5),)), (horner, (2,)),
    (product, (np.linspace(0.5, 0.6, 900), 800)), (product, (np.linspace(0.5, 0.6, 900), 901)),
])  # fmt: skip
def test_sums(function, args):
    """Of which it is enough to look at the last."""
    def make(*places, dtype=float):
        def arguments():
            x = np.linspace(0.1, 1, 900).astype(dtype)
            for place, value in places:
                x[place] = value
            return x, *args

        return arguments

    native = check(
        function,
        *(make((place, value)) for place in (0, 1, 5, 514, 899) for value in (INF, -INF, NAN, BIG, 0.0)),
        make((0, INF), (3, -INF), (4, 0.0)),
        make((5, BIG), (6, BIG), (7, -INF), (600, INF)),
        make((7, NAN), (8, INF), (9, -INF)),
        make(),
    )
    assert is_speculative(native)
    with np.errstate(all="ignore"):
        check(function, make((0, 1), dtype=np.float32), make((3, 2), dtype=np.int32))


@pytest.mark.parametrize("function", [windows, product])
def test_sums_of_which_several_iterations_are_written_out(function):
    """Each length gives the same bits, for nothing is added in another order."""
    def make(n, *places):
        x = np.random.default_rng(n).normal(size=40) * 10.0 ** np.arange(-20, 20)
        for place, value in places:
            x[place] = value
        return (x, n) if function is windows else (x, x[::-1].copy(), n)

    lengths = [*range(1, 18), 23, 39, 40]
    native = check(
        function,
        *(lambda n=n: make(n) for n in lengths),
        *(lambda n=n, place=n - 1: make(n, (place, BIG), (0, BIG)) for n in lengths),
        *(lambda n=n: make(n, (n // 2, INF)) for n in lengths),
    )
    assert is_speculative(native)


def restarted(x, y, starts, n):
    total, count = 0.0, 0
    for start in starts:
        for i in range(start, n):
            total += x[i] * y[i]
            count += 1
        for i in range(n - 1, start, -1):
            y[i] = y[i - 1] * 0.5 + x[i]
        while count % 3:
            count += 1
    return total, count


@pytest.mark.parametrize("value", [NAN, BIG])
def test_inner_loops_that_begin_again(value):
    """At another item, without iterations, behind iterations that have been undone, and before a `while`."""
    def make(*starts):
        def arguments():
            x, y = np.linspace(1, 2, 30), np.linspace(3, 4, 30)
            x[12], y[20] = value, -value
            return x, y, np.array(starts), 30

        return arguments

    native = check(restarted, make(0, 29, 30, 5, 0, 31, 13, -3), make(), make(30), make(*range(40)), make(0, -40, 3))
    assert is_speculative(native)


def weak(x, n, total):
    count = last = 0
    for i in range(n):
        last = total
        total = total + x[i]
        count += total > 1e300
    return total, last, count


def weakest(x, n):
    total = small = double = 0.0
    for i in range(n):
        total += x[i]
        small = small + small * x[i]
        double = double + double
        if x[i] < 0:
            return total, small, double, i
    return total, small, double


@pytest.mark.parametrize("size", [0, 1, 2, 9])
@pytest.mark.parametrize("dtype", [float, np.float32, int, bool])
def test_sums_that_begin_with_python_numbers(size, dtype):
    def make(n, *rest, last=1):
        x = np.ones(size, dtype)
        x[-1:] = last
        return lambda: (x.copy(), n, *rest)

    begins = 0.0, -0.0, INF, 1, np.float64(2), np.float32(2)
    check(weak, *(make(n, begin) for n in range(size + 2) for begin in begins))
    check(weakest, *(make(n, last=last) for n in range(size + 2) for last in (1, -1)))


@pytest.mark.parametrize("value", [1j, complex(INF, 1), complex(NAN, INF), complex(BIG, BIG)])
def test_complex_sums(value):
    def make(begin):
        x = np.exp(1j * np.arange(30.0))
        x[20] = value
        return lambda: (x.copy(), 30, begin)

    check(weak_sum, *map(make, (0.0, 0j, np.complex128(2j))))


def weak_sum(x, n, total):
    product = total + 1
    for i in range(n):
        total += x[i]
        product = product * x[i]
    return total, product


def with_python(a):
    for i in range(1, a.shape[0]):
        f = a[i, 0] / a[0, 0]
        a[i, 1] -= f * np.sort(a[0])[1]
        a[i, 0] = f


def test_what_python_does_within():
    native = check(with_python, lambda: (np.zeros((30, 3)),), lambda: (np.arange(90.0).reshape(30, 3) + 1,))
    assert not is_speculative(native)


def test_a_loop_of_which_no_iteration_comes_to_its_end():
    """It once never ended, either."""

    def f(x, n):
        found = 0
        for _ in range(n):
            if found < x[0]:
                if x[0 % len(x)] > 1:
                    found = 1
            else:
                raise ValueError(n)
        return found

    function = ag.function(f, engine="native")
    for x in (np.array([]), np.zeros(0, int)):
        for n in (0, 5, 1):
            try:
                assert function(x, n) == 0 == n
            except IndexError as error:
                assert "out of bounds" in str(error) and n


def steps_while_some_are_left(m, n):
    left, i = 60, 0
    for k in range(n):
        left -= 1
        if left < 0:
            break
        i = k + m
    return i, left


def summed_before_what_is_known(m, x):
    first = None
    p = x[0]
    while m > 0:
        m -= 1
        p += 1e308
        if first is None:
            first = m
    return p, first


def multiplied_before_a_loop(m, x):
    p = x[0]
    for _ in x:
        p = p * 1e200
        k = m
        while k > 0:
            k -= 1
    return p


@pytest.mark.parametrize("args", [(5, 5), (2**62, 100), (-(2**62), 70)])
def test_what_only_matters_in_some_iterations_is_not_asked_before_them(args):
    """LLVM once gave up, and with it the process."""
    function = ag.function(steps_while_some_are_left, engine="native")
    for _ in range(3):
        assert function(*args) == steps_while_some_are_left(*args)


@pytest.mark.parametrize("function", [summed_before_what_is_known, multiplied_before_a_loop])
def test_warnings_come_before_what_is_not_asked(function):
    """A condition that is known, or a loop, once was where Python went on behind what it was to warn of."""
    native = ag.function(function, engine="native")
    for x in ([0.5], [0.5, 2.0, 3.0]):
        for _ in range(3):
            assert same(outcome(native, (3, np.array(x))), outcome(function, (3, np.array(x))))


def loops_in_a_loop_that_is_left(n, m, x):
    i, k, p, iterations = n, 0, 0.5, m
    while True:
        if iterations <= 0:
            break
        iterations -= 1
        for k in range(1, m):
            p = i + x[i % 3]
        for i in range(m):
            if i > i:
                p = 7
        if n > 1:
            return i, p
        else:
            if math.isfinite(i):
                break
            i *= 2
        for i in range(m):
            i ^= i * 3
    return i, k, p


def test_a_loop_is_not_left_as_the_code_before_it():
    """A number was made of what lay in memory."""
    function = ag.function(loops_in_a_loop_that_is_left, engine="native")
    for args in ((0, 3), (0, 3), (5, 2), (0, 0)):
        args = *args, np.array([0.5, -1.25, 2.5, 7])
        assert function(*args) == loops_in_a_loop_that_is_left(*args)
