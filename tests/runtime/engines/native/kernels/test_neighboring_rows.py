"""Four rows at once: for arrays of all layouts and sizes, each bit is that of NumPy."""

import random

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

from autograph.runtime.engines.native.kernels.loop_nest import Stream
from autograph.runtime.engines.native.kernels.schedule import shown
from autograph.runtime.engines.native.kernels.schedule_rules import ROWS
from autograph.runtime.engines.native.kernels.views import Part, neighboring_rows
from tests.runtime.engines.native.kernels.test_fusion import defined, kernels, native, outcome

HEIGHTS, WIDTHS = range(12, -1, -1), [130, 97, 66, 65, 64, 63, 34, 33, 32, 31, 17, 4]     # nothing comes last


def life(cells, iterations):
    for _ in range(iterations):
        north, south = cells[:-2], cells[2:]
        beside = cells[1:-1, :-2] + cells[1:-1, 2:]
        around = north[:, :-2] + north[:, 1:-1] + north[:, 2:] + beside + south[:, :-2] + south[:, 1:-1] + south[:, 2:]
        cells[1:-1, 1:-1] = (around == 3) | ((cells[1:-1, 1:-1] == 1) & (around == 2))
    return cells


def dilated(x, row):
    return x[:-2, 1:] | x[1:-1, 1:] | x[2:, 1:] | x[1:-1, :-1], x[2:, 1:] ^ row[:, 1:]


def edges(x, column):
    return abs(x[2:, 2:] * 3 - x[:-2, :-2]) + np.maximum(x[1:-1, 1:-1] * x[:-2, 2:], column[2:]), x[2:, 1:-1] > 5


def is_jammed(function):
    found = [f"for {ROWS} of" in shown(version.schedule) for version in kernels(function)]
    return bool(found) and all(found)


def numbers(shape, dtype, seed=0):
    """Of all sizes, so that sums wrap around."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256 ** np.dtype(dtype).itemsize, shape).astype(dtype)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "bool"])
@pytest.mark.parametrize("plain", [dilated, edges])
def test_all_heights_and_widths(plain, dtype):
    staged = native(plain)
    for height in HEIGHTS:
        for width in WIDTHS:
            x = numbers((height, width), dtype)
            other = numbers((1, width) if plain is dilated else (height, 1), dtype, 1)
            assert outcome(staged, x, other) == outcome(plain, x, other), (height, width)
        assert height < 3 or dtype == "bool" or is_jammed(staged)


def test_what_is_written_where_neighbors_are_read():
    staged, rng = native(life), np.random.default_rng(0)
    for height in HEIGHTS:
        for width in WIDTHS:
            cells = rng.integers(0, 2, (height, width)).astype("uint8")
            assert outcome(staged, cells.copy(), 3) == outcome(life, cells.copy(), 3), (height, width)
        assert height < 3 or is_jammed(staged)


def test_how_arrays_lie():
    """Only where parts are the rows that slices tell of there are bands; but there is always the same result."""
    room = numbers((80, 140), "uint8")
    wide = np.broadcast_to(room[:1], (40, 140))
    arrays = [room, room[::2], room[::3, 5:], room[:, ::2], room[::-1], room[:, ::-1], room.T, np.asfortranarray(room)]
    arrays += [wide, as_strided(room, (60, 50), (1, 1)), as_strided(room, (60, 50), (7, 1)), room[:1], room[:, :1]]
    for plain, other in ((dilated, 3), (edges, room[:1, :1])):
        plain = defined_for(plain, other)
        staged = native(plain)
        for x in (*arrays, *arrays):
            assert outcome(staged, x) == outcome(plain, x), x.strides


def defined_for(plain, other):
    if plain is dilated:
        return lambda x: plain(x, x[:1])
    return lambda x: plain(x, x[:, :1])


def test_rows_that_are_not_where_slices_tell():
    """A part of one row is the same for all rows of others, and slices may end behind where an array does."""

    def f(x, y):
        return y + x[:1, 1:] - x[1:2, 1:] ^ x[2:3, :-1]

    def g(x, y):
        return x[1:9, 1:] + x[2:10, 1:] * x[9:90, :-1]

    staged = native(f), native(g)
    for rows in (18, 17, 11, 10):
        for width in (40, 33):
            x, y = numbers((rows, width + 1), "uint8"), numbers((7, width), "uint8", 1)
            for plain, function in zip((f, g), staged):
                assert outcome(function, x, y) == outcome(plain, x, y), (rows, width)
    assert all(map(is_jammed, staged))


def test_rows_that_are_written_may_overlap():
    """So that what one has written the next one writes over."""

    def f(x, out):
        out[...] = x[1:, 1:] * 3 + x[:-1, 1:]

    staged = native(f)
    x = numbers((12, 50), "uint8")
    for step in (1, 7, 48, 49, 50, 64):
        results = []
        for function in (f, staged, staged):
            room = np.zeros(1000, "uint8")
            function(x, as_strided(room, (11, 49), (step, 1)))
            results.append(room.tobytes())
        assert len({*results}) == 1, step


def test_rows_that_are_put_back_may_overlap():
    staged = native(life)
    for steps in [(1, 1), (30, 1), (39, 1), (41, 1), (0, 1)]:
        results = []
        for function in (life, staged, staged):
            room = numbers((1000,), "uint8") % 2
            function(as_strided(room, (18, 40), steps), 2)
            results.append(room.tobytes())
        assert len({*results}) == 1, steps


def test_more_dimensions():
    def f(x, y):
        near = x[1:-1, :-2, 1:] + x[1:-1, 1:-1, 1:] + x[1:-1, 2:, 1:] - x[:-2, 1:-1, 1:]
        x[1:-1, 1:-1, 1:] = near + x[2:, 2:, :-1] + x[1:-1, 1:-1, :-1] * y[:-2, 1:]
        return near

    staged = native(f)
    for shape in [(3, 9, 40), (5, 3, 70), (4, 7, 34), (9, 6, 33), (2, 9, 40), (3, 12, 20)]:
        x, y = numbers(shape, "int16"), numbers(shape[1:], "int16", 1)
        for transposed in (False, True):
            def args():
                return (x.transpose(1, 0, 2).copy().transpose(1, 0, 2) if transposed else x.copy()), y

            assert outcome(staged, *args()) == outcome(f, *args()), shape
    assert is_jammed(staged)


def test_several_threads(monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_NUM_THREADS", "3")
    staged = native(life)
    for shape in [(1500, 1200), (601, 3001), (11, 99_999)]:
        cells = np.random.default_rng(0).integers(0, 2, shape).astype("uint8")
        for _ in range(2):
            assert outcome(staged, cells.copy(), 2) == outcome(life, cells.copy(), 2), shape


def test_the_rows_of_one_array_are_known():
    """Not those counted from the end, nor those of other planes, nor what stands apart."""
    wide, apart = Stream(np.dtype("int16"), 2, True), Stream(np.dtype("int16"), 2, True, True)
    parts = [(Part(0, (np.s_[1:], np.s_[:, :-2])), wide), (Part(1, (np.s_[2:],)), wide), (Part(0, (np.s_[2:],)), wide)]
    parts += [(Part(0, (np.s_[:, 3:],)), wide), (Part(0, (np.s_[-3:],)), wide), (Part(1, (np.s_[1:],)), apart)]
    parts += [(Part(1), wide)]
    _, near = neighboring_rows(parts, 3)
    assert near == {5: (3, 1, 0), 6: (3, -1, 6), 9: (4, -2, 0)}
    deep = Stream(np.dtype("int8"), 3, True)
    planes = [Part(0, (np.s_[plane:, row:],)) for plane, row in ((0, 0), (1, 0), (1, 2), (0, 1))]
    _, near = neighboring_rows([(part, deep) for part in planes], 0)
    assert near == {2: (1, 2, 0), 3: (0, 1, 0)}


def program(draw):
    """Takes parts of the same size of one array or two, and gives or writes what it computes."""
    far, wide = draw.randint(0, 4), draw.randint(0, 3)

    def part():
        row, column = draw.randint(0, far), draw.randint(0, wide)
        stop, end = (f"-{most - at}" if most > at else "" for most, at in ((far, row), (wide, column)))
        return f"{draw.choice('xxxxy')}[{row}:{stop}, {column}:{end}]"

    def value(depth):
        if depth == 0 or draw.random() < 0.15:
            return part() if draw.random() < 0.9 else draw.choice("23")
        return f"({value(depth - 1)} {draw.choice('+++-*|&^<')} {value(depth - 1)})"

    write = draw.choice([f"{part()} = ", f"{part()} += ", f"out[{far}:, {wide}:] = ", f"out[{far}:, {wide}:] += ", ""])
    lines = [f"q = {value(draw.randint(1, 3))}", f"{write}{part()} + {value(draw.randint(2, 4))} * 1"]
    if not write:
        lines[1] = f"x = {lines[1]}"
    return "\n    ".join(["def f(x, y, out):", *lines, "return x, y, out, q", ""])


def check_program(seed, folder):
    draw = random.Random(seed)
    text = program(draw)
    plain = defined(folder, text)
    staged = native(plain)
    for shape in [(9, 40), (9, 40), (5, 36), (23, 77), (8, 20), (10, 130)]:
        for dtype in draw.choices(["uint8", "int8", "int16", "bool"], k=2):
            def args():
                room = numbers((2 * shape[0], shape[1]), dtype, seed)
                return (room[: shape[0]], room[1 :: 2] if seed % 2 else room[1 : shape[0] + 1], room[::2].copy())

            assert outcome(staged, *args()) == outcome(plain, *args()), f"seed {seed}, {shape}, {dtype}\n{text}"


@pytest.mark.parametrize("seed", range(15))
def test_programs(seed, tmp_path):
    check_program(seed, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(15, 1000))
def test_more_programs(seed, tmp_path):
    check_program(seed, tmp_path)
