"""Views and aliases: who sees a change."""

import numpy as np

from tests.corpus_staged import calls


@calls("np.arange(6.0).reshape(2, 3), 1", "np.arange(6.0).reshape(2, 3), -2", "np.zeros((1, 3)), 1")
def row_is_a_view(a, i):
    row = a[i]
    row[...] = 7
    row[0] += 1
    row += 100
    return row, a


@calls("np.arange(6.0).reshape(2, 3)", "np.zeros((0, 2))")
def rows_changed_in_a_loop(a):
    for row in a:
        row *= 2
        row[0] = -1
    return a


@calls("np.arange(4)", "np.zeros((2, 2), int)")
def assignment_is_no_copy(x):
    y = x
    z = x.copy()
    y[0] = 99
    y += 1
    y = y + 1
    y[0] = 0
    return x, y, z


@calls("np.arange(6).reshape(2, 3)", "np.zeros((2, 2), int)")
def views_of_all_kinds(a):
    t = a.T
    t[0, 1] = 10
    flat = a.reshape(-1)
    flat[0] = 20
    r = a.ravel()
    r[1] = 30
    f = a.flatten()
    f[2] = 40
    turned = a[::-1]
    turned[0] -= 1
    return a, t, flat, r, f, turned


@calls("np.arange(10)", "np.arange(4)")
def slices_of_slices(x):
    y = x[2:]
    z = y[::2]
    z[0] = 100
    z[1:] += 5
    w = z[:]
    w[-1] = -7
    return x, y, z


@calls("np.arange(3.0)", "np.zeros(1)")
def same_array_twice(x):
    def add_to(a, b):
        a += b
        b *= 2
        return a, b

    first, second = add_to(x, x)
    return first is second, first


def _pair(x):
    return [x, x]


@calls("np.arange(3), np.arange(3)", "*[np.arange(3.0)] * 2", "*_pair(np.ones(2))")
def arguments_may_be_the_same(x, y):
    x[0] = 10
    y += 1
    return x, y, x is y


@calls(
    "*(lambda b: (b[:-1], b[1:]))(np.arange(5.0))", "np.zeros(2), np.ones(2)", "*(lambda b: (b, b[::-1]))(np.arange(3))"
)
def arguments_may_overlap(x, y):
    x += 1
    y *= 2
    x[:] = y
    return x.sum(), y.sum()


@calls("[np.zeros(2), np.ones(2)]", "[np.zeros(1)] * 2", "[]")
def arrays_in_a_list(xs):
    for i, x in enumerate(xs):
        x += i + 1
    return xs


@calls("3", "1")
def same_array_in_a_list(n):
    xs = [np.zeros(2)] * n
    xs[0][0] = 5
    ys = [np.zeros(2) for _ in range(n)]
    ys[0][0] = 5
    return xs, ys


@calls("np.zeros(2), np.ones(2), 1", "np.zeros(2), np.ones(2), -1")
def conditional_alias(x, y, n):
    z = x if n > 0 else y
    z[0] = 5
    z += n
    return z is x, z is y


@calls("np.zeros(2), 1", "np.zeros(2), -1")
def alias_bound_in_a_branch(x, n):
    if n > 0:
        y = x
    else:
        y = x.copy()
    y[0] = n
    x[1] = 10
    return x, y


@calls("np.zeros(3), 3", "np.zeros(3), 0", "np.zeros(3), 1")
def alias_carried_by_a_loop(x, n):
    y = np.ones(3)
    for i in range(n):
        x, y = y, x
        x[i] += 1
    return x, y


@calls("np.arange(3.0), 2", "np.arange(3.0), 0")
def rebinding_or_changing(x, n):
    """`x = x + 1` makes a new array, `x += 1` changes the caller's."""
    for i in range(n):
        if i == 0:
            x += 1
        else:
            x = x + 1
    x[0] = -5
    return x


def _rebind(x):
    x = x * 2
    x[0] = 50
    return x


def _change(x):
    x *= 2
    x[0] = 50


@calls("np.arange(3)", "np.zeros(1)")
def called_functions_change_or_not(x):
    y = _rebind(x)
    _change(x)
    return x, y


@calls("np.zeros((2, 2))", "np.ones((3, 1))")
def nested_views_in_called_functions(a):
    def bump(row):
        row[-1:] += 1
        return row[-1]

    total = 0
    for i in range(len(a)):
        total += bump(a[i])
    return total, a


class Grid:
    def __init__(self, n):
        self.cells = np.zeros((n, n))
        self.first = self.cells[0]

    def paint(self, i, value):
        self.cells[i] += value
        return self.first.sum()


@calls("Grid(2), 3", "Grid(1), 0")
def views_in_attributes(grid, value):
    before = grid.paint(0, value)
    grid.first[0] = 9
    cells = grid.cells
    cells[-1] *= 2
    return before, grid.first is grid.cells[0]


@calls("{'x': np.zeros(2)}", "{'x': np.arange(3.0), 'y': None}")
def arrays_in_a_dict(d):
    x = d["x"]
    x[0] = 1
    d["x"][1] = 2
    d["y"] = d["x"]
    d["y"] += 10
    d["z"] = x + 0
    d["z"][0] = -1
    return d["y"] is x


@calls("np.arange(4.0)", "np.zeros(2)")
def copies(x):
    a, b, c = np.array(x), np.asarray(x), x[:]
    d, e = x[[0, 1]], x[x >= 0]
    a[0], b[1] = 10, 20
    d[0] = e[0] = -9
    c += 1
    return x, a, b, c, d, e


@calls("np.arange(4.0)", "np.array([2.0, 1.0])")
def value_read_before_a_change(x):
    first = x[0]
    head = x[:1]
    total = x.sum()
    x[0] = 100
    return first, head, total, x.sum()


@calls("np.arange(4.0)", "np.zeros(0)")
def returned_twice(x):
    y = x * 2
    return y, [y, y], {"y": y}, x


@calls("[1, 2, 3]", "[]")
def lists_as_arrays(xs):
    x = np.array(xs, dtype=float)
    x += 1
    return xs, x


@calls("np.array([1 + 2j, 3])")
def parts_of_complex_arrays(z):
    z.real = 7
    z.imag[0] = -1
    z.real += 1
    return z


@calls("np.arange(6)", "np.arange(4)")
def shape_assigned(x):
    x.shape = (2, -1)
    y = x.reshape(-1)
    y[0] = 5
    return x.shape, x


@calls("np.arange(6).reshape(2, 3)", "np.ones((2, 2))")
def swapaxes_and_friends(a):
    a.swapaxes(0, 1)[0] = 9
    np.transpose(a)[1, 0] = 8
    np.moveaxis(a, 0, 1)[-1] += 1
    a[None][0, 0, 0] = 5
    np.squeeze(a[:, :, None])[0, 1] = 4
    np.atleast_2d(a)[1, 1] *= 3
    return a


@calls("np.arange(6.0)", "np.arange(2.0)")
def split_parts(x):
    left, right = np.split(x, 2)
    left += right
    right[0] = -1
    a, b = x[:1], x[1:2]
    a[0], b[0] = b[0], a[0]
    return x


@calls("np.zeros(3)", "np.zeros(1)")
def broadcast_views(x):
    rows = np.broadcast_to(x, (2, len(x)))
    x[0] = 5
    try:
        rows[0] = 1
    except ValueError as e:
        return rows.copy(), str(e)


@calls("2, 3", "0, 2")
def scalars_are_no_views(a, n):
    x = np.arange(4)
    s = x[1]
    s += 10
    total = a
    a += n
    b = x.sum()
    b += 1
    return x, s, total, a, b


@calls("np.zeros(4), 2", "np.zeros(4), 0")
def window_moves(x, n):
    view = x[:2]
    for i in range(n):
        view += 1
        view = x[i : i + 2]
    view[:] = 9
    return x


@calls("np.arange(4.0), np.zeros(2)", "np.arange(2.0), np.zeros(0)")
def default_and_stored(x, y):
    store = [x[:2], y]
    store[0][0] = 7
    store.append(store[0])
    store[2] += 1
    x = None
    return store


@calls("2, 0", "2.5, 0", "np.ones(2), 0", "np.ones(2), 1", "1000, 2", "np.float64(2), 0")
def still_the_same(x, n):
    y = x
    for _ in range(n):
        y = y * 2
    return y is x, y


@calls("*(a := 1000.5, a)", "1000.5, 1000.5 + n", "*(a := np.ones(2), a)", "np.ones(2), np.ones(2)", "3, 3")
def given_twice(x, y):
    return x is y


n = 0
