"""Gradients in variables that change kind: every kind, place, loop and use, against finite differences.

A program sets a variable to something of a kind, and then to a float in a loop of 0 to 3 iterations, and uses it. It
has the right gradient, raises what the plain function raises, or is refused by a `DerivativeError` that names its
place.
`make test` tries each kind in each place; `make test-all` these in each loop, and with each use.
"""

from __future__ import annotations

import itertools
import linecache
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.errors import DerivativeError
from tests import outcomes

pytestmark = pytest.mark.once

ROWS = np.array([[1.0, 2.0], [3.0, 5.0], [0.5, -1.0]])
NUMBERS = itertools.count()
START = """
import math
import numpy as np
A = np.array([0.5, 0.25])
G = None

class Box:
    def __init__(self, y):
        self.y = y

def helper(v, x):
    return v * x + 1.0

def main(x, n, rows):
"""
KINDS = {
    "None": "None", "text": "''", "tuple": "()", "array": "A", "int": "0", "bool": "False", "float": "1.0",
    "list": "[1.0]", "dict": "{}", "object": "Box(1.0)", "matrix": "np.ones((2, 2))", "float32": "np.float32(1)",
    "unbound": "",
}  # fmt: skip
# How a place is made, written and read, and how it is made so that it is unbound.
PLACES = {
    "local": ("y = {}", "y = {}", "y", ""),
    "item": ("t = [{}]", "t[0] = {}", "t[0]", "t = [None]"),
    "entry": ("d = {{'p': {}}}", "d['p'] = {}", "d['p']", "d = {}"),
    "attribute": ("box = Box({})", "box.y = {}", "box.y", "box = Box(1.0); del box.y"),
    "nonlocal": ("y = {}; put = 0", "put({})", "y", "put = 0"),
    "global": ("global G; G = {}", "G = {}", "G", "global G"),
    "closure": ("y = {}; get = 0", "y = {}", "get()", "get = 0"),
    "tuple": ("t = ({}, 2.0)", "t = ({}, t[1])", "t[0]", "t = (None, 2.0)"),
}
DEFINITIONS = {
    "put = 0": ["def put(v):", "    nonlocal y", "    y = v"],
    "get = 0": ["def get():", "    return y"],
}
LOOPS = {
    "range": ("for i in range(n):\n    {}", "x * (i + 2.0)"),
    "rows": ("for row in rows[:n]:\n    {}", "(x - row[0]) * row[1]"),
    "enumerate": ("for i, row in enumerate(rows[:n]):\n    {}", "x * x * (row[0] + i)"),
    "while": ("i = 0\nwhile i < n:\n    {}\n    i += 1", "x * (i + 2.0)"),
    "while True": ("i = 0\nwhile True:\n    if i >= n:\n        break\n    {}\n    i += 1", "x * (i + 2.0)"),
    "nested": ("for i in range(n):\n    for j in range(i + 1):\n        {}", "x * (j + i + 1.0)"),
}
USES = {
    "square": "return {0} * {0}",
    "sum": "return {0} + x",
    "max": "return max({0}, 0.1)",
    "math": "return math.sin({0})",
    "index": "z = [{0}, x]; return z[0] * z[1]",
    "helper": "return helper({0}, x)",
    "itself": "return {0}",
    "branch": "if x > 0.2: return {0} * 3.0; return x",
    "array": "return np.sum({0} * A)",
    "text": "return float(str({0}))",
    "is None": "return 0.0 if {0} is None else {0} * x",
}
GRID = [*itertools.product(KINDS, PLACES, LOOPS)]


def program(kind: str, place: str, loop: str, use: str) -> str:
    made, written, read, unbound = PLACES[place]
    setup = unbound if kind == "unbound" else made.format(KINDS[kind])
    around, value = LOOPS[loop]
    lines = [line for part in setup.split("; ") for line in DEFINITIONS.get(part, [part])]
    if kind == "unbound" and place == "nonlocal":
        lines.insert(0, "if n > 9: y = 1.0")
    lines += around.format(written.format(value)).split("\n")
    ended = USES[use].format(read)
    lines += re.split(r"; (?=return x$|return z)", ended)
    return START + "".join(f"    {line}\n" for line in lines if line)


def outcome(function: Any, x: float, n: int) -> Any:
    try:
        return function(x, n, ROWS.copy())
    except Exception as error:
        return error if isinstance(error, DerivativeError) else type(error)


def compare(text: str, n: int) -> Iterator[str]:
    """Hold the gradient of a program against differences; tell what became of that."""
    filename = f"<grid {next(NUMBERS)}>"
    x, step = 0.7, 1e-3 if "float32" in text else 1e-6
    try:
        plain = outcomes.execute(text, filename)["main"]
        value, (high, low) = outcome(plain, x, n), [outcome(plain, x + each, n) for each in (step, -step)]
        found = outcome(ag.value_and_grad(outcomes.execute(text, filename)["main"]), x, n)
    finally:
        del linecache.cache[filename]
    if isinstance(found, DerivativeError):
        assert re.search(r"<grid \d+>:\d+", str(found)), found
        yield "refused, as it returns no float" if not isinstance(value, float) else "refused"
    elif isinstance(value, type):
        assert found is value, f"raises {found}, not {value}"
        yield "raised"
    else:
        assert not isinstance(found, type), f"raises {found}"
        assert type(found[0]) is type(value) and found[0] == value, "the value"
        assert isinstance(value, (int, float, np.floating)), "a float is returned"
        assert found[1] == pytest.approx((high - low) / (2 * step), rel=1e-4, abs=1e-6), "the gradient"
        yield "right"


def run(cases: Iterator[tuple[str, str, str, str]]) -> Counter[str]:
    tally: Counter[str] = Counter()
    for case in cases:
        text = program(*case)
        for n in range(4):
            try:
                tally.update(compare(text, n))
            except AssertionError as error:
                raise AssertionError(f"{', '.join(case)}, {n} iterations:\n{text}") from error
    return tally


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_in_every_place(kind: str):
    loops, uses = itertools.cycle(LOOPS), itertools.cycle(USES)
    tally = run((kind, place, next(loops), next(uses)) for place in PLACES)
    assert tally["refused"] <= 0.5 * tally.total(), tally


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_place_and_loop(kind: str):
    uses = itertools.cycle(USES)
    tally = run((*case, next(uses)) for case in GRID if case[0] == kind)
    assert tally["refused"] <= 0.5 * tally.total(), tally


@pytest.mark.slow
@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_use_of_every_kind(kind: str, use: str):
    print(run((*case, use) for case in GRID if case[0] == kind))
