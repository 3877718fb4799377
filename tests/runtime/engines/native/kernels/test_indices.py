"""Parts of arrays at places that are known only when the program runs: kernels find them, and check the bounds."""

import itertools
import random

import numpy as np
import pytest

from tests.runtime.engines.native.kernels.test_fusion import defined, described, kernels, native, outcome, reported

ITEMS = ["i", "j", "i - 1", "j + 1", "0", "-1", "3", ":", ":", "1:", ":-1", "i:", ":j", "i:j", "j:n", "1:n - 1", "None"]
PLACES = [(1, 2, 4), (0, 3, 5), (-1, 4, 9), (-6, 1, -2), (5, -5, 3), (0, 0, 0), (2**40, 1, 3), (1, 2**70, 4)]
PLACES += [(True, 2, 4), (2, 1, -(2**63)), (4, 4, 4)]


def index(draw, ndim):
    chosen, axes = [], 0
    for _ in range(draw.randint(1, ndim + 1)):
        item = draw.choice(ITEMS)
        axes += item != "None"
        if axes <= ndim:
            chosen.append(item)
    return f"[{', '.join(chosen)}{',' * draw.randint(0, 1)}]" if chosen else "[:]"


def term(draw, ndim, names):
    return f"{draw.choice(names)}{index(draw, ndim)}" if draw.random() < 0.8 else draw.choice(names)


def program(draw):
    """Statements whose indices, shapes and operations may raise or warn, in this order."""
    ndim, lines, names = draw.randint(1, 3), [], ["x", "y", "x", "y"]
    for number in range(draw.randint(2, 7)):
        a, b = term(draw, ndim, names[:2]), term(draw, ndim, names[:2])
        kind = draw.randint(0, 6)
        if kind == 0:
            lines.append(f"p{number} = {a}")
            names.append(f"p{number}")
        elif kind == 1:
            lines.append(f"p{number} = {a} * 2 {draw.choice('+-/')} {draw.choice(names)}")
            names.append(f"p{number}")
        elif kind == 2:
            lines.append(f"{term(draw, ndim, ['x', 'y'])} += {b} * 2")
        elif kind == 3:
            lines.append(f"{draw.choice('xy')}{index(draw, ndim)} = {draw.choice(names)} * 0.5")
        elif kind == 4:
            lines.append(draw.choice(["t += 10 // i", "t += [1, 2, 3][j]", f"t += len({a})", f"t += {b}.size"]))
        else:
            first, second = draw.choice("+-*/"), draw.choice("+-")
            lines.append(f"{draw.choice('xy')}{index(draw, ndim)} = {a} {first} {b} {second} {a}")
    results = ", ".join(dict.fromkeys(names))
    return ndim, "\n    ".join(["def f(x, y, i, j, n):", "t = 0", *lines, f"return t, {results}", ""])


def run(function, x, y, *places):
    """The outcome, and what the arrays are afterwards."""
    return outcome(function, x, y, *places), described((x, y))


def check_program(seed, folder):
    draw = random.Random(seed)
    ndim, text = program(draw)
    plain = defined(folder, text)
    staged = native(plain)
    for dtype in ("float64", "int16"):
        for order in "CF":
            for places in PLACES:
                def args():
                    rng = np.random.default_rng(seed)
                    arrays = [rng.integers(0, 4, (5, 5, 5)[:ndim]).astype(dtype, order=order) for _ in range(2)]
                    return *arrays, *places

                assert run(staged, *args()) == run(plain, *args()), f"seed {seed}, {places}\n{text}"


@pytest.mark.parametrize("seed", range(20))
def test_programs(seed, tmp_path):
    check_program(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 1000))
def test_more_programs(seed, tmp_path):
    check_program(seed, tmp_path)


def sweep(p, u, n):
    for j in range(1, n - 1):
        p[1:n, :, j] = (u[j, 1:n] - 0.5 * p[1:n, :, j - 1]) / (p[1:n, :, j - 1] + 2)
    return p


def test_a_loop_over_columns_makes_no_views():
    staged = native(sweep)
    for _ in range(3):
        p, u = (np.arange(8000.0).reshape(20, 20, 20) for _ in "pu")
        assert run(staged, p.copy(), u, 20) == run(sweep, p.copy(), u, 20)
    assert "5 operations on arrays are one loop" in reported(staged)
    assert "p[" not in staged.lower(p, u, 20).source


def test_bounds_are_those_of_each_call():
    def f(x, y, i):
        y[i] = x[i] * 2 + x[i + 1, 1:]
        return y

    staged = native(f)
    for shape in ((4, 1), (1, 1), (0, 1), (4, 2), (4, 0)):
        for i in (0, 2, 3, 4, -1, -2, -4, -5, 2**63 - 1, -(2**63)):
            for _ in range(2):
                x, y = (np.arange(np.prod(shape), dtype=float).reshape(shape) for _ in "xy")
                assert run(lambda x, y, i: staged(x, y, i), x.copy(), y.copy(), i) == run(f, x.copy(), y.copy(), i)
    assert kernels(staged)


@pytest.mark.parametrize("error", [ValueError, IndexError, FloatingPointError])
def test_the_first_of_several_errors_is_raised(error):
    def f(x, y, i, j):
        a = x[i] / y[0]
        b = x[j, :2] + a
        x[0] = b
        return a

    staged, x = native(f), np.ones((3, 3))
    y = np.zeros((3, 3)) if error is FloatingPointError else np.ones((3, 3))
    j = 1 if error is ValueError else 7
    for _ in range(3):
        with np.errstate(all="raise"):
            assert run(staged, x.copy(), y, 0, j) == run(f, x.copy(), y, 0, j)
            with pytest.raises(error):
                staged(x.copy(), y, 0, j)


def test_a_part_that_nothing_uses_may_raise():
    def f(x, i):
        a = x * 2 + 1
        x[i]
        return a / 0 + a

    staged, x = native(f), np.arange(4.0)[:, None]
    for i in (0, 9, 3, -5):
        assert run(lambda x, y, i: staged(x, i), x, x, i) == run(lambda x, y, i: f(x, i), x, x, i)


def test_an_array_that_is_read_only():
    def f(x, y, i):
        x[i] = y[i] * 2 + y[0]
        return x

    staged, x, y = native(f), np.ones((3, 3)), np.arange(9.0).reshape(3, 3)
    for writeable in (True, True, False, True):
        x.flags.writeable = writeable
        assert run(staged, x, y, 1) == run(f, x, y, 1)


def test_arrays_of_other_classes():
    class Loud(np.ndarray):
        def __getitem__(self, index):
            print("take", index)
            return super().__getitem__(index)

    def f(x, y, i):
        y[i] = x[i] * 2 + x[0]
        return y

    staged = native(f)
    for kind in (np.ndarray, np.matrix, Loud, np.ndarray):
        x = np.arange(9.0).reshape(3, 3).view(kind)
        assert run(staged, x, np.ones((3, 3)), 1)[1] == run(f, x, np.ones((3, 3)), 1)[1]


def test_slices_of_parts_and_attributes_are_taken_in_order():
    def f(x, y, i, j, k):
        a, b = x[i], y[:, j]
        c = b[:, None].size
        d = (y[k] * 2 - x[:, i][:, None]) * y[k]
        return a, c, d

    staged = native(f)
    x, y = np.ones((3, 4)), np.ones((4, 5))
    for places in itertools.product((0, 2, 9, -9), repeat=3):
        assert outcome(staged, x, y, *places) == outcome(f, x, y, *places), places
