"""Processes that are forked while other threads trace or compile, and by threads that do."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.common import forking
from autograph.runtime import passes

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]
HANGS = 60  # seconds, after which a child that hangs is ended


def total(n: int) -> int:
    result = 0
    for i in range(n):
        result += i * i
    return result


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def __bool__(self) -> bool:
        return self.count > 0

    def step(self, x: float) -> float:
        self.count += 1
        return x + self.count


COUNTER = Counter()


def steps(x: float) -> float:
    if COUNTER:
        x *= 2
    return COUNTER.step(x)


def succeeds_in_a_child(check: Callable[[], bool]) -> bool:
    """Whether a forked child finds that all is well."""
    child = os.fork()
    if child == 0:
        signal.alarm(HANGS)
        try:
            os._exit(0 if check() else 1)
        finally:
            os._exit(2)
    return os.waitpid(child, 0)[1] == 0


@contextmanager
def busy(work: Callable[[], object], count: int = 2) -> Iterator[None]:
    """While it lasts, threads do some work again and again."""
    done = threading.Event()

    def run() -> None:
        while not done.is_set():
            work()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
def test_while_others_compile(engine: str) -> None:
    if engine == "native":
        pytest.importorskip("llvmlite")
    with busy(lambda: ag.function(total, engine=engine)(10)):
        assert all(succeeds_in_a_child(lambda: ag.function(total, engine=engine)(5) == 30) for _ in range(8))


def test_classes_and_objects_are_what_they_were() -> None:
    """A trace has stand-ins in classes, and values of the graph in objects, filters of warnings and more."""
    plain, filters = dict(vars(Counter)), list(warnings.filters)

    def is_clean() -> bool:
        restored = dict(vars(Counter)) == plain and type(COUNTER.count) is int and warnings.filters == filters
        return restored and not ag.operators.backend.ACTIVE and steps(1.0) > 1.0

    def work() -> None:
        ag.function(steps)(1.5)

    with busy(work, count=1):   # two that trace would meet each other's values in the object
        assert all(succeeds_in_a_child(is_clean) for _ in range(20))


def test_while_others_convert_and_trace_for_tensorflow() -> None:
    import autograph.compat.tensorflow as tf

    def work() -> None:
        ag.to_graph(lambda x: x if x else -x)(1)
        tf.function(lambda x: x + 1)(tf.constant(1))

    def check() -> bool:
        return bool(ag.to_graph(total)(5) == 30 and tf.function(total)(5).numpy() == 30)

    with busy(work):
        assert all(succeeds_in_a_child(check) for _ in range(6))


def test_in_the_midst_of_tracing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who forks while it traces goes on in both processes."""
    optimize, children = passes.optimize, list[int]()

    def forking_optimize(*args: Any) -> Any:
        children.append(os.fork())
        if children[-1] == 0:
            signal.alarm(HANGS)
        return optimize(*args)

    monkeypatch.setattr(passes, "optimize", forking_optimize)
    found = None
    try:
        with busy(lambda: ag.to_graph(lambda x: x if x else -x)(1)):
            found = ag.function(total)(5)
    finally:
        if children and children[0] == 0:
            monkeypatch.undo()
            os._exit(0 if found == 30 and ag.function(total)(6) == 55 else 1)
    assert found == 30
    assert os.waitpid(children[0], 0)[1] == 0


def test_nobody_waits_for_itself() -> None:
    with forking.undivided(), forking.undivided():
        assert succeeds_in_a_child(lambda: ag.function(total)(5) == 30)
    assert not forking._busy and not forking._forking


def test_a_thread_that_never_ends_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forking, "PATIENCE", 0.01)
    begun, done = threading.Event(), threading.Event()

    def hang() -> None:
        with forking.undivided():
            begun.set()
            done.wait()

    thread = threading.Thread(target=hang)
    thread.start()
    begun.wait()
    assert succeeds_in_a_child(lambda: not forking._busy and ag.function(total)(5) == 30)
    done.set()
    thread.join()


def total_staged(n: int) -> Any:
    return ag.function(total, engine="auto")(n)


@pytest.mark.parametrize("kind", ["futures", "pool"])
def test_pools_of_forked_processes(kind: str) -> None:
    context = multiprocessing.get_context("fork")
    with busy(lambda: ag.function(total)(10), count=1):
        if kind == "futures":
            with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as executor:
                found = list(executor.map(total_staged, range(8)))
        else:
            with context.Pool(2) as pool:
                found = pool.map(total_staged, range(8))
    assert found == [total(n) for n in range(8)]


def summed(x: Any) -> Any:
    return np.sqrt(x * 2.0 + 1.0) - x


def test_threads_of_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """The threads that share large loops are started anew in a child."""
    pytest.importorskip("llvmlite")
    monkeypatch.setenv("AUTOGRAPH_NUM_THREADS", "3")
    x = np.arange(2_000_000.0)
    staged = ag.function(summed, engine="native")
    assert np.array_equal(staged(x), summed(x))
    assert succeeds_in_a_child(lambda: np.array_equal(staged(x), summed(x)))
