"""`AUTOGRAPH_TIERS=random:SEED`: calls come to all tiers by chance, which do the same; see tests/test_tier_fuzz.py."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.dispatch.random_tiers import RandomTiers
from autograph.runtime.dispatch.trace_cache import Trace
from autograph.runtime.dispatch.trace_entry import Entry
from autograph.transforms.loop_sites import Site
from tests import outcomes

pytestmark = pytest.mark.usefixtures("default_engine")


def programs() -> Iterator[tuple[Any, str]]:
    yield (lambda xs: [x for x in xs if x > 1]), "[1, 2, 3]"
    yield (lambda x, *rest, key=1, **more: (x, rest, key, more)), "1, 2, key=3, z=4"
    yield (lambda d: d.setdefault("a", []).append(1) or d), "{}"
    yield (lambda x: print(x) or 1 // x), "0"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("function", "arguments"), [*programs()])
def test_tiers_that_change_by_chance_do_the_same(
    function: Any, arguments: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOGRAPH_TIERS", f"random:{seed}")
    changing = ag.function(function)
    for _ in range(12):
        assert outcomes.run(changing, arguments) == outcomes.run(function, arguments)


def test_no_tier_shows_frames_of_the_library_in_tracebacks(monkeypatch: pytest.MonkeyPatch) -> None:
    def sum_of_inverses(xs: Any) -> Any:
        total = 0.0
        for x in xs:
            total += 1 / x
        return total

    for seed in range(5):
        monkeypatch.setenv("AUTOGRAPH_TIERS", f"random:{seed}")
        changing = ag.function(sum_of_inverses)
        for _ in range(8):
            with pytest.raises(ZeroDivisionError) as caught:
                changing([1, 0])
            assert {str(entry.path) for entry in caught.traceback} == {__file__}


def test_an_unknown_setting_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AUTOGRAPH_TIERS", "sometimes")
    with pytest.raises(ValueError, match="AUTOGRAPH_TIERS: expected 'off', 'random' or 'random:SEED', not 'sometimes'"):
        ag.function(abs)


def total(xs: Any, scale: Any) -> Any:
    result = 0.0
    for x in xs:
        result += clipped(x) * scale / (1 + abs(x)) - x * x / 7 + x / 3
    return result + max(xs, key=clipped)


def clipped(x: float) -> float:
    return 0.0 if x < 0 else x


METHODS = (
    (RandomTiers, "sample"), (RandomTiers, "_run_first"), (RandomTiers, "_promote"), (RandomTiers, "_demote"),
    (RandomTiers, "run"), (RandomTiers, "_with_loops"), (RandomTiers, "_use_staged"), (RandomTiers, "_use_plain"),
    (RandomTiers, "_reopen"), (RandomTiers, "_plain_entry"), (Site, "run"),
)  # fmt: skip


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Counts how often calls and trials come to each point at which tiers change."""
    found: Counter[str] = Counter()

    def counted(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        def method(*args: Any) -> Any:
            found[name] += 1
            return original(*args)

        return method

    for owner, name in METHODS:
        monkeypatch.setattr(owner, name, counted(name, getattr(owner, name)))
    entry_of, plain_entry = RandomTiers.entry, RandomTiers._plain_entry

    def entry(self: RandomTiers, trace: Trace) -> Entry:
        found["stopped"] += trace.stopped
        trace.staged_entry = counted(f"staged call, {trace.engine}", trace.staged_entry)
        return entry_of(self, trace)

    monkeypatch.setattr(RandomTiers, "entry", entry)
    monkeypatch.setattr(RandomTiers, "_plain_entry", lambda self, key: counted("plain entry", plain_entry(self, key)))
    return found


def test_calls_come_to_all_points_at_which_tiers_change(
    points: Counter[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")
    arguments = ([1.5, -2.0, 3.0], 2), (np.arange(4.0), 0.5), ([1, 2], 2), ((1.0, 2.0), np.ones(2))
    plain = clipped
    for seed in range(3):
        monkeypatch.setenv("AUTOGRAPH_TIERS", f"random:{seed}")
        monkeypatch.setitem(globals(), "clipped", ag.function(plain))
        changing = ag.function(total)
        for number in range(40):
            given = arguments[number % len(arguments)]
            assert outcomes.described(changing(*given)) == outcomes.described(total(*given))
    print(points)
    assert {*(name for _, name in METHODS), "plain entry", "staged call, numpy"} <= points.keys()
    assert points["stopped"]


GROUPS = """
def f(n):
    inner = ExceptionGroup("inner", [OSError(1), ValueError(2)])
    try:
        if n:
            raise ExceptionGroup("outer", [inner, KeyError(3)])
        raise inner
    except* OSError:
        while n:
            n -= 1
            print("os error")
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="has no except*")
def test_a_handler_of_groups_whose_tracing_is_stopped_runs_as_plain_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python puts what a handler of `except*` raises into a group, also a signal of the tracer."""
    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")
    plain = outcomes.execute(GROUPS, "<groups>")["f"]
    for seed in range(12):
        monkeypatch.setenv("AUTOGRAPH_TIERS", f"random:{seed}")
        changing = ag.function(plain)
        for _ in range(8):
            for call in ("1", "0"):
                assert outcomes.run(changing, call) == outcomes.run(plain, call)
