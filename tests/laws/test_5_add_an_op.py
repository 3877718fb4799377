"""Law 5: an op is one declaration. The one in CONTRIBUTING.md is added, and all parts of the library know it."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.graph import traits
from autograph.runtime.graph.opdef import FUNCTIONS, OPS
from autograph.runtime.graph.types import FLOAT, INT
from autograph.runtime.graph_text.parser import parse
from autograph.runtime.graph_text.printer import objects, to_text
from tests.runtime.same_graphs import same

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"
ENGINES = [
    "numpy",
    pytest.param("native", marks=pytest.mark.skipif(not importlib.util.find_spec("llvmlite"), reason="no llvmlite")),
]
HALVES = np.arange(5000) / 2


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """The file of the contributor, imported; afterwards nobody knows the op."""
    file = tmp_path_factory.mktemp("demo") / "demo.py"
    declaration = CONTRIBUTING.read_text(encoding="utf-8").partition("```python demo.py\n")[2].partition("```")[0]
    file.write_text(declaration, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("demo", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    del OPS["demo.twice"], FUNCTIONS[module.twice]
    for each in vars(traits).values():
        if isinstance(each, traits.Trait):
            each.discard("demo.twice")
        elif isinstance(each, traits.Relation):
            each.pop("demo.twice", None)


def lines(f: Any, *args: Any) -> list[str]:
    return [line.strip() for line in str(f.graph(*args)).splitlines()]


def test_inferred(demo: ModuleType) -> None:
    assert [OPS["demo.twice"].infer(type) for type in (INT, FLOAT)] == [INT, FLOAT]
    assert "%0: f64[3] = demo.twice(x)" in lines(ag.function(lambda x: demo.twice(x)), np.ones(3))


def test_printed_and_parsed(demo: ModuleType) -> None:
    graph = ag.function(lambda x, n: [demo.twice(x), demo.twice(n)]).graph(np.ones(3), 2).graph
    again = parse(to_text(graph), objects(graph))
    assert to_text(graph).count("demo.twice") == 2
    assert to_text(again) == to_text(graph) and same(graph, again)


def test_folded(demo: ModuleType) -> None:
    def f(x: Any) -> Any:
        three = 3
        return x + demo.twice(three)

    assert "%0: py.float = x + 6" in lines(ag.function(f), 1.5)


def test_computed_once(demo: ModuleType) -> None:
    f = ag.function(lambda x: demo.twice(x) * demo.twice(x))
    assert "%0: py.float = demo.twice(x)" in lines(f, 1.5) and "%1: py.float = %0 * %0" in lines(f, 1.5)


def in_a_loop(twice: Any) -> Any:
    def f(x: Any, n: Any) -> Any:
        total = 0.0
        for i in range(n):
            total += twice(x) * twice(i)
        return total

    return f


def test_hoisted(demo: ModuleType) -> None:
    """Out of the loop goes what is the same in each iteration; what is not, stays."""
    told = lines(ag.function(in_a_loop(demo.twice)), 1.5, 4)
    of_x, of_i = told.index("%1: py.float = demo.twice(x)"), told.index("%2: py.int = demo.twice(i)")
    loop = next(number for number, line in enumerate(told) if "= for(" in line)
    assert of_x < loop < of_i


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("x", [1.5, 3, -0.0, math.inf, 10**30])
def test_numbers(demo: ModuleType, engine: str, x: Any) -> None:
    f = in_a_loop(demo.twice)
    assert repr(ag.function(f, engine=engine)(x, 4)) == repr(f(x, 4))


@pytest.mark.parametrize("engine", ENGINES)
def test_large_integers(demo: ModuleType, engine: str) -> None:
    def doubled(x: Any, n: Any) -> Any:
        for _ in range(n):
            x = demo.twice(x)
        return x

    assert ag.function(doubled, engine=engine)(3, 70) == 3 * 2**70


def of_arrays(twice: Any) -> Any:
    return lambda x: np.sqrt(twice(x) * twice(x + 1.0) + x)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("x", [HALVES, HALVES.astype("f4"), HALVES.astype(int), HALVES.astype("i2"), HALVES * 1j])
def test_arrays(demo: ModuleType, engine: str, x: Any) -> None:
    f = of_arrays(demo.twice)
    found, wanted = ag.function(f, engine=engine)(x), f(x)
    assert found.dtype == wanted.dtype and found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("engine", ENGINES)
def test_warnings(demo: ModuleType, engine: str) -> None:
    x = np.full(5000, 1.5e308)
    with pytest.warns(RuntimeWarning, match="overflow encountered in add"):
        assert np.isinf(ag.function(of_arrays(demo.twice), engine=engine)(x)).all()


def test_compiled_and_fused(demo: ModuleType) -> None:
    pytest.importorskip("llvmlite")
    loop, arrays = (ag.function(f(demo.twice), engine="native") for f in (in_a_loop, of_arrays))
    assert loop(1.5, 4) == 36.0
    assert loop.explain(1.5, 4).where(text="this loop is machine code")
    arrays(HALVES)
    untold = ag.function(lambda x: demo.twice(demo.twice(x)), engine="auto")
    assert not untold.explain(HALVES).where(text="no loop or operation here could become machine code")
    assert arrays.explain(HALVES).where(text="6 operations on arrays are one loop of machine code")


@pytest.mark.parametrize("engine", ENGINES)
def test_differentiated(demo: ModuleType, engine: str) -> None:
    """`(2x)² x = 4x³`."""
    first = ag.grad(lambda x: demo.twice(x) * demo.twice(x) * x)
    second = ag.grad(first)
    for x in (2.0, -0.5):
        assert ag.function(first, engine=engine)(x) == first(x) == 12 * x**2
        assert ag.function(second, engine=engine)(x) == second(x) == 24 * x
    of_arrays = ag.function(ag.grad(lambda x: np.sum(demo.twice(x) ** 2)), engine=engine)
    assert of_arrays(HALVES).tolist() == (8 * HALVES).tolist()
