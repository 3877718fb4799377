"""Complex numbers: operators on numbers of each class, bit for bit; arrays of them; loops that are all machine code."""

import itertools
import math

import numpy as np
import pytest

import autograph as ag
from tests.runtime.engines.native.programs import regions
from tests.runtime.engines.native.test_numbers import check, defined, outcome

PARTS = [0.0, -0.0, 1.0, -1.5, 0.1, 3e-300, 1e200, -1e308, 5e-324, float("inf"), float("-inf"), float("nan")]
COMPLEX = [complex(*parts) for parts in itertools.product(PARTS, PARTS)]
FEW = [complex(*parts) for parts in itertools.product(PARTS[::2], [0.0, -2.5, 1e200, float("inf"), float("nan")])]
with np.errstate(all="ignore"):
    VALUES = {
        "complex": FEW,
        "np.complex128": list(map(np.complex128, FEW)),
        "np.complex64": list(map(np.complex64, FEW)),
    }
OTHERS = {
    "float": PARTS, "np.float64": list(map(np.float64, PARTS)), "int": [0, 1, -3, 2**53 + 1, 2**70],
    "bool": [False, True],
    "np.float32": [np.float32(0.1), np.float32("nan")], "np.int64": [np.int64(-7), np.int64(2**53 + 1)],
    "np.uint8": [np.uint8(3)],
}  # fmt: skip
BINARY = ["x + y", "x - y", "x * y", "x / y", "x == y", "x != y", "y - x", "y / x", "x < y", "x // y",
          "x ** y", "y ** x"]  # fmt: skip
UNARY = ["-x", "+x", "abs(x)", "not x", "x.real", "x.imag", "x.conjugate()", "complex(x)", "bool(x)", "float(x)",
         "x ** 2", "x ** 3", "x ** 7", "x ** 2.0", "x ** 0", "x ** -1", "x * 2", "1 - x", "x / 2", "x + 0.5j", "2j * x",
         "x.imag * x.real", "1 if x else 2", "2.5 ** x", "x ** 0.5j",
         "x ** (2 + 0j)", "x ** (2 - 1j)", "0 ** x", "-3 ** x"]  # fmt: skip


@pytest.mark.parametrize("expression", BINARY)
@pytest.mark.parametrize(("a", "b"), [*itertools.product(VALUES, VALUES)])
def test_binary(expression, a, b, tmp_path):
    check(tmp_path, expression, "x, y", itertools.product(VALUES[a], VALUES[b][::3]))


@pytest.mark.parametrize("b", OTHERS)
@pytest.mark.parametrize("a", VALUES)
def test_with_real_numbers(a, b, tmp_path):
    for expression in BINARY:
        check(tmp_path, expression, "x, y", itertools.product(VALUES[a][::2], OTHERS[b]))


@pytest.mark.parametrize("expression", UNARY)
@pytest.mark.parametrize("kind", VALUES)
def test_unary(expression, kind, tmp_path):
    check(tmp_path, expression, "x", [(x,) for x in (COMPLEX if kind == "complex" else VALUES[kind])])


def test_made_of_parts(tmp_path):
    check(tmp_path, "complex(x, y)", "x, y", itertools.product([*PARTS, 3, True, np.float32(0.1), 1j], PARTS))


@pytest.mark.parametrize("dtype", ["complex128", "complex64", "float64", "int64", "bool"])
@pytest.mark.parametrize("kind", [*VALUES, *OTHERS])
def test_assignments(kind, dtype, tmp_path):
    plain = defined(tmp_path, "def f(a, x, n):\n for i in range(n):\n  a[i] = x\n return a")
    function = ag.function(plain, engine="native")
    for value in (VALUES | OTHERS)[kind]:
        wanted = outcome(plain, np.zeros(1, dtype), value, 1)
        assert outcome(function, np.zeros(1, dtype), value, 1) == wanted, value


# Loops ----------------------------------------------------------------------------------------------------------------


def escapes(c, n):
    z = 0j
    for iteration in range(n):
        if abs(z) > 2:
            return iteration, z
        z = z * z + c
    return n, z


def horner(coefficients, x):
    found = 0j
    for each in coefficients:
        found = found * x + each
    return found


def newton(z, n):
    """For a root of `z ** 3 - 1`; raises where the slope is zero."""
    for _ in range(n):
        z = z - (z**3 - 1) / (3 * z**2)
    return z


def convolved(a, b, out):
    for i in range(len(a)):
        for j in range(len(b)):
            out[i + j] += a[i] * b[j]
    return out


def widened(xs, n):
    """A float that becomes a complex number on the way, and a pair that swaps."""
    total, pair = 0.0, (1j, 2.0)
    for iteration in range(n):
        total = total + xs[iteration % len(xs)] if iteration != 3 else total * 1j
        pair = pair[1], pair[0]
    return total, pair


def powers(z, n, out):
    for iteration in range(n):
        out[iteration] = z.real, z.imag
        z = z * z.conjugate() - 1j
    return z


WAVES = np.exp(1j * np.arange(12.0))
LOOPS = [
    (escapes, (0.1 + 0.2j, 500)), (escapes, (1 + 1j, 500)), (escapes, (np.complex128(0.3 - 0.5j), 50)),
    (escapes, (np.complex64(1 + 1j), 50)), (escapes, (float("nan"), 5)), (escapes, (1e200 + 0j, 5)),
    (horner, (WAVES, 0.5j)), (horner, (WAVES[::-2], np.complex128(0.5j))), (horner, (WAVES.astype("c8"), 2)),
    (horner, (WAVES.astype(">c16"), 1j)), (horner, (np.zeros(0, complex), 1j)), (horner, (np.arange(3.0), 1j)),
    (newton, (1 + 1j, 20)), (newton, (0j, 20)), (newton, (0j, 0)), (newton, (np.complex128(0), 3)),
    (convolved, (WAVES, WAVES[:3], np.zeros(14, complex))), (convolved, (WAVES, WAVES[:3], np.zeros(13, complex))),
    (convolved, (WAVES, np.arange(3.0), np.zeros(14, "c8"))), (convolved, (WAVES, WAVES, np.zeros(30))),
    (widened, ([1.0, 2.0], 9)), (widened, (WAVES, 9)), (widened, (WAVES.real, 2)), (widened, (WAVES.real, 4)),
    (powers, (0.5 + 1j, 6, np.zeros((6, 2)))),
]  # fmt: skip


def copied(args):
    return [arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args]


def twiddles(n):
    found = 0j
    for k in range(n):
        found += math.e ** (-2j * math.pi * k / n) + (k - 0.5) ** (0.5 + k * 1j)
    return found


@pytest.mark.parametrize(("plain", "args"), LOOPS)
def test_loops(plain, args):
    function = ag.function(plain, engine="native")
    for _ in range(3):      # the third goes by the fast entry
        given, expected = copied(args), copied(args)
        assert outcome(function, *given) == outcome(plain, *expected)
        for one, other in zip(given, expected):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("plain", "args"),
    [(escapes, (0.1 + 0.2j, 500)), (horner, (WAVES, 0.5j)), (newton, (1 + 1j, 20)),
     (convolved, (WAVES, WAVES[:3], np.zeros(14, complex))), (twiddles, (40,))],
)  # fmt: skip
def test_python_has_no_part_in_them(plain, args):
    function = ag.function(plain, engine="native", strict=("native_callback",))
    function(*args)
    for region in regions(function):
        assert [bool(version.callbacks) for version in region.compiled] == [False] and not region.left


@pytest.mark.parametrize("iterations", range(1, 30, 4))
@pytest.mark.parametrize(("plain", "args"), LOOPS[:2] + LOOPS[12:13] + LOOPS[20:21])
def test_code_may_be_left_anywhere(plain, args, iterations, fuel):
    function = ag.function(plain, engine="native")
    fuel.value = iterations
    assert outcome(function, *copied(args)) == outcome(plain, *copied(args))
