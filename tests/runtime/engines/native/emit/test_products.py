"""Products of vectors in loops: the bits, warnings and errors of NumPy, without a call of Python."""

import itertools
import threading
import time
import tracemalloc

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.emit import products, tier_up
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.loops import counted_loops
from tests.runtime.engines.native.kernels.test_fusion import outcome

RANDOM = np.random.default_rng(5)


def by_matmul(x, y, found, begins, ends):
    for k in range(len(begins)):
        found[k] = x[begins[k] : ends[k]] @ y[begins[k] : ends[k]]


def by_ufunc(x, y, found, begins, ends):
    for k in range(len(begins)):
        found[k] = np.matmul(x[begins[k] : ends[k]], y[begins[k] : ends[k]])


def by_dot(x, y, found, begins, ends):
    for k in range(len(begins)):
        found[k] = np.dot(x[begins[k] : ends[k]], y[begins[k] : ends[k]])


def by_method(x, y, found, begins, ends):
    for k in range(len(begins)):
        found[k] = x[begins[k] : ends[k]].dot(y[begins[k] : ends[k]])


def by_inner(x, y, found, begins, ends):
    for k in range(len(begins)):
        found[k] = np.inner(x[begins[k] : ends[k]], y[begins[k] : ends[k]])


def by_vdot(x, y, found, begins, ends):
    for k in range(len(begins)):
        found[k] = np.vdot(x[begins[k] : ends[k]], y[begins[k] : ends[k]])


FUNCTIONS = [by_matmul, by_ufunc, by_dot, by_method, by_inner, by_vdot]
BEGINS = np.array([0, 0, 0, -3, 5, 7, -50, 3, 2, 0, 10, 1, 0])
ENDS = np.array([0, 1, 2, 100, 4, -1, 60, -4, 35, 33, 11, 2, -1])


def native(function):
    return ag.function(function, engine="native")


def same(function, *args, calls=2):
    """Compare the outcomes of a function and of its machine code, which changes copies of the arguments."""
    staged = native(function)
    for _ in range(calls):
        ours, theirs = ([each.copy("K") if isinstance(each, np.ndarray) else each for each in args] for _ in range(2))
        assert outcome(staged, *ours) == outcome(function, *theirs)
        assert [each.tobytes() for each in ours if isinstance(each, np.ndarray)] == [
            each.tobytes() for each in theirs if isinstance(each, np.ndarray)
        ]
    return staged


def vector(dtype, step, special):
    """A vector of 40 elements, which are so many elements apart."""
    numbers = RANDOM.normal(size=160) * 3
    if special:
        numbers[RANDOM.integers(0, 160, 90)] = RANDOM.choice([0.0, -0.0], 90)
        numbers[RANDOM.integers(0, 160, 3)] = special
    with np.errstate(all="ignore"):
        numbers = (numbers + 1j * numbers[::-1] if dtype in "FD" else numbers).astype(dtype)
    return np.broadcast_to(numbers[:1], 40) if step == 0 else numbers[: 40 * abs(step)][::step]


@pytest.mark.parametrize("dtype", "dfDFlibHQ?")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_bit_is_that_of_numpy_for_all_strides(function, dtype):
    staged = native(function)
    for first, second in itertools.product((1, 2, 4, -1, -3, 0), repeat=2):
        for special in (None, np.inf, np.nan, 1e200):
            x, y = vector(dtype, first, special), vector(dtype, second, special)
            ours, theirs = np.zeros((2, len(BEGINS)), dtype)
            assert outcome(staged, x, y, ours, BEGINS, ENDS) == outcome(function, x, y, theirs, BEGINS, ENDS)
            assert ours.tobytes() == theirs.tobytes()


@pytest.mark.skipif(not FLAGS, reason="the processor's flags are not known")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_neither_views_nor_products_call_python(function):
    strict, x = ag.function(function, engine="native", strict="native_callback"), vector("d", 1, None)
    ours, theirs = np.zeros((2, len(BEGINS)))
    strict(x, x[::-1], ours, BEGINS, ENDS)
    function(x, x[::-1], theirs, BEGINS, ENDS)
    assert ours.tobytes() == theirs.tobytes()


def test_numpy_does_products_that_are_not_known(monkeypatch):
    monkeypatch.setattr(products, "matmul_loop", lambda char: None)
    products.is_known.cache_clear()
    staged, x = native(by_dot), vector("d", 2, None)
    ours, theirs = np.zeros((2, len(BEGINS)))
    staged(x, x, ours, BEGINS, ENDS)
    by_dot(x, x, theirs, BEGINS, ENDS)
    assert staged.explain(x, x, ours, BEGINS, ENDS).where(kind="native_callback")
    products.is_known.cache_clear()
    assert ours.tobytes() == theirs.tobytes()


def decomposed(a):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]


def test_products_read_what_the_loop_has_just_written():
    for size, order in itertools.product((1, 2, 5, 40), "CF"):
        same(decomposed, np.asarray(RANDOM.normal(size=(size, size)) + size * np.eye(size), order=order))


def test_python_goes_on_wherever_the_code_is_left(fuel):
    a = RANDOM.normal(size=(4, 4)) + 4 * np.eye(4)
    expected, staged = a.copy(), native(decomposed)
    decomposed(expected)
    for nodes in range(1, 120):
        fuel.value = nodes
        found = a.copy()
        staged(found)
        assert found.tobytes() == expected.tobytes()


# Views ----------------------------------------------------------------------------------------------------------------


def indexed(a, b, n):
    found = np.zeros((n, 6))
    for i in range(n):
        found[i, 0] = a[i] @ b[-1 - i]
        found[i, 1] = a[i, ...] @ a[:, i]
        found[i, 2] = a[-i, 1 : n - 1 : 2] @ b[2:n:2, i]
        found[i, 3] = a[1:, i][: i - 2] @ b[i, 1:][: i - 2]
        found[i, 4] = a[i : i + 3, 0] @ b[i : i + 3, -1] + a[0, -2:] @ b[-2:, 0]
        found[i, 5] = a[i, None, :][0] @ b[np.int8(i), :]
    return found


def test_indices_of_all_kinds():
    for a in (RANDOM.normal(size=(9, 9)), RANDOM.normal(size=(9, 9)).T, RANDOM.normal(size=(18, 27))[::2, ::-3]):
        same(indexed, a, RANDOM.normal(size=(9, 9)), 9)


def outside(a, k, n):
    total = 0.0
    for i in range(n):
        total += a[i + k] @ a[i, :]
    return total


def unequal(a, k, n):
    total = 0.0
    for i in range(n):
        total += a[i, :k] @ a[:i, 0]
    return total


def test_errors():
    a = RANDOM.normal(size=(6, 6))
    for k in (0, 3, -9, 100):
        same(outside, a, k, 6)
        same(unequal, a, k, 6)


def also_kept(a, n):
    rows, total = [], 0.0
    for i in range(n):
        row = a[i, 1:]
        total += row @ row
        rows.append(row)
    return rows, total


def test_a_view_that_is_kept_is_an_object():
    a = RANDOM.normal(size=(6, 6))
    rows, total = native(also_kept)(a, 6)
    assert total == also_kept(a, 6)[1]
    assert all(np.shares_memory(row, a) and row.shape == (5,) for row in rows)


def overflowing(a, n):
    total = 0.0
    for i in range(n):
        total = total + a[i, :n] @ a[i, :n]
        a[i, 0] = i
    return total


def test_numpy_warns_once_in_the_iteration_that_overflows():
    a = RANDOM.normal(size=(6, 6))
    a[3] = 1e200
    same(overflowing, a, 6)
    with np.errstate(over="raise"):
        same(overflowing, a, 6)


# Others ---------------------------------------------------------------------------------------------------------------


def reversed_sums(r):
    found = np.empty_like(r)
    for k in range(len(r)):
        found[k] = np.dot(np.flip(r[:k]), r[:k])
    return found


def test_copies_of_reversed_vectors_are_freed():
    r, staged = RANDOM.normal(size=200), native(reversed_sums)
    assert staged(r).tobytes() == reversed_sums(r).tobytes()
    staged(r)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(20):
        staged(r)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 100_000


def test_long_loops_let_others_run(monkeypatch):
    polls = []
    monkeypatch.setattr(tier_up, "give_way", lambda: polls.append(None))
    count = 40 * counted_loops.LONG
    x = np.ones(8)
    found, begins = np.zeros(count), np.zeros(count, int)
    native(by_dot)(x, x, found, begins, begins + 8)
    assert (found == 8).all() and len(polls) >= count // counted_loops.LONG // 2


# Gathered elements ----------------------------------------------------------------------------------------------------


def sparse(rows, columns, values, x, found):
    for i in range(len(rows) - 1):
        here = columns[rows[i] : rows[i + 1]]
        found[i] = values[rows[i] : rows[i + 1]] @ x[here] + np.dot(x[here], x[here])
    return found


def matrix(dtype, index, longest):
    counts = RANDOM.integers(0, longest, 30)
    rows = np.concatenate([[0], np.cumsum(counts)])
    columns = RANDOM.integers(0, 50, rows[-1])
    values, x = (np.asarray(RANDOM.normal(size=size) * 5, dtype) for size in (rows[-1], 50))
    return rows.astype(index), columns.astype(index), values, x


@pytest.mark.parametrize("index", ["i8", "i4", "u4", "u2", "i2", "u8", ">i8"])
@pytest.mark.parametrize("dtype", "fdDi")
def test_gathered_elements(dtype, index):
    for longest in (3, 90):
        rows, columns, values, x = matrix(dtype, index, longest)
        for other in (x, np.repeat(x, 2)[::2], x[::-1]):
            same(sparse, rows, columns, values, other, np.zeros(30, dtype))


def test_sparse_rows_do_not_call_python():
    rows, columns, values, x = matrix("d", "i4", 9)
    strict = ag.function(sparse, engine="native", strict="native_callback")
    ours, theirs = (f(rows, columns, values, x, np.zeros(30)) for f in (strict, sparse))
    assert ours.tobytes() == theirs.tobytes()


def test_places_that_are_out_of_bounds():
    rows, columns, values, x = matrix("d", "i8", 90)
    for place in (-1, -50, -51, 49, 50, 2**62, -(2**63)):
        columns[-3] = place
        same(sparse, rows, columns, values, x, np.zeros(30))
    same(sparse, rows, columns, values, x[:0], np.zeros(30))
    same(sparse, rows, np.zeros(len(columns), bool), values, x, np.zeros(30))


def test_numpy_warns_of_gathered_elements():
    rows, columns, values, x = matrix("d", "i8", 90)
    x[columns[7]] = 1e200
    same(sparse, rows, columns, values * 1e200, x, np.zeros(30))


# Matrices -------------------------------------------------------------------------------------------------------------


def powers(a, x, n):
    found = []
    for _ in range(n):
        x = a @ x
        found.append(x)
    return found, x


def from_left(a, x, n):
    found = []
    for k in range(n):
        found.append(np.matmul(x[k : k + 3], a[k : k + 3, : n - k]))
        found.append(x @ a)
    return found


def filtered(a, p, n):
    for k in range(n):
        p = a @ p @ a.T
        a[k % len(a)] = p[:, 0] @ a
    return p, a


def layouts(rows, columns, dtype):
    numbers = (RANDOM.normal(size=(2 * rows, 3 * columns)) * 4).astype(dtype)
    if dtype == "D":
        numbers += 1j * RANDOM.normal(size=numbers.shape)
    one = numbers[:rows, :columns]
    return [one.copy(), one.copy("F"), numbers[::2, ::3], one[::-1, ::-1], np.broadcast_to(one[:1], one.shape), one]


@pytest.mark.parametrize("dtype", ["d", "D", *(pytest.param(each, marks=pytest.mark.slow) for each in "fil")])
def test_products_with_a_matrix_have_the_bits_and_layout_of_numpy(dtype):
    for size in (0, 1, 2, 5, 40):
        for a in layouts(size, size, dtype):
            for x in (*layouts(size, 3, dtype)[:4], layouts(size, 1, dtype)[2][:, 0]):
                same(powers, a, x, 4)
        for a, x in itertools.product(layouts(size, 4, dtype)[:4], layouts(3, size, dtype)[:4]):
            same(from_left, a, x[0], 3)
            same(from_left, a, x, 3)


def test_results_that_are_used_again():
    for size in (1, 2, 7, 33):
        a = RANDOM.normal(size=(size, size))
        same(filtered, a / size, RANDOM.normal(size=(size, size)), 6)
        same(filtered, a.T / size, np.asfortranarray(a), 6)


def test_products_with_a_matrix_do_not_call_python():
    def moved(a, x, y, n):
        for k in range(1, n):
            x[k] = a @ x[k - 1] + y[k]
        return x

    a, x, y = RANDOM.normal(size=(5, 5)), *RANDOM.normal(size=(2, 9, 5))
    strict = ag.function(moved, engine="native", strict="native_callback")
    assert strict(a, x.copy(), y, 9).tobytes() == moved(a, x.copy(), y, 9).tobytes()


def test_matrices_that_do_not_fit():
    a, x = RANDOM.normal(size=(3, 4)), RANDOM.normal(size=3)
    others = [x, a, a[None], x[0], np.float64(2), x.astype("f"), np.ones(4, "f"), np.arange(4)]
    for first, second in ((a[None], a.T), *((a, other) for other in others)):
        same(powers, first, second, 2)
        same(from_left, first, second, 1)


def sums_of_rows(a, x, n):
    total = 0.0
    for k in range(n):
        total += (a[:n] @ x[k, :n])[0]
    return total


def test_numpy_warns_of_products_with_a_matrix():
    for special in (1e200, np.inf, np.nan):
        a = RANDOM.normal(size=(4, 4))
        a[1, 2] = special
        same(sums_of_rows, a, 1e150 * RANDOM.normal(size=(4, 4)), 4)
        with np.errstate(all="raise"):
            same(sums_of_rows, a, RANDOM.normal(size=(4, 4)), 4)


def test_arrays_of_products_are_freed():
    a = np.eye(100) / 2
    staged = native(filtered)
    for _ in range(3):
        staged(a.copy(), a, 20)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(3):
        staged(a.copy(), a, 20)
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 100_000


def test_python_goes_on_wherever_products_of_matrices_are_left(fuel):
    a = RANDOM.normal(size=(3, 3)) / 3
    expected, staged = filtered(a.copy(), a, 5), native(filtered)
    for nodes in range(1, 60):
        fuel.value = nodes
        found = staged(a.copy(), a, 5)
        assert [each.tobytes() for each in found] == [each.tobytes() for each in expected]


def test_other_threads_run_during_large_products():
    a, runs = RANDOM.normal(size=(400, 400)) / 20, []
    staged, stop = native(powers), threading.Event()
    staged(a, a, 2)

    def count():
        while not stop.is_set():
            runs.append(None)
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    found, expected = staged(a, a, 20), powers(a, a, 20)
    stop.set()
    thread.join()
    assert found[1].tobytes() == expected[1].tobytes() and runs
