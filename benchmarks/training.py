"""How fast gradients are: training steps, beside NumPy with gradients by hand, JAX and TensorFlow.

Each library runs the same program, on the same arrays of float32, with its own gradients and its own loops; they take
turns, and of the times of each, the smallest counts. All must come to the same result.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import common
import numpy as np
from staged import duration, smallest

import autograph as ag

STEPS, RATE = 100, 0.1


# The programs, as one writes them for ag.grad -------------------------------------------------------------------------


def rnn_loss(weights, inputs, wanted):
    w, u, v = weights
    state = np.zeros((inputs.shape[1], w.shape[0]), np.float32)
    for row in inputs:
        state = np.tanh(row @ u + state @ w)
    error = state @ v - wanted
    return np.mean(error * error)


def mlp_loss(weights, x, labels):
    w1, b1, w2, b2 = weights
    scores = np.maximum(x @ w1 + b1, 0.0) @ w2 + b2
    scores = scores - ag.stop_gradient(np.max(scores, axis=1, keepdims=True))
    return np.mean(np.log(np.sum(np.exp(scores), axis=1)) - np.sum(scores * labels, axis=1))


def sine_loss(weights, x, y):
    w1, b1, w2, b2, w3, b3 = weights
    error = np.maximum(np.maximum(x @ w1 + b1, 0.0) @ w2 + b2, 0.0) @ w3 + b3 - y
    return np.mean(error * error)


@ag.function
def rnn(weights, inputs, wanted):
    return ag.grad(rnn_loss)(weights, inputs, wanted)


@ag.function
def mlp(weights, x, labels):
    for _ in range(STEPS):
        gradients = ag.grad(mlp_loss)(weights, x, labels)
        weights = tuple([weight - RATE * gradient for weight, gradient in zip(weights, gradients)])
    return weights


@ag.function
def maml(weights, x, y, x_new, y_new):
    def after_a_step(weights):
        gradients = ag.grad(sine_loss)(weights, x, y)
        return sine_loss([weight - RATE * gradient for weight, gradient in zip(weights, gradients)], x_new, y_new)

    return ag.grad(after_a_step)(weights)


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


# The peers ------------------------------------------------------------------------------------------------------------


def of_jax() -> dict[str, Callable[..., Any]]:
    import jax
    import jax.numpy as jnp

    def rnn_loss(weights, inputs, wanted):
        w, u, v = weights
        begin = jnp.zeros((inputs.shape[1], w.shape[0]), jnp.float32)
        state, _ = jax.lax.scan(lambda state, row: (jnp.tanh(row @ u + state @ w), None), begin, inputs)
        return jnp.mean((state @ v - wanted) ** 2)

    def mlp_loss(weights, x, labels):
        w1, b1, w2, b2 = weights
        scores = jnp.maximum(x @ w1 + b1, 0.0) @ w2 + b2
        return jnp.mean(jax.scipy.special.logsumexp(scores, axis=1) - jnp.sum(scores * labels, axis=1))

    def sine_loss(weights, x, y):
        w1, b1, w2, b2, w3, b3 = weights
        return jnp.mean((jnp.maximum(jnp.maximum(x @ w1 + b1, 0.0) @ w2 + b2, 0.0) @ w3 + b3 - y) ** 2)

    def step(loss, weights, *data):
        return [weight - RATE * gradient for weight, gradient in zip(weights, jax.grad(loss)(weights, *data))]

    def mlp(weights, x, labels):
        return jax.lax.fori_loop(0, STEPS, lambda _, weights: step(mlp_loss, weights, x, labels), weights)

    def maml(weights, x, y, x_new, y_new):
        return jax.grad(lambda weights: sine_loss(step(sine_loss, weights, x, y), x_new, y_new))(weights)

    programs = {"rnn": jax.grad(rnn_loss), "mlp": mlp, "maml": maml}
    return {name: _blocking(jax.jit(program)) for name, program in programs.items()}


def _blocking(program: Callable[..., Any]) -> Callable[..., Any]:
    import jax

    return lambda *args: jax.block_until_ready(program(*args))


def of_tensorflow(compiled: bool) -> dict[str, Callable[..., Any]]:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    def rnn_loss(weights, inputs, wanted):
        w, u, v = weights
        state = tf.zeros((inputs.shape[1], w.shape[0]))
        for row in inputs:
            state = tf.tanh(row @ u + state @ w)
        return tf.reduce_mean((state @ v - wanted) ** 2)

    def mlp_loss(weights, x, labels):
        w1, b1, w2, b2 = weights
        scores = tf.nn.relu(x @ w1 + b1) @ w2 + b2
        return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, scores))

    def sine_loss(weights, x, y):
        w1, b1, w2, b2, w3, b3 = weights
        return tf.reduce_mean((tf.nn.relu(tf.nn.relu(x @ w1 + b1) @ w2 + b2) @ w3 + b3 - y) ** 2)

    def gradients(loss, weights, *data):
        with tf.GradientTape() as tape:
            tape.watch(weights)
            value = loss(weights, *data)
        return tape.gradient(value, weights)

    def step(loss, weights, *data):
        return [weight - RATE * gradient for weight, gradient in zip(weights, gradients(loss, weights, *data))]

    def rnn(weights, inputs, wanted):
        return gradients(rnn_loss, weights, inputs, wanted)

    def mlp(weights, x, labels):
        for _ in tf.range(STEPS):
            weights = step(mlp_loss, weights, x, labels)
        return weights

    def maml(weights, x, y, x_new, y_new):
        return gradients(lambda weights: sine_loss(step(sine_loss, weights, x, y), x_new, y_new), weights)

    programs = {"rnn": rnn, "mlp": mlp, "maml": maml}
    return {name: _of_arrays(tf.function(program, jit_compile=compiled)) for name, program in programs.items()}


def _of_arrays(program: Callable[..., Any]) -> Callable[..., Any]:
    import tensorflow as tf

    def call(*args: Any) -> Any:
        return [each.numpy() for each in program(*tf.nest.map_structure(tf.constant, args))]

    return call


# Measuring ------------------------------------------------------------------------------------------------------------


def arguments() -> dict[str, tuple[Any, ...]]:
    random = np.random.default_rng(0)

    def normal(*shape: int, scale: float = 1.0) -> Any:
        return (scale * random.normal(size=shape)).astype(np.float32)

    def layers(*sizes: int) -> list[Any]:
        return [part for m, n in pairwise(sizes) for part in (normal(m, n, scale=m**-0.5), np.zeros(n, np.float32))]

    recurrent = [normal(256, 256, scale=0.05), normal(64, 256, scale=0.05), normal(256, 1)]
    x, x_new = normal(10, 1), normal(10, 1)
    return {
        "rnn": (recurrent, normal(50, 32, 64), normal(32, 1)),
        "mlp": (tuple(layers(784, 128, 10)), normal(64, 784), np.eye(10, dtype=np.float32)[random.integers(0, 10, 64)]),
        "maml": (layers(1, 40, 40, 1), x, np.sin(x), x_new, np.sin(x_new)),
    }


TITLES = {
    "rnn": "a recurrent network, 50 steps: its gradients",
    "mlp": "784-128-10: 100 steps of descent",
    "maml": "MAML: gradients through a step of descent",
}


def ways() -> dict[str, dict[str, Callable[..., Any]]]:
    found = {"by hand": {"rnn": rnn_by_hand, "mlp": mlp_by_hand}, "ag.grad": {"rnn": rnn, "mlp": mlp, "maml": maml}}
    if importlib.util.find_spec("jax"):
        found["jax.jit"] = of_jax()
    if importlib.util.find_spec("tensorflow"):
        found["tf.function"], found["tf jit_compile"] = of_tensorflow(False), of_tensorflow(True)
    return found


def main(turns: int = 7) -> None:
    rows, all_ways = [], ways()
    for name, args in arguments().items():
        programs = {way: programs[name] for way, programs in all_ways.items() if name in programs}
        expected = programs["ag.grad"](*args)
        for way, program in programs.items():
            if not all(np.allclose(a, b, rtol=1e-2, atol=1e-3) for a, b in zip(expected, program(*args))):
                raise AssertionError(f"{name}: {way} gives another answer")
        works = {way: lambda program=program, args=args: program(*args) for way, program in programs.items()}
        times = smallest(works, turns)
        rows.append([TITLES[name], *(duration(times[way]) if way in times else "–" for way in all_ways)])
    common.show("Gradients (float32; processor time)", ["", *all_ways], rows)


if __name__ == "__main__":
    main()
