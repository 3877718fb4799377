"""tqdm: bars around loops of staged functions, and staged functions in loops with bars."""

import io

import pytest

from autograph.runtime.dispatch.options import can_compile
from tests.ecosystem.probes import Probes, becomes_machine_code, package

tqdm = package("tqdm")
PROBES = Probes()


@PROBES("5", "0")
def a_loop(n):
    total = 0
    for i in tqdm.tqdm(range(n), file=io.StringIO()):
        if i % 2:
            total += i
    return total


@PROBES("[1.0, -2.0, 3.0]")
def a_list(xs):
    kept = []
    for x in tqdm.tqdm(xs, disable=True):
        if x > 0:
            kept.append(x * 2)
    return kept


@PROBES("3")
def by_hand(n):
    bar = tqdm.tqdm(total=n, file=io.StringIO())
    for _ in range(n):
        bar.update(1)
    bar.close()
    return bar.n


@PROBES("[3, 1, 2]")
def around_a_staged_function(stage, xs):
    score = stage(lambda x: x * x if x > 1 else 0)
    return [score(x) for x in tqdm.tqdm(xs, disable=True)]


test_probe = PROBES.test()


def with_a_bar(n):
    total = 0
    for i in tqdm.tqdm(range(n), file=io.StringIO()):
        for j in range(n):
            total += (i * j) % 7
    return total


def with_a_bar_and_a_class(n):
    class Square:
        rows = n

    total = 0
    for i in tqdm.tqdm(range(Square.rows), file=io.StringIO()):
        for j in range(n):
            total += (i * j) % 7
    return total


@pytest.mark.usefixtures("default_engine")
@pytest.mark.skipif(not can_compile(), reason="needs llvmlite")
@pytest.mark.parametrize("function", [with_a_bar, with_a_bar_and_a_class])
def test_by_default_a_loop_inside_of_one_with_a_bar_becomes_machine_code(function):
    assert becomes_machine_code(function, 300)
