"""`engine="auto"`: which tier calls run in, on a clock that the tests set; and that no change of tiers is visible."""

from __future__ import annotations

import gc
import itertools
import linecache
import sys
import traceback
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.common.call_counter import MOST
from autograph.runtime.dispatch import options, tiers

pytestmark = pytest.mark.usefixtures("default_engine")

PLAIN, STAGED = 1.0, -1.0       # how much longer a staged call takes than a plain one


@pytest.fixture
def calls_take(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Sets how long each timed call takes, and how much longer staged ones do."""

    def take(seconds: float, longer: float = 0.0) -> None:
        readings = itertools.count(step=seconds)
        monkeypatch.setattr(tiers, "_clock", lambda: next(readings))
        monkeypatch.setattr(tiers.Tiers, "_entering", lambda self, values: longer * seconds / 2)

    return take


def staged(function: Any) -> Any:
    """The object behind a function."""
    return vars(function).get("__ag_function__", function)


def tier(function: Any) -> str:
    return "0" if staged(function)._tiers.is_resting else "dispatched"


def test_small_calls_stay_plain(calls_take: Any) -> None:
    calls_take(1e-7)
    function = ag.function(lambda a, b: a + b)
    assert [function(n, 1) for n in range(20_000)] == [n + 1 for n in range(20_000)]
    assert tier(function) == "0"
    assert staged(function)._specializer.made == 0


def called(function: Any, count: int, *arguments: Any) -> None:
    for _ in range(count):
        function(*arguments)


COUNTS = pytest.mark.skipif(sys.version_info < (3, 11), reason="another function counts the calls")


def counts(function: Any) -> bool:
    """Whether the code of a staged function counts its calls."""
    return len(function.__code__.co_code) > len(function.__wrapped__.__code__.co_code)


@COUNTS
def test_calls_that_are_known_to_be_small_are_not_counted_until_a_trace_is_made(calls_take: Any) -> None:
    calls_take(1e-7)
    function = ag.function(lambda a, b: a + b)
    called(function, tiers.KNOWN * 100, 1, 2.5)
    assert counts(function)
    called(function, tiers.KNOWN * MOST, 1, 2.5)
    assert not counts(function)
    assert [function(n, 1) for n in range(5)] == [1, 2, 3, 4, 5]
    assert [trace.plain for trace in function.traces] == ["tier 0: 64 timed calls took less than 1 µs"]
    ag.function(lambda x: x * 2).graph(3)
    assert counts(function)
    calls_take(tiers.HOT, STAGED)
    x = np.arange(3.0)
    called(function, 2 * MOST, x, x)
    assert (function(x, x) == x + x).all()
    assert tier(function) == "dispatched"


@COUNTS
def test_small_recursive_calls_are_not_counted(calls_take: Any) -> None:
    calls_take(1e-7)

    @ag.function
    def fibonacci(n: int) -> int:
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    assert [fibonacci(20) for _ in range(10)] == [6765] * 10
    assert not counts(fibonacci)


@COUNTS
def test_a_function_that_is_not_counted_has_its_views_and_is_a_part_of_traces_and_gradients(calls_take: Any) -> None:
    calls_take(1e-7)
    function = ag.function(lambda x: x * x + 1)
    called(function, 2 * tiers.KNOWN * MOST, 2.0)
    assert not counts(function)
    assert ag.grad(function)(3.0) == 6.0
    called(function, 2 * tiers.KNOWN * MOST, 2.0)
    assert "np.call" not in str(ag.function(lambda x: function(x) + 1).graph(2.0))
    called(function, 2 * tiers.KNOWN * MOST, 2.0)
    assert not counts(function)
    assert "x * x" in str(function.graph(3.0))
    function.compile(3.0)
    assert function(3.0) == 10.0
    assert tier(function) == "dispatched"


@COUNTS
def test_calls_of_functions_that_may_take_long_are_counted_always(calls_take: Any) -> None:
    calls_take(1e-7)

    def total(xs: list[float]) -> float:
        result = 0.0
        for x in xs:
            result += x
        return result

    of_numbers, of_arrays = ag.function(total), ag.function(lambda x: x + x)
    called(of_numbers, 2 * tiers.KNOWN * MOST, [1.0])
    called(of_arrays, 2 * tiers.KNOWN * MOST, np.ones(3))
    assert counts(of_numbers)
    assert counts(of_arrays)


def test_a_hot_signature_is_traced_and_stays_staged_where_that_is_faster(calls_take: Any) -> None:
    calls_take(tiers.HOT / 4, STAGED)
    function = ag.function(lambda a, b: a + b)
    assert [function(n, 1.5) for n in range(30)] == [n + 1.5 for n in range(30)]
    (trace,) = function.traces
    assert tier(function) == "dispatched"
    assert trace.calls > 20
    assert [trial.faster for trial in staged(function)._tiers.trials.values()] == ["staged"]


def test_without_llvmlite_the_first_hot_loop_says_how_to_get_it(calls_take: Any, monkeypatch: Any, caplog: Any) -> None:
    monkeypatch.setattr(options, "can_compile", lambda: False)
    monkeypatch.setattr(options, "_logged", [])
    calls_take(tiers.HOT / 4, STAGED)

    def total(n: int) -> float:
        found = 0.0
        for i in range(n):
            found += i
        return found

    for number in range(2):
        function = ag.function(total)
        assert function(5) == 10.0 and len(caplog.records) == number     # not while it is cold
        assert [function(5) for _ in range(30)] == [10.0] * 30
        (record,) = caplog.records
    assert (record.name, record.levelname) == ("autograph", "WARNING")
    assert record.getMessage().startswith("total takes much time") and "autograph-py[native]" in record.getMessage()


def test_a_signature_that_is_not_faster_goes_back_to_plain_and_is_tried_again_when_its_calls_take_longer(
    calls_take: Any,
) -> None:
    calls_take(tiers.HOT / 4, PLAIN)
    function = ag.function(lambda x: x * 2)
    x = np.arange(3.0)
    for _ in range(30):
        assert (function(x) == x * 2).all()
    (trace,), (trial,) = function.traces, staged(function)._tiers.trials.values()
    calls = trace.calls
    assert (tier(function), trial.faster) == ("0", "plain")
    for _ in range(30):
        function(x)
    assert trace.calls == calls
    calls_take(tiers.HOT * 4, STAGED)
    for _ in range(30):
        assert (function(x) == x * 2).all()
    assert (tier(function), trial.faster) == ("dispatched", "staged")
    assert [*function.traces] == [trace]


def test_calls_of_mixed_sizes_run_in_the_tier_that_is_faster_as_a_whole(monkeypatch: Any) -> None:
    """Small calls are faster plain, large ones staged; those take most of the time, or hardly any."""
    now, is_staged = [0.0], [False]
    choose = tiers.Tiers._is_next_staged

    def chosen(self: Any, trial: Any) -> bool:
        is_staged[0] = choose(self, trial)
        return is_staged[0]

    @ag.do_not_convert
    def spend(size: int) -> None:
        now[0] += 1e-5 + size * 1e-8 if is_staged[0] else size * 1e-6

    monkeypatch.setattr(tiers, "_clock", lambda: now[0])
    monkeypatch.setattr(tiers.Tiers, "_entering", lambda self, values: 0.0)
    monkeypatch.setattr(tiers.Tiers, "_is_next_staged", chosen)
    for sizes, faster in [((2, 100_000), "staged"), ((100_000, 2), "staged"), ((2, 3), "plain"), ((5, 21, 1), "plain")]:
        function = ag.function(lambda size: spend(size))
        for size in itertools.islice(itertools.cycle(sizes), 20_000):
            is_staged[0] = False
            function(size)
        (trial,) = staged(function)._tiers.trials.values()
        assert trial.faster == faster, sizes


def test_machine_code_of_much_code_waits_until_calls_have_taken_in_proportion(calls_take: Any) -> None:
    source = "def long(x):\n" + "    x = x * 3 - 1.5\n" * 200 + "    return x\n"
    scope: dict[str, Any] = {}
    linecache.cache["long.py"] = (len(source), None, source.splitlines(True), "long.py")
    exec(compile(source, "long.py", "exec"), scope)
    calls_take(tiers.HOT, STAGED)
    function, plain = ag.function(scope["long"]), scope["long"]
    waits = 400 * tiers.NODE / tiers.GAMBLE / tiers.HOT
    for number in range(40):
        assert function(0.5) == plain(0.5)
        (trial,) = staged(function)._tiers.trials.values() or (tiers.Trial(),)
        if 3 < number < waits - 2:
            assert (trial.compared, trial.owing > 0) == (0, True)
            assert "machine code is made when such calls have taken" in trial.why(False)
    assert trial.faster == "staged"


def test_a_function_without_graph_goes_back_to_plain(calls_take: Any) -> None:
    calls_take(tiers.HOT)

    def make(n: int) -> Any:
        class Made:
            value = n

        return Made.value

    function = ag.function(make)
    assert [function(n) for n in range(20)] == [*range(20)]
    (trial,) = staged(function)._tiers.trials.values()
    assert (tier(function), trial.faster) == ("0", "plain")
    assert "class" in trial.reason


def test_a_plain_signature_beside_a_staged_one_lets_the_function_rest_when_only_it_is_called(calls_take: Any) -> None:
    calls_take(tiers.HOT, STAGED)
    function = ag.function(lambda x: x + x)
    for n in range(20):
        function(n)
    assert tier(function) == "dispatched"
    calls_take(tiers.HOT, PLAIN)
    for _ in range(3 * tiers.REVIEW):
        assert function((1,)) == (1, 1)
    assert tier(function) == "0"
    function(1)
    assert function(1) == 2
    assert tier(function) == "dispatched"       # its graph is known to be faster


def test_calls_that_change_their_arguments_are_known_by_what_these_were_before(calls_take: Any) -> None:
    calls_take(tiers.HOT / 8, STAGED)

    def scaled(xs: list[Any], factor: float) -> list[Any]:
        for place, x in enumerate(xs):
            xs[place] = x * factor
        return xs

    function = ag.function(scaled)
    assert [function([1, 2, 3], 0.5) for _ in range(60)] == [[0.5, 1.0, 1.5]] * 60
    assert function.traces[0].calls > 20
    assert "staged" in [trial.faster for trial in staged(function)._tiers.trials.values()]


def test_each_trial_that_fails_makes_the_next_one_wait_for_longer_calls(calls_take: Any) -> None:
    calls_take(tiers.HOT / 4, PLAIN)
    function = ag.function(lambda x: x * 2)
    called(function, 40, np.arange(3.0))
    (trial,) = staged(function)._tiers.trials.values()
    first = trial.retry / trial.plain
    calls_take(tiers.HOT * 4, PLAIN)
    called(function, 60, np.arange(3.0))
    assert trial.faster == "plain"
    assert [round(first), round(trial.retry / trial.plain)] == [tiers.GROWN, tiers.GROWN**2]


def test_small_calls_beside_a_staged_signature_look_up_an_entry_that_runs_the_plain_function(calls_take: Any) -> None:
    calls_take(tiers.HOT, STAGED)
    function = ag.function(lambda x: x + x)
    called(function, 20, np.arange(3.0))
    assert tier(function) == "dispatched"
    calls_take(1e-7)
    assert [function(n) for n in range(9)] == [2 * n for n in range(9)]
    traces = staged(function)._specializer.traces
    assert (len(traces), len(traces.find)) == (1, 2)
    calls_take(tiers.HOT, STAGED)
    called(function, 30, 1)
    assert tier(function) == "dispatched"
    assert [trial.faster for trial in staged(function)._tiers.trials.values()] == ["staged", "staged"]


def test_an_error_of_a_sampled_call_has_no_frame_of_the_library() -> None:
    inverse = ag.function(lambda x: 1 / x)
    for _ in range(8):
        with pytest.raises(ZeroDivisionError) as caught:
            inverse(0)
        entries = 1 + (sys.version_info < (3, 11))      # there one is the function that counts the calls
        assert [frame.name for frame in traceback.extract_tb(caught.tb)][1:] == ["<lambda>"] * entries


def test_errors_of_sampled_and_of_compared_calls_have_the_same_traceback(calls_take: Any) -> None:
    calls_take(tiers.HOT / 8)

    def inverse(x: float) -> float:
        return 1 / x

    function, seen = ag.function(inverse), []
    for n in range(40):
        function(n + 1)
        try:
            function(0)
        except ZeroDivisionError as error:
            seen.append([(each.name, each.lineno) for each in traceback.extract_tb(error.__traceback__)][-1])
    assert set(seen) == {("inverse", inverse.__code__.co_firstlineno + 1)}
    assert len(seen) == 40


def test_a_function_in_tier_0_that_a_trace_calls_becomes_a_part_of_it() -> None:
    clipped = ag.function(lambda x: 0 if x < 0 else x)

    def total(xs: list[float]) -> float:
        return sum(map(clipped, xs))

    summed = ag.function(total)
    graph = str(summed.graph([1.5, -2.0]))
    assert "if" in graph or "select" in graph
    assert staged(clipped)._specializer.made == 0
    assert summed([1.5, -2.0]) == 1.5


def test_views_trace_when_asked_and_do_not_change_the_tier() -> None:
    function = ag.function(lambda x: x + 1)
    assert "x + 1" in str(function.graph(3))
    assert len(function.traces) == 1
    assert function(3) == 4
    assert tier(function) == "0"


def test_functions_and_what_they_capture_are_freed() -> None:
    class Captured:
        pass

    def make() -> Any:
        captured = Captured()
        function = ag.function(lambda: (captured, function))
        function()
        return weakref.ref(captured)

    found = make()
    gc.collect()
    assert found() is None


def test_compile_makes_machine_code_before_the_first_call(calls_take: Any) -> None:
    @ag.function
    def total(xs: Any) -> float:
        result = 0.0
        for x in xs:
            result += x
        return result

    total.compile(ag.TensorSpec((None,), "f8"))
    calls_take(1.0, PLAIN)
    assert [total(np.ones(n)) for n in range(2, 12)] == [*range(2, 12)]
    (trace,) = total.traces
    assert trace.calls == 10
    assert total.explain(np.ones(3)).summary.tier == 2


def test_explain_tells_tier_and_figures(calls_take: Any) -> None:
    calls_take(tiers.HOT / 8, STAGED)
    function = ag.function(lambda x: x * x)
    function(1.5)
    assert str(function.explain(1.5).summary).startswith("plain Python (tier 0), 1 call of 2.5 ms")
    assert function.explain(1.5).summary.reason == "plain calls have taken 2.5 ms; they are traced when that is 20 ms"
    for _ in range(40):
        function(1.5)
    assert str(function.explain(1.5).summary) == (
        "a graph on NumPy (tier 1), 41 calls of 1.25 ms, plain 2.5 ms: 2 times as fast"
    )


def test_without_a_trace_the_record_of_the_calls_says_why(calls_take: Any) -> None:
    calls_take(1e-7)
    function = ag.function(lambda x: x)
    assert function.traces == ()
    function(1)
    (record,) = function.traces
    assert record.plain == "tier 0: such calls are traced when they have taken 20 ms"


def test_a_long_first_call_goes_on_in_machine_code() -> None:
    @ag.function
    def total(n: int) -> float:
        result = 0.0
        for i in range(n):
            result += i % 7
        return result

    assert total(4_000_000) == total.python_function(4_000_000)
    (loop,) = staged(total)._tiers.runner.loops
    assert loop.tier == 2


def test_loops_of_a_function_that_runs_as_plain_python_are_staged_on_their_own() -> None:
    @ag.function
    def total(n: int) -> Any:
        class Result:
            value = 0.0

        for i in range(n):
            Result.value = 0.0
        result = 0.0
        for i in range(n):
            result += i % 7
        return result

    for _ in range(5000):
        assert total(3000) == 8994.0
        runner = staged(total)._tiers.runner
        if runner is not None and 2 in [loop.tier for loop in runner.loops]:
            break
    else:
        pytest.fail("no loop has become machine code")
    assert 2 in [loop.tier for loop in total.explain(3000).loops]


def test_a_function_goes_back_to_plain_if_none_of_its_loops_is_staged(calls_take: Any) -> None:
    @ag.function
    def total(n: int) -> int:
        class Numbers:
            most = n

        result = 0
        for i in (number for number in range(Numbers.most)):
            result += i
        return result

    calls_take(tiers.HOT, STAGED)
    assert [total(9) for _ in range(tiers.MOST + 100)] == [36] * (tiers.MOST + 100)
    (trial,) = staged(total)._tiers.trials.values()
    assert trial.faster == "plain"


def test_the_time_that_staging_takes_does_not_shorten_the_time_in_which_loops_become_hot(monkeypatch: Any) -> None:
    now, took = [0.0], [1e-3]

    def spend() -> None:
        now[0] += took[0]

    @ag.function
    def total(n: int) -> int:
        try:
            spend()
        except OSError:
            return -1
        result = 0
        for i in range(n):
            result += i
        return result

    monkeypatch.setattr(tiers, "_clock", lambda: now[0])
    spend = ag.do_not_convert(spend)
    calls = 0
    while not staged(total)._tiers._loop_calls:
        assert total(3) == 3
        calls += 1
        assert calls < 1000
    took[0] = 0.3       # a loop is staged
    assert total(3) == 3
    took[0] = 1e-3
    called(total, 100, 3)
    assert staged(total)._tiers._loop_calls > tiers.WARMING / 2 / took[0]


def test_the_signature_of_a_call_is_that_before_it_changes_its_arguments(calls_take: Any) -> None:
    calls_take(tiers.HOT)
    function = ag.function(lambda xs: xs.append(1))
    for _ in range(30):
        xs = [1]
        function(xs)
        assert xs == [1, 1]
    assert staged(function)._specializer.made
    assert len(staged(function)._tiers.trials) <= 2     # the first call is noted only once it has taken long


def test_recursive_calls_run_as_the_call_that_is_timed(calls_take: Any, monkeypatch: Any) -> None:
    depth, depths, choose = [0], [], tiers.Tiers._is_next_staged

    @ag.function
    def walk(x: Any) -> float:
        depth[0] += 1
        total = 0.0
        for item in x:
            total += item
        if x[0] > 0:
            total += walk(x - 1)
        depth[0] -= 1
        return total

    def chosen(self: Any, trial: Any) -> bool:
        depths.append(depth[0])
        return choose(self, trial)

    monkeypatch.setattr(tiers.Tiers, "_is_next_staged", chosen)
    calls_take(tiers.HOT)
    assert [walk(np.array([3.0, 4.0])) for _ in range(60)] == [16.0] * 60
    assert depths and max(depths) <= 1      # 1 if the outer call runs in tier 0


@COUNTS
def test_plain_calls_within_others_are_not_dispatched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a trial has shown that they are faster, and the function is staged for other arguments."""
    keys: list[Any] = []

    @ag.function
    def total(x: Any) -> Any:
        return 0 if x is None else x[0] + total(x[1])

    function, nested = staged(total), (1, (2, (3, None)))
    assert total(nested) == 6
    total.compile(None)
    assert tier(total) == "dispatched"
    monkeypatch.setattr(function._tiers, "_plain", noting(keys, function._tiers._plain))
    assert [total(nested) for _ in range(5)] == [6] * 5
    assert keys == [(nested,)] * 5


def noting(keys: list[Any], plain: Callable[..., Any]) -> Callable[..., Any]:
    def noted(*values: Any) -> Any:
        keys.append(values)
        return plain(*values)

    return noted


@pytest.mark.parametrize("step, is_stopped", [(0.0, False), (2.0, True)])
def test_a_signature_is_traced_once_more_when_plain_calls_have_taken_as_long_as_it_was_allowed(
    step: float, is_stopped: bool, calls_take: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, steps = [0.0], [0.3]

    def read() -> float:
        now[0] += steps[0]
        return now[0]

    monkeypatch.setattr("autograph.common.budget.time.thread_time", read)

    def program(x: float) -> float:
        for number in range(8):
            x = x * number + 1.0 if x < 9.0 else x - number
        return x

    calls_take(tiers.HOT)
    function = ag.function(program)
    assert [function(0.5) for _ in range(8)] == [program(0.5)] * 8
    made = staged(function)._specializer
    assert [trace.stopped for trace in function.traces] == [True]
    steps[0], before = step, made.made
    assert [function(0.5) for _ in range(3_000)] == [program(0.5)] * 3_000
    assert made.made == before + 1
    assert [trace.stopped for trace in function.traces] == [is_stopped]
    (trial,) = made.tiers.trials.values()
    assert trial.granted == pytest.approx(tiers.AGAIN * tiers.ALLOWED, rel=0.1)


def test_tracing_takes_no_longer_than_allowed_or_than_the_calls_have_taken(
    calls_take: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = itertools.count(step=0.3)
    monkeypatch.setattr("autograph.common.budget.time.thread_time", lambda: next(readings))

    def program(x: float) -> float:
        for number in range(8):
            x = x * number + 1.0 if x < 9.0 else x - number
        return x

    for seconds, is_stopped in ((tiers.HOT, True), (60.0, False)):
        calls_take(seconds)
        function = ag.function(program)
        assert [function(0.5) for _ in range(4)] == [program(0.5)] * 4
        assert [trace.stopped for trace in function.traces] == [is_stopped]
    calls_take(tiers.HOT)
    function = ag.function(program)
    [function(0.5) for _ in range(4)]
    assert "tracing was stopped after 0.6 s (budget 0.5 s)" in str(function.explain(0.5))
    assert staged(function)._specializer.made == 1
    assert "if(" in str(function.graph(0.5))
    assert function.traces[0].plain == ""
