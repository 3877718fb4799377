"""Operations on whole complex arrays that are one loop give what NumPy gives, to the last bit, and warn of the same."""

import os
import random
import subprocess
import sys

import numpy as np
import pytest

from autograph.runtime.ops.native import complex_rules
from tests.runtime.engines.native.kernels.test_fusion import (
    SHAPES,
    check,
    defined,
    described,
    kernels,
    native,
    outcome,
    reported,
    twice,
)

PARTS = [0.0, -0.0, 1.0, -1.5, 0.1, 1e19, -1e19, 1e-30, 3.0, 0.5, 1 / 3]
STRANGE = [float("inf"), float("-inf"), float("nan"), 1e300, 3e38]
KINDS = "complex64 complex128 complex128 float32 float64 int32 bool".split()
UNARY = """-{} +{} np.conj({}) np.square({}) {}**2 abs({}) np.exp({}) np.sqrt({}) np.real({}) np.imag({}) np.isnan({})
np.isfinite({}) np.logical_not({}) np.reciprocal({}) np.positive({})""".split()
OF_ARRAYS = "{}.real {}.imag {}.conj() {}.conjugate() {}.real.astype('f4') {}.astype('c8')".split()
BINARY = "+ - * * * / == !=".split()
FUNCTIONS = "np.multiply np.add np.logical_and np.logical_xor np.not_equal np.power".split()
CONSTANTS = ["2", "1j", "0.5", "True", "(1-2j)", "1e-3j", "k", "k"]
WRITES = ["x *= k", "x[...] = x * x + 1", "x[..., :1] = 2", "x += x.real", "x -= y"]
NUMBERS = [2, 0.25, 1j, -0.5 + 3j, np.complex64(1 - 1j), np.complex128(0.1 + 1e18j), np.float32(1.5), True]


def drawn(draw, kind, shape, strange):
    """An array with all that may be remarkable."""
    dtype = np.dtype(kind)
    if dtype.kind in "bi":
        return np.array(draw.choices([0, 1, 2, 5], k=int(np.prod(shape)))).astype(dtype).reshape(shape)
    known = PARTS + STRANGE * strange
    count = int(np.prod(shape)) * (2 if dtype.kind == "c" else 1)
    with np.errstate(all="ignore"):
        parts = np.array(draw.choices(known, k=count)).astype(f"f{dtype.itemsize // (1 + (dtype.kind == 'c'))}")
    return parts.view(dtype).reshape(shape)


def expression(draw, depth, names):
    if depth == 0 or draw.random() < 0.1:
        return draw.choice(names if draw.random() < 0.8 else CONSTANTS)
    kind, one = draw.random(), expression(draw, depth - 1, names)
    if kind < 0.3:
        return draw.choice(UNARY).replace("{}", f"({one})")
    if kind < 0.45:
        return draw.choice(OF_ARRAYS).replace("{}", draw.choice(names))
    other = expression(draw, depth - 1, names)
    if kind < 0.8:
        return f"({one} {draw.choice(BINARY)} {other})"
    if kind < 0.9:
        return f"{draw.choice(FUNCTIONS)}({one}, {other})"
    return f"np.where({one}, {other}, {expression(draw, depth - 1, names)})"


def program(draw):
    """A function of three arrays and a number. It writes now and then, keeps some results, and parts of them."""
    lines, names = [], ["x", "y", "z"]
    for place in range(draw.randint(1, 4)):
        lines.append(f"    v{place} = np.asarray({expression(draw, draw.randint(1, 3), names)})")
        names += [f"v{place}"] * 2
        if draw.random() < 0.25:
            lines.append("    " + draw.choice(WRITES))
    kept = [draw.choice(names) + draw.choice(["", "", ".real", ".imag"]) for _ in range(2)]
    whole = draw.choice(["", "", ".real.sum()", ".imag.max()", ".sum()", ".any()"])
    return "\n".join(["def f(x, y, z, k):", *lines, f"    return {names[-1]}{whole}, {', '.join(kept)}, x", ""])


def without_nans(function):
    """The function, with all NaNs of its results alike: of two of them, processors may give the one or the other."""

    def called(*args):
        found = function(*args)
        for each in found:
            if isinstance(each, np.ndarray) and each.dtype.kind in "fc" and each.flags.writeable:
                for part in (each.real, each.imag)[: 1 + (each.dtype.kind == "c")]:
                    part[np.isnan(part)] = np.nan
        return tuple(np.where(np.isnan(each), np.nan, each) if isinstance(each, np.generic) else each for each in found)

    return called


def check_program(seed, folder):
    draw = random.Random(seed)
    text, shapes, number = program(draw), draw.choice(SHAPES), draw.choice(NUMBERS)
    kinds = ["complex128" if draw.random() < 0.5 else draw.choice(KINDS) for _ in shapes]
    return check(draw, folder, text, lambda *kind: drawn(draw, *kind), kinds, shapes, number, without_nans)


@pytest.mark.parametrize("seed", range(30))
def test_programs(seed, tmp_path):
    check_program(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(30, 2000))
def test_more_programs(seed, tmp_path):
    check_program(seed, tmp_path)


_RNG = np.random.default_rng(0)
Z, W = (_RNG.normal(size=300) + 1j * _RNG.normal(size=300) for _ in range(2))
X = _RNG.normal(size=300)


@pytest.mark.parametrize(
    "expression, operations",
    [
        ("z * w + x", 2),
        ("1j * x - z * 2", 3),
        ("z * w.conj() - k", 3),
        ("(z * w + 1).real - x", 4),
        ("z.real ** 2 + z.imag ** 2 < 1", 6),
        ("np.where(z == w, z * x, w)", 3),
        ("abs(z * z + w) > 1", 4),
        ("((z - w).imag * x).sum()", 4),
        ("np.exp(1j * x) / (z + w)", 4),
        ("(z * w).astype(np.complex64) + x", 3),
        ("np.logical_not(z * w) | (z + 1 != w)", 5),
    ],
)
def test_it_is_one_loop(expression, operations, tmp_path):
    f = defined(tmp_path, f"def f(x, z, w, k):\n    return {expression}\n")
    for k in (0.5, 2 - 1j, np.complex64(1 + 3j)):
        staged = twice(f, X, Z, W, k)
        assert f"{operations} operations on arrays are one loop of machine code" in reported(staged)
        small = [each.astype(each.dtype.char.lower() if each.dtype.kind == "f" else "c8") for each in (X, Z, W)]
        twice(f, *small, k)


def test_code_can_be_looked_at_before_the_first_call():
    def f(z, k):
        return (z * k).real + z.imag

    llvm = native(f).lower(Z, 2j).llvm
    assert "double>" in llvm and "shufflevector" in llvm


def test_parts_that_others_use_are_views():
    def f(z, w):
        real, other = z.real, (z * w).imag
        size = real * real + other
        return size, real, other

    staged = twice(f, Z, W)
    for _ in range(2):
        found = staged(Z, W)
        assert np.shares_memory(found[1], Z) and found[2].base is not None and not np.shares_memory(found[2], Z)


def test_parts_that_several_kernels_read():
    def f(z, w):
        product = z * w
        real, imag = product.real, product.imag
        size = real * real + imag
        print("between")
        return size * real - imag, real.sum()

    staged = twice(f, Z, W)
    assert len(kernels(staged)) == 2, staged.explain()


def test_parts_see_what_is_written():
    def f(z, w):
        real = z.real
        twice = real * 2 + w.imag
        z *= w
        again = real * 2 + w.imag
        z.imag[...] = 0
        return twice, again, z * w + z.imag

    staged = native(f)
    for _ in range(3):
        assert described(staged(Z.copy(), W)) == described(f(Z.copy(), W))


def test_products_in_place():
    def f(z, w):
        z *= w * w + 1
        z[1:] -= z[:-1] * 2
        return z

    for times in (1, 300):      # a few elements are left to statements one after the other
        z, w, staged = np.tile(Z, times), np.tile(W, times), native(f)
        for _ in range(3):
            assert described(staged(z.copy(), w)) == described(f(z.copy(), w))
    assert len(kernels(staged)) == 2


def test_all_iterations_of_a_loop():
    def mandelbrot(c, iterations):
        z, count = np.zeros_like(c), np.zeros(c.shape, np.int64)
        for _ in range(iterations):
            inside = z.real * z.real + z.imag * z.imag < 4
            z = np.where(inside, z * z + c, z)
            count = count + inside
        return z, count

    c = np.add.outer(np.linspace(-1, 1, 40) * 1j, np.linspace(-2, 0.5, 50))
    staged = twice(mandelbrot, c, 70)
    assert "in all iterations of their loop, are one loop of machine code" in reported(staged)


def test_what_numpy_warns_of():
    def f(z, w):
        product = z * w
        return product.real + 1

    big = np.array([1e200 + 1e200j, 1e300, 1 + 1e300j])
    for z in (big, big * 0, np.full(3, np.inf + 0j)):
        twice(f, z, big)        # the imaginary part, which is not read, may overflow
    twice(f, np.array([1 + 1e300j]), np.array([1e300 + 0j]))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_how_products_are_rounded(dtype, monkeypatch):
    """NumPy has one of two ways; either is known when it is seen."""
    dtype = np.dtype(dtype)
    z, w = Z.astype(dtype), W.astype(dtype)
    for fused in (True, False):
        found = np.array([complex_rules._expected(one, other, fused) for one, other in zip(z, w)], dtype)
        assert complex_rules._way([(lambda z, w: found, z, w)]) is fused
    assert complex_rules._way([(lambda z, w: z * w + dtype.type(1e-3), z, w)]) is None
    assert complex_rules._way([(lambda z, w: found, z, w), (lambda z, w: found, w, w)]) is None
    assert complex_rules._fuses(dtype) in (True, False)


@pytest.mark.parametrize("other", [(1,), (1, 1), (1, 1, 1), (), (3, 1), (2,)])
def test_products_of_one_number_each(other):
    """Arrays of one element NumPy goes through with strides of 0, and rounds products otherwise."""
    def f(z, w):
        product = z * w
        return product + z, product

    staged = native(f)
    for one in Z[:20]:
        for shape in ((1,), (1, 1), (1, 1, 1)):
            for kind in ("c16", "c8"):
                z, w = np.full(shape, one), np.full(other, one + 1 / 3, kind)
                assert outcome(staged, z, w) == outcome(f, z, w)


@pytest.mark.parametrize("kind", ["c8", "c16"])
def test_products_of_reversed_arrays(kind):
    """NumPy goes through some of them by other instructions, and rounds products otherwise."""
    def f(z, w):
        return z[::-1] * w + 1, np.square(z[::-2]) - w[::2]

    def g(z, w):
        z = z.copy()
        z[::-1] *= w
        return z[..., ::-1] * w * z

    draw = np.random.default_rng(4)
    for function in (f, g):
        for shape in ((40,), (5, 6), (5000,)):
            z, w = ((draw.normal(size=shape) + 1j * draw.normal(size=shape)).astype(kind) for _ in range(2))
            twice(function, z, w)
            twice(function, z[::-1], w[..., ::-1])


def test_products_that_are_not_fused(tmp_path):
    """As where NumPy has no instructions for it."""
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np, autograph as ag\n"
        "z = np.linspace(-1, 1, 99) + 0.3j\n"
        "f = lambda z: z * z + z\n"
        "g = ag.function(f, engine='native')\n"
        "assert all(g(z).tobytes() == f(z).tobytes() for _ in range(3)), 'bits'\n"
        "print(g.explain())\n"
    )
    features = {"NPY_DISABLE_CPU_FEATURES": "FMA3 AVX2 X86_V3 AVX512F X86_V4 NEON_VFPV4"}
    command, env = [sys.executable, str(program)], {**os.environ, **features}
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "2 operations on arrays are one loop of machine code" in done.stdout


def test_the_order_of_axes_that_astype_keeps():
    def f(x):
        narrow = x.astype(np.float32)
        return narrow, narrow * 2

    twice(f, np.broadcast_to(np.arange(51.0).reshape(1, 3, 17), (2, 3, 17)))
