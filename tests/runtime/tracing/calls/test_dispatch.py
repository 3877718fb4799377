"""Replacements of functions that traced code calls: those of `ag.convert`, and their wrappers."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import autograph as ag
from autograph.runtime.tracing.calls.dispatch import Caller


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


# What functions that the graph calls may change ----------------------------------------------------------------------

COUNT = 0


class Counter:
    def __init__(self, k=1):
        self.k = k


@ag.do_not_convert
def grow(counter, x):
    counter.k += x


@ag.do_not_convert
def count(x):
    global COUNT
    COUNT += x


def reads_what_it_hands_on(counter, x):
    before = counter.k
    grow(counter, x)
    return before, counter.k


def reads_within_what_it_hands_on(counters, x):
    grow(counters["a"], x)
    return counters["a"].k + x


def makes_what_it_hands_on(x):
    counter = Counter(x)
    grow(counter, 2)
    return counter.k * 2


def reads_a_global_that_is_rebound(x):
    before = COUNT
    count(x)
    return before, COUNT


def reads_a_variable_that_is_rebound(x):
    total = 0

    @ag.do_not_convert
    def add(y):
        nonlocal total
        total += y

    add(x)
    return total


CHANGES = [
    (reads_what_it_hands_on, lambda: (Counter(), 3)),
    (reads_what_it_hands_on, lambda: (Counter(2.5), 3)),
    (reads_within_what_it_hands_on, lambda: ({"a": Counter()}, 3)),
    (makes_what_it_hands_on, lambda: (3,)),
    (reads_a_global_that_is_rebound, lambda: (3,)),
    (reads_a_variable_that_is_rebound, lambda: (3,)),
]


@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
@pytest.mark.parametrize("function, arguments", CHANGES)
def test_what_is_called_later_may_change_what_is_read(monkeypatch, engine, function, arguments):
    answers = []
    for called in function, ag.function(function, engine=engine):
        monkeypatch.setitem(globals(), "COUNT", 0)
        answers.append([called(*arguments()) for _ in range(3)] + [COUNT])
    assert answers[0] == answers[1]


def test_what_is_not_read_may_change():
    @ag.function
    def f(counter, x):
        grow(counter, x)
        count(x)
        return x * 2

    counter = Counter()
    assert [f(counter, 3), counter.k] == [6, 4] and f.traces[0].graph is not None


def test_calls_of_a_function_are_decided_upon_once(monkeypatch: pytest.MonkeyPatch) -> None:
    decided: list[Any] = []
    decide = Caller._python_function
    monkeypatch.setattr(Caller, "_python_function", lambda self, f: decided.append(f) or decide(self, f))

    class Counter:
        def __init__(self) -> None:
            self.count = 0

        def up(self, by: int) -> None:
            self.count += one() * by

    def one() -> int:
        return 1

    def program(x: float) -> float:
        counters = [Counter(), Counter()]
        for number in range(40):
            counters[number % 2].up(2)
        return x + counters[0].count - 2 * counters[1].count

    staged = ag.function(program)
    assert staged(0.5) == program(0.5) == -39.5
    assert len(decided) == 3
