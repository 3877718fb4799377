"""In-place stores: into elements and slices, through aliases, views, functions and containers."""

import jax.numpy as jnp

from tests.backends.jax.functions import example


@example([1.0, 2.0, 3.0])
def one_element(x):
    x[1] = x[0] * x[2]
    return x


@example([1.0, 2.0, 3.0])
def augmented_element(x):
    x[0] += x[1] ** 2
    x[2] *= x[0]
    return x


@example([1.0, 2.0, 3.0, 4.0])
def slices(x):
    x[1:3] = x[:2] ** 2
    x[::2] *= 3.0
    return x


@example([1.0, 2.0, 3.0, 4.0])
def cumulative(x):
    for i in range(1, 4):
        x[i] += x[i - 1]
    return x


@example([1.0, 2.0, 3.0, 4.0, 1.5, 2.5, 0.5, 0.1, 0.2, 0.3, 0.4])
def long_cumulative(x):
    for i in range(1, len(x)):
        x[i] = jnp.sin(x[i]) + 0.5 * x[i - 1]
    return x


@example([1.0, -2.0, 3.0])
def in_branches(x):
    for i in range(3):
        if x[i] < 0:
            x[i] = x[i] ** 2
    return x


@example([1.0, -2.0, 3.0])
def by_mask(x):
    x[x < 0] = 0.5
    return x**2


@example([1.0, 2.0, 3.0])
def into_new_array(x):
    y = jnp.zeros(3)
    for i, e in enumerate(x):
        y[2 - i] = e**2
    return y


@example([1.0, 2.0, 3.0])
def through_alias(x):
    y = x
    y[0] = y[1] * 2
    return x * 3


@example([1.0, 2.0, 3.0])
def copy_is_no_alias(x):
    y = x.copy()
    y[0] = y[1] * 2
    return x * y


@example([1.0, 2.0, 3.0])
def in_called_function(x):
    def fill(v, c):
        v[0] = c
        v[1] += c

    fill(x, x[2] ** 2)
    return x


@example([[1.0, 2.0], [3.0, 4.0]])
def through_row(m):
    row = m[1]
    row[0] = row[1] * m[0, 0]
    return m


@example([[1.0, 2.0], [3.0, 4.0]])
def through_transpose(m):
    t = m.T
    t[0] = t[1] ** 2
    return m


@example([1.0, 2.0, 3.0, 4.0])
def through_reshape(x):
    m = x.reshape(2, 2)
    m[1] = m[0] * m[1]
    return x


@example([1.0, 2.0, 3.0, 4.0])
def through_slice(x):
    tail = x[2:]
    tail[0] = x[0] ** 2
    return x[1:3]


@example([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
def rows_of_loop(m):
    for row in m:
        row[0] = row[1] ** 2
    return m


@example([[1.0, 2.0], [3.0, 4.0]], 1)
def row_of_data(m, i):
    m[i] = m[1 - i] * m[i, 0]
    return m


@example([[1.0, 2.0, 0.5], [3.0, 4.0, 0.1]])
def columns(m):
    m[:, 0] = m[:, 1] * m[:, 2]
    m[0, 1:] += m[1, 1:]
    return m


@example([3.0, 1.0, 2.0])
def bubble_sort(x):
    n = len(x)
    for i in range(n):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x * jnp.arange(1.0, 4.0)


@example([[4.0, 2.0], [2.0, 3.0]])
def cholesky(a):
    n = len(a)
    low = jnp.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j]
            for k in range(j):
                s = s - low[i, k] * low[j, k]
            if i == j:
                low[i, j] = jnp.sqrt(s)
            else:
                low[i, j] = s / low[j, j]
    return low


@example([[0.1, 2.0], [3.0, 4.0]], [1.0, 2.0])
def gauss_with_pivot(a, b):
    n = len(b)
    for k in range(n):
        at = k + jnp.argmax(jnp.abs(a[k:, k]))
        if at != k:
            row, value = a[k].copy(), b[k]
            a[k], b[k] = a[at], b[at]
            a[at], b[at] = row, value
        for i in range(k + 1, n):
            factor = a[i, k] / a[k, k]
            a[i] -= factor * a[k]
            b[i] -= factor * b[k]
    x = jnp.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i] @ x) / a[i, i]
    return x


@example([0.5, 1.0, 2.0, 0.1, 0.7])
def smoothed(x):
    y = jnp.zeros(5)
    for i in range(5):
        if i == 0 or i == 4:
            y[i] = x[i]
        else:
            y[i] = (x[i - 1] + x[i] + x[i + 1]) / 3
    return y


@example([1.0, 2.0, 4.0], [0.5, 0.25])
def convolution(x, w):
    out = jnp.zeros(4)
    for i in range(3):
        for j in range(2):
            out[i + j] += x[i] * w[j]
    return out


@example([0.3, 0.6, 0.2])
def table_of_costs(x):
    table = jnp.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            cost = (x[i] - x[j]) ** 2
            if i > 0 and j > 0:
                table[i, j] = cost + min(table[i - 1, j], table[i, j - 1])
            else:
                table[i, j] = cost + 0.1
    return table[2, 2]


@example([1.0, 2.0, 3.0])
def in_list(x):
    parts = [x, x * 2]
    for part in parts:
        part[0] = part[1] * part[2]
    return x + parts[1]


@example([1.0, 2.0, 3.0])
def in_dict(x):
    state = {"x": x, "sum": jnp.zeros(1)}
    for i in range(3):
        state["x"][i] *= 2.0
        state["sum"][0] += state["x"][i] ** 2
    return state["sum"]
