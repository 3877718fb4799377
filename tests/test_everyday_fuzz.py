"""Everyday programs of lists, dicts, strings, objects and random numbers do the same plain and as machine code (law 1).

Each runs several times with each of its arguments: by the native engine, which leaves machine code after a drawn number
of nodes in some programs, and by the default engine, which begins in Python. Results, prints, errors with their lines,
all arguments with their aliases, and the states of the streams of random numbers must be those of plain Python.
Some run often with the same objects in their arguments, which must lose and gain no references. `make test` tries the
same few every time, AUTOGRAPH_FUZZ=10000 (`make fuzz`) so many new ones, while Python and the C library look at what
stands around their blocks.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import itertools
import linecache
import random
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, note
from hypothesis import strategies as st

import autograph as ag
from tests import everyday_strategies, outcomes
from tests.drawing import EXAMPLES, drawn
from tests.everyday_strategies import PARAMETERS, programs
from tests.test_staged_corpus import refused, same_line
from tests.test_staged_fuzz import told

pytestmark = [pytest.mark.once, pytest.mark.skipif(find_spec("llvmlite") is None, reason="needs llvmlite")]

if find_spec("llvmlite") is not None:
    from autograph.runtime.engines.native.loops import lowering, tiering

NUMBERS = itertools.count()
TALLY: Counter[str] = Counter()
STARTED = time.monotonic()
FUEL = ctypes.c_int64(-1)
CLOCK = SimpleNamespace(wall_time=itertools.count().__next__)       # by which each piece of a loop takes 1 s


class Mode(NamedTuple):
    """How machine code is reached and left.

    Attributes:
        engine: "native", or "auto", which begins in Python.
        fuel: after how many nodes machine code is left, by calls; if empty, it is not.
        patience: how many pieces of a loop Python runs before.
        tiers: AUTOGRAPH_TIERS.
    """

    engine: str = "native"
    fuel: tuple[int, ...] = ()
    patience: int = 0
    tiers: str | None = None


NATIVE = st.just(Mode())
LEAVING = st.lists(st.integers(1, 120), min_size=6, max_size=6).map(lambda fuel: Mode(fuel=tuple(fuel)))
TIERED = st.integers(1, 3).map(lambda patience: Mode("auto", patience=patience))
BY_CHANCE = st.integers(0, 2**32).map(lambda seed: Mode("auto", tiers=f"random:{seed}"))
MODES = st.one_of(NATIVE, NATIVE, LEAVING, LEAVING, TIERED, BY_CHANCE, st.just(Mode("auto")))


@contextlib.contextmanager
def in_mode(mode: Mode) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AUTOGRAPH_ENGINE", raising=False)
        if mode.tiers is not None:
            patch.setenv("AUTOGRAPH_TIERS", mode.tiers)
        if mode.patience:
            for name, value in {"budget": CLOCK, "FIRST": 1, "PATIENCE": mode.patience}.items():
                patch.setattr(tiering, name, value)
        patch.setattr(lowering, "FUEL", [ctypes.addressof(FUEL)] if mode.fuel else [])
        yield


def outcome(names: dict[str, Any], function: Any, setup: str) -> tuple[outcomes.Outcome, Any]:
    """What a call does with the arguments that statements make, and the states of all streams afterwards."""
    random.seed(1)
    np.random.seed(1)
    arguments = dict(names)
    exec(setup, arguments)
    done = outcomes.run(function, PARAMETERS, arguments)
    done.warnings = [warning for warning in told(done) if warning[0] != "SyntaxWarning"]    # of compiling a program
    return done, [state(stream) for stream in (arguments["r"], random, np.random)]


def state(stream: Any) -> Any:
    """The state of a stream of random numbers."""
    if isinstance(stream, np.random.Generator):
        return outcomes.described(stream.bit_generator.state)
    if hasattr(stream, "getstate"):
        return stream.getstate()
    return [part.tobytes() if isinstance(part, np.ndarray) else part for part in stream.get_state()]


def compare(text: str, setups: list[str], mode: Mode, times: int = 2) -> None:
    """Run a program in Python and by an engine, in turn; it must do the same, at the same line, or be refused."""
    filename = f"<drawn {next(NUMBERS)}>"
    plain, names = outcomes.execute(text, filename), outcomes.execute(text, filename)
    verdict = "same"
    with in_mode(mode):
        function = ag.function(names["main"], engine=mode.engine)
        calls = [setup for setup in setups for _ in range(times)] + setups[:1]
        for setup, nodes in zip(calls, itertools.cycle(mode.fuel or [-1])):
            FUEL.value = nodes
            actual, wanted = outcome(names, function, setup), outcome(plain, plain["main"], setup)
            if refused(actual[0]):
                verdict = "refused"
                continue
            assert actual == wanted, f"{mode}\n{setup}"
            assert same_line(actual[0], wanted[0]), f"{mode}\n{setup}"
    del linecache.cache[filename]
    count(verdict, function)


class Sink(io.TextIOBase):
    """Forgets what is printed."""

    def write(self, text: str) -> int:
        return len(text)


def assert_nothing_is_lost(text: str, setup: str, mode: Mode) -> None:
    """Call a program often; the objects in its arguments must have as many references as before, and use no memory."""
    filename = f"<drawn {next(NUMBERS)}>"
    names, code = outcomes.execute(text, filename), compile(setup, "<setup>", "exec")
    numbers = list(flattened(code.co_consts))       # each setup puts the same objects into the arguments
    with in_mode(mode), contextlib.redirect_stdout(Sink()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        function, fuels = ag.function(names["main"], engine=mode.engine), itertools.cycle(mode.fuel or [-1])

        def after(times: int) -> tuple[list[int], int]:
            for FUEL.value in itertools.islice(fuels, times):
                arguments = dict(names)
                exec(code, arguments)
                with contextlib.suppress(Exception):
                    function(*(arguments[name] for name in PARAMETERS.split(", ")))
                del arguments
            gc.collect()
            return [sys.getrefcount(number) for number in numbers], sys.getallocatedblocks()

        after(12)
        (before, blocks), traces, (counts, more) = after(6), len(function.traces), after(24)
    del linecache.cache[filename]
    if len(function.traces) > traces:       # as for a NaN that is part of the signature
        return
    assert counts == before, [number for number, a, b in zip(numbers, counts, before) if a != b]
    assert more - blocks < 3 * 24, f"{more - blocks} blocks in 24 calls"      # fewer are times of callbacks


def flattened(values: Any) -> Iterator[Any]:
    """The numbers and texts in constants that count their references, and are not everywhere."""
    for value in values:
        if type(value) is tuple:
            yield from flattened(value)
        elif type(value) in (int, float, complex) and not (type(value) is int and -6 < value < 257):
            yield value


def count(verdict: str, function: Any) -> None:
    """Note what became of a program, and tell from time to time how far a long run is."""
    TALLY[verdict] += 1
    executables = [trace.executable for trace in function.traces if trace.engine == "native"]
    regions = [region for each in executables for region in each.native.every]
    TALLY["with machine code"] += any(region.compiled for region in regions)
    TALLY["left"] += any(region.left for region in regions)
    if EXAMPLES and (TALLY["same"] + TALLY["refused"]) % 100 == 0:
        print(dict(TALLY), f"{time.monotonic() - STARTED:.0f} s", file=sys.__stderr__, flush=True)


@given(programs(), MODES)
@drawn(40)
def test_programs(drawn_program: tuple[str, list[str]], mode: Mode) -> None:
    text, setups = drawn_program
    note(text.removeprefix(everyday_strategies.PRELUDE))
    compare(text, setups, mode)


@given(programs(), st.one_of(NATIVE, LEAVING))
@drawn(8, 0.1)
def test_nothing_is_lost(drawn_program: tuple[str, list[str]], mode: Mode) -> None:
    text, setups = drawn_program
    note(text.removeprefix(everyday_strategies.PRELUDE))
    assert_nothing_is_lost(text, setups[0], mode)


def test_many_are_machine_code() -> None:
    print(dict(TALLY))
    done = TALLY["same"] + TALLY["refused"]
    assert TALLY["refused"] <= 0.02 * done
    assert TALLY["with machine code"] >= 0.1 * done
