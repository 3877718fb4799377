"""Functions whose calls are short become one piece of machine code, and do what they did before."""

import copy
import math
import threading

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.dispatch import specialize
from autograph.runtime.engines.native import short_calls
from tests.comparing import assert_same

pytestmark = pytest.mark.filterwarnings("ignore::autograph.errors.RetraceWarning")


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(specialize, "MANY_CALLS", 3)
    monkeypatch.setattr(short_calls, "SHORT", 1.0)
    monkeypatch.setattr(short_calls, "COSTLY", 10.0)
    monkeypatch.setattr(short_calls, "GAIN", 1e9)


def often(function, *args, is_whole=True):
    staged = ag.function(function, engine="native")
    for _ in range(50):
        given, others = copy.deepcopy(args), copy.deepcopy(args)
        assert repr((staged(*given), given)) == repr((function(*others), others))
    assert ("one piece of machine code, since" in str(staged.explain(*copy.deepcopy(args)))) is is_whole
    return staged


def rotation(a, b, c, s):
    if abs(a) == 0.0:
        c = 0.0
        s = complex(1.0, 0.0)
        a = b
    else:
        scale = abs(a) + abs(b)
        norm = scale * math.sqrt((abs(a / scale)) ** 2 + (abs(b / scale)) ** 2)
        alpha = a / abs(a)
        c = abs(a) / norm
        s = alpha * (b.conjugate()) / norm
        a = alpha * norm
    return a, b, c, s


def test_branches_of_numbers():
    staged = often(rotation, 1 + 2j, 5 + 6j, 3.4, 10 - 3j)
    numbers = [0j, 1 + 2j, -1 - 0j, complex(math.nan, 1), complex(math.inf, 0), 1e300 + 1e300j, 1e-320j, 0.0, 1, 2.5]
    numbers += [np.complex64(1 + 2j), np.complex128(0), True, "a", 2**80, None]
    for a in numbers:
        for b in (5 + 6j, 0j, complex(math.inf, 0), 3.0):
            assert_same(staged, a, b, 3.4, 10 - 3j)


def helper(x, eps=1e-6):
    return 0 if abs(x) < eps else x / abs(x)


def clipped(z, most):
    out = np.empty(z.shape, dtype=z.dtype)
    for i in range(len(z)):
        if abs(z[i]) > most:
            out[i] = helper(z[i]) * most
        else:
            out[i] = z[i]
    return out


def test_unrolled_loops_over_elements():
    staged = often(clipped, np.arange(2, dtype=complex), 0.5)
    pairs = [0, 1e-7j], [complex(math.nan, 0), -3], [math.inf + 0j, -0.0], [1j, 1j, 1j]
    for z in map(np.array, pairs):
        for most in (0.5, 0.0, -1.0, math.nan, math.inf, 1, 2**70):
            with np.errstate(all="ignore"):
                assert_same(staged, z, most)
                assert_same(staged, z[::-1], most)
    assert_same(staged, np.arange(2), 0.5)
    assert_same(staged, np.arange(2, dtype=np.float32), 0.5)
    assert_same(staged, np.arange(2, dtype=np.complex64)[::-1], 0.5)


def test_warnings_are_those_of_numpy():
    def divided(x, y):
        a = x[0] / y[0]
        b = x[1] / y[1] + a
        c = a * b + x[0] - y[1]
        return a, b, c

    staged = often(divided, np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    for y in (np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.zeros(2)):
        for x in (np.ones(2), np.zeros(2), np.full(2, 1e308)):
            with pytest.warns(RuntimeWarning) as wanted:
                divided(x, y)
            with pytest.warns(RuntimeWarning) as found:
                staged(x, y)
            assert [str(each.message) for each in found] == [str(each.message) for each in wanted]
            assert [each.lineno for each in found] == [each.lineno for each in wanted]
            with np.errstate(all="ignore"):
                assert_same(staged, x, y)


def copied(n, xs, step, ys, other):
    if n <= 0:
        return None
    if step == 1 and other == 1:
        for i in range(n):
            ys[i] = xs[i]
    else:
        at = (-n + 1) * step if step < 0 else 0
        to = (-n + 1) * other if other < 0 else 0
        for i in range(n):
            ys[to] = ys[to] + xs[at] * 2
            at += step
            to += other
    return ys


def test_several_loops_over_lists():
    xs, ys = [1 + 2j, 2 + 3j, 3 + 4j, 5 + 6j], [3 + 4j, 1 + 2j, 2 + 3j, 5 + 6j]
    staged = often(copied, 2, xs, 2, ys, 3)
    for n, step, other in ((0, 1, 1), (2, 1, 1), (4, 1, 1), (5, 1, 1), (2, -1, 1), (2, 2, 3), (3, 2, 3), (2, -2, -3)):
        assert_same(staged, n, xs, step, ys, other)
        assert_same(staged, n, [1.0, 2, None, "a"], step, ys, other)
        assert_same(staged, n, xs, step, [math.nan, 1, 2**70, True], other)
        assert_same(staged, n, xs, step, xs, other)
    assert_same(staged, 2**70, xs, 1, ys, 1)
    assert staged(2, xs, 1, xs, 1) is xs


def test_results_are_the_arguments():
    def chosen(a, b, x, n):
        t = a + b * 2
        u = t * t - a
        if u > n:
            return a
        v = u * b + t
        if v > n:
            return x
        return None

    x = [1, 2]
    staged = often(chosen, 1.0, 2.0, x, 1e6)
    assert staged(1.0, 2.0, x, -1e6) == 1.0
    assert staged(1.0, 2.0, x, 25.0) is x
    for n in (-1e6, 25.0, 1e6, math.nan):
        assert_same(staged, 1.0, 2.0, x, n)
        assert_same(staged, math.nan, 2.0, x, n)
        assert_same(staged, 3, 2, x, n)


def test_errors_half_way():
    def changed(xs, i, y):
        a = xs[0] + 1
        b = xs[1] * a
        xs[0] = b - a
        c = xs[i] / y
        xs[1] = c + a * b
        return a, b, c

    staged = often(changed, [1.0, 2.0, 3.0], 2, 4.0)
    for i in (2, 3, -1, -4, 2**70, "a", 1.0, True):
        for y in (4.0, 0.0, 0, None, "x", math.nan):
            assert_same(staged, [1.0, 2.0, 3.0], i, y)
            assert_same(staged, [1.0, 2.0], i, y)
            assert_same(staged, [1, 2, None], i, y)


def test_large_integers_run_the_former_code():
    def grown(a, b, n):
        total = a * b + a - b
        for i in range(n):
            total = total * a + i
        return total, total - a, total * b

    staged = often(grown, 1, 2, 3)
    for a in (1, 2**62, 2**70, -(2**63), 3.5, True, math.inf):
        for n in (0, 3, 50, 200):
            assert_same(staged, a, 2, n)
    for _ in range(200):
        assert_same(staged, 2**70, 2, 3)
    assert_same(staged, 1, 2, 3)


def test_a_long_call_later_has_machine_code():
    def summed(xs, n, k):
        total = 0
        scale = k * 2 + n
        for i in range(n):
            total += xs[i % 3] * scale
        return total, scale

    staged = often(summed, [1, 2, 3], 3, 2)
    assert_same(staged, [1, 2**40, 3], 100_000, 2**20)
    assert_same(staged, [1, 2.5, 3], 100_000, 2)


def test_kinds_without_code_run_the_former_code():
    def mixed(a, b, xs):
        c = a + b
        d = c * a - b
        for x in xs:
            d = d + x * c
        return c, d

    staged = often(mixed, 1.0, 2.0, [1.0, 2.0])
    for xs in ([1, 2], [], ["a"], (1.0, 2.0), [None], [2**80, 1.0], {1.0: 2}, np.ones(3), "ab", range(3)):
        for a in (1.0, 2, "a", None, [1], np.float32(1), np.ones(2)):
            assert_same(staged, a, 2.0, xs)


def test_the_slower_form_goes(monkeypatch):
    monkeypatch.setattr(short_calls, "GAIN", 0.0)
    staged = often(rotation, 1 + 2j, 5 + 6j, 3.4, 10 - 3j, is_whole=False)
    assert_same(staged, 1 + 2j, 5 + 6j, 3.4, 10 - 3j)


def test_code_that_is_left_often_goes():
    def reciprocal(xs, k):
        try_it = xs[0] * 2 + k
        other = try_it - xs[1]
        third = other * other + try_it
        return (third + 0.5) * xs[2], third * k

    staged = often(reciprocal, [1.0, 2.0, 3.0], 2.0)
    for _ in range(300):
        assert_same(staged, [1, 2**80, 3.0], 2.0)
    assert_same(staged, [1.0, 2.0, 3.0], 2.0)


def test_other_functions_stay_as_they_are():
    def small(n, m):
        return n * m

    def calling(n, act):
        total = 0
        for i in range(n):
            total += i
        return act(total) + total * 2 - n * 3

    def identical(a, b, xs):
        total = a + b
        for x in xs:
            total += x is a
        return total, a * 2 - b

    often(small, 2, 3, is_whole=False)
    often(calling, 3, unknown, is_whole=False)
    often(identical, 1000.5, 2.0, [1.0], is_whole=False)


@ag.do_not_convert
def unknown(x):
    return x + 1


def test_views_are_objects():
    def rows(x, k):
        first = x[0] if k > 0 else x[1]
        total = 0
        for each in x[::-1]:
            total += each[0] * k
        first[0] = total + k * 2 - 1
        return first, x[1], total

    staged = ag.function(rows, engine="native")
    for k in [2] * 40 + [-1, 3, -2]:
        x, y = np.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3)
        found, wanted = staged(x, k), rows(y, k)
        assert repr(found) == repr(wanted) and repr(x) == repr(y)
        assert found[0].base is not None and np.shares_memory(found[1], x)


def test_threads():
    staged = often(rotation, 1 + 2j, 5 + 6j, 3.4, 10 - 3j)
    other = ag.function(rotation, engine="native")
    wrong = []

    def work():
        for k in range(200):
            given = complex(k, 1), 5 + 6j, 3.4, 10 - 3j
            if repr(other(*given)) != repr(rotation(*given)) or staged(*given) != rotation(*given):
                wrong.append(given)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong
