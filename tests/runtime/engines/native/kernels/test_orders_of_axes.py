"""Kernels of arrays in Fortran's order, also broadcast and strided ones, give the bits and the order of NumPy."""

import random

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.kernels import kernel as kernels
from tests.runtime.engines.native.kernels.test_fusion import defined, outcome
from tests.runtime.engines.native.kernels.test_giving_up import numpys, staged


def scaled(x, row, column):
    y = x * row + column
    return np.sqrt(y * y + 1), y


def array(*shape, order="F"):
    return np.asarray(np.random.default_rng(0).normal(size=shape), order=order)


X, ROW, COLUMN, WIDE = array(3, 4), array(4), array(3, 1), array(9, 24)
TAKEN = {
    "a row and a column": (X, ROW, COLUMN),
    "one shape": (X, X + 1, X + 2),
    "numbers": (X, 1.5, np.float64(2)),
    "arrays without axes": (X, np.array(2.0), np.array([1.0])),
    "not contiguous": (WIDE[:3, :4], ROW, COLUMN),
    "strided": (WIDE[::3, ::6], ROW, WIDE[2:5, 1:2]),
    "reversed": (WIDE[2::-1, 3::-1], ROW[::-1], COLUMN[::-1]),
    "a transposed array": (array(4, 3, order="C").T, array(4, 1, order="C").T, array(1, 3, order="C").T),
    "three axes": (array(2, 3, 4), array(3, 1), array(2, 1, 4)),
    "outer strides of 0": (X, ROW, np.broadcast_to(COLUMN, (3, 4))),
}


@pytest.mark.parametrize("args", TAKEN.values(), ids=TAKEN.keys())
def test_machine_code_takes(args, monkeypatch):
    made, kernel = staged(scaled, *args)
    calls = numpys(monkeypatch, kernel)
    for _ in range(2):
        assert outcome(made, *args) == outcome(scaled, *args)
    assert kernel.compiled and not calls
    with monkeypatch.context() as patch:        # C code calls it
        patch.setattr(kernels.Kernel, "__call__", None)
        assert outcome(made, *args) == outcome(scaled, *args)


LEFT = {
    "both orders": ((X, array(3, 4, order="C"), COLUMN), "not all arrays are in Fortran's"),
    "axes of length 1": ((array(3, 1, 4), ROW, 1.5), "have a length of 1"),
    "a middle axis last": ((array(2, 4, 3).transpose(0, 2, 1), ROW, COLUMN), "in another order than C's"),
    "equal strides": (
        (np.lib.stride_tricks.as_strided(WIDE, (3, 4), (8, 8)), X, COLUMN),
        "not all arrays are in Fortran's",
    ),
}


@pytest.mark.parametrize("args, reason", LEFT.values(), ids=LEFT.keys())
def test_numpy_computes(args, reason):
    made, kernel = staged(scaled, *args)
    assert outcome(made, *args) == outcome(scaled, *args)
    assert not kernel.compiled and reason in str(made.explain(*args))


def test_what_numpy_computes_in_another_order_is_left_to_it(monkeypatch):
    """A row times a column is in C's order, and so is what is added to it."""

    def table(x, row, column):
        return row * column + x

    for row, column, count in [(ROW, COLUMN, 1), (np.broadcast_to(ROW, (3, 4)), COLUMN, 1), (X + 1, COLUMN, 0)]:
        made, kernel = staged(table, X, row, column)
        calls = numpys(monkeypatch, kernel)
        assert outcome(made, X, row, column) == outcome(table, X, row, column)
        assert kernel.compiled and len(calls) == count


def test_reductions_are_left_to_numpy():
    def total(x, row):
        return (x * row + 1).sum(axis=1)

    made, kernel = staged(total, X, ROW)
    assert outcome(made, X, ROW) == outcome(total, X, ROW)
    assert not kernel.compiled
    assert "rows of arrays in Fortran's order are not contiguous" in str(made.explain(X, ROW))


# Generated programs ---------------------------------------------------------------------------------------------------

OPERATIONS = ["({0} + {1})", "({0} - {1})", "({0} * {1})", "({0} / {1})", "np.maximum({0}, {1})", "np.add({0}, {0})"]
OPERATIONS += ["np.where({0} > 1, {0}, {1})", "np.where({1} > 1, {0}, {1})", "-{0}", "np.sin({0})", "{0}.astype('f4')"]


def program(draw, operands):
    """A function of five operands. The first one of each operation is one of some operands, or a result."""
    lines, found = [], list(operands)
    for number in range(draw.randint(1, 4)):
        operation = draw.choice(OPERATIONS).format(draw.choice(found), draw.choice([*found, "y", "z", "t", "k"]))
        lines.append(f"    v{number} = {operation}")
        found += [f"v{number}"] * 2
    kind = draw.random()
    if kind < 0.3:
        lines.append(f"    y[...] = {found[-1]}" if "y" in operands else f"    x += {found[-1]}")
    elif kind < 0.5 and "y" in operands:
        lines.append(f"    v0 = {found[-1]}.sum({draw.choice(['', '0', '-1', '-1, keepdims=True'])})")
    return "\n".join(["def f(x, y, z, t, k):", *lines, f"    return x, y, v0, {found[-1]}", ""])


def view(draw, shape, axes, dtype):
    """An array whose axes are in some order in memory, last one first: a part of a larger array, maybe reversed."""
    steps = [draw.choice([1, 1, 1, 2, -1, -2]) for _ in shape]
    room = np.random.default_rng(draw.randint(0, 9)).integers(0, 9, [2 * shape[axis] for axis in axes]).astype(dtype)
    parts = tuple(slice(None, dim * step if step > 0 else dim * step - 1, step) for dim, step in zip(shape, steps))
    return room.transpose(np.argsort(axes))[parts]


def smaller(draw, shape):
    """A shape that is broadcast to another."""
    return [dim if draw.random() < 0.7 else 1 for dim in shape][draw.choice([0, 0, 1]) :]


def check_program(seed, folder, monkeypatch, wild):
    """Compare with NumPy. Programs that are not wild have `x` among the operands of each operation."""
    draw = random.Random(seed)
    function = defined(folder, program(draw, ["x", "y", "z", "t"] if wild else ["x"]))
    made = ag.function(function, engine="native")
    shape = [draw.choice([2, 3, 5, 17, 40]) for _ in range(draw.randint(2, 3))]
    dtypes = [draw.choice(["f8", "f8", "f4", "i4", "c16"]) for _ in range(4)]
    for call in range(4):
        others = [smaller(draw, shape) for _ in range(2)]
        state = draw.getstate()

        def arguments():
            draw.setstate(state)
            for each, dtype in zip((shape, shape, *others), dtypes):
                axes = list(range(len(each)))[::-1]
                if wild and draw.random() < 0.4:
                    draw.shuffle(axes)
                yield view(draw, each, axes, dtype)
            yield draw.choice([1.5, 2])

        assert outcome(made, *arguments()) == outcome(function, *arguments()), seed
        if call == 0 and not wild:
            every = [kernel for trace in made.traces for kernel in trace.executable.native.kernels]
            assert [kernel.compiled and kernel.reasons for kernel in every] == [[]] * len(every), seed
            calls = [numpys(monkeypatch, kernel) for kernel in every]
    return wild or not any(calls)


@pytest.mark.parametrize("seed", range(20))
def test_programs(seed, tmp_path, monkeypatch):
    assert check_program(seed, tmp_path, monkeypatch, wild=False)


@pytest.mark.parametrize("seed", range(20))
def test_wild_programs(seed, tmp_path, monkeypatch):
    check_program(seed, tmp_path, monkeypatch, wild=True)


@pytest.mark.slow
@pytest.mark.parametrize("wild", [False, True])
@pytest.mark.parametrize("seed", range(20, 1000))
def test_more_programs(seed, wild, tmp_path, monkeypatch):
    check_program(seed, tmp_path, monkeypatch, wild)
