"""Graphs without control flow, as functions: what is nested into what, and what becomes a variable."""

import math
import warnings

import numpy as np
import pytest

from tests.runtime.engines.texts import becomes, executable, source


def test_an_expression_is_nested_into_where_it_is_used():
    made = becomes(
        """
        graph f(x: f64[3]):
            %0: f64[3] = np.sin(x)
            %1: f64[3] = %0 * 2
            %2: f64[3] = %1 + 1
            -> %2
        """,
        """
        def f(x):
            return np.sin(x) * 2 + 1
        """,
    )
    x = np.arange(3.0)
    assert (made(x) == np.sin(x) * 2 + 1).all()


def test_what_is_used_twice_is_computed_once():
    becomes(
        """
        graph f(x: f64[3]):
            %0: f64[3] = np.sin(x)
            %1: f64[3] = %0 * %0
            -> %1
        """,
        """
        def f(x):
            t1 = np.sin(x)
            return t1 * t1
        """,
    )


def test_operands_keep_their_order():
    """The second operand was computed first."""
    becomes(
        """
        graph f(g: object, h: object):
            %0: object = call(g)
            %1: object = call(h)
            %2: object = %1 + %0
            -> %2
        """,
        """
        def f(g, h):
            t1 = g()
            return h() + t1
        """,
    )


def test_nothing_is_moved_across_a_write():
    made = becomes(
        """
        graph f(x: f64[3]):
            %0: f64 = x[0]
            x[0] = 5.0
            %1: f64 = x[0]
            %2: f64 = %0 + %1
            -> %2
        """,
        """
        def f(x):
            t1 = x[0]
            x[0] = 5.0
            return t1 + x[0]
        """,
    )
    assert made(np.arange(1.0, 4.0)) == 6


def test_what_may_raise_stays_in_front_of_what_can_be_seen():
    becomes(
        """
        graph f(x: object, y: object):
            %0: object = x / y
            print(y)
            %1: object = -%0
            -> %1
        """,
        """
        def f(x, y):
            t1 = x / y
            print(y)
            return -t1
        """,
    )


def test_effects_stay_in_their_place_though_nobody_uses_what_comes_out():
    becomes(
        """
        graph f(x: object):
            %0: object = call(x)
            %1: object = x + 1
            -> 0
        """,
        """
        def f(x):
            x()
            x + 1
            return 0
        """,
    )


def test_a_method_is_looked_up_before_its_arguments_are_computed():
    """What may raise is nested into a call of a method only if there is that method for sure."""
    becomes(
        """
        graph f(x: f64[3], l: list, o: object):
            %0: f64 = x[0]
            .append(l, %0)
            %1: f64 = x[1]
            .append(o, %1)
            %2: object = o.values
            %3: object = .sum(%2)
            -> %3
        """,
        """
        def f(x, l, o):
            l.append(x[0])
            t1 = x[1]
            o.append(t1)
            return o.values.sum()
        """,
    )


def test_long_expressions_are_broken_up():
    terms = "\n".join(f"            %{i + 1}: f64[3] = np.hypot(%{i}, something)" for i in range(12))
    text = source(f"""
        graph f(something: f64[3]):
            %0: f64[3] = -something
{terms}
            -> %12
    """)
    assert max(map(len, text.splitlines())) <= 100
    assert 3 <= len(text.splitlines()) <= 7


def test_deep_expressions_are_broken_up():
    terms = "\n".join(f"            %{i + 1}: f64 = -%{i}" for i in range(300))
    made = executable(f"""
        graph f(x: f64):
            %0: f64 = -x
{terms}
            -> %300
    """)
    assert made(1.0) == -1.0
    assert max(line.count("-") for line in made.source.splitlines()) < 25


@pytest.mark.parametrize(
    "nodes, expected",
    [
        (["x + y", "%0 * x"], "(x + y) * x"),
        (["x * y", "%0 + x"], "x * y + x"),
        (["x + y", "x - %0"], "x - (x + y)"),
        (["x - y", "%0 - x"], "x - y - x"),
        (["x ** y", "%0 ** x"], "(x ** y) ** x"),
        (["x ** y", "x ** %0"], "x ** x ** y"),
        (["-x", "%0 ** y"], "(-x) ** y"),
        (["x ** y", "-%0"], "-x ** y"),
        (["-y", "x ** %0"], "x ** -y"),
        (["x < y", "%0 == x"], "(x < y) == x"),
        (["x < y", "not %0"], "not x < y"),
        (["x in y", "not %0"], "x not in y"),
        (["not x", "not %0"], "not not x"),
        (["not x", "%0 + y"], "(not x) + y"),
        (["x & y", "%0 == x", "%1 | y"], "(x & y == x) | y"),
        (["x @ y", "~%0", "%1 % x"], "~(x @ y) % x"),
        (["x + y", "%0[x]"], "(x + y)[x]"),
        (["x + y", "%0.T"], "(x + y).T"),
        (["build((x, y))", "%0[0]"], "(x, y)[0]"),
        (["build((x,))"], "(x,)"),
        (["build(())"], "()"),
        (["build([x, (y, 1)])"], "[x, (y, 1)]"),
        (['build({"a": x, 2: [y]})'], '{"a": x, 2: [y]}'),
        (["x[1:]", "%0[:, y]"], "x[1:][:, y]"),
        (["x[::2, ..., None]"], "x[::2, ..., None]"),
        (["x[()]"], "x[()]"),
        (["x[(1,)]"], "x[1,]"),
        (["x[[0, 1]]"], "x[[0, 1]]"),
        (["call(x, 0:y)"], "x(slice(0, y, None))"),
        (["call(x, y, k=1)", "call(%0)"], "x(y, k=1)()"),
        (['call(x, "not a name"=y, ok=1)'], 'x(ok=1, **{"not a name": y})'),
        (['getattr(x, "T", None)'], 'getattr(x, "T", None)'),
        (["np.linalg.solve(x, y)"], "np.linalg.solve(x, y)"),
        (["np.add.reduce(x, axis=(0, 1))"], "np.add.reduce(x, axis=(0, 1))"),
        (["math.sqrt(x)"], "math.sqrt(x)"),
        (["abs(x)"], "abs(x)"),
        (["range(0, x, 1)"], "range(x)"),
        (["range(y, x, 1)"], "range(y, x)"),
        (["range(0, x, y)"], "range(0, x, y)"),
        (["1 + x"], "1 + x"),
        (["-1 ** x"], "(-1) ** x"),
        (["x ** -1"], "x ** -1"),
        (["1.real"], "(1).real"),
    ],
)
def test_expressions_are_written_as_by_hand(nodes, expected):
    lines = "\n".join(f"            %{number}: object = {node}" for number, node in enumerate(nodes))
    text = source(f"""
        graph f(x: object, y: object):
{lines}
            -> %{len(nodes) - 1}
    """)
    assert text == f"def f(x, y):\n    return {expected}\n"


def test_constants():
    class Point:
        pass

    table, point = np.arange(3), Point()
    made = becomes(
        """
        graph f(table: object):
            %0: object = call(@show, 1, -2, 0.5, -0.0, inf, nan, 2j, "it's", None, True, ..., (1, [2]))
            %1: object = call(@show, np.float64, np.sum, int, @error, @math, dtype(f64), f32(0.5), f32(-inf))
            %2: object = call(@show, @array, @point, @numbers)
            -> (%0, %1, %2)
        """,
        """
        def f(table):
            t1 = show(1, -2, 0.5, -0.0, float("inf"), float("nan"), 2j, "it's", None, True, ..., (1, [2]))
            t2 = show(np.float64, np.sum, int, ValueError, math, float64, float32_0_5, float32_minus_inf)
            return t1, t2, show(array, point, list_)
        """,
        show=show, error=ValueError, math=math, array=table, point=point, numbers=[1],
    )  # fmt: skip
    first, second, third = made(0)
    assert first[:4] == (1, -2, 0.5, 0.0) and math.copysign(1, first[3]) == -1
    assert first[4] == math.inf and math.isnan(first[5]) and first[6:] == (2j, "it's", None, True, ..., (1, [2]))
    assert second[:6] == (np.float64, np.sum, int, ValueError, math, np.dtype("f8"))
    assert type(second[6]) is np.float32
    assert third[0] is table and third[1] is point


def show(*args, **kwargs):
    return args


def test_a_list_is_made_anew_each_time_but_an_object_of_the_user_is_itself():
    numbers = [1]
    made = executable("graph f():\n    -> ([1], @numbers)", numbers=numbers)
    fresh, kept = made()
    assert made()[0] is not fresh and kept is numbers


def g(*args):
    return 3


def test_a_variable_hides_no_global():
    made = becomes(
        """
        graph f(np: f64, len: object, g: object):
            %0: f64 = call(@g, np, len)
            %1: object = call(@sin, %0)
            %2: object = call(@len, @numbers)
            -> (%1, %2, g)
        """,
        """
        def f(np, len, g):
            return np_1.sin(g_1(np, len)), len_1(list_), g
        """,
        g=g, sin=np.sin, len=len, numbers=[1, 2],
    )  # fmt: skip
    assert made(1, 2, 4) == (np.sin(3), 2, 4)


def test_f_strings():
    made = becomes(
        """
        graph f(x: f64, n: py.int, d: dict):
            %0: f64 = x * 2
            %1: str = fstring("{x} = ", (x, "", ".2f"), " ", (%0, "r", (">", (n, "", ""))), "\\n\\"")
            %2: object = d["key"]
            %3: str = fstring((%2, "", ""), "'")
            -> (%1, %3)
        """,
        r'''
        def f(x, n, d):
            t1 = f"{{x}} = {x:.2f} {x * 2!r:>{n}}\n\""
            return t1, f"{d['key']}'"
        ''',
    )
    assert made(1.5, 5, {"key": 1}) == ('{x} = 1.50   3.0\n"', "1'")


def test_items_and_attributes_are_set_and_deleted():
    made = becomes(
        """
        graph f(x: object, y: object):
            %0: object = y + 1
            %1: object = x.items
            %1[%0] = y
            x.size = %0
            del x[0, 1:2]
            -> None
        """,
        """
        def f(x, y):
            t1 = y + 1
            x.items[t1] = y
            x.size = t1
            del x[0, 1:2]
        """,
    )
    assert made.run.__code__.co_argcount == 2


def test_items_are_changed_in_place():
    made = becomes(
        """
        graph f(x: f64[3], i: py.int, y: f64):
            %0: py.int = i + 1
            %1: f64 = x[%0]
            %2: f64 = y * 2
            %3: f64 = %1 += %2
            x[%0] = %3
            %4: object = x.flags
            %5: object = %4.writeable
            %6: object = %5 &= True
            %4.writeable = %6
            -> x
        """,
        """
        def f(x, i, y):
            x[i + 1] += y * 2
            x.flags.writeable &= True
            return x
        """,
    )
    assert list(made(np.zeros(3), 1, 2.0)) == [0, 0, 4]


def test_rows_are_changed_in_place():
    """An array knows itself what `+=` is; so it is stored as it is."""
    made = becomes(
        """
        graph f(x: f64[3,3], y: f64[3]):
            %0: f64[3] = x[0]
            %1: f64[3] = %0 += y
            x[0] = %0
            -> x
        """,
        """
        def f(x, y):
            x[0] += y
            return x
        """,
    )
    assert made(np.zeros((2, 2)), np.ones(2)).tolist() == [[1, 1], [0, 0]]


def test_an_array_is_changed_in_place_for_all_who_have_it():
    becomes(
        """
        graph f(x: f64[3], y: f64[3]):
            %0: f64[3] = x += y
            %1: f64[3] = x + %0
            -> %1
        """,
        """
        def f(x, y):
            x += y
            return x + x
        """,
    )


def test_a_number_that_is_used_later_is_not_changed():
    made = becomes(
        """
        graph f(n: py.int, k: py.int):
            %0: py.int = n += k
            %1: py.int = n - %0
            -> %1
        """,
        """
        def f(n, k):
            t1 = n
            t1 += k
            return n - t1
        """,
    )
    assert made(5, 2) == -2


def test_a_number_may_be_added_to_itself_in_place():
    made = becomes(
        """
        graph f(n: py.int):
            %0: py.int = n += n
            -> %0
        """,
        """
        def f(n):
            t1 = n
            t1 += n
            return t1
        """,
    )
    assert made(5) == 10


def test_a_global_array_is_changed_in_place():
    array = np.zeros(2)
    made = becomes(
        """
        graph f(x: f64[2]):
            %0: f64[2] = @array += x
            -> None
        """,
        """
        def f(x):
            t1 = array
            t1 += x
        """,
        array=array,
    )
    made(np.ones(2))
    assert array.tolist() == [1, 1]


def test_unpacking():
    made = becomes(
        """
        graph f(x: object):
            %0: object, %1: object = unpack(x, 2)
            %2: object = unpack(%0, 1)
            %3: object, b: object = unpack(%1, 2)
            -> (%2, b)
        """,
        """
        def f(x):
            t1, t2 = x
            t3, = t1
            _, b = t2
            return t3, b
        """,
    )
    assert made([[1], [2, 3]]) == (1, 3)


def test_a_raise():
    made = becomes(
        """
        graph f(x: object):
            %0: object = call(ValueError, x)
            raise(%0, cause=None)
            -> never
        """,
        """
        def f(x):
            raise ValueError(x) from None
        """,
    )
    with pytest.raises(ValueError, match="5"):
        made(5)


def test_structures_are_rebuilt():
    made = executable("""
        graph f(x: f64, y: f64):
            %0: f64 = x + y
            -> {"a": [x, (%0, None)], "b": {}}
    """)
    assert made(1, 2) == {"a": [1, (3, None)], "b": {}}


def test_names_of_the_user():
    made = becomes(
        """
        graph "outer.<locals>.<lambda>"(x: f64, x.1: f64, %0: f64):
            x.2: f64 = x + x.1
            x.3: f64 = x.2 * x
            -> (x.3, x.2)
        """,
        """
        def _lambda_(x, x_1, t1):
            x_1 = x + x_1
            x = x_1 * x
            return x, x_1
        """,
    )
    assert made(2, 3, 0) == (10, 5)


def test_the_builtin_print_is_looked_up_when_it_runs(monkeypatch):
    made = executable("graph f(x: f64):\n    print(x)\n    -> None")
    said = []
    monkeypatch.setattr("builtins.print", said.append)
    made(1)
    assert said == [1]


def test_what_never_warns_is_called_as_a_method():
    made = becomes(
        """
        graph f(x: f64[2,3], y: object):
            %0: f64[2,1] = np.max(x, axis=1, keepdims=True)
            %1: f64[2,3] = x - %0
            %2: f64[3] = np.min(%1, 0)
            %3: f64 = np.sum(%2)
            %4: object = np.max(y)
            %5: f64 = np.max(x, initial=0.0)
            -> (%3, %4, %5)
        """,
        """
        def f(x, y):
            t1 = np.sum((x - x.max(axis=1, keepdims=True)).min(0))
            return t1, np.max(y), np.max(x, initial=0.0)
        """,
    )
    assert made(np.arange(6.0).reshape(2, 3), [1, 2]) == (-3, 2, 5)


def test_parts_of_arrays_come_before_the_expressions_that_they_are_used_in():
    """NumPy reuses the memory of what is computed in the midst of an expression, but not that of variables."""
    becomes(
        """
        graph f(x: f64[9,9]):
            %0: f64[8,9] = x[1:]
            %1: f64[8,9] = %0 * 2
            %2: f64[8,9] = x[:-1]
            %3: f64[8,9] = %1 + %2
            %4: f64[8,9] = %3 - %2
            %5: f64[9,8] = %4.T
            %6: f64[8,8] = %4 @ %5
            %7: f64[9,9] = x.T
            %8: f64[8,9] = %6 @ %2
            %9: f64[8,9] = %8 @ %7
            %10: f64[8,9] = %9 @ %7
            -> %10
        """,
        """
        def f(x):
            t1 = x[:-1]
            t2 = x[1:] * 2 + t1 - t1
            t3 = x.T
            return t2 @ t2.T @ t1 @ t3 @ t3
        """,
    )


@pytest.mark.parametrize(
    "first, second",
    [
        ("call(g, x)", "x[:-1]"),           # which may give `x` another shape
        ("x * 2", "x[7]"),                  # which may not be there
        ("x * 2", "x[:, :, :]"),
        ("x * 2", "x[::0]"),
        ("x * 2", "g[:2]"),
    ],
)
def test_what_may_be_seen_stays_in_order(first, second):
    text = source(
        f"""
        graph f(x: f64[9], g: object):
            %0: object = {first}
            %1: object = {second}
            %2: object = %0 + %1
            %3: object = %2 + %1
            -> %3
        """
    )
    assert text.index("t1 = ") < text.index("t2 = ") and ("t1 = g(x)" in text or "t1 = x * 2" in text)


def test_literals_beside_is_have_names():
    """Python warns of `0.5 is None` when it compiles that."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made = becomes(
            """
            graph f(x: any):
                %0: py.bool = 0.5 is x
                %1: py.bool = x is None
                %2: py.bool = %0 is True
                -> (%0, %1, %2)
            """,
            """
            def f(x):
                t1 = float_ is x
                return t1, x is None, t1 is True
            """,
        )
    assert made(None) == (False, True, False)
