"""Staging has a budget; when it is spent, the signature runs as plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag
from autograph.common import budget


def helper(xs: list[float], log: list[str]) -> float:
    log.append("begin")
    total = 0.0
    for x in xs:
        total += x * x - 1.0 if x > 0.5 else x / 3.0
    print("total", total)
    log.append("end")
    return total


def work(xs: list[float], log: list[str]) -> float:
    total = helper(xs, log) + helper(xs, log) + helper(xs, log)
    if total > 100.0:
        raise ValueError(total)
    return total


class Clock:
    """A processor clock that goes on by `step` each time it is read."""

    def __init__(self) -> None:
        self.now, self.step = 0.0, 0.0

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("autograph.common.budget.time.thread_time", clock)
    return clock


def allow(staged: Any, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Limit the time that staging a signature may take, as the tiers of `engine="auto"` do."""
    make = staged._specializer.trace_for
    monkeypatch.setattr(staged._specializer, "trace_for", lambda values, **_: make(values, seconds=seconds))


def outcome(function: Callable[..., Any], *args: Any) -> tuple[Any, ...]:
    """What a call returns or raises, and the log it leaves."""
    log: list[str] = []
    try:
        found: Any = function(*args, log)
    except ValueError as error:
        found = error.args
    return found, log


SMALL, LARGE = [0.25, 0.75, 1.5], [20.0, 30.0, 0.5]


def check_plain(staged: Any, reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Check that calls do what plain ones do, are plain, and are not traced again."""
    for xs in (SMALL, LARGE, SMALL):
        expected, printed = outcome(work, xs), capsys.readouterr().out
        assert (outcome(staged, xs), capsys.readouterr().out) == (expected, printed)
    assert [trace.stopped for trace in staged.traces] == [True]
    assert reason in staged.traces[0].plain
    assert reason in str(staged.explain(SMALL, []))


def test_tracing_is_stopped_by_the_number_of_steps(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(budget, "STEPS", 10)
    check_plain(ag.function(work), "tracing was stopped after 10 operations, calls and iterations", capsys)


@pytest.mark.parametrize("what", ["tracing", "optimizing", "compiling"])
def test_each_step_is_stopped_by_the_processor_time(
    what: str, clock: Clock, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    staged: Any = ag.function(work)
    allow(staged, 0.5, monkeypatch)
    check = budget.Budget.check

    def checked(self: budget.Budget, step: str) -> None:
        clock.step = float(step == what)
        check(self, step)

    monkeypatch.setattr(budget.Budget, "check", checked)
    check_plain(staged, f"{what} was stopped after 1 s (budget 0.5 s)", capsys)


def test_loops_and_calls_that_record_nothing_are_stopped(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    def one() -> int:
        return 1

    def counts(x: float) -> float:
        total = 0
        while total < 1000:
            total += one()
        return x + total

    clock.step = 1.0
    staged: Any = ag.function(counts)
    allow(staged, 30.0, monkeypatch)
    assert staged(0.5) == 1000.5
    assert clock.now < 40.0
    assert staged.traces[0].plain == "tracing was stopped after 31 s (budget 30 s)"


def test_code_of_the_user_cannot_catch_the_end_of_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    def catches(x: float, caught: list[bool]) -> float:
        while True:
            try:
                for _ in range(6):
                    x = x * 1.5 if x < 9.0 else x - 1.0
            except:  # noqa: E722
                caught.append(True)
                continue
            return x

    monkeypatch.setattr(budget, "STEPS", 10)
    staged: Any = ag.function(catches)
    caught: list[bool] = []
    assert (staged(1.0, caught), caught) == (catches(1.0, []), [])
    assert staged.traces[0].stopped


def test_the_budget_is_that_of_all_attempts(monkeypatch: pytest.MonkeyPatch) -> None:
    def retried(x: float, n: int) -> dict[int, float]:
        for _ in range(6):
            x = x * x - 0.5
        return {n: x}  # which needs the value of n

    for steps, is_stopped in ((60, False), (31, True)):
        monkeypatch.setattr(budget, "STEPS", steps)
        staged: Any = ag.function(retried)
        assert staged(2.0, 1) == retried(2.0, 1)
        assert staged.traces[0].stopped == is_stopped


def test_more_steps_where_the_user_asks_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def unrolled(x: float) -> float:
        for i in range(100):
            ag.set_loop_options(unroll=True, budget=300)
            x = x * i
        return x

    monkeypatch.setattr(budget, "STEPS", 10)
    staged: Any = ag.function(unrolled)
    staged(1.0)
    assert staged.traces[0].plain == ""


def test_after_several_stopped_signatures_none_is_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "STEPS", 1)
    staged: Any = ag.function(lambda x, y: x + y - x * y)
    for x in (1, 1.5, 1j):
        for y in (2, 2.5, 2j):
            assert staged(x, y) == x + y - x * y
    assert len(staged.traces) == 4
    assert "the tracing of 4 signatures was stopped" in str(staged.explain(1, 2))


def test_the_own_time_of_a_thread_excludes_that_of_staging_within_staging_once(clock: Clock) -> None:
    begin = budget.own_time()
    clock.now += 1.0
    with budget.limited(None):
        clock.now += 2.0
        with budget.limited(None):
            clock.now += 4.0
    clock.now += 8.0
    assert budget.own_time() - begin == pytest.approx(9.0)


def test_the_budget_excludes_loading_modules(clock: Clock) -> None:
    with budget.limited(1.0) as current:
        with budget.unlimited():
            clock.now += 5.0
        current.check("tracing")
        clock.now += 2.0
        with pytest.raises(budget.BudgetSpent, match="after 2 s"):
            current.check("tracing")
        assert current.is_out_of_time
