"""The calls and times of staged functions."""

import gc
import sys
import threading
import time

import pytest

import autograph as ag
from autograph.runtime.profiling.function_calls import records_of


@pytest.fixture
def watch():
    profile = ag.profile(lines=False)
    with profile:
        yield profile


def records(profile):
    """The records so far."""
    profile.__exit__()
    found = records_of(profile.threads)
    profile.__enter__()
    return found


def record(watch, function):
    (found,) = (record for (name, *_), record in records(watch).items() if name == function.__qualname__)
    return found


@ag.do_not_convert
def sleep(seconds):
    time.sleep(seconds)


def test_calls_and_time(watch):
    @ag.function
    def f(x):
        sleep(0.01)
        return x

    assert [f(1), f(2)] == [1, 2]
    found = record(watch, f)
    assert found.calls == 2 and found.seconds == found.own > 0.02
    assert list(found.functions) == [f]


def test_the_time_of_functions_that_it_calls_is_not_its_own(watch):
    @ag.function
    def inner(x):
        sleep(0.02)
        return x

    @ag.do_not_convert
    def between(x):
        sleep(0.01)
        return inner(x)

    @ag.function
    def outer(x):
        return between(x)

    assert outer(1) == 1
    inside, around = record(watch, inner), record(watch, outer)
    assert inside.calls == around.calls == 1
    assert around.seconds == pytest.approx(around.own + inside.seconds)
    assert inside.own > 0.02 and around.own > 0.01


def test_the_time_of_a_recursion_counts_once(watch):
    @ag.do_not_convert
    def down(n):
        time.sleep(0.01)
        return f(n - 1) if n else 0

    @ag.function
    def f(n):
        return down(n)

    begin = time.perf_counter()
    f(3)
    taken = time.perf_counter() - begin
    found = record(watch, f)
    assert found.calls == 4 and 0.04 < found.seconds <= taken
    assert found.own == pytest.approx(found.seconds)


def test_a_call_that_raises_is_measured_and_raises(watch):
    @ag.function
    def f(x):
        raise LookupError(x)

    with pytest.raises(LookupError):
        f(1)
    assert record(watch, f).calls == 1


def test_calls_within_a_trace_are_part_of_it(watch):
    inner = ag.function(lambda x: x + 1)
    outer = ag.function(lambda x: inner(x) * 2)
    assert outer(1) == 4
    counts = {function: found.calls for found in records(watch).values() for function in found.functions}
    assert (counts.get(inner), counts[outer]) == (None, 1)


def test_threads_have_calls_of_their_own(watch):
    @ag.function
    def f(x):
        sleep(0.02)
        return x

    f(0)
    threads = [threading.Thread(target=f, args=(n,)) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = record(watch, f)
    assert found.calls == 4 and found.own == pytest.approx(found.seconds) and found.seconds > 0.08


def test_functions_that_look_at_frames_are_not_measured(watch):
    @ag.function
    def caller():
        return sys._getframe(1).f_code.co_name

    assert caller() == "test_functions_that_look_at_frames_are_not_measured"
    assert not records(watch)


def test_functions_can_be_collected(watch):
    f = ag.function(lambda x: x)
    f(1)
    found = record(watch, f)
    del f
    gc.collect()
    assert found.calls == 1 and not found.functions
