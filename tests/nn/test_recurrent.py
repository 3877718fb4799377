"""Recurrent cells, against their formulas written out, and in loops of the user's."""

from __future__ import annotations

import numpy as np
import pytest

import autograph as ag
from autograph import nn
from tests.comparing import compare

NAMES = {"np": np, "nn": nn}
X = "np.random.default_rng(0).normal(size=({}, {}, 3))"


def logistic(x):
    return 1 / (1 + np.exp(-x))


def test_lstm_cell():
    cell, rng = nn.LSTMCell(3, 2, rng=0), np.random.default_rng(1)
    x, h, c = rng.normal(size=(5, 3)), rng.normal(size=(5, 2)), rng.normal(size=(5, 2))
    columns = [slice(at, at + 2) for at in range(0, 8, 2)]
    parts = [x @ cell.w[:, each] + h @ cell.u[:, each] + cell.b[each] for each in columns]
    new_c = logistic(parts[1]) * c + logistic(parts[0]) * np.tanh(parts[2])
    new_h = logistic(parts[3]) * np.tanh(new_c)
    assert np.allclose(cell(x, (h, c)), (new_h, new_c))
    assert cell.b.value.tolist() == [0, 0, 1, 1, 0, 0, 0, 0]


def test_gru_cell():
    cell, rng = nn.GRUCell(3, 2, rng=0), np.random.default_rng(1)
    x, h = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    cell.b.assign(rng.normal(size=6))
    cell.c.assign(rng.normal(size=6))
    of_x = [x @ cell.w[:, 2 * k : 2 * k + 2] + cell.b[2 * k : 2 * k + 2] for k in range(3)]
    of_h = [h @ cell.u[:, 2 * k : 2 * k + 2] + cell.c[2 * k : 2 * k + 2] for k in range(3)]
    update = logistic(of_x[1] + of_h[1])
    new = np.tanh(of_x[2] + logistic(of_x[0] + of_h[0]) * of_h[2])
    assert np.allclose(cell(x, h), (1 - update) * new + update * h)


def test_simple_cell():
    cell, rng = nn.SimpleRNNCell(3, 2, rng=0, activation=np.sin), np.random.default_rng(1)
    x, h = rng.normal(size=(5, 3)), rng.normal(size=(5, 2))
    cell.b.assign([1, 2])
    assert np.allclose(cell(x, h), np.sin(x @ cell.w + h @ cell.u + [1, 2]))
    assert cell.initial_state(4).tolist() == np.zeros((4, 2)).tolist()


def test_cells_with_other_activations():
    x, h = np.random.default_rng(1).normal(size=(2, 5, 3))
    for make in (nn.LSTMCell, nn.GRUCell):
        plain, linear = make(3, 3, 0), make(3, 3, 0, activation=lambda x: x, gate=lambda x: 0 * x + 1)
        assert list(plain.state_dict()) == list(linear.state_dict())
        state = (h, h) if make is nn.LSTMCell else h
        gates = x @ linear.w + h @ linear.u + linear.b
        expected = (h + gates[:, 6:9], h + gates[:, 6:9]) if make is nn.LSTMCell else h
        assert np.allclose(linear(x, state), expected)


CELLS = ["nn.SimpleRNNCell(3, 4, rng=0)", "nn.LSTMCell(3, 4, rng=0)", "nn.GRUCell(3, 4, rng=0)"]


@pytest.mark.parametrize("options", ["", "sequences=True", "backwards=True", "True, True"])
@pytest.mark.parametrize("cell", CELLS)
def test_cells_are_run_over_sequences(cell, options):
    """As in a loop of the user's, whatever the number of examples and items."""
    calls = [f"nn.RNN({cell}, {options}), {X.format(*shape)}" for shape in ((2, 5), (3, 5), (3, 30))]
    compare(lambda rnn, x: rnn(x), *calls, names=NAMES)
    rnn, x = eval(calls[0], NAMES)
    state, found = rnn.cell.initial_state(2), []
    for at in reversed(range(5)) if rnn.backwards else range(5):
        state = rnn.cell(x[:, at], state)
        found.append(state[0] if isinstance(state, tuple) else state)
    assert np.array_equal(rnn(x), np.stack(found, 1) if rnn.sequences else found[-1])
    assert np.array_equal(rnn(x, state), rnn(x, state)) and not np.array_equal(rnn(x, state), rnn(x))


def runs(cell, xs, lengths):
    state = cell.initial_state(xs.shape[1])
    outputs = []
    for t in range(len(xs)):
        new = cell(xs[t], state)
        if isinstance(state, tuple):
            state = tuple(np.where((t < lengths)[:, None], a, b) for a, b in zip(new, state))
        else:
            state = np.where((t < lengths)[:, None], new, state)
        outputs.append(state[0] if isinstance(state, tuple) else state)
    return np.stack(outputs), state


def test_in_a_loop():
    xs = "np.random.default_rng(0).normal(size=({}, 2, 3)), np.array([3, 5])"
    for cell in ("nn.LSTMCell(3, 4, rng=0)", "nn.GRUCell(3, 4, rng=0)", "nn.GRUCell(3, 4, rng=0, dtype='f4')"):
        compare(runs, *(f"{cell}, {xs.format(n)}" for n in (5, 40, 41)), names=NAMES)


def stacked(cell, out, xs):
    state = cell.initial_state(xs.shape[1])
    outputs = []
    for x in xs:
        state = cell(x, state)
        outputs.append(state)
    return np.sum(out(np.stack(outputs, 1)) ** 2)


def test_outputs_that_are_collected_go_through_further_layers():
    layers = "nn.GRUCell(3, 4, rng=0), nn.Dense(4, 2, nn.tanh, rng=2)"
    calls = [f"{layers}, np.random.default_rng(0).normal(size=({n}, 2, 3))" for n in (3, 40)]
    compare(stacked, *calls, names=NAMES)
    cell, out = eval(layers, NAMES)
    xs, w = np.random.default_rng(0).normal(size=(30, 2, 3)), cell.w
    gradient = ag.grad(lambda xs: stacked(cell, out, xs), wrt=w)(xs)
    before, step = w[1, 2], 1e-6
    w[1, 2] = before + step
    above = stacked(cell, out, xs)
    w[1, 2] = before - step
    below = stacked(cell, out, xs)
    assert np.isclose(gradient[1, 2], (above - below) / (2 * step), rtol=1e-5)
