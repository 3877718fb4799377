"""Drawn loops do the same in Python and as machine code, and write to nothing but what they are given.

Each is called with arguments of several kinds, with each twice; in half of the programs, machine code is left after a
drawn number of nodes, so that Python goes on from everywhere. All arrays lie in the midst of larger buffers. `make
test` tries the same 200 every time, `make fuzz` so many new ones. What was found stands in
tests/runtime/engines/native/.
"""

from __future__ import annotations

import ctypes
import itertools
import linecache
import sys
import time
from collections import Counter
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import autograph as ag
from tests import native_strategies, outcomes
from tests.drawing import EXAMPLES, drawn
from tests.native_strategies import Zones, arguments, loops
from tests.test_staged_corpus import refused, same_line
from tests.test_staged_fuzz import told

pytestmark = [pytest.mark.once, pytest.mark.skipif(find_spec("llvmlite") is None, reason="needs llvmlite")]

NUMBERS = itertools.count()
TALLY: Counter[str] = Counter()
REASONS: Counter[str] = Counter()       # why loops were no machine code
STARTED = time.monotonic()
FUEL = ctypes.c_int64(-1)
ZONES = Zones()


def outcome(names: dict[str, Any], function: Any, call: str) -> outcomes.Outcome:
    done = outcomes.run(function, call, {"np": np, **ZONES.names, **names})
    done.warnings = told(done)
    ZONES.check()
    return done


def compare(text: str, calls: list[str], fuel: list[int]) -> None:
    """Run a program in Python and as machine code; it must do the same, at the same line, or be refused."""
    from autograph.runtime.engines.native import lowering

    filename = f"<drawn {next(NUMBERS)}>"
    plain = outcomes.execute(text, filename)
    names = outcomes.execute(text, filename)
    function = ag.function(names["main"], engine="native")
    verdict = "same"
    lowering.FUEL[:] = [ctypes.addressof(FUEL)] if fuel else []
    try:
        for call, nodes in zip([call for call in calls for _ in range(2)], itertools.cycle(fuel or [-1])):
            FUEL.value = nodes
            actual = outcome(names, function, call)
            if refused(actual):
                verdict = "refused"
                continue
            wanted = outcome(plain, plain["main"], call)
            assert actual == wanted, f"main({call})"
            assert same_line(actual, wanted), f"main({call})"
    finally:
        lowering.FUEL.clear()
        del linecache.cache[filename]
    count(verdict, function)


def count(verdict: str, function: Any) -> None:
    """Note what became of a program, and tell from time to time how far a long run is."""
    TALLY[verdict] += 1
    executables = [trace.executable for trace in function.traces if trace.executable is not None]
    regions = [region for each in executables for region in each.native.regions]
    TALLY["with machine code"] += any(region.compiled for region in regions)
    TALLY["left"] += any(region.left for region in regions)
    told = {event.message for each in executables for event in each.events}
    REASONS.update(message for message in told if "in Python, for" in message)
    done = TALLY["same"] + TALLY["refused"]
    if EXAMPLES and done % 100 == 0:
        print(f"{done} programs, {dict(TALLY)}, {time.monotonic() - STARTED:.0f} s", file=sys.__stderr__, flush=True)


@given(loops(), st.lists(arguments(), min_size=2, max_size=3), st.booleans(), st.lists(st.integers(1, 80), min_size=6))
@drawn(200)
def test_loops(text: str, calls: list[str], left: bool, nodes: list[int]) -> None:
    note(text.removeprefix(native_strategies.PRELUDE))
    compare(text, calls, nodes if left else [])


def test_most_are_machine_code() -> None:
    print(dict(TALLY), *REASONS.most_common(12), sep="\n")
    done = TALLY["same"] + TALLY["refused"]
    assert TALLY["refused"] <= 0.02 * done
    assert TALLY["with machine code"] > 0.5 * done
