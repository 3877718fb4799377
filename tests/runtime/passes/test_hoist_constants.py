"""Lists and dicts that are only looked into."""

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


def test_dicts_and_arguments_that_are_looked_into_are_made_once():
    becomes(
        "hoist_constants",
        """
        graph f(n: py.int, m: py.int):
            a: object = for(range(0, 3), 0):
                body(i: py.int, t: object):
                    b: py.bool = i in {1: n, 2: m}
                    c: py.bool = i in (n, m)
                    d: object = if(b):
                        then:
                            e: dict = build({1: n, 2: m})
                            g: object = e[i]
                            -> g
                        else:
                            h: object = {1: n, 2: m}.get(i, c)
                            -> h
                    -> d
            -> a
        """,
        """
        graph f(n: py.int, m: py.int):
            %0: dict = build({1: n, 2: m})
            %1: list = build([n, m])
            a: object = for(range(0, 3), 0):
                body(i: py.int, t: object):
                    b: py.bool = i in %0
                    c: py.bool = i in %1
                    d: object = if(b):
                        then:
                            g: object = %0[i]
                            -> g
                        else:
                            h: object = %0.get(i, c)
                            -> h
                    -> d
            -> a
        """,
    )


def test_dicts_that_change_or_are_passed_on_stay():
    stays(
        "hoist_constants",
        """
        graph f(n: py.int, x: f64[3]):
            a: object = for(range(0, 3), 0):
                body(i: py.int, t: object):
                    c: dict = build({1: n})
                    c[2] = i
                    d: object = c[i]
                    e: dict = build({1: x})
                    g: object = e[i]
                    h: dict = build({1: n})
                    k: object = h.get(i, h)
                    l: py.bool = i in [n, i]
                    -> k
            -> a
        """,
    )


def test_tables_of_tuples_that_are_taken_apart_are_made_once():
    becomes(
        "hoist_constants",
        """
        graph f(n: py.int, m: py.int):
            a: object = for(range(0, 3), 0):
                body(i: py.int, t: object):
                    b: list = build([('push', n), ('pop', m), 3])
                    c: object = b[i]
                    d: object, e: object = unpack(c, 2)
                    g: dict = build({1: (n, m)})
                    h: object = g[i]
                    k: object = h[0]
                    l: object = k + e
                    -> l
            -> a
        """,
        """
        graph f(n: py.int, m: py.int):
            b: list = build([('push', n), ('pop', m), 3])
            g: dict = build({1: (n, m)})
            a: object = for(range(0, 3), 0):
                body(i: py.int, t: object):
                    c: object = b[i]
                    d: object, e: object = unpack(c, 2)
                    h: object = g[i]
                    k: object = h[0]
                    l: object = k + e
                    -> l
            -> a
        """,
    )


def test_tables_of_tuples_that_are_passed_on_stay():
    stays(
        "hoist_constants",
        """
        graph f(n: py.int, x: f64[3]):
            a: object = for(range(0, 3), 0):
                body(i: py.int, t: object):
                    b: list = build([(n, 1), (n, 2)])
                    c: object = b[i]
                    d: object, e: object = unpack(c, 2)
                    g: list = build([(n, 1), (n, x)])
                    h: object = g[i]
                    k: object = h[0]
                    l: list = build([(n, [1]), n])
                    m: object = l[i]
                    o: object = m[0]
                    -> c
            -> a
        """,
    )
