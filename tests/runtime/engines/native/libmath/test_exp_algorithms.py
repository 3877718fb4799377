"""How libraries compute `exp`: machine code against the same steps in exact arithmetic, and against NumPy."""

import math
from fractions import Fraction

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.libmath import exponential
from autograph.runtime.engines.native.libmath.exp_algorithms import GNU, SVML, table
from autograph.runtime.engines.native.libmath.ufunc_loops import loop_of, loop_of_numbers
from autograph.runtime.engines.native.llvm.target import machine


class Numbers:
    """The arithmetic of an algorithm with Python's floats; each operation rounds the exact result once."""

    constant = float

    def __init__(self, algorithm):
        self.algorithm = algorithm

    def add(self, a, b):
        return a + b

    def multiply(self, a, b):
        return a * b

    def fused(self, a, b, c):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        return float(exact) if exact else a * b + c     # which has the sign of zero

    def parts(self, x):
        steps = self.algorithm.steps
        exact = Fraction(x) * Fraction(self.algorithm.scale)
        whole = math.floor(exact) if self.algorithm.is_wide else round(exact)
        lost, power = (column[whole % 2**steps] for column in table(steps))
        return float(whole), lost, math.ldexp(power, whole >> steps)


def numbers(algorithm, count):
    x = np.random.default_rng(1).uniform(-algorithm.limit, algorithm.limit, count)
    x[: count // 3] /= 1000
    x[:7] = 0.0, -0.0, 5e-324, 1e-300, -1e-17, np.nextafter(algorithm.limit, 0), -np.nextafter(algorithm.limit, 0)
    return x


@pytest.fixture
def goes(monkeypatch):
    """Lets machine code use an algorithm, though NumPy may use another one."""

    def go(algorithm):
        if not exponential.is_supported(algorithm):
            pytest.skip("this processor cannot")
        monkeypatch.setattr(exponential, "known", lambda: algorithm)

    for cached in (loop_of, loop_of_numbers):
        cached.cache_clear()
    yield go
    for cached in (loop_of, loop_of_numbers):
        cached.cache_clear()


@pytest.mark.parametrize("algorithm", [GNU, SVML])
def test_machine_code_has_the_bits_of_the_steps(algorithm, goes):
    goes(algorithm)
    x = numbers(algorithm, 3000)
    found = ag.function(lambda x: np.exp(x) * 1.0, engine="native")(x)
    assert found.tolist() == [algorithm.of(Numbers(algorithm), each) for each in x.tolist()]


@pytest.mark.parametrize("algorithm", [GNU, SVML])
def test_numbers_have_the_bits_of_vectors(algorithm, goes):
    """One at a time, and beyond the limits of the algorithm, where NumPy computes, or the result is 0."""
    goes(algorithm)

    def one_by_one(x):
        found = []
        for i in range(len(x)):
            found.append(np.exp(x[i]))
        return found

    x, far = numbers(algorithm, 3000), [-np.inf, -1e300, -746.5, 0.0, -0.0, 709.0]
    found = ag.function(one_by_one, engine="native")(np.append(x, far))
    assert found[:3000] == [algorithm.of(Numbers(algorithm), each) for each in x.tolist()]
    assert found[3000:] == [0.0, 0.0, 0.0, 1.0, 1.0, np.exp(709.0)]


@pytest.mark.parametrize("algorithm", [GNU, SVML])
def test_the_steps_come_near(algorithm):
    """Less than the last bit is wrong, whether or not NumPy uses that algorithm."""
    x = numbers(algorithm, 3000)
    found = np.array([algorithm.of(Numbers(algorithm), each) for each in x.tolist()])
    exact = np.exp(x.astype(np.longdouble))
    assert np.max(np.abs((found - exact) / exact)) < np.finfo(float).eps


def test_numpy_computes_numbers_beyond_the_limits(goes):
    goes(GNU)
    staged = ag.function(lambda x: np.exp(x) * 1.0, engine="native")
    for limit in (GNU.limit, 707.0, 709.7, 745.0, 746.5, np.inf):
        for begin in range(9):
            x = np.zeros(17)
            x[begin:] = -limit
            assert staged(x).tolist() == np.exp(x).tolist()
    with pytest.warns(RuntimeWarning, match="overflow"):
        staged(np.full(3, 710.0))


@pytest.mark.parametrize("algorithm", [GNU, SVML])
def test_what_is_combined_never_is_in_memory(algorithm, goes):
    """Eight or sixteen at a time, and what remains; with numbers of another size beside."""
    goes(algorithm)
    alone = ag.function(lambda x: np.exp(x) * 1.0, engine="native")

    def f(x, top, weights, exp=np.exp):
        e = exp(x - top)
        return e / e.sum(axis=1, keepdims=True), (exp(x) * weights).max(axis=1), exp(x).astype(np.float32).sum(axis=1)

    rng, staged = np.random.default_rng(2), ag.function(lambda x, top, weights: f(x, top, weights), engine="native")
    for columns in (*range(2, 34), 128, 137, 1000):
        x, weights = rng.normal(size=(5, columns)), rng.random(columns, np.float32)
        x[1, ::3] = -np.inf
        given = x, x.max(axis=1, keepdims=True), weights
        for found, expected in zip(staged(*given), f(*given, alone)):
            assert found.tobytes() == expected.tobytes()
    assert "NumPy's" not in str(staged.explain(*given))


@pytest.mark.parametrize("algorithm", [GNU, SVML])
def test_the_probe_is_compiled_once_and_kept_on_disk(algorithm, monkeypatch, tmp_path):
    if not exponential.is_supported(algorithm):
        pytest.skip("this processor cannot")
    monkeypatch.delenv("AUTOGRAPH_CACHE", raising=False)
    monkeypatch.setenv("AUTOGRAPH_CACHE_DIR", str(tmp_path))
    texts, compile = [], type(machine()).object
    monkeypatch.setattr(type(machine()), "object", lambda self, *args: texts.append(args) or compile(self, *args))
    x = numbers(algorithm, 24)
    first, second = exponential.compiled(algorithm)(x), exponential.compiled(algorithm)(x)
    assert len(texts) == 1 and first.tobytes() == second.tobytes()
