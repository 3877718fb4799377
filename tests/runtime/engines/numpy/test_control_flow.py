"""Graphs with branches and loops, as functions."""

import re

import pytest

import autograph as ag
from tests import outcomes
from tests.runtime.engines.texts import becomes, executable


def test_collatz():
    made = becomes(
        """
        graph collatz(n: py.int):
            steps: py.int, n.1: py.int = while(0, n):
              test(steps.1: py.int, n.2: py.int):
                %0: py.bool = n.2 != 1
                -> %0
              body(steps.2: py.int, n.3: py.int):
                %1: py.int = n.3 % 2
                %2: py.bool = %1 == 0
                n.4: py.int = if(%2):
                  then:
                    %3: py.int = n.3 // 2
                    -> %3
                  else:
                    %4: py.int = 3 * n.3
                    %5: py.int = %4 + 1
                    -> %5
                %6: py.int = steps.2 += 1
                -> %6, n.4
            -> steps
        """,
        """
        def collatz(n):
            steps = 0
            while n != 1:
                if n % 2 == 0:
                    n = n // 2
                else:
                    n = 3 * n + 1
                steps += 1
            return steps
        """,
    )
    assert made(27) == 111


def test_a_swap():
    made = becomes(
        """
        graph fib(n: py.int):
            %0: object = range(n)
            a: py.int, b: py.int = for(%0, 0, 1, target=0):
              body(i: py.int, a.1: py.int, b.1: py.int):
                %1: py.int = a.1 + b.1
                -> b.1, %1
            -> a
        """,
        """
        def fib(n):
            a = 0
            b = 1
            for i in range(n):
                a, b = b, a + b
            return a
        """,
    )
    assert [made(n) for n in range(8)] == [0, 1, 1, 2, 3, 5, 8, 13]


def test_copies_that_are_no_swap_come_one_after_the_other():
    made = becomes(
        """
        graph f(n: py.int):
            %0: object = range(n)
            a: py.int, b: py.int, c: py.int = for(%0, 0, 0, 0, target=0):
              body(i: py.int, a.1: py.int, b.1: py.int, c.1: py.int):
                %1: py.int = a.1 + 1
                -> %1, a.1, b.1
            -> (a, b, c)
        """,
        """
        def f(n):
            a = 0
            b = 0
            c = 0
            for i in range(n):
                c = b
                b = a
                a = a + 1
            return a, b, c
        """,
    )
    assert made(5) == (5, 4, 3)


def test_elif():
    made = becomes(
        """
        graph f(x: py.int):
            %0: py.bool = x < 0
            kind: str = if(%0):
              then:
                -> "negative"
              else:
                %1: py.bool = x == 0
                kind.1: str = if(%1):
                  then:
                    -> "zero"
                  else:
                    -> "positive"
                -> kind.1
            %3: str = kind + "!"
            -> %3
        """,
        """
        def f(x):
            if x < 0:
                kind = "negative"
            elif x == 0:
                kind = "zero"
            else:
                kind = "positive"
            return kind + "!"
        """,
    )
    assert [made(x) for x in (-1, 0, 1)] == ["negative!", "zero!", "positive!"]


def test_branches_return_if_nothing_follows():
    made = becomes(
        """
        graph f(x: py.int):
            %0: py.bool = x < 0
            %1: py.int = if(%0):
              then:
                %2: py.int = -x
                -> %2
              else:
                %3: py.bool = x == 0
                %4: py.int = if(%3):
                  then:
                    -> 1
                  else:
                    %5: py.int = x + x
                    print(%5)
                    -> %5
                -> %4
            -> (%1, x)
        """,
        """
        def f(x):
            if x < 0:
                return -x, x
            if x == 0:
                return 1, x
            t1 = x + x
            print(t1)
            return t1, x
        """,
    )
    assert [made(x) for x in (-1, 0)] == [(1, -1), (1, 0)]


def test_a_branch_without_anything_to_do():
    made = becomes(
        """
        graph f(x: py.int, y: py.int):
            %0: py.bool = x < 0
            x.1: py.int = if(%0):
              then:
                -> 0
              else:
                -> x
            %1: py.bool = y < 0
            y.1: py.int = if(%1):
              then:
                -> y
              else:
                -> 0
            -> (x.1, y.1)
        """,
        """
        def f(x, y):
            if x < 0:
                x = 0
            if not y < 0:
                y = 0
            return x, y
        """,
    )
    assert made(-5, -5) == (0, -5)


def test_a_condition_is_asked_though_nothing_depends_on_it():
    """The truth of an array raises."""
    becomes(
        """
        graph f(x: f64[3], n: py.int):
            if(x):
              then:
                pass
              else:
                pass
            if(n):
              then:
                pass
              else:
                pass
            -> n
        """,
        """
        def f(x, n):
            if x:
                pass
            return n
        """,
    )


def test_a_variable_that_outlives_the_branch_is_left_alone():
    made = becomes(
        """
        graph f(c: py.bool, x: py.int):
            y: py.int = if(c):
              then:
                %0: py.int = x * 2
                -> %0
              else:
                -> x
            %1: py.int = x + y
            -> %1
        """,
        """
        def f(c, x):
            if c:
                y = x * 2
            else:
                y = x
            return x + y
        """,
    )
    assert (made(True, 3), made(False, 3)) == (9, 6)


def test_conditional_expressions():
    made = becomes(
        """
        graph f(x: py.int, y: py.int):
            %0: py.bool = x < y
            %1: py.int = if(%0):
              then:
                %2: py.int = y - x
                -> %2
              else:
                -> 0
            %3: py.int = %1 * 2
            -> %3
        """,
        """
        def f(x, y):
            return (y - x if x < y else 0) * 2
        """,
    )
    assert (made(1, 3), made(3, 1)) == (4, 0)


def test_and_or_not():
    made = becomes(
        """
        graph f(x: object, y: object, n: py.int):
            %0: py.bool = n > 0
            %1: py.bool = if(%0):
              then:
                %2: py.bool = n < 9
                -> %2
              else:
                -> %0
            %3: object = if(x):
              then:
                -> x
              else:
                -> y
            %4: py.bool = n == 5
            %5: py.bool = if(%4):
              then:
                -> True
              else:
                %6: py.bool = not x
                -> %6
            %7: py.bool = not %5
            if(%7):
              then:
                print("no")
              else:
                pass
            -> (%1, %3)
        """,
        """
        def f(x, y, n):
            t1 = n > 0 and n < 9
            t2 = x or y
            if not (n == 5 or not x):
                print("no")
            return t1, t2
        """,
    )
    assert made(0, [], 3) == (True, [])


def test_a_condition_of_which_more_is_needed_is_a_variable():
    becomes(
        """
        graph f(n: py.int):
            %0: py.bool = n > 0
            %1: py.bool = if(%0):
              then:
                print(n)
                -> True
              else:
                -> %0
            -> (%1, n)
        """,
        """
        def f(n):
            t1 = n > 0
            if t1:
                print(n)
                return True, n
            return t1, n
        """,
    )


def test_and_in_the_condition_of_a_loop():
    made = becomes(
        """
        graph f(x: f64[?], n: py.int):
            i: py.int = while(0):
              test(i.1: py.int):
                %0: py.bool = i.1 < n
                %1: object = if(%0):
                  then:
                    %2: f64 = x[i.1]
                    %3: bool = %2 != 0
                    -> %3
                  else:
                    -> %0
                -> %1
              body(i.2: py.int):
                %4: py.int = i.2 + 1
                -> %4
            -> i
        """,
        """
        def f(x, n):
            i = 0
            while i < n and x[i] != 0:
                i = i + 1
            return i
        """,
    )
    assert made([1, 2, 0, 3], 4) == 2


def test_a_condition_that_takes_statements():
    made = becomes(
        """
        graph f(x: list):
            while():
              test():
                %0: object = .pop(x)
                print(%0)
                %1: py.bool = %0 > 1
                -> %1
              body():
                print("again")
                ->
            -> None
        """.replace("->\n", "pass\n").replace('print("again")\n                pass', 'print("again")'),
        """
        def f(x):
            while True:
                t1 = x.pop()
                print(t1)
                if not t1 > 1:
                    break
                print("again")
        """,
    )
    made([1, 2])


def test_break():
    made = becomes(
        """
        graph first(x: list, t: py.float):
            i: py.int, found: object = for(x, 0, None, target=0, until=True):
              body(v: py.float, i.1: py.int, found.1: object):
                %0: py.bool = v > t
                stop: py.bool, i.2: py.int, found.2: object = if(%0):
                  then:
                    -> True, i.1, v
                  else:
                    %1: py.int = i.1 + 1
                    -> False, %1, found.1
                -> stop, i.2, found.2
            -> (i, found)
        """,
        """
        def first(x, t):
            i = 0
            found = None
            for v in x:
                if v > t:
                    found = v
                    break
                i = i + 1
            return i, found
        """,
    )
    assert made([1, 2, 3, 4], 2.5) == (2, 3)
    assert made([], 2.5) == (0, None)


def test_breaks_in_several_branches():
    made = becomes(
        """
        graph f(x: list):
            total: py.int = for(x, 0, target=0, until=True):
              body(v: py.int, total.1: py.int):
                %0: py.bool = v < 0
                stop: py.bool, total.2: py.int = if(%0):
                  then:
                    -> True, total.1
                  else:
                    %1: py.int = total.1 + v
                    %2: py.bool = %1 > 100
                    stop.1: py.bool, total.3: py.int = if(%2):
                      then:
                        -> True, 100
                      else:
                        print(%1)
                        -> False, %1
                    -> stop.1, total.3
                -> stop, total.2
            -> total
        """,
        """
        def f(x):
            total = 0
            for v in x:
                if v < 0:
                    break
                total = total + v
                if total > 100:
                    total = 100
                    break
                print(total)
            return total
        """,
    )
    assert made([60, 70, 80]) == 100 and made([60, -70, 80]) == 60


def test_until_a_condition():
    made = becomes(
        """
        graph f(x: list):
            total: py.int = for(x, 0, target=0, until=True):
              body(v: py.int, total.1: py.int):
                %0: py.int = total.1 + v
                %1: py.bool = %0 > 100
                -> %1, %0
            -> total
        """,
        """
        def f(x):
            total = 0
            for v in x:
                total = total + v
                if total > 100:
                    break
            return total
        """,
    )
    assert made([60, 70, 80]) == 130


def test_until_a_condition_about_what_is_overwritten():
    made = becomes(
        """
        graph f(x: list):
            total: py.int = for(x, 0, target=0, until=True):
              body(v: py.int, total.1: py.int):
                %0: py.int = total.1 + v
                %1: py.bool = total.1 > 100
                -> %1, %0
            -> total
        """,
        """
        def f(x):
            total = 0
            for v in x:
                t1 = total + v
                t2 = total > 100
                total = t1
                if t2:
                    break
            return total
        """,
    )
    assert made([60, 70, 80, 90]) == 210


def test_until_a_flag_that_is_carried():
    """The flag decides with its value of the iteration, not with that for the next."""
    made = becomes(
        """
        graph f(x: list):
            flag: py.bool, n: py.int = for(x, False, 0, target=0, until=True):
              body(v: py.bool, flag.1: py.bool, n.1: py.int):
                %0: py.int = n.1 + 1
                -> flag.1, v, %0
            -> n
        """,
        """
        def f(x):
            flag = False
            n = 0
            for v in x:
                t1 = flag
                flag = v
                n = n + 1
                if t1:
                    break
            return n
        """,
    )
    assert made([False, True, False, False]) == 3


def test_while_true():
    made = becomes(
        """
        graph f(n: py.int):
            n.1: py.int = while(n, until=True):
              test(n.2: py.int):
                -> True
              body(n.3: py.int):
                %0: py.int = n.3 - 1
                %1: py.bool = %0 < 0
                -> %1, %0
            -> n.1
        """,
        """
        def f(n):
            while True:
                n = n - 1
                if n < 0:
                    break
            return n
        """,
    )
    assert made(5) == -1


def test_items_are_taken_apart():
    made = becomes(
        """
        graph f(x: list, y: list):
            %0: object = zip(x, y)
            %1: object = enumerate(%0)
            total: py.int = for(%1, 0, target=(0, (1, 2))):
              body(i: py.int, a: py.int, b: py.int, total.1: py.int):
                %2: py.int = i * a
                %3: py.int = %2 + b
                %4: py.int = total.1 + %3
                -> %4
            -> total
        """,
        """
        def f(x, y):
            total = 0
            for i, (a, b) in enumerate(zip(x, y)):
                total = total + (i * a + b)
            return total
        """,
    )
    assert made([1, 2], [3, 4]) == 9


def test_a_loop_variable_that_lives_on():
    made = becomes(
        """
        graph f(n: py.int):
            %0: object = range(n)
            i: object? = for(%0, unbound, target=0):
              body(i.1: py.int, i.2: object?):
                -> i.1
            -> i
        """,
        """
        def f(n):
            i = unbound
            for i in range(n):
                pass
            return i
        """,
    )
    assert made(4) == 3


def test_what_is_not_needed_is_not_carried():
    becomes(
        """
        graph f(n: py.int):
            %0: object = range(n)
            a: py.int, b: py.int = for(%0, 0, 0, target=0):
              body(i: py.int, a.1: py.int, b.1: py.int):
                %1: py.int = i * 2
                %2: py.int = a.1 + i
                -> %2, %1
            -> a
        """,
        """
        def f(n):
            a = 0
            for i in range(n):
                a = a + i
            return a
        """,
    )


def test_the_first_value_of_what_is_carried_lives_on():
    made = becomes(
        """
        graph f(x: py.int, n: py.int):
            %0: object = range(n)
            y: py.int = for(%0, x, target=0):
              body(i: py.int, y.1: py.int):
                %1: py.int = y.1 * x
                -> %1
            -> (x, y)
        """,
        """
        def f(x, n):
            y = x
            for i in range(n):
                y = y * x
            return x, y
        """,
    )
    assert made(3, 2) == (3, 27)


def test_a_loop_over_what_it_carries():
    """What is iterated over is the list, whatever its variable is set to."""
    made = becomes(
        """
        graph f(x: list):
            x.1: object = for(x, x, target=0):
              body(v: py.int, x.2: object):
                %0: object = v + 1
                -> %0
            -> x.1
        """,
        """
        def f(x):
            for v in x:
                x = v + 1
            return x
        """,
    )
    assert made([1, 2]) == 3 and made([]) == []


def test_one_value_for_two_variables():
    made = becomes(
        """
        graph f(x: list):
            %0: object = len(x)
            a: object, b: object = for(x, %0, %0, target=0):
              body(v: py.int, a.1: object, b.1: object):
                %1: object = a.1 + v
                %2: object = b.1 - %1
                -> %1, %2
            -> (a, b)
        """,
        """
        def f(x):
            a = len(x)
            b = a
            for v in x:
                a = a + v
                b = b - a
            return a, b
        """,
    )
    assert made([1, 2]) == (5, -6)


def test_loops_in_loops():
    made = becomes(
        """
        graph f(n: py.int):
            %0: object = range(n)
            total: py.int = for(%0, 0, target=0):
              body(i: py.int, total.1: py.int):
                %1: object = range(i)
                total.2: py.int = for(%1, total.1, target=0):
                  body(j: py.int, total.3: py.int):
                    %2: py.int = i * j
                    %3: py.int = total.3 + %2
                    -> %3
                -> total.2
            -> total
        """,
        """
        def f(n):
            total = 0
            for i in range(n):
                for j in range(i):
                    total = total + i * j
            return total
        """,
    )
    assert made(4) == 11


def test_branches_that_raise():
    made = becomes(
        """
        graph f(x: py.int):
            %0: py.bool = x > 0
            if(%0):
              then:
                pass
              else:
                %1: object = call(AssertionError, "x")
                raise(%1)
                -> never
            %2: py.bool = x > 9
            y: py.int = if(%2):
              then:
                %3: object = call(ValueError, "too large")
                raise(%3)
                -> never
              else:
                %4: py.int = x * 2
                -> %4
            %5: py.int = y + 1
            -> %5
        """,
        """
        def f(x):
            if not x > 0:
                raise AssertionError("x")
            if x > 9:
                raise ValueError("too large")
            y = x * 2
            return y + 1
        """,
    )
    assert made(3) == 7
    with pytest.raises(ValueError, match="too large"):
        made(10)


def test_what_is_bound_on_one_path_only():
    text = """
        graph f(c: py.bool):
            y: object? = if(c):
              then:
                -> 1
              else:
                -> unbound
            %0: object = bound(y, name="y")
            -> %0
    """
    made = executable(text)
    assert made.source == f"""\
def f(c):
    if c:
        y = 1
    else:
        y = unbound
    if y is unbound:
        raise UnboundLocalError("{unbound_message("y")}")
    return y
"""
    assert made(True) == 1
    with pytest.raises(UnboundLocalError) as caught:
        made(False)
    assert str(caught.value) == unbound_message("y")


def test_what_is_never_bound():
    made = executable("""
        graph f():
            %0: object = bound(unbound, name="y")
            %1: object = %0 + %0
            -> %1
    """)
    with pytest.raises(UnboundLocalError):
        made()


def unbound_message(name):
    namespace = {}
    exec(f"def f():\n    {name}\n    {name} = 0", namespace)
    with pytest.raises(UnboundLocalError) as caught:
        namespace["f"]()
    return str(caught.value)


def test_items_are_unpacked_by_the_loop_itself():
    def total(pairs):
        found = 0
        for k, (v, *rest) in pairs.items():
            found += k * v + len(rest)
        return found

    pairs = {k: [k, 1, 2] for k in range(40)}
    staged = ag.function(total)
    assert staged(pairs) == total(pairs)
    assert re.search(r"for \w+, \w+ in pairs.items\(\):", str(staged.lower(pairs)))


def test_an_item_that_has_a_name_or_another_use_is_unpacked_in_the_body():
    def total(pairs):
        found = 0
        for pair in pairs:
            k, v = pair
            found += k * v
        return found

    assert "for pair in pairs:" in str(ag.function(total).lower([(k, 2) for k in range(40)]))


@pytest.mark.parametrize("wrong", [(1, 2, 3), (1,), 5])
def test_an_item_that_cannot_be_unpacked_raises_in_the_line_of_the_loop(wrong):
    def total(pairs):
        found = 0
        for k, v in pairs:
            found += k * v
        return found

    pairs = [(k, 2) for k in range(40)]
    staged = ag.function(total)
    assert staged(pairs) == total(pairs)
    pairs.insert(30, wrong)
    expected, actual = outcomes.run(total, "pairs", {"pairs": pairs}), outcomes.run(staged, "pairs", {"pairs": pairs})
    assert actual == expected
    assert actual.raised_at == expected.raised_at
