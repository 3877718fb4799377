"""Numbers beside arrays are arrays of no dimension, and nothing but the time that it takes tells of it."""

import operator
import tracemalloc
import warnings

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.numpy.fast_paths import beside_array, is_kept, kept
from autograph.runtime.graph.graph import Node, Value
from autograph.runtime.graph.types import TensorType

DTYPES = "?bhilBHILefdFD"
NUMBERS = [0, 1, -1, 3, 200, 2**31, 2**53 + 1, 2**63, -(2**63), 10**400]
NUMBERS += [0.0, -0.0, 0.1, 2.0, -1.5, 1e-5, 1e-40, 1e-300, 5e-324, 70000.0, 1e39, 1e300, float("inf"), float("nan")]
NUMBERS += [np.float32(0.1), np.float64(-0.0), np.int8(-3), np.uint64(2**63), np.float16(2), np.complex64(1j)]
OPERATORS = "add sub mul truediv floordiv mod lshift rshift and_ or_ xor lt le eq ne gt ge pow".split()
OTHERS = [np.maximum, np.fmin, np.hypot, np.copysign, np.logical_and, np.power, np.float_power, np.heaviside]


def outcome(function, *args):
    """What came of a call: bits and dtype, or an error; and warnings."""
    with warnings.catch_warnings(record=True) as given, np.errstate(all="warn"):
        warnings.simplefilter("always")
        try:
            found = function(*args)
            found = found.dtype, found.shape, found.tobytes()
        except Exception as error:  # noqa: BLE001 all must be the same
            found = type(error), str(error)
        return found, [(str(each.message), each.category) for each in given]


@pytest.mark.parametrize("char", DTYPES)
def test_the_same_bits_and_warnings_come_of_all_numbers_beside_all_dtypes(char):
    with np.errstate(all="ignore"):
        array = np.array([0, 1, 2, 3, 100, 127], char) * np.array([1, 1, 1, 1, 1, 1], char)
    replaced = 0
    for function in [*(getattr(operator, name) for name in OPERATORS), *OTHERS]:
        for number in NUMBERS:
            for first in (False, True):
                args = (number, array) if first else (array, number)
                taken = as_taken(function, args)
                if taken is not args:
                    replaced += 1
                    assert outcome(function, *taken) == outcome(function, *args), (function, args)
    assert replaced > 100


def as_taken(function, args):
    """The operands that the engine gives a function, of these."""
    name = function.__name__.rstrip("_")
    op = f"np.{name}" if isinstance(function, np.ufunc) else name
    values = [Value(TensorType(arg.dtype, arg.shape)) if isinstance(arg, np.ndarray) else arg for arg in args]
    found = beside_array(Node(op, tuple(values)))
    if found is None:
        return args
    place, array = found
    assert array.ndim == 0 and not array.flags.writeable
    return tuple(array if at == place else arg for at, arg in enumerate(args))


@ag.function
def scaled(x, y):
    x -= 2
    return 0.1 * x + 1, np.maximum(y, 0.0), 1 / y, y > 1


def test_functions_give_what_they_give_undecorated():
    x, y = np.arange(5.0), np.arange(1, 5, dtype=np.float32)
    expected = scaled.python_function(x.copy(), y)
    for mine, theirs in zip(scaled(x.copy(), y), expected):
        assert mine.dtype == theirs.dtype and mine.tobytes() == theirs.tobytes()


def test_the_text_tells_the_numbers():
    assert "0.1 * x + 1, np.maximum(y, 0.0), 1 / y, y > 1" in str(scaled.lower(np.ones(3), np.ones(3)))


def test_numbers_beside_numbers_stay_numbers():
    for shape in ((), None):
        other = Value(TensorType(np.dtype(float), shape or (), "array" if shape == () else "python"))
        assert beside_array(Node("mul", (other, 2.0))) is None
    inexact = Value(TensorType(np.dtype(float), (3,), exact=False))
    assert beside_array(Node("mul", (inexact, 2.0))) is None


def test_powers_stay_as_they_are():
    """For some exponents, NumPy multiplies."""
    assert beside_array(Node("pow", (Value(TensorType(np.dtype(float), (3,))), 2))) is None


def test_equal_numbers_are_one_array():
    assert kept(np.float32(0.5)) is kept(np.float32(0.5))
    assert kept(np.float32(0.0)) is not kept(np.float32(-0.0))
    assert is_kept(kept(np.int64(3))) and not is_kept(np.array(3))


def test_temporaries_of_float32_are_reused():
    """As they are of float64: by NumPy, which does not if it must convert a number."""
    @ag.function(engine="numpy")
    def doubled(x):
        return 0.1 * (x + x)

    x = np.ones(2**18, np.float32)
    doubled(x)
    tracemalloc.start()
    doubled(x)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * x.nbytes
