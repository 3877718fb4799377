"""Which calls of a kernel are machine code's, which are NumPy's, and what happens if most are NumPy's."""

import itertools

import numpy as np
import pytest

import autograph as ag
from autograph.runtime.engines.native.kernels import kernel as kernels
from tests.runtime.engines.native.kernels.test_fusion import outcome


def add(y, z, c):
    y += c * z
    return y


def chain(x, y):
    return np.sqrt(x * x + 1) * 2 + y


def staged(function, *args):
    """The staged function and its only kernel, after a call."""
    made = ag.function(function, engine="native")
    made(*args)
    (kernel,) = made.traces[-1].executable.native.kernels
    return made, kernel


def numpys(monkeypatch, kernel):
    """Count the calls that NumPy computes."""
    calls = []
    python = kernel.python
    monkeypatch.setattr(kernel, "python", lambda *args: calls.append(args) or python(*args))
    return calls


VIEWS = {
    "reversed": lambda x: x[::-1],
    "every second": lambda x: x[::2],
    "every second, reversed": lambda x: x[::-2],
    "empty": lambda x: x[:0],
    "one": lambda x: x[3:4],
    "all": lambda x: x,
}


@pytest.mark.parametrize("first, second", [*itertools.product(VIEWS, VIEWS)])
def test_views_of_every_direction_are_added_in_place(first, second):
    data = np.random.default_rng(0).normal(size=(2, 24))

    def arguments():
        y, z = data.copy()
        return VIEWS[first](y), VIEWS[second](z), 0.5

    plain = outcome(add, *arguments())
    made = ag.function(add, engine="native")
    for _ in range(3):
        assert outcome(made, *arguments()) == plain


@pytest.mark.parametrize("index", [np.s_[::-1], np.s_[:, ::-1], np.s_[::-1, ::-1], np.s_[::-2, ::2], np.s_[1:, :0]])
def test_arrays_with_reversed_axes_give_results_in_the_layout_of_numpy(index, monkeypatch):
    x, y = np.random.default_rng(0).normal(size=(2, 6, 8))
    for args in [(x[index], y[index]), (x[index], y[index].copy()), (x[index], 1.5)]:
        made, kernel = staged(chain, *args)
        calls = numpys(monkeypatch, kernel)
        assert outcome(made, *args) == outcome(chain, *args)
        assert bool(calls) == (x[index].size == 0)


def test_a_sum_of_reversed_rows_adds_in_the_order_of_numpy():
    def f(x):
        return (x * x + 1).sum(axis=1)

    x = np.random.default_rng(0).normal(size=(7, 1000))
    made = ag.function(f, engine="native")
    for index in (np.s_[:], np.s_[:, ::-1], np.s_[::-1], np.s_[::-1, ::-1]):
        assert outcome(made, x[index]) == outcome(f, x[index])


@pytest.mark.parametrize("shift", [-9, -1, 0, 1, 9])
@pytest.mark.parametrize("step", [1, -1, 2])
def test_memory_that_the_caller_shares_is_read_before_it_is_written(shift, step, monkeypatch):
    def arguments():
        data = np.linspace(0.0, 1.0, 60)
        return data[20:40][::step], data[20 + shift : 40 + shift][::step][::-1], 0.5

    made, kernel = staged(add, *arguments())
    calls = numpys(monkeypatch, kernel)
    apart = np.arange(20.0)[::step], np.arange(20.0)[::step], 0.25
    for args in (arguments, lambda: [np.copy(each) for each in apart], arguments):
        assert outcome(made, *args()) == outcome(add, *args())
    assert not calls


def test_empty_slices_are_no_reason_to_give_up():
    def f(y, z, c):
        for k in range(len(y)):
            y[:k] += c * z[:k]
        return y

    made, (y, z) = ag.function(f, engine="native"), np.ones((2, 30, 20))
    for _ in range(3 * kernels.WATCHED):
        made(y[:1], z, 0.5)
    assert outcome(made, y.copy(), z, 0.5) == outcome(f, y.copy(), z, 0.5)
    assert made.traces[-1].executable.native.kernels[0].compiled


def test_other_kinds_keep_their_machine_code_when_one_is_given_up(monkeypatch):
    """It is called without Python."""
    wide = np.ones(150)
    made, kernel = staged(chain, wide[:50], wide[:50])
    for view in (wide[::3], wide[50::2]):
        made(view, wide[:50])
    first, *others = kernel.compiled
    assert len(others) == 1
    kernel.give_up(first)
    assert kernel.compiled == others and kernel.entry is others[0].entry
    monkeypatch.setattr(kernels.Kernel, "__call__", None)
    assert outcome(made, wide[50::2], wide[:50]) == outcome(chain, wide[50::2], wide[:50])


def test_machine_code_that_is_for_few_calls_is_given_up():
    wide = np.ones((6, 4))
    made, kernel = staged(chain, wide, wide.copy())
    transposed = np.ones((4, 6)).T
    for _ in range(kernels.WATCHED):
        made(wide, transposed)
    assert kernel.compiled and kernel.entry is kernel
    for _ in range(kernels.WATCHED):
        made(wide, transposed)
    assert kernel.is_given_up and "np.sqrt(" in made.traces[-1].source
    assert "the axes of an array are in another order than C's" in str(made.explain(wide, transposed))
    assert outcome(made, wide, transposed) == outcome(chain, wide, transposed)


def test_machine_code_that_is_for_most_calls_stays():
    wide, transposed = np.ones((6, 4)), np.ones((4, 6)).T
    made, kernel = staged(chain, wide, wide.copy())
    (version,), other = kernel.compiled, wide.copy()
    for number in range(8 * kernels.WATCHED):
        made(wide, other if number % 4 else transposed)
    assert kernel.compiled == [version]
    assert "warn" not in str(made.explain(wide, transposed))


@pytest.mark.parametrize("settings", [{"all": "ignore"}, {"divide": "raise"}, {"over": "call", "invalid": "print"}])
def test_machine_code_is_called_without_python_whatever_numpy_is_set_to(settings, monkeypatch):
    x, y = np.linspace(0.1, 1.0, 7), np.ones(7)
    made, _ = staged(chain, x, y)
    monkeypatch.setattr(kernels.Kernel, "__call__", None)
    with np.errstate(**settings):
        assert outcome(made, x, y) == outcome(chain, x, y)


@pytest.mark.parametrize("mode", ["ignore", "warn", "raise", "call"])
def test_underflows_are_reported_as_numpy_is_set(mode):
    tiny, seen = np.full(7, 1e-200), []

    def f(x, y):
        return x * x + y * y

    made, _ = staged(f, tiny + 1, tiny.copy())
    with np.errstate(under=mode, call=lambda *error: seen.append(error)):
        assert outcome(made, tiny, tiny.copy()) == outcome(f, tiny, tiny.copy())
    assert len(seen) == (4 if mode == "call" else 0)


def test_an_unusual_buffer_is_left_to_numpy(monkeypatch):
    made, kernel = staged(chain, np.ones(5), np.ones(5))
    calls = numpys(monkeypatch, kernel)
    with np.errstate():
        np.setbufsize(4096)
        made(np.ones(5), np.ones(5))
    assert calls
