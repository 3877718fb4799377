"""Products of small matrices, by NumPy's loop."""

import itertools
import operator
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograph as ag
from autograph.runtime.engines.native.matmul.small import FAST_UNDERFLOWS, FLAGS, LARGE, SOON, entry_of

NDIMS = [*itertools.product((1, 2), repeat=2)]
ENTRIES = [entry_of(operator.matmul, np.dtype(char), ndims) for char in "fd" for ndims in NDIMS]
RANDOM = np.random.default_rng(3)


def outcome(function, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(*args)
        except Exception as error:  # the same error must be raised
            return type(error), str(error)
    messages = [str(each.message) for each in caught]
    layout = found.flags.num, found.strides, found.base is None
    return type(found), found.shape, found.dtype.str, found.tobytes(), layout if found.ndim else None, messages


def same(x, y):
    """Also of entries for arrays of another dtype, or of another number of dimensions."""
    for entry in ENTRIES:
        assert outcome(entry, x, y) == outcome(operator.matmul, x, y)


@pytest.mark.skipif(not FLAGS or not FAST_UNDERFLOWS, reason="NumPy's settings or the processor's flags are not known")
def test_there_is_one():
    assert operator.matmul not in ENTRIES and len({*ENTRIES}) == 8
    assert entry_of(operator.matmul, np.dtype(">f8"), (2, 2)) is operator.matmul


@st.composite
def arrays(draw, shape):
    """An array of that shape, which lies in memory in one way or another."""
    dtype = np.dtype(draw(st.sampled_from(["f8", "f8", "f4", "f2", "i8", "c16", ">f8"])))
    steps = [draw(st.sampled_from([1, 1, 2, -1, -3])) for _ in shape]
    numbers = RANDOM.normal(size=[length * abs(step) for length, step in zip(shape, steps)])
    if draw(st.integers(0, 5)) == 0 and numbers.size:
        special = st.sampled_from([np.inf, np.nan, 1e308, 1e-308, -0.0])
        numbers.flat[draw(st.integers(0, numbers.size - 1))] = draw(special)
    with np.errstate(all="ignore"):
        found = numbers.astype(dtype, order=draw(st.sampled_from("CF")))
    found = found[tuple(slice(None, None, step) for step in steps)]
    return np.broadcast_to(found[:1], shape) if shape[0] and draw(st.integers(0, 9)) == 0 else found


LENGTHS = st.sampled_from([0, 1, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 33])


@given(st.data(), LENGTHS, LENGTHS, LENGTHS)
def test_each_bit_is_that_of_numpy(data, rows, count, columns):
    first = data.draw(st.sampled_from([(rows, count), (count,), (2, rows, count), ()]))
    second = data.draw(st.sampled_from([(count, columns), (count,), (count + 1,), (columns, count)]))
    same(data.draw(arrays(first)) if first else 3.0, data.draw(arrays(second)))


def test_one_array_with_itself():
    x = RANDOM.normal(size=(8, 8))
    for y in (x, x.T, x[::2], x[0], x[:, 1]):
        for other in (x, x.T, x[0]):
            same(y, other)


def test_what_numpy_warns_of():
    big, strange = np.full((3, 3), 1e200), np.array([[np.inf, 1.0], [0.0, 1.0]])
    for x, y in ((big, big), (big[0], big[0]), (strange, strange - 1.0), (strange, np.zeros((2, 2)))):
        same(x, y)
        with np.errstate(all="raise"):
            same(x, y)
        with np.errstate(all="ignore"):
            same(x, y)


def test_other_things():
    class Mine(np.ndarray):
        pass

    x = RANDOM.normal(size=(3, 3))
    unaligned = np.frombuffer(b"x" + x.tobytes(), np.uint8)[1:].view(np.float64).reshape(3, 3)
    for other in (x.view(Mine), unaligned, x.tolist(), None, np.float64(2), x[:0], x[..., None]):
        same(x, other)
        same(other, x)
    assert all(outcome(entry, x)[0] is TypeError for entry in ENTRIES)


def test_numpy_computes_large_products():
    length = round(LARGE ** (1 / 3)) + 1
    for size in (length - 1, length, 2 * length):
        x = RANDOM.normal(size=(size, size))
        same(x, x.T)


def test_memory():
    """Each result is new, and freed after its last use."""
    x = RANDOM.normal(size=(4, 4))
    product, vectors = (entry_of(operator.matmul, x.dtype, ndims) for ndims in ((2, 2), (1, 1)))
    before = sys.getrefcount(np.dtype("f8")), sys.getrefcount(x)
    results, others = [product(x, x) for _ in range(100)], [x @ x]
    counts = sys.getrefcount(results[0]), sys.getrefcount(others[0])
    assert counts[0] == counts[1] and len({each.ctypes.data for each in results}) == 100
    for _ in range(100):
        vectors(x[0], x[1])
    del results, others
    assert (sys.getrefcount(np.dtype("f8")), sys.getrefcount(x)) == before


@pytest.mark.parametrize("options", [{"engine": "native"}, {"engine": "auto"}])
def test_in_a_program(options):
    def filtered(a, b, x, n):
        found = 0.0
        for i in range(n):
            x = a @ x + np.matmul(b, x) * 0.5
            found += (x @ x) * i
        return x, found

    a, b, x = RANDOM.normal(size=(4, 4)) * 0.1, RANDOM.normal(size=(4, 4)) * 0.1, RANDOM.normal(size=4)
    function = ag.function(filtered, **options)
    for n in (3, 50, 200):
        (found, total), (wanted, sum) = function(a, b, x, n), filtered(a, b, x, n)
        assert found.tobytes() == wanted.tobytes() and (type(total), total) == (type(sum), sum)
    with pytest.raises(ValueError, match="matmul: Input operand 1 has a mismatch"):
        function(a, b, x[:3], 3)


# Warnings -------------------------------------------------------------------------------------------------------------


def small(a, b):
    return a @ b + 1


def larger(a, b):
    return a @ b


def in_a_loop(a, b):
    for _ in range(3):
        a = a @ b
    return a


@pytest.mark.parametrize("size", [2, 40])
@pytest.mark.parametrize("function", [small, larger, in_a_loop])
@pytest.mark.parametrize("action", ["always", "default"])
def test_warnings_name_the_line_of_the_user(function, size, action):
    a, b = np.ones((size, size)), np.ones((size, size))
    a[0, 0], b[0, 0] = np.inf, 0.0

    def warned(called):
        globals().pop("__warningregistry__", None)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter(action)
            for _ in range(2 * SOON):
                called(a, b)
        return [(each.filename, each.lineno, each.category, str(each.message)) for each in found]

    staged = ag.function(function, engine="native", passes={"cse": False, "licm": False})
    assert warned(staged) == warned(function)
