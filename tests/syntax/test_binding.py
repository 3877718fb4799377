"""Reads that may find their variable unbound: each stands behind its line; `(y)` is read as a free variable."""

from __future__ import annotations

import sys

import gast
import pytest

from autograph.syntax import liveness
from tests.annotated import beside, code, tidy
from tests.syntax.lined import function

IN_PLACE = sys.version_info >= (3, 12)  # whether comprehensions are part of the function that they stand in

READS = {
    "bound_on_one_path": """
        def f(c, x):
            if c:
                y = x
                print(y)
            z = y               # y
            return z
        """,
    "bound_on_both_paths": """
        def f(c):
            if c:
                y = 1
            else:
                y = 2
            return y
        """,
    "bound_or_left": """
        def f(c):
            if c:
                y = 1
            else:
                raise ValueError
            return y
        """,
    "bound_later": """
        def f(c):
            print(y)            # y
            y = 1
            return y
        """,
    "loops": """
        def f(xs):
            for x in xs:
                print(last)     # last
                last = x
            else:
                print(last)     # last
            return x            # x
        """,
    "while": """
        def f(n):
            while n:
                n -= 1
                k = n
            return k, n         # k
        """,
    "tests_that_bind": """
        def f(n):
            while (m := n):
                n = m - 1
            return m
        """,
    "walrus_that_may_not_run": """
        def f(a):
            a and (b := a)
            return b            # b
        """,
    "del": """
        def f(x, y):
            del x
            y = x               # x
            x = y
            return x
        """,
    "del_of_what_may_be_unbound": """
        def f(c):
            if c:
                y = 1
            del y               # y
        """,
    "augmented_assignment": """
        def f(c):
            if c:
                y = 1
            y += 1              # y
            return y
        """,
    "handlers": """
        def f():
            try:
                x = g()
                y = x
            except E as e:
                print(x, e)     # x
                return e
            return y
        """,
    "the_variable_of_a_handler_is_deleted": """
        def f(e):
            try:
                g()
            except E as e:
                print(e)
            return e            # e
        """,
    "also_by_jumps": """
        def f(e):
            while True:
                try:
                    g()
                except E as e:
                    break
                else:
                    return e
            return e            # e
        """,
    "with_may_swallow": """
        def f():
            with g() as c:
                y = c
            return c, y         # c y
        """,
    "patterns": """
        def f(x):
            match x:
                case [y]:
                    print(y)
            return y            # y
        """,
    "inner_functions": """
        def f(c):
            if c:
                y = 1
            z = 2
            def g(w):
                return y, z, w  # (y)
            return g
        """,
    "inner_functions_that_come_first": """
        def f(c):
            def g():
                y = 2
                return y, g
            def h():
                return y        # (y)
            y = 1
            return h, g
        """,
    "inner_functions_that_delete": """
        def f(c):
            y = 1
            def g():
                nonlocal y
                del y           # (y)
            g()
            return y            # y
        """,
    "lambdas": """
        def f(c):
            if c:
                y = 1
            return lambda y=y: y, lambda: y     # (y) y
        """,
    "generator_expressions": """
        def f(c):
            if c:
                y = 1
            return (y for _ in y)   # (y) y
        """,
    "comprehensions": f"""
        def f(c):
            if c:
                y = z = 1
            return [y + z for y in z]   # {'z' if IN_PLACE else '(z) z'}
        """,
    "what_is_another_functions": """
        def f(c):
            global y
            if c:
                y = 1
            return y, z
        """,
}


@pytest.mark.parametrize("plain", [None, "as Python runs it"])
@pytest.mark.parametrize("name", READS)
def test_reads_of_what_may_be_unbound(name, plain):
    text = READS[name]
    node = function(code(text), plain)
    liveness.analyze(node)
    found: dict[int, set[str]] = {}
    for each in gast.walk(node):
        if hasattr(each, "unbound"):
            found.setdefault(each.lineno, set()).add(each.id if each.unbound == "local" else f"({each.id})")
    assert beside(code(text), {line: " ".join(sorted(names)) for line, names in found.items()}) == tidy(text)


def test_parameters_and_what_is_bound_at_once_cost_nothing():
    """No further analysis is made of a function that reads nothing unbound."""
    node = function("def f(x):\n    y = x\n    return [y for _ in x]", plain=None)
    liveness.analyze(node)
    assert not any(hasattr(each, "unbound") for each in gast.walk(node))
