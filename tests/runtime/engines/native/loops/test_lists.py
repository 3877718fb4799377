"""Loops over lists are compiled once, and their items need no Python callbacks."""

import math
import sys

import pytest

import autograph as ag
from tests.runtime.engines.native.programs import regions


def relax(grid, rounds):
    n, m = len(grid), len(grid[0])
    for _ in range(rounds):
        fresh = [row[:] for row in grid]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                fresh[i][j] = (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) / 4
        grid = fresh
    return grid


def shortest(rows, rounds):
    n = len(rows)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                rows[i][j] = min(rows[i][j], rows[i][k] + rows[k][j])
    return rows


def product(a, rounds):
    c = [[0] * len(a) for _ in a]
    for i in range(len(a)):
        for j in range(len(a)):
            for k in range(len(a)):
                c[i][j] += a[i][k] * a[k][j]
    return c


def squares(xs, rounds):
    found = []
    for _ in range(rounds):
        for i in range(len(xs)):
            found.append(xs[i] * xs[i])
    return found


GRIDS = {
    "floats": lambda: [[i * j % 7 + 0.5 for j in range(12)] for i in range(12)],
    "integers": lambda: [[i * j % 7 for j in range(12)] for i in range(12)],
    "both": lambda: [[math.inf if i * j % 5 == 3 else i + j for j in range(12)] for i in range(12)],
}


@pytest.mark.parametrize("function", [relax, shortest, product])
@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_matrices(function, grid):
    staged = ag.function(function, engine="native")
    for _ in range(3):
        one, other = grid(), grid()
        assert repr((staged(one, 2), one)) == repr((function(other, 2), other))
    inner = regions(staged)[-1]
    assert len(inner.compiled) == 1 and not inner.left and not inner.reasons
    of_items = {"`getitem`", "`setitem`", "`+`", "`min`", "`*`", "`+=`"}
    assert of_items.isdisjoint(callback.name for callback in inner.callbacks.values())


def attracted(n):
    """Lists that the function makes itself, and powers of their items."""
    places = [[0.0, 0.5], [4.5, -1.25], [8.0, 4.0]]
    speeds = [[0.0, 0.0], [0.5, 3.0], [-1.0, 2.0]]
    for _ in range(n):
        for i in range(3):
            for j in range(i + 1, 3):
                dx, dy = places[i][0] - places[j][0], places[i][1] - places[j][1]
                pull = 0.01 / (dx * dx + dy * dy) ** 1.5
                speeds[i][0] -= dx * pull
                speeds[j][1] += dy * pull
        for i in range(3):
            places[i][0] += 0.01 * speeds[i][0]
    return places, speeds


def moved(n):
    """Bodies that are lists of lists and a number."""
    bodies = [[[0.0, 0.5], [0.5, 3.0], 2.0], [[4.5, -1.25], [1.0, 2.0], 0.5]]
    for _ in range(n):
        for i in range(2):
            place, speed, mass = bodies[i]
            speed[0] -= place[0] * mass
            for body in bodies:
                other, _, _ = body
                speed[1] += other[1] / mass
            place[0] += 0.01 * speed[0]
    return bodies


@pytest.mark.parametrize("function", [attracted, moved])
def test_lists_of_lists_that_the_function_makes(function):
    """All kinds of items are found in the lists before the loop is compiled."""
    staged = ag.function(function, engine="native")
    for n in (20, 1, 50):
        assert repr(staged(n)) == repr(function(n))
    for region in regions(staged):
        assert len(region.compiled) == 1 and not region.left and not region.reasons


def test_tuples_that_a_loop_puts_into_a_list():
    """The kinds of their items are found before the loop is compiled."""

    def centers_of(points, centers, rounds):
        for _ in range(rounds):
            sums = [[0.0, 0.0, 1] for _ in centers]
            for x, y in points:
                best, least = 0, 1e9
                for k, (cx, cy) in enumerate(centers):
                    distance = (x - cx) ** 2 + (y - cy) ** 2
                    if distance < least:
                        best, least = k, distance
                sums[best][0] += x
                sums[best][1] += y
                sums[best][2] += 1
            centers = [(x / n, y / n) if n else (0.0, 0.0) for x, y, n in sums]
        return centers

    staged = ag.function(centers_of, engine="native")
    args = [(i % 7 / 7, i % 5 / 5) for i in range(100)], [(0.1, 0.1), (0.5, 0.5), (0.9, 0.9)], 4
    for _ in range(3):
        assert repr(staged(*args)) == repr(centers_of(*args))
    for region in regions(staged):
        assert len(region.compiled) == 1 and not region.left and not region.reasons


def test_powers_that_are_complex():
    def roots(xs):
        found = [0.5, 0.5]
        for i in range(len(xs)):
            found[0] = xs[i] ** 0.5
            found[1] += abs(found[0])
        return found

    staged = ag.function(roots, engine="native")
    for xs in ([4.0, 2.0] * 20, [4.0, -2.0] * 20, [4.0, 2.0] * 20):
        assert repr(staged(xs)) == repr(roots(xs))


@pytest.mark.parametrize("xs", [[0.5] * 70, [1] * 70, [1, 0.5] * 40])
def test_lists_that_grow(xs):
    staged, strict = (ag.function(squares, engine="native", strict=each) for each in (False, "native_callback"))
    for _ in range(3):
        assert repr(staged(xs, 3)) == repr(squares(xs, 3)) == repr(strict(xs, 3))
    assert not regions(staged)[-1].left


def test_lists_of_other_items_in_later_calls():
    staged = ag.function(squares, engine="native")
    for xs in ([0.5] * 70, [1] * 70, [True] * 70, [2j] * 70, [0.5, 2**70, 1] * 30, [0.5] * 70, ["a"] * 70):
        outcomes = []
        for each in (staged, squares):
            try:
                outcomes.append(repr(each(xs, 2)))
            except TypeError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


def scaled(xs, by):
    """Items are written in place where nothing else refers to them."""
    for _ in range(2):
        for i in range(len(xs)):
            xs[i] = xs[i] * by - 1
    return xs


_EDGES = [0, 1, -1, -5, -6, 256, 257, 2**30 - 1, 2**30, -(2**30) + 1, -(2**30), 2**31, 2**60, -(2**62), 2**63, 2**70]


@pytest.mark.parametrize("by", [1, -1, 0, 3, 2**29, 0.5, -2.0])
@pytest.mark.parametrize("first", [300, 0.25])
def test_replaced_items_are_exact(by, first):
    """The sign and the number of digits of an item change; small integers are one object each."""
    staged = ag.function(scaled, engine="native")
    items = [first, *(kind(each) for each in _EDGES for kind in {type(first), int if type(first) is int else float})]
    for _ in range(3):
        found, wanted = staged([each + 0 for each in items], by), scaled([each + 0 for each in items], by)
        assert repr(found) == repr(wanted)
        assert all(each is int(repr(each)) for each in found if type(each) is int and -5 <= each <= 256)


@pytest.mark.parametrize("first", [1000, 0.25])
def test_items_with_other_references_keep_their_values(first):
    def run(function):
        xs = [first * 3 + each for each in range(40)]
        row, kept, alone = tuple(xs), {xs[3]: xs[4]}, xs[7]
        twice = [xs, xs[:], [xs[0]] * 40]
        function(twice[0], 3)
        function(twice[2], 3)
        return xs, row, kept, alone, twice, [each is other for each, other in zip(xs, row)]

    staged = ag.function(scaled, engine="native")
    for _ in range(3):
        assert repr(run(staged)) == repr(run(scaled))


def test_items_that_a_loop_keeps():
    """An item that was read as an object is another reference to it, also before the code is left."""
    def rotated(xs, kept):
        for i in range(len(xs)):
            old = xs[i]
            xs[i] = i * 1000.5
            kept.append(old)
            if i % 7 == 6:
                xs[i - 1] = old
        return xs, kept

    def mixed(xs, kept):
        for i in range(len(xs)):
            old = xs[i]
            xs[i] = 1000.5 + i
            kept.append((old, xs[i]))
        return xs, kept

    for function in (rotated, mixed):
        staged = ag.function(function, engine="native")
        for items in ([0.25 + each for each in range(30)], [1000 + each for each in range(30)],
                      ["a", None, 1.25, 2**40, True] * 6):
            for _ in range(2):
                assert repr(staged(items[:], [])) == repr(function(items[:], []))


def test_references_to_replaced_items():
    """Neither the old nor the new items of a list leak."""
    def filled(xs, value):
        for i in range(len(xs)):
            xs[i] = value
        for i in range(len(xs)):
            xs[i] = i * 1000
        return xs

    staged = ag.function(filled, engine="native")
    for _ in range(4):
        things = [object() for _ in range(50)]
        xs, before = things[:], sys.getrefcount(7)
        staged(xs, 7)
        assert sys.getrefcount(7) - before < 40     # code has some
        staged(xs, things[0])
        alone = [object()]
        counts = [{sys.getrefcount(each) for each in items} for items in (alone[:], things[1:], xs[1:])]
        assert counts[0] == counts[1] == counts[2]


def test_append_beyond_the_memory_of_a_list():
    """A list grows as Python's does, with the same references; a constant tuple is one object."""
    def filled(n, thing):
        found = []
        for i in range(n):
            found.append(thing)
            found.append((i, thing))
            found.append((1, 2.5))
            found.append(i * 0.5)
            if i % 5 == 4:
                found.pop()
        return found

    staged, thing, counts = ag.function(filled, engine="native"), object(), []
    for n in (1, 9, 1000, 1000, 1000):
        one, other = staged(n, thing), filled(n, thing)
        assert one == other and sys.getsizeof(one) == sys.getsizeof(other)
        assert len({id(each) for each in one if each == (1, 2.5)}) == 1
        assert sys.getrefcount(one[1]) == sys.getrefcount(other[1])
        del one, other
        counts.append(sys.getrefcount(thing))
    assert counts[-1] == counts[-2] == counts[-3]


def mean_of_known(xs):
    total, count = 0.0, 0
    for x in xs:
        if x is None:
            continue
        total += x
        count += 1
    return total, count


def largest(xs):
    best = None
    for x in xs:
        if x is not None and (best is None or x > best):
            best = x
    return best


def filled(xs):
    last = None
    for i in range(len(xs)):
        if xs[i] is None:
            xs[i] = last
        last = xs[i] if xs[i] else 1
    return xs


def total(xs):
    found = 0
    for x in xs:
        found += x
    return found


WITH_NONE = {
    "floats": [None, 1.0, 2.5, None, 0.0] * 9, "numbers": [1, None, 2.5, True, 0] * 9, "none": [None] * 5,
    "no None": [1.0, 2.0], "late": [1.0] * 20 + [None, 2.0], "texts": [None, 1.0, "a", None],
}  # fmt: skip


@pytest.mark.parametrize("function", [mean_of_known, largest, filled, total])
@pytest.mark.parametrize("first", WITH_NONE)
def test_lists_with_none(function, first):
    """Whatever the first call's list had."""
    staged = ag.function(function, engine="native")

    def run(f, items):
        items = list(items)
        try:
            found = f(items)
        except TypeError as error:
            found = str(error)
        return repr((found, items))

    for _ in range(2):
        for items in (WITH_NONE[first], *WITH_NONE.values()):
            assert run(staged, items) == run(function, items)


def test_lists_with_none_need_no_python():
    staged = ag.function(mean_of_known, engine="native", strict="native_callback")
    for items in (WITH_NONE["floats"], WITH_NONE["numbers"], WITH_NONE["none"]):
        assert staged(items) == mean_of_known(items)
