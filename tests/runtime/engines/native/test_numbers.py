"""Each operator, on numbers of each class: what Python and NumPy give, warnings and exceptions included."""

import math
import warnings

import numpy as np
import pytest

import autograph as ag

INTS = [0, 1, -1, 2, 3, -7, 10, 62, 63, 64, 2**31, -(2**31), 2**53 + 1, 2**62, 2**63 - 1, -(2**63), 2**63, -(2**70)]
FLOATS = [0.0, -0.0, 1.0, -1.5, 0.1, 3.0, -7.25, 1e308, -1e308, 5e-324, 2.0**53, 2.0**63, float("inf"), float("-inf")]
FLOATS.append(float("nan"))
VALUES = {"int": INTS, "float": FLOATS, "bool": [False, True]}
for _name in ("int8", "uint8", "int32", "int64", "uint64", "float32", "float64", "bool"):
    _dtype = np.dtype(_name)
    if _dtype.kind in "iu":
        _info = np.iinfo(_dtype)
        VALUES[f"np.{_name}"] = [_dtype.type(each) for each in INTS if _info.min <= each <= _info.max] + [
            _dtype.type(_info.min),
            _dtype.type(_info.max),
        ]
    else:
        with np.errstate(all="ignore"):
            VALUES[f"np.{_name}"] = [_dtype.type(each) for each in (FLOATS if _dtype.kind == "f" else [0, 1])]

BINARY = """add sub mul truediv floordiv mod and_ or_ xor lshift rshift lt le eq ne gt ge""".split()
SYMBOLS = dict(zip(BINARY, "+ - * / // % & | ^ << >> < <= == != > >=".split()))
UNARY = ["-x", "+x", "~x", "abs(x)", "not x", "int(x)", "float(x)", "bool(x)"]
COMMON = [("int", "int"), ("float", "float"), ("int", "float"), ("np.float64", "np.float64"), ("np.int64", "int")]
PAIRS = [(a, b) for a in VALUES for b in VALUES if (a, b) not in COMMON]


def outcome(function, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(*args)
            told = type(found), repr(found)
        except Exception as error:      # whatever it is, it must be the same
            told = type(error), str(error)
    return told, [(each.category, str(each.message)) for each in caught]


def defined(folder, text):
    """The function `f` of a file."""
    path, names = folder / "program.py", {"math": math, "np": np}
    path.write_text(text)
    exec(compile(text, str(path), "exec"), names)
    return names["f"]


def check(tmp_path, expression, parameters, examples):
    """Machine code does what the expression does."""
    iterations = f"found = 0\n for _ in range(n):\n  found = {expression}\n return found"
    plain = defined(tmp_path, f"def f({parameters}, n):\n {iterations}")
    function = ag.function(plain, engine="native")
    for example in examples:
        wanted = outcome(plain, *example, 1)
        if "shift count" in wanted[0][1] or len(wanted[0][1]) > 10_000:
            continue
        assert outcome(function, *example, 1) == wanted, (expression, example)


def pairs_of(a, b, name):
    """Examples, without shifts that take gigabytes."""
    for x in VALUES[a]:
        for y in VALUES[b]:
            if name != "lshift" or not isinstance(y, (int, np.integer)) or y < 100:
                yield x, y


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("a, b", COMMON, ids=str)
def test_binary(name, a, b, tmp_path):
    check(tmp_path, f"x {SYMBOLS[name]} y", "x, y", pairs_of(a, b, name))


@pytest.mark.slow
@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("a, b", PAIRS, ids=str)
def test_binary_of_others(name, a, b, tmp_path):
    check(tmp_path, f"x {SYMBOLS[name]} y", "x, y", pairs_of(a, b, name))


@pytest.mark.parametrize("expression", UNARY)
@pytest.mark.parametrize("kind", VALUES)
def test_unary(expression, kind, tmp_path):
    check(tmp_path, expression, "x", [(x,) for x in VALUES[kind]])


@pytest.mark.parametrize("name", ["min", "max"])
@pytest.mark.parametrize("kind", ["int", "float", "np.float64", "np.int8"])
def test_extremes(name, kind, tmp_path):
    check(tmp_path, f"{name}(x, y)", "x, y", [(x, y) for x in VALUES[kind] for y in VALUES[kind]])


@pytest.mark.parametrize("name", ["min", "max"])
@pytest.mark.parametrize("kind", ["int", "float", "bool", "np.float64", "np.int8"])
@pytest.mark.parametrize("bound", ["0", "-0.0", "2.5", "True", "3", "2**70", "float('nan')"])
def test_bounds_by_constants(name, kind, bound, tmp_path):
    for args in (f"x, {bound}", f"{bound}, x"):
        check(tmp_path, f"{name}({args})", "x", [(x,) for x in VALUES[kind]])


def test_a_bound_of_another_class_is_machine_code(tmp_path):
    body = " total = 0.0\n for i in range(n):\n  total += max(xs[i] - 1.0, 0)\n return total"
    plain = defined(tmp_path, f"def f(xs, n):\n{body}")
    function, xs = ag.function(plain, engine="native"), np.arange(9) / 4
    assert function(xs, 9) == plain(xs, 9)
    assert "calls Python" not in str(function.explain(xs, 9))


@pytest.mark.parametrize("exponent", [1, 2, 3, 5, -1, 0])
@pytest.mark.parametrize("kind", ["int", "np.int64", "np.int8", "float", "np.float64"])
def test_powers(kind, exponent, tmp_path):
    check(tmp_path, f"x ** {exponent}", "x", [(x,) for x in VALUES[kind]])


@pytest.mark.parametrize("by", [2, 8, 3, -1, -4, 1])
@pytest.mark.parametrize("kind", ["int", "np.int64", "np.int8", "np.uint8"])
def test_divisions_by_constants(kind, by, tmp_path):
    for symbol in ("//", "%"):
        check(tmp_path, f"x {symbol} {by}", "x", [(x,) for x in VALUES[kind]])


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "float32", "float64", "bool"])
def test_assignments(kind, dtype, tmp_path):
    plain = defined(tmp_path, "def f(a, x, n):\n for i in range(n):\n  a[i] = x\n return a")
    function = ag.function(plain, engine="native")
    for value in VALUES[kind]:
        wanted = outcome(plain, np.zeros(1, dtype), value, 1)
        assert outcome(function, np.zeros(1, dtype), value, 1) == wanted, value


@pytest.mark.parametrize("start", [0, 5, -3, 2**40, -(2**63)])
@pytest.mark.parametrize("stop", [0, 4, -9, 2**40 + 3])
@pytest.mark.parametrize("step", [1, -1, 2, -3, 2**60, 0])
def test_ranges(start, stop, step):
    function = RANGES
    assert outcome(function, start, stop, step) == outcome(function.python_function, start, stop, step)


@ag.function(engine="native")
def RANGES(start, stop, step):
    found, item = 0, -1
    for iteration in range(1):
        for item in range(start, stop, step):
            found += 1
            if found > 10:
                break
    return found, item


@pytest.mark.parametrize("mode", ["raise", "warn", "ignore"])
@pytest.mark.parametrize("expression", ["x * x", "x / 1e300", "x - x", "x * 1e300 * 1e300", "x + x"])
def test_settings_of_numpy(mode, expression, tmp_path):
    """Underflows too, of which NumPy tells only if it is told to."""
    examples = [(np.float64(each),) for each in (1e-300, 1.0, 1e200, 5e-324, -1e-200)]
    check(tmp_path, expression, "x", examples)
    with np.errstate(all=mode):
        check(tmp_path, expression, "x", examples)
