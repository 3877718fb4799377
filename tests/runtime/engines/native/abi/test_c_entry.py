"""The fast path of calls: kinds of arguments, results, and who is called otherwise. Nothing is leaked."""

import gc
import signal
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.loops import region


def last(xs, n, start):
    found, iterations = start, 0
    for i in range(n):
        found = xs[i]
        iterations += 1
    return found, iterations


def native(function):
    return ag.function(function, engine="native")


def same(one, other):
    return type(one) is type(other) and repr(one) == repr(other)


@pytest.mark.parametrize("name", "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split())
def test_classes_of_results(name):
    function = native(last)
    xs = np.array([0, 1, 100, np.iinfo(name).max if np.dtype(name).kind in "iu" else 1.1], name)
    for n in (4, 3, 0):
        for start in (0, 2.5, True, None, xs[3], 2**63 - 1, -(2**63), 2**64):
            for _ in range(2):
                found, wanted = function(xs, n, start), last(xs, n, start)
                assert same(found[0], wanted[0]) and found[1] == wanted[1]


def test_arrays_of_any_layout():
    function = native(last)
    base = np.arange(24, dtype="i4")
    words = np.zeros(26, "u1")[1:25].view("i4")
    for xs in (base, base[::2], base[::-3], base[:0], base.astype(">i4"), words, base.astype("O"), base.astype("c8")):
        for _ in range(2):
            for n in (0, min(3, len(xs))):
                assert same(function(xs, n, 0), last(xs, n, 0))
    frozen = base.copy()
    frozen.flags.writeable = False
    assert same(function(frozen, 5, 0), last(frozen, 5, 0))
    assert same(function(base.view(np.recarray), 5, 0), last(base.view(np.recarray), 5, 0))


def test_longlong_stays_longlong():
    xs = np.arange(4)
    for order in ("lq", "ql"):
        function = native(last)
        for each in map(xs.astype, 2 * order):
            assert type(function(each, 4, 0)[0]) is type(each[0])


def test_an_array_comes_back_itself():
    def fill(xs, ys, n):
        for i in range(n):
            xs[i] = i
            xs, ys = ys, xs
        return xs, ys

    function, xs, ys = native(fill), np.zeros(4), np.ones(4)
    for n in (3, 4, 0):
        found = function(xs, ys, n)
        assert found[0] is (ys if n % 2 else xs) and found[1] is (xs if n % 2 else ys)


def test_counts_of_references():
    function, xs = native(last), np.arange(10) + 1000

    def counts(times):
        for _ in range(times):
            function(xs, 5, 0)
            with pytest.raises(IndexError):
                function(xs, 11, None)
        gc.collect()
        return sys.getrefcount(xs), sys.getrefcount(None), sys.getrefcount(xs.dtype), len(gc.get_objects())

    before, after = counts(20), counts(1000)
    assert all(later - first < 500 for first, later in zip(before, after)), (before, after)


def test_code_is_forgotten():
    function = native(last)
    function(np.arange(10), 5, 0)
    (region,) = function.traces[0].executable.native.regions
    code = weakref.ref(region.compiled[0].code)
    function.cache_clear()
    del region
    gc.collect()
    assert code() is None


def test_interrupt():
    def spin(n, end):
        iterations = 0
        while iterations != end:
            iterations = (iterations + n) % 1000
        return iterations

    function = native(spin)
    assert function(3, 9) == 9  # so that it is compiled, and nothing else is interrupted
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs in the background ignores it
    main = threading.main_thread().ident
    threading.Timer(1.5, lambda: signal.pthread_kill(main, signal.SIGINT)).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            function(3, -1)
    finally:
        signal.signal(signal.SIGINT, before)


def test_other_threads_run():
    def count(n):
        iterations = 0
        for i in range(n):
            iterations = (iterations * 3 + i) % 1_000_003
        return iterations

    function = native(count)
    function(10)
    done = []
    thread = threading.Thread(target=lambda: done.append(function(300_000_000)))
    thread.start()
    ticks = 0
    while thread.is_alive():
        time.sleep(0.001)
        ticks += 1
    assert done and ticks > 20      # it has to wait for the lock of the interpreter 5 ms each time, but never longer


# When it is made ----------------------------------------------------------------------------------------------------


def version_of(function):
    (trace,) = function.traces
    (region,) = trace.executable.native.regions
    return region.compiled[-1]


def test_what_is_called_once_only_does_without(monkeypatch):
    monkeypatch.setattr(region, "AGAIN", 1)
    function = native(last)
    xs = np.arange(9.0)
    assert same(function(xs, 4, 0), last(xs, 4, 0))
    first = version_of(function)
    assert first.entry is None and not first.code.entry
    for _ in range(3):
        assert same(function(xs, 4, 0), last(xs, 4, 0))
    assert first.entry is not None and first.code.entry
    other = np.arange(18.0)[::2]
    assert same(function(other, 4, 0), last(other, 4, 0))       # by way of the first
    second = version_of(function)
    assert second is not first and second.entry is None
    for each in (xs, other, xs) * 2:
        assert same(function(each, 4, 0), last(each, 4, 0))
    assert second.entry is not None


def test_code_made_in_the_midst_of_a_call_is_not_called_again(monkeypatch):
    """It is left for big integers, and entered again."""
    monkeypatch.setattr(region, "AGAIN", 1)

    def powers(n):
        found, k = 0, 2**61
        for i in range(n):
            k = k * 2 if i == 1 else 3
            found = found + k
        return found

    function = native(powers)
    assert function(5) == powers(5)
    assert version_of(function).entry is None
    assert function(5) == powers(5) == function(5)
    assert version_of(function).entry is not None


def test_threads_that_call_for_the_second_time(monkeypatch):
    monkeypatch.setattr(region, "AGAIN", 1)
    xs = np.arange(9.0)
    for _ in range(5):
        function = native(last)
        function(xs, 4, 0)
        barrier, found = threading.Barrier(4), []

        def work(function=function, barrier=barrier, found=found):
            barrier.wait()
            found.extend(function(xs, n, 0) for n in (4, 5, 6))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert sorted(found) == sorted([last(xs, n, 0) for n in (4, 5, 6)] * 4)
