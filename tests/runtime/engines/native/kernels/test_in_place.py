"""Operations on whole arrays that end with a write into an array: `x += …`, `x[1:-1] = …`."""

import random
import warnings

import numpy as np
import pytest

import autograph as ag
from tests.runtime.engines.native.kernels.test_fusion import defined, kernels, native, reported

OPERATORS = "= += -= *= /= //= %= &= |= ^= <<= >>=".split()
PLACES = ["[:]", "[...]", "[1:-1]", "[::1]", "[::2]", "[2:]", "[1:, :]", "[..., 1:]"]
VALUES = """a*b   a-b*2   np.sqrt(a)+1   np.where(a>b,a,b)   (a>b)|(b>2)   np.sin(a)*b   a/b   a*b+x*x   np.exp(a)-x
(a*0.5).astype(x.dtype)   np.maximum(a,x)*c   a*c+b   x[:1]*2+a   (a+b).T""".replace("\n", "   ").split("   ")
SHAPES = [(1,), (5,), (17,), (300,), (4, 6), (30, 40), (3, 4, 5), (2, 1), (3000,), (0,)]
SETTINGS = [{}, {}, {}, {"all": "raise"}, {"all": "ignore"}, {"over": "raise"}]


def snapshot(result):
    if isinstance(result, tuple):
        return tuple(map(snapshot, result))
    if isinstance(result, np.ndarray):
        return result.dtype, result.shape, result.strides, result.flags.writeable, result.tobytes()
    return type(result), repr(result)


def outcome(function, args, settings, errors):
    """The result or error of a call, its warnings, and its arguments afterwards."""
    with warnings.catch_warnings(record=True) as warned, np.errstate(**settings):
        warnings.simplefilter("error" if errors else "always")
        try:
            result = function(*args)
            found = snapshot(result), [each is result for each in args]
        except Exception as error:
            found = type(error), str(error)
    return found, [str(each.message) for each in warned], snapshot(args)


def program(draw):
    place, operator = draw.choice([*PLACES, "", ""]), draw.choice(OPERATORS)
    lines = ["y = a * b + 1"] if draw.random() < 0.3 else []
    lines.append(f"x{place or '[:]' * (operator == '=')} {operator} {draw.choice(VALUES)}")
    if draw.random() < 0.3:
        lines.append(f"x {draw.choice(OPERATORS[1:4])} a * 2 - 1")
    lines.append(draw.choice(["return x, a", "return", "return x * 2"]) if len(lines) < 2 else "return x")
    return "\n    ".join(["def f(x, a, b, c):", *lines, ""])


def values(draw, rng, dtype, shape):
    far = draw.choice([0, 0, 0, 0, 2, {"f8": 160, "f4": 20}.get(dtype, 1)])
    with np.errstate(all="ignore"):
        found = (rng.normal(size=shape) * 3 * 10.0**far).astype(dtype)
    if found.size and dtype[0] == "f" and draw.random() < 0.1:
        found.flat[draw.randrange(found.size)] = draw.choice([np.nan, np.inf, 0.0])
    return found


def arguments(seed):
    """Arrays, some of which overlap, or cannot be written, or are broadcast; the same ones each time."""
    draw, rng = random.Random(seed), np.random.default_rng(seed)
    shape = draw.choice(SHAPES)
    dtypes = [draw.choice("f8 f8 f8 f4 i8 i4 u1 b1".split())] * 3
    if draw.random() < 0.4:
        dtypes = [draw.choice("f8 f4 i8 u1 f2".split()) for _ in dtypes]
    x, a, b = (values(draw, rng, dtype, shape) for dtype in dtypes)
    room = values(draw, rng, dtypes[0], (2 * shape[0] + 2, *shape[1:]))
    how = draw.randrange(16)
    if how == 0:
        a = x
    elif how == 1:
        a = x[::-1]
    elif how == 2:
        x, a = room[1 : shape[0] + 1], room[: shape[0]]
    elif how == 3:
        x, a = room[: shape[0]], room[shape[0] : 2 * shape[0]]
    elif how == 4:
        b = b[:1]
    elif how == 5:
        b = b[..., :1]
    elif how == 6:
        x = x[:1]
    elif how == 7:
        x, a, b = map(np.asfortranarray, (x, a, b))
    elif how == 8:
        x.flags.writeable = False
    elif how == 9:
        x = np.repeat(x, 2, axis=-1)[..., ::2]
    elif how == 10:
        x = np.pad(x, 2)[(slice(2, -2),) * x.ndim]
    elif how == 11:
        x, a = room[: shape[0]], room[: shape[0]]
    return x, a, b, draw.choice([2, 0.5, 3, np.float64(1.5), 1000])


def check_program(seed, folder, engine="native"):
    draw = random.Random(seed)
    text = program(draw)
    plain = defined(folder, text)
    staged = ag.function(plain, engine=engine, passes={"cse": False, "licm": False})    # they may save warnings
    for iteration in range(3):
        settings, errors, first = draw.choice(SETTINGS), draw.random() < 0.25, draw.randrange(10**6)
        for _ in range(2):
            wanted = outcome(plain, arguments(first), settings, errors)
            assert outcome(staged, arguments(first), settings, errors) == wanted, f"seed {seed}, {iteration}\n{text}"


@pytest.mark.parametrize("seed", range(30))
def test_programs(seed, tmp_path):
    check_program(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30, 2000))
def test_more_programs(seed, tmp_path):
    check_program(seed, tmp_path)


def add(x, a, b):
    x += a * b


def put(x, a, b):
    x[1:-1] = a[1:-1] * b[1:-1] + 1


def step(x, a, b):
    a *= 0.9
    a += 0.1 * b
    x -= 0.01 * a
    return x


@pytest.mark.parametrize("function, operations", [(add, 2), (put, 3), (step, 2)])
def test_what_is_written_is_no_array_of_its_own(function, operations):
    staged = native(function)
    for _ in range(3):
        args, same = ([np.arange(3000.0) + place for place in range(3)] for _ in range(2))
        assert snapshot(staged(*args)) == snapshot(function(*same)) and snapshot(tuple(args)) == snapshot(tuple(same))
    assert f"{operations} operations on arrays" in reported(staged)
    assert sum(version.failures for version in kernels(staged)) == 0


def diffuse(u):
    u[1:-1] += 0.1 * (u[:-2] - 2 * u[1:-1] + u[2:])


def live(u):
    beside = u[1:-1, :-2] + u[1:-1, 2:]
    u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + beside) * 2 < u[1:-1, 1:-1]


def blur(u):
    u[1:-1, 2:, ::2] = (u[:-2, :-2, ::2] + u[2:, 1:-1, 1::2]) / 4
    return u


def carry(u):
    u[..., 1:] -= u[..., :-1] // 2
    return u


ASIDE = [(diffuse, (3000,), 5), (live, (20, 70), 6), (live, (3, 3), 6), (blur, (5, 8, 6), 3), (carry, (8, 25, 20), 2)]


@pytest.mark.parametrize("function, shape, operations", ASIDE)
@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8"])
def test_a_write_over_operands_goes_through_a_copy_out_buffer(function, shape, operations, dtype):
    dtype = "float64" if function is diffuse else dtype
    plain = np.random.default_rng(1).integers(0, 100, shape).astype(dtype)
    staged, u, v = native(function), plain.copy(), plain.copy()
    for _ in range(3):
        staged(u)
        function(v)
        assert u.tobytes() == v.tobytes()
    wide, same = np.repeat(plain, 2, axis=-1)[..., ::2], plain.copy()
    staged(wide)
    function(same)
    assert (wide == same).all()
    assert f"{operations} operations" in reported(staged)
    assert sum(version.failures for version in kernels(staged)) == 0


def test_nothing_is_copied_out_before_a_warning_that_is_an_error():
    staged, u = native(diffuse), np.ones(50_000)
    staged(u)
    u[-2:] = 1e308, -1e308
    before = u.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="overflow"):
            staged(u)
    assert u.tobytes() == before.tobytes()


@pytest.mark.parametrize("engine", ["native", "auto"])
def test_several_threads_write(engine, monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_NUM_THREADS", "3")
    staged = ag.function(add, engine=engine)
    a, b = (np.random.default_rng(seed).normal(size=3_000_001) for seed in (1, 2))
    x, y = np.ones_like(a), np.ones_like(a)
    for _ in range(6):
        staged(x, a, b)
        add(y, a, b)
    assert x.tobytes() == y.tobytes()
    a[-1], b[-1] = 1e200, 1e200
    with pytest.warns(RuntimeWarning, match="overflow"):
        staged(x, a, b)
    with np.errstate(all="ignore"):
        add(y, a, b)
    assert x.tobytes() == y.tobytes()


def test_a_warning_that_is_an_error_leaves_what_there_was():
    staged, x = native(add), np.ones(50_000)
    a = np.ones_like(x)
    staged(x, a, a)
    a[-1] = 1e200
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(RuntimeWarning, match="overflow encountered in multiply"):
            staged(x, a, a)
    assert (x == 2).all()
