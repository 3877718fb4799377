"""Common subexpressions."""

from tests.runtime.passes.texts import becomes, stays


def test_numbers():
    becomes(
        "cse",
        """
        graph f(a: py.int, b: py.int):
            c: py.int = a + b
            d: py.int = a + b
            e: py.int = c * d
            -> e
        """,
        """
        graph f(a: py.int, b: py.int):
            c: py.int = a + b
            e: py.int = c * c
            -> e
        """,
    )


def test_arrays_that_nobody_sees():
    becomes(
        "cse",
        """
        graph f(x: f64[3], y: f64[3]):
            a: f64[3] = x * y
            b: f64[3] = x * y
            c: f64[3] = a + b
            -> c
        """,
        """
        graph f(x: f64[3], y: f64[3]):
            a: f64[3] = x * y
            c: f64[3] = a + a
            -> c
        """,
    )


def test_two_arrays_that_are_returned_are_two():
    stays(
        "cse",
        """
        graph f(x: f64[3]):
            a: f64[3] = x * 2
            b: f64[3] = x * 2
            -> (a, b)
        """,
    )


def test_an_array_that_is_written_is_one_of_its_own():
    stays(
        "cse",
        """
        graph f(x: f64[3]):
            a: f64[3] = x * 2
            b: f64[3] = x * 2
            a[0] = 5
            c: f64[3] = a + b
            -> c
        """,
    )


def test_not_across_a_write():
    stays(
        "cse",
        """
        graph f(x: f64[3], i: py.int):
            a: f64 = x[i]
            x[0] = 5
            b: f64 = x[i]
            -> (a, b)
        """,
    )


def test_parameters_may_be_the_same_array():
    stays(
        "cse",
        """
        graph f(x: f64[3], y: f64[3], i: py.int):
            a: f64 = x[i]
            y[0] = 5
            b: f64 = x[i]
            -> (a, b)
        """,
    )


def test_across_a_write_to_another_array():
    becomes(
        "cse",
        """
        graph f(x: f64[3], i: py.int):
            y: f64[3] = x * 2
            a: f64 = x[i]
            y[0] = a
            b: f64 = x[i]
            -> (a, b, y)
        """,
        """
        graph f(x: f64[3], i: py.int):
            y: f64[3] = x * 2
            a: f64 = x[i]
            y[0] = a
            -> (a, a, y)
        """,
    )


def test_a_write_through_a_view():
    stays(
        "cse",
        """
        graph f(x: f64[3], i: py.int):
            y: f64[3] = x * 2
            z: f64[2] = y[1:]
            a: f64 = y[i]
            z[0] = a
            b: f64 = y[i]
            -> (a, b)
        """,
    )


def test_views_of_the_same_may_be_written_but_not_returned():
    becomes(
        "cse",
        """
        graph f(x: f64[3]):
            a: f64[2] = x[1:]
            b: f64[2] = x[1:]
            a[0] = 1
            b[1] = 2
            c: f64[2] = x[1:]
            d: f64[2] = x[1:]
            -> (c, d)
        """,
        """
        graph f(x: f64[3]):
            a: f64[2] = x[1:]
            a[0] = 1
            a[1] = 2
            c: f64[2] = x[1:]
            d: f64[2] = x[1:]
            -> (c, d)
        """,
    )


def test_branches_see_what_is_around_them_and_not_each_other():
    becomes(
        "cse",
        """
        graph f(a: py.int, b: py.int):
            c: py.int = a + b
            r: py.int = if(a):
                then:
                    d: py.int = a + b
                    e: py.int = a - b
                    -> d
                else:
                    g: py.int = a - b
                    -> g
            h: py.int = a - b
            -> (r, h)
        """,
        """
        graph f(a: py.int, b: py.int):
            c: py.int = a + b
            r: py.int = if(a):
                then:
                    e: py.int = a - b
                    -> c
                else:
                    g: py.int = a - b
                    -> g
            h: py.int = a - b
            -> (r, h)
        """,
    )


def test_a_loop_that_writes_later_in_its_body():
    stays(
        "cse",
        """
        graph f(x: f64[3], n: py.int):
            a: f64 = x[0]
            for(range(0, 3)):
                body(i: py.int):
                    b: f64 = x[0]
                    x[0] = b
            -> a
        """,
    )


def test_a_loop_that_does_not():
    becomes(
        "cse",
        """
        graph f(x: f64[3], n: py.int):
            a: f64 = x[0]
            r: ~f64 = for(range(0, 3), 0):
                body(i: py.int, t: ~f64):
                    b: f64 = x[0]
                    c: ~f64 = t + b
                    -> c
            -> (a, r)
        """,
        """
        graph f(x: f64[3], n: py.int):
            a: f64 = x[0]
            r: ~f64 = for(range(0, 3), 0):
                body(i: py.int, t: ~f64):
                    c: ~f64 = t + a
                    -> c
            -> (a, r)
        """,
    )


def test_constants_that_are_equal_but_not_the_same():
    stays(
        "cse",
        """
        graph f(x: f64):
            a: f64 = x * 0.0
            b: f64 = x * -0.0
            c: f64 = x * 0
            d: f64 = x * False
            -> (a, b, c, d)
        """,
    )


def test_what_may_run_any_code():
    stays(
        "cse",
        """
        graph f(x: object):
            a: object = x + 1
            b: object = x + 1
            -> (a, b)
        """,
    )


def test_new_lists_are_new():
    stays(
        "cse",
        """
        graph f(x: py.int):
            a: list = build([x])
            b: list = build([x])
            a[0] = 1
            c: object = b[0]
            -> c
        """,
    )


def test_a_call_may_change_what_it_can_reach():
    becomes(
        "cse",
        """
        graph f(x: f64[3], f: object):
            y: f64[3] = np.zeros_like(x)
            z: f64[3] = np.zeros_like(x)
            a: f64 = x[0]
            b: f64 = y[0]
            c: f64 = z[0]
            d: object = call(f, y)
            e: f64 = x[0]
            g: f64 = y[0]
            h: f64 = z[0]
            -> (a, b, c, e, g, h)
        """,
        """
        graph f(x: f64[3], f: object):
            y: f64[3] = np.zeros_like(x)
            z: f64[3] = np.zeros_like(x)
            a: f64 = x[0]
            b: f64 = y[0]
            c: f64 = z[0]
            d: object = call(f, y)
            e: f64 = x[0]
            g: f64 = y[0]
            -> (a, b, c, e, g, c)
        """,
    )


def test_what_may_be_a_copy_is_no_view():
    stays(
        "cse",
        """
        graph f(x: f64[3], i: i64[2]):
            a: f64[2] = x[i]
            b: f64[2] = x[i]
            a[0] = 5
            c: f64 = b[0]
            -> c
        """,
    )
