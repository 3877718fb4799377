"""Which conditions are never staged, whatever their operands are."""

from __future__ import annotations

import pytest

from tests.converters.conversion import convert

NEVER = """
    True
    None
    'text'
    lambda: 0
    f'x'
    x is None
    x is not None
    x is int
    None is x is not ...
    type(x) is type(y)
    x == 'text'
    'a' != x
    x == b'bytes'
    x == None
    x == ...
    x in ('a', 'b')
    x not in ['a']
    x in {None, 'a'}
    x in ()
    isinstance(x, int)
    issubclass(x, y)
    callable(x)
    hasattr(x, 'a')
    id(x) == id(y)
    not x is None
    x is None and callable(y) or not hasattr(x, 'b')
    __debug__
    __name__ == '__main__'
    TYPE_CHECKING
    typing.TYPE_CHECKING
    sys.version_info >= (3, 8)
    sys.version_info[0] == 3
    sys.platform == 'win32'
    sys.flags.optimize
    os.name == 'nt'
"""
MAYBE = """
    x
    x.y
    x[0]
    not x
    x == 0
    x == y
    x in y
    x in ('a', 0)
    x is y
    x is not y[0]
    x is None and x
    x or x is None
    f(x)
    isinstance
    x.isinstance(y)
    x if x is None else y
    (y := x is None)
    sys.maxsize > x
    f'{x}'
    f'{x}' == 'text'
    'text' != str(x)
    repr(x) in ('a', 'b')
"""


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().split("\n")]


def reason(condition: str, before: str = "") -> str | None:
    text = f"import os, sys, typing\n{before}\ndef f(x, y):\n    if {condition}:\n        return x\n"
    (decision,) = [d for d in convert(text).decisions if d.construct == "if"]
    return decision.reason


@pytest.mark.parametrize("condition", lines(NEVER))
def test_never_staged(condition):
    assert reason(condition).startswith("its condition is never staged: ")


@pytest.mark.parametrize("condition", lines(MAYBE))
def test_maybe_staged(condition):
    assert reason(condition) is None


def test_a_name_of_the_users_own_is_no_builtin():
    assert reason("isinstance(x, int)", before="def isinstance(x, y): return x") is None


def test_long_conditions_are_shortened_in_the_reason():
    told = reason("isinstance(x, (int, float, complex, str, bytes, list, tuple))")
    assert told == "its condition is never staged: isinstance(x, (int, float, complex, str…"
