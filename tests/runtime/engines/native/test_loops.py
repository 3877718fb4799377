"""What machine code computes is what Python computes, and it is left where it should be, and only there."""

import fractions

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.dispatch import specialize
from autograph.runtime.engines.native import short_calls
from tests import outcomes
from tests.runtime.engines.native.benchmark_loops import LOOPS
from tests.runtime.engines.native.programs import regions

EXAMPLES = [(name, arguments) for name, (_, examples) in LOOPS.items() for arguments in examples]
NAMES = {"np": np, "fractions": fractions}


def same(function, name, arguments):
    plain = LOOPS[name][0]
    wanted, found = outcomes.run(plain, arguments, NAMES), outcomes.run(function, arguments, NAMES)
    assert found == wanted
    assert found.raised_at == wanted.raised_at


@pytest.mark.parametrize("name", LOOPS)
def test_same_as_python(name):
    plain, examples = LOOPS[name]
    function = ag.function(plain, engine="native")
    for arguments in (*examples, *reversed(examples)):
        same(function, name, arguments)


@pytest.mark.parametrize("name", LOOPS)
def test_left_anywhere(name, fuel):
    """Whatever node it is left at, Python goes on as if nothing had happened."""
    plain, examples = LOOPS[name]
    function = ag.function(plain, engine="native")
    fuel.value = -1
    same(function, name, examples[0])
    for nodes in (*range(1, 40), *range(40, 400, 7)):
        fuel.value = nodes
        same(function, name, examples[0])
        if fuel.value > 0:
            break


@pytest.mark.parametrize("name", ["collatz", "edit_distance", "sieve", "lu", "heap_sort", "lorenz", "mandelbrot"])
def test_not_left(name):
    plain, examples = LOOPS[name]
    function = ag.function(plain, engine="native")
    same(function, name, examples[0])
    assert any(region.compiled for region in regions(function))
    assert not any(region.left or region.reasons for region in regions(function))


def test_a_type_for_each_iteration():
    function = ag.function(LOOPS["widening"][0], engine="native")
    same(function, "widening", "np.arange(20.0)")
    assert not regions(function)[0].left


def test_what_it_tells():
    def total(xs, n):
        found = 0
        for i in range(n):
            found += xs[i] // (n - i - 2)
        words = []
        for i in range(n):
            words.append(f"{i}")
        for i in range(n):
            found += len(np.linspace(0, 1, i)) * i
        return found, words

    function = ag.function(total, engine="native")
    args = np.arange(9), 9
    explanation = str(function.explain(*args).where(kind="native"))
    assert "this loop will be machine code, compiled when it is first run" in explanation
    with pytest.warns(RuntimeWarning):
        function(*args)
    explanation = str(function.explain(*args).where(kind=("native", "native_callback")))
    assert "this loop is machine code, compiled in" in explanation
    assert "machine code was left here for Python 1 time" in explanation
    assert "this loop stays in Python: all its operations call Python or NumPy" in explanation
    assert "`np.linspace` runs in Python, called by machine code" in explanation
    assert "i64 @loop" in function.lower(*args).llvm
    assert "ret" in function.lower(*args).asm


def test_left_too_often():
    def quotients(xs, n):
        found = 0.0
        for i in range(n):
            found = xs[i] / xs[i]
        return found

    function = ag.function(quotients, engine="native")
    for _ in range(10):
        with np.errstate(all="ignore"):
            assert np.isnan(function(np.zeros(50), 50))
    assert "it is left to Python too often" in str(function.explain(np.zeros(50), 50))


def test_no_machine_code_costs_nothing():
    """After some calls with what there is no machine code for, Python is called at once; answers stay the same."""
    plain, (example, *_) = LOOPS["widening"]
    function, number = ag.function(plain, engine="native"), "np.arange(5.0).astype(np.longdouble)"
    for _ in range(70):
        same(function, "widening", number)
    for arguments in (number, "[fractions.Fraction(1, 2), 2]", "[1, 2.5, 3j]"):
        same(function, "widening", arguments)
    (region, *_) = regions(function)
    assert region.reasons and not region.compiled and region.entry is region._python()


def test_tracebacks_show_the_program():
    def ratio(x, i):
        return x[i] // (3 - i)

    def ratios(x, n):
        found = 0
        for i in range(n):
            found += ratio(x, i)
        return found

    function = ag.function(ratios, engine="native")
    for _ in range(2):
        with pytest.raises(IndexError) as caught:
            function(np.arange(1, 3), 4)
        names = [entry.name for entry in caught.traceback]
        assert names[-2:] == ["ratios", "ratio"] and names.count("ratios") == 2     # the first on the dispatcher's line
        assert str(caught.traceback[-1].statement).strip() == "return x[i] // (3 - i)"


@pytest.mark.parametrize("engine", ["native", "auto"])
def test_integers_of_more_than_64_bits_are_left_to_python(engine):
    def gcd(a, b):
        while b:
            a, b = b, a % b
        return a

    function = ag.function(gcd, engine=engine)
    for _ in range(3):
        assert function(6 * 2**80, 4 * 2**80) == 2 * 2**80
    (region,) = regions(function)
    assert not region.versions
    assert "this loop ran in Python 3 times, for integers of more than 64 bits" in str(function.explain(1, 1))
    for a in (2**63, 2**63 - 1, -(2**63), -(2**63) - 1, 48):
        for b in (36, -(2**63), 2**64):
            assert function(a, b) == gcd(a, b)


@pytest.mark.parametrize("name, call", [
    ("collatz", "    steps = region(n, 0)\n"), ("partly_read", "    b = region(range(n), 1, 0, 2.5, xs)\n"),
    ("not_read", "    region("),
])  # fmt: skip
def test_no_objects_are_made_of_what_nobody_reads(name, call):
    plain, examples = LOOPS[name]
    function = ag.function(plain, engine="native")
    same(function, name, examples[0])
    assert call in function.traces[0].source


def test_signals_are_looked_at_behind_a_test_of_numbers():
    def halved(n, x):
        while n != 1:
            n = n // 2 + n % 2
        while n != x[0] and n != 7:
            n += 1
        return n

    function = ag.function(halved, engine="native")
    assert function(100, np.array([5])) == 5
    for region, behind in zip(regions(function), (True, False)):
        text = region.compiled[0].code.text
        assert (text.index("icmp ne i64") < text.index("call i32 @signals")) == behind


@pytest.mark.parametrize("name", LOOPS)
def test_the_same_when_loops_are_put_back(name):
    plain, examples = LOOPS[name]
    function = ag.function(plain, engine="native")
    same(function, name, examples[0])
    for trace in function.traces:
        for region in trace.executable.native.regions:
            region.when_given_up()
        assert "region" not in trace.source
    for arguments in (*examples, *reversed(examples)):
        same(function, name, arguments)


def test_dispatchers_run_what_is_made_anew(monkeypatch):
    monkeypatch.setattr(specialize, "MANY_CALLS", 3)
    monkeypatch.setattr(short_calls, "SHORT", 0.0)
    function = ag.function(LOOPS["collatz"][0], engine="native")
    for _ in range(5 + short_calls.TIMED):
        same(function, "collatz", "27")
    (trace,), (region,) = function.traces, regions(function)
    with_region = trace.executable.run
    assert function.__call__.__globals__["ag_run"] is with_region
    region.when_given_up()
    assert function.__call__.__globals__["ag_run"] is trace.executable.run is not with_region
    same(function, "collatz", "27")


def test_loops_that_are_given_up_are_comprehensions_again():
    def chosen(xs, limit):
        codes = [abs(x) for x in xs if f"{x}"]
        parts = [f"{x}" for x in xs]
        last = None
        for last in reversed(parts):
            limit = limit + len(last)
        return codes, parts, last, limit

    function = ag.function(chosen, engine="native")
    xs = [*range(300), 2**70]
    for _ in range(100):
        assert function(xs, 7) == chosen(xs, 7)
    (trace,) = function.traces
    assert 'codes = [abs(t1) for t1 in xs if f"{t1}"]' in trace.source and "region(xs" not in trace.source
    with pytest.raises(TypeError, match="bad operand type"):
        function([1, None, *xs], 7)
