"""What a conversion knows of names: from a module's text, or from a live function's globals."""

from __future__ import annotations

import math
import weakref

import gast
import numpy as np
import pytest

from autograph.converters.context import known

IMPORTS = """
import a, b.c, d.e as f
from g import h, i as j
from g.k import l
from . import m
from .n import o
try:
    import p
except ImportError:
    p = None
if a:
    from q import r
class C:
    import s
def function():
    import t
u = 1
"""


@pytest.fixture
def context():
    return known.module_context(gast.parse(IMPORTS), "user.py")


@pytest.mark.parametrize(
    "expression, dotted",
    [
        ("a", "a"),
        ("a.x.y", "a.x.y"),
        ("b.c.x", "b.c.x"),
        ("f.x", "d.e.x"),
        ("h", "g.h"),
        ("j.x", "g.i.x"),
        ("l", "g.k.l"),
        ("m.x", None),  # of the user's own package
        ("o", None),
        ("p.x", "p.x"),
        ("r", "q.r"),
        ("s", None),
        ("t", None),
        ("u", None),
        ("len", "builtins.len"),
        ("len.x", None),
        ("a().x", None),
        ("undefined", None),
    ],
)
def test_dotted_names(context, expression, dotted):
    assert context.dotted(gast.parse(expression).body[0].value) == dotted


def test_local_names_hide_the_modules(context):
    context.locals.append({"a", "len"})
    assert context.dotted(gast.parse("a.x").body[0].value) is None
    assert not context.is_builtin("len") and context.is_builtin("max")


def test_a_live_functions_globals_tell():
    names = {"np": np, "linalg": np.linalg, "sqrt": math.sqrt, "len": max, "z": 1}
    tree = gast.parse("def f(x): return np.sin, linalg, sqrt, len, y, z")
    context = known.function_context(tree, "user.py", names, free=("y",))
    told = {text: context.dotted(gast.parse(text).body[0].value) for text in ("np.sin", "linalg", "sqrt", "y", "z")}
    assert told == {"np.sin": "numpy.sin", "linalg": "numpy.linalg", "sqrt": "math.sqrt", "y": None, "z": None}
    assert not context.is_builtin("len") and not context.is_builtin("y") and context.is_builtin("max")


def test_numpy_stack_looks_at_no_frames():
    import inspect
    from inspect import stack

    def of_numpy(x):
        return np.stack([x, x])

    def of_inspect():
        return inspect.stack()

    by_name = eval("lambda: stack()", {"stack": stack})
    assert [known.looks_at_frames(each) for each in (of_numpy, of_inspect, by_name)] == [False, True, True]


class Proxy:
    """What stands for something that there may not be yet, as Flask's `request` does."""

    def __init__(self, of):
        self.of = of

    @property
    def __class__(self):
        return type(self.of())


class Owner:
    pass


GLOBALS = [lambda: weakref.proxy(Owner()), lambda: Proxy(lambda: 1 // 0), lambda: Proxy(lambda: math)]


@pytest.mark.parametrize("made", GLOBALS)
def test_globals_are_not_asked_for_their_class(made):
    assert known.global_names({"x"}, {"x": made(), "__name__": "m"}) == {"x": (None, False, "itself")}
