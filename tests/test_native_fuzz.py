"""Drawn loops do the same in Python and as machine code, and write to nothing but what they are given.

Each is called with arguments of several kinds, with each twice. In half of the programs, machine code is left after a
drawn number of nodes, so that Python goes on from everywhere; in half, Python begins, and machine code goes on after a
drawn number of iterations. In half of the others, the first call is of code that is compiled by the baseline tier,
which stops every few iterations, and goes on as it is or as good code. All arrays lie in the midst of larger buffers,
and all places of a frame within it. `make test` tries the same 80 every time, `make fuzz` so many new ones, while the C
library looks after what stands around its blocks. What was found stands in tests/runtime/engines/native/.
"""

from __future__ import annotations

import ctypes
import itertools
import linecache
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import SimpleNamespace
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

if find_spec("llvmlite") is not None:
    from autograph.runtime.engines.native.emit import polling, simd, speculation, tier_up
    from autograph.runtime.engines.native.loops import counted_loops, lowering, region, tiering
    from tests import emitted

NUMBERS = itertools.count()
TALLY: Counter[str] = Counter()
REASONS: Counter[str] = Counter()       # why loops were no machine code, and programs refused
STARTED = time.monotonic()
FUEL = ctypes.c_int64(-1)
CLOCK = SimpleNamespace(wall_time=itertools.count().__next__)        # by which each piece of a loop takes 1 s
ZONES = Zones()


def outcome(names: dict[str, Any], function: Any, call: str) -> outcomes.Outcome:
    done = outcomes.run(function, call, {"np": np, **ZONES.names, **names})
    done.warnings = told(done)
    ZONES.check()
    return done


@contextmanager
def with_baseline(iterations: int, patience: float) -> Iterator[None]:
    """Let first calls run baseline code, which stops after `iterations`, and is replaced by good code after `patience`.

    Args:
        iterations: if 0, there is none, so that each second call goes by the fast entry.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(region, "AGAIN", min(iterations, 1))
        patch.setattr(tier_up, "PATIENCE", patience)
        for module in (polling, counted_loops) if iterations else ():
            patch.setattr(module, "POLL", iterations)
        for module in (speculation, counted_loops) if iterations else ():
            patch.setattr(module, "STRIP", min(iterations, 3))
        patch.setattr(simd, "SIZES", (16, 8) if iterations else (32, 16))       # the arrays are short
        yield


def compare(text: str, calls: list[str], fuel: list[int], patience: int) -> None:
    """Run a program in Python and as machine code; it must do the same, at the same line, or be refused.

    Args:
        fuel: after how many nodes machine code is left, by calls; if empty, it is not.
        patience: how many pieces of a loop Python runs before.
    """
    filename = f"<drawn {next(NUMBERS)}>"
    plain = outcomes.execute(text, filename)
    names = outcomes.execute(text, filename)
    function = ag.function(names["main"], engine="auto" if patience else "native")
    verdict = "same"
    lowering.FUEL[:] = [ctypes.addressof(FUEL)] if fuel else []
    before = tiering.budget, tiering.FIRST, tiering.PATIENCE
    tiering.budget, tiering.FIRST, tiering.PATIENCE = CLOCK, 1, patience
    try:
        for call, nodes in zip([call for call in calls for _ in range(2)], itertools.cycle(fuel or [-1])):
            FUEL.value = nodes
            actual = outcome(names, function, call)
            if refused(actual):
                verdict = "refused"
                REASONS[f"{actual.exception}"] += 1
                continue
            wanted = outcome(plain, plain["main"], call)
            assert actual == wanted, f"main({call})"
            assert same_line(actual, wanted), f"main({call})"
    except BaseException as error:
        if not isinstance(error, Exception):        # of which hypothesis tells nothing: it took too long
            print(text, calls, file=sys.__stderr__)
        raise
    finally:
        lowering.FUEL.clear()
        tiering.budget, tiering.FIRST, tiering.PATIENCE = before
        del linecache.cache[filename]
    count(verdict, function)


def count(verdict: str, function: Any) -> None:
    """Note what became of a program, and tell from time to time how far a long run is."""
    TALLY[verdict] += 1
    executables = [trace.executable for trace in function.traces if trace.engine == "native"]
    regions = [region for each in executables for region in each.native.every]
    TALLY["with machine code"] += any(region.compiled for region in regions)
    TALLY["left"] += any(region.left for region in regions)
    told = {event.message for each in executables for event in each.events}
    for version in (version for region in regions for version in region.compiled):
        places = re.findall(r"ptr %frame, i64 (\d+)", version.code.text)
        assert all(int(place) + 8 <= ctypes.sizeof(version.frame) for place in places), "beside the frame"
        emitted.check(version.code.text)
        if (baseline := version.code.baseline) is not None:
            for text in (baseline.text, *map(baseline.resumed, range(1, baseline.places + 1, 3))):
                emitted.check(text)
    REASONS.update(message for message in told if "in Python, for" in message)
    done = TALLY["same"] + TALLY["refused"]
    if EXAMPLES and done % 100 == 0:
        print(f"{done} programs, {dict(TALLY)}, {time.monotonic() - STARTED:.0f} s", file=sys.__stderr__, flush=True)


FUELS = st.just([]) | st.lists(st.integers(1, 80), min_size=6)


@given(
    loops(),
    st.lists(arguments(), min_size=2, max_size=3),
    FUELS,
    st.just(0) | st.integers(1, 3),
    st.just((0, 0.0)) | st.tuples(st.integers(1, 9), st.sampled_from([0.0, 1.0])),
)
@drawn(80)
def test_loops(text: str, calls: list[str], fuel: list[int], patience: int, baseline: tuple[int, float]) -> None:
    note(text.removeprefix(native_strategies.PRELUDE))
    with with_baseline(*baseline):
        compare(text, calls, fuel, patience)


def test_most_are_machine_code() -> None:
    print(dict(TALLY), *REASONS.most_common(20), sep="\n")
    done = TALLY["same"] + TALLY["refused"]
    assert TALLY["refused"] <= 0.02 * done
    assert TALLY["with machine code"] > 0.5 * done
