"""Recipes over NumPy arrays."""

import numpy as np

from tests.corpus import calls


def _matrix(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, n)) + n * np.eye(n)


@calls("_matrix(3)", "np.eye(2)", "np.zeros((2, 2))", "np.array([[0.0, 1.0], [1.0, 0.0]])")
def lu(a):
    n = len(a)
    a = a.copy()
    permutation = np.arange(n)
    for k in range(n):
        p = k + np.argmax(np.abs(a[k:, k]))
        if a[p, k] == 0:
            raise np.linalg.LinAlgError("singular")
        if p != k:
            a[[k, p]] = a[[p, k]]
            permutation[[k, p]] = permutation[[p, k]]
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1:] -= a[i, k] * a[k, k + 1:]
    return np.tril(a, -1) + np.eye(n), np.triu(a), permutation


@calls("_matrix(4), np.arange(4.0)", "np.eye(2), np.ones(2)", "_matrix(2), np.ones(3)")
def solve_in_place(a, b):
    n = len(b)
    for i in range(n):
        for j in range(i + 1, n):
            factor = a[j, i] / a[i, i]
            a[j] -= factor * a[i]
            b[j] -= factor * b[i]
    for i in reversed(range(n)):
        b[i] = (b[i] - a[i, i + 1:] @ b[i + 1:]) / a[i, i]
    return b


@calls("np.array([1.0, 0.0]), 0.1, 20", "np.array([0.5, 0.5]), 0.0, 3")
def runge_kutta(y, h, steps):
    def f(t, y):
        return np.array([y[1], -y[0] - 0.1 * y[1] + np.sin(t)])

    t, path = 0.0, [y]
    for _ in range(steps):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
        if np.any(np.abs(y) > 1e6):
            break
        path.append(y)
    return np.stack(path)


@calls("np.random.default_rng(1).normal(size=(20, 2)), 3", "np.zeros((4, 2)), 2")
def k_means(points, k):
    centres = points[:k].copy()
    for step in range(50):
        distances = ((points[:, None] - centres[None]) ** 2).sum(axis=2)
        labels = distances.argmin(axis=1)
        new = centres.copy()
        for j in range(k):
            members = points[labels == j]
            if len(members) > 0:
                new[j] = members.mean(axis=0)
        if np.allclose(new, centres):
            break
        centres = new
    return centres, labels, step


@calls("np.array([[0, 1, 0], [0, 1, 0], [0, 1, 0]]), 2", "np.zeros((2, 3), int), 1")
def game_of_life(grid, steps):
    rows, columns = grid.shape
    for _ in range(steps):
        new = np.zeros_like(grid)
        for r in range(rows):
            for c in range(columns):
                alive = 0
                for dr in (-1, 0, 1):
                    for dc in (-1, 0, 1):
                        if dr == 0 and dc == 0:
                            continue
                        if 0 <= r + dr < rows and 0 <= c + dc < columns:
                            alive += grid[r + dr, c + dc]
                if alive == 3 or (alive == 2 and grid[r, c]):
                    new[r, c] = 1
        grid = new
    return grid


@calls("np.array([[2.0, 1.0], [1.0, 3.0]])", "np.eye(2)", "np.zeros((2, 2))")
def power_iteration(a):
    v = np.ones(len(a))
    value = 0.0
    for i in range(1000):
        w = a @ v
        norm = np.linalg.norm(w)
        if norm == 0:
            return 0.0, v
        v = w / norm
        previous, value = value, v @ a @ v
        if abs(value - previous) < 1e-10:
            break
    else:
        raise RuntimeError("did not converge")
    return value, v, i


@calls("4, 3, 20", "1, 1, 5")
def mandelbrot(width, height, limit):
    counts = np.zeros((height, width), dtype=np.int32)
    for row, y in enumerate(np.linspace(-1, 1, height)):
        for column, x in enumerate(np.linspace(-2, 0.5, width)):
            z, c = 0j, complex(x, y)
            for i in range(limit):
                if abs(z) > 2:
                    break
                z = z * z + c
            counts[row, column] = i
    return counts


@calls("np.array([[0, 3, np.inf], [np.inf, 0, 1], [2, np.inf, 0]])", "np.zeros((1, 1))")
def floyd_warshall(d):
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                through = d[i, k] + d[k, j]
                if through < d[i, j]:
                    d[i, j] = through
    return d


@calls("np.arange(8.0)", "np.ones(1)", "np.arange(3.0)", "[1, 2j]")
def fft(x):
    n = len(x)
    if n == 1:
        return np.asarray(x, dtype=complex)
    if n % 2:
        raise ValueError("length must be a power of two")
    even, odd = fft(x[::2]), fft(x[1::2])
    twiddle = np.exp(-2j * np.pi * np.arange(n // 2) / n)
    return np.concatenate([even + twiddle * odd, even - twiddle * odd])


@calls("np.array([[0, 1, 1], [0, 0, 1], [1, 0, 0]])", "np.array([[0, 1], [0, 0]])")
def page_rank(links):
    n = len(links)
    rank = np.full(n, 1 / n)
    rounds = 0
    while True:
        new = np.full(n, 0.15 / n)
        for i in range(n):
            out = links[i].sum()
            if out == 0:
                new += 0.85 * rank[i] / n
                continue
            for j in range(n):
                if links[i, j]:
                    new[j] += 0.85 * rank[i] / out
        rounds += 1
        if np.abs(new - rank).max() < 1e-8:
            return new, rounds
        rank = new


@calls("np.array([1.0, 2.0, 3.0]), np.array([3.0, 5.0, 7.0])", "np.zeros(2), np.zeros(2)")
def gradient_descent(x, y):
    w = b = 0.0
    history = []
    for step in range(300):
        error = w * x + b - y
        loss = np.mean(error**2)
        if step % 100 == 0:
            history.append(loss)
        if loss < 1e-6:
            break
        w -= 0.1 * 2 * np.mean(error * x)
        b -= 0.1 * 2 * np.mean(error)
    return w, b, step, history


@calls("np.array([1, 2, 3]), np.array([0, 1, 0.5])", "np.ones(1), np.ones(2)")
def convolve(a, b):
    out = np.zeros(len(a) + len(b) - 1)
    for i in range(len(a)):
        for j in range(len(b)):
            out[i + j] += a[i] * b[j]
    return out


@calls("np.arange(6.0).reshape(2, 3), np.ones((3, 2))", "np.ones((2, 2)), np.ones((3, 2))")
def matmul(a, b):
    assert a.shape[1] == b.shape[0], f"shapes {a.shape} and {b.shape}"
    out = np.empty((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            out[i, j] = s
    return out


@calls("_matrix(3)", "np.array([[4.0, 2.0], [2.0, 3.0]])", "-np.eye(2)")
def cholesky(a):
    a = (a + a.T) / 2
    low = np.zeros_like(a)
    for i in range(len(a)):
        for j in range(i + 1):
            s = a[i, j] - low[i, :j] @ low[j, :j]
            if i == j:
                if s <= 0:
                    raise ValueError("not positive definite")
                low[i, j] = np.sqrt(s)
            else:
                low[i, j] = s / low[j, j]
    return low


@calls("np.array([3, 1, 2])", "np.array([])", "np.array([1.5, -2.0, 1.5])")
def bubble_sort(a):
    for end in range(len(a) - 1, 0, -1):
        swapped = False
        for i in range(end):
            if a[i] > a[i + 1]:
                a[i], a[i + 1] = a[i + 1], a[i]
                swapped = True
        if not swapped:
            break
    return a


@calls("np.array([1.0, 2.0, 4.0, 8.0]), 3", "np.ones(5), 2", "np.ones(2), 5")
def moving_average(x, width):
    out = []
    total = 0.0
    for i in range(len(x)):
        total += x[i]
        if i >= width:
            total -= x[i - width]
        if i >= width - 1:
            out.append(total / width)
    return np.array(out)


@calls("10, 3", "0, 3")
def random_walk(n, seed):
    rng = np.random.default_rng(seed)
    position = np.zeros(2, dtype=int)
    visited = {(0, 0): 1}
    for _ in range(n):
        axis = rng.integers(2)
        position[axis] += 1 if rng.random() < 0.5 else -1
        key = tuple(position.tolist())
        visited[key] = visited.get(key, 0) + 1
    return position, visited


@calls("np.linspace(0, 1, 8), 5", "np.zeros(3), 0")
def heat_equation(u, steps):
    for _ in range(steps):
        new = u.copy()
        for i in range(1, len(u) - 1):
            new[i] = u[i] + 0.25 * (u[i - 1] - 2 * u[i] + u[i + 1])
        if np.array_equal(new, u):
            break
        u[:] = new
    return u


@calls("np.arange(5.0), 2.0", "np.arange(3), 0")
def horner(coefficients, x):
    result = 0
    for c in coefficients[::-1]:
        result = result * x + c
    return result, type(result).__name__


@calls("np.array([1, 5, 2, 8, 3]), 2", "np.array([1]), 5")
def top_k(a, k):
    best = []
    for x in a:
        if len(best) < k:
            best.append(x)
        elif x > min(best):
            best[best.index(min(best))] = x
    return sorted(best, reverse=True)


@calls("np.array([[1, 2], [3, 4]])", "np.zeros((0, 3))", "np.arange(6).reshape(1, 2, 3)")
def spiral(m):
    out = []
    while m.size and m.ndim == 2:
        out.extend(m[0].tolist())
        m = np.rot90(m[1:])
    return out, m.shape


@calls("np.array([0.2, 0.9, 0.4]), np.array([1, 0, 1])", "np.array([]), np.array([])")
def confusion(scores, labels):
    table = np.zeros((2, 2), dtype=np.int64)
    for s, t in zip(scores, labels):
        table[int(t), int(s > 0.5)] += 1
    total = table.sum()
    if total == 0:
        return table, None
    return table, (table[0, 0] + table[1, 1]) / total


@calls("[np.ones(2), np.zeros(3)]", "[]", "[np.arange(2), 5]")
def over_list_of_arrays(arrays):
    total = 0.0
    for a in arrays:
        for x in np.atleast_1d(a):
            total += x
        a += 1
    return total, type(total).__name__


@calls("np.arange(10.0)", "np.array([3.0])")
def boolean_masks(x):
    low = x < x.mean()
    if low.any():
        x[low] = 0
        x[~low] *= 2
    y = np.where(x > 10, -x, x)
    while y.sum() > 10:
        y = y / 2
    return x, y, low, int(low.sum())
