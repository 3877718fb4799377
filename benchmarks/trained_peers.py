"""The programs of trained.py as JAX and TensorFlow want them; arguments and results go from NumPy to NumPy."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from trained import DECAY, HISTORY, ITERATIONS, RATE, STEPS

Programs = dict[str, Callable[..., Any]]
SUFFICIENT, CURVATURE, TRIALS = 1e-4, 0.9, 40  # of the search along a line


def of_jax() -> Programs:
    import jax
    import jax.numpy as jnp

    def rnn_loss(weights, inputs, wanted):
        w, u, v = weights
        begin = jnp.zeros((inputs.shape[1], w.shape[0]), jnp.float32)
        state, _ = jax.lax.scan(lambda state, row: (jnp.tanh(row @ u + state @ w), None), begin, inputs)
        return jnp.mean((state @ v - wanted) ** 2)

    def cross_entropy(scores, labels):
        return jnp.mean(jax.scipy.special.logsumexp(scores, axis=1) - jnp.sum(scores * labels, axis=1))

    def mlp_loss(weights, x, labels):
        w1, b1, w2, b2 = weights
        return cross_entropy(jnp.maximum(x @ w1 + b1, 0.0) @ w2 + b2, labels)

    def sine_loss(weights, x, y):
        w1, b1, w2, b2, w3, b3 = weights
        return jnp.mean((jnp.maximum(jnp.maximum(x @ w1 + b1, 0.0) @ w2 + b2, 0.0) @ w3 + b3 - y) ** 2)

    def step(loss, weights, *data):
        return [weight - RATE * gradient for weight, gradient in zip(weights, jax.grad(loss)(weights, *data))]

    def mlp(weights, x, labels):
        return jax.lax.fori_loop(0, STEPS, lambda _, weights: step(mlp_loss, weights, x, labels), [*weights])

    def maml(weights, x, y, x_new, y_new):
        return jax.grad(lambda weights: sine_loss(step(sine_loss, weights, x, y), x_new, y_new))(weights)

    def lbfgs(w, x, labels):
        def loss(w):
            w = w.reshape(784, 10)
            return cross_entropy(x @ w, labels) + DECAY * jnp.sum(w * w)

        evaluate = jax.value_and_grad(loss)

        def newton(gradient, steps, changes, count):
            kept, last = jnp.minimum(count, HISTORY), (count - 1) % HISTORY

            def back(i, carry):
                result, shares = carry
                at = (count - 1 - i) % HISTORY
                share = (steps[at] @ result) / (steps[at] @ changes[at])
                return result - share * changes[at], shares.at[at].set(share)

            def forth(i, result):
                at = (count - kept + i) % HISTORY
                return result + (shares[at] - (changes[at] @ result) / (steps[at] @ changes[at])) * steps[at]

            result, shares = jax.lax.fori_loop(0, kept, back, (gradient, jnp.zeros(HISTORY, jnp.float32)))
            result *= jnp.where(count > 0, (steps[last] @ changes[last]) / (changes[last] @ changes[last]), 1)
            return jax.lax.fori_loop(0, kept, forth, result)

        def search(w, value, gradient, direction):
            slope = gradient @ direction

            def trial(state):
                low, high, length, trials, *_ = state
                moved = w + length * direction
                new_value, new_gradient = evaluate(moved)
                above = ~(new_value <= value + SUFFICIENT * length * slope)
                steep = ~above & (new_gradient @ direction < CURVATURE * slope)
                high, low = jnp.where(above, length, high), jnp.where(steep, length, low)
                bisected = jnp.where(high == jnp.inf, 2 * low, 0.5 * (low + high))
                length = jnp.where(above | steep, bisected, length)
                return low, high, length, trials + 1, above | steep, moved, new_value, new_gradient

            begin = (jnp.float32(0), jnp.float32(jnp.inf), jnp.float32(1), 0, True, w, value, gradient)
            return jax.lax.while_loop(lambda state: state[4] & (state[3] < TRIALS), trial, begin)

        def iteration(count, state):
            w, value, gradient, steps, changes, evaluations = state
            direction = -newton(gradient, steps, changes, count)
            length = jnp.maximum(jnp.sqrt(jnp.sum(gradient**2)), 1)
            direction = jnp.where(count > 0, direction, direction / length)
            _, _, _, trials, _, new_w, new_value, new_gradient = search(w, value, gradient, direction)
            steps = steps.at[count % HISTORY].set(new_w - w)
            changes = changes.at[count % HISTORY].set(new_gradient - gradient)
            return new_w, new_value, new_gradient, steps, changes, evaluations + trials

        value, gradient = evaluate(w.ravel())
        none = jnp.zeros((HISTORY, w.size), jnp.float32)
        found = jax.lax.fori_loop(0, ITERATIONS, iteration, (w.ravel(), value, gradient, none, none, 1))
        return found[1], found[5]

    programs = {"rnn": jax.grad(rnn_loss), "lbfgs": lbfgs, "maml": maml, "mlp": mlp}
    return {name: _blocking(jax.jit(program)) for name, program in programs.items()}


def _blocking(program: Callable[..., Any]) -> Callable[..., Any]:
    import jax

    return lambda *args: jax.tree.map(np.asarray, program(*args))


def of_tensorflow(compiled: bool) -> Programs:
    os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    import tensorflow as tf

    def rnn_loss(weights, inputs, wanted):
        w, u, v = weights
        state = tf.zeros((inputs.shape[1], w.shape[0]))
        for row in inputs:
            state = tf.tanh(row @ u + state @ w)
        return tf.reduce_mean((state @ v - wanted) ** 2)

    def cross_entropy(scores, labels):
        return tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels, scores))

    def mlp_loss(weights, x, labels):
        w1, b1, w2, b2 = weights
        return cross_entropy(tf.nn.relu(x @ w1 + b1) @ w2 + b2, labels)

    def sine_loss(weights, x, y):
        w1, b1, w2, b2, w3, b3 = weights
        return tf.reduce_mean((tf.nn.relu(tf.nn.relu(x @ w1 + b1) @ w2 + b2) @ w3 + b3 - y) ** 2)

    def value_and_gradients(loss, weights, *data):
        with tf.GradientTape() as tape:
            tape.watch(weights)
            value = loss(weights, *data)
        return value, tape.gradient(value, weights)

    def step(loss, weights, *data):
        _, gradients = value_and_gradients(loss, weights, *data)
        return [weight - RATE * gradient for weight, gradient in zip(weights, gradients)]

    def rnn(weights, inputs, wanted):
        return value_and_gradients(rnn_loss, weights, inputs, wanted)[1]

    def mlp(weights, x, labels):
        weights = [*weights]
        for _ in tf.range(STEPS):
            weights = step(mlp_loss, weights, x, labels)
        return weights

    def maml(weights, x, y, x_new, y_new):
        return value_and_gradients(lambda weights: sine_loss(step(sine_loss, weights, x, y), x_new, y_new), weights)[1]

    def dot(a, b):
        return tf.reduce_sum(a * b)

    def newton(gradient, steps, changes, count):
        result, shares, first = gradient, tf.zeros(HISTORY), tf.maximum(count - HISTORY, 0)
        if count > 0:
            k = count  # XLA takes no ranges whose length is not known
            while k > first:
                k -= 1
                at = k % HISTORY
                share = dot(steps[at], result) / dot(steps[at], changes[at])
                shares = tf.tensor_scatter_nd_update(shares, [[at]], [share])
                result -= share * changes[at]
            last = (count - 1) % HISTORY
            result *= dot(steps[last], changes[last]) / dot(changes[last], changes[last])
            while k < count:
                at = k % HISTORY
                result += (shares[at] - dot(changes[at], result) / dot(steps[at], changes[at])) * steps[at]
                k += 1
        return result

    def search(evaluate, w, value, gradient, direction):
        slope = dot(gradient, direction)
        low, high, length, trials, again = 0.0, float("inf"), 1.0, tf.constant(0), tf.constant(True)
        new_w, new_value, new_gradient = w, value, gradient
        while again and trials < TRIALS:
            new_w = w + length * direction
            new_value, new_gradient = evaluate(new_w)
            trials += 1
            again = False
            if not new_value <= value + SUFFICIENT * length * slope:
                again, high = True, length
            elif dot(new_gradient, direction) < CURVATURE * slope:
                again, low = True, length
            if again:
                length = 2 * low if high == float("inf") else 0.5 * (low + high)
        return new_w, new_value, new_gradient, trials

    def lbfgs(w, x, labels):
        def loss(w):
            w = tf.reshape(w, (784, 10))
            return cross_entropy(x @ w, labels) + DECAY * tf.reduce_sum(w * w)

        def evaluate(w):
            return value_and_gradients(loss, w)

        w, count, evaluations = tf.reshape(w, [-1]), 0, 1
        value, gradient = evaluate(w)
        steps = changes = tf.zeros((HISTORY, 7840))
        for count in tf.range(ITERATIONS):
            direction = -newton(gradient, steps, changes, count)
            if count == 0:
                direction /= tf.maximum(tf.sqrt(dot(gradient, gradient)), 1.0)
            new_w, new_value, new_gradient, trials = search(evaluate, w, value, gradient, direction)
            at = [[count % HISTORY]]
            steps = tf.tensor_scatter_nd_update(steps, at, [new_w - w])
            changes = tf.tensor_scatter_nd_update(changes, at, [new_gradient - gradient])
            w, value, gradient = new_w, new_value, new_gradient
            evaluations += trials
        return [value, evaluations]

    programs = {"rnn": rnn, "lbfgs": lbfgs, "maml": maml, "mlp": mlp}
    return {name: _of_arrays(tf.function(program, jit_compile=compiled)) for name, program in programs.items()}


def _of_arrays(program: Callable[..., Any]) -> Callable[..., Any]:
    import tensorflow as tf

    def call(*args: Any) -> Any:
        return [each.numpy() for each in program(*tf.nest.map_structure(tf.constant, args))]

    return call


def installed() -> dict[str, Programs]:
    """The programs of each peer that is installed."""
    found = {}
    if importlib.util.find_spec("jax"):
        found["jax.jit"] = of_jax()
    if importlib.util.find_spec("tensorflow"):
        found["tf.function"], found["tf jit_compile"] = of_tensorflow(False), of_tensorflow(True)
    return found
