"""Branches and loops that always or never run."""

import pytest

from tests.runtime.passes.texts import becomes, stays


@pytest.mark.parametrize("test, value", [("True", "a"), ("0", "b"), ("'text'", "a"), ("None", "b"), ("0.0", "b")])
def test_a_constant_condition(test, value):
    becomes(
        "prune_branches",
        f"""
        graph f(n: py.int):
            r: py.int = if({test}):
                then:
                    a: py.int = n + 1
                    -> a
                else:
                    b: py.int = n + 1
                    -> b
            s: py.int = r * 2
            -> s
        """,
        f"""
        graph f(n: py.int):
            {value}: py.int = n + 1
            s: py.int = {value} * 2
            -> s
        """,
    )


def test_what_follows_a_raise_is_not_reached():
    becomes(
        "prune_branches",
        """
        graph f(n: py.int, e: object):
            r: py.int = if(n):
                then:
                    s: py.int = if(True):
                        then:
                            raise(e)
                            -> never
                        else:
                            -> 1
                    t: py.int = s + n
                    -> t
                else:
                    -> 2
            -> r
        """,
        """
        graph f(n: py.int, e: object):
            r: py.int = if(n):
                then:
                    raise(e)
                    -> never
                else:
                    -> 2
            -> r
        """,
    )


def test_the_whole_graph_raises():
    becomes(
        "prune_branches",
        """
        graph f(n: py.int, e: object):
            s: py.int = if(0):
                then:
                    -> 1
                else:
                    raise(e)
                    -> never
            t: py.int = s + n
            -> t
        """,
        """
        graph f(n: py.int, e: object):
            raise(e)
            -> never
        """,
    )


def test_the_same_condition_again():
    becomes(
        "prune_branches",
        """
        graph f(n: py.int, m: py.int):
            r: py.int = if(n):
                then:
                    s: py.int = if(n):
                        then:
                            -> 1
                        else:
                            -> 2
                    t: py.int = if(m):
                        then:
                            -> 3
                        else:
                            -> s
                    -> t
                else:
                    c: py.bool = not n
                    u: py.int = if(n):
                        then:
                            -> 5
                        else:
                            -> 6
                    -> u
            v: py.int = if(n):
                then:
                    -> 7
                else:
                    -> r
            -> v
        """,
        """
        graph f(n: py.int, m: py.int):
            r: py.int = if(n):
                then:
                    t: py.int = if(m):
                        then:
                            -> 3
                        else:
                            -> 1
                    -> t
                else:
                    c: py.bool = not n
                    -> 6
            v: py.int = if(n):
                then:
                    -> 7
                else:
                    -> r
            -> v
        """,
    )


def test_a_bool_is_true_inside_and_its_opposite_is_not():
    becomes(
        "prune_branches",
        """
        graph f(b: py.bool):
            c: py.bool = not b
            r: py.bool, s: py.int = if(c):
                then:
                    x: py.int = if(b):
                        then:
                            -> 1
                        else:
                            -> 2
                    -> c, x
                else:
                    -> c, 3
            -> (r, s)
        """,
        """
        graph f(b: py.bool):
            c: py.bool = not b
            s: py.int = if(c):
                then:
                    -> 2
                else:
                    -> 3
            -> (c, s)
        """,
    )


def test_the_truth_of_an_array_may_change():
    stays(
        "prune_branches",
        """
        graph f(a: f64[1]):
            r: py.int = if(a):
                then:
                    a[0] = 0
                    s: py.int = if(a):
                        then:
                            -> 1
                        else:
                            -> 2
                    -> s
                else:
                    -> 3
            -> r
        """,
    )


def test_results_that_are_the_same():
    becomes(
        "prune_branches",
        """
        graph f(n: py.int, x: f64[3]):
            a: f64[3], b: py.float, c: py.int = if(n):
                then:
                    x[0] = 1
                    -> x, 0.0, 1
                else:
                    -> x, -0.0, 1
            -> (a, b, c)
        """,
        """
        graph f(n: py.int, x: f64[3]):
            b: py.float = if(n):
                then:
                    x[0] = 1
                    -> 0.0
                else:
                    -> -0.0
            -> (x, b, 1)
        """,
    )


def test_new_lists_are_made_once():
    becomes(
        "prune_branches",
        """
        graph f(n: py.int):
            r: list = if(1):
                then:
                    -> [n]
                else:
                    -> [1]
            -> (r, r)
        """,
        """
        graph f(n: py.int):
            r: list = build([n])
            -> (r, r)
        """,
    )


def test_loops_without_iterations():
    becomes(
        "prune_branches",
        """
        graph f(n: py.int, x: f64[0,3]):
            r: object = range(3, 3)
            a: py.int = for(r, n):
                body(i: py.int, p: py.int):
                    q: py.int = p + i
                    -> q
            b: py.int = for(x, a):
                body(row: f64[3], p.1: py.int):
                    q.1: py.int = p.1 * 2
                    -> q.1
            c: py.int = while(b):
                test(t: py.int):
                    -> False
                body(t.1: py.int):
                    u: py.int = t.1 + 1
                    -> u
            -> c
        """,
        """
        graph f(n: py.int, x: f64[0,3]):
            r: object = range(3, 3)
            -> n
        """,
    )


def test_a_range_that_raises_stays():
    stays(
        "prune_branches",
        """
        graph f(n: py.int):
            r: object = range(3, 3, 0)
            a: py.int = for(r, n):
                body(i: py.int, p: py.int):
                    q: py.int = p + i
                    -> q
            -> a
        """,
    )
