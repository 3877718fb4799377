"""SciPy: staged functions that solvers, integrators and minimizers call, and SciPy called by staged functions."""

import numpy as np

from tests.ecosystem.probes import Probes, package

scipy = package("scipy")
package("scipy.optimize"), package("scipy.integrate"), package("scipy.stats"), package("scipy.interpolate")
package("scipy.sparse"), package("scipy.ndimage"), package("scipy.special"), package("scipy.linalg")
PROBES = Probes()


@PROBES("np.array([1.5, -0.5])")
def minimize(stage, start):
    @stage
    def rosenbrock(x, a=1.0):
        total = 0.0
        for i in range(len(x) - 1):
            total += 100 * (x[i + 1] - x[i] ** 2) ** 2 + (a - x[i]) ** 2
        return total

    found = scipy.optimize.minimize(rosenbrock, start, method="BFGS")
    return found.x, found.fun, found.nit, found.success


@PROBES("3.0")
def roots(stage, target):
    f = stage(lambda x: x * x - target if x > 0 else -target)
    system = stage(lambda v: [v[0] + v[1] - 3, v[0] * v[1] - 2])
    return scipy.optimize.brentq(f, 0.0, 10.0), scipy.optimize.root(system, [0.5, 3.0]).x


@PROBES("np.linspace(0, 4, 30)")
def curve_fit(stage, x):
    @stage
    def model(x, a, b):
        return a * np.exp(-b * x) if b > 0 else a + 0 * x

    return scipy.optimize.curve_fit(model, x, 2.5 * np.exp(-1.3 * x), p0=(1.0, 1.0))


@PROBES("np.array([1.0, 0.0])")
def solve_ivp(stage, start):
    @stage
    def pendulum(t, y, k):
        return [y[1], -k * np.sin(y[0])] if t < 0.5 else [y[1], 0.0]

    solved = scipy.integrate.solve_ivp(pendulum, (0, 1), start, args=(2.0,))
    return solved.t, solved.y, solved.nfev


@PROBES("2.0")
def quad(stage, upper):
    f = stage(lambda x, k=1.0: k * np.exp(-x * x) if x < 1 else 0.0)
    return scipy.integrate.quad(f, 0, upper), scipy.integrate.quad(f, 0, 1, args=(2.0,))


@PROBES("np.array([[3.0, 1.0], [1.0, 2.0]]), np.array([1.0, 2.0])")
def linear_algebra(a, b):
    x = scipy.linalg.solve(a, b)
    return x if abs(a @ x - b).max() < 1e-9 else None, scipy.linalg.det(a)


@PROBES("np.linspace(-2, 2, 5)")
def special_functions(x):
    return scipy.special.erf(x) + scipy.special.expit(x), scipy.special.gamma(3.0), scipy.stats.norm.cdf(x)


@PROBES("np.arange(5.0)")
def interpolation(x):
    f = scipy.interpolate.interp1d(x, x**2)
    total = 0.0
    for at in (0.5, 1.5, 2.5):
        total += float(f(at))
    return total


@PROBES("np.eye(3)")
def sparse(a):
    m = scipy.sparse.csr_matrix(a)
    return (m @ np.arange(3.0)).sum() if m.nnz > 2 else 0.0, m.shape


@PROBES("np.arange(9.0).reshape(3, 3)")
def filters(stage, image):
    span = stage(lambda window: window.max() - window.min() if window.sum() > 0 else 0.0)
    return scipy.ndimage.generic_filter(image, span, size=3), scipy.ndimage.gaussian_filter(image, 1.0)


test_probe = PROBES.test()
