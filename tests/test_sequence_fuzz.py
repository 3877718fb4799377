"""Drawn sequences of calls do the same plain and staged (law 1), step by step.

Between the calls, objects are shared, bound anew and patched (sequence_strategies.py). After each step the result, what
was printed or raised, and all that the module holds must be as without the decorator; after the last one, what the
iterators have left. Each sequence runs once per engine.

`make test` tries the same few every time. AUTOGRAPH_FUZZ=10000 (`make fuzz`) tries so many new ones, and reports the
smallest sequence that it finds a difference for. Each difference that was found has a test in tests/laws.
"""

from __future__ import annotations

import itertools
import linecache
import os
import re
import sys
import time
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, note

import autograph as ag
from tests import outcomes, sequence_strategies
from tests.drawing import EXAMPLES, drawn
from tests.sequence_strategies import sequences
from tests.test_staged_corpus import refused, same_line
from tests.test_staged_fuzz import told

pytestmark = pytest.mark.once

ENGINES = os.environ.get("AUTOGRAPH_SEQUENCE_ENGINES", "numpy,auto").split(",")
NUMBERS = itertools.count()
TALLY: Counter[str] = Counter()
STARTED = time.monotonic()
HELD = ("p", "q", "r", "u", "v", "w", "d", "e", "G", "LIMITS", "TOTALS")
BOUND = (*HELD, "i", "j", "helper")


def after(names: dict[str, Any], step: str) -> tuple[outcomes.Outcome, Any]:
    """What a step does, and what the module holds then."""
    *before, last = step.split("\n")
    called = re.sub(r"^( *)(?=[fg]\()", r"\1return ", last)  # so that the result of a call is seen
    body = [f"global {', '.join(BOUND)}", *before, called]
    exec("def step():\n" + "\n".join(f"    {line}" for line in body), names)
    done = outcomes.run(names["step"], "", names)
    done.warnings = told(done)
    return done, outcomes.described([names[name] for name in HELD])


def remaining(names: dict[str, Any]) -> Any:
    """What the iterators have left."""
    return [outcomes.run(lambda it=it: list(itertools.islice(it, 20))) for it in (names["i"], names["j"])]


def compare(text: str, steps: list[str], engine: str) -> None:
    filename = f"<sequence {next(NUMBERS)}>"
    plain, staged = outcomes.execute(text, filename), outcomes.execute(text, filename)
    for name in "fg":
        staged[name] = ag.function(staged[name], engine=engine)
    try:
        for number, step in enumerate(steps):
            actual, wanted = after(staged, step), after(plain, step)
            assert not refused(actual[0]), f"step {number} is refused: {step}"
            assert actual == wanted, f"step {number}: {step}"
            assert same_line(actual[0], wanted[0]), f"step {number}: {step}"
        assert remaining(staged) == remaining(plain), "what the iterators have left"
    finally:
        del linecache.cache[filename]
    TALLY[engine] += 1


@given(sequences())
@drawn(30)
def test_sequences(drawn_sequence: tuple[str, list[str]]) -> None:
    text, steps = drawn_sequence
    note(text.removeprefix(sequence_strategies.PRELUDE) + "\n" + "\n".join(steps))
    for engine in ENGINES:
        compare(text, steps, engine)
    if EXAMPLES and TALLY[ENGINES[0]] % 100 == 0:
        seconds = time.monotonic() - STARTED
        print(f"{TALLY[ENGINES[0]]} sequences, {seconds:.0f} s", file=sys.__stderr__, flush=True)
