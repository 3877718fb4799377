"""Live names, written beside each line: the names whose values some way on from there may still read."""

from __future__ import annotations

import gast
import pytest

from autograph.syntax import liveness
from tests.annotated import beside, code, tidy
from tests.syntax.lined import function, lined_graph

LIVE_BEFORE = {
    "what_is_read_later": """
        def f(x):
            y = x               # x
            z = y + y           # y
            x = z               # z
            return x            # x
        """,
    "nothing_lives_where_it_is_overwritten": """
        def f(x):
            x = 1               #
            y = x               # x
            y = 2               #
            return y            # y
        """,
    "branches": """
        def f(c, x, y):
            if c:               # c x y
                z = x           # x y
            else:
                z = 0           #
                y = 1           # z
            return y + z        # y z
        """,
    "one_branch": """
        def f(c, x):
            z = 0               # c x
            if c:               # c x z
                z = x           # x
            return z            # z
        """,
    "augmented_assignment_reads": """
        def f(n):
            n += 1              # n
            n: int = 2          #
            return n            # n
        """,
    "walrus": """
        def f(n):
            if (m := n) > 1:    # n
                return m        # m
            m = 2               #
            return m            # m
        """,
    "del": """
        def f(x, y):
            del x               # x y
            return y            # y
        """,
    "a_loop_carries": """
        def f(n, total):
            while n:            # n total
                total += n      # n total
                n -= 1          # n total
            return total        # total
        """,
    "a_loop_does_not_carry_what_it_sets_first": """
        def f(n):
            while n:            # n
                m = n - 1       # n
                n = m           # m
            return n            # n
        """,
    "the_target_of_a_for": """
        def f(xs, last):
            for x in xs:        # last xs
                last = x        # x
            return last         # last
        """,
    "the_target_lives_on_after_the_loop": """
        def f(x, xs):
            for x in xs:        # print x xs
                print(x)        # print x
            return x            # x
        """,
    "break_jumps_over_the_else": """
        def f(xs, found, missing):
            for x in xs:        # found missing xs
                if x:           # found missing x
                    break       # found
            else:
                found = missing         # missing
            return found        # found
        """,
    "continue_jumps_over_the_rest": """
        def f(xs, n, m):
            for x in xs:        # m n xs
                if x:           # m n x
                    continue    # m n
                n = m           # m
            return n            # n
        """,
    "return_ends_it": """
        def f(c, x):
            if c:               # c x
                return 1        #
            return x            # x
        """,
    "raise_ends_it": """
        def f(c, x):
            if c:               # E c x
                raise E         # E
            return x            # x
        """,
    "an_exception_may_come_before_the_assignment": """
        def f(x, y):
            try:
                x = g()         # E g x y
                y = x           # E x y
            except E:           # E x y
                return x + y    # x y
            return x            # x
        """,
    "finally_always_runs": """
        def f(x, y):
            try:
                return          # print y
            finally:
                print(y)        # print y
        """,
    "the_name_of_a_handler": """
        def f(e, x):
            try:
                x()             # E e x
            except E as e:      # E
                return e        # e
            return e            # e
        """,
    "a_with_may_swallow_the_exception": """
        def f(x):
            with a as b:        # a x
                x = b           # b x
            return x            # x
        """,
    "a_pattern_that_fails_may_have_bound": """
        def f(x, y):
            match x:            # C print x y
                case [y, 1]:    # C print y
                    print(y)    # print y
                case C():       # C print y
                    print()     # print y
            return y            # y
        """,
    "comprehensions_bind_for_themselves": """
        def f(x, xs, y):
            y = [x + y for x in xs]     # x xs y
            return x, y         # x y
        """,
}


@pytest.mark.parametrize("name", LIVE_BEFORE)
def test_live_before_each_line(name):
    text = LIVE_BEFORE[name]
    assert beside(code(text), _live_before(code(text))) == tidy(text)


def _live_before(program: str) -> dict[int, str]:
    graph, line_of = lined_graph(function(program, plain="as Python runs it"))
    live = liveness.solve(graph)
    return {line: _listed(graph.names, live[step]) for step, line in sorted(line_of.items())}


def _listed(names: list[str], bits: int) -> str:
    return " ".join(sorted(name for bit, name in enumerate(names) if bits >> bit & 1))


STATES = {
    "what_lives_on": """
        def f(n):
            if n:                       # n; body n
                n = 0
                unused = n
            return n
        """,
    "nothing_lives_on": """
        def f(n):
            if n:                       #
                m = n
                print(m)
        """,
    "either_branch": """
        def f(c, x, y, z):
            if c:                       # x y; body y; else x y
                y = z = 1
            else:
                x = y = 2
            return x, y
        """,
    "read_before_written_is_shared_though_it_dies": """
        def f(n):
            if n:                       # ; body n
                n -= 1
                print(n)
        """,
    "carried_to_the_next_iteration": """
        def f(n):
            while n:                    # n; body n
                m = n
                n = m - 1
        """,
    "carried_by_the_inner_loop_alone": """
        def f(n, total):
            while n:                    # n total; body n total
                m = n
                while m:                # total m; body total m
                    m -= 1
                    total += m
                n -= 1
            return total
        """,
    "a_target_is_the_bodys_own": """
        def f(xs):
            for x in xs:                #
                print(x)
        """,
    "a_target_that_lives_on": """
        def f(xs):
            for x in xs:                # x; body x
                print(x)
            return x
        """,
    "a_target_that_changes_in_the_body": """
        def f(xs):
            for x in xs:                #
                x += 1
                print(x)
        """,
    "bound_by_the_test": """
        def f(g):
            while n := g():             # n; body n
                print(n)
        """,
    "captured_names_live_for_ever": """
        def f(c):
            x = 0
            def g():
                return x
            if c:                       # x; body x
                x = 1
            return g
        """,
    "what_inner_functions_assign_may_change_in_any_call": """
        def f(c):
            x = 0
            def g():
                nonlocal x
                x += 1
            if c:                       # x; body x
                g()
            return x
        """,
    "globals_live_for_ever": """
        def f(c):
            global x
            if c:                       # x; body x
                x = 1
        """,
    "deleted": """
        def f(c, x):
            if c:                       # x; body x
                del x
            else:
                print(x)
            return x
        """,
    "definitions_are_names_too": """
        def f(c):
            if c:                       # g C math; body g C math
                def g(): ...
                class C: ...
                import math
            return g, C, math
        """,
    "what_a_handler_reads_is_shared": """
        def f(c, x):
            try:
                if c:                   # ; body x
                    x = 1
                    g()
                    x = 2
            except E:
                return x
        """,
}


@pytest.mark.parametrize("name", STATES)
def test_the_state_of_a_construct(name):
    """Behind each construct: the names of its state, and those its bodies must share."""
    text = STATES[name]
    node = function(code(text), plain=None)
    liveness.analyze(node)
    constructs = [n for n in gast.walk(node) if isinstance(n, (gast.If, gast.While, gast.For))]
    assert beside(code(text), {n.lineno: _state(n.state) for n in constructs}) == tidy(text)


def _state(state: liveness.State) -> str:
    called = {"body": "; body ", "orelse": "; else "}
    return " ".join(state.names) + "".join(called[b] + " ".join(names) for b, names in state.shared.items() if names)


def test_names_come_in_the_order_of_their_first_appearance():
    program = "def f(p, a):\n    z = y = 0\n    if p:\n        b = y = z = a = 1\n    return a, b, y, z"
    node = function(program, plain=None)
    liveness.analyze(node)
    assert node.body[1].state.names == ["a", "z", "y", "b"]


def test_one_sweep_settles_a_function_without_loops():
    """However long it is, however many jumps it has: steps are numbered in the order in which they are settled."""
    body = "".join(f"    if x{i}:\n        return x{i}\n    x{i + 1} = 1\n" for i in range(100))
    graph, _ = lined_graph(function(f"def f(x0):\n{body}", plain="as Python runs it"))
    graph.steps = Sweeps(graph.steps)
    liveness.solve(graph)
    assert graph.steps.count == 2  # the second finds that nothing changes


class Sweeps(list):
    """A list that counts how often it is gone through."""

    count = 0

    def __iter__(self):
        self.count += 1
        return super().__iter__()
