"""Solvers: of equations, linear systems, differential equations, optimisation problems."""

import math  # noqa: F401
from dataclasses import dataclass
from functools import reduce

import numpy as np

from tests.corpus_staged import calls


@calls("np.array([[2.0, 1], [1, 3]]), 1e-10", "np.diag([1.0, 5.0, 3.0]), 1e-6", "np.array([[1, 0], [0, 1]]), 1e-3")
def qr_eigenvalues(a, tol):
    a = a.astype(float)
    for iteration in range(200):
        q, r = np.linalg.qr(a)
        a = r @ q
        off = np.abs(np.tril(a, -1)).sum()
        if off < tol:
            break
    else:
        print("not converged")
    return np.round(np.sort(np.diag(a)), 6), iteration < 199


@calls("np.array([[4.0, 1], [2, 3]]), np.array([1.0, 2.0])", "np.eye(2), np.ones(2)", "np.zeros((2, 2)), np.ones(2)")
def jacobi(a, b, iterations=50, tol=1e-9):
    d = np.diag(a)
    if np.any(d == 0):
        raise ZeroDivisionError("zero on the diagonal")
    r = a - np.diagflat(d)
    x = np.zeros_like(b)
    for k in range(iterations):
        x_new = (b - r @ x) / d
        if np.linalg.norm(x_new - x, ord=np.inf) < tol:
            return x_new, k
        x = x_new
    return x, iterations


@calls("np.array([[1.0, 2], [3, 4]])", "np.array([[2]])", "np.ones((2, 3))", "np.zeros((2, 2))")
def inverse_by_elimination(m):
    n = m.shape[0]
    if m.shape != (n, n):
        raise ValueError(f"matrix of shape {m.shape} is not square")
    aug = np.hstack([m.astype(np.float64), np.eye(n)])
    for col in range(n):
        pivot = np.argmax(np.abs(aug[col:, col])) + col
        if aug[pivot, col] == 0:
            raise np.linalg.LinAlgError("singular")
        if pivot != col:
            aug[[col, pivot]] = aug[[pivot, col]]
        aug[col] /= aug[col, col]
        for row in range(n):
            if row != col:
                aug[row] -= aug[row, col] * aug[col]
    return aug[:, n:]


@calls("np.zeros((4, 4)), 1e-3", "np.ones((3, 5)), 1e-2", "np.zeros((3, 3), int), 0.1")
def laplace(u, tol):
    u = u.copy()
    u[0, :] = 1
    error, count = np.inf, 0
    while error > tol:
        old = u.copy()
        u[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        error = np.max(np.abs(u - old))
        count += 1
        if count > 500:
            break
    return u, count


@calls(
    "lambda t, y: -y, 1.0, 0.1, 10",
    "lambda t, y: np.array([y[1], -y[0]]), np.array([1.0, 0.0]), 0.05, 5",
    "lambda t, y: t, 0, 1, 3",
)
def rk4(f, y, h, n):
    t = 0.0
    ys = [y]
    for i in range(n):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        t += h
        ys.append(y)
    return np.array(ys)


@calls("lambda y: y * (1 - y), 0.1, 1.0, 1e-4", "lambda y: -5 * y, 1.0, 0.5, 1e-3")
def adaptive_euler(f, y, t_end, tol):
    t, h = 0.0, 0.1
    steps = rejected = 0
    while t < t_end:
        if t + h > t_end:
            h = t_end - t
        big = y + h * f(y)
        half = y + h / 2 * f(y)
        small = half + h / 2 * f(half)
        err = abs(small - big)
        if err < tol:
            t += h
            y = small
            steps += 1
            h *= 1.5
        else:
            rejected += 1
            h /= 2
    return round(y, 10), steps, rejected


@calls("2.0", "9", "np.float64(2)")
def newton(a):
    x = a
    while abs(x * x - a) > 1e-9:
        x = (x + a / x) / 2
    return x


@calls("np.array([1.0, 2.0, 3.0]), 1e-8", "np.array([0.0, 0.0]), 0.1")
def power_normalise(x, eps):
    prev = None
    count = 0
    while prev is None or np.abs(x - prev).max() > eps:
        prev = x
        n = np.sqrt((x * x).sum())
        x = x / n if n > 0 else x
        count += 1
    return x, count


@dataclass
class Particle:
    pos: np.ndarray
    vel: np.ndarray
    mass: float = 1.0

    def step(self, dt, force):
        self.vel += dt * force / self.mass
        self.pos += dt * self.vel


@calls("Particle(np.zeros(2), np.ones(2)), 3, 0.1", "Particle(np.array([1.0]), np.array([0.0]), 2), 1, 1")
def simulate(p, n, dt):
    for _ in range(n):
        p.step(dt, -p.pos)
    return p.pos, 0.5 * p.mass * (p.vel**2).sum()


@calls("np.eye(3)", "np.array([[0.9, 0.1], [0.5, 0.5]])")
def stationary(P):
    pi = np.full(len(P), 1 / len(P))
    for _ in range(1000):
        new = pi @ P
        if np.allclose(new, pi, atol=1e-12):
            break
        pi = new
    return np.round(pi, 6)


@calls("np.array([[1, 1], [1, 0]]), 10", "np.array([[2]]), 0", "np.eye(2), 3")
def matpow(m, n):
    result = np.eye(len(m), dtype=m.dtype)
    while n:
        if n & 1:
            result = result @ m
        m = m @ m
        n >>= 1
    return result


@calls("np.array([[1, 2, 3], [4, 5, 6], [7, 8, 10]])", "np.array([[2.0]])")
def det_recursive(m):
    if m.shape == (1, 1):
        return m[0, 0]
    total = 0
    for j in range(m.shape[1]):
        minor = np.delete(np.delete(m, 0, axis=0), j, axis=1)
        total += (-1) ** j * m[0, j] * det_recursive(minor)
    return total


@calls("np.array([2.0, 3.0]), 5", "np.array([1]), 0")
def horner(c, x):
    return reduce(lambda acc, a: acc * x + a, c[::-1], 0)


@calls("np.linspace(0, 1, 5), np.array([1.0, 2, 0, 1, 3])", "np.array([0.0, 1.0]), np.array([1, 1])")
def trapezoid(x, y):
    total = 0.0
    for (x0, x1), (y0, y1) in zip(zip(x, x[1:]), zip(y, y[1:])):
        total += (x1 - x0) * (y0 + y1) / 2
    return total, np.trapezoid(y, x)


@calls(
    "np.array([0.0, 1, 2]), np.array([1.0, 3, 2]), 0.5",
    "np.array([0.0, 1]), np.array([1, 2]), np.array([0.25, 0.75])",
    "np.array([0.0, 1]), np.array([1, 2]), 7",
)
def lagrange(xs, ys, x):
    total = 0
    for i in range(len(xs)):
        term = ys[i]
        for j in range(len(xs)):
            if i != j:
                term = term * (x - xs[j]) / (xs[i] - xs[j])
        total += term
    return total


@calls("np.array([4.0, 4, 4]), np.array([1.0, 1]), np.array([1.0, 1]), np.array([5.0, 5, 5])")
def thomas(b, a, c, d):
    n = len(d)
    cp, dp = np.zeros(n), np.zeros(n)
    cp[0], dp[0] = c[0] / b[0], d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i - 1] * cp[i - 1]
        if i < n - 1:
            cp[i] = c[i] / m
        dp[i] = (d[i] - a[i - 1] * dp[i - 1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in reversed(range(n - 1)):
        x[i] = dp[i] - cp[i] * x[i + 1]
    return x


@calls("0.5, 1.0, 20", "2, 1, 5")
def wave(c, length, n):
    dx = length / n
    dt = 0.5 * dx / c
    x = np.linspace(0, length, n + 1)
    u_prev = np.sin(np.pi * x)
    u = u_prev.copy()
    r2 = (c * dt / dx) ** 2
    for step in range(10):
        u_next = np.zeros_like(u)
        u_next[1:-1] = 2 * u[1:-1] - u_prev[1:-1] + r2 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u_prev, u = u, u_next
    return u


@calls("np.array([1.0, 0.0, 0.0]), 28, 5", "[0.0, 1.0, 1.05], 28.0, 3")
def lorenz(s, rho, n):
    s = np.asarray(s, float)

    def deriv(s):
        x, y, z = s
        return np.array([10 * (y - x), x * (rho - z) - y, x * y - 8 / 3 * z])

    for _ in range(n):
        s = s + 0.01 * deriv(s)
    return s


@calls("lambda x: x ** 2 - 2, 0.0, 2.0", "math.cos, 0, 3", "lambda x: x + 1, 0, 1")
def bisect(f, a, b, tol=1e-6):
    fa = f(a)
    if fa * f(b) > 0:
        raise ValueError("no sign change in [%g, %g]" % (a, b))
    while b - a > tol:
        m = (a + b) / 2
        fm = f(m)
        if fm == 0:
            return m
        elif fa * fm < 0:
            b = m
        else:
            a, fa = m, fm
    return (a + b) / 2


@calls("lambda x: (x - 1) ** 2, -3.0, 4.0", "np.cos, 2, 4")
def golden(f, a, b):
    phi = (np.sqrt(5) - 1) / 2
    c, d = b - phi * (b - a), a + phi * (b - a)
    n = 0
    while abs(b - a) > 1e-5:
        n += 1
        if f(c) < f(d):
            b = d
        else:
            a = c
        c, d = b - phi * (b - a), a + phi * (b - a)
    return round(float((a + b) / 2), 4), n


@calls("lambda v: (v[0] - 1) ** 2 + v[1] ** 2, np.array([0.0, 1.0])", "lambda v: (v ** 2).sum(), np.array([2.0])")
def numerical_gradient(f, x, h=1e-5):
    g = np.zeros_like(x)
    for i in range(x.size):
        e = np.zeros_like(x)
        e[i] = h
        g[i] = (f(x + e) - f(x - e)) / (2 * h)
    return g


@calls("lambda v: (v[0] - 1) ** 2 + (v[1] + 2) ** 2, np.array([0.0, 0.0])")
def nelder_mead(f, x0):
    n = len(x0)
    simplex = [x0] + [x0 + np.eye(n)[i] for i in range(n)]
    for _ in range(30):
        simplex.sort(key=f)
        centroid = np.mean(simplex[:-1], axis=0)
        worst = simplex[-1]
        xr = centroid + (centroid - worst)
        if f(xr) < f(simplex[0]):
            xe = centroid + 2 * (centroid - worst)
            simplex[-1] = xe if f(xe) < f(xr) else xr
        elif f(xr) < f(simplex[-2]):
            simplex[-1] = xr
        else:
            xc = centroid + 0.5 * (worst - centroid)
            if f(xc) < f(worst):
                simplex[-1] = xc
            else:
                simplex = [simplex[0]] + [simplex[0] + 0.5 * (x - simplex[0]) for x in simplex[1:]]
    return np.round(simplex[0], 6)


@calls("np.array([1, 2, 3])", "np.array([1.0, 2.0])", "[3, 4]")
def polyvals(c):
    p = np.poly1d(c)
    return p(2), np.polyval(c, 2), np.polyder(c), np.roots(c), p.order
