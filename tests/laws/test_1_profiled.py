"""Law 1 under a profile: it changes nothing about what staged functions return, print, raise and mutate."""

from __future__ import annotations

import threading
import traceback
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests import corpus
from tests.test_staged_corpus import CORNERS, DIFFERS, ENTRIES, compare, order_of_calls

ENGINES = ["numpy", "native"]


def needs(engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "entry",
    [
        pytest.param(each, marks=[pytest.mark.slow] * bool(place % 8) + [pytest.mark.once] * bool(place % 32))
        for place, each in enumerate([*ENTRIES, *CORNERS])
    ],
    ids=str,
)
def test_corpus(entry: corpus.Entry, engine: str) -> None:
    """The same before, in and after a profile, with one function for all."""
    needs(engine)
    try:
        function = ag.function(entry.function, engine=engine)
    except TypeError:
        pytest.skip("is a generator or coroutine")
    calls = [*order_of_calls(entry)]
    half = len(calls) // 2
    done = [compare(function, entry, arguments) for arguments in calls[:half]]
    with ag.profile() as profile:
        done += [compare(function, entry, arguments) for arguments in calls]
    done += [compare(function, entry, arguments) for arguments in calls[half:]]
    assert all(done) or str(entry) in DIFFERS or entry in CORNERS
    assert str(profile) and profile.speedscope() and profile.to_json()


def failing(x: Any, n: int) -> Any:
    def helper(y: Any) -> Any:
        return y[n]

    total = 0.0
    for i in range(3):
        total += helper(x[i:])
    return total


@pytest.mark.parametrize("engine", ENGINES)
def test_tracebacks(engine: str) -> None:
    """The very lines, also where machine code is left, and of calls with wrong arguments."""
    needs(engine)
    function = ag.function(failing, engine=engine)

    def shown() -> list[Any]:
        found = []
        for arguments in [(np.ones(4), 2), (1, 2), (np.ones(4),), (np.ones(4), 1, 2)]:
            with pytest.raises(Exception) as caught:
                function(*arguments)
            entries = traceback.extract_tb(caught.tb)[1:]
            found.append((repr(caught.value), [(entry.lineno, entry.name) for entry in entries]))
        return found

    before = shown()
    with ag.profile():
        within = shown(), shown()
    assert within == (before, before) and shown() == before


def test_functions_made_in_a_profile_run_after_it() -> None:
    with ag.profile():
        function = ag.function(lambda x: x * 2, engine="numpy")
        assert function(2) == 4
    assert function(3) == 6


def test_profiles_begin_and_end_while_other_threads_call() -> None:
    @ag.function(engine="numpy")
    def total(x: Any, n: int) -> Any:
        result = 0.0
        for i in range(n):
            result += np.cos(x * i).sum()
        return result

    x = np.ones(10)
    wanted, found, stop = total(x, 20), [], threading.Event()

    def work() -> None:
        while not stop.is_set():
            found.append(total(x, 20))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        with ag.profile() as profile:
            total(x, 20)
        assert profile.nodes
    stop.set()
    for thread in threads:
        thread.join()
    assert {*found} == {wanted}
