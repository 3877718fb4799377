"""An error of this library changes nothing: the call runs as plain Python, and the error is reported (laws 1 and 7).

Errors are injected while functions of the corpora are traced, wherever something is recorded: handlers of the program
must not take them for their own, and all that tracing has changed must be undone.
"""

from __future__ import annotations

import itertools
import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import autograph as ag
from autograph.common import defects
from autograph.common.trace_rules import ROOT
from autograph.runtime import passes
from autograph.runtime.tracing.state.trace import Trace
from tests import corpus, corpus_staged, outcomes
from tests.test_staged_corpus import same_line

ENTRIES: list[corpus.Entry] = [*corpus_staged.entries(), *corpus.entries()]
SAMPLED = [
    pytest.param(each, marks=[pytest.mark.slow] * bool(place % 24) + [pytest.mark.once])
    for place, each in enumerate(ENTRIES)
]
ERRORS = ["KeyError('injected')", "ValueError", "AssertionError", "TypeError('Tensor')", "Exception"]
SOURCE = "def failing(*args, **kwargs):\n if fails(): raise {error}\n return original(*args, **kwargs)"


@contextmanager
def failing(thing: Any, name: str, fails: Callable[[], bool], error: str) -> Iterator[None]:
    """While it lasts, a function of this library fails where `fails()` says so."""
    names = {"original": getattr(thing, name), "fails": fails}
    exec(compile(SOURCE.format(error=error), os.path.join(ROOT, "runtime", "trace.py"), "exec"), names)
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AUTOGRAPH_DEBUG")
        patch.setattr(thing, name, names["failing"])
        yield


def stageable(entry: corpus.Entry) -> Any:
    try:
        return ag.function(entry.function)
    except TypeError:
        pytest.skip("generators and coroutines are not staged")


@pytest.mark.parametrize("entry", SAMPLED, ids=str)
def test_while_tracing(entry: corpus.Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(defects, "_reported", set())
    draw = random.Random(str(entry))
    for arguments in entry.calls:
        countdown = [draw.randrange(12) if draw.random() < 0.7 else draw.randrange(60)]

        def fails(countdown: list[int] = countdown) -> bool:
            countdown[0] -= 1
            return countdown[0] == -1

        error = draw.choice(ERRORS)
        with failing(Trace, "_record", fails, error):
            actual = outcomes.run(stageable(entry), arguments, vars(entry.module))
        wanted = outcomes.run(entry.function, arguments, vars(entry.module))
        actual.warnings = [each for each in actual.warnings if each[0] != "RetraceWarning"]
        assert actual == wanted, f"{entry}({arguments}), {error}"
        assert same_line(actual, wanted)


def changed(xs: list[float], x: float, log: dict[str, Any]) -> float:
    xs.append(x)
    log["seen"] = x * 2
    print("seen", x)
    return x + 1


def test_what_is_reported(capsys: Any, caplog: Any) -> None:
    staged, xs, log = ag.function(changed), [1.0], dict[str, Any]()
    with failing(passes, "optimize", lambda: True, "KeyError('injected')"):
        assert [staged(xs, 2.5, log), staged(xs, 4.0, log)] == [3.5, 5.0]
        report = staged.explain(xs, 2.5, log)
    assert xs == [1.0, 2.5, 4.0] and log == {"seen": 8.0}
    assert capsys.readouterr().out == "seen 2.5\nseen 4.0\n"
    (told,) = report.where(kind="plain")
    assert "autograph fails to stage changed (KeyError('injected') at trace.py:2), and it runs as plain" in told.message
    assert "please report it with the traceback that AUTOGRAPH_DEBUG=1 in the environment shows" in told.message
    assert "`autograph doctor`" in told.message
    (logged,) = [record.getMessage() for record in caplog.records]
    assert logged.startswith(f"{__file__}:") and "fails to stage changed" in logged


def deep(n: int) -> int:
    return 0 if n == 0 else 1 + deep(n - 1)


@pytest.mark.parametrize("error", ["RecursionError('injected')", "MemoryError()"])
@pytest.mark.parametrize("after", range(6))
def test_too_little_stack_or_memory_while_tracing(error: str, after: int, capsys: Any, caplog: Any) -> None:
    """The trace needs more of both than the program does, which gets them when it runs as plain Python."""
    staged, xs, log, records = ag.function(changed), [1.0], dict[str, Any](), itertools.count()
    with failing(Trace, "_record", lambda: next(records) >= after, error):
        assert [staged(xs, 2.5, log), staged(xs, 4.0, log)] == [3.5, 5.0]
    assert xs == [1.0, 2.5, 4.0] and log == {"seen": 8.0}
    assert capsys.readouterr().out == "seen 2.5\nseen 4.0\n"
    told = [event.message for event in staged.explain(xs, 2.5, log).where(kind="plain")]
    reasons = {"R": "nested too deep to be traced", "M": "MemoryError is raised while it is traced"}
    assert next(records) <= after or any(reasons[error[0]] in message for message in told), told
    assert not caplog.records   # nothing is wrong with this library


def test_programs_that_go_deeper_than_a_trace_can() -> None:
    staged, limit = ag.function(deep), sys.getrecursionlimit()
    for n in (10, limit // 2, 20):
        assert staged(n) == deep(n)
    with pytest.raises(RecursionError):
        staged(10 * limit)
    assert staged(15) == 15


def test_who_is_strict_gets_the_error() -> None:
    with failing(passes, "optimize", lambda: True, "KeyError('injected')"):
        for options in ({"strict": True}, {"strict": "plain"}):
            with pytest.raises(ag.errors.InternalError, match="fails to stage changed .*KeyError"):
                ag.function(changed, **options)([1.0], 2.5, {})
        with pytest.raises(ag.errors.InternalError, match="fails to stage <lambda>"):
            ag.grad(lambda x: x * x)(2.0)
