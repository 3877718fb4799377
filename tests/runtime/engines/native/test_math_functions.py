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


@pytest.mark.parametrize("kind", ["float", "int"])
def test_powers(kind, tmp_path):
    pairs = [(x, y) for x in VALUES["float"] for y in VALUES[kind]]
    check(tmp_path, "x ** y", "x, y", [*pairs, *zip(NUMBERS, (3, 0.5, 2, -1, 1.5) * 60)])
    check(tmp_path, "x ** 2", "x", [(x,) for x in EXAMPLES if not isinstance(x, int)])


@pytest.mark.parametrize("expression", ["math.log(x, 2)", "int(x, 3)", "int()", "len(x, x)", "math.sin(x, x)", "min()"])
def test_other_arguments(expression, tmp_path):
    check(tmp_path, expression, "x", [(0.5,), (2,)])
