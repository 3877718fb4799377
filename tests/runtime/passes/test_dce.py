"""Dead code."""

import pytest

from tests.runtime.passes.texts import becomes, stays


def test_what_nobody_needs():
    becomes(
        "dce",
        """
        graph f(a: py.int, b: py.int):
            c: py.int = a + b
            d: py.int = c * 2
            e: py.int = a - b
            -> e
        """,
        """
        graph f(a: py.int, b: py.int):
            e: py.int = a - b
            -> e
        """,
    )


@pytest.mark.parametrize(
    "expression",
    [
        "n / m",            # may divide by zero
        "n + p",            # an integer may be too large for a float
        "x + x",            # may warn
        "i + j",            # may overflow, and warn
        "y + z",            # may not fit
        "y[n]",             # may be out of bounds
        "k + n",            # n may be too large for int64
        "k // 2",
        "o + 1",
        "s[0]",
        "-b",
        "b - b",
        "1e300 < h",        # warns that this is too large for float16
    ],
)
def test_what_may_raise_or_warn_stays(expression):
    stays(
        "dce",
        f"""
        graph f(n: py.int, m: py.int, p: py.float, x: f64[3], i: i64, j: i64, y: i64[?], z: i64[?], k: i64[3],
                o: object, s: str, b: bool[3], h: f16):
            a: object = {expression}
            -> n
        """.replace(",\n                ", ", "),
    )


@pytest.mark.parametrize(
    "expression, type",
    [
        ("n * m", "py.int"),
        ("p * q", "py.float"),
        ("n < p", "py.bool"),
        ("x < y", "bool[3]"),
        ("k * k", "i64[3]"),
        ("k + 100", "i64[3]"),
        ("x[1]", "f64"),
        ("x[-3:2]", "f64[2]"),
        ("x[None, 2]", "f64[1]"),
        ("not s", "py.bool"),
        ("t[1]", "py.float"),
        ("x.shape", "tuple<py.int>"),
    ],
)
def test_what_can_neither_raise_nor_warn_goes(expression, type):
    head = """
        graph f(n: py.int, m: py.int, p: py.float, q: py.float, x: f64[3], y: f64[3], k: i64[3],
                t: tuple<py.int,py.float>, s: f64):
    """.strip().replace("\n                ", " ")
    becomes("dce", f"{head}\n  a: {type} = {expression}\n  -> n", f"{head}\n  -> n")


def test_outputs_of_branches():
    becomes(
        "dce",
        """
        graph f(n: py.int):
            a: py.int, b: py.int = if(n):
                then:
                    c: py.int = n * 2
                    d: py.int = n * 3
                    -> c, d
                else:
                    -> n, 1
            -> b
        """,
        """
        graph f(n: py.int):
            b: py.int = if(n):
                then:
                    d: py.int = n * 3
                    -> d
                else:
                    -> 1
            -> b
        """,
    )


def test_what_a_loop_carries_for_nothing():
    becomes(
        "dce",
        """
        graph f(n: py.int):
            a: py.int, b: py.int, c: py.int = for(range(0, 5), 0, 1, 2):
                body(i: py.int, p: py.int, q: py.int, r: py.int):
                    s: py.int = p + i
                    t: py.int = q + r
                    u: py.int = r + i
                    -> s, t, u
            -> b
        """,
        """
        graph f(n: py.int):
            b: py.int, c: py.int = for(range(0, 5), 1, 2):
                body(i: py.int, q: py.int, r: py.int):
                    t: py.int = q + r
                    u: py.int = r + i
                    -> t, u
            -> b
        """,
    )


def test_a_loop_that_ends_may_go_one_that_may_not_stays():
    becomes(
        "dce",
        """
        graph f(n: py.int):
            a: py.int = for(range(0, 5), 0):
                body(i: py.int, p: py.int):
                    s: py.int = p + i
                    -> s
            b: py.int, c: py.int = while(0, 0):
                test(q: py.int, k: py.int):
                    t: py.bool = q < n
                    -> t
                body(r: py.int, l: py.int):
                    v: py.int = r + 1
                    w: py.int = l + r
                    -> v, w
            -> n
        """,
        """
        graph f(n: py.int):
            b: py.int = while(0):
                test(q: py.int):
                    t: py.bool = q < n
                    -> t
                body(r: py.int):
                    v: py.int = r + 1
                    -> v
            -> n
        """,
    )


def test_what_can_be_seen_stays_with_all_around_it():
    stays(
        "dce",
        """
        graph f(n: py.int, x: f64[3]):
            c: py.int = n + 1
            if(c):
                then:
                    d: py.int = n + 2
                    x[0] = d
                else:
                    pass
            -> n
        """,
    )


def test_a_branch_that_raises_stays():
    stays(
        "dce",
        """
        graph f(n: py.int):
            if(n):
                then:
                    raise(None)
                    -> never
                else:
                    pass
            -> n
        """,
    )
