"""Warnings of what is computed while tracing: each call gives them, as in plain Python."""

from __future__ import annotations

import re
import threading
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests import outcomes

LARGE = np.float64(1e308)
ZERO = np.float64(0)


def warned_of(call: Callable[[], Any], action: Any = "always") -> list[tuple[str, str, str, int]]:
    re.purge()
    with warnings.catch_warnings(record=True) as log:
        warnings.simplefilter(action)
        call()
    return [(each.category.__name__, str(each.message), each.filename, each.lineno) for each in log]


def same_warnings(function: Callable[..., Any], *args: Any) -> ag.Function[..., Any]:
    staged = ag.function(function)
    wanted = warned_of(lambda: function(*args))
    assert wanted
    for _ in range(3):
        assert warned_of(lambda: staged(*args)) == wanted
    assert staged.traces[0].graph is not None
    return staged


def times(x: float) -> float:
    y = LARGE * 10
    return x + y


def times_in_helper(x: float) -> float:
    if x > 0:
        x = times(x) + x
    return x


def times_in_loop(n: int) -> float:
    total = 0.0
    for i in range(n):
        total += i + LARGE * 10
    return total


def library(x: int) -> int:
    return x + len(re.compile("[[a]" + "b" * 3).pattern)


@pytest.mark.parametrize(
    ("function", "args"), [(times, (1.0,)), (times_in_helper, (1.0,)), (times_in_loop, (3,)), (library, (1,))]
)
def test_each_call_gives_them(function: Any, args: Any) -> None:
    same_warnings(function, *args)


def test_only_those_of_the_path_that_is_taken() -> None:
    staged = same_warnings(times_in_helper, 1.0)
    assert warned_of(lambda: staged(-1.0)) == []
    assert len(staged.traces) == 1


def test_the_first_warning_of_a_module_in_a_loop() -> None:
    globals().pop("__warningregistry__", None)  # which Python enters with the first
    staged = ag.function(times_in_loop)
    assert warned_of(lambda: staged(3))
    assert staged.traces[0].graph is not None


def test_filters_are_those_of_the_call() -> None:
    staged = ag.function(times)
    assert warned_of(lambda: staged(1.0), "ignore") == []
    assert warned_of(lambda: staged(1.0)) == warned_of(lambda: times(1.0)) != []
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning, match="overflow") as raised:
        warnings.simplefilter("error")
        staged(1.0)
    assert raised.traceback[-1].lineno == times.__code__.co_firstlineno
    assert warned_of(lambda: staged(1.0)) != []


def test_an_error_by_filter_while_tracing_is_none_of_the_graph() -> None:
    staged = ag.function(times)
    with warnings.catch_warnings(), pytest.raises(RuntimeWarning, match="overflow"):
        warnings.simplefilter("error")
        staged(1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert staged(1.0) == times(1.0)


def test_once_for_each_line() -> None:
    """A warning that is shown once by default is shown once, also if several traces and plain functions give it."""
    staged = ag.function(times)
    assert len(warned_of(lambda: [staged(1.0), staged(1.0), staged(np.float32(1)), times(1.0)], "default")) == 1


def test_filters_tell_modules_apart() -> None:
    staged = ag.function(lambda x: np.log(x))
    with warnings.catch_warnings(record=True) as log:
        warnings.filterwarnings("ignore", module="elsewhere")
        staged(np.zeros(2))
        assert len(log) == 1
        warnings.filterwarnings("ignore", module=__name__)
        staged(np.zeros(3))
        assert len(log) == 1


def test_once_for_each_line_when_the_graph_runs() -> None:
    def log_of(x: Any) -> Any:
        return np.log(x)

    staged = ag.function(log_of)
    calls = lambda: [staged(np.zeros(2)), staged(np.zeros(2, "f4")), log_of(np.zeros(2))]  # noqa: E731
    assert len(warned_of(calls, "default")) == 1


def test_numpy_settings_are_those_of_the_call() -> None:
    def divides(x: float) -> tuple[Any, ...]:
        with np.errstate(over="ignore"):
            y = LARGE * 10
        return x + y, 1 / ZERO

    staged = ag.function(divides)
    with np.errstate(divide="ignore"):
        assert warned_of(lambda: staged(1.0)) == warned_of(lambda: divides(1.0)) == []
    assert warned_of(lambda: staged(1.0)) == warned_of(lambda: divides(1.0)) != []
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError, match="^divide by zero encountered in"):
        staged(1.0)
    seen: list[Any] = []
    with np.errstate(divide="call", call=lambda *what: seen.append(what)):
        staged(1.0)
        divides(1.0)
    assert seen[0] == seen[1]


@pytest.mark.parametrize("mode", ["print", "log"])
def test_numpy_prints_them(mode: Any, capfd: Any) -> None:
    def divides(x: float) -> Any:
        return x + 1 / ZERO

    class Log:
        text = ""

        def write(self, text: str) -> None:
            self.text += text

    log = Log()
    staged = ag.function(divides)
    reported = []
    for function in (divides, staged, staged):
        with np.errstate(divide=mode, call=log if mode == "log" else None):
            function(1.0)
        reported.append((capfd.readouterr().err, log.text))
        log.text = ""
    assert reported[0] == reported[1] == reported[2] != ("", "")


def test_handlers_are_there() -> None:
    def handles(x: float) -> Any:
        try:
            y = LARGE * 10
        except RuntimeWarning:
            y = ZERO
        return x + y

    staged = ag.function(handles)
    for action in ("ignore", "error", "ignore", "error"):
        with warnings.catch_warnings():
            warnings.simplefilter(action)  # type: ignore[arg-type]
            assert staged(1.0) == handles(1.0)


def test_other_threads_and_filters_are_left_alone() -> None:
    seen = []

    def other() -> None:
        seen.extend(warned_of(lambda: warnings.warn("elsewhere", stacklevel=1)))

    @ag.function
    def f(x: float) -> Any:
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        return x

    before = list(warnings.filters)
    f(1.0)
    same_warnings(times, 1.0)
    assert warnings.filters == before
    assert [each[:2] for each in seen] == [("UserWarning", "elsewhere")] * len(seen) != []


def test_code_of_no_module_warns() -> None:
    function = outcomes.execute("def f(x):\n    return x + np.reciprocal(0)\n", "<no module>", {"np": np})["f"]
    with warnings.catch_warnings(record=True) as plain:
        warnings.simplefilter("always")
        function(1)
    with warnings.catch_warnings(record=True) as staged:
        warnings.simplefilter("always")
        ag.function(function)(1)
    assert [(str(w.message), w.lineno) for w in staged] == [(str(w.message), w.lineno) for w in plain] != []
