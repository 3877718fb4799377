"""How benchmarks/real.py finds example calls in public code, and what it says of functions and of their results."""

import importlib
import json
import math
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.once

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture(scope="module")
def real():
    """Gives modules of the benchmark by name, and forgets them afterwards."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        yield lambda name: importlib.import_module(f"real_{name}")
    finally:
        sys.path.remove(str(BENCHMARKS))
        for path in BENCHMARKS.glob("*.py"):
            sys.modules.pop(path.stem, None)


def found(pairs):
    return [(name, example.setup, example.arguments) for name, example in pairs]


def test_a_doctest_gives_calls_of_the_function_after_the_statements_above(real):
    text = """Sum.

    >>> xs = [1, 2]
    >>> print(xs)
    [1, 2]
    >>> total(xs)
    3
    >>> round(total([0.1], scale=2), 3)
    0.2
    >>> total(None)
    Traceback (most recent call last):
    TypeError: …
    >>> [total([x]) for x in xs]
    [1, 2]
    """
    assert found(real("examples").of_docstring(text, "total")) == [
        ("total", "xs = [1, 2]\nprint(xs)", "xs"),
        ("total", "xs = [1, 2]\nprint(xs)", "[0.1], scale=2"),
    ]


def test_a_file_gives_the_doctests_of_its_undecorated_functions(real, tmp_path):
    file = tmp_path / "doubles.py"
    file.write_text(
        'import functools\ndef f(x):\n    """\n    >>> f(1)\n    2\n    """\n    return 2 * x\n'
        '@functools.cache\ndef g(x):\n    """\n    >>> g(1)\n    2\n    """\n    return 2 * x\n'
    )
    assert found(real("examples").of_doctests(file)) == [("f", "", "1")]


def test_runas_lines_give_the_calls_of_functions_of_the_file(real, tmp_path):
    file = tmp_path / "kernel.py"
    file.write_text(
        "#pythran export f(int)\n#runas import numpy as np; x = np.ones(3); f(x), g(x, 1)\n#runas: f(2)\n"
        "#bench n = 9; f(n)\ndef f(x):\n    pass\ndef g(x, y):\n    pass\n"
    )
    assert found(real("examples").of_runas(file)) == [
        ("f", "import numpy as np\nx = np.ones(3)", "x"),
        ("g", "import numpy as np\nx = np.ones(3)", "x, 1"),
        ("f", "", "2"),
        ("f", "n = 9", "n"),
    ]


def test_npbench_descriptions_give_the_call_of_the_smallest_size(real, tmp_path):
    file = tmp_path / "npbench/benchmarks/scale/scale_numpy.py"
    for folder in (file.parent, tmp_path / "bench_info"):
        folder.mkdir(parents=True)
    file.touch()
    info = {
        "module_name": "scale",
        "relative_path": "scale",
        "func_name": "kernel",
        "parameters": {"S": {"N": 4}, "M": {"N": 400}},
        "init": {"func_name": "initialize", "input_args": ["N"], "output_args": ["a", "x"]},
        "input_args": ["a", "x"],
    }
    (tmp_path / "bench_info/scale.json").write_text(json.dumps({"benchmark": info}))
    setup = "N = 4\nfrom scale import initialize\na, x = initialize(N)"
    assert found(real("examples").of_npbench(file)) == [("kernel", setup, "a, x")]


@pytest.fixture
def measured(real, tmp_path, monkeypatch):
    """Measures a function `f` of a text, called with an argument; roughly, but soon."""
    for name, few in {"WARM": (20, 0.0), "ENOUGH": 0.01, "ROUNDS": 2}.items():
        monkeypatch.setattr(real("calls"), name, few)

    def measure(text, argument):
        file = tmp_path / "public.py"
        file.write_text(text)
        example = real("examples").Example("xs = [3, 1, 2]", argument)
        return real("calls").measure(real("sources").Subject("test", tmp_path, file, "f", (example,)))

    return measure


def test_a_function_that_does_the_same_is_measured(measured):
    result = measured("def f(x):\n    for _ in range(3):\n        x = x * 2\n    return x\n", "2.5")
    assert result["differs"] == []
    assert not result["mutates"]
    assert result["loops"] == 1
    assert result["plain"] > 0
    assert result["ratio"] > 0
    assert result["whole"]


def test_changed_arguments_are_copied_for_each_call(measured):
    result = measured("def f(xs):\n    xs.append(len(xs))\n    return xs[3]\n", "xs")
    assert result["mutates"]
    assert result["differs"] == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("n = 0\ndef f(x):\n    global n\n    n += 1\n    return n\n", "does something else at each call"),
        ("def f(x):\n    raise ValueError(x)\n", "raises"),
        ("def f(x):\n    yield x\n", "no plain function"),
        ("import no_such_module\ndef f(x):\n    return x\n", "cannot be imported"),
    ],
)
def test_what_cannot_be_compared_is_skipped(measured, text, why):
    assert why in measured(text, "1")["skipped"]


def test_a_stub_of_numba_leaves_functions_plain(real):
    numba = real("calls")._Stub("numba")

    def f(x):
        return x

    def g(x):
        return -x

    assert numba.njit(f) is f
    assert numba.jit(nopython=True, cache=True)(f) is f
    assert numba.overload(f)(g) is g
    assert numba.prange is range


def test_wrong_answers_and_slow_functions_are_told(real):
    report = real("report")
    kept = {"plain": 2e-6, "ratio": 1.2, "differs": [], "tier": 0, "first": 1e-5, "first_plain": 2e-6}
    assert report.broken(kept) == []
    assert report.broken({**kept, "ratio": 1.3}) == ["slower"]
    assert report.broken({**kept, "first": 1e-3}) == ["first"]
    assert report.broken({**kept, "first": 1e-3, "tier": 2}) == []
    assert report.broken({**kept, "differs": ["value: 1 instead of 2"]}) == ["differs"]
    assert report.broken({"failed": "died"}) == ["failed"]
    assert [report.size_class({"plain": plain}) for plain in (5e-7, 5e-6, 5e-5, 5)] == [*report.CLASSES]
    assert math.isclose(report.mean([0.5, 2.0, 8.0]), 2.0)


def test_the_report_names_what_keeps_no_bound(real, capsys):
    one = {"name": "a: b: f", "plain": 1e-6, "ratio": 3.0, "differs": [], "tier": 0, "first": 1e-5, "first_plain": 1e-6}
    one |= {"whole": False, "loops": 2, "own_loops": "staged", "reasons": ["…"]}
    other = one | {"name": "a: b: e", "own_loops": "cannot be", "loop_reasons": ["it prints, line 3"]}
    rest = [{"name": "a: b: g", "skipped": "takes 3 s"}, {"name": "a: b: h", "failed": "died"}]
    real("report").show([one, other, *rest])
    told = capsys.readouterr().out
    assert "a: b: f: 3 µs, plain 1 µs: 3.00 (tier 0; …)" in told
    assert "a: b: h: died" in told
    assert "Not traced as a whole, with loops: 2, of which" in told
    assert "1 have a loop staged on its own" in told
    assert "0 had one staged, which is slower than plain Python" in told
    assert "a: b: e: it prints" in told


def test_functions_are_picked_evenly(real, tmp_path):
    sources = real("sources")
    folder = tmp_path / "few"
    folder.mkdir()
    for number in range(10):
        (folder / f"f{number}.py").write_text(f'def f{number}(x):\n    """\n    >>> f{number}(1)\n    1\n    """\n')
    source = sources.Source("few", "", ".", "*.py", real("examples").of_doctests, most=4)
    assert [each.name for each in source.subjects(tmp_path)] == ["f0", "f2", "f5", "f7"]
    assert len(source.subjects(tmp_path, everything=True)) == 10
    assert sources.Source("none", "", ".", "*.py", real("examples").of_doctests).subjects(tmp_path) == []
