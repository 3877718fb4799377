"""`math` and powers: what Python gives, bit for bit, exceptions included."""

import math
import random

import numpy as np
import pytest

import autograph as ag
from tests.runtime.engines.native.test_numbers import VALUES, check

NUMBERS = [random.Random(1).choice((1, -1)) * 10 ** random.Random(seed).uniform(-8, 8) for seed in range(300)]
EXAMPLES = [*VALUES["float"], *VALUES["int"], *VALUES["np.float32"], True, *NUMBERS, *(-x for x in NUMBERS)]
ONE = """acos asin atan acosh asinh atanh cos cosh exp expm1 log log10 log1p log2 sin sinh tan tanh sqrt fabs floor ceil
trunc degrees radians isnan isfinite exp2 cbrt""".split()

OF_NUMPY = """sqrt square reciprocal fabs absolute sign floor ceil trunc rint copysign isnan isinf isfinite exp exp2
expm1 log log2 log10 log1p sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh cbrt power arctan2
hypot""".split()


@pytest.mark.parametrize("name", [name for name in ONE if hasattr(math, name)])
def test_of_one(name, tmp_path):
    check(tmp_path, f"math.{name}(x)", "x", [(x,) for x in EXAMPLES])


@pytest.mark.parametrize("name", OF_NUMPY)
@pytest.mark.parametrize("kind", ["np.float64", "np.float32", "int", "np.int8"])
def test_of_numpy(name, kind, tmp_path):
    examples = VALUES[kind] + (NUMBERS[:50] if kind == "np.float64" else [])
    if name in ("copysign", "power", "arctan2", "hypot"):
        check(tmp_path, f"np.{name}(x, y)", "x, y", [(x, y) for x in examples[:15] for y in (*VALUES[kind], -1.0, 2)])
    else:
        check(tmp_path, f"np.{name}(x)", "x", [(x,) for x in examples])


def test_functions_of_numpy_are_machine_code():
    def length(x, y):
        total = 0.0
        for i in range(len(x)):
            total += np.sqrt(np.square(x[i]) + np.abs(y[i])) * np.exp(-x[i]) - np.arctan2(x[i], y[i])
        return total

    function = ag.function(length, engine="native", strict="native_callback")
    x = np.linspace(0, 1, 50)
    assert repr(function(x, -x)) == repr(length(x, -x))


@pytest.mark.parametrize("expression", ["math.atan2(x, y)", "math.pow(x, y)", "math.copysign(x, y)", "math.fmod(x, y)"])
def test_of_two(expression, tmp_path):
    pairs = [(x, y) for x in VALUES["float"] for y in VALUES["float"]]
    check(tmp_path, expression, "x, y", [*pairs, *zip(NUMBERS, NUMBERS[7:]), (2, 3), (2.5, 3), (0, 0)])


INTEGERS = [0, 1, -1, 2, 6, -36, 97, 2**31, 2**53 + 1, -(2**62), 2**62 + 1, 2**63 - 1, -(2**63), 2**64, True, 3.0]
INTEGERS += [random.Random(seed).randrange(10**9) ** 2 + delta for seed in range(20) for delta in (-1, 0, 1)]


@pytest.mark.parametrize("expression", ["math.isqrt(x)", "x.bit_length()", "math.factorial(x % 25)", "math.isinf(x)"])
def test_of_an_integer(expression, tmp_path):
    check(tmp_path, expression, "x", [(x,) for x in (*INTEGERS, math.inf, -math.inf, math.nan, 0.5)])


@pytest.mark.parametrize("expression", ["math.gcd(x, y)", "math.lcm(x, y)", "math.comb(x, y % 9)"])
def test_of_two_integers(expression, tmp_path):
    check(tmp_path, expression, "x, y", [(x, y) for x in INTEGERS for y in (*INTEGERS[:20], 12, 10**6)])


TWO = ["hypot(x, y)", "log(x, y)", "isclose(x, y)", "ldexp(x, y)", "remainder(x, y)", "dist((x, 1), (y, 2.5))"]


@pytest.mark.parametrize("expression", TWO)
def test_of_two_floats(expression, tmp_path):
    near = [(x, x * (1 + difference)) for x in NUMBERS[:40] for difference in (1e-9, 1.0000001e-9, 9e-10)]
    pairs = [*zip(NUMBERS, NUMBERS[7:]), *near, (0, 0), (2, 3), (1, 0), (8, 2), (1, 1), (0.5, 400), ("1", 2)]
    check(tmp_path, f"math.{expression}", "x, y", [*pairs, *((x, y) for x in VALUES["float"] for y in VALUES["float"])])


@pytest.mark.parametrize("kind", ["float", "int"])
def test_powers(kind, tmp_path):
    pairs = [(x, y) for x in VALUES["float"] for y in VALUES[kind]]
    check(tmp_path, "x ** y", "x, y", [*pairs, *zip(NUMBERS, (3, 0.5, 2, -1, 1.5) * 60)])
    check(tmp_path, "x ** 2", "x", [(x,) for x in EXAMPLES if not isinstance(x, int)])


@pytest.mark.parametrize("expression", ["math.log(x, 2)", "int(x, 3)", "int()", "len(x, x)", "math.sin(x, x)", "min()"])
def test_other_arguments(expression, tmp_path):
    check(tmp_path, expression, "x", [(0.5,), (2,)])
