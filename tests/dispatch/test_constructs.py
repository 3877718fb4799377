"""Each construct, with a staged condition or iterable, reaches the backend with the state that it must carry.

Behind each line of a program stands what reached the backend from there, as a call of `f` with staged arguments was
traced: the construct with its state, or its operands. Behind `def f`: what came back.
"""

from __future__ import annotations

import pytest

from tests.annotated import beside, code, tidy
from tests.dispatch import staging

STATEMENTS = {
    "if_": """
        def f(c, x, y=1):               # → (x + phi(2, 1))
            if c:                       # if_stmt y
                y = 2
                z = 3
            return x + y
        """,
    "else_": """
        def f(c, y=1):                  # → (phi(2, 1), phi(UNBOUND, 3))
            if c:                       # if_stmt y, z
                y = 2
            else:
                z = 3
            return y, z
        """,
    "elif_": """
        def f(c, d, e, y=1):            # → (phi(2, phi(3, phi(1, 5))), phi(UNBOUND, phi(UNBOUND, phi(4, 5))))
            if c:                       # if_stmt y, w
                y = 2
            elif d:                     # if_stmt y, w
                y = 3
            elif e:                     # if_stmt y, w
                w = 4
            else:
                y = w = 5
            return y, w
        """,
    "only_elif_is_staged": """
        def f(c, n=5, y=1):             # → phi(3, 4)
            if n > 5:
                y = 2
            elif c:                     # if_stmt y
                y = 3
            else:
                y = 4
            return y
        """,
    "while_": """
        def f(n, s=0, i=0):             # → (0, phi(0, 1))
            while i < n:                # while_stmt s, i
                t = i * 2
                s = s + t
                i += 1
            return s, i
        """,
    "while_turns_staged": """
        def f(x, i=0):                  # → phi((1 + x), phi((1 + x), ((1 + x) + x)))
            while i < 1:                # while_stmt i
                i = 1 + x if i == 0 else i + x  # if_exp ((1 + x) == 0)
            return i
        """,
    "while_with_else": """
        def f(n, s=0):                  # → -phi(0, 1)
            while n > s:                # while_stmt s
                s += 1
            else:
                s = -s
            return s
        """,
    "while_true_with_a_staged_break": """
        def f(n, s=0):                  # → phi(1, 2)
            while True:                 # not_ phi(True, False); and_ 2; while_stmt s, break_
                s += 1
                if s > n:               # if_stmt break_; if_stmt break_
                    break
            return s
        """,
    "walrus_in_the_test": """
        def f(n, s=0):                  # → (phi(0, (0 + (n + 0))), phi((n + 0), (n + (0 + (n + 0)))))
            while (m := n + s) > 3:     # while_stmt s, m
                s += m
            return s, m
        """,
    "for_": """
        def f(xs, s=0):                 # → phi(0, (0 + item))
            for x in xs:                # for_stmt s
                s += x
            return s
        """,
    "for_whose_target_lives_on": """
        def f(xs, s=0):                 # → (phi(0, (0 + item)), phi(UNBOUND, item))
            for x in xs:                # for_stmt s, x
                s += x
            return s, x
        """,
    "for_over_range": """
        def f(n, s=0):                  # → phi(0, (0 + item))
            for i in range(1, n, 2):    # range 1 n 2; for_stmt s
                s += i
            return s
        """,
    "for_over_enumerate_and_zip": """
        def f(xs, ys, s=0):             # → phi(phi(0, (0 + item[0])), (phi(0, (0 + item[0])) + (item[0] * item[1])))
            for i, x in enumerate(xs):  # enumerate xs; for_stmt s
                s += i
            for x, y in zip(xs, ys):    # zip xs ys; for_stmt s
                s += x * y
            return s
        """,
    "targets_of_all_kinds": """
        def f(xs, ys, a=[0, 0]):        # → ([Staged(item), 0], phi(UNBOUND, item[0]), phi(UNBOUND, [Staged(item[1])]))
            for a[0] in xs:             # for_stmt; ref list
                pass
            for b, *c in zip(ys):       # zip ys; for_stmt b, c
                pass
            return a, b, c
        """,  # noqa: E501
    "for_with_else": """
        def f(xs, s=0):                 # → (phi(0, (0 + item)) + 1)
            for x in xs:                # for_stmt s
                s += x
            else:
                s += 1
            return s
        """,
    "break_": """
        def f(xs, s=0):                 # → phi(0, phi(item, (0 + item)))
            for x in xs:                # for_stmt s, break_
                if x > 0:               # if_stmt s, break_
                    s = x
                    break
                s += x
            return s
        """,
    "break_and_else": """
        def f(xs, s=0):                 # → phi(-1, phi(0, phi(item, 0)))
            for x in xs:                # for_stmt s, break_; not_ phi(False, phi(True, False)); if_stmt s
                if x > 0:               # if_stmt s, break_
                    s = x
                    break
            else:
                s = -1
            return s
        """,
    "continue_": """
        def f(xs, s=0):                 # → phi(0, phi(0, (0 + item)))
            for x in xs:                # for_stmt s
                if x > 0:               # if_stmt s
                    continue
                s += x
            return s
        """,
    "break_and_continue_in_two_loops": """
        def f(xss, s=0):                # → phi(0, phi(-1, phi(0, phi(0, phi(0, (0 + item))))))
            for xs in xss:              # for_stmt s, break_1
                for x in xs:            # for_stmt s, break_
                    if x == 0:          # if_stmt s, break_
                        continue
                    if x < 0:           # if_stmt s, break_
                        break
                    s += x
                if s > 9:               # if_stmt s, break_1
                    s = -1
                    break
            return s
        """,
    "return_in_branches": """
        def f(c, d):                    # → phi(1, phi(2, 3))
            if c:                       # if_stmt
                return 1
            if d:                       # if_stmt
                return 2
            return 3
        """,
    "return_without_a_value": """
        def f(c, d, a=[]):              # → None
            if c:                       # if_stmt
                return
            a.append(1)
        """,
    "return_that_may_not_happen": """
        def f(c, d, x=0):               # → phi(phi(phi(1, UNBOUND), UNBOUND), (phi(phi(1, 2), 0) + 1))
            if c:                       # if_stmt x, do_return, retval_; if_stmt
                x = 1
                if d:                   # if_stmt x, do_return, retval_
                    return x
                x = 2
            x = x + 1
            return x
        """,
    "return_in_a_loop": """
        def f(n, s=0):                  # → phi(phi(UNBOUND, phi(0, UNBOUND)), -1)
            while n > s:                # while_stmt s, do_return, retval_; if_stmt
                if n == s:              # if_stmt s, do_return, retval_
                    return s
                s += 1
            return -1
        """,
    "return_in_two_loops": """
        def f(xss):                     # → phi(phi(UNBOUND, phi(UNBOUND, phi(item, UNBOUND))), None)
            for xs in xss:              # for_stmt do_return, retval_; if_stmt
                for x in xs:            # for_stmt do_return, retval_
                    if x > 0:           # if_stmt do_return, retval_
                        return x
            return None
        """,
    "assert_": """
        def f(x, y=[1]):                # → None
            assert x > 0, "positive"    # assert_stmt (x > 0) positive
            assert x                    # assert_stmt x None
            assert y
        """,
    "raise_in_a_branch": """
        def f(x, y=0):                  # → phi(0, phi(1, 0))
            if x > 0:                   # if_stmt y
                raise ValueError(x)     # raise_ ValueError
            elif x < -5:                # if_stmt y
                try:
                    y = 1
                except KeyError as error:
                    raise LookupError from error
            return y
        """,
    "match_over_values": """
        def f(x, y=0):                  # → (phi(1, phi(2, phi(x, 3))), phi(UNBOUND, phi(UNBOUND, x)))
            match x:
                case 0:                 # if_stmt y, z
                    y = 1
                case 1 | 2:             # or_ 2; if_stmt y, z
                    y = 2
                case z if z > 5:        # if_stmt y
                    y = z
                case _:
                    y = 3
            return y, z
        """,
    "match_that_returns": """
        def f(x):                       # → phi(1, (x + 1))
            match x + 1:
                case 0:                 # if_stmt
                    return 1
                case other:
                    return other
        """,
    "loop_options": """
        def f(xs, n, s=0):              # → phi(phi(0, (0 + item)), (phi(0, (0 + item)) - 1))
            for x in xs:                # for_stmt s {'unroll': 4, 'parallel': True}
                ag.set_loop_options(unroll=4, parallel=True)
                s += x
            while s > n:                # while_stmt s {'maximum': 9}
                ag.set_loop_options(maximum=9)
                s -= 1
            return s
        """,
}
EXPRESSIONS = {
    "conditional_expressions": """
        def f(c, d):                    # → phi(1, phi(2, 3))
            return 1 if c else 2 if d else 3            # if_exp c; if_exp d
        """,
    "logic": """
        def f(a, b, c):                 # → (phi(phi(a, b), not c), phi(phi(a, b), c), 0, b)
            return (
                a and b or not c,       # and_ 2; or_ 2; not_ c
                a or b or c,            # or_ 3
                0 and a,
                1 and b,
            )
        """,
    "plain_values_come_first": """
        def f(a, b, x=1):               # → (phi(a, b), phi(a, b), 1)
            return (
                x and a and b,          # and_ 2
                not x or a or b,        # or_ 2
                x or a or b,
            )
        """,
    "chained_comparisons": """
        def f(a, b):                    # → (phi((a > 0), (a < b)), phi((a <= (b * 2)), ((b * 2) < 1)), (a < b))
            return (
                0 < a < b,              # and_ 2
                a <= b * 2 < 1,         # and_ 2
                0 < 1 != a < b if False else a < b,
            )
        """,
    "membership": """
        def f(a, b, xs=[1]):            # → ((a in [1]), not (1 in b), phi((a > 0), (a in [1])), True)
            return (
                a in xs,                # in_ a [1]
                1 not in b,             # in_ 1 b; not_ (1 in b)
                0 < a in xs,            # and_ 2; in_ a [1]
                1 in xs,
            )
        """,
    "subscripts": """
        def f(i, a={}, b=[[0], [1]]):   # → ({0: Staged((i + 1))}, [[0], [2]])
            a[i] = i                    # ref dict
            a[0] = a[i] + 1             # ref dict; ref dict
            a[i] += 1                   # ref dict
            del a[i]                    # ref dict
            b[1][0] = 2                 # ref list; ref list
            a[0]                        # ref dict
            return a, b
        """,
    "attributes": """
        class C: pass
        def f(c, o=C()):                # → 1
            o.x = c                     # ref C
            o.x += 1                    # ref C
            del o.x                     # ref C
            o.y = C()                   # ref C
            if c:                       # if_stmt
                o.y.x = 1               # ref C
            return o.y.x
        """,
    "comprehensions": """
        def f(xs):                      # → (['item'], ['item', '(item > 0)'], ['item', '-item'], ['(item * item)'])
            return (
                [x for x in xs],                        # list_comp []
                {x for x in xs if x > 0},               # set_comp set()
                {x: -x for x in xs},                    # dict_comp {}
                list(x * x for x in xs),                # gen_exp None
            )
        """,
    "staged_conditions_of_comprehensions": """
        def f(c):                       # → (['1', '(c < 1)'], ['1', '(c < 1)'])
            return (
                [x for x in (1, 2) if x > c],           # list_comp []
                [x for x in (1, 2) if x if x > c],      # list_comp []
            )
        """,
    "nested_comprehensions": """
        def f(xs):                      # → ["['item']"]
            return [[y for y in x] for x in xs]         # list_comp []; list_comp []
        """,
    "builtins": """
        def f(x, key=abs):              # → None
            len(x)                      # len x
            int(x), float(x)            # int x; float x
            bool(x), complex(1, x)      # bool x; complex 1 x
            range(x), range(1, x)       # range x; range 1 x
            min(x, 1), max(x)           # min x 1; max x
            sum(x), any(x), all(x)      # sum x; any x; all x
            sorted(x, key=key)          # sorted x
            reversed(x), enumerate(x)   # reversed x; enumerate x
            zip(x, (1, 2))              # zip x (1, 2)
            map(None, x)                # map None x
            filter(None, x)             # filter None x
            print(x, len("ab"))         # print x 2
        """,
    "shadowed_builtins_are_the_users": """
        def len(x):
            return 5
        def f(x):                       # → 5
            return len(x)
        """,
    "never_staged": """
        def f(x, y=0):                  # → 3
            if x is not None:
                y = 1
            if isinstance(x, int) or callable(x):
                y = 2
            while y is None:
                y = 3
            return y if y is None else 3
        """,
}
VARIABLES = {
    "not_read_afterwards": """
        def f(c, y=1):                  # → 3
            if c:                       # if_stmt
                y = 2
            y = 3
            return y
        """,
    "read_in_the_next_iteration_only": """
        def f(xs, y=1):                 # → None
            for x in xs:                # for_stmt y
                z = y
                y = x
        """,
    "in_order_of_appearance": """
        def f(c, b=0):                  # → (1, phi(3, 2), phi(4, 0), phi(5, UNBOUND))
            z = 1
            a = 2
            if c:                       # if_stmt b, a, y
                y = 5
                a = 3
                b = 4
            return z, a, b, y
        """,
    "unpacked": """
        def f(c, x=0):                  # → (phi(1, UNBOUND), phi([2, 3], UNBOUND), phi(4, 0))
            if c:                       # if_stmt x, a, b
                (a, *b), x = (1, 2, 3), 4
            return a, b, x
        """,
    "annotated": """
        def f(c):                       # → phi(5, UNBOUND)
            if c:                       # if_stmt x
                x: int = 5
            return x
        """,
    "deleted": """
        def f(c, x=1):                  # → phi(UNBOUND, 1)
            if c:                       # if_stmt x
                del x
            return x
        """,
    "imported": """
        def f(c):                       # → None
            if c:                       # if_stmt os, path
                import os
                from os import path
            os, path
        """,
    "defined": """
        def f(c):                       # → None
            if c:                       # if_stmt g, C
                def g(): return 1
                class C: pass
            else:
                g = C = None
            g, C
        """,
    "captured_by_an_inner_function": """
        def f(c, v=1, w=2):             # → (phi(3, 1), phi(4, 2))
            def g():
                return v, w
            if c:                       # if_stmt v, w
                v = 3
                w = 4
            return g()
        """,
    "changed_by_an_inner_function": """
        def f(c, v=1):                  # → phi(2, 1)
            def g():
                nonlocal v
                v += 1
            if c:                       # if_stmt v
                g()
            return v
        """,
    "of_an_outer_function": """
        def outer(v):
            def f(c):                   # → phi(2, 1)
                nonlocal v
                if c:                   # if_stmt v
                    v = 2
                return v
            return f
        f = outer(1)
        """,
    "global_": """
        counter = 0
        def f(c):                       # → (phi(1, 0) + 1)
            global counter
            if c:                       # if_stmt counter
                counter += 1
            return counter + 1
        """,
    "private": """
        class C:
            def f(self, c, __x=1):
                if c:                   # if_stmt _C__x
                    __x = 2
                return __x
        def f(c):                       # → phi(2, 1)
            return C().f(c)
        """,
    "of_the_handler_and_the_context": """
        from contextlib import nullcontext
        def f(c, x=0):                  # → (phi(2, 0), phi(1, UNBOUND))
            if c:                       # if_stmt x, y
                with nullcontext(1) as y:
                    try:
                        x = [][1]  # ref list
                    except IndexError as error:
                        x = 2
            return x, y
        """,
}
PLACES = {
    "try_and_finally": """
        def f(c, d, x=0, y=0):          # → (phi(1, 0), phi(1, 0))
            try:
                if c:                   # if_stmt x
                    x += 1
            finally:
                if d:                   # if_stmt y
                    y += 1
            return x, y
        """,
    "return_through_finally": """
        def f(c, d, y=0):               # → phi(phi(7, UNBOUND), phi(1, 0))
            try:                        # if_stmt
                if c:                   # if_stmt do_return, retval_
                    return 7
            finally:
                if d:                   # if_stmt y
                    y += 1
            return y
        """,
    "lambdas": """
        def f(c, d):                    # → (phi(1, phi(c, d)), not c)
            g = lambda: 1 if c else c and d             # if_exp c; and_ 2
            return g(), (lambda: not c)()               # not_ c
        """,
    "inner_functions": """
        def f(c, d, x=0):               # → phi(phi(2, 1), 0)
            def g(y):
                if d:                   # if_stmt y
                    y = 2
                return y
            if c:                       # if_stmt x
                x = g(1)
            return x
        """,
    "generators": """
        def g(c, x):
            if c:                       # if_stmt x
                x = 1
            yield x
            for y in (1, 2):
                yield y + (1 if c else 2)               # if_exp c; if_exp c
        def f(c):                       # → [Staged(phi(1, 0)), Staged((1 + phi(1, 2))), Staged((2 + phi(1, 2)))]
            return list(g(c, 0))
        """,
    "coroutines": """
        import asyncio
        async def g(c, x):
            if c:                       # if_stmt x
                x = 1
            return x
        async def h(c):
            return await g(c, 0)
        def f(c):                       # → phi(1, 0)
            try:
                h(c).send(None)
            except StopIteration as stop:
                return stop.value
        """,
    "methods_that_call_super": """
        class A:
            def m(self, c):
                return 1 if c else 2                    # if_exp c
        class B(A):
            def m(self, c):
                x = super().m(c)
                if c:                   # if_stmt x
                    x = 3
                return x
        def f(c):                       # → phi(3, phi(1, 2))
            return B().m(c)
        """,
    "properties_run_as_they_are": """
        class A:
            @property
            def p(self):
                return 1 if [] else 2
        def f(c):                       # → phi(2, 0)
            return A().p if c else 0    # if_exp c
        """,
}
PROGRAMS = {**STATEMENTS, **EXPRESSIONS, **VARIABLES, **PLACES}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_reaches_the_backend(name):
    program = code(PROGRAMS[name])
    function = staging.execute(program)["f"]
    traced = staging.trace(function)
    facts = traced.facts(function.__code__.co_filename)
    facts[function.__code__.co_firstlineno] = f"→ {staging.shown(traced.result)}"
    assert beside(program, facts) == tidy(PROGRAMS[name])
