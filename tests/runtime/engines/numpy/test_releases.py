"""Large arrays are deleted once they are no longer used: a call holds no more memory than the user's program."""

import tracemalloc

import numpy as np
import pytest

import autograph as ag
from tests.runtime.engines.texts import becomes

LARGE = 100_000


def test_an_intermediate_result_is_deleted_after_its_last_use():
    becomes(
        """
        graph f(x: f64[9999]):
            %0: f64[9999] = np.exp(x)
            %1: f64[9999] = %0 * %0
            s: f64 = np.sum(%1)
            %2: f64[9999] = np.sin(%1)
            %3: f64[9999] = x * s
            print(%2)
            -> %3
        """,
        """
        def f(x):
            t1 = np.exp(x)
            t2 = t1 * t1
            del t1
            s = np.sum(t2)
            t3 = np.sin(t2)
            del t2
            t4 = x * s
            print(t3)
            return t4
        """,
    )


@pytest.mark.parametrize("type", ["f64[9]", "f64", "object"])
def test_small_arrays_and_others_stay(type):
    becomes(
        f"""
        graph f(x: {type}):
            %0: {type} = x + 1
            %1: {type} = %0 * %0
            %2: {type} = x * %1
            -> (%1, %2)
        """,
        """
        def f(x):
            t1 = x + 1
            t2 = t1 * t1
            return t2, x * t2
        """,
    )


def test_arrays_that_a_loop_or_branch_reads_are_deleted_behind_it():
    becomes(
        """
        graph f(x: f64[9999], n: py.int):
            %0: f64[9999] = x * 2.0
            %6: range = range(n)
            y: f64[9999] = for(%6, x, target=0):
              body(i: py.int, y.1: f64[9999]):
                %1: f64[9999] = np.exp(y.1)
                %2: f64[9999] = %1 / %1
                %3: f64[9999] = %2 + %0
                -> %3
            %4: bool = n > 3
            %5: f64[9999] = np.sin(y)
            if(%4):
              then:
                x[...] = %5
              else:
                print(n)
            print(x)
            -> None
        """,
        """
        def f(x, n):
            t1 = x * 2.0
            y = x
            for i in range(n):
                t2 = np.exp(y)
                y = t2 / t2 + t1
                del t2
            del t1
            t3 = n > 3
            t4 = np.sin(y)
            if t3:
                x[...] = t4
            else:
                print(n)
            del t4
            print(x)
        """,
    )


def normalized(x):
    e = np.exp(x)
    total = e.sum()
    shifted = e - total
    return shifted / total


def two(x, y):
    first = normalized(x)
    second = normalized(y)
    return np.cumsum(first) + np.sin(second)


def intermediate(x, y):
    return (x * y + y) / (x * y - y + 2.0) + np.sin(x * y)


def unrolled(x, y):
    for _ in range(4):
        inside = x * x + y * y < 4
        x, y = np.where(inside, x * x - y * y, x), np.where(inside, 2 * x * y, y)
    return x


def peak(function, *args):
    """The bytes that a call holds at most."""
    function(*args)
    tracemalloc.start()
    function(*args)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.parametrize("function", [two, intermediate, unrolled])
@pytest.mark.parametrize("open_lengths", [False, True])
def test_a_call_holds_no_more_memory_than_the_program(function, open_lengths):
    staged = ag.function(function)
    if open_lengths:
        for length in (4, 5):
            staged(np.ones(length), np.ones(length))
    args = np.linspace(0.0, 1.0, LARGE), np.linspace(0.1, 1.0, LARGE)
    assert np.array_equal(staged(*args), function(*args))
    more = 1.5 if open_lengths else 0.5     # intermediate results that the program computes twice
    assert peak(staged, *args) < peak(function, *args) + more * args[0].nbytes


def test_variables_of_a_function_live_until_its_call_ends():
    """A debugger shows them."""

    def inner(x):
        e = np.exp(x)
        total = np.sum(np.cumsum(e))
        if total > 3:
            raise ValueError("too large")
        return total

    def outer(x):
        return inner(x) + 1.0

    with pytest.raises(ValueError) as caught:
        ag.function(outer)(np.ones(LARGE))
    found = {entry.tb_frame.f_code.co_name: entry.tb_frame.f_locals for entry in _entries(caught.value.__traceback__)}
    assert "total" in found["inner"]
    assert (found["inner"]["e"] == np.e).all()


def _entries(entry):
    while entry is not None:
        yield entry
        entry = entry.tb_next
