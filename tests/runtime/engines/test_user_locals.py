"""What debuggers find in the frames of a staged function that has raised: the user's variables, with their values."""

import numpy as np
import pytest

import autograph as ag


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


@pytest.mark.parametrize(
    "function, args, known",
    [
        (helper_in_a_loop, (3.0,), [{"x", "y", "i"}, {"a", "b"}]),
        (branch, (3.0, 1.0), [{"x", "limit", "half"}]),
        (accumulated, (np.arange(5.0),), [{"xs"}]),
        (copied, (3.0,), [{"x"}]),
        (constant_again, (3.0,), [{"x"}]),
        (index, (np.arange(3.0), 2), [{"xs", "n"}]),
    ],
)
def test_variables_are_those_of_the_user(function, args, known):
    plain, staged = frames(function, args), frames(ag.function(function, engine="numpy"), args)
    assert [frame[:2] for frame in staged] == [frame[:2] for frame in plain]
    for (_, _, expected), (_, _, found), least in zip(plain, staged, known):
        assert least <= found.keys() <= expected.keys()
        for name, value in found.items():
            assert_same(value, expected[name])


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
