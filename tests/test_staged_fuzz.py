"""Drawn programs do the same plain and staged (law 1).

Each is called with three lists of arguments through one `ag.function`, with each twice, and with the first again at
the end; those of arrays are run with some of the passes left out. `make test` tries the same 150 every time.
AUTOGRAPH_FUZZ=10000 (`make fuzz`) tries so many new ones, tells how far it is, and reports the smallest program it
finds a difference for. What was found stands in tests/corpus_staged/found.py.

A program may be refused with a clear error, but seldom.
"""

from __future__ import annotations

import itertools
import linecache
import sys
import time
from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import autograph as ag
from autograph.runtime.passes import PASSES
from tests import outcomes, staged_strategies, strategies
from tests.drawing import EXAMPLES, drawn
from tests.staged_strategies import arguments, numeric_programs
from tests.test_fuzz import CALLS
from tests.test_staged_corpus import refused, same_line

pytestmark = pytest.mark.once

NUMBERS = itertools.count()
TALLY: Counter[str] = Counter()
STARTED = time.monotonic()


def outcome(names: dict[str, Any], function: Any, call: str) -> tuple[outcomes.Outcome, Any]:
    """What a call does, and what it leaves in the module and in NumPy's random state."""
    np.random.seed(0)
    names["g"] = 0
    if "Tank" in names:
        names["Tank"].level = 60
    done = outcomes.run(function, call, names)
    return done, (names["g"] if isinstance(names.get("g"), int) else None, np.random.rand())


def told(done: outcomes.Outcome) -> list[Any]:
    """The program's warnings, each once: the same computation, made twice, warns once (docs/limits.md)."""
    return [warning for warning in dict.fromkeys(done.warnings) if warning[0] != "RetraceWarning"]


def compare(text: str, calls: list[str], without: Collection[str] = ()) -> None:
    """Run a program plain and staged, some passes left out; it must do the same, at the same line, or be refused."""
    filename = f"<drawn {next(NUMBERS)}>"
    plain = outcomes.execute(text, filename)
    names = outcomes.execute(text, filename)
    function = ag.function(names["main"], passes=dict.fromkeys(without, False))
    verdict = "same"
    try:
        for call in [call for call in calls for _ in range(2)] + calls[:1]:
            actual = outcome(names, function, call)
            actual[0].warnings = told(actual[0])
            if refused(actual[0]):
                verdict = "refused"
                continue
            wanted = outcome(plain, plain["main"], call)
            wanted[0].warnings = told(wanted[0])
            assert actual == wanted, f"main({call})"
            assert same_line(actual[0], wanted[0]), f"main({call})"
    finally:
        del linecache.cache[filename]
    TALLY[verdict] += 1
    progress()


def progress() -> None:
    """Tell from time to time how far a long run is."""
    done = TALLY.total()
    if EXAMPLES and done % 100 == 0:
        seconds = time.monotonic() - STARTED
        print(f"{done} programs, {TALLY['refused']} refused, {seconds:.0f} s", file=sys.__stderr__, flush=True)


@given(numeric_programs(), st.lists(arguments(), min_size=3, max_size=3), st.sets(st.sampled_from(sorted(PASSES))))
@drawn(100, 2 / 3)
def test_programs_of_numbers_and_arrays(text: str, calls: list[str], without: set[str]) -> None:
    note(text.removeprefix(staged_strategies.PRELUDE))
    compare(text, calls, without)


@given(strategies.programs(generators=False))
@drawn(50, 1 / 3)
def test_programs_of_plain_python(text: str) -> None:
    note(text.removeprefix(strategies.PRELUDE))
    compare(text, list(CALLS))


def test_few_are_refused() -> None:
    print(f"{TALLY['refused']} refused of {TALLY.total()}")
    assert TALLY["refused"] <= 0.02 * TALLY.total()
