"""Loops over whole arrays: a block of elements goes through all iterations, and each bit is what NumPy gives."""

import _thread
import random
import re
import signal
import threading

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.kernels import kernel
from tests.runtime.engines.native.kernels.test_fusion import defined, outcome


def turned(x, y, iterations):
    for _ in range(iterations):
        x, y = x + 0.1 * y, y - 0.1 * x
    return x, y


def halved(x, y, iterations):
    for _ in range(iterations):
        x = x * 0.5 + y
    return x


def escaped(x, y, iterations):
    a, count = x * 0, np.zeros(x.shape, np.int64)
    for _ in range(iterations):
        inside = a * a < 4
        a = np.where(inside, a * a + y, a)
        count = count + inside
    return count


def squared(x, y, iterations):
    for _ in range(iterations):
        x = x * x - y
    return x


def made_anew(x, y, iterations):
    """Values that only the next iteration reads, and none after the last."""
    for _ in range(iterations):
        y = x + y
        x = y * 0.5
    return x


def on_its_own(x, y, iterations):
    """Nothing comes of what there was before."""
    for _ in range(iterations):
        x = y * 0.5
    return x


FUNCTIONS = [turned, halved, escaped, squared, made_anew, on_its_own]


@pytest.mark.parametrize("size", [0, 1, 2, 7, 64, 65, 1023, 5000])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_each_bit_is_that_of_numpy(function, size):
    x, y = np.random.default_rng(size).normal(size=(2, size))
    for engine in ("native", "auto"):
        staged = ag.function(function, engine=engine)
        for iterations in (0, 1, 2, 3, 64, 65, 300):
            assert outcome(staged, x, y, iterations) == outcome(function, x, y, iterations)


@pytest.mark.parametrize("dtype", ["float32", "int8", "uint16", "int64", "bool"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_other_numbers(function, dtype):
    x, y = np.random.default_rng(0).integers(0, 2, size=(2, 333)).astype(dtype)
    staged = ag.function(function, engine="native")
    for iterations in (0, 1, 2, 40):
        assert outcome(staged, x, y, iterations) == outcome(function, x, y, iterations)


def layouts():
    x, row, column = (np.random.default_rng(0).normal(size=size) for size in ((30, 40), 40, (30, 1)))
    yield from ((x, other) for other in (row, column, x, np.asfortranarray(x), x[::-1], 2.0, np.float64(3), 3))
    yield from ((np.asfortranarray(x), other) for other in (row, column, x, np.asfortranarray(x), 2.0))
    yield from ((x[:, ::2], row[::2]), (x[::2], row), (x[::-1], row), (x[:, :1], column), (x[:1], row))
    yield from ((x[:, :1], x), (x[:1], x), (row, x), (column, x))       # the first iteration makes it larger
    yield x.reshape(3, 10, 40), np.ones((10, 1))


@pytest.mark.parametrize("shapes", [None, [ag.TensorSpec((None, None)), ag.TensorSpec((None, None))]])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_however_it_lies(function, shapes):
    signature = None if shapes is None else [*shapes, ag.TensorSpec((), int)]
    staged = ag.function(function, engine="native", input_signature=signature)
    for x, y in layouts():
        staged = staged if shapes else ag.function(function, engine="native")
        if shapes is None or np.ndim(x) == np.ndim(y) == 2:
            for iterations in (0, 1, 2, 70):
                assert outcome(staged, x, y, iterations) == outcome(function, x, y, iterations)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_it_is_one_kernel(function):
    staged = ag.function(function, engine="native")
    x = np.ones((4, 6))
    staged(x, x, 3)
    report = str(staged.explain(x, x, 3))
    assert re.search("in all iterations of (its|their) loop, (is|are) one loop of machine", report)
    assert "for _" not in staged.lower(x, x, 3).source


def test_no_iteration_gives_what_there_was():
    staged = ag.function(turned, engine="native")
    x, y = np.ones(3), np.zeros(3)
    for _ in range(3):
        assert [id(each) for each in staged(x, y, 0)] == [id(x), id(y)]
        one, other = staged(x, x, 1)
        assert not np.shares_memory(one, other) and not np.shares_memory(one, x)


@pytest.mark.parametrize("engine", ["native", "auto"])
def test_an_overflow_warns_in_its_iteration(engine):
    """As NumPy does: once for each iteration, at its line, as an error if warnings are errors."""
    staged, x = ag.function(squared, engine=engine), np.full(100, 3.0)
    for _ in range(20):
        assert outcome(staged, x, x, 30) == outcome(squared, x, x, 30)
        with np.errstate(all="raise"), pytest.raises(FloatingPointError) as caught:
            staged(x, x, 30)
        assert caught.traceback[-1].lineno + 1 == squared.__code__.co_firstlineno + 2
    y = np.full(100, 0.5)
    assert outcome(staged, y, y, 30) == outcome(squared, y, y, 30)


def test_several_threads(monkeypatch):
    monkeypatch.setenv("AUTOGRAPH_NUM_THREADS", "3")
    x, y = np.random.default_rng(0).uniform(0.1, 0.9, size=(2, 70, 900))
    for function in FUNCTIONS:
        assert outcome(ag.function(function, engine="native"), x, y, 30) == outcome(function, x, y, 30)


@pytest.mark.parametrize("size", [3, 100_000])
def test_interrupts_come_through(size):
    staged, x = ag.function(turned, engine="native"), np.zeros(size)
    staged(x, x, 1)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # who runs in the background ignores it
    timer = threading.Timer(0.2, _thread.interrupt_main)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            staged(x, x, 2**80)
    finally:
        signal.signal(signal.SIGINT, before)
    timer.join()


def by_number(x, y, iterations):
    for iteration in range(iterations):
        x = x + iteration
    return x


def exchanged(x, y, iterations):
    for _ in range(iterations):
        x, y = y, x + y
    return x


def summed(x, y, iterations):
    for _ in range(iterations):
        x = x / (1 + x.sum())
    return x


def of_sines(x, y, iterations):
    for _ in range(iterations):
        x = np.sin(x) + y
    return x


def until(x, y, iterations):
    for _ in range(iterations):
        x = x * 0.5
        if x[0] < y[0]:
            break
    return x


@pytest.mark.parametrize("function", [by_number, exchanged, summed, of_sines, until])
def test_others_go_iteration_by_iteration(function):
    staged, (x, y) = ag.function(function, engine="native"), np.random.default_rng(0).uniform(0.1, 0.9, size=(2, 50))
    for iterations in (0, 1, 5):
        assert outcome(staged, x, y, iterations) == outcome(function, x, y, iterations)
    assert "in all iterations" not in str(staged.explain(x, y, 5))


def test_on_trial_numpy_has_one_iteration_first(monkeypatch):
    """So that it does not take long until machine code is tried, if there is much to do in each iteration."""
    counts = []
    original = kernel.Kernel.python
    monkeypatch.setattr(kernel.Kernel, "python", lambda self, *args: counts.append(args[0]) or original(self, *args))
    staged, x = ag.function(turned, engine="auto"), np.ones(20)
    staged(x, x, 10)
    assert counts == [1, 2, 4, 3]


# Generated programs ---------------------------------------------------------------------------------------------------

LINES = ["{} + {}", "{} * 0.5 - {}", "np.maximum({}, {})", "np.where({} < {}, x, y)", "{} * {} * 0.25"]
LINES.append("np.abs({}) + z - {}")


@pytest.mark.parametrize("seed", range(40))
def test_drawn_loops(seed, tmp_path):
    draw = random.Random(seed)
    names, lines = ["x", "y", "z"], []
    for number in range(draw.randint(1, 6)):
        lines.append(f"v{number} = {draw.choice(LINES).format(*draw.choices(names, k=2))}")
        names.append(f"v{number}")
    one, other = draw.choices(names[3:], k=2)
    lines.append(f"x, y = {one} + 0.125, {other} - x")
    body = "\n        ".join(lines)
    f = defined(tmp_path, f"def f(x, y, z, n):\n    for _ in range(n):\n        {body}\n    return x, y\n")
    staged, args = ag.function(f, engine="native"), np.random.default_rng(seed).normal(size=(3, draw.randint(1, 700)))
    for iterations in (0, 1, 2, 9, 70):
        assert outcome(staged, *args, iterations) == outcome(f, *args, iterations)
