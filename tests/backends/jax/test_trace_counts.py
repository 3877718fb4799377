"""How often the bodies of loops are traced: each runs once for a trace of it, which a callee counts."""

from __future__ import annotations

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import autograph as ag  # noqa: E402

pytestmark = pytest.mark.once
traces: dict[str, int] = {}


@ag.do_not_convert
def body(name):
    traces[name] = traces.get(name, 0) + 1


def total(x, n):
    result = 0.0
    for i in range(n):
        body("i")
        result = result + x[i]
    return result


def total_from_an_integer(x, n):
    result = 0
    for i in range(n):
        body("i")
        result += x[i]
    return result


def power(x, n):
    while n > 0:
        body("while")
        x, n = x * x, n - 1
    return x


def counted(x, n):
    i = 0
    while i < 50:
        body("while")
        x = x + i * n
        i += 1
    return x


def found(x, n):
    for i, value in enumerate(x):
        body("i")
        if value > n:
            return i
    return -1


def shortest_paths(x, n):
    for k in range(len(x)):
        body("k")
        for i in range(n):
            body("i")
            for j in range(len(x)):
                body("j")
                if x[i, k] + x[k, j] < x[i, j]:
                    x[i, j] = x[i, k] + x[k, j]
    return x


def product(x, n):
    result = jnp.zeros((20, 20))
    for i in range(n):
        body("i")
        for j in range(n):
            body("j")
            total = 0
            for k in range(n):
                body("k")
                total += x[i, k] * x[k, j]
            result[i, j] = total
    return result


def fill(row, n):
    for j in range(n):
        body("j")
        row[j] = j


def stores_by_a_callee(x, n):
    for i in range(n):
        body("i")
        fill(x[i], n)
    return x


@pytest.mark.parametrize(("program", "shape", "expected"), [
    (total, (20,), {"i": 1}),
    (total_from_an_integer, (20,), {"i": 2}),
    (power, (), {"while": 1}),
    (counted, (), {"while": 1}),
    (found, (20,), {"i": 2}),
    (shortest_paths, (20, 20), {"k": 1, "i": 1, "j": 1}),
    (product, (20, 20), {"i": 1, "j": 1, "k": 2}),
    (stores_by_a_callee, (20, 20), {"i": 2, "j": 2}),
], ids=lambda value: getattr(value, "__name__", ""))  # fmt: skip
def test_bodies_are_traced_again_only_where_something_is_new(program, shape, expected):
    traces.clear()
    jax.jit(ag.convert(program)).trace(jnp.ones(shape), 5)
    assert traces == expected


def bisected(c):
    low, high = 0.0, 10.0
    while high - low > c * 1e-13:
        middle = (low + high) / 2
        low, high = (low, middle) if middle * middle > c else (middle, high)
    return low


def bisected_by_hand(c):
    def body(state):
        middle = (state[0] + state[1]) / 2
        above = middle * middle > c
        return jnp.where(above, state[0], middle), jnp.where(above, middle, state[1])

    return jax.lax.while_loop(lambda state: state[1] - state[0] > c * 1e-13, body, (0.0, 10.0))[0]


def searched(x):
    at = 0
    while x[at] < 5.0 and at < 99:
        at += 1
    return at


@pytest.mark.parametrize(("program", "argument", "carried"), [
    (bisected, 5.0, ["float64[]", "float64[]"]),
    (searched, jnp.arange(100.0), ["bool[]", "int64[]"]),       # whether it goes on, as reading `x` takes longer
])  # fmt: skip
def test_loops_carry_what_they_need(program, argument, carried):
    (loop,) = [eqn for eqn in jax.make_jaxpr(ag.convert(program))(argument).eqns if eqn.primitive.name == "while"]
    assert [str(aval.update(weak_type=False).str_short()) for aval in loop.params["body_jaxpr"].out_avals] == carried
    if program is bisected:
        assert jax.jit(ag.convert(bisected))(argument) == jax.jit(bisected_by_hand)(argument)
