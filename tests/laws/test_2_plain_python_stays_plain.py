"""Law 2: only what depends on a staged value is staged; everything else runs as Python while tracing.

And where nothing is staged there is nothing but Python and NumPy: no tensor class that stands for their values.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import autograph as ag
from autograph.runtime.graph.graph import walk

ROOT = str(Path(__file__).parents[2])


def ops(function: Any, *args: Any, **kwargs: Any) -> list[str]:
    """The operations of the graph of a call, those in its branches and loops included."""
    view = function.graph(*args, **kwargs)
    return [node.op for node in walk(view.graph.block)]


def test_only_what_depends_on_a_staged_value_is_in_the_graph() -> None:
    @ag.function
    def f(x, mode, verbose=False):
        names = [part.strip() for part in "sum, mean, none".split(",")]
        weights = {name: len(name) ** 2 for name in names}
        result = 0.0
        for name in sorted(weights):
            if mode == name and not verbose:
                result = result + x * weights[name]
            elif verbose:
                result = {"quiet": 1}[mode]
        return result

    assert ops(f, 2.0, "mean") == ["mul", "add"]
    assert ops(f, 2.0, "other") == []
    assert f(2.0, "mean") == 32.0
    assert f(2.0, "other") == 0.0


def test_loops_over_plain_values_are_unrolled_by_python_itself() -> None:
    @ag.function
    def f(x):
        for scale in (1, 2, 3):
            for name in "ab":
                if name == "b" or scale > 2:
                    x = x * scale
        return x

    assert ops(f, np.ones(2)).count("mul") == 4
    assert f(np.ones(2)).tolist() == [18.0, 18.0]


def test_strings_none_and_truths_are_known_while_tracing() -> None:
    @ag.function
    def f(x, flag, text, nothing, choice):
        if flag and nothing is None and "a" in text and choice is not NotImplemented:
            return x + len(text)
        raise AssertionError("is not traced")

    assert ops(f, 1, True, "abc", None, ...) == ["add"]


def test_code_without_staged_values_runs_once() -> None:
    """Not once a call: what is computed from constants stands in the graph as a constant."""

    @ag.function
    def f(x):
        n = 0
        for i in range(100):
            if i % 3 == 0:
                n += i
        return x + n

    graph = f.graph(1)
    assert [node.op for node in walk(graph.graph.block)] == ["add"]
    assert "1683" in str(graph)


def test_no_value_of_a_run_is_a_tensor() -> None:
    @ag.function
    def f(x, n, items):
        made = np.zeros(n)
        made[0] = x
        items.append(made)
        return {"x": x, "made": made, "parts": [made[0], (n, x > 1)], "type": x}

    items: list[Any] = []
    result = f(1.5, 2, items)
    flat = [result["x"], result["made"], *result["parts"][:1], *result["parts"][1], *items]
    assert [type(value) for value in flat] == [float, np.ndarray, np.float64, int, bool, np.ndarray]
    assert not any(isinstance(value, ag.Tensor) for value in flat)


def test_converted_code_outside_a_trace_is_python_and_numpy() -> None:
    def f(x):
        total = 0
        for v in x:
            if v > 0:
                total += v
        return total, np.zeros(2) + total

    total, array = ag.to_graph(f)(np.array([1.0, -1.0]))
    assert type(total) is np.float64
    assert type(array) is np.ndarray


def test_numpy_itself_is_left_alone() -> None:
    """Staging patches nothing: NumPy's functions are the same objects before, while and after tracing."""
    before = {name: getattr(np, name) for name in dir(np) if callable(getattr(np, name))}
    seen = []

    @ag.function
    def f(x):
        seen.append(np.sum is before["sum"])
        return np.sum(x)

    f(np.ones(3))
    assert seen == [True]
    assert all(getattr(np, name) is value for name, value in before.items())


def test_libraries_are_not_converted() -> None:
    import statistics

    @ag.function
    def f(x, text):
        import json

        options = json.loads(text)
        return x * statistics.mean(options["values"])

    assert ops(f, 2, '{"values": [1, 2, 3]}') == ["mul"]
    assert f(2, '{"values": [1, 2, 3]}') == 4


def test_optional_packages_are_not_imported() -> None:
    optional = ("jax", "torch", "llvmlite", "tensorflow", "onnx")
    program = f"import autograph, sys\nprint([name for name in {optional} if name in sys.modules])"
    env = {"PYTHONPATH": ROOT, "AUTOGRAPH_CACHE": "0"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=env)
    assert (done.stdout, done.stderr) == ("[]\n", "")
