"""Gradients through lists and dicts that also hold what has none: integers, and what iterators and arrays give."""

from __future__ import annotations

import itertools
import linecache
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests import outcomes

PROGRAM = """\
import numpy as np


def program(p, x):
    xs, ys, pairs, d = [p, 0.5], [x], [(p, 1.0)], {"u": p}
    s = p * 0.0
    for v in x[x > 9]:
        xs.append(v)  # never, but that is not known: xs may have any length
    for i in range(int(len(x))):
        STATEMENT
        s = s + sum(xs) * p
        if p > 5 + i:
            break
    return s + xs[0] * xs[-1]
"""
STATEMENTS = """\
xs.extend(range(2))
xs += range(2)
xs.extend(np.arange(2))
xs += np.arange(2).tolist()
xs += list(np.arange(2))
pairs.extend(zip(x, x * p)); s += pairs[-1][0] * pairs[-1][1]
pairs.extend(enumerate(x)); s += pairs[-1][0] * pairs[-1][1]
xs.extend(v * 2 for v in x)
xs.extend(map(float, range(2)))
xs.extend(reversed(xs[:2]))
xs.extend({"a": p, "b": 2}.values())
xs[1:2] = range(2)
xs[1:2] = np.arange(2)
xs[1:2] = x[:2]
xs = xs + list(range(2))
xs = xs[:2] * 2
xs.insert(0, i)
ys.append(np.arange(2)); s += ys[-1][0]
xs.append(i); xs.sort()
d.update({"a": i, "b": p}); s += d["a"] * d["b"]
d.update(a=s * p); s += d["a"] * p
d.update({"a": p}, a=2.0, b=s); d.update(); s += d["a"] * d["b"] * p
d.update(u=x, w=[p, s]); s += d["u"][1] * d["w"][1]
s += d.setdefault("k", i) * p
s += d.pop("none", i) * p
pairs = list(zip(xs, range(9))); s += pairs[1][0] * pairs[1][1]
pairs = sorted(zip(xs, range(9))); s += pairs[1][0] * pairs[1][1]
pairs = sorted(zip(xs, range(9)), key=lambda pair: -pair[0]); s += pairs[1][0] * pairs[1][1]
u, k = max(zip(xs, range(9))); s += u * k
u, k = min(enumerate(xs)); s += u * k
xs = sorted(reversed(xs))
xs.append(i); xs.sort(); xs += range(2)
rows = [[v, i] for v in xs]; rows[0][0] *= p; s += rows[0][0] * rows[1][1] + rows[1][0]
xs.append(p * s); del xs[0]
numbers = [i, 2]; numbers.append(p); s += sum(numbers) * p
positive = x > 0.1; s += sum(v for v, chosen in zip(x, positive) if chosen) * p
""".splitlines()
AT = 0.7, np.array([0.3, -0.2, 0.5])
NUMBERS = itertools.count()


@pytest.fixture
def program(statement: str) -> Iterator[Callable[..., Any]]:
    filename = f"<items {next(NUMBERS)}>"
    text = PROGRAM.replace("STATEMENT", statement.replace("; ", "\n        "))
    yield outcomes.execute(text, filename)["program"]
    del linecache.cache[filename]


def slopes(function: Callable[..., Any]) -> Any:
    """The gradient by finite differences."""
    p, x = AT
    steps = [(1e-6, np.zeros(3)), *((0.0, step) for step in np.eye(3) * 1e-6)]
    return [(function(p + h, x + step) - function(p - h, x - step)) / 2e-6 for h, step in steps]


@pytest.mark.once
@pytest.mark.parametrize("statement", STATEMENTS)
def test_first_and_second(program: Callable[..., Any]) -> None:
    gradient = ag.grad(program, argnums=(0, 1))

    def along(p: Any, x: Any) -> Any:
        in_p, in_x = gradient(p, x)
        return in_p + in_x @ np.array([1.0, 2.0, 3.0])

    for function in (program, along):
        in_p, in_x = ag.grad(function, argnums=(0, 1))(*AT)
        assert np.allclose([in_p, *in_x], slopes(function), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("statement", ["xs.insert(0, i); z = np.array(xs[:2]); s += z @ z"])
def test_first(program: Callable[..., Any]) -> None:
    in_p, in_x = ag.grad(program, argnums=(0, 1))(*AT)
    assert np.allclose([in_p, *in_x], slopes(program), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("statement", ['d.update(zip("ab", x)); s += d["a"] * p'])
def test_pairs_for_a_dict_are_refused(program: Callable[..., Any]) -> None:
    with pytest.raises(ag.errors.DerivativeError, match="`update` gets pairs for: give it a dict"):
        ag.grad(lambda p, x: program(p, x))(*AT)


def test_all_of_an_item_of_a_list_that_is_made_anew() -> None:
    """The index of the item's shadow has an ellipsis of its own."""

    def function(p: Any, x: Any) -> Any:
        x = x * 1
        ys = [x]
        for z in ys:
            for _ in range(int(p * 5)):
                ys = [v * 0.7 for v in ys]
            z[...] += p
            z[..., 1] *= p
        return np.sum(x * 2 + z * z)

    in_p, in_x = ag.grad(function, argnums=(0, 1))(*AT)
    assert np.allclose([in_p, *in_x], slopes(function), rtol=1e-4, atol=1e-4)
