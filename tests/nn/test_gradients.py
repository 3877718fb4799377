"""Gradients through layers, losses and optimizers: against finite differences, and staged in loops."""

from __future__ import annotations

import numpy as np
import pytest

import autograph as ag
from autograph import nn, optim

pytestmark = pytest.mark.once

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 3, 4))
LABELS = np.array([1, 3, 0])


def differences(function, x):
    """The gradient of a function of an array by differences."""
    gradient = np.zeros_like(x)
    for at in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[at] = 1e-6
        gradient[at] = (function(x + step) - function(x - step)) / 2e-6
    return gradient


@pytest.mark.parametrize("name", "relu tanh sigmoid silu softplus gelu softmax log_softmax".split())
def test_activations(name):
    def function(x):
        return np.sum(getattr(nn, name)(x) * Y)

    assert np.allclose(ag.grad(function)(X), differences(function, X), atol=1e-6)


@pytest.mark.parametrize(
    "loss, targets",
    [
        (nn.mse, Y), (nn.mae, Y), (nn.huber, Y), (nn.softmax_cross_entropy, LABELS),
        (nn.softmax_cross_entropy, nn.softmax(Y)), (nn.binary_cross_entropy_with_logits, 1.0 * (Y > 0)),
        (lambda x, y: nn.binary_cross_entropy(nn.sigmoid(x), y), 1.0 * (Y > 0)),
    ],
)  # fmt: skip
def test_losses(loss, targets):
    assert np.allclose(ag.grad(loss)(X, targets), differences(lambda x: loss(x, targets), X), atol=1e-6)


LAYERS = [
    nn.Dense(4, 2, nn.tanh, rng=0), nn.LayerNorm(4), nn.BatchNorm(4), nn.BatchNorm(4).eval(),
    nn.MultiHeadAttention(4, 2, rng=0), nn.Sequential(nn.Dense(4, 3, rng=0), nn.relu, nn.Dense(3, 2, rng=1)),
    nn.Sequential(lambda x: x[None], nn.Conv1D(4, 3, 2, padding="same", rng=0), nn.MaxPool(2, 1), nn.flatten),
    nn.Sequential(lambda x: x[None, ..., None], nn.Conv2D(1, 2, 2, rng=0), nn.AveragePool(2, 1, "same")),
    nn.Sequential(lambda x: x[None], nn.RNN(nn.SimpleRNNCell(4, 2, rng=0), sequences=True), nn.global_max_pool),
]  # fmt: skip


@pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: type(layer).__name__)
def test_layers_in_inputs_and_variables(layer):
    weights = RNG.normal(size=np.shape(layer(X)))

    def loss(x):
        return np.sum(layer(x) * weights)

    assert np.allclose(ag.grad(loss)(X), differences(loss, X), atol=1e-5)
    variables = layer.trainable_variables
    for variable, gradient in zip(variables, ag.grad(loss, wrt=variables)(X)):
        before = variable.numpy()
        wanted = differences(lambda value, variable=variable: loss_with(variable, value, loss), before)
        variable.assign(before)
        assert np.allclose(gradient, wanted, atol=1e-5)


def loss_with(variable, value, loss):
    variable.assign(value)
    return loss(X)


def test_recurrent_cells():
    lstm, gru = nn.LSTMCell(4, 5, rng=0), nn.GRUCell(4, 5, rng=0)

    def loss(x):
        state, h = lstm.initial_state(3), gru.initial_state(3)
        for n in range(6):
            state, h = lstm(x * n, state), gru(x - n, h)
        return np.sum(state[0] * state[1] + h)

    assert np.allclose(ag.grad(loss)(X), differences(loss, X), atol=1e-5)


# Training -------------------------------------------------------------------------------------------------------------


def test_a_whole_training_is_staged():
    """The same numbers as those of single steps, in one graph."""
    xs = RNG.normal(size=(60, 4))
    labels = np.argmax(np.tanh(xs @ RNG.normal(size=(4, 3))), axis=1)

    def build():
        model = nn.Sequential(nn.Dense(4, 16, nn.relu, rng=0), nn.Dense(16, 3, rng=1))
        return model, optim.Adam(0.02).init(model.trainable_variables)

    def trainer(model, optimizer):
        variables = model.trainable_variables
        gradient = ag.value_and_grad(lambda x, y: nn.softmax_cross_entropy(model(x), y), wrt=variables)

        def train(epochs, batch):
            rng, losses = np.random.default_rng(0), []
            for _ in range(epochs):
                order, total = rng.permutation(len(xs)), 0.0
                for start in range(0, len(xs), batch):
                    rows = order[start : start + batch]
                    loss, gradients = gradient(xs[rows], labels[rows])
                    optimizer.update(variables, optim.clip_by_global_norm(gradients, 5.0))
                    total += loss
                losses.append(total)
            return losses

        return train

    ours, theirs = build(), build()
    staged, plain = ag.function(trainer(*ours)), trainer(*theirs)
    first, second = staged(30, 8), plain(30, 8)
    assert [trace.plain for trace in staged.traces if trace.plain] == []
    assert np.allclose(first, second) and first[-1] < 0.3 * first[0]
    for mine, other in zip(ours[0].variables, theirs[0].variables):
        assert np.allclose(mine, other)
    assert np.mean(np.argmax(ours[0](xs), axis=1) == labels) > 0.9


def test_variables_that_are_read_before_the_gradient_is_asked_for():
    layer = nn.Dense(3, 2, rng=0)
    gradient = ag.grad(lambda x: nn.mse(layer(x), 0.0), wrt=layer.variables)

    @ag.function
    def descend(x, steps):
        for _ in range(steps):
            before = layer(x)
            for variable, change in zip(layer.variables, gradient(x)):
                variable.assign_sub(0.1 * change)
        return before

    x = np.ones((5, 3))
    descend(x, 50)
    assert np.allclose(layer(x), 0, atol=1e-3)
