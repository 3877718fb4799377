"""Generated names never clash with the user's, wherever those stand."""

from __future__ import annotations

import textwrap

import pytest

from autograph import operators
from tests.converters.conversion import convert, printed

PROGRAMS = {
    "a_parameter": """
        def f(if_body, n):
            if n > 0:
                n = if_body
            return n
        """,
    "a_local": """
        def f(m, n):
            if n > 0:
                if_body = m
                n = if_body
            return n
        """,
    "a_global": """
        if_body = 3
        def f(m, n):
            if n > 0:
                n = if_body
            return n
        """,
    "a_function": """
        def if_body(): return 4
        def f(m, n):
            if n > 0:
                n = if_body()
            return n
        """,
    "captured": """
        def f(m, n):
            def g():
                return if_body + m
            if_body = 1
            if n > 0:
                n = g()
            return n
        """,
    "an_attribute": """
        class if_body:
            if_body = 5
        def f(m, n):
            if n > 0:
                n = if_body.if_body
            return n
        """,
    "an_import": """
        from math import pi as if_body
        def f(m, n):
            if n > 0:
                n = if_body
            return n
        """,
    "a_comprehension": """
        def f(m, n):
            if n > 0:
                n = [if_body for if_body in (m,)]
            return n
        """,
    "item": """
        def f(item, n):
            for a, b in [(item, n)]:
                n = a, b, item
            return n
        """,
    "subject": """
        def f(subject_, n):
            match n + 1:
                case 2: n = subject_
                case k if k > subject_: n = k
            return n
        """,
    "flags": """
        def f(break_, n):
            for do_return in 1, 2:
                retval_ = break_
                if n > 1: break
                if n > 0: return retval_
        """,
    "numbered": """
        def f(if_body, n):
            if_body_1 = 1
            if n > 0:
                n = if_body, if_body_1
            return n
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_users_names_win(name):
    text = textwrap.dedent(PROGRAMS[name])
    for arguments in (1, 2), (1, 1), (1, 0):
        results = []
        for program in text, printed(text):
            space = {"ag__": operators}
            exec(program, space)
            results.append(space["f"](*arguments))
        assert results[0] == results[1]


def test_generated_functions_are_told():
    """The loader gives their frames the name of the user's function."""
    text = "def f(if_body):\n  while if_body:\n    for x in if_body:\n      if x:\n        return 1\n"
    assert convert(text).generated == {"loop_test", "loop_body", "if_body_1"}


def test_bodies_share_names_and_flags_do_not():
    """Bodies are used where they are defined; flags of nested loops live side by side."""
    text = "def f(xs):\n" + "".join(
        f"{'    ' * i}for x{i} in xs:\n{'    ' * i}    if x{i}:\n{'    ' * i}        break\n" for i in (1, 2, 3)
    )
    new = printed(text)
    assert new.count("def loop_body(") == new.count("def if_body(") == 3
    assert all(f"{flag} = False" in new for flag in ("break_", "break_1", "break_2"))
