"""The programs of numeric.py as other libraries want them, for those that are installed."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable
from typing import Any

import numeric
import numpy as np

Programs = dict[str, Callable[..., object]]


def numba_programs() -> Programs:
    """What Numba compiles as it is written."""
    import numba

    found: Programs = {}
    for name in "add collatz mandelbrot mandelbrot_of_arrays rnn k_means k_means_by_matmul matmuls".split():
        found[name] = numba.njit(getattr(numeric, name))
    return found


def jax_programs() -> Programs:
    """The programs rewritten with JAX's control flow; arguments and results go from NumPy to NumPy."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    @jax.jit
    def add(a, b):
        return a + b

    @jax.jit
    def collatz(n):
        def iteration(state):
            n, steps = state
            return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

        return jax.lax.while_loop(lambda state: state[0] != 1, iteration, (n, 0))[1]

    @jax.jit
    def rnn(inputs, lengths, state, w, u):
        def iteration(state, step):
            t, row = step
            state = jnp.where((t < lengths)[:, None], jnp.tanh(row @ w + state @ u), state)
            return state, jnp.where(t < jnp.max(lengths), state, 0.0)

        state, outputs = jax.lax.scan(iteration, state, (jnp.arange(len(inputs)), inputs))
        return outputs, state

    def mandelbrot(width, height, limit):
        c = 3 * np.arange(width) / width - 2 + 1j * (2 * np.arange(height)[:, None] / height - 1)
        return counts(c, limit)

    @jax.jit
    def counts(c, limit):
        def iteration(_, state):
            z, count = state
            inside = jnp.abs(z) <= 2
            return jnp.where(inside, z * z + c, z), count + inside

        return jax.lax.fori_loop(0, limit, iteration, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int64)))[1]

    @jax.jit
    def k_means(points, centers, iterations):
        def iteration(state):
            t, centers, _ = state
            distances = jnp.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=2)
            members = jnp.arange(len(centers))[:, None] == jnp.argmin(distances, axis=1)
            counts = members.sum(axis=1)[:, None]
            new = jnp.where(counts > 0, members @ points / jnp.maximum(counts, 1), centers)
            return t + 1, new, jnp.max(jnp.abs(new - centers))

        return jax.lax.while_loop(lambda s: (s[0] < iterations) & (s[2] >= 1e-6), iteration, (0, centers, jnp.inf))[1]

    @jax.jit
    def matmuls(x, w):
        return jax.lax.fori_loop(0, 100, lambda _, x: jnp.tanh(x @ w), x)

    @functools.partial(jax.jit, static_argnums=(5, 6))
    def beam_search(embedding, w, v, first, stop, width, length):
        letters = v.shape[1]
        after_the_end = jnp.where(jnp.arange(letters) == stop, 0.0, -jnp.inf)

        def iteration(state):
            at, sequences, tokens, states, scores, done = state
            states = jnp.tanh(embedding[tokens] + states @ w)
            gains = jnp.where(done[:, None], after_the_end, jax.nn.log_softmax(states @ v))
            scores, best = jax.lax.top_k(jnp.ravel(scores[:, None] + gains), width)
            parents, tokens = best // letters, best % letters
            sequences = sequences[parents].at[:, at].set(tokens)
            return at + 1, sequences, tokens, states[parents], scores, done[parents] | (tokens == stop)

        scores = jnp.full(width, -jnp.inf).at[0].set(0.0)
        begin = 0, jnp.zeros((width, length), int), jnp.full(width, first), jnp.zeros((width, len(w))), scores
        begin = *begin, jnp.zeros(width, bool)
        found = jax.lax.while_loop(lambda state: (state[0] < length) & ~jnp.all(state[-1]), iteration, begin)
        return found[1], found[4]

    programs = {"add": add, "collatz": collatz, "rnn": rnn, "mandelbrot": mandelbrot, "k_means": k_means}
    programs["beam_search"] = beam_search
    programs |= {"mandelbrot_of_arrays": mandelbrot, "k_means_by_matmul": k_means, "matmuls": matmuls}
    return {name: _finished(program) for name, program in programs.items()}


def _finished(program: Callable[..., Any]) -> Callable[..., object]:
    import jax

    return lambda *args: jax.block_until_ready(program(*args))


def tensorflow_programs(compiled: bool = False) -> Programs:
    """What TensorFlow's own AutoGraph stages as it is written; arguments and results go from NumPy to NumPy."""
    import os

    os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    import tensorflow as tf

    def rnn(inputs, lengths, state, w, u):
        outputs = tf.TensorArray(state.dtype, size=tf.shape(inputs)[0])
        for t in tf.range(tf.shape(inputs)[0]):
            new = tf.tanh(inputs[t] @ w + state @ u)
            inside = t < tf.cast(tf.reduce_max(lengths), tf.int32)
            state = tf.where((tf.cast(t, lengths.dtype) < lengths)[:, None], new, state)
            outputs = outputs.write(t, tf.where(inside, state, tf.zeros_like(state)))
        return outputs.stack(), state

    def matmuls(x, w):
        for _ in tf.range(100):
            x = tf.tanh(x @ w)
        return x

    def beam_search(embedding, w, v, first, stop, width, length):
        letters = v.shape[1]
        tokens, done = tf.fill([width], first), tf.zeros(width, tf.bool)
        states, sequences = tf.zeros((width, w.shape[0]), tf.float64), tf.zeros((width, length), tf.int64)
        scores = tf.where(tf.range(width) == 0, tf.zeros(width, tf.float64), -np.inf)
        is_stop = tf.range(tf.constant(letters, tf.int64)) == stop
        after_the_end = tf.where(is_stop, tf.zeros(letters, tf.float64), -np.inf)
        for at in tf.range(length):
            states = tf.tanh(tf.gather(embedding, tokens) + states @ w)
            gains = tf.where(done[:, None], after_the_end, tf.nn.log_softmax(states @ v))
            scores, best = tf.math.top_k(tf.reshape(scores[:, None] + gains, [-1]), width)
            parents, tokens = best // letters, tf.cast(best % letters, tf.int64)
            sequences = tf.where(tf.range(length) == at, tokens[:, None], tf.gather(sequences, parents))
            states, done = tf.gather(states, parents), tf.gather(done, parents) | (tokens == stop)
            if tf.reduce_all(done):
                break
        return sequences, scores

    def staged(program: Callable[..., Any]) -> Callable[..., object]:
        function = tf.function(program, jit_compile=compiled)

        def call(*args: Any) -> object:
            # sizes are Python's; others are not int32, which overflows
            tensors = [arg if at > 4 else tf.constant(np.asarray(arg)) for at, arg in enumerate(args)]
            return tf.nest.map_structure(lambda result: result.numpy(), function(*tensors))

        return call

    programs = {"add": numeric.add, "collatz": numeric.collatz, "rnn": rnn, "beam_search": beam_search}
    programs["matmuls"] = matmuls
    return {name: staged(program) for name, program in programs.items()}


PEERS: dict[str, Callable[[], Programs]] = {
    "numba": numba_programs,
    "jax.jit": jax_programs,
    "tf.function": tensorflow_programs,
    "tf jit_compile": functools.partial(tensorflow_programs, compiled=True),
}
MODULES = {"jax.jit": "jax", "tf.function": "tensorflow", "tf jit_compile": "tensorflow"}


def installed() -> dict[str, Programs]:
    """The programs of each peer that is installed."""
    return {name: programs() for name, programs in PEERS.items() if importlib.util.find_spec(MODULES.get(name, name))}
