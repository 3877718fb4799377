"""`x ** 2`, `x ** 3` and `x ** 0.5` give each bit of `pow`, which is called only where it may give another number."""

import math

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.emit import pow_rules
from tests.runtime.engines.native.kernels.test_fusion import outcome

CORNERS = [0.0, -0.0, 2.5, 1.0, 2.0, 4.0, 0.5, 1.5, -3.0, 1e-160, 5e-324, 1e-300, 1e154, 1e200]
CORNERS += [math.inf, -math.inf, math.nan]
known = pytest.mark.skipif(not pow_rules.are_known(), reason="needs the GNU C library, and fma")


def powers(xs, out):
    """Of NumPy's numbers, and of Python's."""
    for i in range(len(xs)):
        out[i, 0] = xs[i] ** 2
        out[i, 1] = xs[i] ** 0.5
        out[i, 2] = xs[i] ** 2.0 + xs[i]
        out[i, 3] = xs[i] ** 3
        out[i, 4] = (xs[i] - 2.5) ** 5
        out[i, 5] = math.pow(xs[i] - 2.5, 7)
        out[i, 6] = xs[i] ** -1
        out[i, 7] = (xs[i] - 2.25) ** -2.0
        out[i, 8] = xs[i] ** 1.5 + xs[i] ** 2.5
        out[i, 9] = xs[i] ** -1.5
        out[i, 10] = xs[i] ** -0.5
        out[i, 11] = (xs[i] - 2.25) ** -3


def numbers(x, k):
    total = 0.0
    for i in range(k):
        total = total + (x + i) ** 2 - (x * x + i) ** 0.5
    return total


@pytest.mark.parametrize("seed", range(3))
def test_all_bits_are_those_of_pow(seed):
    draw = np.random.default_rng(seed)
    xs = np.concatenate([draw.uniform(1, 4, 6000), np.exp(draw.uniform(-99, 99, 6000)), 2.0 ** np.arange(-140, 140)])
    staged, out, wanted = ag.function(powers, engine="native"), np.zeros((len(xs), 12)), np.zeros((len(xs), 12))
    for _ in range(2):
        staged(xs, out)
    powers(xs, wanted)
    assert out.tobytes() == wanted.tobytes()
    assert (wanted[:6000, 0] != xs[:6000] * xs[:6000]).any()        # so it matters


def test_squares_of_all_sizes():
    def f(xs, out):
        for i in range(len(xs)):
            out[i, 0] = xs[i] ** 2
            out[i, 1] = math.pow(xs[i], 0.5)

    xs = np.concatenate([np.exp(np.random.default_rng(0).uniform(-340, 340, 6000)), 2.0 ** np.arange(-400, 400)])
    staged, out, wanted = ag.function(f, engine="native"), *np.zeros((2, len(xs), 2))
    for _ in range(2):
        staged(xs, out)
    f(xs, wanted)
    assert out.tobytes() == wanted.tobytes()


@known
@pytest.mark.parametrize("others", [[], CORNERS])
def test_several_at_once(others):
    def f(xs, ys, total):
        for i in range(len(xs)):
            ys[i] = (xs[i] * xs[i]) ** 0.5 + xs[i] ** 2 - xs[i] ** -1.5
            total += xs[i] ** 3
        return total

    xs = np.concatenate([np.exp(np.random.default_rng(1).uniform(-99, 99, 6000)), others])
    staged, ys, wanted = ag.function(f, engine="native"), *np.zeros((2, len(xs)))
    with np.errstate(all="ignore"):
        totals = [staged(xs, ys, 0.0) for _ in range(2)]
        assert [*map(repr, totals)] == [repr(f(xs, wanted, 0.0))] * 2
    assert ys.tobytes() == wanted.tobytes()
    assert "ag_power_0_5_of_16" in staged.lower(xs, ys, 0.0).llvm


@known
def test_roots_of_pythons_numbers_at_once():
    def f(xs, ys):
        for i in range(len(xs)):
            ys[i] = math.sqrt(xs[i]) + float(xs[i]) ** 0.5

    staged = ag.function(f, engine="native")
    for last in (2.0, -0.0, math.inf, math.nan, -1.0):
        xs = np.append(np.random.default_rng(1).uniform(0, 9, 600), last)
        for _ in range(2):
            ys, wanted = np.zeros((2, len(xs)))
            assert outcome(staged, xs, ys) == outcome(f, xs, wanted)
            assert ys.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("x", CORNERS)
def test_corners(x):
    def f(xs):
        out = np.zeros((len(xs), 12))
        powers(xs, out)
        return out

    staged = ag.function(f, engine="native")
    for _ in range(3):
        assert outcome(staged, np.array([1.5, x])) == outcome(f, np.array([1.5, x]))
    staged = ag.function(numbers, engine="native")
    for _ in range(3):
        assert outcome(staged, x, 5) == outcome(numbers, x, 5)


@known
def test_pow_is_called_only_in_doubt():
    llvm = ag.function(numbers, engine="native").lower(1.5, 3).llvm
    assert "@llvm.fma.f64(" in llvm and "@llvm.sqrt.f64(" in llvm and "@ag_pow(" in llvm


def test_other_powers_are_those_of_pow():
    def f(x, k):
        total = 0.0
        for i in range(k):
            total += (x + i) ** -4 + (x + i) ** 0.7 + (x + i) ** 3.5
        return total

    staged = ag.function(f, engine="native")
    for _ in range(2):
        assert outcome(staged, 1.7, 40) == outcome(f, 1.7, 40)
    assert "llvm.fma" not in staged.lower(1.7, 40).llvm


def test_where_pow_is_not_known(monkeypatch):
    monkeypatch.setattr(pow_rules, "are_known", lambda: False)
    staged = ag.function(numbers, engine="native")
    for _ in range(2):
        assert outcome(staged, 1.7, 40) == outcome(numbers, 1.7, 40)
    assert "llvm.fma" not in staged.lower(1.7, 40).llvm


@known
def test_what_is_said_of_pow_is_looked_at(monkeypatch):
    monkeypatch.setattr(math, "pow", lambda x, y: math.nextafter(x**y, math.inf))
    assert not pow_rules.are_known.__wrapped__()


@pytest.mark.parametrize("exponent", [2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 3.0])
def test_powers_of_zeros(exponent):
    def f(xs, out):
        for i in range(len(xs)):
            out[i] = xs[i] ** exponent
        return out

    staged, xs = ag.function(f, engine="native"), np.array([0.0, -0.0, 2.0, -0.0] * 20)
    for _ in range(3):
        assert staged(xs, np.ones(80)).tobytes() == f(xs, np.ones(80)).tobytes()
