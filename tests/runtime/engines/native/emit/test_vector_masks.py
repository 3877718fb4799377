"""What masks choose in loops: `x[mask]`, `x[mask] = y`, `np.where`; and reductions of rows."""

import sys
import threading
import tracemalloc
import warnings

import numpy as np
import pytest

import autograph as ag
from tests.runtime.engines.native.emit.test_products import native, same

RANDOM = np.random.default_rng(27)


def collatz(n, count, k):
    indices = n > 1
    while np.any(indices):
        count[indices] += 1
        x = n[indices]
        n[indices] = np.where(x & 1, 3 * x + 1, x // 2)
        indices = n > 1
    return count, n


def scattered(x, y, k):
    kept = []
    for i in range(k):
        mask = x > y
        x[mask] = y[mask] * 2 - x[mask]
        y[~mask] = 1
        y[x == i] = x[x == i]
        kept.append(x[mask])
        x[mask & (y < 3)] = np.where(y != x, x, y + 1)[mask & (y < 3)]
    return kept


def reduced(x, y, k):
    total = 0
    for i in range(k):
        chosen = x[x >= y]
        total = total + chosen.sum() + len(chosen)
        if len(chosen) > 2:
            total += chosen[-1] + chosen[1:].max()
        x[x == chosen.min()] = 2
    return total


def divided(x, y, k):
    for i in range(k):
        x[x > 0] = x[x > 0] / y[x > 0]
        y[y == 0] = np.where(x > i, x, y)[y == 0]
    return x


FUNCTIONS = [scattered, reduced, divided]


@pytest.mark.parametrize("size", [*range(20), 33, 64, 65, 300, 3000])
def test_integers(size):
    n = np.arange(3, size + 3)
    same(collatz, n, np.ones_like(n), 0)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 16, 40, 600, 3000])
@pytest.mark.parametrize("dtype", ["d", "f", "i8", "i4", "u1"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_bit_is_that_of_numpy(function, dtype, size):
    with np.errstate(all="ignore"):
        x, y = (RANDOM.normal(size=(2, size)) * 3).astype(dtype)
        same(function, x, y, 4)
        same(function, x[::-1], y, 4)
        same(function, np.repeat(x, 2)[::2], y, 4)
        same(function, x, x.copy(), 4)


@pytest.mark.parametrize("special", [np.nan, np.inf, -0.0, 0.0, 1e308])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_special_numbers_and_what_numpy_warns_of(function, special):
    x, y = RANDOM.normal(size=(2, 12))
    x[3:9:2] = y[::4] = special
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        same(function, x, y, 3)
    with np.errstate(all="raise"):
        same(function, x, y, 3)


def test_nothing_calls_python():
    n = np.arange(3, 30)
    for function, args in [(collatz, (n, np.ones_like(n), 0)), (divided, (np.arange(1.0, 9), np.arange(2.0, 10), 3))]:
        staged = native(function)
        for _ in range(3):
            staged(*(each.copy() if isinstance(each, np.ndarray) else each for each in args))
        report = str(staged.explain(*args))
        assert "machine code" in report and "left to Python" not in report, report


def put(x, mask, y, k):
    for i in range(k):
        x[mask] = y
        x = x + x[mask].sum()
    return x


def taken(x, mask, y, k):
    total = 0
    for i in range(k):
        total = total + x[mask].sum() + i
    return total, x[mask]


MASK = np.array([True, False, True, True, False, False, False, False, False, True])


@pytest.mark.parametrize("function", [put, taken])
@pytest.mark.parametrize(
    "mask", [MASK, ~MASK, MASK[:-1], np.repeat(MASK, 2)[::2], MASK[::-1], MASK & False, MASK | True, MASK.astype("u1")]
)
@pytest.mark.parametrize(
    "values", [[2.5], [1.0, 2.0, 3.0, -4.0], [1.0, 2.0], [], np.arange(10.0), 7.5, np.nan, "wrong"]
)
def test_lengths_and_errors(function, mask, values):
    x = np.arange(10.0)
    y = np.array(values) if isinstance(values, list) else values
    same(function, x, mask, y, 3)
    same(function, x.astype("i4"), mask, y, 3)
    same(function, np.broadcast_to(x, x.shape), mask, y, 3)


@pytest.mark.parametrize(
    "dtypes", [("d", "f"), ("f", "d"), ("d", "i4"), ("i4", "i8"), ("i8", "?"), ("?", "?"), ("D", "d")]
)
def test_dtypes(dtypes):
    x, y = (np.arange(10).astype(dtype) for dtype in dtypes)
    with warnings.catch_warnings(record=True):
        for mask in (MASK, ~MASK):
            same(put, x, mask, y[mask], 3)
            same(put, x, mask, y[0], 3)
            same(taken, x, mask, y, 3)


def overlapping(x, k):
    mask = x > 3
    for i in range(k):
        x[mask] = x[: len(x[mask])]
        x[1:][mask[1:]] = x[:-1][mask[1:]]
    return x


def of_itself(m, k):
    for i in range(k):
        m[m] = False
        m[1:][m[:-1]] = True
        m[i] = True
    return m


def test_memory_in_common():
    for size in (8, 10, 33):
        same(overlapping, RANDOM.permutation(size) * 1.0, 3)
        same(of_itself, RANDOM.random(size) < 0.5, 3)


def test_bytes_that_are_no_truth_values():
    mask = np.array([0, 2, 128, 0, 255, 1, 0, 0, 0, 7], dtype="u1").view(bool)
    same(lambda x, k: taken(x, mask, 0, k), np.arange(10.0), 3)


def chosen_rows(x, of, k):
    kept, total = [], 0.0
    for i in range(k):
        y = x[of == i]
        total += y.sum()
        kept.append((y, np.linalg.norm(y - x[i], axis=1), np.sum(y * 2, axis=1), y.max(axis=-1, initial=0)))
    return kept, total


def row_reductions(x, of, k):
    kept = []
    for i in range(k):
        x[i, 0] = i
        kept.append((x.sum(axis=1), (x - 1).mean(1), (x * x[i]).max(axis=1), np.min(x, -1), (x > i).any(axis=1)))
        kept.append((np.linalg.norm(x, axis=1), np.linalg.norm(x, 2, -1), (x > i).sum(1), np.all(x < i, axis=1)))
    return kept


def layouts(function, *args):
    """The strides and flags of the arrays that a function returns."""
    found, todo = [], [function(*args)]
    while todo:
        each = todo.pop()
        if isinstance(each, np.ndarray):
            found.append((each.strides, each.flags.owndata, each.flags.f_contiguous, each.dtype, each.tobytes()))
        elif isinstance(each, (list, tuple)):
            todo += each
    return found


@pytest.mark.parametrize("function", [chosen_rows, row_reductions])
@pytest.mark.parametrize("shape", [(4, 3), (5, 1), (4, 9), (12, 10), (4, 150), (40, 7), (4, 0), (9, 1100), (3000, 2)])
@pytest.mark.parametrize("dtype", ["d", "f", "i4", "?"])
def test_rows(function, shape, dtype):
    x = (RANDOM.normal(size=shape) * 3).astype(dtype)
    of = np.arange(shape[0]) % 4
    for given in (x, np.asfortranarray(x), x[::-1], np.repeat(x, 2, axis=1)[:, ::2], x[:, ::-1]):
        same(function, given, of, 3)
        staged = native(function)
        for _ in range(2):
            try:
                wanted = layouts(function, given.copy("K"), of, 3)
            except (ValueError, IndexError, TypeError):
                continue
            assert layouts(staged, given.copy("K"), of, 3) == wanted


@pytest.mark.parametrize("special", [np.nan, np.inf, 1e308, -0.0])
def test_special_rows(special):
    x = RANDOM.normal(size=(6, 9))
    x[1:3, 2:5] = special
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        same(row_reductions, x, None, 3)
        same(chosen_rows, x, np.arange(6) % 2, 3)
    with np.errstate(all="raise"):
        same(row_reductions, x, None, 3)


class Own(np.ndarray):
    """A class of the user's."""


def test_subclasses():
    x = np.arange(10.0).view(Own)
    same(taken, x, MASK, 0, 3)
    same(taken, np.arange(10.0), MASK.view(Own), 0, 3)


def of_two(x, y, k):
    for i in range(k):
        x = np.where(x > y, y, x + i)
        y = np.where(x - 1, x, 0)
        x, y = np.where(y != i, 1, 2) * x, np.where(y < x, x, 0.5)
    return x, y


@pytest.mark.parametrize("dtype", ["d", "f", "i8", "i4", "u1", "?", "D"])
def test_choices(dtype):
    with warnings.catch_warnings(record=True), np.errstate(all="ignore"):
        for size in (0, 1, 9, 40):
            x, y = (RANDOM.normal(size=(2, size)) * 3).astype(dtype)
            same(of_two, x, y, 3)
            same(of_two, x, y[:1], 3)


def quotients(x, k):
    for i in range(k):
        x = x // 3 + x % 7 - x // -2 + x % -5 + x // 1
        x //= 4
        x += i
    return x


@pytest.mark.parametrize("dtype", ["i8", "i4", "i1", "u1", "u8", "d"])
def test_quotients_of_integers(dtype):
    with np.errstate(all="ignore"), warnings.catch_warnings(record=True):
        numbers = np.array([-128, -127, -7, -6, -1, 0, 1, 5, 6, 7, 100, 127])
        same(quotients, numbers.astype(dtype), 3)
        if dtype in ("i8", "i4"):
            limits = np.iinfo(dtype)
            same(quotients, np.array([limits.min, limits.max] * 5, dtype), 3)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_python_goes_on_wherever_the_code_is_left(fuel, function):
    x, y = RANDOM.normal(size=(2, 12)) * 3
    staged, theirs = native(function), [x.copy(), y.copy()]
    expected = repr(function(*theirs, 2))
    for nodes in range(1, 60):
        fuel.value, ours = nodes, [x.copy(), y.copy()]
        assert repr(staged(*ours, 2)) == expected
        assert [each.tobytes() for each in ours] == [each.tobytes() for each in theirs]


def test_no_references_and_no_memory_are_lost():
    x, y = RANDOM.normal(size=(2, 900)) * 3
    rows, of = RANDOM.normal(size=(300, 90)), np.arange(300) % 3
    cases = [(scattered, x, y), (divided, x, y), (chosen_rows, rows, of), (row_reductions, rows, of)]
    for function, *args in cases:
        staged = native(function)
        for _ in range(3):
            staged(args[0].copy(), args[1], 3)
        before = sys.getrefcount(args[1])
        tracemalloc.start()
        memory = tracemalloc.get_traced_memory()[0]
        for special in (1.0, 0.0, np.inf) * 3:
            args[0][5:7] = special
            with np.errstate(all="ignore"):
                staged(args[0].copy(), args[1], 3)
        grown = tracemalloc.get_traced_memory()[0] - memory
        tracemalloc.stop()
        after = sys.getrefcount(args[1])
        assert after == before and grown < 100_000, function


def test_all_engines():
    n = np.arange(3, 40)
    wanted = [each.tobytes() for each in collatz(n.copy(), np.ones_like(n), 0)]
    for engine in ("numpy", "native", "auto"):
        staged = ag.function(collatz, engine=engine)
        for _ in range(3):
            assert [each.tobytes() for each in staged(n.copy(), np.ones_like(n), 0)] == wanted


def sorted_and_taken(x, of, k):
    kept = []
    for i in range(k):
        y = x[of]
        order, numbers = np.argsort(y), np.arange(i, 5)
        x[i] = y[order[0]] + numbers.sum() + len(np.arange(k - i))
        kept.append((y, order, np.sort(y[::-1]), np.sort(x * 2), numbers, x[order[::-1]], x.argsort(), np.sort(x)))
    return kept


def rows_taken(x, of, k):
    kept = []
    for i in range(k):
        kept.append((x[of], x[np.argsort(x[:, -1])], x[:, ::-1][of], x[::-1][of], x[of][i]))
        x[i] += 1
    return kept


@pytest.mark.parametrize("places", [[3, 1, -2, 2, 0, 8, -9], [3, 9, 0], [-10, 0, 1], [], [1, 1, 1, 1]])
@pytest.mark.parametrize("dtype", ["d", "f", "i8", "u1", "D"])
def test_places_and_orders(dtype, places):
    with warnings.catch_warnings(record=True):
        for function, shape in [(sorted_and_taken, (9,)), (rows_taken, (9, 3)), (rows_taken, (9, 1))]:
            x = (RANDOM.normal(size=shape) * 3).astype(dtype)
            for given in (x, x[::-1], np.asfortranarray(x), np.repeat(x, 2, axis=-1)[..., ::2]):
                for of in (np.array(places, int), np.array(places, "i4"), np.repeat(np.array(places, int), 2)[::2]):
                    same(function, given, of, 3)
            if len(set(places)) == 7 or places == [1, 1, 1, 1]:
                assert layouts(native(function), x.copy(), of, 3) == layouts(function, x.copy(), of, 3)


@pytest.mark.parametrize("special", [np.nan, -0.0, np.inf])
@pytest.mark.parametrize("size", [9, 40, 3000])
def test_orders_of_equal_numbers(special, size):
    x = RANDOM.integers(-3, 3, size) * 1.0
    x[::3] = special
    same(sorted_and_taken, x, np.arange(size)[::-1], 3)


def projection(v, z):
    u = np.sort(v)[::-1]
    sums = np.cumsum(u) - z
    numbers = np.arange(v.shape[0]) + 1
    holds = u - sums / numbers > 0
    theta = sums[holds][-1] / float(numbers[holds][-1])
    return np.maximum(v - theta, 0)


def reordered(score, other):
    other[0, 0] = score[0, 0]
    return score[np.argsort(score[:, 1])]


def test_statements_without_a_loop():
    for v in (RANDOM.random(10), np.zeros(5), np.array([np.nan, 1.0]), RANDOM.random(1) * 1e308):
        with warnings.catch_warnings(record=True):
            warnings.simplefilter("always")
            same(projection, v, 1)
            same(projection, v, 10**400)
    same(reordered, RANDOM.integers(0, 9, (10, 10)), np.zeros((10, 10), int))
    same(reordered, RANDOM.integers(0, 9, (10, 1)), np.zeros((10, 10), int))


def ranges(start, stop, k):
    kept = []
    for i in range(k):
        kept.append((np.arange(stop), np.arange(start, stop), np.arange(stop, start)))
        stop = stop + i
    return kept


@pytest.mark.parametrize(
    "limits", [(0, 5), (-3, 4), (5, 2), (np.int64(1), 3), (np.int32(1), np.int8(3)), (0.5, 3), (2**63, 2)]
)
def test_ranges(limits):
    same(ranges, *limits, 3)
    same(ranges, *reversed(limits), 3)


def in_lists(xs, mask, k):
    kept, total = [], 0.0
    for i in range(k):
        for x in xs:
            y = x[mask]
            total += y.sum() + len(y)
            kept.append((y, np.sort(x), x[np.argsort(x)], x[y.astype(int)]))
            z = xs[0]
            z[mask] = np.sort(z)[mask]
    return kept, total


def test_arrays_in_lists():
    staged = native(in_lists)
    with warnings.catch_warnings(record=True):
        for dtype in ("d", "f", "d"):
            for _ in range(2):
                ours, theirs = ([np.arange(10).astype(dtype) % 7, np.arange(10.0)[::-1]] for _ in range(2))
                assert repr(staged(ours, MASK, 2)) == repr(in_lists(theirs, MASK, 2))
                assert [each.tobytes() for each in ours] == [each.tobytes() for each in theirs]
    xs = [np.arange(4000.0), np.arange(4000.0)[::-1]]
    mask = xs[0] > 7
    for _ in range(3):
        staged(xs, mask, 2)
    before = [sys.getrefcount(each) for each in (*xs, mask)]
    tracemalloc.start()
    memory = tracemalloc.get_traced_memory()[0]
    for _ in range(4):
        staged(xs, mask, 2)
    grown = tracemalloc.get_traced_memory()[0] - memory
    tracemalloc.stop()
    after = [sys.getrefcount(each) for each in (*xs, mask)]
    assert after == before and grown < 100_000


def test_other_threads_may_change_lists_while_numpy_sorts():
    def smallest(xs, k):
        total = 0.0
        for _ in range(k):
            x = xs[0]
            y = xs[1]
            total += np.sort(x)[0] + y[0] + x[1]
        return total

    staged, xs, ends = native(smallest), [np.arange(500.0), np.arange(300.0)], []

    def exchange():
        while not ends:
            xs[0], xs[1] = np.arange(500.0), np.arange(300.0)

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        for _ in range(20):
            assert staged(xs, 400) == 400.0
    finally:
        ends.append(True)
        thread.join()


def steps(n, k):
    x = np.arange(3, n)
    count, going = np.ones_like(x), x != 1
    for i in range(k):
        count[going] += 1
        x[going] = np.where(x[going] & 1, 3 * x[going] + 1, x[going] // 2)
        going = x != 1
    return count, x


@pytest.mark.parametrize("first", [0, 9, 3000])
def test_vectors_of_unknown_length_are_computed_in_place_if_they_are_short_at_the_first_call(first):
    staged = native(steps)
    for n in (first, 5, 9, 300, 5000, 2):
        for one, other in zip(staged(n, 5), steps(n, 5)):
            assert one.dtype == other.dtype and one.tobytes() == other.tobytes()
    assert ("`!=` runs in Python" in str(staged.explain(9, 5))) == (first == 3000)
