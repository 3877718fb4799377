"""Loop-invariant code motion."""

import numpy as np

import autograph as ag
from tests.runtime.passes.texts import becomes, stays


def test_what_is_quiet():
    becomes(
        "licm",
        """
        graph f(n: py.int, m: py.int, x: f64[3]):
            a: py.int = while(0):
                test(t: py.int):
                    c: py.int = n * m
                    d: py.bool = t < c
                    -> d
                body(u: py.int):
                    e: py.int = n + m
                    g: py.int = e * 2
                    h: py.int = u + g
                    -> h
            -> a
        """,
        """
        graph f(n: py.int, m: py.int, x: f64[3]):
            c: py.int = n * m
            e: py.int = n + m
            g: py.int = e * 2
            a: py.int = while(0):
                test(t: py.int):
                    d: py.bool = t < c
                    -> d
                body(u: py.int):
                    h: py.int = u + g
                    -> h
            -> a
        """,
    )


def test_what_may_raise_at_the_beginning_of_a_loop_that_has_iterations():
    becomes(
        "licm",
        """
        graph f(n: py.int, m: f64[3,3]):
            a: object = for(range(0, 3), 0):
                body(i: py.int, t: object):
                    c: py.int = i + 1
                    d: f64[3,3] = np.linalg.inv(m)
                    e: f64 = d[0, c]
                    print(c)
                    g: py.float = n / 2
                    -> e
            -> a
        """,
        """
        graph f(n: py.int, m: f64[3,3]):
            d: f64[3,3] = np.linalg.inv(m)
            a: object = for(range(0, 3), 0):
                body(i: py.int, t: object):
                    c: py.int = i + 1
                    e: f64 = d[0, c]
                    print(c)
                    g: py.float = n / 2
                    -> e
            -> a
        """,
    )


def test_a_guard_for_a_loop_that_may_have_no_iterations():
    becomes(
        "licm",
        """
        graph f(n: py.int, m: f64[3,3], k: py.int):
            r: range<py.int> = range(n)
            a: object = for(r, 0):
                body(i: py.int, t: object):
                    b: py.int = k + 1
                    d: f64[3,3] = np.linalg.inv(m)
                    e: py.int = b + i
                    g: f64 = d[0, e]
                    -> g
            -> a
        """,
        """
        graph f(n: py.int, m: f64[3,3], k: py.int):
            r: range<py.int> = range(n)
            b: py.int = k + 1
            a: object = if(r):
                then:
                    d: f64[3,3] = np.linalg.inv(m)
                    a.1: object = for(r, 0):
                        body(i: py.int, t: object):
                            e: py.int = b + i
                            g: f64 = d[0, e]
                            -> g
                    -> a.1
                else:
                    -> 0
            -> a
        """,
    )


def test_an_array_of_unknown_length_is_asked_for_it():
    becomes(
        "licm",
        """
        graph f(x: f64[?], y: f64[?]):
            for(x):
                body(v: f64):
                    a: f64 = .sum(y)
                    print(a)
            -> None
        """,
        """
        graph f(x: f64[?], y: f64[?]):
            %0: py.int = len(x)
            if(%0):
                then:
                    a: f64 = .sum(y)
                    for(x):
                        body(v: f64):
                            print(a)
                else:
                    pass
            -> None
        """,
    )


def test_not_behind_what_can_be_seen():
    stays(
        "licm",
        """
        graph f(x: f64[3], n: py.int):
            for(range(0, 3)):
                body(i: py.int):
                    a: f64 = x[n]
                    print(a)
                    b: f64 = x[0]
                    x[0] = b
            -> None
        """,
    )


def test_what_the_loop_writes_stays_and_what_it_does_not_goes():
    becomes(
        "licm",
        """
        graph f(x: f64[3], k: i64[3]):
            y: f64[3] = x * 2
            for(range(0, 3)):
                body(i: py.int):
                    a: f64 = x[0]
                    b: f64 = y[0]
                    y[i] = a
            -> y
        """,
        """
        graph f(x: f64[3], k: i64[3]):
            y: f64[3] = x * 2
            a: f64 = x[0]
            for(range(0, 3)):
                body(i: py.int):
                    b: f64 = y[0]
                    y[i] = a
            -> y
        """,
    )


def test_an_array_that_is_written_or_kept_is_made_in_each_iteration():
    stays(
        "licm",
        """
        graph f(x: i64[3], xs: list):
            for(range(0, 3)):
                body(i: py.int):
                    a: i64[3] = x * 2
                    a[0] = i
                    b: i64[3] = x * 3
                    xs.append(b)
            -> None
        """,
    )


def test_out_of_two_loops():
    becomes(
        "licm",
        """
        graph f(n: py.int, m: py.int):
            for(range(0, 3)):
                body(i: py.int):
                    for(range(0, 4)):
                        body(j: py.int):
                            a: py.int = n * m
                            b: py.int = a + i
                            c: py.int = b + j
                            print(c)
            -> None
        """,
        """
        graph f(n: py.int, m: py.int):
            a: py.int = n * m
            for(range(0, 3)):
                body(i: py.int):
                    b: py.int = a + i
                    for(range(0, 4)):
                        body(j: py.int):
                            c: py.int = b + j
                            print(c)
            -> None
        """,
    )


def test_what_is_carried_unchanged_is_not_carried():
    becomes(
        "licm",
        """
        graph f(n: py.int, x: f64[3]):
            a: f64[3], b: py.int, c: py.int = for(range(0, 3), x, 1, n):
                body(i: py.int, p: f64[3], q: py.int, r: py.int):
                    p[0] = q
                    s: py.int = q + i
                    -> p, s, n
            -> (a, b, c)
        """,
        """
        graph f(n: py.int, x: f64[3]):
            b: py.int = for(range(0, 3), 1):
                body(i: py.int, q: py.int):
                    x[0] = q
                    s: py.int = q + i
                    -> s
            -> (x, b, n)
        """,
    )


def test_lists_are_made_in_each_iteration():
    stays(
        "licm",
        """
        graph f(n: py.int):
            a: object = for(range(0, 3), 0):
                body(i: py.int, t: object):
                    b: list = build([n])
                    -> b
            -> a
        """,
    )


def test_what_comes_out_of_a_guard_is_what_the_loop_gives():
    """It is written in the loop behind it, so that what is read there is not the same in each iteration."""

    def function(x, m, n):
        for _ in range(n):
            x = x + np.linalg.inv(m)[0]
        total = 0.0
        for _ in range(n):
            total += x[0]
            x[0] = 0.0
        return total, x

    args = np.ones(2), np.eye(2), 3
    found, x = ag.function(function, engine="numpy")(*args)
    wanted, y = function(*args)
    assert found == wanted == 4.0
    assert x.tolist() == y.tolist()


def test_a_gradient_of_what_is_overwritten():
    def function(p, x, n):
        y = x * 2
        for _ in range(n):
            x = x + n * p
        p *= 0.5
        for _ in range(n):
            x[0] = p
        return np.sum(x * y)

    in_p = ag.grad(function)(0.41, np.array([0.3, -0.4, 0.7]), 2)
    assert np.isclose(in_p, 0.6 * 0.5 + 4 * (1.4 - 0.8))
