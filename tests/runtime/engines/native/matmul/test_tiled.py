"""Products of larger matrices: the loop by itself, and whether it or BLAS is chosen."""

import warnings
from contextvars import Context

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import autograph as ag
from autograph.runtime.engines.native.abi.c_entry import FAST_UNDERFLOWS, builtin
from autograph.runtime.engines.native.abi.jit import Code
from autograph.runtime.engines.native.libmath.libm import FLAGS
from autograph.runtime.engines.native.llvm.cpython_abi import Table
from autograph.runtime.engines.native.llvm.target import vectors
from autograph.runtime.engines.native.matmul import autotune
from autograph.runtime.engines.native.matmul.autotune import Layout, fastest, stretches
from autograph.runtime.engines.native.matmul.tiled import FACTS, FORMS, Tiled, fill

pytestmark = pytest.mark.skipif(
    not FLAGS or not FAST_UNDERFLOWS or vectors() is None, reason="NumPy's settings or the processor are not known"
)
RANDOM = np.random.default_rng(8)
SIZE, REGISTERS = vectors() or (32, 16)
WAYS = {
    "as it is": lambda x: x,
    "transposed": lambda x: x.T.copy().T,
    "every other row": lambda x: np.repeat(x, 2, axis=0)[::2],
    "every other column": lambda x: np.repeat(x, 2, axis=1)[:, ::2],
    "from its end": lambda x: x[::-1].copy()[::-1],
}


def other(x, y):
    raise AssertionError("the loop did not know these arrays")


def loop(dtype, form, x, y, ends):
    rule = np.zeros(len(FACTS) + len(ends), np.int64)
    fill(rule, x, y, ends)
    text = Tiled(np.dtype(dtype), SIZE // np.dtype(dtype).itemsize, form, rule, other)
    code = Code(text.text)
    return builtin(code.entry, Table.of(text.things), code)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("form", FORMS[REGISTERS])
@given(data=st.data())
def test_rests(dtype, form, data):
    """Rows and columns that the last tile leaves over, for numbers whose sums are exact in each order."""
    rows = form[0] + data.draw(st.integers(0, 2 * form[0]))
    columns = form[1] * SIZE // np.dtype(dtype).itemsize
    columns += data.draw(st.integers(0, 2 * columns))
    ends = sorted(data.draw(st.sets(st.integers(2, 40), min_size=1, max_size=4)))
    x = WAYS[data.draw(st.sampled_from(list(WAYS)))](RANDOM.integers(-9, 9, (rows, ends[-1])).astype(dtype))
    y = RANDOM.integers(-9, 9, (ends[-1], columns)).astype(dtype)
    y = y[:, : columns] if data.draw(st.booleans()) else np.concatenate([y, y], axis=1)[:, columns:]
    found = Context().run(loop(dtype, form, x, y, ends), x, y)     # where NumPy has the settings that it begins with
    assert found.dtype == dtype and found.flags.c_contiguous and found.tolist() == (x @ y).tolist()


def sums(x, y, ends=None):
    """A model of BLAS: sums of exact products, so that only their order counts."""
    total = None
    ends = (x.shape[1],) if ends is None else ends
    for begin, end in zip((0, *ends), ends):
        part = np.zeros((len(x), y.shape[1]), x.dtype)
        for p in range(begin, end):
            part += x[:, p : p + 1] * y[p]
        total = part if total is None else total + part
    return total


def coarse(layout, random):
    """Numbers of few digits, the product of two of which is exact."""
    numbers = (random.integers(-999, 999, layout.extent) * 2.0 ** random.integers(-20, 20, layout.extent)).astype("f4")
    return np.lib.stride_tricks.as_strided(numbers, layout.shape, layout.strides)


def given_arrays(rows, count, columns):
    shapes = (rows, count), (count, columns)
    return (coarse(Layout(np.dtype("f4"), shape, (4 * shape[1], 4)), RANDOM) for shape in shapes)


@pytest.fixture
def exact(monkeypatch):
    monkeypatch.setattr(Layout, "like", coarse)
    autotune._fastest.cache_clear()
    yield
    autotune._fastest.cache_clear()


@pytest.mark.parametrize("ends", [(70,), (48, 70), (32, 64, 70), (32, 52, 70)])
def test_where_sums_end_is_found_out(exact, ends):
    """A function that takes as long as this one is never the fastest."""
    def blas(x, y):
        return sums(x, y, ends)

    x, y = given_arrays(64, 70, 80)
    found = fastest(blas, x, y)
    assert found is not blas and found(x, y).tobytes() == blas(x, y).tobytes() != sums(x, y, (35, 70)).tobytes()
    assert found(x[:9], y).tobytes() == blas(x[:9], y).tobytes()       # another shape, so `blas` itself


@pytest.mark.parametrize("way", ["backwards", "twice", "an element", "none"])
def test_what_adds_otherwise_stays(exact, way):
    def blas(x, y):
        if way == "backwards":
            return sums(x[:, ::-1], y[::-1])
        if way == "twice":
            return sums(x[:, ::2], y[::2]) + sums(x[:, 1::2], y[1::2])
        found = sums(x, y)
        if way == "an element":
            found[-1, -1] = 0.5
        return found

    x, y = given_arrays(64, 70, 80)
    assert (fastest(blas, x, y) is blas) == (way != "none")


def test_what_is_faster_stays():
    x, y = np.ones((64, 64)), np.ones((64, 64))

    def at_once(a, b):
        return known[a.shape[0]]

    known = {64: Layout.of(x).like(np.random.default_rng(0))}
    assert fastest(at_once, x, y) is at_once


@pytest.mark.parametrize("error", [MemoryError, RecursionError])
def test_blas_stays_where_there_is_no_room_to_compare(exact, monkeypatch, error):
    def none(layout, random):
        raise error

    monkeypatch.setattr(Layout, "like", none)
    x = np.ones((64, 64))
    assert fastest(np.matmul, x, x.copy()) is np.matmul


@pytest.mark.parametrize("length", [66, 70, 77, 154, 462])
def test_numbers_to_try(length):
    """A column of zeros would not show on which side of it a sum ends."""
    x = Layout(np.dtype("f4"), (64, length), (4 * length, 4)).like(np.random.default_rng(0))
    zeros = np.signbit(x[x == 0.0])
    assert (x != 0.0).any(axis=0).all() and zeros.any() and not zeros.all()


def test_stretches():
    assert next(stretches(20)) == (20,)
    assert {(784,), (400, 784), (448, 784), (256, 512, 656, 784)} <= set(stretches(784))
    assert all(each[-1] == 784 and list(each) == sorted(set(each)) for each in stretches(784))


@pytest.mark.parametrize(
    "x",
    [
        np.ones((64, 64))[::-1],
        np.ones((64, 64))[:, ::-1],
        np.broadcast_to(np.ones(64), (64, 64)),
        np.ones((64, 64), ">f8"),
        np.ones((64, 64), "f2"),
        np.ones((64, 64), "c16"),
        np.ones((64, 64, 1)),
        np.ones((64, 64 * 64))[:, ::64],
        np.frombuffer(b"x" * (8 * 64 * 64 + 1), np.uint8)[1:].view("f8").reshape(64, 64),
        np.ones((64, 64)).tolist(),
        np.ma.ones((64, 64)),
    ],
    ids=str,
)
def test_arrays_that_are_left_to_numpy(x):
    assert Layout.of(x) is None and fastest(np.matmul, x, np.ones((64, 64))) is np.matmul


def outcome(function, *args):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(*args)
        except Exception as error:  # the same error must be raised
            return type(error), str(error)
    messages = [str(each.message) for each in caught]
    return [(each.dtype, each.shape, each.strides, each.tobytes()) for each in found], messages


@pytest.mark.parametrize("options", [{"engine": "native"}, {"engine": "auto"}])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_in_a_program(options, dtype, monkeypatch):
    """Whichever is faster, each bit is NumPy's; so are warnings and errors."""
    held = []
    monkeypatch.setattr(autotune, "fastest", lambda *args: held.append(args) or fastest(*args))

    def layer(w, x):
        y = np.matmul(x, w)
        return y, y * 0.5 + 1.0

    w, x = RANDOM.normal(size=(96, 96)).astype(dtype), RANDOM.normal(size=(80, 96)).astype(dtype)
    function = ag.function(layer, **options)
    for _ in range(5000 if options["engine"] == "auto" else 40):
        function(w, x)
    assert len(held) == 1
    strange = x.copy()
    strange[3, 5], strange[70, 95] = np.nan, np.inf
    big = np.full_like(x, np.finfo(dtype).max)
    layouts = [w, w.T, np.asfortranarray(w), np.repeat(w, 2, axis=1)[:, ::2], w[::-1]]
    for second in layouts:
        for first in (x, np.asfortranarray(x), x[::-1], strange, big, np.zeros_like(x), -x):
            assert outcome(function, second, first) == outcome(layer, second, first)
            with np.errstate(all="raise"):
                assert outcome(function, second, first) == outcome(layer, second, first)
    square = RANDOM.normal(size=(96, 96)).astype(dtype)
    for first in (square, square.T):    # of a matrix and its transpose NumPy computes but half
        assert outcome(function, square, first) == outcome(layer, square, first)


def test_results_are_new():
    def layer(w, x):
        y = x @ w
        y += 1.0
        return y

    function = ag.function(layer, engine="native")
    w, x = RANDOM.normal(size=(64, 128)), RANDOM.normal(size=(64, 64))
    results = [function(w, x) for _ in range(60)]
    assert len({each.ctypes.data for each in results}) == 60
    assert all(each.tobytes() == (x @ w + 1.0).tobytes() for each in results)
