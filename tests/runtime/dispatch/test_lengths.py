"""A call that was staged for one length of a list, or one value of a number around the function, stays staged."""

from __future__ import annotations

from typing import Any

import pytest

import autograph as ag

SIZE = 3


def width(matrix: list[Any]) -> int:
    matrix = [list(row) for row in matrix]
    if isinstance(matrix[0], list):
        return len(matrix[0])
    return 0


def all_text(xs: list[Any]) -> bool:
    for x in xs:
        if not isinstance(x, str):
            return False
    return True


def keys_of_texts(table: dict[str, Any]) -> list[str]:
    return [key for key in table if isinstance(table[key], str)]


def class_names(xs: list[Any]) -> list[str]:
    return [type(x).__name__ for x in xs]


CALLS = [
    (width, [[[1, 2]], [[1, 2], [3, 4]], [[1, 2], [3, 4], [5, 6]], [[1, 2]]]),
    (all_text, [["a", "b"], ["a", "b", "c"], ["a"] * 5, []]),
    (all_text, [[1, 2], ["a", 1, 2], [1] * 5]),
    (keys_of_texts, [dict.fromkeys("abc"[:n], "text") for n in (1, 2, 3)]),
    (class_names, [[1.0] * n for n in (1, 2, 3, 4)]),
]


@pytest.mark.parametrize("function, arguments", CALLS)
def test_stays_staged_for_further_lengths(function: Any, arguments: list[Any]) -> None:
    staged = ag.function(function)
    for argument in arguments:
        assert staged(argument) == function(argument)
        assert not any(trace.plain for trace in staged.traces)


def test_explain_tells_why_each_length_gets_a_trace() -> None:
    staged = ag.function(width)
    staged([[1]]), staged([[1], [2]])
    told = [event.message for event in staged.explain([[1], [2]]).where(kind="signature")]
    assert told[1].startswith("each length or value of `matrix` gets a trace, as one for all runs as plain Python: ")


def test_one_trace_serves_all_lengths_where_there_are_many() -> None:
    """A function is not traced for each of them."""
    staged = ag.function(width)
    for n in range(1, 15):
        assert staged([[1, 2]] * n) == 2
    assert [bool(trace.plain) for trace in staged.traces] == [True]


def inverse(xs: list[Any]) -> float:
    try:
        return 1 / sum(xs)
    except ZeroDivisionError:
        return 0.0


def test_what_runs_plain_for_another_reason_is_not_traced_for_each_length() -> None:
    staged = ag.function(inverse)
    for n in range(8):
        assert staged([1] * n) == inverse([1] * n)
    assert [trace.calls for trace in staged.traces if trace.plain] == [7]


def padded(x: Any) -> tuple[Any, bytes]:
    return x, bytes(SIZE)


def test_a_number_around_the_function_that_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    staged = ag.function(padded)
    for size in (3, 2, 1, 3):
        monkeypatch.setitem(globals(), "SIZE", size)
        assert staged(1.5) == padded(1.5)
    assert not any(trace.plain for trace in staged.traces)
    for size in range(20):
        monkeypatch.setitem(globals(), "SIZE", size)
        assert staged(1.5) == padded(1.5)
    assert len(staged.traces) < 10
