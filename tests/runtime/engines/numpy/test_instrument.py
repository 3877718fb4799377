"""Generated functions that time their nodes: their text, and that ticks change neither order nor lifetimes."""


import gc
import re
import weakref

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.numpy.engine import Executable, text_of
from autograph.runtime.engines.numpy.instrument import instrumented
from tests import outcomes
from tests.test_staged_corpus import ENTRIES


def text(function, *args):
    """The instrumented text of a function, with the operation in place of its number."""
    staged = ag.function(function, engine="numpy")
    staged(*args)
    made = staged.traces[0].executable
    assert made.source
    found = text_of(instrumented(made._tree, made._marks)).replace("<run>", "run").replace("<begin>", "begin")
    return re.sub(r"(tick|also)\((\d+)", lambda call: f"{call[1]}({made._marks[int(call[2]) - 1].op}", found).rstrip()


def test_expressions_and_statements():
    def f(x, y):
        z = x * y + 1
        x[0] = z.sum()
        return np.sin(z)

    assert text(f, np.ones(2), np.ones(2)) == "\n".join([
        "def f(x, y):",
        "    run = begin()",
        "    try:",
        "        z = run.tick(mul, x * y) + 1",
        "        run.tick(add)",
        "        x[0] = run.tick(.sum, z.sum())",
        "        run.tick(setitem)",
        "        return run.tick(np.sin, np.sin(z))",
        "    finally:",
        "        run.end()",
    ])  # fmt: skip


def test_loops_tick_in_each_iteration():
    def f(xs):
        total = 0
        for x in xs:
            total += x
        while total > 10:
            total = total - 3
        return total

    found = text(f, np.arange(9))
    assert found.count("run.tick") >= 4 and "run.also" in found
    ticking = ag.function(f, engine="numpy")
    with ag.profile() as p:
        assert ticking(np.arange(9)) == f(np.arange(9))
    counts = {node.op: node.calls for node in p.nodes}
    assert (counts["for"], counts["gt"], counts["sub"]) == (9, 10, 9)


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_objects_live_as_long_as_without(engine):
    if engine == "native":
        pytest.importorskip("llvmlite")
    ends = []

    class Thing:
        def __init__(self, name):
            self.name = name
            weakref.finalize(self, ends.append, name)

    @ag.do_not_convert
    def make(name):
        return Thing(name)

    @ag.do_not_convert
    def note(name):
        ends.append(name)

    def f(x):
        thing = make("a")
        note("between")
        thing = make("b")
        note(thing.name)
        return x + 1

    def order(function):
        ends.clear()
        function(1)
        return [*ends]

    gc.disable()
    try:
        staged = ag.function(f, engine=engine)
        plain, without = order(f), order(staged)
        with ag.profile():
            within = order(staged), order(staged)
    finally:
        gc.enable()
    assert plain == without == within[0] == within[1]


def test_large_intermediate_results_are_reused_as_without():
    """NumPy computes into an operand that nothing else refers to, so a tick must not keep one."""
    x = np.ones(1 << 16)
    seen = []

    @ag.do_not_convert
    def address(y):
        seen.append(y.__array_interface__["data"][0])
        return y

    f = ag.function(lambda x: address(x * 2) + 1, engine="numpy")
    f(x)
    with ag.profile():
        f(x)
        assert f(x)[0] == 3


def test_variables_in_tracebacks():
    def failing(x, n):
        doubled = x * 2
        return doubled[n] + 1

    f = ag.function(failing, engine="numpy")

    def shown():
        with pytest.raises(IndexError) as caught:
            f(np.ones(2), 5)
        entry = caught.tb
        while entry.tb_next is not None:
            entry = entry.tb_next
        return entry.tb_lineno, sorted(entry.tb_frame.f_locals), entry.tb_frame.f_code.co_name

    without = shown()
    with ag.profile():
        within = [shown(), shown()]
    assert within == [without] * 2 and "doubled" in without[1]


@pytest.mark.parametrize("entry", ENTRIES[::12], ids=str)
def test_code_from_disk_is_made_again_as_it_was(entry):
    """The names in instrumented code are those of the globals that were on disk."""
    function = ag.function(entry.function, engine="numpy")
    for arguments in entry.calls:
        outcomes.run(function, arguments, vars(entry.module))
    for trace in function.traces:
        made = trace.executable
        if made is None or not made._codes:
            continue
        loaded = Executable.__new__(Executable)
        *parts, outer = made.__getstate__()
        loaded.__setstate__((*parts, outer.names))
        again = loaded._compiled(loaded._made_tree())
        assert (again.co_code, again.co_names) == (made._code.co_code, made._code.co_names)
