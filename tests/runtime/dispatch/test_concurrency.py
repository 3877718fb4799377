"""Threads that call, trace and decorate at once; functions that call themselves; functions in other processes."""

import multiprocessing
import threading
import time

import numpy as np
import pytest

import autograph as ag
from autograph.errors import StrictError
from autograph.runtime.dispatch import tracing_lock
from autograph.runtime.dispatch.decorator import function

pytestmark = pytest.mark.filterwarnings("ignore::autograph.errors.RetraceWarning")


def in_threads(count, work):
    """Run `work(number)` in threads that begin at once; gives what they return."""
    barrier = threading.Barrier(count)
    results = [None] * count

    def run(number):
        barrier.wait()
        try:
            results[number] = work(number)
        except BaseException as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive(), "a deadlock"
    return results


def test_one_trace_for_all_threads(tracer):
    tracer.before = lambda signature: time.sleep(0.05)
    f = function(lambda x: x + 1)
    assert in_threads(8, f) == list(range(1, 9))
    assert len(tracer) == 1


def test_many_signatures_at_once(tracer):
    f = function(lambda x, mode: (x.sum(), mode), static_argnames="mode")

    def work(number):
        return [f(np.ones(k), (number + k) % 6) for k in range(1, 20)]

    for number, results in enumerate(in_threads(6, work)):
        assert results == [(k, (number + k) % 6) for k in range(1, 20)]
    assert len(f.traces) <= 64


def test_few_traces_and_many_threads(tracer):
    f = function(lambda x, mode: mode, static_argnames="mode", max_traces=2)
    for results in in_threads(4, lambda number: [f(1, n % 5) for n in range(50)]):
        assert results == [n % 5 for n in range(50)]
    assert len(f.traces) <= 2


def test_two_functions_that_trace_one_another(tracer, monkeypatch):
    monkeypatch.setattr(tracing_lock, "PATIENCE", 0.2)
    started = threading.Barrier(2, timeout=10)
    f, g = function(lambda x: x + 1), function(lambda x: x + 2)
    other = {"f": g, "g": f}

    def before(signature):
        name = threading.current_thread().name
        if name in other:
            partner = other.pop(name)
            started.wait()  # both hold their locks now
            partner(1)

    tracer.before = before
    results = {}
    threads = [
        threading.Thread(target=lambda n=name, h=staged: results.update({n: h(1)}), name=name)
        for name, staged in [("f", f), ("g", g)]
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive(), "a deadlock"
    assert results == {"f": 2, "g": 3}


def test_a_thread_does_not_wait_forever_for_one_that_traces(tracer, monkeypatch):
    """It may be holding what the other is waiting for."""
    monkeypatch.setattr(tracing_lock, "PATIENCE", 0.1)
    users, waiting = threading.Lock(), threading.Event()

    def before(signature):
        if threading.current_thread() is not threading.main_thread():
            waiting.set()
            with users:
                pass

    tracer.before = before
    f = function(lambda x: x)
    with users:
        thread = threading.Thread(target=f, args=(1,))
        thread.start()
        waiting.wait(10)
        assert f(1) == 1
    thread.join(10)
    assert not thread.is_alive()


def test_a_function_that_calls_itself(tracer):
    @function
    def factorial(n):
        return n * factorial(n - 1) if n > 1 else 1

    assert factorial(20) == 2432902008176640000
    assert len(tracer) == 1


def test_an_error_while_tracing_gives_the_lock_back(tracer):
    def before(signature):
        raise ValueError("no")

    tracer.before = before
    f = function(lambda x: x, strict="plain")
    for _ in range(2):
        with pytest.raises(StrictError, match="ValueError is raised while it is traced"):
            f(1)
    tracer.before = lambda signature: None
    assert in_threads(2, f) == [0, 1]


def test_decorating_in_threads(tracer):
    def work(number):
        return [function(lambda x: x + number)(k) for k in range(20)]

    for number, results in enumerate(in_threads(4, work)):
        assert results == [k + number for k in range(20)]


# Processes ------------------------------------------------------------------------------------------------------------


@ag.function
def sum_of_positive(xs):
    total = 0
    for x in xs:
        if x > 0:
            total += x
    return total


class Scale:
    def __init__(self, factor):
        self.factor = factor

    @ag.function
    def times(self, x):
        return self.factor * x


@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_functions_and_methods_go_to_other_processes(method):
    calls = [np.array([1.0, -2.0, 3.0]), [1, -1, 1], np.ones(2)]
    assert sum_of_positive(calls[0]) == 4.0  # so that the process has a trace before it forks
    with multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(sum_of_positive, calls) == [4.0, 2, 2.0]
        assert pool.map(Scale(3).times, [1, 2.5]) == [3, 7.5]
