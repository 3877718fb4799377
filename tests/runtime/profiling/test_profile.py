"""`ag.profile`: times by function, line and node, on each engine; and what it must not change."""

import gc
import json
import linecache
import threading
import time
import weakref

import numpy as np
import pytest

import autograph as ag
from autograph.common import budget
from autograph.runtime.profiling import recorder

HERE = __file__
ENGINES = ["numpy", "native"]


def line_of(text):
    """The number of the line of this file that begins with a text."""
    lines = linecache.getlines(HERE)
    return next(number for number, line in enumerate(lines, 1) if line.strip().startswith(text))


def calls_by_source(profile, engine):
    return {line.source: line.calls for line in profile.lines if line.engine == engine}


@ag.do_not_convert
def sleep(seconds):
    time.sleep(seconds)


def slowly(x):
    sleep(0.01)                                 # in a helper
    return x


def in_lines(x, n):
    y = np.sin(x) + 1
    for i in range(n):
        y = y * x + i                           # n times
    return slowly(y).sum()


def test_lines_on_the_numpy_engine():
    f, x = ag.function(in_lines, engine="numpy"), np.ones(10)
    f(x, 2)
    with ag.profile() as p:
        for _ in range(3):
            f(x, 4)
    assert calls_by_source(p, "NumPy") == {
        "y = np.sin(x) + 1": 3,
        "for i in range(n):": 12,
        "y = y * x + i                           # n times": 12,
        "return slowly(y).sum()": 3,
    }
    slowest = p.lines[0]
    assert (slowest.line, slowest.function, slowest.engine) == (line_of("sleep(0.01)"), "slowly", "Python")
    assert slowest.calls == 3 and slowest.seconds > 0.03 and slowest.file == HERE
    caller = next(each for each in p.lines if each.source.startswith("return slowly"))
    assert caller.total > slowest.total > caller.seconds        # its own time is that of `sum`


def only_calls(x):
    return slowly(x)                            # calls


def test_a_line_that_only_calls_others():
    f = ag.function(only_calls, engine="numpy")
    with ag.profile() as p:
        f(np.ones(3))
    line = next(each for each in p.lines if each.source.startswith("return slowly(x) "))
    assert (line.engine, line.seconds, line.calls) == ("", 0, 0) and line.total > 0.01


def test_nodes():
    f = ag.function(in_lines, engine="numpy")
    with ag.profile() as p:
        f(np.ones(3), 5)
    counts = sorted((node.op, node.calls) for node in p.nodes)
    once = [("add", 1), ("call sleep", 1), ("np.sin", 1), ("range", 1)]
    assert [each for each in counts if "sum" not in each[0]] == sorted([*once, ("add", 5), ("for", 5), ("mul", 5)])
    sleeping = p.nodes[0]
    assert sleeping.op == "call sleep" and [place.function for place in sleeping.places] == ["in_lines", "slowly"]
    assert all(node.nodes for node in p.nodes)


def test_machine_code_is_one_line_for_a_loop():
    pytest.importorskip("llvmlite")

    @ag.function(engine="native")
    def count(n):
        total = 0
        for i in range(n):                      # the loop
            if i % 3 == 0:
                total += i
        return total

    with ag.profile() as p:
        assert [count(1000), count(2000)] == [166833, 666333]
    (loop,) = (each for each in p.lines if each.engine == "machine code")
    first = line_of("for i in range(n):                      # the loop")
    assert (loop.line, loop.last_line, loop.calls) == (first, first + 2, 2)
    assert [each.calls for each in p.lines if each.engine == "compiling" and each.line == first]


def test_operations_on_arrays_that_are_one_kernel():
    pytest.importorskip("llvmlite")

    @ag.function(engine="native")
    def f(x):
        y = x * 2                               # the kernel
        return np.sqrt(y + 1)

    with ag.profile() as p:
        f(np.arange(100_000.0))
    kernel = next(node for node in p.nodes if node.engine == "machine code")
    assert kernel.op == "mul, add, np.sqrt" and len(kernel.nodes) == 3
    line = next(each for each in p.lines if each.engine == "machine code")
    first = line_of("y = x * 2                               # the kernel")
    assert (line.line, line.last_line) == (first, first + 1)


@pytest.mark.usefixtures("default_engine")
def test_tier_0_is_the_first_line_of_the_function():
    @ag.function
    def plain(n):       # tier 0
        return [i for i in range(n)]

    with ag.profile() as p:
        plain(3), plain(4)
    (line,) = p.lines
    assert (line.engine, line.calls, line.source) == ("Python", 2, "def plain(n):       # tier 0")
    assert [(each.calls, each.staged_calls) for each in p.functions] == [(2, 0)]
    assert p.nodes == []


@pytest.mark.usefixtures("default_engine")
def test_the_tier_is_that_without_a_profile():
    """A function is promoted while it is profiled, and its calls are then those of a graph."""

    @ag.function
    def collatz(n):
        steps = 0
        while n != 1:
            n = n // 2 if n % 2 == 0 else 3 * n + 1
            steps += 1
        return steps

    with ag.profile() as p:
        begin, tier = time.perf_counter(), 0
        while tier == 0 and time.perf_counter() - begin < 20:
            assert {collatz(837799) for _ in range(100)} == {524}
            tier = collatz.explain(837799).summary.tier
    (function,) = p.functions
    assert 0 < function.staged_calls < function.calls
    assert {"Python", "entering"} <= {line.engine for line in p.lines}


@pytest.mark.parametrize("engine", ENGINES)
def test_an_exception_half_way(engine):
    if engine == "native":
        pytest.importorskip("llvmlite")

    def check(x, i):
        y = x + 1
        sleep(0.01)
        return y[i]                             # raises

    f = ag.function(check, engine=engine)
    with ag.profile() as p:
        f(np.ones(2), 1)
        with pytest.raises(IndexError):
            f(np.ones(2), 2)
    assert recorder._local.state.top is None
    counts = {each.source: each.calls for each in p.lines if each.source and each.engine != "entering"}
    assert counts["y = x + 1"] == counts["sleep(0.01)"] == 2
    assert counts["return y[i]                             # raises"] == 1


def test_the_operation_that_raises_has_its_time():
    @ag.do_not_convert
    def fail():
        time.sleep(0.02)
        raise LookupError

    def failing(x):
        y = x + 1
        fail()                                  # slowly
        return y

    with ag.profile() as p, pytest.raises(LookupError):
        ag.function(failing, engine="numpy")(np.ones(2))
    assert next(line for line in p.lines if line.source.startswith("fail()")).seconds > 0.02


def test_staged_functions_within_others_and_recursion():
    @ag.function(engine="numpy")
    def inner(n):
        return down(n - 1) if n else 0          # recursion

    @ag.do_not_convert
    def down(n):
        time.sleep(0.005)
        return inner(n)

    @ag.function(engine="numpy")
    def outer(n):
        return down(n) + 1                      # outermost

    with ag.profile() as p:
        assert outer(3) == 1
    times = {each.function.rpartition(".")[2]: each for each in p.functions}
    assert times["inner"].calls == 4 and times["outer"].calls == 1
    assert times["inner"].total > 0.015 and times["outer"].seconds > 0.005
    assert times["outer"].total == pytest.approx(times["outer"].seconds + times["inner"].total)
    assert p.seconds > times["outer"].total
    assert sum(each.seconds for each in p.functions) == pytest.approx(times["outer"].total)


def test_threads_have_stacks_of_their_own():
    f = ag.function(in_lines, engine="numpy")
    f(np.ones(3), 2)
    with ag.profile() as p:
        threads = [threading.Thread(target=f, args=(np.ones(3), 2), name=f"worker {n}") for n in range(3)]
        for thread in threads:
            thread.start()
        f(np.ones(3), 2)
        for thread in threads:
            thread.join()
    assert {thread.name for thread in p.threads} >= {"worker 0", "worker 1", "worker 2", "MainThread"}
    assert p.lines[0].calls == 4
    assert {event.thread[0] for event in p.events} == {thread.name for thread in p.threads}


def test_profiles_in_one_another_and_after_one_another():
    f = ag.function(lambda x: x + 1, engine="numpy")
    with ag.profile() as outer:
        f(1)
        with ag.profile() as inner:
            f(2), f(3)
        f(4)
    f(5)
    counts = [next(each.calls for each in p.nodes if each.op == "add") for p in (outer, inner)]
    assert counts == [4, 2]
    assert [function.calls for p in (outer, inner) for function in p.functions] == [4, 2]


def test_a_profile_adds_up_and_decorates():
    p = ag.profile()
    f = ag.function(lambda x: x + 1, engine="numpy")

    @p
    def work(n):
        if n:
            f(n)
            work(n - 1)

    work(2)
    assert [each.calls for each in p.functions] == [2]
    work(1)
    assert [each.calls for each in p.functions] == [3]


def test_without_lines():
    f = ag.function(in_lines, engine="numpy")
    with ag.profile(lines=False) as p:
        f(np.ones(3), 2)
    assert p.nodes == [] and p.functions[0].calls == 1


def test_afterwards_everything_is_as_before():
    f = ag.function(in_lines, engine="numpy")
    f(np.ones(3), 2)
    run = f.traces[0].executable.run
    before = f.__call__.__code__, run.__code__
    with ag.profile():
        f(np.ones(3), 2)
        assert run.__code__ is not before[1]
    assert (f.__call__.__code__, run.__code__) == before


def test_only_what_runs_is_instrumented():
    f, g = (ag.function(lambda x: x + 1, engine="numpy") for _ in range(2))
    f(1), g(1)
    with ag.profile():
        f(1)
    assert f.traces[0].executable._instrumented is not None and g.traces[0].executable._instrumented is None


def test_functions_and_graphs_are_collected():
    f = ag.function(lambda x: x + 1, engine="numpy")
    with ag.profile() as p:
        f(1)
        gone = weakref.ref(f.traces[0].executable)
        del f
    gc.collect()
    assert gone() is None and len(p.nodes) == 1


def test_a_profile_of_a_part_of_a_call():
    """It begins and ends within the run of a graph, which goes on as it is."""
    p = ag.profile()

    @ag.do_not_convert
    def begin():
        p.__enter__()

    @ag.do_not_convert
    def end():
        p.__exit__()

    inner = ag.function(lambda x: x * 3, engine="numpy")

    @ag.do_not_convert
    def between(x):
        return inner(x)

    @ag.function(engine="numpy")
    def whole(x):
        begin()
        y = between(x) + 1
        end()
        return y

    assert whole(2) == 7 and not recorder.is_on("graphs")
    assert [each.calls for each in p.functions] == [1]
    assert whole(2) == 7


def test_saved_traces_are_not_instrumented():
    f = ag.function(in_lines, engine="numpy")
    f(np.ones(3), 2)
    made = f.traces[0].executable
    with ag.profile():
        f(np.ones(3), 2)
        _, code, names, *_ = made.__getstate__()
    assert code == made.__getstate__()[1] and not {"<begin>", "<first>"} & set(names)


def test_table_and_json(tmp_path):
    f = ag.function(in_lines, engine="numpy")
    with ag.profile() as p:
        f(np.ones(3), 2)
    title, empty, header, first, *_ = str(p).splitlines()
    assert "in 1 staged function" in title and not empty
    assert header.split() == ["time", "share", "total", "calls", "by", "line"]
    assert first.endswith(p.lines[0].source) and "%" in first
    assert p.table(top=1).splitlines()[-1] == f"... and {len(p.lines) - 1} more lines"
    found = json.loads(p.to_json())
    assert found["version"] == 1 and found["seconds"] == p.seconds
    assert [each["line"] for each in found["lines"]] == [each.line for each in p.lines]
    assert {each["op"] for each in found["nodes"]} == {each.op for each in p.nodes}
    assert found["functions"][0]["function"] == "in_lines"
    p.save(tmp_path / "times.txt")
    assert (tmp_path / "times.txt").read_text() == p.table(top=0) + "\n"
    p.save(tmp_path / "times.json")
    assert json.loads((tmp_path / "times.json").read_text()) == found


def test_nothing_was_called():
    with ag.profile() as p:
        pass
    assert p.lines == p.nodes == p.functions == p.events == []
    assert "in graphs" in str(p) and len(str(p).splitlines()) == 1
    assert json.loads(p.to_json())["lines"] == []


def test_the_tiers_do_not_count_the_time_of_the_profile(monkeypatch):
    """They compare calls by `budget.own_time`; so a graph does not seem slow because it is profiled."""
    work, note = 0.02, recorder.State.note

    def slow(*args):
        begin = time.thread_time()
        while time.thread_time() - begin < work:
            pass
        note(*args)

    f = ag.function(lambda x: (x + 1) * 2 - 3, engine="numpy")
    f(1)
    with ag.profile() as p:
        monkeypatch.setattr(recorder.State, "note", slow)   # only now: the profile begins by measuring its own time
        f(1)
        begin, whole = budget.own_time(), time.thread_time()
        f.traces[0].entry(1)        # as a trial does
        own, whole = budget.own_time() - begin, time.thread_time() - whole
    assert {node.op: node.calls for node in p.nodes} == {"add": 2, "mul": 2, "sub": 2}
    assert own < work < 3 * work < whole
