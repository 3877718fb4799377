"""Derivatives of programs with control flow beside those of JAX, where it is installed: each is written for both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

import autograph as ag  # noqa: E402

jnp, lax = jax.numpy, jax.lax
pytestmark = pytest.mark.once

X = np.array([0.7, -1.3, 2.1])
M = np.array([[2.0, 0.3, -0.4], [0.1, 1.5, 0.2], [-0.3, 0.4, 1.8]])

PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]] = {}


def beside(theirs: Callable[..., Any], *args: Any) -> Callable[..., Any]:
    """Notes a program, the same one for JAX, and what both are called with."""

    def note(ours: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[ours.__name__] = ours, theirs, args
        return ours

    return note


@beside(lambda x, n: lax.fori_loop(0, 7, lambda i, y: y * x + i, x).sum(), X, 7)
def horner_of_arrays(x, n):
    y = x
    for i in range(n):
        y = y * x + i
    return y.sum()


def _braked(speed, place):
    speed = lax.cond(speed > 1, lambda s: s - 0.1 * s * s, lambda s: 0.9 * s, speed)
    return speed, place + speed


@beside(lambda x, n: lax.fori_loop(0, 20, lambda _, s: _braked(*s), (x, 0.0))[1], 3.0, 20)
def branch_in_a_loop(x, n):
    speed, place = x, 0.0
    for _ in range(n):
        if speed > 1.0:
            speed = speed - 0.1 * speed * speed
        else:
            speed = 0.9 * speed
        place += speed
    return place


@beside(lambda x, w: jnp.sum(lax.scan(lambda s, row: (jnp.tanh(w @ s + row), s[0]), x, w)[0] ** 2), X, M)
def recurrent(x, w):
    state = x
    for row in w:
        state = np.tanh(w @ state + row)
    return np.sum(state**2)


@beside(lambda x: jnp.sum(lax.scan(lambda s, v: (s * v + 1, s * v + 1), 1.0, x)[1] ** 2), X)
def table_written_in_place(x):
    table = np.zeros_like(x)
    last = 1.0
    for i in range(len(x)):
        table[i] = last * x[i] + 1
        last = table[i]
    return np.sum(table**2)


def _until(limit):
    def step(state, _):
        y, going = state
        moved = y * y + 0.1
        going = going & (moved < limit)
        return (jnp.where(going, moved, y), going), None

    return step


@beside(lambda x: lax.scan(_until(50.0), (x, jnp.array(True)), None, 12)[0][0], 1.3)
def loop_that_breaks(x):
    y = x
    for _ in range(12):
        moved = y * y + 0.1
        if moved >= 50.0:
            break
        y = moved
    return y


@beside(lambda x: sum(x[i] * x[j] ** 2 for i in range(3) for j in range(3) if (i + j) % 2 == 0), X)
def nested_loops_that_continue(x):
    total = 0.0
    for i in range(3):
        for j in range(3):
            if (i + j) % 2:
                continue
            total += x[i] * x[j] ** 2
    return total


@beside(lambda k, x: lax.switch(k, [jnp.sin, lambda x: x**2, lambda x: 1 / x], x).sum(), 2, X)
def match_statement(k, x):
    match k:
        case 0:
            y = np.sin(x)
        case 1:
            y = x**2
        case _:
            y = 1 / x
    return y.sum()


def _lorenz(p, xp):
    x, y, z = p
    return xp.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])


def _rk4(p, h, xp):
    a = _lorenz(p, xp)
    b = _lorenz(p + h / 2 * a, xp)
    c = _lorenz(p + h / 2 * b, xp)
    d = _lorenz(p + h * c, xp)
    return p + h / 6 * (a + 2 * b + 2 * c + d)


@beside(lambda p: lax.fori_loop(0, 30, lambda _, p: _rk4(p, 0.01, jnp), p)[0], X)
def runge_kutta(p):
    for _ in range(30):
        p = _rk4(p, 0.01, np)
    return p[0]


def _gram_schmidt(m):
    columns: list[Any] = []
    for column in m.T:
        for other in columns:
            column = column - (column @ other) * other
        columns.append(column / jnp.linalg.norm(column))
    return jnp.sum(jnp.stack(columns) ** 3)


@beside(_gram_schmidt, M)
def orthogonal_columns_in_place(m):
    q = m.copy()
    for j in range(q.shape[1]):
        for i in range(j):
            q[:, j] -= (q[:, j] @ q[:, i]) * q[:, i]
        q[:, j] /= np.linalg.norm(q[:, j])
    return np.sum(q**3)


@beside(lambda a: lax.fori_loop(0, 6, lambda _, x: (x + a / x) / 2, a), 7.0)
def newton_until_it_stays(a):
    x = a
    while True:
        new = (x + a / x) / 2
        if abs(new - x) < 1e-9:
            return new
        x = new


def _softmax(s):
    e = jnp.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@beside(lambda m: jnp.sum((_softmax(jnp.where(jnp.tri(3) > 0, m @ m.T, -1e9)) @ m) ** 2), M)
def attention_row_by_row(m):
    out = np.zeros_like(m)
    for i in range(len(m)):
        scores = m[: i + 1] @ m[i]
        weights = np.exp(scores - np.max(scores))
        out[i] = (weights / weights.sum()) @ m[: i + 1]
    return np.sum(out**2)


@beside(lambda x: (jnp.sort(jnp.abs(x))[-2:] ** 2).sum(), X)
def greatest_two(x):
    first = second = 0.0
    for each in np.abs(x):
        if each > first:
            first, second = each, first
        elif each > second:
            second = each
    return first**2 + second**2


def _orbit(c):
    z = c * 0
    for _ in range(4):
        z = z * z + c
    return jnp.abs(z) ** 2


@beside(_orbit, 0.3 + 0.4j)
def complex_orbit(c):
    z = 0 * c
    for _ in range(4):
        z = z * z + c
    return abs(z) ** 2


def _kalman(m, xp):
    p, x = xp.eye(3), xp.ones(3)
    for _ in range(3):
        p = m @ p @ m.T + 0.1 * xp.eye(3)
        gain = xp.linalg.solve(p + xp.eye(3), p)
        x = x + gain @ (m[0] - x)
        p = p - gain @ p
    return xp.sum(x * x) + xp.trace(p)


@beside(lambda m: _kalman(m, jnp), M)
def kalman_filter(m):
    return _kalman(m, np)


@beside(lambda x: jnp.stack([x[0] ** k * (1 if k % 2 else 2) for k in range(5)]).prod(), X)
def list_that_grows(x):
    parts = []
    for k in range(5):
        part = x[0] ** k
        if k % 2 == 0:
            part = part * 2
        parts.append(part)
    return np.prod(np.array(parts))


def _first_large(x, xp):
    return xp.where(x[0] > 2, x[0] ** 2, xp.where(abs(x[1]) > 1, xp.exp(x[1]) * x[0], x.sum()))


@beside(lambda x: _first_large(x, jnp), X)
def early_return(x):
    if x[0] > 2:
        return x[0] ** 2
    for each in x[1:]:
        if abs(each) > 1:
            return np.exp(each) * x[0]
    return x.sum()


@beside(lambda x: x**5 / (1 + x) ** 3, 1.7)
def recursion(x):
    def power(x, n):
        return 1.0 if n == 0 else x * power(x, n - 1)

    return power(x, 5) / power(1 + x, 3)


@beside(lambda x: jnp.sum(x * lax.stop_gradient(x**2)), X)
def constant_factor(x):
    total = 0.0
    for each in x:
        total += each * ag.stop_gradient(each**2)
    return total


def _checkpointed(x):
    iteration = jax.checkpoint(lambda x: jnp.sin(x) * x + 1)
    return lax.fori_loop(0, 5, lambda _, x: iteration(x), x).sum()


@ag.checkpoint
def _iteration(x):
    return np.sin(x) * x + 1


@beside(_checkpointed, X)
def checkpointed_iterations(x):
    for _ in range(5):
        x = _iteration(x)
    return x.sum()


@jax.custom_vjp
def _clipped_jax(x):
    return x * x


_clipped_jax.defvjp(lambda x: (x * x, x), lambda x, g: (jnp.clip(2 * x * g, -1.0, 1.0),))


@ag.custom_gradient
def _clipped(x):
    return x * x, lambda g: np.clip(2 * x * g, -1.0, 1.0)


@beside(lambda x: lax.fori_loop(0, 3, lambda _, x: jnp.sin(_clipped_jax(x)), x).sum(), X)
def gradient_of_ones_own(x):
    for _ in range(3):
        x = np.sin(_clipped(x))
    return x.sum()


@beside(lambda a: sum(a["w"][i] * a["b"] ** i for i in range(3)), {"w": X, "b": 1.2})
def structure_of_arguments(a):
    total, power = 0.0, 1.0
    for weight in a["w"]:
        total += weight * power
        power *= a["b"]
    return total


@beside(lambda x: jnp.sum(jnp.convolve(x, jnp.array([1.0, -2.0, 0.5])) ** 3), X)
def convolution_by_hand(x):
    kernel = np.array([1.0, -2.0, 0.5])
    out = np.zeros(5)
    for shift, weight in enumerate(kernel):
        out[shift : shift + 3] += weight * x
    return np.sum(out**3)


def assert_same(mine: Any, theirs: Any) -> None:
    for ours, wanted in zip(jax.tree.leaves(mine), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-9, atol=1e-9)


def differentiated(name: str) -> int:
    return 1 if name == "match_statement" else 0


@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients(name: str) -> None:
    ours, theirs, args = PROGRAMS[name]
    found = ag.value_and_grad(ours, differentiated(name))(*args)
    assert_same(found, jax.value_and_grad(theirs, differentiated(name))(*args))


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name not in ("gradient_of_ones_own", "complex_orbit")])
def test_changes(name: str) -> None:
    """Forward: JAX knows none of what has a gradient of its own."""
    ours, theirs, args = PROGRAMS[name]
    at = differentiated(name)
    change = jax.tree.map(lambda x: np.cos(3 * np.asarray(x)) if np.ndim(x) else 0.8, args[at])
    found = ag.jvp(lambda x: ours(*args[:at], x, *args[at + 1 :]), (args[at],), (change,))
    assert_same(found, jax.jvp(lambda x: theirs(*args[:at], x, *args[at + 1 :]), (args[at],), (change,)))


SECOND = [name for name, (_, _, args) in PROGRAMS.items() if args[0] is X or args[0] is M]


@pytest.mark.parametrize("name", [name for name in SECOND if name != "gradient_of_ones_own"])
def test_hessians(name: str) -> None:
    ours, theirs, args = PROGRAMS[name]
    assert_same(ag.hessian(ours)(*args), jax.hessian(theirs)(*args))


def test_a_loop_of_unknown_length() -> None:
    """Of which JAX has forward derivatives only."""

    def halved(x):
        while x > 1:
            x = x * x / 4 if x < 3 else x / 2 + 0.1
        return x

    def jaxs(x):
        return lax.while_loop(lambda x: x > 1, lambda x: jnp.where(x < 3, x * x / 4, x / 2 + 0.1), x)

    assert_same(ag.grad(halved)(9.0), jax.jvp(jaxs, (9.0,), (1.0,))[1])


@pytest.mark.parametrize(
    "function, theirs",
    [
        (lambda z: np.abs(z), jnp.abs),
        (lambda z: (z * np.conj(z)).real, lambda z: (z * jnp.conj(z)).real),
        (lambda z: np.exp(z).imag, lambda z: jnp.exp(z).imag),
        (lambda z: np.angle(z), jnp.angle),
        (lambda z: abs(z) ** 2 + z.real, lambda z: jnp.abs(z) ** 2 + z.real),
    ],
)
def test_complex_arguments(function: Callable[..., Any], theirs: Callable[..., Any]) -> None:
    """Both give `du/dx - i du/dy` of a real function u, and conjugate nothing on the way back."""
    z = np.complex128(0.6 - 0.8j)
    assert_same(ag.grad(function)(z), jax.grad(theirs)(z))


def test_complex_results() -> None:
    z, g = np.array([0.6 - 0.8j, -1.1 + 0.2j]), np.array([2.0 + 1j, -0.5j])
    for ours, theirs in [(np.sin, jnp.sin), (np.conj, jnp.conj), (lambda z: z * z.real, lambda z: z * z.real)]:
        assert_same(ag.vjp(ours, z)[1](g), jax.vjp(theirs, z)[1](g))
        assert_same(ag.jvp(ours, (z,), (g,)), jax.jvp(theirs, (z,), (g,)))
