"""Drawn programs do the same in plain Python and while each call may change the tier, by chance (law 1).

Each is called 20 times or more through one function with the default engine: in tier 0, with its loops staged on their
own, through the dispatcher, with a graph, and back. The functions that it calls may change their tiers, too.
`make test` tries the same few every time, AUTOGRAPH_FUZZ=10000 (`make fuzz`) so many new ones.
"""

from __future__ import annotations

import itertools
import linecache
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from inspect import isgeneratorfunction
from types import FunctionType
from typing import Any

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import autograph as ag
from autograph.runtime.dispatch import specialize
from autograph.runtime.dispatch.options import can_compile
from tests import kind_strategies, native_strategies, outcomes, staged_strategies, strategies, test_sequence_fuzz
from tests.drawing import EXAMPLES, drawn
from tests.sequence_strategies import sequences
from tests.test_fuzz import CALLS
from tests.test_staged_corpus import same_line
from tests.test_staged_fuzz import outcome, told

pytestmark = pytest.mark.once

CALLS_OF_EACH = 20
NUMBERS = itertools.count()
TALLY: Counter[str] = Counter()
STARTED = time.monotonic()
SEEDS = st.integers(0, 2**32)
KIND_CALLS = ("2, 1.5, np.arange(3.0), np.ones((2, 3)), [1.0, 2.0]", "3, -0.5, np.ones(3), np.eye(2, 3), [0.5]")


@pytest.fixture(autouse=True, scope="module")
def _tiers() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AUTOGRAPH_ENGINE", raising=False)
        patch.setattr(specialize, "MANY_CALLS", 2)      # before traces are in the inline cache
        yield


def changing(function: Any, seed: int) -> Any:
    """A staged function that changes its tier by chance."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAPH_TIERS", f"random:{seed}")
        return ag.function(function)


def compare(
    text: str, calls: list[str], seed: int, inner: bool, run: Callable[..., Any] = outcome
) -> None:
    """Run a program in plain Python and in tiers; it must do the same, at the same line.

    Args:
        inner: whether the functions beside `main` change their tiers, too.
    """
    filename = f"<drawn {next(NUMBERS)}>"
    plain, names = outcomes.execute(text, filename), outcomes.execute(text, filename)
    for number, (name, value) in enumerate([*names.items()] if inner else []):
        if type(value) is FunctionType and name != "main" and not isgeneratorfunction(value):
            names[name] = changing(value, seed + number)
    function = changing(names["main"], seed)
    try:
        for number, call in zip(range(max(CALLS_OF_EACH, 2 * len(calls))), itertools.cycle(calls)):
            wanted, actual = run(plain, plain["main"], call), run(names, function, call)
            for done in (wanted, actual):
                done[0].warnings = told(done[0])
            assert actual == wanted, f"call {number}: main({call})"
            assert same_line(actual[0], wanted[0]), f"call {number}: main({call})"
    finally:
        del linecache.cache[filename]
    count(function)


def count(function: Any) -> None:
    """Note what became of a program, and tell from time to time how far a long run is."""
    TALLY["programs"] += 1
    traces = [trace for trace in function.traces if trace.number]
    TALLY["traced"] += bool(traces)
    for engine in {trace.engine for trace in traces if trace.calls and not trace.plain}:
        TALLY[engine] += 1
    if EXAMPLES and TALLY["programs"] % 100 == 0:
        print(dict(TALLY), f"{time.monotonic() - STARTED:.0f} s", file=sys.__stderr__, flush=True)


@given(
    staged_strategies.numeric_programs(), st.lists(staged_strategies.arguments(), min_size=3, max_size=3), SEEDS,
    st.booleans(),
)  # fmt: skip
@drawn(15, 0.4)
def test_programs_of_numbers_and_arrays(text: str, calls: list[str], seed: int, inner: bool) -> None:
    note(text.removeprefix(staged_strategies.PRELUDE))
    compare(text, calls, seed, inner)


@given(strategies.programs(generators=False), SEEDS, st.booleans())
@drawn(5, 0.1)
def test_programs_of_plain_python(text: str, seed: int, inner: bool) -> None:
    note(text.removeprefix(strategies.PRELUDE))
    compare(text, list(CALLS), seed, inner)


@given(kind_strategies.programs(), SEEDS, st.booleans())
@drawn(5, 0.1)
def test_programs_whose_variables_change_kind(text: str, seed: int, inner: bool) -> None:
    note(text.removeprefix(kind_strategies.PRELUDE))
    compare(text, list(KIND_CALLS), seed, inner)


@pytest.mark.skipif(not can_compile(), reason="needs llvmlite")
@given(native_strategies.loops(), st.lists(native_strategies.arguments(), min_size=2, max_size=3), SEEDS, st.booleans())
@drawn(10, 0.2)
def test_loops_that_become_machine_code(text: str, calls: list[str], seed: int, inner: bool) -> None:
    from autograph.runtime.engines.native.loops import tiering
    from tests import test_native_fuzz

    def run(names: dict[str, Any], function: Any, call: str) -> Any:
        return test_native_fuzz.outcome(names, function, call), None

    note(text.removeprefix(native_strategies.PRELUDE))
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {"budget": test_native_fuzz.CLOCK, "FIRST": 1, "PATIENCE": seed % 4}.items():
            patch.setattr(tiering, name, value)
        compare(text, calls, seed, inner, run)


@given(sequences(), SEEDS)
@drawn(10, 0.2)
def test_sequences_of_calls(drawn_sequence: tuple[str, list[str]], seed: int) -> None:
    text, steps = drawn_sequence
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAPH_TIERS", f"random:{seed}")
        test_sequence_fuzz.compare(text, steps * 2, "auto")
    TALLY["sequences"] += 1


def test_many_are_staged() -> None:
    print(dict(TALLY))
    assert TALLY["traced"] > 0.5 * TALLY["programs"]
