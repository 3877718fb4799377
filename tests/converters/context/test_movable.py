"""Functions that look down the stack, and what that keeps plain in those that call them."""

from __future__ import annotations

import math

import pytest

from tests.converters.conversion import convert, decisions

HEADER = "import sys, warnings, inspect\nfrom warnings import warn\n"


def depths(text: str) -> dict[str, float]:
    from autograph.converters.context.known import module_context
    from autograph.syntax import source

    return dict(module_context(source.parse(HEADER + text, "user.py").tree, "user.py").frame_depths)


def plain_calls(text: str) -> list[str]:
    """The calls, in the function f, that are left plain because they look at a frame."""
    return [
        d.construct.removeprefix("call of ")
        for d in decisions(HEADER + text, calls=True)
        if d.function == "f" and d.reason == "it looks at its caller's frame"
    ]


@pytest.mark.parametrize(
    "call, plain",
    [
        ("sys._getframe()", True),
        ("sys._getframe(1)", True),
        ("sys._getframe(x)", True),
        ("inspect.currentframe()", True),
        ("inspect.stack()[1]", True),
        ("warn('w')", False),
        ("warn('w', UserWarning)", False),
        ("warn('w', stacklevel=1)", True),
        ("warn('w', UserWarning, 2)", True),
        ("warnings.warn('w', stacklevel=x)", True),
        ("sys.getframe()", False),
    ],
)
def test_calls_that_look_at_a_frame(call, plain):
    text = f"{HEADER}def f(x):\n    if x:\n        {call}\n    return 0"
    (decision,) = [d for d in convert(text).decisions if d.construct == "if"]
    assert bool(decision.reason and "looks at its caller's frame" in decision.reason) is plain


def test_a_function_that_looks_at_its_caller_alone_may_be_called_from_anywhere():
    """A generated body has the same name, globals and lines as the function it is part of."""
    text = "def caller(): return sys._getframe(1)\ndef f(x):\n    if x:\n        return caller()\n"
    assert depths(text) == {}
    assert plain_calls(text) == []


def test_one_that_looks_further_needs_its_callers_own_frame():
    text = "def below(): return sys._getframe(2)\ndef f(x): return below()\n"
    assert depths(text) == {"below": 2}
    assert plain_calls(text) == ["below"]


def test_and_so_do_its_callers_one_frame_less_each():
    text = "def a(): warn('w', stacklevel=4)\ndef b(): a()\ndef c(): b()\ndef d(): c()\ndef f(x): d(), c(), b(), a()\n"
    assert depths(text) == {"a": 3, "b": 2, "f": 2}
    assert plain_calls(text) == ["b", "a"]


def test_who_walks_the_stack_may_look_at_every_frame():
    text = "def walk():\n    frame = sys._getframe()\n    while frame: frame = frame.f_back\ndef f(x): return walk()\n"
    assert depths(text) == {"walk": math.inf, "f": math.inf}
    assert plain_calls(text) == ["walk"]


def test_methods_count_by_name():
    text = "class C:\n    def below(self): return sys._getframe(2)\n    def f(self, x): return self.below()\n"
    assert depths(text) == {"below": 2}
    assert plain_calls(text.replace("class C", "class f")) == []
    assert [d.reason for d in decisions(HEADER + text, calls=True)][-1] == "it looks at its caller's frame"


def test_recursion_comes_to_an_end():
    text = "def a(n): b(n), sys._getframe(3)\ndef b(n): a(n)\ndef f(x): a(x)"
    assert depths(text) == {"a": 3, "b": 2, "f": 2}
