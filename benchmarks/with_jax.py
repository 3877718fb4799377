"""Plain Python that JAX traces through `ag.convert`, beside the same programs written by hand with `jax.lax`.

    python benchmarks/with_jax.py [--repeat 7] [--json FILE]

Needs the extra `jax`. Each program runs converted and by hand, in turn, in one process. The table gives, for each, the
time of a call that is compiled already, the time to trace it, and the ratio of converted to by hand (the least of all
rounds). The last rows are a network of 200 steps: its first call, with the loop converted, and unrolled by plain
`jax.jit`.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from common import show
from jax import lax

import autograph as ag

jax.config.update("jax_enable_x64", True)


class Program(NamedTuple):
    """A program in plain Python, the same by hand, and its arguments."""

    plain: Callable[..., Any]
    by_hand: Callable[..., Any]
    args: tuple[Any, ...]


# Plain Python ---------------------------------------------------------------------------------------------------------


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def network(weights, inputs):
    state = jnp.zeros(weights.shape[0])
    for row in inputs:
        state = jnp.tanh(weights @ state + row)
    return state


def power_method(matrix, limit):
    vector = jnp.ones(matrix.shape[0])
    value = 0.0
    for _ in range(500):
        product = matrix @ vector
        new = jnp.linalg.norm(product)
        vector = product / new
        if abs(new - value) < limit:
            break
        value = new
    return value


def sieve(flags):
    flags[:2] = False
    i = 2
    while i * i < len(flags):
        if flags[i]:
            j = i * i
            while j < len(flags):
                flags[j] = False
                j += i
        i += 1
    return flags.sum()


def mandelbrot(x, y):
    a = b = 0.0
    count = 0
    while count < 100 and a * a + b * b < 4.0:
        a, b = a * a - b * b + x, 2.0 * a * b + y
        count += 1
    return count


def edit_distance(one, other):
    above = jnp.arange(len(other) + 1)
    for letter in one:
        row = jnp.zeros_like(above)
        row[0] = above[0] + 1
        for j in range(len(other)):
            row[j + 1] = min(min(above[j + 1], row[j]) + 1, above[j] + (letter != other[j]))
        above = row
    return above[-1]


def lorenz(state, count):
    x, y, z = state
    for _ in range(count):
        dx, dy, dz = 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z
        x, y, z = x + 0.001 * dx, y + 0.001 * dy, z + 0.001 * dz
    return x, y, z


def bisection(c):
    low, high = 0.0, 10.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if middle**3 + middle > c:
            high = middle
        else:
            low = middle
    return low


def shortest_paths(lengths):
    for k in range(len(lengths)):
        for i in range(len(lengths)):
            for j in range(len(lengths)):
                if lengths[i, k] + lengths[k, j] < lengths[i, j]:
                    lengths[i, j] = lengths[i, k] + lengths[k, j]
    return lengths


# By hand --------------------------------------------------------------------------------------------------------------


def collatz_by_hand(n):
    def body(state):
        n, steps = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), steps + 1

    return lax.while_loop(lambda state: state[0] != 1, body, (n, 0))[1]


def network_by_hand(weights, inputs):
    def step(state, row):
        return jnp.tanh(weights @ state + row), None

    return lax.scan(step, jnp.zeros(weights.shape[0]), inputs)[0]


def power_method_by_hand(matrix, limit):
    def body(state):
        i, vector, value, _ = state
        product = matrix @ vector
        new = jnp.linalg.norm(product)
        done = abs(new - value) < limit
        return i + 1, product / new, jnp.where(done, value, new), done

    def step(state, _):
        return lax.cond(state[3], lambda state: state, body, state), None

    start = (0, jnp.ones(matrix.shape[0]), 0.0, False)
    return lax.scan(step, start, None, length=500)[0][2]


def sieve_by_hand(flags):
    count = len(flags)

    def strike(state):
        i, flags = state
        inner = lax.while_loop(lambda s: s[0] < count, lambda s: (s[0] + i, s[1].at[s[0]].set(False)), (i * i, flags))
        return i + 1, inner[1]

    def body(state):
        return lax.cond(state[1][state[0]], strike, lambda s: (s[0] + 1, s[1]), state)

    flags = flags.at[:2].set(False)
    return lax.while_loop(lambda s: s[0] * s[0] < count, body, (2, flags))[1].sum()


def mandelbrot_by_hand(x, y):
    def go(state):
        a, b, count = state
        return (count < 100) & (a * a + b * b < 4.0)

    def body(state):
        a, b, count = state
        return a * a - b * b + x, 2.0 * a * b + y, count + 1

    return lax.while_loop(go, body, (0.0, 0.0, 0))[2]


def edit_distance_by_hand(one, other):
    def row(above, letter):
        def cell(j, row):
            least = jnp.minimum(jnp.minimum(above[j + 1], row[j]) + 1, above[j] + (letter != other[j]))
            return row.at[j + 1].set(least)

        first = jnp.zeros_like(above).at[0].set(above[0] + 1)
        return lax.fori_loop(0, len(other), cell, first), None

    return lax.scan(row, jnp.arange(len(other) + 1), one)[0][-1]


def lorenz_by_hand(state, count):
    def body(_, state):
        x, y, z = state
        dx, dy, dz = 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z
        return x + 0.001 * dx, y + 0.001 * dy, z + 0.001 * dz

    return lax.fori_loop(0, count, body, state)


def bisection_by_hand(c):
    def body(state):
        low, high = state
        middle = (low + high) / 2
        above = middle**3 + middle > c
        return jnp.where(above, low, middle), jnp.where(above, middle, high)

    return lax.while_loop(lambda s: s[1] - s[0] > 1e-12, body, (0.0, 10.0))[0]


def shortest_paths_by_hand(lengths):
    count = len(lengths)

    def cell(k, i, j, lengths):
        def shorter():
            return lengths.at[i, j].set(lengths[i, k] + lengths[k, j])

        return lax.cond(lengths[i, k] + lengths[k, j] < lengths[i, j], shorter, lambda: lengths)

    def row(k, i, lengths):
        return lax.fori_loop(0, count, lambda j, lengths: cell(k, i, j, lengths), lengths)

    def rows(k, lengths):
        return lax.fori_loop(0, count, lambda i, lengths: row(k, i, lengths), lengths)

    return lax.fori_loop(0, count, rows, lengths)


def programs() -> list[Program]:
    random = np.random.default_rng(0)
    matrix = random.random((40, 40))
    words = random.integers(0, 4, 60), random.integers(0, 4, 60)
    inputs = random.random((32, 32)) / 16, random.random((200, 32))
    return [
        Program(collatz, collatz_by_hand, (837799,)),
        Program(network, network_by_hand, inputs),
        Program(power_method, power_method_by_hand, (matrix @ matrix.T, 1e-9)),
        Program(sieve, sieve_by_hand, (np.ones(20_000, bool),)),
        Program(mandelbrot, mandelbrot_by_hand, (-0.5, 0.5)),
        Program(edit_distance, edit_distance_by_hand, words),
        Program(lorenz, lorenz_by_hand, ((1.0, 1.0, 1.0), 20_000)),
        Program(bisection, bisection_by_hand, (17.0,)),
        Program(shortest_paths, shortest_paths_by_hand, (random.random((24, 24)),)),
    ]


# Measuring ------------------------------------------------------------------------------------------------------------


def timed(call: Callable[[], Any]) -> float:
    """The seconds of a call, from as many calls as take 20 ms."""
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            jax.block_until_ready(call())
        taken = time.perf_counter() - start
        if taken > 0.02:
            return taken / count
        count *= 4


def traced(function: Callable[..., Any], args: tuple[Any, ...]) -> float:
    """The seconds to trace a function to a jaxpr."""
    fresh = jax.jit(lambda *args: function(*args))
    start = time.perf_counter()
    fresh.trace(*args)
    return time.perf_counter() - start


def measure(program: Program, repeat: int) -> dict[str, Any]:
    converted, args = ag.convert(program.plain), program.args
    one, other = jax.jit(converted), jax.jit(program.by_hand)
    args = jax.tree.map(jnp.asarray, args)
    equal = jax.tree.map(lambda a, b: bool(jnp.allclose(a, b, rtol=1e-9)), one(*args), other(*args))
    assert jax.tree.all(equal), f"{program.plain.__name__} answers differ"
    rounds = [
        (timed(lambda: one(*args)), timed(lambda: other(*args)), traced(converted, args), traced(program.by_hand, args))
        for _ in range(repeat)
    ]
    run, run_by_hand, trace, trace_by_hand = map(min, zip(*rounds))
    return {
        "program": program.plain.__name__, "ms": run * 1e3, "by hand": run_by_hand * 1e3, "run": run / run_by_hand,
        "trace ms": trace * 1e3, "trace by hand": trace_by_hand * 1e3, "trace": trace / trace_by_hand,
    }  # fmt: skip


def first_calls() -> dict[str, float]:
    """The seconds of the first call of the network: its loop staged, by hand, and unrolled by plain `jax.jit`."""
    args = jax.tree.map(jnp.asarray, programs()[1].args)
    taken = {}
    for name, function in [("converted", ag.convert(network)), ("by hand", network_by_hand), ("plain jit", network)]:
        start = time.perf_counter()
        jax.block_until_ready(jax.jit(lambda *args, function=function: function(*args))(*args))
        taken[name] = time.perf_counter() - start
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=7, help="rounds of each program")
    parser.add_argument("--json", help="also write the figures to this file")
    options = parser.parse_args()
    print(f"JAX {jax.__version__} on {jax.devices()[0].device_kind}")
    rows = [measure(program, options.repeat) for program in programs()]
    keys = list(rows[0])
    cells = [[row[key] if isinstance(row[key], str) else f"{row[key]:.4g}" for key in keys] for row in rows]
    show("programs", keys, cells)
    for key in ("run", "trace"):
        mean = math.exp(statistics.mean(math.log(row[key]) for row in rows))
        print(f"{key}, converted / by hand: geometric mean {mean:.3f}, worst {max(row[key] for row in rows):.3f}")
    first = first_calls()
    print("first call of the network: " + ", ".join(f"{name} {seconds:.2f} s" for name, seconds in first.items()))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"programs": rows, "first": first}, file, indent=2)


if __name__ == "__main__":
    main()
