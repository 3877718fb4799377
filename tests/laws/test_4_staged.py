"""Law 4, staged: errors and warnings come from the user's own lines, whatever runs there instead.

What differs: a traceback shows a staged function twice, first at its `def` line, where the call comes in; and code of
comprehensions belongs to the function around them.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests import corpus, outcomes
from tests.test_staged_corpus import DIFFERS, ENTRIES, plain

RAISING = [entry for entry in ENTRIES if any(plain(entry, arguments).places for arguments in entry.calls)]

Place = tuple[str, int, str]


def last(places: list[Place]) -> tuple[str, int]:
    """Where an exception or warning itself comes from, not what it came from."""
    return [place for place in places if place[0] not in ("cause", "context")][-1][:2]


@pytest.mark.parametrize("entry", RAISING, ids=str)
def test_errors_and_warnings(entry: corpus.Entry) -> None:
    """They name file, line and function; and no line of this library or of generated code shows."""
    if str(entry) in DIFFERS:
        pytest.skip("is refused")
    function = ag.function(entry.function)
    for arguments in entry.calls:
        wanted = plain(entry, arguments)
        for _ in range(2):
            actual = outcomes.run(function, arguments, vars(entry.module))
            if wanted.places:
                assert last(actual.places) == last(wanted.places), f"{entry}({arguments})"
                known = {place[0] for place in wanted.places} | {str(entry.module.__file__), "cause", "context"}
                assert {place[0] for place in actual.places} <= known, f"{entry}({arguments})"


def places_of(function: Callable[..., Any], *args: Any) -> list[Place]:
    with pytest.raises(Exception) as caught:
        function(*args)
    entries = traceback.extract_tb(caught.value.__traceback__)
    return [(entry.filename, entry.lineno or 0, entry.name) for entry in entries[1:]]


def helper(x, i):
    y = x * 2
    return y[i]


def through_a_helper(x, n):
    total = 0
    for i in range(n):
        if i > 1:
            total += helper(x, i)
        else:
            total += 1
    return total


@pytest.mark.usefixtures("traced_at_once")
def test_the_whole_traceback_is_that_of_the_plain_function() -> None:
    args = np.arange(3.0), 9
    header = __file__, through_a_helper.__code__.co_firstlineno, "through_a_helper"
    assert places_of(ag.function(through_a_helper), *args) == [header, *places_of(through_a_helper, *args)]


def several_lines(x, y):
    z = (x +
         1) * (
        x / y)  # fmt: skip
    return z


def test_statements_of_several_lines() -> None:
    assert places_of(ag.function(several_lines), 1, 0)[-1] == places_of(several_lines, 1, 0)[-1]


def test_the_text_of_the_line_is_shown() -> None:
    with pytest.raises(IndexError) as caught:
        ag.function(helper)(np.arange(3), 5)
    shown = "".join(traceback.format_exception(caught.type, caught.value, caught.value.__traceback__))
    assert "return y[i]" in shown
    assert "autograph/runtime" not in shown


def test_warnings_name_the_users_line() -> None:
    def f(x):
        x = x + 0
        return np.sqrt(x)

    places = []
    for function in (f, ag.function(f)):
        with pytest.warns(RuntimeWarning, match="invalid value encountered in sqrt") as caught:
            function(np.float64(-1))
        places.append((caught[0].filename, caught[0].lineno))
    assert places[0] == places[1]


def test_tracing_errors_name_the_users_line_too() -> None:
    def f(x):
        if x > 0:
            n = 1
        return n

    staged = ag.function(f)
    assert staged(1) == 1
    assert places_of(staged, -1)[-1][:2] == places_of(f, -1)[-1][:2]


def test_generated_code_leaves_nothing_of_the_users_changed() -> None:
    before = linecache.getlines(__file__)
    ag.function(through_a_helper)(np.arange(3.0), 2)
    assert linecache.getlines(__file__) == before
