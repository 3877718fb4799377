"""Complex numbers in lists and attributes, and tuples compared with None: as plain Python, without Python callbacks."""

import copy

import numpy as np
import pytest

import autograph as ag
from tests.comparing import result_or_error
from tests.runtime.engines.native.programs import regions

NAN = float("nan")


class Point:
    def __init__(self, z):
        self.z, self.count = z, 0


def dot(xs, ys, n):
    total = 0j
    for i in range(n):
        total = total + xs[i].conjugate() * ys[i]
    return total


def rotated(xs, ys, n):
    for i in range(n):
        ys[i] = xs[i] * 1j + ys[i]
        if i % 3 == 2:
            ys[i] /= 2
    return abs(ys[0])


def swapped(xs, ys, n):
    for i in range(n):
        xs[i], ys[i] = ys[i], xs[i]
    return xs[0]


def appended(xs, ys, n):
    found = [1j]
    for i in range(n):
        found.append(xs[i] - ys[i])
    return found


def doubled(xs, ys, n):
    for x in xs:
        ys.append(x + x)
    return len(ys) + n


def moved(xs, ys, n):
    point = Point(0.5j)
    for i in range(n):
        point.z = point.z * 0.5 + xs[i]
        point.count += 1
    return point.z, point.count


FUNCTIONS = [dot, rotated, swapped, appended, doubled, moved]
UNIFORM = [complex(i % 5 - 2, i % 7 - 3) for i in range(40)]
ONE = [1 + 2j] * 40         # one object, forty times


def lists(kind):
    """Two lists, new ones, and how far to go in them."""
    xs, ys = {
        "uniform": (UNIFORM, UNIFORM[::-1]), "one object": (ONE, ONE), "empty": ([], []),
        "floats": ([1.5, -0.0] * 20, UNIFORM), "a float half-way": ([*UNIFORM[:20], 2.5, *UNIFORM[21:]], UNIFORM),
        "an integer half-way": (UNIFORM, [*UNIFORM[:20], 3, *UNIFORM[21:]]),
        "a text half-way": ([*UNIFORM[:20], "a", *UNIFORM[21:]], UNIFORM),
        "None half-way": (UNIFORM, [*UNIFORM[:20], None, *UNIFORM[21:]]),
        "nan": ([*UNIFORM[:20], complex(0, NAN), *UNIFORM[21:]], [*UNIFORM[:25], complex(NAN, 1), *UNIFORM[26:]]),
        "inf and zeros": ([complex(-0.0, 0.0), complex(float("inf"), -0.0)] * 20, [complex(0.0, -0.0)] * 40),
        "overflow": ([1e308 + 1e308j] * 40, [1e308 - 1e308j] * 40),
        "big": ([*UNIFORM[:20], 2**70, *UNIFORM[21:]], UNIFORM), "short": (UNIFORM[:30], UNIFORM),
        "np": ([np.complex128(each) for each in UNIFORM], UNIFORM),
        "np and Python": (UNIFORM, [*UNIFORM[:20], np.complex64(2j), *UNIFORM[21:]]),
    }[kind]  # fmt: skip
    xs, ys = list(xs), list(ys)
    return xs, ys, len(ys)


KINDS = ["uniform", "one object", "empty", "floats", "a float half-way", "an integer half-way", "a text half-way",
         "None half-way", "nan", "inf and zeros", "overflow", "big", "short", "np", "np and Python"]  # fmt: skip


def outcome(function, kind):
    """What a call gives or raises, and the lists after it: values, and which items are one object."""
    xs, ys, n = lists(kind)
    objects = {id(each): each for each in (*xs, *ys)}       # keeps them alive
    with np.errstate(all="ignore"):
        found = result_or_error(function, xs, ys, n, names=[each.__name__ for each in FUNCTIONS])
    shared = [id(one) == id(other) for one in (*xs, *ys) for other in objects.values() if one != one]
    return repr(found), repr(xs), repr(ys), shared


@pytest.mark.parametrize("options", [{"engine": "native"}, {"engine": "numpy"}, {}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_outcomes(function, kind, options):
    staged = ag.function(function, **options)
    for each in (kind, kind, "uniform", kind, "one object"):
        assert outcome(staged, each) == outcome(function, each), each


@pytest.mark.parametrize("function", [dot, rotated, swapped, appended, moved])
def test_python_has_no_part_in_them(function):
    staged = ag.function(function, engine="native")
    for _ in range(4):
        staged(*lists("uniform"))
    assert regions(staged)
    for region in regions(staged):
        assert [bool(version.callbacks) for version in region.compiled] == [False]
        assert not region.left and not region.reasons


def test_numbers_with_other_references_are_not_overwritten():
    staged = ag.function(rotated, engine="native")
    for _ in range(4):
        xs, ys, n = lists("uniform")
        kept = list(ys)
        staged(xs, ys, n)
        assert kept == lists("uniform")[1] and ys != kept


def all_moved(points, xs):
    for x in xs:
        for point in points:
            point.z = point.z * 0.5 + x
            point.count += 1


@pytest.mark.parametrize("kind", KINDS)
def test_attributes(kind):
    staged = ag.function(all_moved, engine="native")
    for each in (kind, kind, "uniform", kind):
        results = []
        for function in (all_moved, staged):
            xs, ys, _ = lists(each)
            points = [Point(y) for y in ys[::4]]
            with np.errstate(all="ignore"):
                found = result_or_error(function, points, xs, names=["all_moved"])
            results.append((repr(found), [(repr(point.z), point.count) for point in points], repr(ys)))
        assert results[0] == results[1]


# Tuples and None ------------------------------------------------------------------------------------------------------


def farthest(points, center):
    """Helpers give a tuple or None, as in `make_circle`."""
    best = None
    for point in points:
        found = reached(point, center)
        if found is None:
            continue
        if best is None or found[1] > best[1]:
            best = found
    return best


def reached(point, center):
    dx, dy = point[0] - center[0], point[1] - center[1]
    if dx * dx + dy * dy > 25:
        return None
    return dx, dx * dx + dy * dy


def told(xs, n):
    """Compares with True, False and None."""
    found = []
    for x in xs:
        test = x > n
        pair = (x, n) if test else None
        found.append([test is True, test is not False, x is None, x is True, pair is None, (x,) is not None])
    return found


@pytest.mark.parametrize("points", [[(1.0, 2.0), (0.5, 9.0), (3.0, 4.0)] * 9, [(9.0, 9.0)] * 5, [], [(1, 2), (3.0, 1)],
                                    [(1.0, 2.0), None], [(1.0,), (2.0, 2.0)], [(NAN, 1.0), (1.0, 1.0)]])  # fmt: skip
@pytest.mark.parametrize("options", [{"engine": "native"}, {"engine": "numpy"}, {}], ids=str)
def test_tuples_or_none(points, options):
    staged = ag.function(farthest, **options)
    for given in (points, [(1.0, 2.0), (0.5, 0.25)] * 10, points):
        args = copy.deepcopy(given), (0.5, 0.5)
        wanted, found = (result_or_error(each, *args, names=("farthest", "reached")) for each in (farthest, staged))
        assert repr(found) == repr(wanted)


@pytest.mark.parametrize("xs", [[1.5, 2.5] * 20, [1, 2, 3] * 9, [True, False], [np.float64(2), 1.0] * 9, [2**70, 1]])
@pytest.mark.parametrize("options", [{"engine": "native"}, {"engine": "numpy"}, {}], ids=str)
def test_constants(xs, options):
    staged = ag.function(told, **options)
    for n in (1, 2, 2.0, np.float64(1)):
        for _ in range(2):
            assert staged(xs, n) == told(xs, n)


def test_python_has_no_part_in_comparing_tuples():
    staged = ag.function(farthest, engine="native", strict="native_callback")
    for _ in range(4):
        staged([(1.0, 2.0), (0.5, 9.0), (3.0, 4.0)] * 9, (0.5, 0.5))
    assert all(region.compiled and not region.reasons for region in regions(staged))
