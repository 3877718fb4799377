"""What runs in Python first: loops in pieces of any length, and as machine code from any iteration on; kernels."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import autograph as ag
from autograph.errors import EngineError
from autograph.runtime.engines.native.loops import region, tiering
from autograph.runtime.engines.native.loops.compiled_region import CompiledRegion
from tests import outcomes
from tests.runtime.engines.native.benchmark_loops import LOOPS

NEVER = 10**9


@pytest.fixture
def patience(monkeypatch):
    """Set how many pieces run in Python before there is machine code, and how many iterations the first has."""

    def set(pieces, first=1):
        clock = itertools.count()
        monkeypatch.setattr(tiering, "budget", SimpleNamespace(wall_time=clock.__next__))
        monkeypatch.setattr(tiering, "PATIENCE", pieces)
        monkeypatch.setattr(tiering, "FIRST", first)

    return set


def regions(function):
    executables = [trace.executable for trace in function.traces if trace.engine == "native"]
    return [region for each in executables for region in each.native.every]


@pytest.mark.parametrize("pieces", [1, 2, 4, NEVER])
@pytest.mark.parametrize("name", LOOPS)
def test_same_as_python(name, pieces, patience):
    plain, examples = LOOPS[name]
    patience(pieces)
    function = ag.function(plain, engine="auto")
    for arguments in (*examples, *reversed(examples)):
        wanted, found = (outcomes.run(each, arguments, {"np": np}) for each in (plain, function))
        assert found == wanted, arguments
        assert found.raised_at == wanted.raised_at, arguments
    assert pieces < NEVER or not any(each.versions for each in regions(function))


def total(xs, n):
    found = 0.0
    for i in range(n):
        for x in xs:
            found += x * i
    return found


def test_what_is_told(patience):
    patience(2)
    function, args = ag.function(total, engine="auto"), (np.arange(9.0), 1)
    assert function(*args) == total(*args)
    text = str(function.explain(*args))
    assert "engine native: loops and operations on arrays become machine code when that pays" in text
    assert "this loop runs in Python; when that has taken 5 ms, it will be machine code" in text
    function(np.arange(9.0), 20)
    assert str(function.explain(*args)).count("this loop is machine code, compiled in") == 2
    assert len(regions(function)) == 2 and "loop" in function.lower(*args).asm


def test_statements_on_small_arrays_run_in_python_first(patience):
    def function(x, y):
        x[1:] += y[:-1]
        y[::2] *= 0.5
        x -= y
        return x + y, x[0]

    patience(1)     # four calls, see `tiering.WORTH`
    given, other = ([np.arange(6.0), np.ones(6)] for _ in range(2))
    staged = ag.function(function, engine="auto")
    for call in range(8):
        assert repr(staged(*given)) == repr(function(*other)) and repr(given) == repr(other)
        assert any(each.versions for each in regions(staged)) == (call >= 4)
    assert "are one piece of machine code" in str(staged.explain(*given))


def test_a_loop_of_many_iterations_becomes_machine_code_before_it_ends(patience):
    patience(3, first=4)
    function = ag.function(total, engine="auto")
    assert function(np.arange(3.0), 1000) == total(np.arange(3.0), 1000)
    outer = regions(function)[0]
    assert outer.compiled and not outer.left


def looked_up(table, n):
    """The items are of several types, of which a few examples tell one."""
    found = 0.0
    for i in range(n):
        k = i % 2
        found += table[k, 0] * i + table[k, 1] * table[k, 2]
    return found


def test_another_version_begins_when_python_has_taken_as_long_as_compiling(patience, monkeypatch):
    """Machine code is left at the first item of another type, and compiled again."""
    patience(2)
    compiled = []

    def compile(made, inputs):
        compiled.append((made.spent, max(made.taken.values())))
        return CompiledRegion(made, inputs)

    clock = itertools.count(0, 5)       # seconds of compiling
    monkeypatch.setattr(region, "time", SimpleNamespace(perf_counter=clock.__next__))
    monkeypatch.setattr(region, "CompiledRegion", compile)
    table = {(k, j): k + j / 4 if k == 0 else np.float64(j) for k in range(2) for j in range(3)}
    function = ag.function(looked_up, engine="auto")
    for _ in range(10):
        assert function(table, 40) == looked_up(table, 40)
    assert len(compiled) > 1
    assert all(taken >= max(2, spent) for spent, taken in compiled)


def test_a_short_loop_stays_in_python():
    function = ag.function(total, engine="auto")
    assert function(np.arange(3.0), 2) == total(np.arange(3.0), 2)
    assert not any(each.versions for each in regions(function))


@pytest.mark.parametrize(("plain", "x"), [(lambda x: x * x + x, 2.0), (lambda x: np.roll(x + 1, 1) * 2, np.ones(3))])
def test_what_cannot_be_machine_code_is_run_by_numpy(plain, x):
    function = ag.function(plain, engine="auto")
    assert np.array_equal(function(x), plain(x))
    assert "runs on the engine numpy: no loop or operation here could become machine code" in str(function.explain(x))


def visited(n):
    seen = []

    def visit(k):
        if len(seen) < n:
            seen.append(k)
            visit(k * 3 % 7)

    visit(1)
    return seen


def test_a_function_that_only_calls_a_helper_which_calls_itself_is_left_to_the_native_engine():
    function = ag.function(visited, engine="auto")
    for n in (5, 0, 12):
        assert function(n) == visited(n)
    assert "runs on the engine native" in str(function.explain(5))


def hypotenuse(x, y):
    return np.sqrt(x * x + y * y)


@pytest.mark.parametrize("faster", [True, False])
def test_operations_on_arrays_are_numpys_until_machine_code_is_faster(faster, patience, monkeypatch):
    patience(1)
    taken = {"python": 2.0, "compute": 1.0 if faster else 3.0}
    monkeypatch.setattr(tiering, "_seconds", lambda work, inputs: taken[work.__name__])
    function, args = ag.function(hypotenuse, engine="auto"), (np.arange(5.0), np.ones(5))
    for _ in range(tiering.WORTH):
        assert np.array_equal(function(*args), hypotenuse(*args))
        (kernel,) = function.traces[0].executable.native.kernels
        assert not kernel.versions
        assert "4 operations on arrays are NumPy's; when that has taken" in str(function.explain(*args))
    for _ in range(3):
        assert np.array_equal(function(*args), hypotenuse(*args))
    assert len(kernel.compiled) == faster
    told = "are one loop of machine code" if faster else "are NumPy's, for these are as fast"
    assert f"4 operations on arrays {told}" in str(function.explain(*args))
    others = np.arange(6.0).reshape(2, 3), np.ones((2, 3))[:, ::-1]
    assert np.array_equal(function(*others), hypotenuse(*others))


def test_one_measurement_does_not_decide(patience, monkeypatch):
    patience(1)
    taken = {"python": iter([8.0, 8.0, 8.0]), "compute": iter([9.0, 2.0, 2.0])}
    monkeypatch.setattr(tiering, "_seconds", lambda work, inputs: next(taken[work.__name__]))
    function, args = ag.function(hypotenuse, engine="auto"), (np.arange(5.0), np.ones(5))
    for _ in range(tiering.WORTH + 1):
        function(*args)
    assert function.traces[0].executable.native.kernels[0].compiled


def test_kernels_in_loops_are_on_trial(patience):
    def grown(x, iterations):
        for _ in range(iterations):
            x = np.where(x > 3, np.exp(x) / 20, x + 1)
        return x

    patience(2)
    function, x = ag.function(grown, engine="auto"), np.linspace(0, 4, 5000)
    for iterations in (3, 50, 3):
        assert np.array_equal(function(x, iterations), grown(x, iterations))
    assert any(kernel.compiled for kernel in function.traces[0].executable.native.kernels)


def test_without_llvmlite(monkeypatch):
    monkeypatch.setattr("autograph.runtime.dispatch.options.can_compile", lambda: False)
    function = ag.function(total, engine="auto")
    assert function(np.arange(3.0), 9) == total(np.arange(3.0), 9)
    told = str(function.explain(np.arange(3.0), 9))
    assert "runs on the engine numpy: llvmlite is not installed, which makes machine code" in told


@pytest.mark.parametrize("error", [EngineError("an unknown build"), ImportError("it is broken"), OSError("no library")])
def test_where_llvmlite_is_of_no_use(error, patience, monkeypatch):
    def binding():
        raise error

    patience(1)
    monkeypatch.setattr(tiering, "binding", binding)
    function, args = ag.function(total, engine="auto"), (np.arange(3.0), 9)
    for _ in range(2):
        assert function(*args) == total(*args)
    assert f"this loop stays in Python: this cannot become machine code: {error}" in str(function.explain(*args))
    function, args = ag.function(hypotenuse, engine="auto"), (np.arange(5.0), np.ones(5))
    for _ in range(tiering.WORTH + 2):
        assert np.array_equal(function(*args), hypotenuse(*args))
    assert f"are NumPy's, for this cannot become machine code: {error}" in str(function.explain(*args))


def test_the_environment_names_the_engine(monkeypatch):
    pays = "native: loops and operations on arrays become machine code when that pays"
    for name, wanted in (("native", "native: asked for by AUTOGRAPH_ENGINE"), ("", pays)):
        monkeypatch.setenv("AUTOGRAPH_ENGINE", name)
        assert f"runs on the engine {wanted}" in str(ag.function(total).explain(np.arange(3.0), 9))
    monkeypatch.setenv("AUTOGRAPH_ENGINE", "native")
    assert "numpy: asked for by engine=" in str(ag.function(total, engine="numpy").explain(np.arange(3.0), 9))
    monkeypatch.setenv("AUTOGRAPH_ENGINE", "gpu")
    with pytest.raises(ValueError, match="AUTOGRAPH_ENGINE: there is no engine 'gpu'; the engines are 'auto', 'numpy'"):
        ag.function(total)
