"""Models of mechanics, economics and decisions; linear algebra."""

import math

import numpy as np

from tests.corpus_staged import calls


@calls(
    "np.array([[1, 2], [3, 4]]), np.array([[0, 1], [1, 0]])",
    "np.ones((1, 2)), np.ones((2, 1))",
    "np.arange(2), np.arange(2)",
)
def products(a, b):
    return (
        a @ b,
        np.dot(a, b),
        np.inner(a, a),
        np.outer(a, b),
        np.kron(a, b),
        np.vdot(a, b),
        np.tensordot(a, b, axes=1),
        np.cross([1, 0, 0], [0, 1, 0]),
    )


@calls(
    "np.array([[2.0, 1], [1, 3]]), np.array([1.0, 2.0])",
    "np.array([[1, 0], [0, 1]]), np.array([1, 1])",
    "np.ones((2, 2)), np.ones(2)",
)
def linear(a, b):
    x = np.linalg.solve(a, b)
    w, v = np.linalg.eigh(a)
    q, r = np.linalg.qr(a)
    sign, logdet = np.linalg.slogdet(a)
    return (
        x,
        w,
        np.allclose(q @ r, a),
        sign,
        np.linalg.matrix_rank(a),
        np.linalg.cond(a) > 1,
        np.linalg.norm(a, 2),
        np.linalg.pinv(a).round(6),
    )


@calls("np.array([[1.0, 1], [1, 2], [1, 3]]), np.array([1.0, 2, 2])", "np.ones((2, 1)), np.array([1.0, 3.0])")
def least_squares(A, y):
    coef, residuals, rank, sv = np.linalg.lstsq(A, y, rcond=None)
    r = y - A @ coef
    r2 = 1 - (r @ r) / ((y - y.mean()) @ (y - y.mean()))
    return coef.round(8), rank, round(r2, 8)


@calls("np.arange(3.0), lambda v: v + 1, 3", "2, lambda v: v * v, 2", "np.ones(2), np.cumsum, 2")
def iterate(x, f, n):
    history = [x]
    for _ in range(n):
        x = f(x)
        history.append(x)
    return history[-1], len(history), history[0] is x


@calls("np.array([1.0, 2.0]), None", "np.array([1.0, 2.0]), np.array([3.0, 1.0])", "np.array([1.0]), [2]")
def weighted(x, w=None):
    if w is None:
        w = np.ones_like(x)
    w = np.asarray(w) / np.sum(w)
    return (x * w).sum(), w


@calls("1.0, 3", "2, 0", "np.float32(0.5), 4")
def taylor(x, n):
    term = total = 1
    for k in range(1, n + 1):
        term *= x / k
        total += term
    return total, math.exp(x) - total


@calls("4, 0.9, 1e-4", "2, 0.5, 0.1")
def value_iteration(n, gamma, tol):
    V = np.zeros(n)
    while True:
        delta = 0
        for s in range(n):
            v = V[s]
            left, right = max(s - 1, 0), min(s + 1, n - 1)
            V[s] = max((1 if left == 0 else 0) + gamma * V[left], (5 if right == n - 1 else 0) + gamma * V[right])
            delta = max(delta, abs(v - V[s]))
        if delta < tol:
            break
    return V


@calls("np.array([[1.0, 0.0, 0.0], [0, 1, 0], [0, 0, 1]]), np.array([1.0, 2, 3]), 0.5", "np.eye(3), np.zeros(3), 0")
def rotation(R, v, theta):
    c, s = np.cos(theta), np.sin(theta)
    K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    norm = np.linalg.norm(v)
    if norm:
        K = K / norm
    return R @ (np.eye(3) + s * K + (1 - c) * K @ K), np.array([[c, -s], [s, c]])


@calls("np.array([0.0, 0.0]), np.array([1.0, 0.5]), 3", "np.array([0, 0]), np.array([1, 1]), 1")
def verlet(x, v, n, dt=0.1, g=9.81):
    path = np.zeros((n + 1, 2))
    path[0] = x
    a = np.array([0, -g])
    for i in range(n):
        x = x + v * dt + 0.5 * a * dt**2
        v = v + a * dt
        if x[1] < 0:
            x[1] = 0
            v[1] *= -0.8
        path[i + 1] = x
    return path, v


@calls(
    "np.array([1.0, 2, 3]), np.array([[0.0, 0], [1, 0], [0, 1]]), np.zeros((3, 2)), 2",
    "np.array([1.0]), np.zeros((1, 2)), np.ones((1, 2)), 1",
)
def nbody(m, pos, vel, steps, dt=0.01, G=1.0):
    n = len(m)
    for _ in range(steps):
        acc = np.zeros_like(pos)
        for i in range(n):
            for j in range(n):
                if i == j:
                    continue
                d = pos[j] - pos[i]
                acc[i] += G * m[j] * d / (np.sum(d**2) + 0.01) ** 1.5
        vel += dt * acc
        pos += dt * vel
    e = 0.5 * np.sum(m * np.sum(vel**2, axis=1))
    return pos, e


@calls("100.0, 100.0, 1.0, 0.05, 0.2", "100, 90, 0.5, 0.0, 0.3", "np.array([90.0, 110.0]), 100, 1, 0.01, 0.2")
def black_scholes(S, K, T, r, sigma):
    def N(x):
        return 0.5 * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))

    d1 = (np.log(S / K) + (r + sigma**2 / 2) * T) / (sigma * np.sqrt(T))
    d2 = d1 - sigma * np.sqrt(T)
    return S * N(d1) - K * np.exp(-r * T) * N(d2)


@calls("100.0, 100.0, 3, 0.05, 0.2", "100, 120, 1, 0, 0.1")
def binomial_option(S, K, n, r, sigma):
    dt = 1 / n
    u = math.exp(sigma * math.sqrt(dt))
    d = 1 / u
    p = (math.exp(r * dt) - d) / (u - d)
    values = np.maximum(S * u ** np.arange(n, -1, -1) * d ** np.arange(0, n + 1) - K, 0)
    for i in range(n - 1, -1, -1):
        values = math.exp(-r * dt) * (p * values[:-1] + (1 - p) * values[1:])
    return values[0]


@calls("1000.0, 0.05, 3", "500, 0, 2", "1000, 0.01, np.int64(2)")
def amortise(p, rate, n):
    payment = p * rate / (1 - (1 + rate) ** -n) if rate else p / n
    balance, rows = p, []
    for k in range(1, n + 1):
        interest = balance * rate
        balance -= payment - interest
        rows.append((k, round(payment, 2), round(interest, 2), round(abs(balance), 2)))
        print(f"{k:>3} {payment:10.2f} {interest:8.2f} {abs(balance):10.2f}")
    return rows


@calls("np.array([[2.0, 1], [1, 3]]), np.array([18.0, 42]), np.array([3.0, 2])", "np.eye(2), np.ones(2), np.ones(2)")
def simplex_max(A, b, c):
    m, n = A.shape
    T = np.zeros((m + 1, n + m + 1))
    T[:m, :n], T[:m, n : n + m], T[:m, -1], T[-1, :n] = A, np.eye(m), b, -c
    while T[-1, :-1].min() < 0:
        j = T[-1, :-1].argmin()
        ratios = np.array([T[i, -1] / T[i, j] if T[i, j] > 0 else np.inf for i in range(m)])
        i = ratios.argmin()
        if ratios[i] == np.inf:
            return None
        T[i] /= T[i, j]
        for k in range(m + 1):
            if k != i:
                T[k] -= T[k, j] * T[i]
    return T[-1, -1]
