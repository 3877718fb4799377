"""A NaN is found in a container only by its identity, which loops that are machine code keep."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.loops.region import Region
from tests import outcomes
from tests.drawing import EXAMPLES

NUMBERS = [1.5, math.nan, 2.5, math.nan, 7.25, -1.0]


def copied(xs: Any, n: Any) -> Any:
    ys = []
    for i in range(n):
        ys.append(xs[i])
    return ys == xs[:n], ys.index(ys[1])


def stored(xs: Any, n: Any) -> Any:
    ys = [0.0] * n
    for i in range(n):
        ys[n - 1 - i] = xs[i]
    return ys == xs[:n][::-1]


def swapped(xs: Any, n: Any) -> Any:
    for i in range(n):
        for j in range(n - 1):
            if not xs[j] <= xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return xs, [xs.count(x) for x in xs]


def greatest(xs: Any, n: Any) -> Any:
    best = xs[0]
    for i in range(n):
        if not xs[i] < best:
            best = xs[i]
    return best in xs, best


def last_of_all(xs: Any, n: Any) -> Any:
    x = 0.0
    for x in xs:
        if x == n:
            break
    return [x] == xs[-1:]


def computed_once(xs: Any, n: Any) -> Any:
    ys, zs = [], []
    for i in range(n):
        x = xs[i] * 2
        ys.append(x)
        zs.append(x)
    return ys == zs


def computed_twice(xs: Any, n: Any) -> Any:
    ys, zs = [], []
    for i in range(n):
        ys.append(xs[i] * 2)
        zs.append(2 * xs[i])
    return ys == zs, [ys.count(y) for y in ys]


def carried(xs: Any, n: Any) -> Any:
    ys, x = [], 0.0
    for i in range(n):
        ys.append(x)
        x = xs[i] - 1.0
        ys.append(x)
    return [ys.count(y) for y in ys], x in ys


def of_an_inner_loop(xs: Any, n: Any) -> Any:
    ys = []
    for i in range(n):
        x = xs[i] + 1
        for _ in range(2):
            ys.append(x)
    return [ys.count(y) for y in ys]


def constant(xs: Any, n: Any) -> Any:
    ys = []
    for i in range(n):
        x = xs[i] if i % 2 else math.nan
        ys.append(x)
    return math.nan in ys, [ys.count(y) for y in ys]


def extremes(xs: Any, n: Any) -> Any:
    ys = []
    for i in range(n):
        ys.append(max(xs[i], 2.0))
        ys.append(min(2.0, xs[i]))
        ys.append(float(xs[i]))
    return [ys.count(y) for y in ys]


def keys(xs: Any, n: Any) -> Any:
    places = {}
    for i in range(n):
        places[xs[i]] = i
    return [places.get(x) for x in xs], len(places)


def pairs(xs: Any, n: Any) -> Any:
    ys = []
    for i in range(n):
        ys.append((xs[i], i))
    return ys == [(xs[i], i) for i in range(n)]


def by_while(xs: Any, n: Any) -> Any:
    i, x = 0, xs[0]
    while i < n and x == x:
        x = xs[i]
        i += 1
    return xs.index(x), i


FUNCTIONS = [copied, stored, swapped, greatest, last_of_all, computed_once, computed_twice, carried, of_an_inner_loop,
             constant, extremes, keys, pairs, by_while]  # fmt: skip


def places(numbers: list[Any], found: Any) -> Any:
    """A result, with the first place of each NaN among some numbers by its identity."""
    if isinstance(found, (list, tuple)):
        return [places(numbers, each) for each in found]
    if found == found:
        return found
    return next((place for place, each in enumerate(numbers) if each is found), "another")


@pytest.mark.parametrize("engine", ["native", "numpy"])
@pytest.mark.parametrize("kind", [float, complex, np.float64])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_nans_are_found(function: Callable[..., Any], kind: Any, engine: str) -> None:
    if kind is complex and function in (swapped, greatest, extremes):
        pytest.skip("complex numbers have no order")
    staged = ag.function(function, engine=engine)
    numbers = [*map(kind, NUMBERS)]
    for n in (4, 6, 4, 5):
        wanted, given = numbers.copy(), numbers.copy()
        expected, found = function(wanted, n), staged(given, n)
        assert (places(numbers, expected), places(numbers, wanted)) == (places(numbers, found), places(numbers, given))


def test_nans_of_arrays_are_found() -> None:
    for function in (carried, computed_once, of_an_inner_loop, constant, extremes):
        staged = ag.function(function, engine="native")
        for n in (4, 6, 4, 5):
            assert function(np.array(NUMBERS), n) == staged(np.array(NUMBERS), n)


def dot(xs: Any, ys: Any, n: Any) -> Any:
    total = 0.0
    for i in range(n):
        total += xs[i] * ys[i]
    return total


def test_numbers_that_are_only_computed_with_may_be_nans(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[Any] = []
    monkeypatch.setattr(Region, "resume", lambda *args: left.append(args))
    staged = ag.function(dot, engine="native")
    for _ in range(3):
        assert math.isnan(staged(NUMBERS * 9, NUMBERS * 9, 50))
    assert not left


# Drawn programs -------------------------------------------------------------------------------------------------------

HEAD = "import math\n\ndef kept(x, zs):\n    zs.append(x)\n    return x\n\ndef main(xs, a, c, n):\n"
SOURCES = ["xs[i]", "a[i]", "xs[i] * 2", "x", "y", "c", "math.nan", "max(xs[i], x)", "x + xs[i]", "float(y)",
           "kept(x, zs)", "(xs[i], x)[0]", "-a[i]", "xs[i - 1]"]  # fmt: skip
USES = ["ys.append({e})", "zs.append({e})", "ys[0] = {e}", "x = {e}", "y = {e}", "x, y = y, {e}", "d[{e}] = i",
        "if xs[i] > 1:\n    x = {e}", "if not x < 2:\n    ys.append({e})", "t = ({e}, i)", "kept({e}, ys)",
        "for z in xs[:2]:\n    y = z\n    zs.append({e})",
        "for j in range(2):\n    y = {e}\n    ys.append(y)"]  # fmt: skip
END = "return [ys.count(v) for v in ys], ys == zs, x in ys, y in zs, x in xs, c in ys, t, [v in d for v in xs], x"


def program(draw: random.Random) -> str:
    body = "".join(
        f"        {line}\n"
        for _ in range(draw.randint(2, 5))
        for line in draw.choice(USES).format(e=draw.choice(SOURCES)).split("\n")
    )
    begin = "    ys, zs, d, t, x, y = [0.0], [], {}, (0.0, 0), 0.5, c\n"
    return f"{HEAD}{begin}    for i in range(n):\n{body}    {END}\n"


@pytest.mark.parametrize("seed", range(60 + EXAMPLES // 10))
def test_drawn_programs(seed: int) -> None:
    text = program(random.Random(seed))
    main = outcomes.execute(text, f"<nan {seed}>")["main"]
    staged = ag.function(main, engine="native")
    for n in (3, 6, 6):
        results = []
        for function in (main, staged):
            xs, c = NUMBERS.copy(), math.nan
            results.append(places([*xs, c], [function(xs, np.array(NUMBERS[::-1]), c, n), xs]))
        assert results[0] == results[1], text
