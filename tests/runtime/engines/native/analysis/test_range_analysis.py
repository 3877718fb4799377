"""What is known of Python integers holds, and machine code that relies on it does what Python does."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import autograph as ag
from tests.runtime.engines.native.emit.test_value_ranges import check, forgotten, outcome  # noqa: F401
from tests.runtime.engines.native.integers import Program
from tests.runtime.engines.native.programs import regions


def written(text, folder):
    """The function of a program."""
    path = folder / "program.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


@pytest.mark.parametrize("seed", range(60))
def test_drawn_programs(seed, tmp_path):
    program = Program(seed)
    plain = written(program.text, tmp_path)
    function = ag.function(plain, engine="native")
    for call in (*program.calls, *program.calls[:2]):
        assert outcome(function, *call) == outcome(plain, *call), (program.text, call)


@pytest.mark.parametrize("seed", range(100, 110))
def test_drawn_programs_are_left_anywhere(seed, tmp_path, fuel):
    program = Program(seed)
    plain = written(program.text, tmp_path)
    function = ag.function(plain, engine="native")
    for nodes in range(1, 60, 4):
        for call in program.calls[:3]:
            fuel.value = nodes
            assert outcome(function, *call) == outcome(plain, *call), (program.text, call)


def text_of(function, *args):
    """The code of the first loop."""
    staged = ag.function(function, engine="native")
    assert repr(outcome(staged, *args)) == repr(outcome(function, *args))
    return regions(staged)[0].compiled[0].code.text


def collatz_sum(count):
    total = 0
    for start in range(1, count):
        n = start
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            total += 1
    return total


def trial(n):
    count = 0
    for k in range(2, n):
        d, prime = 2, True
        while d * d <= k:
            if k % d == 0:
                prime = False
                break
            d += 1
        if prime:
            count += 1
    return count


def euclid(a, b):
    while b:
        a, b = b, a % b
    return a


def middle(x, key):
    low, high = 0, len(x)
    while low < high:
        mid = (low + high) // 2
        if x[mid] < key:
            low = mid + 1
        else:
            high = mid
    return low


def test_what_need_not_be_looked_at():
    assert "with.overflow" not in text_of(collatz_sum, 50)
    text = text_of(trial, 50)
    assert "urem" in text and "srem" not in text
    assert "with.overflow" not in text_of(middle, np.arange(1000.0), 300)
    assert "srem" in text_of(euclid, 20, 12)      # of which nothing is known


def test_of_what_comes_again():
    """Where code is begun anew, a loop begins with what an iteration has left behind."""

    def f(n, big):
        x, y = 1, 0
        while y < n:
            if y == 3:
                x = big
            x = x // 2 + 5
            y += 1
            if y == 4:
                x = x % (x - 7)
        return x, y

    for big in (2**70, -(2**70), 2**63 + 5, 9, -3, 4, 5):
        check(f, 12, big)


def digits(n, k):
    total = steps = 0
    while k > 0:
        n, k = n + 1, k - 1
        x = n
        while x > 0:
            total += x % 10
            x //= 10
            steps += 1
    return total, steps


@pytest.mark.parametrize("n", [0, -5, 9, 2**62, 2**63 - 3, 2**64])
def test_loops_that_end_soon(n):
    check(digits, n, 20)


def bits(n):
    found = 0
    while n:
        n &= n - 1
        found += 1
    return found


def test_bits():
    for n in (0, 1, 2**63 - 1, 2**40, 2**64 - 1, -1, -(2**63), -(2**62)):
        check(bits, n & 2**70 - 1)
        if n >= 0:
            check(bits, n)


def counting(total, iterations, step):
    down = -total
    while iterations > 0:
        iterations -= 1
        total += 3
        down -= 1 if step else 2
    return total, down, iterations


@pytest.mark.parametrize("far", [2**61 - 5, 2**61 - 99_999, 2**62, 2**63 - 150_000, 2**63 - 7, 70_000 - 2**63, 2**64])
@pytest.mark.parametrize("iterations", [3, 100_000])
def test_what_is_counted(far, iterations):
    """It is looked at only now and then; longer than the iterations that may lie between."""
    check(counting, far, iterations, True)
    check(counting, -far, iterations, False)


def within(total, iterations):
    while iterations > 0:
        iterations -= 1
        for _ in range(70_000):
            total += 2**40
        total += 1
    return total


def test_what_an_inner_loop_counts():
    check(within, 2**63 - 2**57, 2)
    check(within, 0, 3)


def chosen(x, y, n):
    found = 0
    for i in range(n):
        if i % 3 == 0:
            x = x * 3 + 1
        else:
            x = (x >> 1) ^ y
        y = y - x if x < 1000 else y & 0xFFFF
        found += x if x > y else -y
    return x, y, found


@pytest.mark.parametrize("x", [0, 5, -9, 2**31, 2**61, 2**63 - 1, -(2**63), 2**65])
def test_both_ways(x):
    for y in (0, 7, -(2**62), 2**63 - 1):
        check(chosen, x, y, 40)


def guarded(x, n):
    for _ in range(n):
        if x < 2**61:
            x = x * 4 + 3
        else:
            x = x - 2**61
    return x


def test_not_left_for_what_a_condition_prevents():
    staged = ag.function(guarded, engine="native")
    assert staged(2**62 + 5, 1) == guarded(2**62 + 5, 1)
    assert not any(region.left for region in regions(staged))
    for x in (2**61 - 1, 2**60, -(2**62), 2**63 - 1):
        check(guarded, x, 9)


@pytest.mark.parametrize("line", ["x = x + x % 3", "x += 1", "ok = ok and x != 5", "x = -x if x > 7 else x"])
def test_long_programs(line, tmp_path):
    """Nothing goes deeper and deeper, nor over and over through what came before."""
    lines = [f"    {line}"] * 400
    inner = ["    n = x", "    while n > 0:", "        n -= 1", *(f"    {each}" for each in lines)]
    plain = written("\n".join(["def f(x, ok):", *lines, *inner, "    return x, n, ok", ""]), tmp_path)
    assert ag.function(plain, engine="native")(3, True) == plain(3, True)


def sorted_down(x):
    """The condition is carried along: it is found at the end of an iteration."""
    moves = 0
    for i in range(1, len(x)):
        item, j = x[i], i - 1
        while j >= 0 and x[j] > item:
            x[j + 1] = x[j]
            j -= 1
            moves += 1
        x[j + 1] = item
    return moves


def test_conditions_that_are_carried():
    for n in (0, 1, 5):
        check(sorted_down, np.array([3.0, 1.0, np.nan, 2.0, -1.0])[:n])
    assert "with.overflow" not in text_of(sorted_down, np.array([3.0, 1.0, 2.0]))


def raises_or_stops(m, x):
    i, left = 0, 9
    while m > 0:
        m -= 1
        for _ in range(len(x)):
            left -= 1
            if left < 0:
                break
            for _ in range(len(x)):
                left -= 1
                if left < 0:
                    break
                raise ValueError(i)
            else:
                return i
        i = i + 1
    return i


@pytest.mark.parametrize("x", [[1.0, 3.0], []])
def test_of_what_never_comes(x):
    for m in (0, 3, 3, 12):
        check(raises_or_stops, m, np.array(x))


def asks_a_constant(i, m, x):
    q, t = 0.5, None
    for _ in range(len(x)):
        if np.less(i, x[0]):
            if i + i != 0:
                iterations = m
                while True:
                    if iterations <= 0:
                        break
                    iterations -= 1
                    if 0.0 == 9007199254740993:
                        q = -q
                        t = i
                    elif q:
                        i = i
                        i *= 2
    return i, q, t


def test_of_a_constant_as_condition():
    for i, m in ((0, 3), (0, 3), (1, 2), (1, 9)):
        check(asks_a_constant, i, m, np.array([2.5, 1.0]))


def test_errors_of_this_library_are_not_the_programs(monkeypatch):
    def fails(*args):
        raise ValueError("no span")

    monkeypatch.setattr("autograph.runtime.engines.native.analysis.range_analysis.join", fails)
    with pytest.raises(ag.errors.InternalError, match="machine code of .* cannot be made .*no span.*please report it"):
        ag.function(sorted_down, engine="native")(np.array([3.0, 1.0, 2.0]))
