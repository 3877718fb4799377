"""What debuggers find in the frames of a staged function that has raised: the user's variables, with their values."""

import linecache
from typing import Any

import numpy as np
import pytest

import autograph as ag
from autograph.common import defects
from autograph.runtime.engines.numpy import tracebacks
from tests import counting


def frames(function, args):
    """Of the user's frames in the traceback, outermost first: name, line and variables."""
    with pytest.raises(Exception) as caught:
        function(*args)
    found = []
    trace = caught.value.__traceback__.tb_next
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code.co_filename == __file__ and trace.tb_lineno != frame.f_code.co_firstlineno:
            found.append((frame.f_code.co_name, trace.tb_lineno, dict(frame.f_locals)))
        trace = trace.tb_next
    return found


def assert_same(one, other):
    assert type(one) is type(other) and np.array_equal(one, other), (one, other)


def inner(a):
    b = a * 2
    if b > 5:
        raise ValueError("big")
    return b


def helper_in_a_loop(x):
    y = x - 1
    for i in range(10):
        y = y + inner(i)
    return y


def branch(x, limit):
    half = x / 2
    if half > limit:
        over = half - limit
        return 1 // int(over * 0)
    return half


def accumulated(xs):
    total = 0.0
    for x in xs:
        total += x
        if total > 3:
            raise OverflowError(total)
    return total


def copied(x):
    y = x * 2
    z = y + 1
    y = z
    if y > 0:
        raise ValueError
    return y


def constant_again(x):
    y = x * 2
    if y > 0:
        y = 0
        raise ValueError
    return y


def index(xs, n):
    big = xs * 2
    return big[n + len(xs)]


def copied_argument(x, n):
    y = x
    z = y
    total = 0
    for i in range(n):
        total += y / (3 - i)
    return total + z


def falling(x, n):
    total = 0
    while n > -5:
        part = x / n
        total += part
        n -= 1
    return total


def found(table, n):
    total = 0
    for i in range(n):
        key = i % 7
        total += table[key]
    return total


def deeper(x, n):
    total = 0
    for i in range(n):
        twice = i * 2
        for j in range(i):
            total += 1 // (twice - j - 5)
    return total


def each(xs, n):
    return [inner(x) * n for x in xs]


def of_a_closure(x, n):
    k = 3

    def times(q):
        r = q * k
        if r > 10:
            raise KeyError(r)
        return r

    total = 0
    for i in range(n):
        total += times(i)
    return total


def constant_on_one_path(x, n):
    a = 1
    for i in range(n):
        if x > 1:
            a = 2
            b = 10 // (i - 2)
            a += b
    return a


def moved_out_of_the_loop(x, n):
    d = 0
    for i in range(n):
        d = x * 3
        if x > 2:
            raise ValueError
        d = i
    return d


def item_of_two_loops(x, n):
    for k in range(n):
        for k in range(5):
            last = k
    if x > 1:
        raise ValueError
    return k


def two_values_of_one_name(x, n):
    total = 0
    for i in range(n):
        y = i * 2
        z = y
        if i > 3:
            y = i * 3
            total += y
        total += z // (n - i - 1)
    return total


def difference(p, q):
    s = p * 2
    t = s - q
    if t > 58:
        raise KeyError("large")
    return (s + q + t) % 50


def unrolled(n, a, c):
    for j in range(n):
        for j in range(5):
            a = c + 1
    w = 2
    while w > 0:
        w -= 1
        a = n + n + 20
        for j in range(5):
            c = difference(a, c)
            c = a
    return c


PROGRAMS = [
    (helper_in_a_loop, (3.0,), [{"x", "y", "i"}, {"a", "b"}]),
    (branch, (3.0, 1.0), [{"x", "limit", "half"}]),
    (accumulated, (np.arange(5.0),), [{"xs", "total"}]),
    (copied, (3.0,), [{"x"}]),
    (constant_again, (3.0,), [{"x"}]),
    (index, (np.arange(3.0), 2), [{"xs", "n", "big"}]),
    (copied_argument, (3.0, 5), [{"x", "n", "y", "z", "i", "total"}]),
    (falling, (1.5, 4), [{"x", "n", "total"}]),
    (found, ({0: 1, 1: 2}, 4), [{"table", "n", "i", "key", "total"}]),
    (deeper, (1, 9), [{"x", "n", "j", "total"}]),
    (each, (np.arange(5.0), 2), [{"xs", "n"}, {"a", "b"}]),
    (of_a_closure, (1.0, 9), [{"x", "n", "k", "i", "total"}, {"q", "r"}]),
    (constant_on_one_path, (3, 5), [{"x", "n"}]),
    (moved_out_of_the_loop, (3, 5), [{"x", "n"}]),
    (item_of_two_loops, (3, 5), [{"x", "n"}]),
    (unrolled, (12, 1, 9), [{"n"}, set()]),
    (two_values_of_one_name, (3, 8), [{"x", "n", "total"}]),
]


@pytest.mark.parametrize("function, args, known", PROGRAMS)
@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
def test_variables_are_those_of_the_user(function, args, known, engine):
    plain, staged = frames(function, args), frames(ag.function(function, engine=engine), args)
    assert [frame[:2] for frame in staged] == [frame[:2] for frame in plain]
    for (_, _, expected), (_, _, shown), least in zip(plain, staged, known):
        if engine == "numpy":
            assert least <= shown.keys()
        assert shown.keys() <= expected.keys()
        for name, value in shown.items():
            if not callable(value):
                assert_same(value, expected[name])


@pytest.mark.parametrize(
    "function, args, known",
    [
        (helper_in_a_loop, (3.0,), [{"x", "y"}, {"b"}]),
        (copied_argument, (3.0, 5), [{"x", "n", "y", "z", "i", "total"}]),
        (falling, (1.5, 4), [{"x", "n", "total"}]),
        (found, ([1, 2], 4), [{"table", "n", "i", "key"}]),
        (deeper, (1, 9), [{"x", "n", "twice", "j", "total"}]),
    ],
)
def test_variables_where_machine_code_was_left(function, args, known):
    staged = ag.function(function, engine="native")
    for _ in range(3):
        for (_, _, shown), least in zip(frames(staged, args), known):
            assert least <= shown.keys()


@pytest.mark.parametrize("engine", ["numpy", "native", "auto"])
def test_the_first_line_of_a_frame_is_that_of_its_function(engine):
    with pytest.raises(ValueError) as caught:
        ag.function(helper_in_a_loop, engine=engine)(3.0)
    codes = [entry.tb_frame.f_code for entry in entries(caught.value)][2:]
    assert [code.co_firstlineno for code in codes] == [
        function.__code__.co_firstlineno for function in (helper_in_a_loop, inner)
    ]


def entries(error):
    found, entry = [], error.__traceback__
    while entry is not None:
        found.append(entry)
        entry = entry.tb_next
    return found


def in_place(xs):
    ys = xs + 1.0
    zs = ys * 2.0
    ws = zs - 1.0
    if ws[0] > 0:
        raise ValueError
    return ws


def test_arrays_whose_memory_was_used_again():
    xs = np.ones(100_000)
    ((_, _, expected),), ((_, _, found),) = frames(in_place, (xs,)), frames(ag.function(in_place), (xs,))
    assert found.keys() <= expected.keys() and "xs" in found
    for name, value in found.items():
        assert_same(value, expected[name])


def test_the_frame_of_the_call_has_the_arguments_and_nothing_else():
    with pytest.raises(ValueError) as caught:
        ag.function(helper_in_a_loop, engine="numpy")(3.0)
    first = caught.value.__traceback__.tb_next.tb_frame
    assert first.f_code.co_name == "helper_in_a_loop" and dict(first.f_locals) == {"x": 3.0}


@pytest.mark.parametrize("engine", ["numpy", "native"])
def test_an_error_of_this_library_does_not_hide_the_users(engine, monkeypatch, caplog):
    def fail(*args):
        raise TypeError("injected")

    monkeypatch.delenv("AUTOGRAPH_DEBUG")
    monkeypatch.setattr(defects, "_reported", set())
    monkeypatch.setattr(tracebacks, "user_locals", fail)
    with pytest.raises(ValueError, match="big"):
        ag.function(helper_in_a_loop, engine=engine)(3.0)
    assert "injected" in caplog.text


def first_exception(size: int, line: str) -> int:
    """How many lines of Python run for the first exception of a function with so many lines of this kind."""
    body = "".join(f"    x{n + 1} = {line.replace('#', str(n))}\n" for n in range(size))
    step = "def step(p, q):\n    r = p * 1.5 + q\n    return r\n"
    text = f"{step}def f(x0, a, xs):\n{body}    return xs[int(a)] + x{size}\n"
    name = f"<{size} times {line}>"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    names: dict[str, Any] = {}
    exec(compile(text, name, "exec"), names)
    staged = ag.function(names["f"])
    staged(1.0, 0, [1.0])

    def fail() -> None:
        with pytest.raises(IndexError):
            staged(1.0, 1, [1.0])

    return counting.lines(fail)


@pytest.mark.parametrize("line", ["x# * 1.5 + a", "step(x#, a)"])
def test_the_first_exception_takes_a_time_that_is_linear_in_the_length_of_the_function(line: str) -> None:
    assert first_exception(200, line) < 2.5 * first_exception(100, line)
