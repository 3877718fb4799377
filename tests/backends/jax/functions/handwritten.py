"""Some of the functions as one writes them by hand for `jax.jit`: with `cond`, `scan`, `fori_loop` and `while_loop`."""

import jax.numpy as jnp
from jax import lax


def absolute(x):
    return lax.cond(x < 0, lambda: -x, lambda: x)


def piecewise(x):
    index = (x >= 0).astype(int) + (x >= 1) + (x >= 2)
    y = lax.switch(index, [jnp.square, jnp.sin, lambda x: jnp.exp(-x), jnp.log], x)
    return 3 * y


def elu(x, alpha=1.5):
    return lax.cond(x > 0, lambda: x, lambda: alpha * jnp.expm1(x))


def huber(x):
    return jnp.where(abs(x) <= 1.0, 0.5 * x**2, abs(x) - 0.5).sum()


def normalized_if_long(v):
    length = jnp.sqrt((v**2).sum())
    return lax.cond(length > 2.0, lambda: v / length, lambda: v)


def choice_by_integer(x, kind):
    return lax.switch(jnp.where((kind < 0) | (kind > 2), 3, kind), [jnp.sin, jnp.cos, jnp.tan, lambda x: x], x)


def sum_of_squares(v):
    return lax.scan(lambda total, e: (total + e * e, None), 0.0, v)[0]


def power(x, n=7):
    return lax.fori_loop(0, n, lambda _, y: y * x, 1.0)


def power_of_data(x, n):
    return lax.fori_loop(0, n, lambda _, y: y * x, 1.0)


def horner_of_data(coefficients, x):
    return lax.scan(lambda y, c: (y * x + c, None), 0.0 * x, coefficients, reverse=True)[0]


def running_product(v):
    def step(product, e):
        product = product * e
        return product, product

    return lax.scan(step, 1.0, v)[1]


def dot_by_zip(v, w):
    return lax.scan(lambda total, pair: (total + pair[0] * pair[1], None), 0.0, (v, w))[0]


def positive_part(v):
    return lax.scan(lambda total, e: (lax.cond(e < 0, lambda: total, lambda: total + e**3), None), 0.0, v)[0]


def until_limit(v):
    total = lax.scan(lambda total, e: (lax.cond(total > 5, lambda: total, lambda: total + e), None), 0.0, v)[0]
    return total**2


def first_above_one(v):
    def step(carry, e):
        done, result = carry
        result = jnp.where(~done & (e > 1.0), e**2, result)
        return (done | (e > 1.0), result), None

    return lax.scan(step, (False, v[0]), v)[0][1]


def largest(v):
    return lax.scan(lambda best, e: (jnp.where(e > best, e, best), None), v[0], v[1:])[0] ** 2


def long_loop(v):
    def step(_, state):
        a, b = state
        return 0.99 * a + 0.1 * jnp.sin(b), 0.98 * b - 0.05 * a

    a, b = lax.fori_loop(0, 200, step, (v[0], v[1]))
    return a + b


def long_loop_with_break(v):
    def step(carry, e):
        done, total = carry
        total = lax.cond(done, lambda: total, lambda: total + jnp.exp(e))
        return (total > 9.0, total), None

    return lax.scan(step, (False, 0.0), v)[0][1]


def factorial_series(x):
    def step(carry, k):
        term, total = carry
        term = term * x / k
        return (term, total + term), None

    return lax.scan(step, (1.0, 1.0), jnp.arange(1, 12))[0][1]


def bounded(test, body, state, bound):
    """A `while_loop` with reverse-mode derivatives."""

    def step(state, _):
        return lax.cond(test(state), body, lambda state: state, state), None

    return lax.scan(step, state, None, length=bound)[0]


def doubled_to_hundred(x):
    return bounded(lambda x: x < 100, lambda x: x * 2, x, 10)


def newton_root(a):
    return bounded(lambda x: abs(x * x - a) > 1e-10, lambda x: 0.5 * (x + a / x), a, 20)


def shrink(v):
    return bounded(lambda v: (v**2).sum() > 1, lambda v: v * 0.7, v, 8)


def writes_until(x):
    def body(state):
        x, seen, n = state
        return x * 1.4, seen.at[n].set(x), n + 1

    return bounded(lambda state: state[0] < 1, body, (x, jnp.zeros(8), 0), 8)[1]


def cumulative(x):
    return lax.fori_loop(1, 4, lambda i, x: x.at[i].add(x[i - 1]), x)


def long_cumulative(x):
    return lax.fori_loop(1, len(x), lambda i, x: x.at[i].set(jnp.sin(x[i]) + 0.5 * x[i - 1]), x)


def by_mask(x):
    return jnp.where(x < 0, 0.5, x) ** 2


def through_row(m):
    return m.at[1, 0].set(m[1, 1] * m[0, 0])


def through_transpose(m):
    return m.at[:, 0].set(m[:, 1] ** 2)


def row_of_data(m, i):
    return m.at[i].set(m[1 - i] * m[i, 0])


def dict_in_loop(v):
    def step(seen, e):
        positive, negative = seen
        return lax.cond(e > 0, lambda: (positive + e**2, negative), lambda: (positive, negative + e)), None

    positive, negative = lax.scan(step, (0.0, 0.0), v)[0]
    return positive * negative


def append_in_long_loop(v):
    return lax.map(lambda e: lax.cond(e > 0.5, lambda: e**2, lambda: -e), v)


def recurrent_network(w, xs):
    return lax.scan(lambda h, x: (jnp.tanh(w[0] * x + w[1] * h + w[2]), None), 0.0, xs)[0] ** 2


def bouncing_ball(height, speed):
    def step(state, _):
        height, speed = state
        speed = speed - 0.0981
        height = height + 0.1 * speed
        return lax.cond(height < 0, lambda: (-height, -0.8 * speed), lambda: (height, speed)), None

    return lax.scan(step, (height, speed), None, length=30)[0][0]
