"""What is called in the place of functions: those of `ag.convert`, and wrappers of such."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import autograph as ag


@ag.convert
def sign(x: Any) -> Any:
    if x > 0:
        return x * 2
    return -x


class Holder:
    @ag.convert
    def double(self, x: Any) -> Any:
        return sign(x) * 2


def said_and_raised(function: Any) -> Any:
    @functools.wraps(function)
    def wrapper(x: Any) -> Any:
        print("called")
        return function(x) + 1

    return wrapper


WRAPPED = said_and_raised(sign)
PARTIAL = ag.convert(functools.partial(sign))
HOLDER = Holder()


@pytest.mark.parametrize("function", [lambda x: sign(x), lambda x: HOLDER.double(x), lambda x: PARTIAL(x)])
def test_functions_of_convert_are_traced_into(function: Any) -> None:
    staged = ag.function(function, strict=("plain", "callback"))
    assert [staged(x) for x in (1.5, -1.5, 1.5)] == [function(x) for x in (1.5, -1.5, 1.5)]
    assert ag.grad(function)(1.5) in (2.0, 4.0)


@pytest.mark.parametrize("make", [lambda f: f, ag.to_graph, ag.convert, ag.do_not_convert])
def test_wrappers_of_such_functions_are_functions_of_their_own(make: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """`functools.wraps` gives them all attributes of what they wrap."""
    for function in (make(said_and_raised(sign)), ag.function(lambda x: WRAPPED(x)), ag.function(WRAPPED)):
        assert [function(x) for x in (1.5, -1.5)] == [4.0, 2.5]
        assert capsys.readouterr().out == "called\ncalled\n"


@pytest.mark.parametrize("engine", ["numpy", "auto"])
def test_functions_that_are_given_other_code(engine: str) -> None:
    """As IPython's autoreload does."""

    def inner(x: int) -> int:
        return x + 1

    def other(x: int, y: int = 5) -> int:
        return x * y

    class Owner:
        def method(self, x: int) -> int:
            return x - 1

    staged = ag.function(lambda owner, x: (inner(x), owner.method(x)), engine=engine)
    owner = Owner()
    assert [staged(owner, 3), staged(owner, 4)] == [(4, 2), (5, 3)]
    inner.__code__, inner.__defaults__ = other.__code__, other.__defaults__
    assert [staged(owner, 3), staged(owner, 4)] == [(15, 2), (20, 3)]
    Owner.method.__code__ = (lambda self, x: x * x).__code__
    assert [staged(owner, 3), staged(owner, 4)] == [(15, 9), (20, 16)]
    assert "the code of" in staged.traces[-1].reason
