"""Several iterations in one are as many iterations as there are, and do what each of them does."""

from __future__ import annotations

import numpy as np
import pytest

import autograph as ag
from tests.runtime.engines.native.emit.test_value_ranges import check, forgotten  # noqa: F401
from tests.runtime.engines.native.programs import regions

RANGES = [(3, 9, 1), (9, 3, -1), (5, -1, -1), (4, -2, -1), (0, 30, 3), (29, 0, -4)]
RANGES += [(0, stop, 1) for stop in range(11)]


def drawn(start, stop, step):
    seed, last = 5, -1
    for i in range(start, stop, step):
        seed = (1103515245 * seed + 12345) % 2147483648
        last = i ^ seed
    return seed, last


def added(x, start, stop, step):
    total = 0.0
    for i in range(start, stop, step):
        total = total * 0.5 + x[i]
    return total


def items(x):
    total = 0.0
    for each in x:
        total = total * 0.5 + each
    return total


@pytest.mark.parametrize("start, stop, step", RANGES)
def test_all_iterations(start, stop, step):
    check(drawn, start, stop, step)
    check(added, np.arange(30.0), start, stop, step)
    check(items, np.arange(float(max(stop, 0))))


def up(n):
    seed = 1
    for i in range(n):
        seed = (1103515245 * seed + 12345 + i) % 2147483648
    return seed


def down(x):
    total = 0.0
    for i in range(len(x) - 1, -1, -1):
        total = total * 0.5 + x[i]
    return total


@pytest.mark.parametrize("function, args", [(up, (100,)), (down, (np.arange(20.0),))])
def test_there_are_several_iterations_in_one(function, args):
    staged = ag.function(function, engine="native")
    assert staged(*args) == function(*args)
    (region,) = regions(staged)
    assert any("\nseveral" in version.code.text for version in region.compiled) and not region.left


@pytest.mark.parametrize("bad", [np.inf, np.nan, 1e308])
def test_warnings_come_from_their_iteration(bad):
    for place in (0, 1, 3, 4, 5, 18, 19):
        x = np.arange(20.0)
        x[place] = bad
        x[7:9] = 1.5e308
        for function in (items, down):
            check(function, x)
        check(added, x, 0, 20, 1)
        check(added, x, 0, 25, 1)
        check(added, x, 19, -22, -1)
