"""Parts of arrays that only kernels use are not made: the kernels find out where they lie."""

import random

import numpy as np
import pytest

from autograph.runtime.engines.native.kernels.loop_nest import Stream
from autograph.runtime.engines.native.kernels.views import Part, neighboring_rows
from tests.runtime.engines.native.kernels.test_fusion import defined, described, kernels, native, outcome, reported

BOUNDS = ["", "", "", "0", "1", "2", "5", "100", "-1", "-2", "-5", "-100"]


def index(draw, ndim):
    parts = [f"{draw.choice(BOUNDS)}:{draw.choice(BOUNDS)}" for _ in range(draw.randint(1, ndim))]
    return f"[{', '.join(parts)}]"


def program(draw):
    """Takes parts of parts, computes with those that go together, and writes some of it back."""
    ndim, count, lines = draw.randint(1, 3), draw.randint(2, 6), []
    for number in range(count):
        name = draw.choice(["x", "x", "y", *(f"p{each}" for each in range(number))])
        lines.append(f"p{number} = {name}{index(draw, ndim)}")
    a, b = (draw.choice([f"p{number}" for number in range(count)]) for _ in range(2))
    lines += [f"q = x{index(draw, ndim)}", "if p0.shape == q.shape:", "    x[:1] = p0[:1] - q[:1] * 2"]
    lines.append(f"if {a}.shape == {b}.shape and {a}.size:")
    lines.append(f"    r = {draw.choice([f'{a} * 2 + {b}', f'({a} < {b}) | ({a} > 2)', f'({a} + {b} * {a}).sum()'])}")
    if draw.random() < 0.5:
        lines.append(f"    {a}[...] = {a} * 3 - {b}[{draw.choice(['...', '::-1'])}]")
    else:
        lines.append(f"    {a} += {b} * 2 - 1")
    lines += [f"    return r, x, y{draw.choice(['', f', {a}', f', {b}.strides'])}", "return x, y"]
    return ndim, "\n    ".join(["def f(x, y):", *lines, ""])


def check_program(seed, folder):
    draw = random.Random(seed)
    ndim, text = program(draw)
    plain = defined(folder, text)
    staged = native(plain)
    for shape in [(7, 6, 5)[:ndim]] * 2 + [(4, 9, 3)[:ndim], (1, 2, 1)[:ndim], (40, 70, 2)[:ndim]]:
        for dtype in ("float64", "uint8"):
            def args():
                rng = np.random.default_rng(seed)
                return [rng.integers(0, 9, shape).astype(dtype) for _ in range(2)]

            assert outcome(staged, *args()) == outcome(plain, *args()), f"seed {seed}\n{text}"


@pytest.mark.parametrize("seed", range(20))
def test_programs(seed, tmp_path):
    check_program(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 1500))
def test_more_programs(seed, tmp_path):
    check_program(seed, tmp_path)


def test_a_kernel_gets_the_whole_array():
    def f(x):
        inner = x[1:-1]
        return inner[:, 1:-1] * 2 + inner[:, 2:]

    staged, x = native(f), np.arange(42.0).reshape(6, 7)
    for _ in range(3):
        assert described(staged(x)) == described(f(x))
    assert "return kernel(x)" in staged.lower(x).source
    assert not any(version.failures for version in kernels(staged))
    for other in (x[:, :2], x[:2], x[:1], x.T, x[::-1], x[:, ::2], x[:0], np.asfortranarray(x), x[::2]):
        assert described(staged(other)) == described(f(other))


def test_parts_of_the_same_rows_are_known_to_be_side_by_side():
    """So that one address does for all of them; but not of rows from the end on, whose length is not known."""

    def f(x, y):
        rows = x[1:]
        return rows[:, :-2] + rows[:, 1:-1] * 2 + rows[:, 2:] - x[:-1, 2:] + rows[1:][:, -2:][:1] + y[:, 2:]

    staged = native(f)
    for length in (4, 5, 9, 40):
        x, y = (np.random.default_rng(seed).integers(0, 99, (6, length)).astype("uint8") for seed in (1, 2))
        for _ in range(2):
            assert outcome(staged, x, y[:5]) == outcome(f, x, y[:5])
    parts = [Part(0, (np.s_[1:], np.s_[:, :-2])), Part(1), Part(0, (np.s_[1:], np.s_[:, 2:])), Part(0, (np.s_[:, 1:],))]
    streams = [(part, Stream(np.dtype("int16"), 2, True)) for part in (*parts, Part(0, (np.s_[1:, 3:],)), Part(1))]
    same, _ = neighboring_rows(streams, 3)
    assert same == {5: (3, 4), 7: (3, 6), 8: (4, 0)}


def test_what_others_use_is_taken():
    def f(x):
        left, right = x[:-1], x[1:]
        return left * 2 + right, left

    staged, x = native(f), np.arange(5.0)
    for _ in range(3):
        assert described(staged(x)) == described(f(x))
    assert "return kernel(x), x[:-1]" in staged.lower(x).source


def test_rows_that_lie_one_behind_the_other_stay_one_row():
    """Of three elements each; a loop for each of them would take longer than the parts."""

    def f(x):
        return x[1:] * 2 - x[:-1]

    staged, x = native(f), np.ones((50, 3))
    staged(x)
    assert "x[1:]" in staged.lower(x).source


def test_an_array_of_another_shape():
    def f(x):
        part = x[1:3]
        x.shape = (2, 3)
        return part * 2 + part[:1], x

    staged = native(f)
    for _ in range(3):
        assert outcome(staged, np.arange(6.0)) == outcome(f, np.arange(6.0))


def test_errors_and_warnings_are_those_of_numpy():
    def f(x, y):
        return x[1:] / y[:-1] + x[:-1]

    staged, x = native(f), np.ones(5)
    for y in (x, x, np.zeros(5), np.ones(4), np.ones((3, 5)), np.ones(5, complex), x):
        assert outcome(staged, x, y) == outcome(f, x, y)


def test_a_loop_of_kernels_makes_no_views():
    def f(u, iterations):
        for _ in range(iterations):
            u[:, 1:-1] = (u[:, :-2] + 2 * u[:, 1:-1] + u[:, 2:]) / 4
        return u

    staged, u = native(f), np.arange(800.0).reshape(2, 400) ** 2
    for _ in range(3):
        assert described(staged(u.copy(), 10)) == described(f(u.copy(), 10))
    assert "5 operations on arrays are" in reported(staged)
    assert "u[" not in staged.lower(u, 10).source


@pytest.mark.parametrize("name", ["add", "multiply", "subtract", "divide", "maximum", "less", "arctan2", "left_shift"])
def test_outer_is_part_of_a_kernel(name):
    ufunc = getattr(np, name)

    def f(x, y, k):
        a = ufunc.outer(x[:, k], y[k]) * 2
        b = ufunc.outer(x, y[0]) + a[0, 0]
        x[:] = np.minimum(x, ufunc.outer(x[:, k], x[k, :]))
        return a, b, ufunc.outer(x[0] + x[1], y[1]), ufunc.outer(x, 2)

    staged = native(f)
    for dtype in ("int32", "float64", "complex64", "bool", "float16"):
        for k in (0, 2, 5, -1):
            def args():
                x, y = (np.random.default_rng(seed).integers(0, 5, (4, 4)).astype(dtype) for seed in (1, 2))
                return x, y, k

            for _ in range(2):
                assert outcome(staged, *args()) == outcome(f, *args())


def test_a_loop_with_outer_is_one_kernel():
    def f(path):
        for k in range(path.shape[0]):
            path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))
        return path

    staged, path = native(f), np.random.default_rng(0).integers(1, 99, (20, 20), "int32")
    for _ in range(2):
        assert outcome(staged, path.copy()) == outcome(f, path.copy())
    assert "3 operations on arrays are one loop" in reported(staged)
