"""What the benchmarks measure gives the right answers."""

import argparse
import copy
import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.once
BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def staged():
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield importlib.import_module("staged")
    finally:
        sys.path.remove(str(BENCHMARKS))
        for path in BENCHMARKS.glob("*.py"):
            sys.modules.pop(path.stem, None)


@pytest.mark.parametrize(
    "name", [*"collatz mandelbrot_of_arrays rnn k_means k_means_by_matmul beam_search matmuls".split(), "rnn, 256 wide"]
)
def test_all_ways_give_the_answer_of_plain_python(staged, name):
    works = staged.ways(name, staged.arguments()[name], {})
    assert [*works][:2] == ["plain Python", "ag.function"]


def test_the_twenty_lines_and_the_operations(staged):
    import autograph as ag

    arguments = 5.0, 2.0, 1e-9, 100
    assert ag.function(staged.numeric.newton)(*arguments) == staged.numeric.newton(*arguments)
    assert ag.function(staged.numeric.ops_100)(1.5) == staged.numeric.ops_100(1.5)


def test_durations(staged):
    assert [*map(staged.duration, (2.5, 0.0123, 4.5e-5, 3e-8))] == ["2.5 s", "12.3 ms", "45 µs", "30 ns"]


@pytest.mark.parametrize("name", ["rnn", "lbfgs", "maml", "mlp"])
def test_gradients_are_those_by_hand(staged, name):
    training = importlib.import_module("training")
    works = training.ways(name, training.trained.arguments()[name], {})
    assert [*works] == [*training.ENGINES, "by hand"]


def test_whole_arrays_are_those_of_numpy_and_nearly_those_of_c(staged, tmp_path):
    pytest.importorskip("llvmlite")
    import autograph as ag

    arrays = importlib.import_module("arrays")
    others = {"C": arrays.in_c(tmp_path)}
    for name, _, args in arrays.WORK:
        if args[0].size <= 10**6:
            arrays.ways(name, ag.function(arrays.PLAIN[name], engine="native"), args, others)


def test_scalar_loops_are_those_of_python_and_nearly_those_of_c(staged, tmp_path):
    pytest.importorskip("llvmlite")
    import autograph as ag

    native = importlib.import_module("native")
    native.WORK = {name: (title, native.SMALL.get(name, args)) for name, (title, args) in native.WORK.items()}
    others = {"C": native.in_c(tmp_path)}
    for name in native.WORK:
        native.times(name, ag.function(getattr(native.loops, name), engine="native"), others, 1)


@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
@pytest.mark.parametrize("module", ["recipes", "further", "classes"])
def test_everyday_functions_give_the_answers_of_plain_python(staged, engine, module):
    import autograph as ag

    if engine == "native":
        pytest.importorskip("llvmlite")
    recipes = importlib.import_module(module)
    for name, sizes in recipes.ARGUMENTS.items():
        plain = getattr(recipes, name)
        function = ag.function(plain, engine=engine)
        for args in sizes:
            expected, actual = (each(*copy.deepcopy(args)) for each in (plain, function))
            assert type(actual) is type(expected), name
            np.testing.assert_equal(actual, expected, name)


PROGRAMS = "pi_by_random", "snakes_and_ladders", "sudoku", "quicksort", "planets", "dice", "moons"


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_as_people_write_them_give_the_answers_of_plain_python(staged, name):
    pytest.importorskip("llvmlite")
    as_written = importlib.import_module("as_written")
    program = next(each for each in as_written.programs() if each.function.__name__ == name)
    assert {"plain", "default", "native"} <= as_written.measured(program, 1).keys()


def test_kernels_beside_peers(staged, tmp_path, capsys, monkeypatch):
    """A kernel as Pythran's tests have them: measured in a process of its own, beside what is installed."""
    pytest.importorskip("llvmlite")
    monkeypatch.setenv("AUTOGRAPH_CACHE", "0")      # which it sets; other tests want it back
    real_peers = importlib.import_module("real_peers")
    cases = tmp_path / "pythran" / "pythran" / "tests" / "cases"
    cases.mkdir(parents=True)
    lines = ["#pythran export dot(float list, float list)", "#runas dot([1.0, 2.0] * 50, [3.0] * 100)"]
    lines += ["def dot(a, b):", "    s = 0.0", "    for x, y in zip(a, b):", "        s += x * y", "    return s"]
    (cases / "dot.py").write_text("\n".join(lines) + "\n")
    options = argparse.Namespace(sources=tmp_path, only="", limit=None)
    (found,) = real_peers.results(real_peers.kernels(options))
    assert {"plain", "native"} <= found["later"].keys(), found
    real_peers.report([found, {"name": "other", "failed": "it takes long"}])
    said = capsys.readouterr().out
    assert "pythran dot: dot" in said and "FAILED other: it takes long" in said
    types = [np.zeros((2, 3), np.float32), 1, [2.0], (True, np.int8(3))]
    assert [*map(real_peers.pythran_type, types)] == ["float32[:,:]", "int", "float list", "(bool, int8)"]


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_expressions_give_the_results_of_numpy(staged, engine):
    import autograph as ag

    if engine == "native":
        pytest.importorskip("llvmlite")
    expressions = importlib.import_module("expressions")
    for program in expressions.PROGRAMS:
        function = ag.function(program, engine=engine)
        for size in (30, 3000, 4000):
            args, others = expressions.arguments(size), expressions.arguments(size)
            np.testing.assert_equal((function(*args), *args), (program(*others), *others), program.__name__)


def test_serving_says_what_it_needs():
    pytest.importorskip("safetensors")
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / "serving.py")],
        env={**os.environ, "PATH": "", "PYTHONPATH": str(BENCHMARKS.parent)},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "skipped: wrk is not installed (apt-get install wrk, brew install wrk)\n"
