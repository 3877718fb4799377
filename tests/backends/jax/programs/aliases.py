"""In-place stores, and who sees them: aliases, views, views of views, callees, containers, captured arrays."""

import jax.numpy as jnp

from tests.backends.jax.programs import tries

X, Y, M = [1.0, -2.0, 3.0, 0.5], [4.0, 5.0, -6.0, 7.0], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]


@tries((X, 1), (X, -1))
def two_names(x, i):
    y = x
    y[i] = 9.0
    x[0] += y[i]
    return x, y


@tries((M, 0), (M, 1), (M, -1))
def row(m, i):
    row = m[i]
    row[0] = 5.0
    m[i, 1] = 7.0
    return m, row


@tries((M,))
def view_of_view(m):
    part = m[:, 1:].T[1]
    part[:] = part * 2
    part[0] += 100.0
    return m, part


@tries((X,))
def view_sees_later_stores(x):
    head, back, pairs = x[:2], x[::-1], x.reshape(2, 2)
    x[0] = 8.0
    pairs[1, 1] = 9.0
    back[1] = 7.0
    return head, back, pairs, x


@tries((X,))
def ravel_and_reshape(x):
    m = x.reshape(2, 2)
    flat = m.reshape(-1)
    flat[3] = 5.0
    m[0] = flat[2:]
    return x, m, flat


@tries((X, True), (X, False), or_error=True)
def alias_by_branch(x, b):
    z = jnp.zeros(4)
    if b:
        y = x
    else:
        y = z
    y[0] = 9.0
    return x, y, z


@tries((X, True), (X, False), or_error=True)
def alias_by_conditional_expression(x, b):
    z = jnp.zeros(4)
    y = x if b else z
    y[1] = 9.0
    return x, z


@tries((X, True), (X, False), or_error=True)
def rebound_in_branch(x, b):
    y = x
    if b:
        y = y * 2
    y[0] = 9.0
    return x, y


@tries((X, True), (X, False))
def view_made_in_branch(x, b):
    if b:
        part = x[1:3]
        part[0] = 9.0
    return x


@tries((X, 0), (X, 3), or_error=True)
def swapped_in_loop(x, n):
    y = x * 2
    for _ in range(n):
        x, y = y, x
        x[0] += 1.0
    x[1] = 100.0
    return x, y


@tries((X, 2), (X, 0))
def fresh_in_each_iteration(x, n):
    kept = x
    for i in range(n):
        x = x.copy()
        x[i] = 9.0
    return x, kept


@tries((X,))
def callee_stores(x):
    def fill(v, c):
        v[0] = c

    fill(x, 5.0)
    fill(x[2:], 6.0)
    fill(x[::-1], 7.0)
    return x


@tries((X,))
def callee_returns_its_argument(x):
    def same(v):
        v[1] = 3.0
        return v

    y = same(same(x))
    y[0] = 9.0
    return x


@tries((X,))
def callee_returns_a_view(x):
    def tail(v):
        return v[2:]

    tail(x)[0] = 9.0
    return x


@tries((X,))
def callee_stores_in_a_loop(x):
    def add(v, i):
        if v[i] > 0:
            v[i] += 1.0

    for i in range(len(x)):
        add(x, i)
    return x


@tries((M,))
def rows_of_a_loop(m):
    for i, row in enumerate(m):
        row[i] = 9.0
        row[-1] = row[0] + i
    return m


@tries((M,))
def rows_rebound_in_a_loop(m):
    for row in m:
        row = row * 2
        row[0] = 9.0
    return m, row


@tries((M,))
def last_row_after_a_loop(m):
    for row in m:
        pass
    row[0] = 9.0
    return m


@tries((M,))
def rows_in_a_list(m):
    rows = [m[0], m[1]]
    for r in rows:
        r[0] = r[1] + 1
    rows[0], rows[1] = rows[1], rows[0]
    rows[0][2] = 50.0
    return m, rows


@tries((M,))
def rows_of_zip(m):
    other = jnp.ones((2, 3))
    for a, b in zip(m, other):
        a[0], b[1] = b[1] + 1, a[0]
    return m, other


@tries((M,))
def swap_of_rows(m):
    m[0], m[1] = m[1], m[0]
    return m


@tries((M,))
def swap_of_copied_rows(m):
    m[0], m[1] = m[1].copy(), m[0].copy()
    return m


@tries((X,))
def overlapping_slices(x):
    x[1:] = x[:-1]
    x[:2] += x[1:3]
    x[:] = x[::-1]
    return x


@tries((X,))
def matrix_gets_its_transpose(x):
    m = x.reshape(2, 2)
    m[...] = m.T
    return x


@tries((X, Y))
def list_of_arrays(x, y):
    parts = [x, y, x]
    parts[2][0] = 9.0
    parts[1] = parts[0]
    parts[1][1] = 8.0
    return parts, x, y


@tries((X, Y, 0), (X, Y, 1), (X, Y, -1))
def list_of_arrays_by_data(x, y, i):
    parts = [x, y]
    parts[i][0] = 9.0
    return parts, x


@tries((X, Y))
def dict_of_arrays(x, y):
    d = {"a": x, "b": {"c": y}}
    for key in d:
        if key == "a":
            d[key][0] = 9.0
    d["b"]["c"][1:] *= 2.0
    e = d["b"]
    e["c"] = x
    e["c"][2] = -1.0
    return d, x, y


@tries((X, Y))
def tuple_of_arrays(x, y):
    pair = (x, (y,))
    a, (b,) = pair
    a[0], b[0] = b[0], a[0]
    return pair


@tries((X,))
def closure(x):
    def bump():
        x[0] += 1.0
        return x.sum()

    first = bump()
    return first, bump(), x


@tries((X,))
def default_argument(x):
    def bump(by, v=x):
        v[1] += by
        return v

    bump(2.0)[0] = 7.0
    return x


@tries((X, [0, 2, 0, 1]))
def repeated_indices(x, at):
    x[at] += 1.0
    counts = jnp.zeros(4)
    for i in at:
        counts[i] += 1.0
    return x, counts


@tries((X, [3, 1]))
def indices_and_masks(x, at):
    x[at] = jnp.array([10.0, 20.0])
    x[x < 0] = 0.0
    x[x > 5] *= 2.0
    chosen = x[at]
    chosen[0] = 99.0
    return x, chosen


@tries((X,), (Y,))
def masked_store_of_values(x):
    mask = x > 0
    x[mask] = 1.0
    x[~mask] += 0.25
    return x


@tries((M, 1, 2), (M, 0, -1))
def indices_by_data(m, i, j):
    m[i, j] = 9.0
    m[i][j] += 1.0
    m[:, j] *= 2.0
    m[i] -= m[1 - i]
    return m, m[i, j]


@tries((M, 0), (M, 1), or_error=True)
def windows_by_data(m, i):
    flat = m.reshape(-1)
    flat[i : i + 2] = 9.0
    return m


@tries((X,), or_error=True)
def augmented_alias(x):
    y = x
    y += 1.0
    y[0] = 9.0
    return x, y


@tries((X,))
def augmented_argument(x):
    x += 1.0
    x *= 2.0
    return x


@tries((X,), or_error=True)
def augmented_in_callee(x):
    def add(v):
        v += 1.0

    add(x)
    x[0] = 9.0
    return x


@tries((X,), or_error=True)
def augmented_as_jax_does(x):
    """JAX can run this alone: there, `y += 1` makes a new array."""
    y = x
    y += 1.0
    return x, y


@tries((M,), or_error=True)
def augmented_rows(m):
    m[0, 0] = 9.0
    for row in m:
        row *= 2.0
    return m


@tries((X,), or_error=True)
def augmented_view(x):
    part = x[1:]
    part -= 1.0
    x[0] = 9.0
    return x


@tries((X, Y), or_error=True)
def augmented_items(x, y):
    d, parts = {"a": x}, [y]
    d["a"] += 1.0
    parts[0] *= 2.0
    x[0] = 9.0
    return d, parts, x, y


@tries((X,))
def augmented_slices(x):
    x[:] += 1.0
    x[1:] *= 2.0
    x[::2] -= x[1::2]
    return x


@tries((X, True), (X, False), or_error=True)
def store_in_both_branches(x, b):
    y = x
    if b:
        x[0] = 1.5
        x = x + 1
    else:
        y[1] = 2.5
    x[2] = 9.0
    return x, y


@tries((X, 5.0), (X, 1.0))
def store_in_while(x, limit):
    i = 0
    view = x[1:]
    while x.sum() < limit and i < 4:
        view[i % 3] += 1.0
        i += 1
    return x, view, i


@tries((X, 2), (X, 0), (X, 4))
def store_before_break(x, stop):
    for i in range(4):
        x[i] = 10.0 + i
        if i == stop:
            break
    else:
        x[:] = 0.0
    return x


@tries((X,))
def new_arrays(x):
    a, b, c = jnp.zeros(4), jnp.zeros_like(x), jnp.array(x)
    a[0], b[1], c[2] = 1.0, 2.0, 30.0
    d = jnp.concatenate([a, b])
    d[0] = 5.0
    e = jnp.where(x > 0, x, 0.0)
    e[0] = 6.0
    return a, b, c, d, e, x


@tries((X,))
def asarray_is_the_same_array(x):
    y = jnp.asarray(x)
    y[0] = 9.0
    return x


@tries((X,))
def operators_give_new_arrays(x):
    y = +x
    y[0] = 9.0
    z = x * 1.0
    z[1] = 8.0
    w = x.astype(float)
    w[2] = 7.0
    return x, y, z, w


@tries((M,))
def swapaxes_and_newaxis(m):
    t = jnp.swapaxes(m, 0, 1)
    t[0, 1] = 9.0
    wide = m[None, :, :]
    wide[0, 0, 0] = 8.0
    column = m[:, 0]
    column[1] += 100.0
    return m, t, wide


@tries((X,))
def squeeze_and_ellipsis(x):
    m = x[..., None]
    m[2, 0] = 9.0
    jnp.squeeze(m)[3] = 8.0
    x[...][0] = 7.0
    return x


@tries((X,))
def diagonal_of_a_store(x):
    m = jnp.zeros((4, 4))
    for i in range(4):
        m[i, i] = x[i]
        m[i, (i + 1) % 4] = -x[i]
    return m


@tries((X, Y))
def chained_assignment(x, y):
    a = b = x
    a[0] = b[1] = y[2]
    x[1:3], y[0] = y[:2], 3.0
    return a, b, y


@tries((X,))
def element_is_a_copy(x):
    e = x[0]
    x[0] = 9.0
    first, *rest = x
    x[1] = 8.0
    return e, first, rest, x


@tries((X,))
def iterating_while_storing(x):
    for i, e in enumerate(x):
        x[3 - i] = e * 2
    return x


@tries((X,))
def recursion(x):
    def fill(v, depth):
        v[0] = depth
        if depth > 1:
            fill(v[1:], depth - 1)

    fill(x, 4)
    return x


@tries((X, 3), (X, 0))
def accumulated_rows(x, n):
    table = jnp.zeros((4, 4))
    for i in range(n):
        row = table[i]
        row[:] = x
        row[i] = 0.0
        table[i + 1] += row
    return table


@tries((X,))
def same_array_returned_twice(x):
    y = x
    x[0] = 3.0
    return {"a": x, "b": [y, x[:1]]}


@tries((X, False), (X, True), ([1.0, 200.0, 3.0, 0.5], True), ([1.0, 200.0, 3.0, 0.5], False))
def store_after_nested_return(x, b):
    z = x[:]
    if x[1] > 100:
        if b:
            return x, z
    x[0] -= 1
    return x, z


@tries((X, False), (X, True), ([1.0, 200.0, 3.0, 0.5], True))
def store_before_one_of_three_returns(x, b):
    if x[1] > 100:
        pass
    elif b:
        x[0] -= 1
        return x, 1
    x[1] += 1
    return x, 2


@tries((X,), (Y,), ([-1.0, -2.0, -3.0, -4.0],))
def store_after_return_from_loop(x):
    z = x.copy()
    for p in x:
        if p > 3.5:
            return z
    z[0] -= 7.0
    return z


@tries((X, Y, True), (X, Y, False), or_error=True)
def store_or_rebind(x, y, b):
    z = x
    if b:
        x[1] = 9.0
    else:
        x = y
    x[0] += 1.0
    return x, y, z


@tries((X, Y, True), (X, Y, False), or_error=True)
def store_or_rebind_in_dict(x, y, b):
    d = {"a": x}
    if b:
        x[1:] = x[:-1]
    else:
        d["a"] = y
    return d, x


@tries((X, 12), (X, 1), or_error=True)
def alias_made_in_loop(x, n):
    y = x
    for _ in range(n):
        y = x
        z = x[1:]
    x[1] = 9.0
    return y, z


@tries((X,), or_error=True)
def containers_made_in_loop(x):
    for k in range(12):
        parts = [x, x[::-1]]
    x[1] = 9.0
    return parts


@tries(([0.5, 1.0, 2.0, 0.1, 0.7, 0.2, 0.4, 0.8, 0.9, 1.5, 1.2],))
def items_in_branches_of_long_loop(x):
    seen = {"large": 0.0, "small": 0.0}
    for e in x:
        if e > 0.6:
            seen["large"] += e**2
        else:
            seen["small"] += e
    return seen["large"] * seen["small"]


@tries(([float(at) for at in range(16)], 2))
def overlapping_stores_of_reshaped_arrays(v, i):
    """XLA computes these wrongly when they are slice updates."""
    m = (v + 1).reshape(4, 4)
    m.reshape(-1)[5] = 99.0
    m[1:] = m[:-1]
    other = (v * 2).reshape(4, 4) + 1
    other[2:4] = other[1:3] * 2
    row = m[i].copy()
    row[1:] = row[:-1]
    head = v.reshape(4, 4)
    tail = head[1:]
    tail[1:] = head[:2]
    return m, other, row, v


@tries((X, 2.0))
def fills_of_reversed_arrays(x, v):
    """XLA ends the process where an array is reversed that `at[:].set` has filled with a number."""
    z = x[::-1]
    z[:] = v
    z[1:][1] = 5.0
    y = x[::-1].copy()
    y[...] = v + 1
    return x, z, y[::-1]


@tries((M, True), (M, False))
def view_read_in_branch_of_branch(m, b):
    """Its value there is not its value behind the branches."""
    row = m[0]
    m[0, 1] = 7.0
    if b:
        m[1, 0] = 3.0
        if row[1] > 5.0:
            row[0] += 1.0
        row[2] -= row[1]
    return m, row * 2


@tries(([[1.0, 2.0], [3.0, 4.0]], 3), ([[1.0, 2.0], [3.0, 4.0]], 0), or_error=True)
def array_or_its_transpose(m, n):
    total = jnp.zeros(2)
    for row in m:
        if n > 1:
            m[0] -= 0.5
            m = m.T
        total = total + row
    return total, m


@tries((X, Y, 0, 2.0), (X, Y, 3, 2.0), (X, Y, 0, 0.0), or_error=True)
def stored_in_a_branch_that_takes_another_name(x, y, n, p):
    part = x[1:] if p > 1 else y[1:]
    if n < 1:
        part[0] = 77.0
        w = x
    else:
        w = y
    return w


@tries((X, Y, 2, 2.0), (X, Y, 0, 2.0), (X, Y, 2, 0.0), or_error=True)
def stored_in_a_loop_that_takes_another_name(x, y, n, p):
    part = x[1:] if p > 1 else y[1:]
    w = y
    for _ in range(n):
        part[0] = 77.0
        w = x
    return w


@tries((Y, True), (Y, False), or_error=True)
def returned_from_a_loop_before_a_store(y, b):
    z = y * 2
    if b:
        left = 2
        while left > 0:
            return z
        z[0] = 1.5
    return z
