"""Law 7: what is left plain, unrolled, specialized, retraced or called back is told by `explain`, with file, line and
reason; and `strict` makes an error of each.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import AutographError


def line_of(function: Callable[..., Any], text: str) -> int:
    """The number of the line of a function that holds `text`."""
    lines, first = inspect.getsourcelines(function)
    return first + next(n for n, line in enumerate(lines) if text in line)


# Each falls back in one way, at the line that has the comment.


def called_back(x):
    double = np.vectorize(lambda v: v * 2)
    return double(x)  # here


def unrolled(rows):
    total = 0
    for i in range(len(rows)):  # here
        total = total + len(rows[i]) * rows[i][0]
    return total


def left_plain(x):
    while x < 10:  # here
        x = x + eval("1")
    return x


CASES = [
    pytest.param("callback", called_back, (np.arange(3.0),), id="callback"),
    pytest.param("unroll", unrolled, ([[1, 2], [3]],), id="unroll"),
    pytest.param("plain", left_plain, (1,), id="plain"),
]


@pytest.mark.parametrize("kind, function, args", CASES)
def test_explain_tells(kind: str, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    report = ag.function(function).explain(*args)
    told = report.where(kind=kind, line=line_of(function, "# here"))
    assert len(told) >= 1, str(report)
    assert all(event.place is not None and event.place[0] == __file__ and event.message for event in told)
    assert "None" not in str(told)


@pytest.mark.parametrize("kind, function, args", CASES)
def test_strict_refuses(kind: str, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    for strict in (kind, True):
        with pytest.raises(AutographError) as caught:
            ag.function(function, strict=strict)(*args)
        assert "strict" in str(caught.value)


@pytest.mark.parametrize("kind, function, args", CASES)
def test_the_answer_is_the_same_all_the_same(kind: str, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    assert str(ag.function(function)(*args)) == str(function(*args))


def test_specializing_is_told_and_can_be_refused() -> None:
    function = ag.function(left_plain)
    assert function(1) == 10
    told = [event for event in function.explain(1) if "`x` is part of the signature" in event.message]
    assert told and f"{__file__}:{line_of(left_plain, '# here')}" in f"{told[0].message} {told[0].place}"
    with pytest.raises(AutographError, match="strict about 'specialize'"):
        ag.function(left_plain, strict="specialize")(1)


@pytest.mark.usefixtures("traced_at_once")
def test_retracing_is_told_with_its_reason_and_can_be_refused() -> None:
    @ag.function
    def f(x):
        return x + 1

    f(1)
    f(np.ones(2))
    f(np.ones(3))
    f(1.5)
    reasons = [trace.reason for trace in f.traces]
    assert len(reasons) >= 3 and all(reasons)
    assert "x" in "".join(reasons[1:])
    assert "retrace" in str(f.explain(1.5)) or reasons[-1] in str(f.explain(1.5))

    @ag.function(strict="retrace")
    def g(x):
        return x + 1

    assert g(1) == 2
    with pytest.raises(AutographError, match="retrace"):
        g(np.ones(2))


@pytest.mark.usefixtures("traced_at_once")
def test_a_global_that_changes_is_told_as_the_reason() -> None:
    global rate
    rate = "fast"

    @ag.function
    def f(x):
        return x * (2 if rate == "fast" else 1)

    assert f(1) == 2
    rate = "slow"
    assert f(1) == 1
    assert "rate" in str(f.traces[-1].reason)
    assert os.path.basename(__file__) in str(f.explain(1))


def test_every_statement_is_told() -> None:
    """`explain` says of each construct what became of it."""

    @ag.function
    def f(x, n):
        for i in range(n):
            if x > i:
                x = x - 1
        return x

    report = f.explain(3, 2)
    lines = {event.place[1] for event in report if event.place}
    first = f.python_function.__code__.co_firstlineno
    assert {first + 2, first + 3} <= lines


def test_nothing_to_tell_is_told_too() -> None:
    @ag.function(strict=True)
    def f(x, n):
        total = 0.0
        while n > 0:
            total = total + x * n
            n = n - 1
        return total

    assert f(2.0, 3) == 12.0
    report = f.explain(2.0, 3)
    assert not report.where(kind=("callback", "unroll", "plain", "specialize", "retrace"))
