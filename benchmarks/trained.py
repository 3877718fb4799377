"""The programs of training.py: as one writes them for ag.grad, and by hand for NumPy; and what they are called with."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import autograph as ag

STEPS, RATE = 100, 0.1
HISTORY, ITERATIONS, DECAY = 10, 20, 1e-4


# The programs, as one writes them for ag.grad -------------------------------------------------------------------------


def rnn_loss(weights, inputs, wanted):
    w, u, v = weights
    state = np.zeros((inputs.shape[1], w.shape[0]), np.float32)
    for row in inputs:
        state = np.tanh(row @ u + state @ w)
    error = state @ v - wanted
    return np.mean(error * error)


def cross_entropy(scores, labels):
    scores = scores - ag.stop_gradient(np.max(scores, axis=1, keepdims=True))
    return np.mean(np.log(np.sum(np.exp(scores), axis=1)) - np.sum(scores * labels, axis=1))


def mlp_loss(weights, x, labels):
    w1, b1, w2, b2 = weights
    return cross_entropy(np.maximum(x @ w1 + b1, 0.0) @ w2 + b2, labels)


def sine_loss(weights, x, y):
    w1, b1, w2, b2, w3, b3 = weights
    error = np.maximum(np.maximum(x @ w1 + b1, 0.0) @ w2 + b2, 0.0) @ w3 + b3 - y
    return np.mean(error * error)


def rnn(weights, inputs, wanted):
    return ag.grad(rnn_loss)(weights, inputs, wanted)


def mlp(weights, x, labels):
    for _ in range(STEPS):
        gradients = ag.grad(mlp_loss)(weights, x, labels)
        weights = tuple([weight - RATE * gradient for weight, gradient in zip(weights, gradients)])
    return weights


def maml(weights, x, y, x_new, y_new):
    def after_a_step(weights):
        gradients = ag.grad(sine_loss)(weights, x, y)
        return sine_loss([weight - RATE * gradient for weight, gradient in zip(weights, gradients)], x_new, y_new)

    return ag.grad(after_a_step)(weights)


def lbfgs(w, x, labels):
    def loss(w):
        return cross_entropy(x @ w, labels) + DECAY * np.sum(w * w)

    found = ag.optim.lbfgs(ag.value_and_grad(loss), w, HISTORY, ITERATIONS, tolerance=0.0)
    return found.value, found.evaluations


# By hand, for NumPy ---------------------------------------------------------------------------------------------------


def rnn_by_hand(weights, inputs, wanted):
    w, u, v = weights
    states = [np.zeros((inputs.shape[1], w.shape[0]), np.float32)]
    for row in inputs:
        states.append(np.tanh(row @ u + states[-1] @ w))
    error = (states[-1] @ v - wanted) * np.float32(2 / wanted.size)
    dw, du, dv = np.zeros_like(w), np.zeros_like(u), states[-1].T @ error
    back = error @ v.T
    for t in range(len(inputs) - 1, -1, -1):
        back = back * (1 - states[t + 1] * states[t + 1])
        dw += states[t].T @ back
        du += inputs[t].T @ back
        back = back @ w.T
    return [dw, du, dv]


def mlp_by_hand(weights, x, labels):
    w1, b1, w2, b2 = weights
    for _ in range(STEPS):
        hidden = np.maximum(x @ w1 + b1, 0)
        scores = hidden @ w2 + b2
        powers = np.exp(scores - np.max(scores, axis=1, keepdims=True))
        back = (powers / np.sum(powers, axis=1, keepdims=True) - labels) / np.float32(len(x))
        inner = (back @ w2.T) * (hidden > 0)
        w2, b2 = w2 - RATE * (hidden.T @ back), b2 - RATE * np.sum(back, axis=0)
        w1, b1 = w1 - RATE * (x.T @ inner), b1 - RATE * np.sum(inner, axis=0)
    return [w1, b1, w2, b2]


def sine_gradients(weights, x, y):
    """The gradients of `sine_loss`, and what was computed on the way."""
    w1, b1, w2, b2, w3, b3 = weights
    one = np.maximum(x @ w1 + b1, 0)
    two = np.maximum(one @ w2 + b2, 0)
    d3 = (two @ w3 + b3 - y) * np.float32(2 / y.size)
    d2 = (d3 @ w3.T) * (two > 0)
    d1 = (d2 @ w2.T) * (one > 0)
    return [x.T @ d1, d1.sum(0), one.T @ d2, d2.sum(0), two.T @ d3, d3.sum(0)], (one, two, d1, d2, d3)


def maml_by_hand(weights, x, y, x_new, y_new):
    """The gradient `v` after a step, less the Hessian at its beginning times `v`, which is moved forward and back."""
    _, _, w2, _, w3, _ = weights
    gradients, (one, two, _, d2, d3) = sine_gradients(weights, x, y)
    moved = [weight - RATE * gradient for weight, gradient in zip(weights, gradients)]
    after, _ = sine_gradients(moved, x_new, y_new)
    v1, c1, v2, c2, v3, c3 = after
    to_one = (x @ v1 + c1) * (one > 0)
    to_two = (to_one @ w2 + one @ v2 + c2) * (two > 0)
    to_3 = (to_two @ w3 + two @ v3 + c3) * np.float32(2 / y.size)
    to_2 = (to_3 @ w3.T + d3 @ v3.T) * (two > 0)
    to_1 = (to_2 @ w2.T + d2 @ v2.T) * (one > 0)
    curved = [x.T @ to_1, to_1.sum(0), to_one.T @ d2 + one.T @ to_2, to_2.sum(0)]
    curved += [to_two.T @ d3 + two.T @ to_3, to_3.sum(0)]
    return [gradient - RATE * change for gradient, change in zip(after, curved)]


def lbfgs_by_hand(w, x, labels):
    """With its gradient by hand; the iteration is the library's, as plain Python."""

    def value_and_gradient(w):
        scores = x @ w
        scores -= np.max(scores, axis=1, keepdims=True)
        powers = np.exp(scores)
        sums = np.sum(powers, axis=1, keepdims=True)
        value = np.mean(np.log(sums[:, 0]) - np.sum(scores * labels, axis=1)) + DECAY * np.sum(w * w)
        return value, x.T @ ((powers / sums - labels) / np.float32(len(x))) + 2 * DECAY * w

    found = ag.optim.lbfgs(value_and_gradient, w, HISTORY, ITERATIONS, tolerance=0.0)
    return found.value, found.evaluations


PROGRAMS = {"rnn": rnn, "lbfgs": lbfgs, "maml": maml, "mlp": mlp}
BY_HAND = {"rnn": rnn_by_hand, "lbfgs": lbfgs_by_hand, "maml": maml_by_hand, "mlp": mlp_by_hand}


def arguments() -> dict[str, tuple[Any, ...]]:
    """What each program is called with."""
    random = np.random.default_rng(0)

    def normal(*shape: int, scale: float = 1.0) -> Any:
        return (scale * random.normal(size=shape)).astype(np.float32)

    def layers(*sizes: int) -> list[Any]:
        return [part for m, n in pairwise(sizes) for part in (normal(m, n, scale=m**-0.5), np.zeros(n, np.float32))]

    recurrent = [normal(256, 256, scale=0.05), normal(64, 256, scale=0.05), normal(256, 1)]
    images, labels = normal(64, 784), np.eye(10, dtype=np.float32)[random.integers(0, 10, 64)]
    many = normal(256, 784) @ np.diag(np.geomspace(0.003, 1.0, 784, dtype=np.float32))  # takes some iterations
    x, x_new = normal(10, 1), normal(10, 1)
    return {
        "rnn": (recurrent, normal(50, 32, 64), normal(32, 1)),
        "lbfgs": (np.zeros((784, 10), np.float32), many, np.eye(10, dtype=np.float32)[random.integers(0, 10, 256)]),
        "maml": (layers(1, 40, 40, 1), x, np.sin(x), x_new, np.sin(x_new)),
        "mlp": (tuple(layers(784, 128, 10)), images, labels),
    }
