"""Arithmetic on vectors in loops, without a call of Python: `x[:k] += a * y[:k]`."""

import itertools
import tracemalloc

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.libmath.libm import FLAGS
from tests.runtime.engines.native.emit.test_products import native, same
from tests.runtime.engines.native.kernels.test_fusion import defined

RANDOM = np.random.default_rng(8)
LENGTHS = [0, 1, 2, 7, 64, 70]


def sums(x, y, n, a):
    for k in range(n):
        x[k] += a * y[k]
        y[k] = y[k] - x[k] + x[k - 1] * 0.5


def quotients(x, y, n, a):
    for k in range(n):
        x[k] /= y[k]
        y[k] *= a
        x[k] = 3 / y[k] - x[k] / a


def columns(x, y, n, a):
    for k in range(n):
        x[:, k] -= y[:, k] * a
        y[1:, k] = 2 * x[1:, k] + y[:-1, k]
        x[::2, k] *= y[::2, k]


def neighbors(x, y, n, a):
    for k in range(n):
        x[k, 1:] += x[k, :-1]
        x[k, :-1] = x[k, 1:]
        x[k] -= np.flip(x[k])
        x[k, 2:] = a * x[k, :-2] + y[k, 2:]


def moved(x, y, n, a):
    for k in range(n):
        x[k] = y[k - 1]
        y[k, 3:] = a
        x[k, -2:] = 0


FUNCTIONS = [sums, quotients, columns, neighbors, moved]


def layouts(rows, length, dtype):
    numbers = RANDOM.normal(size=(rows, length)).astype(dtype)
    wide = RANDOM.normal(size=(2 * rows, 3 * length)).astype(dtype)
    return [numbers, np.asfortranarray(numbers), wide[::2, ::3], wide[::-2, : 2 * length][:, ::-2]]


@pytest.mark.parametrize("dtype", "df")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_bit_is_that_of_numpy_for_all_layouts(function, dtype):
    for length in LENGTHS:
        rows, width = (length, 4) if function is columns else (4, length)
        several = layouts(rows, width, dtype)
        for x, y, a in zip(several, several[1:] + several[:1], (0.75, np.float64(-1.5), np.float32(1.25), 7)):
            same(function, x, y, 4, a)


@pytest.mark.skipif(not FLAGS, reason="the processor's flags are not known")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_nothing_calls_python(function):
    ours, theirs = ([each.copy() for each in (a, b)] for a, b in [RANDOM.normal(size=(2, 9, 9))] * 2)
    ag.function(function, engine="native", strict="native_callback")(*ours, 9, 0.5)
    function(*theirs, 9, 0.5)
    assert [each.tobytes() for each in ours] == [each.tobytes() for each in theirs]


OTHERS = [2, True, 2**70, 1j, np.int8(3), np.float32(0.1), np.array(2.0), np.array([3.0]), np.ones(3)]


@pytest.mark.parametrize("a", OTHERS)
def test_other_numbers_and_arrays(a):
    for function in (sums, quotients, columns, moved):
        same(function, RANDOM.normal(size=(4, 4)), RANDOM.normal(size=(4, 4)), 4, a)
        same(function, RANDOM.normal(size=(4, 4)).astype("f"), RANDOM.normal(size=(4, 4)).astype("f"), 4, a)


@pytest.mark.parametrize("dtype", ["i8", "c16", "?", "f2", ">f8", "u1"])
def test_numpy_computes_other_dtypes(dtype):
    for function in (sums, moved, neighbors):
        x, y = (RANDOM.normal(size=(2, 4, 5)) * 3).astype(dtype)
        same(function, x, y, 4, 2)


def shifted(x, y, k, n):
    for i in range(n):
        x[i, :k] += y[i, :3]
        x[i, 1:] = y[i, :k] * x[i, 0]


def test_lengths_that_differ():
    for k in range(-5, 7):
        same(shifted, RANDOM.normal(size=(3, 5)), RANDOM.normal(size=(3, 5)), k, 3)


@pytest.mark.parametrize("special", [np.inf, -np.inf, 1e308, -1e308, 0.0, -0.0, 5e-324, np.nan])
def test_what_numpy_warns_of(special):
    for function, (place, length) in itertools.product((sums, quotients, columns), ((0, 4), (11, 80))):
        x, y = RANDOM.normal(size=(2, 4, length)) if function is not columns else RANDOM.normal(size=(2, length, 4))
        y.flat[place] = special
        same(function, x, y, 4, 1e10)
        with np.errstate(over="raise", invalid="ignore", divide="raise"):
            same(function, x, y, 4, 1e10)
        with np.errstate(all="warn"):
            same(function, x, y, 4, 1e-300)


def test_arrays_that_must_not_change():
    for function in FUNCTIONS:
        x, y = RANDOM.normal(size=(2, 4, 4))
        staged = native(function)
        x.flags.writeable = False
        for _ in range(2):
            with pytest.raises(ValueError, match="read-only"):
                staged(x, y.copy(), 4, 0.5)


def one_array(x, n, a):
    for k in range(1, n):
        x[k] += a * x[k - 1]
        x[:, k] = x[k] - x[:, k - 1]
        x[k] *= x[k, ::-1]


def test_rows_and_columns_of_one_array():
    for size, order in itertools.product((1, 2, 7, 70), "CF"):
        same(one_array, np.asarray(RANDOM.normal(size=(size, size)), order=order) / size, size, 0.5)


def kept(x, n):
    rows = []
    for k in range(n):
        row = x[k]
        row += 1.0
        rows.append(row)
        x[k] -= row * 0.5
    return rows


def test_a_view_that_is_kept_is_an_object():
    x = RANDOM.normal(size=(4, 4))
    ours, theirs = x.copy(), x.copy()
    rows, expected = native(kept)(ours, 4), kept(theirs, 4)
    assert ours.tobytes() == theirs.tobytes() and all(np.shares_memory(row, ours) for row in rows)
    assert [row.tobytes() for row in rows] == [row.tobytes() for row in expected]


def orthogonal(a, n):
    q, r = np.zeros_like(a), np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt(np.dot(a[:, k], a[:, k]))
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, n):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


def test_python_goes_on_wherever_the_code_is_left(fuel):
    a = RANDOM.normal(size=(5, 4))
    expected, staged = orthogonal(a.copy(), 4), native(orthogonal)
    for nodes in range(1, 150):
        fuel.value = nodes
        found = staged(a.copy(), 4)
        assert [each.tobytes() for each in found] == [each.tobytes() for each in expected]


def test_buffers_are_freed():
    x, y = RANDOM.normal(size=(2, 20, 5000))
    staged = native(sums)
    for _ in range(3):
        staged(x, y, 20, 0.5)
    y[3, 7] = np.inf
    x[3, 7] = -np.inf
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    with np.errstate(all="ignore"):
        for _ in range(3):
            staged(x, y, 20, 0.5)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 1_000_000   # a buffer that is never freed would be 40,000 bytes, 180 times


def of_unknown_type(x, n):
    found = 0
    for k in range(n):
        row = x[k]
        row -= 0.5
        found = found + x[k]
        x[k] = x[k] * 2
    return found, row


def test_a_sum_that_outlives_an_iteration_is_an_array():
    for shape in ((4, 3), (4, 1), (4,), (4, 2, 2)):
        same(of_unknown_type, RANDOM.normal(size=shape), 4)



def interleaved(x, n):
    for k in range(n):
        x[::2] += x[1::2]
        x[1::2] *= 0.75
        x[k:] = x[: len(x) - k] - x[k]


def rows(x, n):
    for k in range(1, n):
        x[k] -= x[k - 1] * 0.5
        x[k - 1] = x[k] + x[k - 1]


def in_one_memory(size, step):
    """A function that makes matrices whose rows begin some elements after each other, in memory like this."""
    numbers = RANDOM.normal(size=5 * size)
    return lambda: np.lib.stride_tricks.as_strided(numbers.copy(), (4, size), (8 * step, 8))


def test_targets_that_overlap_operands():
    for size in (4, 6, 64, 66, 130, 1000):
        same(interleaved, RANDOM.normal(size=size), 4)
        for step in (0, 1, 3, size - 1, size, size + 1):
            matrix = in_one_memory(size, step)
            (ours, theirs), staged = (matrix(), matrix()), native(rows)
            staged(ours, 4)
            rows(theirs, 4)
            assert ours.tobytes() == theirs.tobytes()


def test_targets_with_all_elements_in_one_place():
    def filled(x, y, n):
        for k in range(n):
            x[k] += y[k]
            x[k] = y[k] * x[k]

    numbers, y = RANDOM.normal(size=4), RANDOM.normal(size=(4, 7))
    ours, theirs = (np.lib.stride_tricks.as_strided(numbers.copy(), (4, 7), (8, 0)) for _ in range(2))
    native(filled)(ours, y, 4)
    filled(theirs, y, 4)
    assert ours.tobytes() == theirs.tobytes()


def test_what_has_been_stored_is_undone_if_numpy_would_warn_later():
    for size in (7, 64, 200, 5000):
        x, y = RANDOM.normal(size=(2, 4, size))
        y[2, -1] = 1e308
        same(sums, x, y, 4, 1e10)
        with np.errstate(over="raise"):
            same(sums, x, y, 4, 1e10)



def test_python_does_most_of_a_long_loop(tmp_path):
    lines = [f"        x[{row}] += a * y[k, :7]\n        x[{row}, 1:] = x[{row}, 0]" for row in range(100)]
    function = defined(tmp_path, "\n".join(["def f(x, y, n, a):", "    for k in range(n):", *lines]))
    x, y = RANDOM.normal(size=(100, 7)), RANDOM.normal(size=(3, 9))
    messages = [event.message for event in same(function, x, y, 3, 0.5).explain(x, y, 3, 0.5).where(kind="native")]
    assert messages[0].startswith("this loop is machine code")


def heat(rod, steps):
    for _ in range(steps):
        rod[1:-1] += 0.25 * (rod[2:] - 2 * rod[1:-1] + rod[:-2])
    return rod


@pytest.mark.parametrize("sizes, uses_kernels", [((100,), False), ((20_000,), True), ((100, 20_000), True)])
def test_long_vectors_are_left_to_kernels(sizes, uses_kernels):
    """Those of a length that is not known, too, if each iteration computes the same part of an array."""
    staged = native(heat)
    for size in (*sizes, *sizes):
        rod = RANDOM.normal(size=size)
        assert (staged(rod.copy(), 5) == heat(rod.copy(), 5)).all()
    told = str(staged.explain(rod, 5))
    assert ("operations on arrays are one loop of machine code" in told) == uses_kernels
