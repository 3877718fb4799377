"""Numbers whose kinds meet: integers, floats, bools, complex; stores that cast; results of different kinds."""

import jax.numpy as jnp

from tests.backends.jax.programs import tries

X = [1.0, -2.0, 3.5]


@tries((X,))
def total_from_zero(x):
    total = 0
    for e in x:
        total += e
    return total


@tries((3,), (7,))
def division_in_loop(n):
    for _ in range(2):
        n = n / 2
    return n


@tries((X, 2), (X, 0))
def widened_if_it_runs(x, n):
    """With no iteration the plain result is a Python integer: the value is equal, its kind is wider."""
    total = 0
    for i in range(n):
        total = total + x[i]
    return total + 0.0


@tries((1,), (0,))
def bool_and_integer(n):
    flag = n > 0
    count = 0
    for _ in range(3):
        count += flag
        flag = not flag
    return flag, count, flag + count


@tries((3,), (2,))
def integer_operators(n):
    return n // 2, -n // 2, n % -3, n << 2, n >> 1, n & 1, n | 4, n ^ 7, ~n, n**2, divmod(n, 2)


@tries((2.5,), (-2.5,))
def float_operators(x):
    return x // 1, x % 1.5, -x % 2, x**2, divmod(x, 1.5), abs(x), 1 / x


@tries((X,))
def stores_that_cast(x):
    counts = jnp.zeros(3, dtype=int)
    counts[0] = x[2]
    counts[1] = True
    counts[2] += 1.75
    flags = jnp.zeros(3, dtype=bool)
    flags[1] = 1
    flags[2] = x[0] > 0
    return counts, flags


@tries((X,))
def storing_integers_in_floats(x):
    for i in range(3):
        x[i] = i
    x[1] += True
    return x


@tries(([1, 2, 3],), or_error=True)
def integers_that_would_become_floats(k):
    k += 0.5
    return k


@tries(([1, 2, 3], 0.5))
def new_array_of_wider_kind(k, x):
    k = k + x
    k[0] = 0.25
    return k


@tries((2,), (30,))
def growing_integer(n):
    total = 1
    for i in range(1, n):
        total = total * 2 % 1000003
    return total


@tries((1.0, True), (1.0, False))
def complex_by_branch(x, b):
    z = x + 0j
    if b:
        z = z * 1j
    return z, abs(z), z.real


@tries((0.5 + 0.5j,), (2 + 0j,))
def complex_loop(c):
    z = 0 * c
    n = 0
    while abs(z) < 2 and n < 10:
        z = z * z + c
        n += 1
    return z, n


@tries((3,), (0,))
def floats_from_integers(n):
    x = 1.0
    for i in range(n):
        x = x * (i + 1) / 2
    return x, x > n, int(n) + 1


@tries((X,))
def reductions(x):
    return x.argmax(), (x > 0).sum(), x.mean(), (x > 0).any(), x.max() > 3, jnp.count_nonzero(x), x.astype(int)


@tries(([True, False, True],))
def bools(b):
    n = 0
    for e in b:
        if e:
            n += 1
        e = not e
    return n, ~b, b & (not e), b.sum()


@tries((float("nan"),), (float("inf"),), (-0.0,))
def special_floats(x):
    y = 0.0
    if x > 0:
        y = 1.0
    elif x < 0:
        y = 2.0
    elif x == x:
        y = 3.0
    return y, x != x, max(y, x) if x == x else 9.0


@tries((5,), (0,))
def arrays_of_counts(n):
    counts = jnp.zeros(3, dtype=int)
    for i in range(n):
        counts[i % 3] += i
    return counts, counts.sum() / 2
