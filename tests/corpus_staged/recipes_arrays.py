"""Recipes over arrays: linear algebra, sorting, searching, differential equations."""

import numpy as np

from tests.corpus_staged import calls


def _matrix(n, seed=0):
    return np.random.default_rng(seed).normal(size=(n, n)) + n * np.eye(n)


@calls("_matrix(4)", "np.array([[0.0, 1.0], [2.0, 3.0]])", "np.zeros((2, 2))", "np.zeros((0, 0))")
def lu(a):
    a = a.copy()
    n = a.shape[0]
    p = np.arange(n)
    for k in range(n - 1):
        pivot = k + np.argmax(np.abs(a[k:, k]))
        if a[pivot, k] == 0:
            raise ValueError("singular matrix")
        if pivot != k:
            a[[k, pivot]] = a[[pivot, k]]
            p[[k, pivot]] = p[[pivot, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.tril(a, -1) + np.eye(n), np.triu(a), p


@calls("np.array([[4.0, 2.0], [2.0, 3.0]])", "np.eye(3)", "np.array([[1.0, 2.0], [2.0, 1.0]])")
def cholesky(a):
    n = len(a)
    l = np.zeros_like(a)
    for i in range(n):
        for j in range(i + 1):
            s = a[i, j] - l[i, :j] @ l[j, :j]
            if i == j:
                if s <= 0:
                    raise np.linalg.LinAlgError("not positive definite")
                l[i, i] = np.sqrt(s)
            else:
                l[i, j] = s / l[j, j]
    return l


@calls("_matrix(3), np.arange(3.0), 50", "np.eye(2), np.ones(2), 1", "np.eye(2), np.ones(2), 0")
def gauss_seidel(a, b, sweeps):
    x = np.zeros_like(b)
    for sweep in range(sweeps):
        old = x.copy()
        for i in range(len(b)):
            x[i] = (b[i] - a[i, :i] @ x[:i] - a[i, i + 1 :] @ old[i + 1 :]) / a[i, i]
        if np.abs(x - old).max() < 1e-10:
            break
    return x


@calls("_matrix(3), np.arange(3.0)", "np.array([[1.0, 1.0], [1.0, 1.0]]), np.ones(2)")
def gauss_elimination(a, b):
    """Changes its arguments."""
    n = len(b)
    for i in range(n):
        for j in range(i + 1, n):
            factor = a[j, i] / a[i, i]
            a[j, i:] -= factor * a[i, i:]
            b[j] -= factor * b[i]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :].dot(x[i + 1 :])) / a[i, i]
    return x


@calls("np.array([[2.0, 1.0], [1.0, 3.0]]), 100", "np.eye(2), 3", "np.zeros((2, 2)), 5")
def power_iteration(a, limit):
    v = np.ones(len(a)) / np.sqrt(len(a))
    value = 0.0
    for i in range(limit):
        w = a @ v
        norm = np.linalg.norm(w)
        if norm == 0:
            return 0.0, v, i
        w /= norm
        new = w @ a @ w
        if abs(new - value) < 1e-12:
            break
        v, value = w, new
    return value, np.round(v, 6), i < limit - 1


@calls("np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])", "np.eye(3), np.zeros(3)")
def conjugate_gradients(a, b):
    x = np.zeros_like(b)
    r = b - a @ x
    p, rs = r.copy(), r @ r
    steps = 0
    while rs > 1e-20:
        ap = a @ p
        alpha = rs / (p @ ap)
        x += alpha * p
        r -= alpha * ap
        rs, old = r @ r, rs
        p = r + rs / old * p
        steps += 1
    return x, steps


@calls("_matrix(3)", "np.ones((3, 2))")
def gram_schmidt(a):
    basis = []
    for v in a.T:
        w = v - sum(np.dot(v, b) * b for b in basis)
        if np.linalg.norm(w) > 1e-10:
            basis.append(w / np.linalg.norm(w))
    return np.array(basis), len(basis)


@calls("np.array([5, 2, 9, 1])", "[3.5, -1, 2]", "[]")
def insertion_sort(x):
    for i in range(1, len(x)):
        key, j = x[i], i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


@calls("np.array([5, 2, 9, 1, 5])", "np.array([], dtype=int)", "[3, 1, 2]")
def heap_sort(x):
    def sift(i, n):
        while 2 * i + 1 < n:
            child = 2 * i + 1
            if child + 1 < n and x[child] < x[child + 1]:
                child += 1
            if x[i] >= x[child]:
                return
            x[i], x[child] = x[child], x[i]
            i = child

    n = len(x)
    for i in range(n // 2 - 1, -1, -1):
        sift(i, n)
    for end in range(n - 1, 0, -1):
        x[0], x[end] = x[end], x[0]
        sift(0, end)
    return x


@calls("[3, 6, 1, 8, 2]", "[]", "[1]", "[2.5, 2.5]")
def quick_sort(xs):
    if len(xs) <= 1:
        return xs
    pivot = xs[0]
    return quick_sort([x for x in xs[1:] if x < pivot]) + [pivot] + quick_sort([x for x in xs[1:] if x >= pivot])


@calls("np.array([3, 6, 1, 8, 2])", "np.array([1.0])")
def quick_sort_in_place(x):
    stack = [(0, len(x) - 1)]
    while stack:
        low, high = stack.pop()
        if low >= high:
            continue
        pivot, i = x[high], low
        for j in range(low, high):
            if x[j] < pivot:
                x[i], x[j] = x[j], x[i]
                i += 1
        x[i], x[high] = x[high], x[i]
        stack.append((low, i - 1))
        stack.append((i + 1, high))


@calls("[5, 2, 4, 7, 1]", "[]", "[1, 0.5]")
def merge_sort(xs):
    if len(xs) < 2:
        return list(xs)
    middle = len(xs) // 2
    left, right = merge_sort(xs[:middle]), merge_sort(xs[middle:])
    out, i, j = [], 0, 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            out.append(left[i])
            i += 1
        else:
            out.append(right[j])
            j += 1
    return out + left[i:] + right[j:]


@calls("np.array([1, 3, 5, 7]), 5", "np.array([1, 3]), 2", "[], 1", "[2.0], 2")
def binary_search(x, target):
    low, high = 0, len(x)
    while low < high:
        middle = (low + high) // 2
        if x[middle] == target:
            return middle
        if x[middle] < target:
            low = middle + 1
        else:
            high = middle
    return -1 - low


@calls("np.array([2, 0, 1, 2])", "np.array([0])")
def counting_sort(x):
    counts = np.zeros(x.max() + 1, dtype=int)
    for v in x:
        counts[v] += 1
    out = []
    for v, c in enumerate(counts):
        out.extend([v] * c)
    return np.array(out)


@calls("np.array([1.0, 0.0]), 0.1, 10", "np.array([1.0, -1.0]), 0.5, 0", "np.array([1, 0]), 0.1, 2")
def runge_kutta(y, h, steps):
    def f(t, y):
        return np.array([y[1], -y[0] * np.cos(t)])

    t = 0.0
    for _ in range(steps):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
    return t, y


@calls("1.0, 0.1, 5", "0, 1, 0", "np.array([1.0, 2.0]), 0.5, 2")
def euler(y, h, steps):
    trajectory = [y]
    for i in range(steps):
        y = y + h * (-2 * y + i * h)
        trajectory.append(y)
    return trajectory


@calls("np.array([1.0, 1.0, 1.0]), 0.01, 5", "np.zeros(3), 0.1, 2")
def lorenz(state, h, steps):
    def f(s):
        x, y, z = s
        return np.array([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    path = np.empty((steps, 3))
    for i in range(steps):
        state = state + h * f(state)
        path[i] = state
    return path


@calls("np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]), np.zeros((3, 2)), 3", "np.zeros((1, 2)), np.ones((1, 2)), 1")
def n_bodies(x, v, steps):
    n = len(x)
    for _ in range(steps):
        force = np.zeros_like(x)
        for i in range(n):
            for j in range(n):
                if i != j:
                    d = x[j] - x[i]
                    force[i] += d / (np.dot(d, d) + 0.1) ** 1.5
        v += 0.1 * force
        x += 0.1 * v
    return 0.5 * (v**2).sum()


@calls("np.zeros((4, 4)), 1.0, 10", "np.ones((3, 3)), 0.0, 0")
def heat(u, boundary, steps):
    u[0] = boundary
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        if np.max(np.abs(new - u)) < 1e-3:
            break
        u = new
    return u


@calls("np.array([[2.0, 1.0, 8.0], [1.0, 3.0, 9.0]]), np.array([3.0, 2.0])", "np.array([[1.0, 4.0]]), np.array([1.0])")
def simplex(table, costs):
    """Maximises, over two variables at most, with slack variables."""
    m, n = table.shape[0], table.shape[1] - 1
    t = np.zeros((m + 1, n + m + 1))
    t[:m, :n], t[:m, n : n + m], t[:m, -1] = table[:, :n], np.eye(m), table[:, -1]
    t[m, :n] = -costs
    for _ in range(20):
        column = np.argmin(t[m, :-1])
        if t[m, column] >= 0:
            return t[m, -1]
        ratios = [t[i, -1] / t[i, column] if t[i, column] > 0 else np.inf for i in range(m)]
        row = int(np.argmin(ratios))
        if ratios[row] == np.inf:
            raise ValueError("unbounded")
        t[row] /= t[row, column]
        for i in range(m + 1):
            if i != row:
                t[i] -= t[i, column] * t[row]


@calls("np.array([[1, 1], [1, 0]], dtype=object), 100", "np.eye(2), 0", "np.array([[1, 1], [1, 0]]), 10")
def matrix_power(a, n):
    result = np.eye(len(a), dtype=a.dtype)
    while n:
        if n % 2:
            result = result @ a
        a = a @ a
        n //= 2
    return result


@calls("np.array([3, -2, 5, -1])", "np.array([-3, -1])", "np.array([])")
def largest_sum_of_a_slice(x):
    best = current = start = 0
    place = (0, 0)
    for i, v in enumerate(x):
        current += v
        if current > best:
            best, place = current, (start, i + 1)
        if current < 0:
            current, start = 0, i + 1
    return best, x[place[0] : place[1]]


@calls("np.arange(9).reshape(3, 3)", "np.arange(4).reshape(1, 4)", "np.zeros((0, 0))")
def spiral(a):
    out = []
    while a.size > 0:
        out.extend(a[0])
        a = np.rot90(a[1:])
    return out


@calls("3", "4", "1")
def magic_square(n):
    if n % 2 == 0:
        raise ValueError("only odd sizes")
    a = np.zeros((n, n), dtype=int)
    i, j = 0, n // 2
    for k in range(1, n * n + 1):
        a[i, j] = k
        up, right = (i - 1) % n, (j + 1) % n
        if a[up, right]:
            i = (i + 1) % n
        else:
            i, j = up, right
    return a


@calls("np.array([[1.0, 2.0], [3.0, 5.0]])", "np.array([[0.0, 1.0], [1.0, 0.0]])", "np.eye(1)")
def determinant(a):
    if a.shape == (1, 1):
        return a[0, 0]
    total = 0.0
    for j in range(a.shape[1]):
        minor = np.delete(a[1:], j, axis=1)
        total += (-1) ** j * a[0, j] * determinant(minor)
    return total
