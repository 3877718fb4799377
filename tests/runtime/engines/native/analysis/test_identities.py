"""Loops that compare objects by `is`: machine code only where it cannot have made new ones of them."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import autograph as ag
from tests.runtime.engines.native.programs import regions


@dataclass
class Body:
    x: float
    vx: float
    mass: float
    near: Any = None

    def pull(self, other, factor):
        d = other.x - self.x
        self.vx += other.mass * d / (d * d + 0.01) ** 1.5 * factor


class Noting(Body):
    """Keeps what it is given in a list, where the loop finds it."""

    def pull(self, other, factor):
        other.near.append(factor)


def bodies(count: int = 80) -> list[Body]:
    made = [Body(i * 0.37, 0.0, i + 1.0) for i in range(count)]
    for i, body in enumerate(made):
        body.near = made[i * 7 % count]
    return made


def pulled(bodies, others, n):
    for _ in range(n):
        for a in bodies:
            for b in bodies:
                if a is b:
                    continue
                d = b.x - a.x
                a.vx += b.mass * d / (d * d + 0.01) ** 1.5
        for a in bodies:
            a.x += a.vx * 0.01
    return sum(b.x for b in bodies)


def fastest(bodies, others, n):
    """A carried object, which is None at first."""
    best, count = None, 0
    for i in range(n):
        for b in bodies:
            if best is None or b.mass * (i + 1) % 7 > best.mass % 7:
                best = b
        for b in others:
            count += b is best
    return best, count


def neighbors(bodies, others, n):
    return sum(b.near is a and b is not a for _ in range(n) for a in bodies for b in others)


def lists(rows, others, n):
    count = 0
    for _ in range(n):
        for row in rows:
            for other in others:
                if row is other:
                    count += len(row)
    return count


def pulled_by_methods(bodies, others, n):
    """The path of another class hands a constant to unknown code."""
    for _ in range(n):
        for a in bodies:
            for b in bodies:
                if a is not b:
                    a.pull(b, 0.25)
    return sum(b.x + b.vx for b in bodies)


def noted(bodies, others, n):
    """Whether constants and numbers that were kept by other code are the same objects."""
    count = 0
    for i in range(n):
        for a in bodies:
            a.pull(others[0], 0.25)
            a.pull(others[0], i * 0.25)
    kept = others[0].near
    for x in kept:
        for y in kept:
            count += x is y
    return count


@pytest.mark.parametrize("function", [pulled, pulled_by_methods, fastest, neighbors])
def test_objects_are_compared(function):
    staged = ag.function(function, engine="native")
    for n in (3, 1, 2):
        mine, plain = bodies(), bodies()
        found, wanted = staged(mine, mine[5:] + bodies(2), n), function(plain, plain[5:] + bodies(2), n)
        assert repr((found, mine)) == repr((wanted, plain))
        assert not isinstance(found, tuple) or mine.index(found[0]) == plain.index(wanted[0])
    assert any(region.compiled for region in regions(staged))


def test_lists_are_compared():
    rows = [[i] for i in range(70)]
    staged = ag.function(lists, engine="native")
    for others in (rows[3:], copy.deepcopy(rows), rows[:1] * 70):
        assert staged(rows, others, 2) == lists(rows, others, 2)
    assert any(region.compiled for region in regions(staged))


def test_constants_that_unknown_code_keeps():
    staged = ag.function(noted, engine="native")
    for kind in (Body, Noting, Noting, Body):
        mine, others = [[kind(float(i), 0.0, 1.0) for i in range(4)] for _ in range(2)]
        plain, far = copy.deepcopy((mine, others))
        others[0].near, far[0].near = [], []
        assert staged(mine, others, 3) == noted(plain, far, 3)
        assert repr((mine, others)) == repr((plain, far))


def pulled_by(bodies, factor, n):
    """The path of another class hands an argument to unknown code."""
    for _ in range(n):
        for a in bodies:
            for b in bodies:
                if a is not b:
                    a.pull(b, factor)
                    a.x += factor * a.vx
    return sum(b.x + b.vx for b in bodies)


def noted_arguments(bodies, others, n, factor):
    """Whether an argument and numbers that were kept by other code are the same objects."""
    count = 0
    for i in range(n):
        factor_now = factor
        for a in bodies:
            a.pull(others[0], factor)
            a.pull(others[0], factor_now)
            a.x += factor * i
            factor_now = factor_now * 1.0
    kept = others[0].near
    for x in kept:
        for y in kept:
            count += x is y
    return count


def test_objects_are_compared_beside_arguments():
    staged = ag.function(pulled_by, engine="native")
    for factor in (0.25, 3.5, 2, True, 10**30, np.float64(0.5), math.nan):
        mine, plain = bodies(), bodies()
        assert repr((staged(mine, factor, 2), mine)) == repr((pulled_by(plain, factor, 2), plain))
    assert any(region.compiled for region in regions(staged))


@pytest.mark.parametrize("classes", [(Body,), (Noting,), (Body, Noting), (Noting, Body)])
@pytest.mark.parametrize("engine", ["native", "numpy", None])
def test_arguments_that_unknown_code_keeps(classes, engine):
    staged = ag.function(noted_arguments, engine=engine) if engine else ag.function(noted_arguments)
    for factor in (0.3, 1000, 0.3, 10**30, np.float64(0.3), True) * 3:
        mine = [classes[i % len(classes)](float(i), 0.0, 1.0) for i in range(6)]
        others = [Body(1.0, 0.0, 1.0, [])]
        plain, far = copy.deepcopy((mine, others))
        found = staged(mine, others, 3, factor), [x is factor for x in others[0].near]
        assert found == (noted_arguments(plain, far, 3, factor), [x is factor for x in far[0].near])
        assert repr((mine, others)) == repr((plain, far))


# Numbers --------------------------------------------------------------------------------------------------------------


def same(xs, ys, n):
    return sum(x is y for _ in range(n) for x in xs for y in ys)


def same_copies(xs, ys, n):
    """The numbers of a list that is made here, of which machine code could make new objects."""
    copies = []
    for x in xs:
        copies.append(x)
    return sum(x is y for _ in range(n) for x in copies for y in ys)


def same_sums(xs, ys, n):
    copies = [x + 0.0 for x in xs]
    return sum(x is copies[i] for i, x in enumerate(copies)), sum(x is y for x in copies for y in ys)


def same_stored(xs, ys, n):
    for i in range(n):
        ys[i] = xs[i]
    return sum(x is y for x in xs for y in ys)


def same_attributes(xs, ys, n):
    body = Body(0.0, 0.0, 0.0)
    count = 0
    for x in xs:
        body.x = x
        for y in ys:
            count += body.x is y
    return count


def same_carried(xs, ys, n):
    last, count = 0.5, 0
    for x in xs:
        count += x is last
        last = x
    return count


def same_by_attribute(xs, ys, n):
    """An attribute of the caller's object that the loop sets to a number, and reads."""
    count = 0
    for i in range(len(ys)):
        xs[0].x = ys[i]
        count += xs[0].x is ys[i]
    return count


@pytest.mark.parametrize("function", [same, same_copies, same_sums, same_stored, same_attributes, same_carried])
@pytest.mark.parametrize("engine", ["native", "auto"])
def test_numbers_are_the_same_objects(function, engine):
    numbers = [i / 3 for i in range(70)]
    for items in (numbers, [*range(10**9, 10**9 + 70)], [*numbers[:60], *numbers[:10], *range(1000, 1008)]):
        staged = ag.function(function, engine=engine)
        for _ in range(3):
            others = [*items[20:], *copy.copy(items[:30]), *[each + 0 for each in items[:5]]]
            assert staged(items, others[:], 3) == function(items, others[:], 3)


def test_attributes_that_a_loop_sets():
    numbers = [i / 3 for i in range(70)]
    staged = ag.function(same_by_attribute, engine="native")
    for _ in range(3):
        assert staged(bodies(), numbers, 3) == same_by_attribute(bodies(), numbers, 3) == 70
