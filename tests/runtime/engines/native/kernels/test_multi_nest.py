"""Operations after a reduction of rows: a block of rows goes through all nests."""

import random
import warnings

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.kernels import entry_points, kernel


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def in_place(x):
    e = np.exp(x - 1)
    e /= e.sum(axis=1, keepdims=True)
    e *= 2
    return e


def layer_norm(x):
    apart = x - x.mean(axis=-1, keepdims=True)
    variance = (apart * apart).mean(axis=-1, keepdims=True)
    return apart / np.sqrt(variance + 1e-5) * 3 + 1


def log_sum_exp(x):
    top = x.max(axis=-1, keepdims=True)
    return top + np.log(np.exp(x - top).sum(axis=-1, keepdims=True))


def all_of_it(x):
    """Intermediate arrays that are results, too."""
    twice = x * 2
    total = twice.sum(axis=1, keepdims=True)
    share = twice / total
    return twice, total, share, (share * share).sum(axis=1)


def above_the_least(x):
    least = x.min(axis=1, keepdims=True)
    return x - least, least


def of_booleans(x):
    some = (x > 1).any(axis=1, keepdims=True)
    return np.where(some, x, 0.5)


def twice_over(x):
    for _ in range(2):
        x = x / np.sqrt((x * x).sum(axis=1, keepdims=True))
    return x


def in_memory_of_others(x):
    """Each result is in the memory of an intermediate array that no later nest reads."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    first = e / e.sum(axis=-1, keepdims=True)
    twice = first * 2 - x
    second = twice / (np.abs(twice).sum(axis=-1, keepdims=True) + 1)
    third = second - second.max(axis=-1, keepdims=True)
    return first, third


FUNCTIONS = [softmax, in_place, layer_norm, log_sum_exp, all_of_it, above_the_least, of_booleans, twice_over]
FUNCTIONS.append(in_memory_of_others)


def outcome(function, x):
    """The bits of the results of a call, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = function(x)
        except (ValueError, FloatingPointError) as error:
            return type(error), str(error)
    parts = found if isinstance(found, tuple) else (found,)
    messages = [(str(each.message), each.lineno) for each in caught]
    return [(each.dtype, each.shape, each.strides, each.tobytes()) for each in parts], x.tobytes(), messages


@pytest.mark.parametrize("shape", [(1, 1), (3, 1), (1, 9), (5, 8), (64, 10), (300, 129), (2, 1030), (3, 4, 5), (0, 3)])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_bit_is_that_of_numpy(function, shape):
    staged = ag.function(function, engine="native")
    for dtype in (np.float64, np.float32):
        x = np.random.default_rng(len(shape)).normal(size=shape).astype(dtype)
        for each in (x, x[:, ::-1], x[:, ::2], np.asfortranarray(x), x[:1], x):
            assert outcome(staged, each.copy(order="K")) == outcome(function, each.copy(order="K"))
            assert outcome(staged, each) == outcome(function, each)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_it_is_one_kernel(function):
    staged = ag.function(function, engine="native")
    staged(np.ones((4, 6)))
    (trace,) = staged.traces
    assert trace.source.count("kernel(") == 1


@pytest.mark.parametrize("function", [softmax, above_the_least, layer_norm])
def test_strange_numbers(function):
    """Only NumPy knows which of several zeros is the maximum, and it must warn."""
    staged = ag.function(function, engine="native")
    for values in ("0 1", "-0 -1", "0 -0", "0 -0 1", "0 -0 -1", "nan 1", "inf 0"):
        values, rng = list(map(float, values.split())), np.random.default_rng(len(values))
        for dtype in (np.float64, np.float32):
            x = rng.choice(values, size=(6, 21)).astype(dtype)
            assert outcome(staged, x) == outcome(function, x)
            with np.errstate(all="raise"):
                assert outcome(staged, x) == outcome(function, x)


def test_zeros_of_one_sign_are_no_reason_to_ask_numpy():
    staged = ag.function(softmax, engine="native")
    for x in (np.zeros((5, 7)), -np.zeros((5, 7))):
        for _ in range(2 * kernel.PATIENCE):
            assert outcome(staged, x) == outcome(softmax, x)
    assert "NumPy's" not in str(staged.explain(np.zeros((5, 7))))


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32"])
def test_narrow_numbers_are_not_computed_twice_in_their_own_place(dtype):
    """As the last elements of a row of them are elsewhere."""

    def f(x):
        e = x - x.min(axis=1, keepdims=True)
        return e * e.max(axis=1, keepdims=True)

    rng = np.random.default_rng(0)
    for columns in (5, 16, 33, 83, 129):
        staged, x = ag.function(f, engine="native"), rng.integers(0, 100, (7, columns)).astype(dtype)
        assert outcome(staged, x) == outcome(f, x)


def test_several_threads(monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_NUM_THREADS", "3")
    x = np.random.default_rng(0).normal(size=(700, 900))
    for function in FUNCTIONS:
        assert outcome(ag.function(function, engine="native"), x) == outcome(function, x)


@pytest.mark.parametrize("block", [1, 50, 1000])
def test_blocks_of_any_size(block, monkeypatch):
    monkeypatch.setattr(entry_points, "BLOCK", block)
    x = np.random.default_rng(0).normal(size=(31, 17))
    for function in FUNCTIONS:
        assert outcome(ag.function(function, engine="native"), x) == outcome(function, x)


def test_what_is_larger_is_refused():
    """An array that is changed does not grow."""

    def changed(x, y):
        e = x * 2
        e += y
        return e / e.sum(axis=1, keepdims=True)

    staged = ag.function(changed, engine="native")
    for rows, columns in ((1, 4), (1, 4), (3, 4), (5, 2)):
        x, y = np.ones((1, columns)), np.ones((rows, columns))
        if rows == 1:
            assert np.array_equal(staged(x, y), changed(x, y))
            continue
        with pytest.raises(ValueError, match="non-broadcastable output operand"):
            staged(x, y)


@pytest.mark.parametrize("rows", [False, True])
def test_what_is_changed_stays_where_it_is(rows):
    """Of two arrays that lie otherwise in memory, it is the one that is changed whose order the result has."""

    def changed(x, y):
        e = x * 2
        e += y
        return e / e.sum(axis=1, keepdims=True) if rows else e

    staged = ag.function(changed, engine="native")
    x, y = np.random.default_rng(0).normal(size=(2, 5, 7))
    for first, second in ((x, y), (np.asfortranarray(x), y), (x, np.asfortranarray(y)), (x.T.copy().T, y)):
        assert outcome(lambda x: staged(x, second), first) == outcome(lambda x: changed(x, second), first)


# Generated programs ---------------------------------------------------------------------------------------------------

REDUCED = "{}.sum(axis=-1, keepdims=True)", "{}.max(axis=1, keepdims=True)", "np.mean({}, axis=-1, keepdims=True)"
WIDE = "{} - {}", "{} * {}", "{} + {}", "np.maximum({}, {})", "{} / (np.abs({}) + 1)", "np.exp(-np.abs({} - {}))"
NARROW = "np.sqrt(np.abs({}) + 1)", "{} * 0.5", "np.exp(-np.abs({}))"


def program(draw):
    """A function of two arrays, some lines of which reduce rows."""
    wide, narrow, lines = ["x", "y"], [], []
    for number in range(draw.randint(3, 9)):
        name, way = f"v{number}", draw.random()
        if way < 0.3:
            lines.append(f"{name} = {draw.choice(REDUCED).format(draw.choice(wide))}")
            narrow.append(name)
        elif way < 0.45 and narrow:
            lines.append(f"{name} = {draw.choice(NARROW).format(draw.choice(narrow))}")
            narrow.append(name)
        elif way < 0.6 and len(wide) > 2:
            lines.append(f"{draw.choice(wide[2:])} {draw.choice(['+=', '*=', '-='])} {draw.choice(wide + narrow)}")
        else:
            lines.append(f"{name} = {draw.choice(WIDE).format(draw.choice(wide), draw.choice(wide + narrow))}")
            wide.append(name)
    names = draw.sample(wide[2:] + narrow, min(2, len(wide) - 2 + len(narrow)))
    return "\n    ".join(["def drawn(x, y):", *lines, f"return {', '.join([*names, 'x'])},"])


@pytest.mark.parametrize("seed", [*range(30), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(30, 300))])
def test_programs(seed, tmp_path):
    draw = random.Random(seed)
    text = program(draw)
    file, space = tmp_path / "drawn.py", {"np": np}
    file.write_text(text)
    exec(compile(text, str(file), "exec"), space)
    plain = space["drawn"]
    staged = ag.function(plain, engine="native")
    rng = np.random.default_rng(seed)
    for shape in ((4, 7), (4, 7), (3, 20), (1, 1), (40, 3), (2, 3)):
        for dtype in (np.float64, np.float32):
            x, y = (rng.normal(size=shape).astype(dtype) for _ in range(2))
            assert outcome(lambda x: staged(x, y), x) == outcome(lambda x: plain(x, y), x), text
