"""Every function of the two corpora does the same plain, converted and staged (law 1).

Staged, one `ag.function` serves all calls of an entry: each call is made twice, so that the second finds the trace of
the first; and once more after all others, backwards, so that no trace serves calls it was not made for.
"""

from __future__ import annotations

import ctypes
import random
import sys
from collections.abc import Callable, Iterator
from functools import cache
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from typing import Any

import pytest

import autograph as ag
from autograph.errors import AutographError
from tests import corpus, corpus_staged, outcomes

ENTRIES = list(corpus_staged.entries())
CORNERS = list(corpus.entries())

# All of them in `make test-all`, some every time, few of these under every Python.
SAMPLED = [
    pytest.param(each, marks=[pytest.mark.slow] * bool(place % 16) + [pytest.mark.once] * bool(place % 64))
    for place, each in enumerate(ENTRIES)
]

# What is refused with a clear error instead, and why; see docs/limits.md.
DIFFERS: dict[str, str] = {}


@cache
def plain(entry: corpus.Entry, arguments: str) -> outcomes.Outcome:
    return outcomes.run(entry.function, arguments, vars(entry.module))


def order_of_calls(entry: corpus.Entry) -> Iterator[str]:
    for arguments in entry.calls:
        yield arguments
        yield arguments
    yield from reversed(entry.calls)


def compare(function: Callable[..., Any], entry: corpus.Entry, arguments: str) -> bool:
    """Whether a call does what it does plain; False if it is refused with a clear error; else fail."""
    actual = outcomes.run(function, arguments, vars(entry.module))
    actual.warnings = [warning for warning in actual.warnings if warning[0] != "RetraceWarning"]
    if refused(actual):
        return False
    wanted = plain(entry, arguments)
    assert actual == wanted, f"{entry}({arguments})"
    assert same_line(actual, wanted), f"{entry}({arguments})"
    return True


def same_line(actual: outcomes.Outcome, wanted: outcomes.Outcome) -> bool:
    """Whether an exception was raised at the same line.

    CPython 3.11 may report an unbound variable at the line before, where it joins the two instructions.
    """
    if sys.version_info[:2] == (3, 11) and wanted.exception and wanted.exception[0] == "UnboundLocalError":
        return True
    return actual.raised_at == wanted.raised_at


def refused(outcome: outcomes.Outcome) -> bool:
    """Whether a call ended with an error of this library's own."""
    return bool(outcome.exception) and outcome.exception[0] in {kind.__qualname__ for kind in kinds(AutographError)}


def kinds(root: type) -> Iterator[type]:
    yield root
    for kind in root.__subclasses__():
        yield from kinds(kind)


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_converted(entry: corpus.Entry) -> None:
    function = ag.to_graph(entry.function)
    for arguments in entry.calls:
        assert compare(function, entry, arguments)


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_staged(entry: corpus.Entry) -> None:
    function = ag.function(entry.function)
    done = [compare(function, entry, arguments) for arguments in order_of_calls(entry)]
    if str(entry) in DIFFERS:
        assert not all(done), "is no longer refused: take it from the list"
    else:
        assert all(done), refusal(entry)
    assert len(function.traces) <= 2 * len(entry.calls) + 1, [trace.reason for trace in function.traces]


@pytest.mark.parametrize("left", [False, True], ids=["native", "left"])
@pytest.mark.parametrize("entry", SAMPLED, ids=str)
def test_native(entry: corpus.Entry, left: bool) -> None:
    """With the native engine; and if machine code is left after so many nodes, drawn at random."""
    pytest.importorskip("llvmlite")
    from autograph.runtime.engines.native.loops import lowering

    fuel, draw = ctypes.c_int64(-1), random.Random(1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lowering, "FUEL", [ctypes.addressof(fuel)] if left else [])
        function = ag.function(entry.function, engine="native")
        for arguments in order_of_calls(entry):
            fuel.value = draw.randrange(1, 60)
            compare(function, entry, arguments)


def refusal(entry: corpus.Entry) -> Any:
    """The error with which a call is refused."""
    function = ag.function(entry.function)
    outs = (outcomes.run(function, arguments, vars(entry.module)) for arguments in order_of_calls(entry))
    return next((out.exception[:2] for out in outs if refused(out)), "refused, but not when tried again")


# The corners of Python may be refused, but must not come out different.


@cache
def staged_corner(entry: corpus.Entry) -> bool:
    """Whether none of its calls is refused."""
    try:
        function = ag.function(entry.function)
    except TypeError as error:
        assert "which cannot be a graph" in str(error)
        assert entry.function.__code__.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)
        return True
    return all([compare(function, entry, arguments) for arguments in order_of_calls(entry)])


@pytest.mark.parametrize("entry", CORNERS, ids=str)
def test_corners(entry: corpus.Entry) -> None:
    staged_corner(entry)


@pytest.mark.once
def test_few_corners_are_refused() -> None:
    failed, refusals = [], []
    for entry in CORNERS:
        try:
            if not staged_corner(entry):
                refusals.append(str(entry))
        except AssertionError:
            failed.append(str(entry))
    print(len(refusals), "refused:", *refusals)
    assert len(refusals) < 0.05 * len(CORNERS), refusals


# The corpus itself


def test_corpus_is_rich() -> None:
    assert len(ENTRIES) >= 500
    assert all(len(entry.calls) >= 1 for entry in ENTRIES)
    assert set(DIFFERS) <= {str(entry) for entry in ENTRIES}


@pytest.mark.once
@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_answers_the_same_every_time(entry: corpus.Entry) -> None:
    for arguments in entry.calls:
        assert outcomes.run(entry.function, arguments, vars(entry.module)) == plain(entry, arguments)
