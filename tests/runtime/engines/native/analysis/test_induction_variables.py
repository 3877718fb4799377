"""What an iteration changes in what it carries is found in the graph of a loop."""

from __future__ import annotations

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.analysis.induction_variables import counted_in, ends_soon, recurrences
from tests.runtime.engines.native.programs import regions


def loop_of(function, *args):
    """The first loop of a function, and its structure."""
    staged = ag.function(function, engine="native")
    staged(*args)
    structure = regions(staged)[0].structure
    return structure.root, structure


def counts(n):
    i = total = 0
    while i < n:
        if i % 2:
            total += 3
        total -= 1
        i += 1
    return total


def counts_by_large(n):
    i = 0
    while i < n:
        i += 2**41
    return i


def doubles(n):
    i = 1
    while i < n:
        i += i
    return i


@pytest.mark.parametrize("function, names", [(counts, {"i", "total"}), (counts_by_large, set()), (doubles, set())])
def test_sums_of_small_numbers_are_found(function, names):
    loop, structure = loop_of(function, 10)
    assert {param.name for param in counted_in(structure)[loop]} == names


def halves(n):
    steps = 0
    while n > 0:
        n //= 2
        steps += 1
    return steps


def removes_bits(n):
    count = 0
    while n > 0:
        n &= n - 1
        count += 1
    return count


@pytest.mark.parametrize("function, soon", [(halves, True), (removes_bits, True), (counts, False)])
def test_loops_that_halve_a_number_end_soon(function, soon):
    assert ends_soon(*loop_of(function, 10)) is soon


def accumulates(xs):
    total, product, largest = 0.0, 1.0, 0.0
    for x in xs:
        total += x
        product *= 2 * x
        largest = max(largest, x)
    return total, product, largest


def test_sums_and_products_are_recurrences():
    loop, _ = loop_of(accumulates, np.ones(3))
    assert {param.name for param in recurrences(loop)} == {"total", "product"}
