"""Lists of integers and floats: one path for both, with the classes and bits of Python."""

import math
import random

import pytest

import autograph as ag
from tests.runtime.engines.native.programs import collection, regions

PROGRAMS, calls = collection()
EDGES = [0, -0.0, 1, -1, 0.5, -2.0, 2**30, -(2**31), 2**52 + 1, 2**53, 2**53 - 1, -(2**53), 2**53 + 1, 2**60]
EDGES += [2**70, 1e300]


@calls()
def sums(xs, ys):
    total = 0
    for i in range(len(xs)):
        total += xs[i] * 3 - ys[i]
        xs[i] = -xs[i] + ys[i] * xs[i]
    return total, xs


@calls()
def products(xs, ys):
    found, product = [], 1
    for i in range(len(xs)):
        found.append(xs[i] * ys[i] * 0)
        found.append(+xs[i] * True)
        product = product * ys[i]
        if product > 1e9 or product < -1e9:
            product = xs[i]
    return found, product


@calls()
def comparisons(xs, ys):
    count, best, worst = 0, xs[0], ys[0]
    for i in range(len(xs)):
        if xs[i] < ys[i] or xs[i] == 1:
            count += 1
        if xs[i]:
            count += 10
        best, worst = max(best, xs[i], ys[i]), min(ys[i], worst)
        if not xs[i] != ys[i]:
            xs[i] = best
    return count, best, worst, xs


@calls()
def quotients(xs, ys):
    found = [0] * len(xs)
    for i in range(len(xs)):
        if ys[i] != 0:
            found[i] = xs[i] / ys[i]
        else:
            found[i] = math.sqrt(abs(xs[i])) + math.atan2(ys[i], xs[i])
    return found


@calls()
def other_operators(xs, ys):
    found = []
    for i in range(len(xs)):
        if ys[i] > 0 and ys[i] < 100:
            found.append(xs[i] // ys[i])
            found.append(xs[i] % ys[i])
            found.append((xs[i] % 7) ** 2)
        found.append(abs(ys[i]))
        found.append(round(ys[i] % 1000))
    return found


@calls()
def as_indices(xs, ys):
    """Only integers are indices; the error names the class."""
    total = 0
    for i in range(len(xs)):
        at = ys[i]
        if at < 0 or at > 3:
            continue
        total += xs[at]
        for k in range(at):
            total += k * xs[k]
    return total


@calls()
def calls_of_python(xs, ys):
    texts = []
    for i in range(len(xs)):
        item = xs[i] - ys[i]
        texts.append(f"{item} {xs[i]!r}")
        texts.append(str(type(item)))
    return texts


@calls()
def items(xs, ys):
    total, last = 0, None
    for x, y in zip(xs, ys):
        last = x + y
        total = total - last if last > 3 else total + last / 2
    for x in xs:
        total += x
    return total, last


@calls()
def carried(xs, ys):
    x, k = xs[0], 0
    while k < len(ys):
        x, y = ys[k], x
        if y > x:
            x = y - x
        k += 1
        if x == 7:
            break
    return x, k


def outcome(function, xs, ys):
    xs, ys = xs[:], ys[:]
    try:
        found = function(xs, ys)
    except (ArithmeticError, TypeError, IndexError, ValueError) as error:
        found = type(error), str(error)
    return repr((found, xs, ys))


def drawn(draw, values, size=40):
    return [draw.choice(values) for _ in range(size)]


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    function, draw = PROGRAMS[name][0], random.Random(7)
    staged = ag.function(function, engine="native")
    small = [0, 1, 2, 3, -1, 7, 250, 300, 0.0, 0.5, -2.0, 3.0, 1e6, 12345]
    for _ in range(4):
        for values in (small, EDGES, [*small, math.inf, -math.inf, math.nan], [*small, True, False], [1, 2, 300],
                       [0.5, 1.5]):
            xs, ys = drawn(draw, values), drawn(draw, values)
            assert outcome(staged, xs, ys) == outcome(function, xs, ys)


@pytest.mark.parametrize("name", ["sums", "items", "carried"])
def test_code_is_made_once(name):
    function = PROGRAMS[name][0]
    staged = ag.function(function, engine="native")
    xs, ys = [[k % 5 if k % 3 else k / 4 for k in range(first, first + 60)] for first in (1, 2)]
    for _ in range(4):
        assert outcome(staged, xs, ys) == outcome(function, xs, ys)
    for region in regions(staged):
        assert len(region.compiled) == 1 and not region.left and not region.reasons


def test_items_of_other_classes_are_found_at_once():
    """An integer far behind the first items, and lists that have floats in a later call."""
    def mean(xs, ys):
        total = 0.0
        for i in range(1, len(xs) - 1):
            ys[i] = (xs[i - 1] - xs[i]) * (xs[i + 1] - xs[i]) + ys[i]
            total += ys[i]
        return total, ys

    staged = ag.function(mean, engine="native")
    floats, integers = [k / 2 for k in range(400)], [*range(400)]
    late = [*floats[:-20], 3, *floats[:19]]
    for xs in (late, late, late):
        assert outcome(staged, xs, floats) == outcome(mean, xs, floats)
    assert not regions(staged)[0].left
    staged = ag.function(mean, engine="native")
    for xs, ys in ((integers, integers), (floats, integers), (integers, floats), (late, late), (floats, floats)):
        assert outcome(staged, xs, ys) == outcome(mean, xs, ys)
    assert sum(regions(staged)[0].left.values()) <= 2


def test_numbers_that_stay_behind_a_loop():
    def last(xs):
        found = None
        for i in range(len(xs)):
            found = xs[i] + xs[i]
        return found

    staged = ag.function(last, engine="native")
    for xs in ([0.5, 1] * 20, [1, 0.5] * 20, [0.5, 400] * 20) * 3:
        assert repr(staged(xs)) == repr(last(xs))
