"""Lists that are only looked into."""

from tests.runtime.passes.texts import becomes, stays


def test_what_is_looked_into_in_a_loop_is_made_once():
    becomes(
        "hoist_constants",
        """
        graph f(n: py.int, m: py.int):
            a: py.int = for(range(0, 3), 0):
                body(i: py.int, t: py.int):
                    c: list = build([n, m, 7])
                    d: py.int = c[i]
                    e: py.bool = d < t
                    g: py.int = if(e):
                        then:
                            h: list = build([n, m, 7])
                            k: py.int = h[t]
                            -> k
                        else:
                            -> d
                    -> g
            p: list = build([n, m, 7])
            q: py.int = p[0]
            -> (a, q)
        """,
        """
        graph f(n: py.int, m: py.int):
            c: list = build([n, m, 7])
            a: py.int = for(range(0, 3), 0):
                body(i: py.int, t: py.int):
                    d: py.int = c[i]
                    e: py.bool = d < t
                    g: py.int = if(e):
                        then:
                            k: py.int = c[t]
                            -> k
                        else:
                            -> d
                    -> g
            q: py.int = c[0]
            -> (a, q)
        """,
    )


def test_what_is_more_than_looked_into_stays():
    stays(
        "hoist_constants",
        """
        graph f(n: py.int, x: f64[3]):
            a: object = for(range(0, 3), 0):
                body(i: py.int, t: object):
                    c: list = build([n, 1])
                    d: list = build([n, x])
                    e: list = build([n, i])
                    g: object = d[i]
                    h: py.int = e[i]
                    k: py.int = c[i]
                    c.append(k)
                    -> g
            -> a
        """,
    )


def test_what_is_in_no_loop_stays():
    stays(
        "hoist_constants",
        """
        graph f(n: py.int, i: py.int):
            c: list = build([n, 1])
            d: py.int = c[i]
            -> d
        """,
    )
