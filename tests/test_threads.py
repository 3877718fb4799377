"""Many threads convert at once; and thousands of conversions leave nothing behind."""

from __future__ import annotations

import gc
import linecache
import os
import sys
import threading
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

import autograph as ag
from autograph.conversion import conversions
from autograph.operators.backend import register, traced_by, unregister
from tests.dispatch import staging
from tests.recording import Recorder, Staged

pytestmark = [pytest.mark.once, pytest.mark.usefixtures("few_objects")]

THREADS = 16
PROGRAM = """\
def f{n}(c, y={n}):
    for i in range(3):
        if c:
            y += i
    return y

def closure(y):
    def inner(c):
        return y if c else -y
    return inner
"""


@pytest.fixture
def often():
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(function, items):
    """What `function` gives for each item, all begun at the same moment."""
    items = list(items)
    barrier = threading.Barrier(len(items))

    def run(item):
        barrier.wait()
        return function(item)

    with ThreadPoolExecutor(len(items)) as pool:
        return list(pool.map(run, items))


def test_the_same_function(often, monkeypatch):
    function, names = staging.execute(PROGRAM.format(n=1))["f1"], staging.counted(monkeypatch)
    results = at_once(lambda i: ag.to_graph(function)(i % 2), range(THREADS))
    assert results == [1, 4] * (THREADS // 2)
    assert names == ["f1"]


def test_different_functions(often, monkeypatch):
    functions = [staging.execute(PROGRAM.format(n=n))[f"f{n}"] for n in range(THREADS)]
    names = staging.counted(monkeypatch)
    assert at_once(lambda n: ag.to_graph(functions[n])(1), range(THREADS)) == [n + 3 for n in range(THREADS)]
    assert sorted(names) == sorted(f.__name__ for f in functions)


def test_closures_over_one_piece_of_code(often, monkeypatch):
    closure, names = staging.execute(PROGRAM.format(n=1))["closure"], staging.counted(monkeypatch)
    assert at_once(lambda n: ag.to_graph(closure(n))(0), range(THREADS)) == [-n for n in range(THREADS)]
    assert names == ["inner"]


def test_text_and_explanation(often):
    functions = [staging.execute(PROGRAM.format(n=n % 4))[f"f{n % 4}"] for n in range(THREADS)]
    alone = [(ag.to_code(staging.execute(PROGRAM.format(n=n % 4))[f"f{n % 4}"])) for n in range(THREADS)]
    assert at_once(lambda n: ag.to_code(functions[n]), range(THREADS)) == alone
    told = at_once(lambda n: len(ag.explain(functions[n]).decisions), range(THREADS))
    assert told == [told[0]] * THREADS


class Own(Recorder):
    """Owns the one value that it was made for."""

    def __init__(self):
        super().__init__()
        self.value = Staged("c")

    def owns(self, value):
        return value is self.value


def test_decorated_functions_convert_when_several_threads_trace(often, monkeypatch):
    """Each thread's trace is its own; the function is converted for all of them once."""
    function, names = ag.convert(staging.execute(PROGRAM.format(n=1))["f1"]), staging.counted(monkeypatch)
    backends = [Own() for _ in range(THREADS)]

    def run(i):
        if i % 2:
            return function(True)
        with traced_by(backends[i]):
            function(backends[i].value)
        return backends[i].constructs

    for backend in backends:
        register(backend)
    try:
        assert at_once(run, range(THREADS)) == [["if_stmt"] * 3, 4] * (THREADS // 2)
    finally:
        for backend in backends:
            unregister(backend)
    assert names == ["f1"]


def test_a_conversion_that_fails_does_not_stop_others(often):
    hidden = eval("lambda: 0")
    good = staging.execute(PROGRAM.format(n=1))["f1"]

    def run(i):
        try:
            return ag.to_graph(good if i % 2 else hidden)(*[1] * (i % 2))
        except ag.errors.SourceError:
            return "error"

    assert at_once(run, range(THREADS)) == ["error", 4] * (THREADS // 2)


def test_conversions_come_and_go_in_many_threads(often):
    """Code is dropped while other code is converted, also by the collector of cycles."""

    def run(n):
        for i in range(5):
            names = staging.execute(PROGRAM.format(n=n))
            assert ag.to_graph(names[f"f{n}"])(1) == n + 3
            linecache.cache.pop(names[f"f{n}"].__code__.co_filename)
            if i == 2:
                gc.collect()
        return n

    assert at_once(run, range(THREADS)) == list(range(THREADS))


# Leaks


def convert_and_drop(count):
    for _ in range(count):
        names = staging.execute(PROGRAM.format(n=1), "<program>")  # Python 3.10 itself keeps names of files
        function = names["f1"]
        ag.to_graph(function)(1)
        ag.convert(names["closure"](2))(0)
        ag.to_code(function)
        linecache.cache.pop(function.__code__.co_filename)


def state():
    """What conversions must not add to."""
    gc.collect()
    return {
        "conversions": len(conversions.conversions),
        "sys.modules": sorted(sys.modules),
        "linecache": sorted(linecache.cache),
        "threads": threading.active_count(),
        "files": len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0,
        "recursion limit": sys.getrecursionlimit(),
    }


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    convert_and_drop(5)
    before = state()
    convert_and_drop(50)
    assert state() == before
    assert list(tmp_path.iterdir()) == []


def memory(work, rounds):
    """The bytes in use after each round of some work."""
    tracemalloc.start()
    try:
        used = []
        for _ in range(rounds):
            work()
            gc.collect()
            used.append(tracemalloc.get_traced_memory()[0])
        return used
    finally:
        tracemalloc.stop()


def test_memory_is_steady():
    """What is converted is gone when dropped: 50 conversions take some 250 KB; a leak would, in every round.

    Of Python, a table may grow in some round: of interned strings, or of the methods that were looked up last.
    """
    convert_and_drop(20)
    used = memory(lambda: convert_and_drop(50), 6)
    assert min(after - before for before, after in zip(used, used[1:])) < 10_000, used


def test_instances_of_one_conversion_cost_no_more_memory():
    """Thousands of closures: converted once, and gone with their last reference."""
    closure = staging.execute(PROGRAM.format(n=1))["closure"]

    def work():
        for n in range(2000):
            assert ag.to_graph(closure(n))(1) == n

    work()
    used = memory(work, 3)
    assert used[-1] - used[0] < 5_000, used


def test_running_converted_code_keeps_nothing():
    function = ag.to_graph(staging.execute(PROGRAM.format(n=1))["f1"])
    boom = ag.to_graph(staging.execute("def f(x):\n    for i in range(3):\n        if i == x:\n            i / 0")["f"])

    def work():
        for _ in range(500):
            function(1)
            try:
                boom(0)
            except ZeroDivisionError:
                pass

    work()
    used = memory(work, 3)
    assert used[-1] - used[0] < 5_000, used


def test_errors_do_not_keep_what_was_converted():
    hidden = eval("lambda: 0")
    for _ in range(3):
        with pytest.raises(ag.errors.SourceError):
            ag.to_graph(hidden)
    alive = weakref.ref(hidden.__code__)
    del hidden
    gc.collect()
    assert alive() is None


def test_callees_without_source_may_go():
    hidden = eval("lambda x: x", {"__name__": "hidden"})
    caller = ag.convert(staging.execute("def f(g, x):\n    return g(x)")["f"])
    assert staging.Trace(caller, hidden, 5).result == 5
    alive = weakref.ref(hidden.__code__)
    del hidden
    gc.collect()
    assert alive() is None
