"""Reading and writing elements, slices, masks and fancy indices; in-place operations."""

import numpy as np

from tests.corpus_staged import calls


@calls("np.zeros(3), 1, 5.0", "np.zeros(3), -1, 2", "np.zeros(3), 3, 1", "np.zeros(3, int), 0, 2.7")
def write_element(x, i, value):
    x[i] = value
    return x[i]


@calls("np.arange(6.0)", "np.arange(3)", "np.zeros(0)")
def slices(x):
    return x[1:], x[:-1], x[::2], x[::-1], x[1:4:2], x[-2:], x[10:], x[:]


@calls("np.arange(5), 1, 4", "np.arange(5), 4, 1", "np.arange(5), -3, 99", "np.arange(5), 0, 0")
def slices_of_variables(x, i, j):
    return x[i:j], x[:i], x[j:], x[i:j:2].shape, len(x[i:j])


@calls("np.arange(12).reshape(3, 4)", "np.arange(4).reshape(1, 4)")
def two_dimensions(a):
    return a[0], a[:, 1], a[0, 1], a[..., -1], a[0][1], a[:, None, 0], a[:, ::-1], a[-1:, 1:3], a[:1, [0, 2]]


@calls("np.arange(12.0).reshape(3, 4), 2", "np.ones((2, 2)), 0", "np.ones((2, 2)), 2")
def write_rows_and_columns(a, k):
    a[k] = -1
    a[:, k - 1] += 10
    a[0, 0] *= 5
    a[1:, 1:] = 0
    a[-1, ...] = k
    return a


@calls("np.arange(5.0)", "np.arange(5)", "np.zeros(0)")
def in_place_on_slices(x):
    x[1:3] += 10
    x[::2] *= 3
    x[:2] -= x[-2:]
    x[3:] **= 2
    x[4:] = 7
    return x


@calls("np.arange(6)", "np.array([5, 5])", "np.array([], dtype=int)")
def masks(x):
    even = x % 2 == 0
    y = x[even]
    x[~even] = -1
    x[x > 3] += 100
    return y, even.sum(), x[(x > 0) & even]


@calls("np.array([[1.0, -2.0], [-3.0, 4.0]])", "np.zeros((0, 2))")
def masks_of_matrices(a):
    negative = a < 0
    a[negative] *= -1
    a[a.sum(axis=1) > 5] = 0
    return a[negative], a[:, a.any(axis=0)], np.argwhere(negative)


@calls("np.arange(5.0) * 10, np.array([3, 0, 3])", "np.arange(3.0), np.array([], dtype=int)", "np.arange(3), [2, 5]")
def integer_arrays(x, indices):
    taken = x[indices]
    x[indices] = -1
    x[indices] += 5
    return taken, x


@calls("np.zeros(4), np.array([1, 1, 3, 1])", "np.zeros(2), np.array([0])")
def repeated_indices(x, indices):
    x[indices] += 1
    y = x.copy()
    np.add.at(y, indices, 1)
    return x, y, np.bincount(indices, minlength=5)


@calls("np.arange(12).reshape(3, 4), [0, 2], [1, 3]", "np.eye(3), np.array([0, 1, 2]), np.array([2, 1, 0])")
def paired_indices(a, rows, columns):
    picked = a[rows, columns]
    grid = a[np.ix_(rows, columns)]
    a[rows, columns] = 99
    return picked, grid, a[rows], a[:, columns]


@calls("np.arange(4.0)", "np.array([2.0, 1.0])")
def shifted_slices(x):
    """The two sides overlap."""
    x[1:] = x[:-1]
    x[:-1] += x[1:]
    x[::-1] = x
    return x


@calls("np.array([3, 1, 2])", "np.array([1])", "np.array([])")
def swap_elements(x):
    x[0], x[-1] = x[-1], x[0]
    x[[0, -1]] = x[[-1, 0]]
    return x


@calls("np.eye(3), 0, 2", "np.eye(3), 1, 1", "np.eye(2), 0, 2")
def swap_rows(a, i, j):
    a[[i, j]] = a[[j, i]]
    a[:, [i, j]] = a[:, [j, i]]
    b = a.copy()
    b[i], b[j] = b[j].copy(), b[i].copy()
    return b


@calls("np.zeros((3, 3)), 2", "np.zeros((3, 3)), 0")
def write_in_a_loop(a, n):
    for i in range(n):
        for j in range(3):
            a[i, j] = i * 3 + j
            if j > i:
                a[j, i] += 1
    return a


@calls("np.arange(5.0), 3", "np.arange(5.0), 0", "np.arange(2.0), 3")
def write_in_a_while(x, k):
    i = 0
    while x[i] < k:
        x[i] = x[i] ** 2 + 1
        i += 1
    return i


@calls("np.arange(4.0), 2", "np.arange(4.0), -2")
def write_in_a_branch(x, k):
    if k > 0:
        x[0] = k
        y = x[1:]
    else:
        x[-1] = k
        y = x[:1]
    y += 100
    return y


@calls("np.arange(6.0).reshape(2, 3)", "np.zeros((1, 2))")
def in_place_operators(a):
    a += 1
    a -= 0.5
    a *= a
    a /= 2
    a //= 0.25
    a %= 7
    a **= 2
    b = a
    a = a @ a.T
    return a, b


@calls("np.array([6, 5]), np.array([3, 1])", "np.array([True, False]), np.array([True, True])")
def in_place_bits(x, y):
    x |= y
    x &= ~y
    x ^= y
    return x


@calls("np.array([6, 5], np.uint8)")
def in_place_shifts(x):
    x <<= 2
    x >>= 1
    return x


@calls("np.arange(4.0), np.zeros(4)", "np.arange(2.0), np.zeros(3)")
def out_arguments(x, out):
    np.add(x, 1, out=out)
    np.multiply(out, out, out)
    result = np.exp(-x, out=x, where=x > 1)
    return result is x, out


@calls("np.array([3.0, 1.0, 2.0])", "np.array([])")
def methods_that_change(x):
    y = x.copy()
    y.sort()
    x.fill(7)
    x[:1].fill(0)
    np.copyto(x[1:], 5)
    return y


@calls("np.zeros((3, 3)), 4", "np.zeros((2, 3)), -1")
def functions_that_change(a, value):
    np.fill_diagonal(a, value)
    np.put(a, [1, -1], [10, 20])
    np.place(a, a == 0, [7])
    a.flat[3] = 8
    return a.flat[4], a.flat[:3]


@calls("np.arange(6)", "np.array([1, 2])")
def delete_insert_append(x):
    return np.delete(x, 1), np.insert(x, 1, 99), np.append(x, [7, 8]), np.resize(x, 4), np.roll(x, 2), np.flip(x)


@calls("np.arange(24).reshape(2, 3, 4)", "np.ones((1, 1, 1))")
def three_dimensions(a):
    a[0, ..., 0] = -1
    a[:, 0, :] += 100
    a[..., -1:] *= 2
    return a[0], a[:, 0], a[..., 0], a[0, :, 0], a[-1, -1, -1], a[None].shape, a[:, :, np.newaxis].shape


@calls("np.arange(5), 2", "np.arange(5), np.int64(-1)", "np.arange(5), np.array(1)", "np.arange(5), True")
def kinds_of_indices(x, i):
    return x[i], x[i, ...], x[[i]], x[np.array([i, i])]


@calls("np.array([1.0, 2.0, 3.0]), 1.5", "np.array([1, 2, 3]), 2")
def choose_and_clip(x, limit):
    x[np.where(x > limit)] = 0
    np.clip(x, 0, limit, out=x)
    x[x.argmax()] = 50
    return x, np.where(x > 1, x, -x), np.select([x < 1, x > 10], [x - 1, x + 1], 0)


@calls("np.zeros(5), slice(1, 3), 2", "np.zeros(5), slice(None, None, 2), 1", "np.zeros(5), (slice(0, 2),), 1")
def slice_objects(x, part, value):
    x[part] = value
    x[part] += 1
    return x[part]


@calls("np.zeros((2, 2)), np.array([1.0, 2.0])", "np.zeros((2, 3)), np.array([1.0, 2.0])", "np.zeros((2, 2)), 3")
def broadcast_on_writing(a, row):
    a[:] = row
    a[0] += row
    a[:, 0] = row
    return a


@calls("np.arange(3)", "np.arange(3.0)")
def value_is_cast_on_writing(x):
    x[0] = 2.9
    x[1:] = [True, -1.5]
    return x


@calls("np.arange(10), 3", "np.arange(10), 0", "np.arange(0), 1")
def window(x, width):
    out = []
    for i in range(len(x) - width + 1):
        part = x[i : i + width]
        if part.sum() % 2 == 0:
            out.append(part)
    return out


@calls("np.arange(9).reshape(3, 3)", "np.zeros((2, 2), int)")
def diagonal_and_triangles(a):
    return np.diag(a), np.diag(np.diag(a)), np.tril(a), np.triu(a, 1), a.diagonal(1), np.trace(a), a[np.triu_indices(2)]
