"""Operations on whole arrays that are one loop give what NumPy gives, to the last bit, and warn of the same."""

import gc
import random
import sys
import warnings

import numpy as np
import pytest

import autograph as ag
from autograph.errors import RetraceWarning

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
NUMBERS = {
    "b": [True, False],
    "i": [0, 1, -1, 2, 7, -128, 127, 3],
    "u": [0, 1, 2, 255, 128, 3],
    "f": [0.0, -0.0, 1.0, -1.5, 0.1, 1e30, -1e30, 5e-324, 1e-40, 2.0**31, 3.0, 0.5],
}
STRANGE = [float("inf"), float("-inf"), float("nan")]
BINARY = "+ - * / & | ^ < <= == != > >= // % ** << >>".split()
FUNCTIONS = """np.power np.arctan2 np.hypot np.fmod np.logaddexp np.floor_divide np.remainder np.fmax np.nextafter
np.left_shift np.float_power np.heaviside np.gcd
np.add np.subtract np.multiply np.divide np.maximum np.minimum np.logical_and np.logical_or
np.logical_xor np.copysign np.less np.greater_equal np.bitwise_and np.not_equal""".split()
UNARY = """-{} +{} abs({}) np.sqrt({}) np.square({}) np.floor({}) np.ceil({}) np.trunc({}) np.rint({}) np.sign({})
np.exp({}) np.isnan({})
np.isinf({}) np.isfinite({}) np.logical_not({}) np.invert({}) np.reciprocal({}) np.fabs({}) {}**2 {}**2.0
np.log({}) np.sin({}) np.cos({}) np.tanh({}) np.log1p({}) np.cbrt({}) np.arctan({}) np.exp2({}) np.tan({}) {}**3
{}**0.5 {}**-1 {}**2.5 np.log2({}) np.expm1({}) np.sinh({}) np.signbit({}) np.spacing({})
np.negative({}) {}.astype(np.float64) {}.astype(np.float32) {}.astype(np.int64) {}.astype(bool)
{}.astype('int16')""".split()
if hasattr(np, "astype"):       # since NumPy 2.1
    UNARY += ["np.astype({},'int16')", "np.astype({},np.float32)"]


def outcome(function, *args):
    """The result of a function with bits and layout, or its error, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = described(function(*args))
        except Exception as error:      # the same error must be raised
            result = type(error), str(error)
    return result, [(each.category, str(each.message), each.lineno) for each in caught]


def described(found):
    if isinstance(found, tuple):
        return tuple(map(described, found))
    if not isinstance(found, np.ndarray):
        return type(found), repr(found)
    strides = [step for step, dim in zip(found.strides, found.shape) if dim > 1]
    return found.dtype, found.shape, strides if found.size else [], found.flags.num, found.tobytes()


def defined(folder, text):
    """The function `f` of a file."""
    path, names = folder / "program.py", {"np": np, "__name__": "program"}
    path.write_text(text)
    exec(compile(text, str(path), "exec"), names)
    return names["f"]


def kernels(function, *args):
    """The loops of machine code that a function has."""
    (trace,) = [trace for trace in function.traces if trace.executable is not None][-1:]
    return [version for kernel in trace.executable.native.kernels for version in kernel.compiled]


def values(draw, dtype, shape, strange=False):
    """An array with all that may be remarkable."""
    dtype = np.dtype(dtype)
    known = NUMBERS[dtype.kind] + (STRANGE if strange and dtype.kind == "f" else [])
    with np.errstate(all="ignore"):
        fitting = [np.array(each).astype(dtype) for each in known]
    count = int(np.prod(shape))
    return np.array([draw.choice(fitting) for _ in range(count)], dtype).reshape(shape)


def expression(draw, depth, names):
    if depth == 0 or draw.random() < 0.1:
        return draw.choice(names if draw.random() < 0.85 else ["2", "1.5", "True", "-3", "0.25", "300", "0"])
    kind = draw.random()
    one = expression(draw, depth - 1, names)
    if kind < 0.3:
        return draw.choice(UNARY).replace("{}", f"({one})")
    other = expression(draw, depth - 1, names)
    if kind < 0.6:
        return f"({one} {draw.choice(BINARY)} {other})"
    if kind < 0.85:
        return f"{draw.choice(FUNCTIONS)}({one}, {other})"
    return f"{draw.choice(CHOICES)}({one}, {other}, {expression(draw, depth - 1, names)})"


def program(draw):
    """A function of three arrays and a number, some of whose intermediate results are kept, too."""
    lines, names = [], ["x", "y", "z", "k"]
    for place in range(draw.randint(1, 4)):
        lines.append(f"    v{place} = {expression(draw, draw.randint(1, 3), names)}")
        names += [f"v{place}"] * 2
    kept = draw.sample([name for name in names if name[0] == "v"], draw.randint(1, 2))
    last = names[-1]
    if draw.random() < 0.3:
        last += f".{draw.choice('sum mean max min any all'.split())}" + draw.choice(ALONG)
    return "\n".join(["def f(x, y, z, k):", *lines, f"    return {', '.join([last, *kept])}", ""])


CHOICES = ["np.where", "np.where", "np.clip"]
ALONG = ["(axis=-1)", "()", "(axis=-1, keepdims=True)", "(0)"]
SHAPES = [
    [(5,), (5,), (5,)],
    [(70,), (70,), (1,)],
    [(3, 9), (9,), (3, 1)],
    [(2, 3, 17), (2, 3, 17), (2, 3, 17)],
    [(4, 1, 3), (1, 5, 3), (5, 1)],
    [(1, 6), (1, 6), ()],
    [(0,), (0,), (1,)],
    [(2, 0, 3), (3,), (2, 1, 1)],
    [(1,), (1, 1), ()],
    [(), (), (1,)],
]


def check_program(seed, folder):
    draw = random.Random(seed)
    text, shapes = program(draw), draw.choice(SHAPES)
    dtypes = [draw.choice(DTYPES) if draw.random() < 0.6 else draw.choice(["float64", "float32"]) for _ in shapes]
    number = draw.choice([2, -1, 0.5, 3.75, np.float32(1.5), np.int16(4), True, 1e300, 200])
    return check(draw, folder, text, lambda *kind: values(draw, *kind), dtypes, shapes, number)


def check(draw, folder, text, drawn, dtypes, shapes, number, alike=lambda function: function):
    """Look whether a function, which may write into its first array, does the same in both ways. Gives the staged one.

    Args:
        drawn: gives an array of a dtype and a shape, with or without what is strange.
        alike: makes a function of one, of which results are compared.
    """
    plain = defined(folder, text)
    function = ag.function(plain, engine="native", passes={"cse": False, "licm": False})    # they may save warnings
    for strange in (False, False, True):
        args = [drawn(dtype, shape, strange) for dtype, shape in zip(dtypes, shapes)]
        args[1] = laid_out(draw, args[1])
        wanted, found = (outcome(alike(each), args[0].copy(), *args[1:], number) for each in (plain, function))
        assert found == wanted, f"{text}\n{dtypes} {shapes} {number!r}"
    return function


def laid_out(draw, x):
    """The same array, laid out otherwise."""
    how = draw.randrange(6)
    if how == 0:
        return np.asfortranarray(x)
    if how == 1 and x.ndim:
        return np.repeat(x, 2, axis=-1)[..., ::2]
    if how == 2 and x.ndim:
        return x[::-1]
    if how == 3 and x.ndim > 1:
        return np.concatenate([x, x], axis=-1)[..., : x.shape[-1]]
    if how == 4 and x.ndim > 1:
        return np.broadcast_to(x[:1], x.shape)
    return x


@pytest.mark.parametrize("seed", range(30))
def test_programs(seed, tmp_path):
    check_program(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30, 2000))
def test_more_programs(seed, tmp_path):
    check_program(seed, tmp_path)


def native(function):
    return ag.function(function, engine="native")


def twice(function, *args):
    """Machine code gives what NumPy gives, when it is compiled and afterwards."""
    staged = native(function)
    for _ in range(3):
        assert outcome(staged, *args) == outcome(function, *args)
    return staged


X, Y = np.linspace(-3, 4, 1000), np.linspace(5, 0.5, 1000)


def reported(staged):
    return " ".join(event.message for event in staged.explain().entries if event.kind == "native")


def test_it_is_one_loop():
    def f(x, y):
        a = x * y
        return np.sqrt(a * a + 1) / 2

    staged = twice(f, X, Y)
    assert "5 operations on arrays" in reported(staged) and "are one loop of machine code" in reported(staged)
    assert len(kernels(staged)) == 1 and "x double>" in staged.lower(X, Y).llvm


def test_what_is_used_elsewhere_is_kept():
    def f(x, y):
        a = x * y
        b = a + 1
        return a, b, b is a, (b - a).sum(), a

    staged = twice(f, X, Y)
    found = staged(X, Y)
    assert found[0] is found[4] and found[0] is not found[1]


def test_what_is_written_to_is_read_before():
    def f(x, y):
        a = x * y + 1
        x += 1
        b = x * y + 1
        a[0] = 7
        c = a * 2 + b
        y[:3] = c[:3]
        return a, b, c, y * 2 + x

    def run(function):
        x, y = X.copy(), Y.copy()
        return described((*function(x, y), x, y))

    staged = native(f)
    assert run(staged) == run(f) and run(staged) == run(f)


def test_views_are_of_the_same_memory():
    def f(x):
        left, right = x[:-1], x[1:]
        left += right * 2 - right
        return left * right + 1, x

    staged = native(f)
    for _ in range(2):
        assert described(staged(X.copy())) == described(f(X.copy()))


def test_a_loop_of_machine_code_calls_a_kernel():
    def f(x, y, n):
        for _ in range(n):
            x = np.where(x > y, x * x - y * y, 2 * x * y + 0.2)
            if x[0] < 1:
                y = y * 0.5
        return x, y

    x = np.resize(X, 3000)          # a shorter vector is computed by the loop itself
    staged = twice(f, x / 10, x[::-1] / 10, 7)
    assert len(kernels(staged)) == 1, staged.explain()


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 33])
@pytest.mark.parametrize("place", [0, -1])
@pytest.mark.parametrize(
    "expression",
    [
        "np.where(y != 0, x / y, 0)",
        "np.where(y == 0, 0.5, x / y) + 1",
        "np.where(n > 0, -(x / y), x)",
        "(x / y > 0) & False",
    ],
)
def test_what_is_not_chosen_warns_too(expression, size, place, tmp_path):
    f = defined(tmp_path, f"def f(x, y, n):\n    return {expression}\n")
    staged = native(f)
    x, y, n = np.ones(size), np.ones(size), np.zeros(size, int)
    for zero in (1.0, 0.0):
        y[place] = zero
        wanted = outcome(f, x, y, n)
        assert bool(wanted[1]) == (zero == 0)
        assert outcome(staged, x, y, n) == wanted


@pytest.mark.parametrize("mode", ["warn", "raise", "ignore"])
def test_settings_of_numpy(mode):
    def f(x, y):
        a = x * y
        return a / y - x

    staged = native(f)
    for x, y in ((X, Y), (X * 1e300, Y * 1e300), (X * 1e-300, Y * 1e-300), (X, Y * 0)):
        for _ in range(2):
            with np.errstate(all=mode):
                assert outcome(staged, x, y) == outcome(f, x, y)
            assert outcome(staged, x, y) == outcome(f, x, y)


def test_exceptions_are_those_of_numpy():
    def f(x, y):
        a = x + 1
        return a * y

    staged = native(f)
    with pytest.raises(ValueError, match="could not be broadcast") as caught:
        staged(X, Y[:7])
    assert caught.traceback[-1].lineno == f.__code__.co_firstlineno + 1


def test_what_comes_between_happens_in_order():
    def f(x, y):
        a = x / y
        print("between")
        b = a / y + a
        return b * b

    with np.errstate(all="raise"):
        twice(f, X, Y)
        twice(f, X, Y * 0)


class Own(np.ndarray):
    pass


def test_numpy_computes_with_other_arrays():
    def f(x, y):
        return x * y + x - 2

    staged = native(f)
    big = X.astype(">f8")
    odd = np.zeros(8 * len(X) + 1, "u1")[1:].view("f8")
    for x in (X, X.view(Own), big, odd, X[::-1], X.astype("f2"), X.astype("c16"), X.astype("O"), np.ma.array(X), X[:0]):
        for _ in range(2):
            found, wanted = staged(x, Y[: len(x)]), f(x, Y[: len(x)])
            assert type(found) is type(wanted)
            assert described(np.asarray(found)) == described(np.asarray(wanted)) or x.dtype == object


def test_numbers():
    def f(x, k):
        return (x * k + k) * 2

    for x in (X, X.astype("f4"), X.astype("i1"), X.astype("u8"), X > 0):
        staged = native(f)
        for k in (2, -1, 300, 2**63, 2**70, 1.5, 1e300, True, np.float32(3), np.int64(-7), np.float64(1e-310), 1j):
            for _ in range(2):
                found, caught = outcome(staged, x, k)
                caught = [each for each in caught if each[0] is not RetraceWarning]
                assert (found, caught) == outcome(f, x, k), (x.dtype, k)


def test_several_threads(monkeypatch):
    def f(x, y):
        return x * y + x, x - y * 2

    x = np.arange(1_200_001.0) / 7
    staged = twice(f, x, x + 1)
    twice(f, x[:1_200_000].reshape(1200, 1000), np.ones(1000))
    monkeypatch.setenv("AUTOGRAPH_NUM_THREADS", "1")
    assert outcome(staged, x, x) == outcome(f, x, x)
    x[-1] = 1e308
    y = x / 2
    y[-1] = 1e308
    assert outcome(staged, x, y) == outcome(f, x, y)


def test_no_memory_is_leaked():
    staged = native(lambda x, y: (x * y + x, x - y * 2))
    x, y = X.copy(), Y.copy()

    def run(times):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _ in range(times):
                staged(x, y)
                staged(x, y[:, None][:1])
                staged(x * 1e300, y * 1e300)
        gc.collect()
        return sys.getrefcount(x), sys.getrefcount(x.dtype)

    before, after = run(50), run(500)
    assert abs(after[0] - before[0]) < 20 and abs(after[1] - before[1]) < 50


def total(x, y):
    return np.sum(x * y)


def rows(x, y):
    a = x * y + 1
    return a, a.sum(axis=-1)


def kept_rows(x, y):
    return (x - y).sum(axis=-1, keepdims=True)


SUMMED = [(0,), (1,), (7,), (8,), (128,), (129,), (8192,), (9001,), (20001,)]
SUMMED += [(0, 3), (3, 5), (100, 300), (3, 9000), (2, 3, 50), (4, 3, 1)]


FLOATS = [pytest.param(each, marks=pytest.mark.versions) for each in ("float64", "float32")]


@pytest.mark.parametrize("function", [total, rows, kept_rows])
@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "uint8", "bool"])      # before NumPy 2.3 the order is another one
def test_sums_are_in_the_order_of_numpy(function, dtype):
    rng = np.random.default_rng(3)
    for shape in SUMMED:
        staged = native(function)
        x, y = ((5 * rng.normal(size=shape)).astype(dtype) for _ in "xy")
        for other in (y, y[:1], y[..., :1]):
            for _ in range(2):
                assert outcome(staged, x, other) == outcome(function, x, other), (shape, other.shape)


@pytest.mark.parametrize("name", "mean max min any all".split())
@pytest.mark.parametrize("dtype", "float64 float32 int64 int32 uint8 uint64 bool".split())
def test_reductions(name, dtype, tmp_path):
    """Alone, of what others come to, of all and of rows."""
    each = "a.{}()  np.{}(x)  (x > y).{}()  np.{}(a, axis=-1)  x.{}(axis=-1, keepdims=True)".replace("{}", name)
    f = defined(tmp_path, f"def f(x, y):\n    a = x * y\n    return {', '.join(each.split('  '))}\n")
    rng, staged = np.random.default_rng(4), native(f)
    for shape in ((1,), (7,), (8,), (127,), (129,), (9001,), (3, 5), (40, 300), (0,)):
        x, y = ((9 * rng.normal(size=shape)).astype(dtype) for _ in "xy")
        for _ in range(2):
            assert outcome(staged, x, y) == outcome(f, x, y)
    assert kernels(staged)


@pytest.mark.parametrize("strange", [0.0, -0.0, np.nan, -np.nan, np.inf])
def test_extremes_of_zeros_and_what_is_no_number(strange):
    def f(x):
        return np.max(x * 1.0), np.min(x * 1.0), np.max(-x), (x * 1.0).any(), x.mean()

    staged = native(f)
    for place in (0, 3, 150, -1):
        for x in (np.zeros(200), -np.zeros(200), np.full(200, -1.0), np.full(200, strange)):
            x[place] = strange
            assert outcome(staged, x) == outcome(f, x)


def test_sums_of_what_is_only_chosen_warn():
    def f(x, y):
        return np.sum(np.where(x > y, x, y))

    x = np.full(300, 1e308)
    assert outcome(native(f), x, x) == outcome(f, x, x) and outcome(f, x, x)[1]


def test_bytes_of_bools():
    """Any that is not zero counts as one."""
    x = np.array([1, 2, 4, 8] * 50, "u1").view(bool)
    twice(lambda x: (np.all(x), x.all(), x.any(), x.mean(), (x & x[::-1].copy()).all()), x)


def test_arrays_in_the_order_of_fortran():
    """So is what comes out; where both orders are one, that is C's."""

    def f(x, y):
        a = x * y + 1
        return np.sin(a) - x, a.sum(), a.max(), a.mean(axis=-1)

    def g(x, y):
        return np.where(x > y, x, y) * 2 + x

    rng = np.random.default_rng(3)
    for function in (f, g):
        for shape in ((30, 40), (1, 7), (7, 1), (2, 30, 5), (5, 1, 3)):
            x, y = rng.random(shape), rng.random(shape)
            turned, other, staged = np.asfortranarray(x), np.asfortranarray(y), native(function)
            for args in ((turned, other), (turned, y), (x.T, y.T), (x, y), (turned, y[..., :1]), (x, np.array(2.0))):
                assert outcome(staged, *args) == outcome(function, *args)
                assert staged(*args)[0].strides == function(*args)[0].strides
        (version, *_) = kernels(twice(function, np.ones((4, 3)).T, np.ones((4, 3)).T))
        assert "null, i32 2, ptr null" in version.code.text


def test_integers_need_no_flags():
    """Nor does what makes an integer of another one, as of Python's 3 a byte."""
    x = np.arange(200, dtype=np.uint8).reshape(10, 20)
    staged = twice(lambda x: (x == 3) | (x + 2 > 7), x)
    assert not any("except" in version.code.text for version in kernels(staged))


def test_bounds():
    """`np.clip`, which NumPy does in other ways by what the bounds are."""

    def f(x, y):
        return np.clip(x * y, -1, 2) * 2, (x - y).clip(0.5, y) + 1, np.clip(x, y, y + 1) - 1, np.clip(x + y, None, 1)

    rng = np.random.default_rng(3)
    for dtype in ("f8", "f4", "i8", "u1"):
        staged = native(f)
        for shape in ((1,), (7,), (3000,), (40, 30), (3, 1)):
            x, y = ((9 * rng.normal(size=shape)).astype(dtype) for _ in "xy")
            if dtype[0] == "f":
                x[0], x[-1] = -0.0, np.nan
            for _ in range(2):
                assert outcome(staged, x, y) == outcome(f, x, y)
    assert "ag_numpy_clip" in native(f).lower(X, Y).llvm


def test_large_functions_alone_use_threads():
    staged = twice(lambda x: np.sin(x), np.linspace(0, 9, 70_000))
    assert "1 operation on an array is" in reported(staged)


def test_sums_warn():
    for x in (np.full(300, 1e308), np.array([np.inf, -np.inf]), np.array([[1e308], [2.0]])):
        for function in (total, rows):
            assert outcome(native(function), x, x / x) == outcome(function, x, x / x)


def test_sums_of_outer_differences():
    def f(x, c):
        return ((x[:, None, :] - c[None, :, :]) ** 2).sum(axis=2)

    rng = np.random.default_rng(3)
    for depth in (1, 3, 16, 200):
        staged = twice(f, rng.normal(size=(40, depth)), rng.normal(size=(5, depth)))
        assert "3 operations" in reported(staged) and len(kernels(staged)) == 1


def test_exp():
    """Bit for bit, wherever NumPy takes it from; what is too far from zero, it computes itself."""

    def f(x):
        return 1 / (1 + np.exp(-x)), np.exp(x) * 1.0

    rng, staged = np.random.default_rng(5), native(f)
    remarkable = np.array([0.0, -0.0, 5e-324, 1e-300, -1e-17, 669.9, -511.9, -512.1, -669.9])
    for x in (rng.normal(size=100_000), rng.uniform(-800, 709, 100_000), remarkable):
        assert outcome(staged, x) == outcome(f, x)
    assert sum(version.failures for version in kernels(staged)) == 0
    for x in (700.0, 710.0, np.inf, np.nan, -700.0, -745.0, -800.0, -np.inf):
        assert outcome(staged, np.array([1.0, x])) == outcome(f, np.array([1.0, x]))


def test_exp_of_so_many():
    """Vectors of eight, what remains of them, and one for a whole row."""

    def f(x, m):
        return np.exp(x - m), np.exp(m + 0.0) * x

    rng = np.random.default_rng(5)
    for count in (*range(1, 26), 1023, 1029):
        staged, x = native(f), rng.uniform(-600, 600, (3, count))
        x[1, ::3], x[2, ::5] = -np.inf, -660.5
        m = rng.normal(size=(3, 1))
        for given in (m, np.repeat(m, count, 1)):
            with np.errstate(invalid="ignore"):
                assert outcome(staged, x, given) == outcome(f, x, given)
        assert sum(version.failures for version in kernels(staged)) == 0


@pytest.mark.parametrize("dtype", "float64 float32 int32 uint8".split())
@pytest.mark.parametrize("bounds", "0,100 0.0,50.5 -3,3 -0.0,0.0 5,1 0,np.inf -np.inf,7.0 0,y np.nan,1".split())
def test_numbers_are_clipped_and_cast(bounds, dtype, tmp_path):
    """A NaN, and what does not fit, is NumPy's; a zero keeps its sign where NumPy lets it."""
    cast = ", ".join(f"np.clip(x + y, {bounds}).astype('{to}')" for to in ("uint8", "int8", "uint16", "int16", "int64"))
    f = defined(tmp_path, f"def f(x, y):\n    return np.clip(x * 1, {bounds}), {cast}\n")
    staged, rng = native(f), np.random.default_rng(8)
    for scale in (1, 40, 1000):
        x = rng.normal(size=(3, 37)) * scale
        x[0, :6] = 0.0, -0.0, 5.0, -3.0, 255.9, -128.9
        with np.errstate(all="ignore"):
            x, y = x.astype(dtype), (x / 3).astype(dtype)
        for _ in range(2):
            assert outcome(staged, x, y) == outcome(f, x, y)


def gray(image):
    found = 0.299 * image[..., 0] + 0.587 * image[..., 1] + 0.114 * image[..., 2]
    return np.clip(found, 0, 255).astype(np.uint8)


def pooled(x):
    return (x[::2, ::2] + x[1::2, ::2] + x[::2, 1::2] + x[1::2, 1::2]) / 4


def paired(x):
    return (x[:, ::2] * x[:, 1::2]).sum(axis=1), np.sin(x[:, ::2] * 2) + x[:, 1::2], (x[::3, 1] * 2 + 1).max()


def put_apart(x):
    x = x * 1
    y = x[1::2] * 0.5
    x[:, ::2] += y[:1, ::2] * 2
    return x, y


@pytest.mark.parametrize("function", [gray, pooled, paired, put_apart])
def test_rows_of_what_stands_apart(function):
    rng = np.random.default_rng(6)
    x = rng.integers(0, 255, (20, 30, 3)).astype(np.uint8) if function is gray else rng.normal(size=(24, 50))
    staged = twice(function, x)
    wide = np.repeat(x, 2, axis=1)
    for other in (x, x[:2, :2], wide[:, ::2], x[::-1], x[:, ::-1], np.asfortranarray(x)):
        assert outcome(staged, other) == outcome(function, other)
    assert not function.__name__ == "gray" or "7 operations on arrays" in reported(twice(gray, x))


def of_one(x):
    a = x * 0.75
    return np.log(a) + np.sin(a), np.tanh(a) * np.log1p(a), np.cbrt(a), a


def of_two(x, y):
    a = x * 0.75
    return np.arctan2(a, y) + np.hypot(x, y) * 2, a**y, np.fmod(a, y) - y, a**2.5 + a**3


def of_integers(x, y):
    a = x + 1
    return a // y + a % y, (a << 2) ^ (a >> 1), np.gcd(a, y), np.sin(a) + y


SIZES = [1, 2, 7, 64, 127, 128, 129, 513, 1023, 1024, 1025, 3001, 200_000]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8", "int16"])
def test_functions_of_numpy(size, dtype):
    """They are called on blocks, of which the last is shorter."""
    rng = np.random.default_rng(size)
    x, y = (rng.uniform(1, 100, size).astype(dtype) for _ in "xy")
    integers = np.dtype(dtype).kind in "iu"
    for function, args in ((of_one, (x,)), (of_integers if integers else of_two, (x, y))):
        staged = twice(function, *args)
        assert "ag_numpy" in staged.lower(*args).llvm


def test_functions_warn(monkeypatch):
    """At any place, and in any thread."""

    def f(x):
        return np.fmax(np.log(1 / x) * x, x)        # `fmax` takes flags down

    staged = native(f)
    for size in (3, 100, 5000, 150_000):
        for place in (0, size // 2, -1):
            x = np.linspace(1, 2, size)
            assert outcome(staged, x) == outcome(f, x)
            x[place] = 0
            assert outcome(staged, x) == outcome(f, x) and outcome(f, x)[1]
            monkeypatch.setenv("AUTOGRAPH_NUM_THREADS", "3")
            staged.traces[-1].executable.native.kernels[0].versions.clear()


def test_powers_of_negative_integers_raise():
    def f(x, y):
        return (x + 1) ** (y - 2) * 2

    x = np.arange(5)
    assert outcome(native(f), x, x) == outcome(f, x, x) and outcome(f, x, x)[0][0] is ValueError


def test_functions_of_rows():
    """Broadcast operands are computed in their own shape."""

    def f(x, y):
        return np.exp2(x - y) * 2 + np.log(y + 1), np.hypot(x, y) + 1, np.power(x, y) + x

    rng = np.random.default_rng(3)
    for shapes in (((40, 300), (40, 1)), ((7, 1100), (1100,)), ((3, 5, 130), (5, 1)), ((3, 1), (3, 1))):
        x, y = map(rng.random, shapes)
        twice(f, x, y)
        twice(lambda x, y: np.sum(np.log(x * y + 1), axis=-1), x, y)


def test_lengths_that_only_the_call_tells():
    """Arrays that have nothing to do with each other may be of different lengths; others are one loop."""

    def f(x, y, z):
        a = x * x + y * y - x
        b = z * z + 1
        return a, b

    staged = native(f)
    for size in (3, 4, 5, 6, 7, 800):
        args = np.ones(size), np.ones(size) + 1, np.ones(size // 2)
        for _ in range(2):
            assert outcome(staged, *args)[0] == outcome(f, *args)[0]
    assert "f64[?]" in str(staged.traces[-1].signature), staged.traces
    assert [len(kernel.compiled) for kernel in staged.traces[-1].executable.native.kernels] == [1, 1]


@pytest.mark.parametrize("settings", [{}, {"over": "ignore"}], ids=["as at first", "set"])
def test_what_is_in_vain_is_given_up(settings):
    def f(x, y):
        a = x / y
        return a * a + 1

    staged = native(f)
    zeros = np.zeros(5)
    with np.errstate(**settings):
        for _ in range(12):
            assert outcome(staged, zeros + 1, zeros) == outcome(f, zeros + 1, zeros)
    assert not kernels(staged) and "NumPy has to look" in reported(staged)
    assert outcome(staged, zeros, zeros + 1) == outcome(f, zeros, zeros + 1)


def test_small_integers_that_are_clipped_and_widened():
    @ag.function
    def brighten(x):
        return np.clip(x.astype(np.int16) + 3, 0, 255).astype(x.dtype)

    for x in (np.array([[1.0, 254.5]]), np.full((30, 30), 7.0)):
        np.testing.assert_array_equal(native(brighten)(x), brighten.python_function(x), strict=True)


def mixed(x, y):
    first = np.sqrt(x * x + 1) * 2
    second = first[:, ::-1].T * y + y
    second[1:-1] = np.sin(y[1:-1] + 1) * second[1:-1]
    return np.sort(second, axis=0) * 3 + first.T


def test_numpy_runs_a_kernel_that_is_given_up_in_place():
    """So that NumPy need not keep what comes between; the other kernels stay, with their code."""
    staged = native(mixed)
    x, y = np.arange(1200.0).reshape(30, 40), np.arange(1200.0).reshape(40, 30)
    wanted = outcome(mixed, x, y)
    assert outcome(staged, x, y) == wanted
    (trace,) = staged.traces
    kernels = list(trace.executable.native.kernels)
    given_up, kept = kernels[0], [kernel for kernel in kernels[1:] if kernel.compiled]
    assert given_up.sources == given_up.nodes and "kernel(x)" in trace.source and kept
    for version in given_up.compiled:
        given_up.give_up(version)
    assert given_up.is_given_up and "np.sqrt(" in trace.source
    for _ in range(3):
        assert outcome(staged, x, y) == wanted
    assert trace.executable.native.kernels == kernels
    assert kept == [kernel for kernel in kernels[1:] if kernel.compiled]
    assert "are NumPy's, for NumPy has to look at what it may warn of" in reported(staged)
    for kernel in kernels:
        kernel._rebind(kernel.python)
        kernel.when_given_up()
    assert "kernel" not in trace.source and trace.executable.native.kernels == kernels
    assert outcome(staged, x, y) == wanted


def test_errors_and_warnings_are_where_they_were_when_a_kernel_is_given_up(tmp_path):
    text = "def f(x, y, n):\n    z = x * x + 1\n    z = z / y - 1\n    return z.reshape(n) * 2 + z\n"
    plain = defined(tmp_path, text)
    staged = native(plain)
    x, one, zero = np.ones(4), np.ones(4), np.zeros(4)
    for y, n in [(one, 4)] * 3 + [(zero, 4)] * 12 + [(one, 4), (zero, 3), (one, 3)]:
        assert outcome(staged, x, y, n) == outcome(plain, x, y, n)
    assert "z = x * x + 1" in staged.traces[0].source


@pytest.mark.parametrize("iterations", [1, 20])
def test_given_up_within_a_loop(iterations):
    def f(xs, iterations):
        total = 0
        for _ in range(iterations):
            for x in xs:
                total = total + np.sort(x.T * x[0, 0] + 1).sum()
        return total

    staged = native(f)
    xs = [np.arange(6.0).reshape(2, 3), np.arange(24.0).reshape(4, 6)[::2, ::-2]] * 3
    for _ in range(20):
        assert staged(xs, iterations) == f(xs, iterations)


def remainders(x, y):
    return np.arctan2(x, y) % 2 - np.hypot(x, 2)


def quotients(x, y):
    return (np.log(abs(y) + 1) // x) + np.arctan2(y, x)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int32"])
@pytest.mark.parametrize("function", [remainders, quotients])
def test_a_number_or_array_that_two_loops_of_numpy_read(function, dtype):
    x, y = (np.random.default_rng(4).normal(size=(2, 40)) * 9 + 0.5).astype(dtype)
    x[x == 0] = 1
    twice(function, x, y)


@pytest.mark.parametrize("name", "arctan2 expm1 cbrt tan sin log1p exp".split())
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rows_in_reverse(name, dtype, tmp_path):
    function = defined(tmp_path, f"def f(x, y):\n    return np.{name}({'x, ' * (name == 'arctan2')}y) * 2 - x")
    x, y = np.random.default_rng(4).normal(size=(2, 40)).astype(dtype) ** 2
    rows = x.reshape(8, 5)[:, ::-1], y.reshape(8, 5)[::-1]
    for given in ((x[::-1], y[::-1]), (x, y[::-1]), (x[::-2], y[::2]), rows):
        twice(function, *given)
