"""Generated programs in which up to three iterators, some over others, are consumed in branches, loops and builtins.

Each runs plain and staged, for lists of several lengths: result, exception, and what is left of the list must agree.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import autograph as ag
from tests import outcomes

PROGRAMS = 40

HEAD = """
import itertools

def num(v):
    if isinstance(v, tuple):
        return v[0] + 2 * (v[1] if not isinstance(v[1], tuple) else 1)
    return v

def f(xs, n):
    s, out = 0, []
"""
FIRST = [
    *("iter(xs)", "iter([1, 2, n, 4])", "iter(range(6))", "iter(tuple(xs))", "iter({x: n for x in xs}.items())"),
    *("enumerate(xs)", "zip(xs, [5, 6, 7])", "reversed(xs)", "map(lambda v: v + n, xs)", "filter(lambda v: v > 1, xs)"),
    *("(v * 2 for v in xs)", "itertools.chain(xs, [9])", "itertools.accumulate(xs)"),
    "itertools.islice(itertools.count(n), 6)",
]
OVER = [
    *("enumerate({a})", "zip({a}, {b})", "map(num, {a})", "itertools.chain({a}, {b})"),
    "itertools.takewhile(lambda v: num(v) < 4, {a})",
]
STATEMENTS = """
for v in {a}:
    s += num(v)
    if s > n:
        break

for v in {a}:
    if num(v) == n:
        break
else:
    s += 100

for v in {a}:
    for w in {b}:
        s += num(v) - num(w)
        if s > n:
            break

for p, q in zip({a}, {b}):
    s += num(p) * num(q)
    if s > 3 * n:
        break

while s < n:
    v = next({a}, None)
    if v is None:
        break
    s += num(v)

if s > n:
    for v in {a}:
        s -= 1

if n > 1:
    s += num(next({a}, 1))

s += num(next({a}, 0))

s += sum(map(num, {a}))

s += any(num(v) > n for v in {a})

s += n in {a}

out.append([num(v) for v in {a}])

out.extend(map(num, itertools.islice({a}, 2)))

xs.append(n)

{a}, {b} = {b}, {a}
""".strip().split("\n\n")


def program(draw: random.Random) -> str:
    lines = []
    for number, name in enumerate("abc"):
        known = "abc"[:number] or "a"
        made = draw.choice(FIRST + OVER if number else FIRST)
        lines.append(f"{name} = {made}".replace("{a}", draw.choice(known)).replace("{b}", draw.choice(known)))
    for _ in range(draw.randint(2, 4)):
        lines += draw.choice(STATEMENTS).format(a=draw.choice("abc"), b=draw.choice("abc")).split("\n")
    lines.append("return s, out, xs, [num(v) for v in a], [num(v) for v in b], [num(v) for v in c]")
    return HEAD + "".join(f"    {line}\n" for line in lines)


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_consumes_as_plain_python_does(seed: int) -> None:
    draw = random.Random(seed)
    text = program(draw)
    function: Callable[..., Any] = outcomes.execute(text, f"/iterators_{seed}.py")["f"]
    staged = ag.function(function, engine=draw.choice(["numpy", "native", "auto"]))
    for arguments in ("[1, 2, 3], 2", "[1, 2, 3], 7", "[3, 1], 1", "[], 0", "[2, 2, 5, 1], 3"):
        wanted, found = (outcomes.run(each, arguments, function.__globals__) for each in (function, staged))
        found.warnings = [warning for warning in found.warnings if warning[0] != "RetraceWarning"]
        assert found == wanted, text
