"""`for` over ranges, arrays, and what wraps them; `break`, `continue`, `else`, early returns."""

import jax.numpy as jnp

from tests.backends.jax.functions import example


@example([1.0, 2.0, 3.0, 4.0])
def sum_of_squares(v):
    total = 0.0
    for e in v:
        total += e * e
    return total


@example(1.1)
def power(x, n=7):
    y = 1.0
    for _ in range(n):
        y = y * x
    return y


@example(0.9, 5, reverse=False)
def power_of_data(x, n):
    y = 1.0
    for _ in range(n):
        y = y * x
    return y


@example(0.5)
def horner(x):
    y = 0.0
    for c in (1.0, -2.0, 0.5, 3.0):
        y = y * x + c
    return y


@example([1.0, -0.5, 0.25, 2.0], 0.5)
def horner_of_data(coefficients, x):
    y = 0.0 * x
    for c in reversed(coefficients):
        y = y * x + c
    return y


@example([0.5, 1.5, -1.0])
def running_product(v):
    out = []
    product = 1.0
    for e in v:
        product = product * e
        out.append(product)
    return jnp.stack(out)


@example([1.0, 2.0, 0.5], [0.3, 0.1, 0.7])
def dot_by_zip(v, w):
    total = 0.0
    for a, b in zip(v, w):
        total += a * b
    return total


@example([1.0, 2.0, 0.5])
def weighted_by_enumerate(v):
    total = 0.0
    for i, e in enumerate(v):
        total += (i + 1) * e**2
    return total


@example([1.0, -2.0, 3.0, -4.0, 5.0])
def positive_part(v):
    total = 0.0
    for e in v:
        if e < 0:
            continue
        total += e**3
    return total


@example([1.0, 2.0, 3.0, 4.0, 5.0])
def until_limit(v):
    total = 0.0
    for e in v:
        if total > 5:
            break
        total = total + e
    return total**2


@example([1.0, 2.0, 3.0], 10.0)
def found_or_else(v, limit):
    for e in v:
        if e > limit:
            result = e**2
            break
    else:
        result = v.sum() * 3
    return result


@example([0.5, 1.5, 2.5])
def first_above_one(v):
    for e in v:
        if e > 1.0:
            return e**2
    return v[0]


@example([[1.0, 2.0], [3.0, 4.0], [-1.0, 0.5]])
def rows(m):
    total = jnp.zeros(2)
    for row in m:
        total = total + row * jnp.sin(row)
    return total


@example([[1.0, 2.0, 0.3], [3.0, 4.0, 0.1]])
def nested_loops(m):
    total = 0.0
    for i in range(2):
        for j in range(3):
            total += (i + 1) * m[i, j] ** (j + 1)
    return total


@example([0.1, 0.2, 0.3, 0.4])
def triangle(v):
    total = 0.0
    for i in range(len(v)):
        for j in range(i):
            total += v[i] * v[j]
    return total


@example([3.0, 1.0, 2.0])
def largest(v):
    best = v[0]
    for e in v[1:]:
        if e > best:
            best = e
    return best**2


@example([3.0, 1.0, 2.0])
def index_of_largest(v):
    best, at = v[0], 0
    for i in range(1, 3):
        if v[i] > best:
            best, at = v[i], i
    return v[at] * (at + 1.0)


@example([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
def every_second(v):
    total = 0.0
    for i in range(0, 6, 2):
        total += v[i] ** 2
    return total


@example([1.0, 2.0, 4.0])
def backwards(v):
    y = 1.0
    for i in range(2, -1, -1):
        y = y / v[i] + v[i]
    return y


@example([0.3, 0.4])
def long_loop(v):
    a, b = v
    for _ in range(200):
        a, b = 0.99 * a + 0.1 * jnp.sin(b), 0.98 * b - 0.05 * a
    return a + b


@example([0.3, 0.4, 0.5, 0.2, 0.1, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2])
def long_loop_with_break(v):
    total = 0.0
    for e in v:
        total = total + jnp.exp(e)
        if total > 9.0:
            break
    return total


@example([0.3, 0.4, 0.5, 0.2, 0.1, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2])
def long_loop_with_continue(v):
    total = 0.0
    for i, e in enumerate(v):
        if i % 3 == 1 or e > 1.05:
            continue
        total = total + jnp.exp(e)
    return total


@example([0.3, 0.9, 0.5, 0.2, 0.1, 0.6, 0.7, 0.8, 0.9, 1.0], reverse=False)
def return_from_nested_loops(v):
    for i in range(10):
        for j in range(i):
            if v[i] * v[j] > 0.4:
                return v[i] * v[j]
    return v[0]


@example([0.5, -1.0, 2.0])
def comprehension(v):
    return sum([e**2 for e in v]) + sum(e for e in v if e > 0)


@example([0.5, -1.0, 2.0])
def comprehension_of_branches(v):
    return jnp.array([e**2 if e > 0 else -e for e in v])


@example(0.5)
def factorial_series(x):
    term, total = 1.0, 1.0
    for k in range(1, 12):
        term = term * x / k
        total = total + term
    return total


@example([1.0, 0.5])
def fibonacci(v):
    a, b = v
    for _ in range(10):
        a, b = b, a + b
    return b


@example(0.4)
def logistic_map(x):
    xs = []
    for _ in range(5):
        x = 3.2 * x * (1 - x)
        xs.append(x)
    return jnp.stack(xs)


@example([0.2, 0.4, 0.8])
def pairs(v):
    total = 0.0
    for i, a in enumerate(v):
        for b in v[i + 1 :]:
            total += (a - b) ** 2
    return total


@example([1.0, 2.0, 3.0, 4.0])
def loop_variable_afterwards(v):
    for e in v:
        if e > 2.5:
            break
    return e * v


@example([1.0, 2.0, 3.0], 2, reverse=False)
def loop_to_data(v, n):
    total = 0.0
    for i in range(n):
        total += v[i] ** 2
    return total


@example([1.0, 2.0, 3.0])
def repeated_by_test(v):
    for _ in range(3):
        if v.sum() < 20:
            v = v * 1.5
    return v


@example([[2.0, 1.0], [1.0, 3.0]])
def matrix_power(m):
    result = jnp.eye(2)
    n = 5
    while n:
        if n % 2:
            result = result @ m
        m = m @ m
        n //= 2
    return result
