"""NumPy's functions of numbers: what NumPy gives, bit for bit, warnings and exceptions included."""

import numpy as np
import pytest

import autograph as ag
from tests.runtime.engines.native.programs import regions
from tests.runtime.engines.native.test_math_functions import NUMBERS
from tests.runtime.engines.native.test_numbers import VALUES, check, defined

UFUNCS = {name: value for name, value in vars(np).items() if isinstance(value, np.ufunc) and value.signature is None}
KINDS = ("np.float64", "float", "np.int64", "np.float32", "bool", "int", "np.int8", "np.uint64", "np.bool")
EXACT = """abs fabs sqrt floor ceil trunc rint sign square negative positive reciprocal isnan isinf isfinite invert
logical_not""".split()
CALLED = "exp log sin cos tanh log1p expm1 arctan cbrt exp2 signbit degrees sinh".split()
OF_TWO = """add subtract multiply divide maximum minimum copysign less equal logical_and bitwise_and floor_divide
remainder power hypot arctan2 fmod fmax logaddexp left_shift greater_equal not_equal heaviside nextafter""".split()
CALLS = """np.float64(x) np.float32(x) np.int64(x) np.int8(x) np.uint64(x) np.bool_(x) round(x) round(x,2) np.round(x)
np.round(x,3) np.clip(x,0,1.5) np.clip(x,-0.0,0.0) np.clip(x,0.5,x) np.clip(x,x,1) x.item() x.clip(0,1) x.round() x**2
x**0.5 x.round(1) np.maximum(x,2) np.minimum(x,0.1) np.add(x,1) np.power(x,2) np.power(x,0.5) np.multiply(x,3.5)
np.float64(x)**3 np.clip(x,-300,300) np.around(x,1) np.int64()""".split()


def numbers(kind):
    """Of a kind, with some that are drawn for floats."""
    drawn = {"float": NUMBERS, "np.float64": [np.float64(each) for each in NUMBERS]}
    drawn["np.float32"] = [np.float32(each) for each in NUMBERS]
    return [*VALUES[kind], *drawn.get(kind, ())[::7]]


def of_one(tmp_path, expression, kinds):
    for kind in kinds:
        check(tmp_path, expression, "x", [(x,) for x in numbers(kind)])


@pytest.mark.parametrize("name", [*EXACT, *CALLED])
def test_of_one(name, tmp_path):
    of_one(tmp_path, f"np.{name}(x)", KINDS[:2])


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, ufunc in UFUNCS.items() if ufunc.nin == 1])
def test_of_one_of_all_kinds(name, tmp_path):
    of_one(tmp_path, f"np.{name}(x)", KINDS)


def pairs(a, b):
    return [(x, y) for x in VALUES[a] for y in VALUES[b]]


@pytest.mark.parametrize("name", OF_TWO)
@pytest.mark.parametrize("a, b", [("np.float64", "np.float64"), ("np.int64", "int")], ids=str)
def test_of_two(name, a, b, tmp_path):
    check(tmp_path, f"np.{name}(x, y)", "x, y", pairs(a, b))


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, ufunc in UFUNCS.items() if ufunc.nin == 2])
@pytest.mark.parametrize("a", KINDS)
def test_of_two_of_all_kinds(name, a, tmp_path):
    for b in KINDS:
        check(tmp_path, f"np.{name}(x, y)", "x, y", pairs(a, b))


@pytest.mark.parametrize("expression", CALLS)
def test_calls(expression, tmp_path):
    of_one(tmp_path, expression, ("np.float64", "np.int64", "float"))


@pytest.mark.slow
@pytest.mark.parametrize("expression", CALLS)
def test_calls_of_all_kinds(expression, tmp_path):
    of_one(tmp_path, expression, KINDS)


def test_they_are_machine_code(tmp_path):
    """Of NumPy's floats, none is left to Python."""
    x = np.linspace(0.1, 0.9, 50)
    for name in (*EXACT[:-2], *CALLED):
        plain = defined(tmp_path, f"def f(x):\n found = 0.0\n for v in x:\n  found = np.{name}(v)\n return found")
        function = ag.function(plain, engine="native", strict="native_callback")
        assert function(x) == plain(x)
        assert len(regions(function)[0].compiled) == 1


def test_powers_are_machine_code(tmp_path):
    plain = defined(tmp_path, "def f(x):\n found = 0.0\n for v in x:\n  found += v ** 2 + v ** v\n return found")
    x = np.linspace(0.1, 0.9, 50)
    assert repr(ag.function(plain, engine="native", strict="native_callback")(x)) == repr(plain(x))


@pytest.mark.parametrize("a, b", [("np.float64", "np.float64"), ("np.float64", "int"), ("float", "np.float64")])
def test_powers(a, b, tmp_path):
    whole = [type(VALUES[b][0])(each) for each in (2, 3, -1)]
    check(tmp_path, "x ** y", "x, y", pairs(a, b) + [(x, y) for x in numbers(a) for y in whole])


def test_they_are_vectorized():
    def shrunk(x, out):
        for i in range(len(x)):
            out[i] = np.maximum(np.abs(x[i]) - 0.5, 0.0) * np.sign(x[i]) + np.sqrt(np.floor(x[i] * x[i]))

    x = np.linspace(-3, 3, 3000)
    function, out, wanted = ag.function(shrunk, engine="native"), np.zeros(3000), np.zeros(3000)
    function(x, out)
    shrunk(x, wanted)
    assert out.tobytes() == wanted.tobytes()
    assert "x double>" in function.lower(x, out).llvm
