"""The programs of arrays.py as Numba, JAX and TensorFlow want them, for those that are installed.

A program takes the arguments and returns what to measure: a call with them. Numba has the programs as they are, and
loops; JAX and TensorFlow have them with NumPy's arrays, and with arrays of their own, made of those before.
"""

from __future__ import annotations

import functools
import importlib.util
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from common import Programs, bound

# For Numba, element by element ----------------------------------------------------------------------------------------


def chain(x, y):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = np.sqrt(x[i] * x[i] + y[i] * y[i]) / (1 + x[i] * y[i])
    return out


def life(cells, steps):
    cells, new = cells.copy(), cells.copy()
    for _ in range(steps):
        for i in range(1, cells.shape[0] - 1):
            for j in range(1, cells.shape[1] - 1):
                around = cells[i - 1, j - 1] + cells[i - 1, j] + cells[i - 1, j + 1] + cells[i, j - 1]
                around += cells[i, j + 1] + cells[i + 1, j - 1] + cells[i + 1, j] + cells[i + 1, j + 1]
                new[i, j] = (around == 3) | ((cells[i, j] == 1) & (around == 2))
        cells, new = new, cells
    return cells


def softmax(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        most, total = x[i].max(), 0.0
        for j in range(x.shape[1]):
            out[i, j] = np.exp(x[i, j] - most)
            total += out[i, j]
        for j in range(x.shape[1]):
            out[i, j] /= total
    return out


def distances(x, centers):
    out = np.empty((len(x), len(centers)))
    for i in range(len(x)):
        for j in range(len(centers)):
            total = 0.0
            for k in range(x.shape[1]):
                total += (x[i, k] - centers[j, k]) ** 2
            out[i, j] = total
    return out


def mandelbrot(cx, cy, iterations):
    out = np.empty(cx.shape, np.int64)
    for i in range(cx.shape[0]):
        for j in range(cx.shape[1]):
            x, y, count = 0.0, 0.0, 0
            while count < iterations and x * x + y * y < 4:      # fewer iterations than whole arrays take
                x, y = x * x - y * y + cx[i, j], 2 * x * y + cy[i, j]
                count += 1
            out[i, j] = count
    return out


def julia(z, c, iterations):
    out = np.empty(z.shape, np.int64)
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            found, count = z[i, j], 0
            while count < iterations and found.real * found.real + found.imag * found.imag < 4:
                found = found * found + c
                count += 1
            out[i, j] = count
    return out


LOOPS = {function.__name__: function for function in (chain, life, softmax, distances, mandelbrot, julia)}


def of_numba(plain: dict[str, Callable[..., Any]]) -> dict[str, Programs]:
    import numba

    del (plain := dict(plain))["softmax"]  # whose `max` and `sum` Numba does not know
    found = {"Numba": plain, "its loops": LOOPS}
    return {way: {name: bound(numba.njit(each)) for name, each in programs.items()} for way, programs in found.items()}


# For JAX and TensorFlow -----------------------------------------------------------------------------------------------


def alive(cells: Any) -> Any:
    """Which inner cells are alive a step later: for arrays of any library."""
    north, south = cells[:-2], cells[2:]
    beside = cells[1:-1, :-2] + cells[1:-1, 2:]
    around = north[:, :-2] + north[:, 1:-1] + north[:, 2:] + beside + south[:, :-2] + south[:, 1:-1] + south[:, 2:]
    return (around == 3) | ((cells[1:-1, 1:-1] == 1) & (around == 2))


def of_jax() -> dict[str, Programs]:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)

    def chain(x, y):
        return jnp.sqrt(x * x + y * y) / (1 + x * y)

    def life(cells, steps):
        return jax.lax.fori_loop(0, steps, lambda _, cells: jnp.pad(alive(cells), 1).astype(cells.dtype), cells)

    def softmax(x):
        return jax.nn.softmax(x, axis=1)

    def distances(x, centers):
        return jnp.sum((x[:, None, :] - centers[None, :, :]) ** 2, axis=2)

    def mandelbrot(cx, cy, iterations):
        def iteration(_, state):
            x, y, count = state
            xx, yy = x * x, y * y
            inside = xx + yy < 4
            return jnp.where(inside, xx - yy + cx, x), jnp.where(inside, 2 * x * y + cy, y), count + inside

        none = jnp.zeros_like(cx)
        return jax.lax.fori_loop(0, iterations, iteration, (none, none, jnp.zeros(cx.shape, jnp.int64)))[2]

    def julia(z, c, iterations):
        def iteration(_, state):
            z, count = state
            inside = z.real * z.real + z.imag * z.imag < 4
            return jnp.where(inside, z * z + c, z), count + inside

        return jax.lax.fori_loop(0, iterations, iteration, (z, jnp.zeros(z.shape, jnp.int64)))[1]

    def call(function: Any, *args: Any) -> Any:
        return lambda: function(*args).block_until_ready()

    def held(function: Any, *args: Any) -> Any:
        return call(function, *jax.block_until_ready(jax.device_put(args)))

    functions = {each.__name__: jax.jit(each) for each in (chain, life, softmax, distances, mandelbrot, julia)}
    ways = {"jax.jit": call, "its arrays": held}
    return {way: {name: functools.partial(how, each) for name, each in functions.items()} for way, how in ways.items()}


def of_tensorflow() -> dict[str, Programs]:
    os.environ |= {"TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    import tensorflow as tf

    def chain(x, y):
        return tf.sqrt(x * x + y * y) / (1 + x * y)

    def life(cells, steps):
        for _ in tf.range(steps):
            cells = tf.cast(tf.pad(alive(cells), [[1, 1], [1, 1]]), cells.dtype)
        return cells

    def softmax(x):
        return tf.nn.softmax(x, axis=1)

    def distances(x, centers):
        return tf.reduce_sum((x[:, None, :] - centers[None, :, :]) ** 2, axis=2)

    def mandelbrot(cx, cy, iterations):
        x, y, count = tf.zeros_like(cx), tf.zeros_like(cx), tf.zeros(cx.shape, tf.int64)
        for _ in tf.range(iterations):
            xx, yy = x * x, y * y
            inside = xx + yy < 4
            x, y = tf.where(inside, xx - yy + cx, x), tf.where(inside, 2 * x * y + cy, y)
            count += tf.cast(inside, tf.int64)
        return count

    def julia(z, c, iterations):
        count = tf.zeros(z.shape, tf.int64)
        for _ in tf.range(iterations):
            x, y = tf.math.real(z), tf.math.imag(z)
            inside = x * x + y * y < 4
            z = tf.where(inside, z * z + c, z)
            count += tf.cast(inside, tf.int64)
        return count

    def tensors(args: Any) -> list[Any]:
        return [tf.constant(arg) if isinstance(arg, np.ndarray) else arg for arg in args]

    def call(function: Any, *args: Any) -> Any:
        return lambda: function(*tensors(args)).numpy()

    def held(function: Any, *args: Any) -> Any:
        args = tensors(args)
        return lambda: function(*args).numpy()

    programs = chain, life, softmax, distances, mandelbrot, julia
    functions = {each.__name__: tf.function(each, jit_compile=True) for each in programs}
    ways = {"tf jit_compile": call, "its tensors": held}
    return {way: {name: functools.partial(how, each) for name, each in functions.items()} for way, how in ways.items()}


def installed(plain: dict[str, Callable[..., Any]]) -> dict[str, Programs]:
    """The ways of each peer that is installed."""
    found: dict[str, Programs] = {}
    for module, ways in (("numba", lambda: of_numba(plain)), ("jax", of_jax), ("tensorflow", of_tensorflow)):
        if importlib.util.find_spec(module):
            found |= ways()
    return found
