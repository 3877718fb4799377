"""NumPy's functions and methods, as one uses them."""

import numpy as np

from tests.corpus_staged import calls


@calls("np.array([3.0, -1.0, 2.0])", "np.array([[1, 2], [3, 4]])", "np.array([5])")
def reductions(x):
    return (
        x.sum(),
        x.mean(),
        x.min(),
        x.max(),
        x.std(),
        x.var(),
        x.prod(),
        x.argmin(),
        x.argmax(),
        np.ptp(x),
        np.median(x),
    )


@calls("np.arange(6.0).reshape(2, 3), 0", "np.arange(6).reshape(2, 3), 1", "np.ones((2, 2)), -1", "np.ones((2, 2)), 2")
def reductions_along(a, axis):
    return (
        a.sum(axis=axis),
        a.mean(axis, keepdims=True),
        a.max(axis=axis),
        np.cumsum(a, axis=axis),
        a.argmax(axis),
        np.sort(-a, axis),
    )


@calls("np.array([3, 1, 2, 3])", "np.array([])", "np.array([[2, 1], [0, 3]])")
def sorting(x):
    return np.sort(x), np.argsort(x, kind="stable"), np.unique(x), x.argsort(axis=-1), np.sort(x)[::-1]


@calls("np.array([3, 1, 3, 2])", "np.array([], dtype=int)")
def unique_with_counts(x):
    values, counts = np.unique(x, return_counts=True)
    values2, inverse = np.unique(x, return_inverse=True)
    return dict(zip(values.tolist(), counts.tolist())), values2[inverse], len(values)


@calls("np.array([1.0, 3.0, 5.0]), 3.0", "np.array([1.0, 3.0]), np.array([0.0, 2.0, 9.0])", "np.array([]), 1")
def searching(x, v):
    return np.searchsorted(x, v), np.searchsorted(x, v, side="right"), np.isin(v, x), np.digitize(v, x)


@calls("np.array([0, 3, 0, 5])", "np.zeros((2, 2))", "np.eye(2)")
def nonzero(x):
    return np.nonzero(x), np.flatnonzero(x), np.count_nonzero(x), np.where(x), np.argwhere(x > 1)


@calls("np.arange(6), (2, 3)", "np.arange(6.0), (3, -1)", "np.arange(6), 6", "np.arange(6), (4,)")
def reshaping(x, shape):
    y = x.reshape(shape)
    return y, y.T, y.ndim, y.shape, np.expand_dims(y, 0).shape, y.size


@calls("np.ones((2, 3)), np.zeros((2, 3))", "np.arange(2), np.arange(2)", "np.ones((1, 2)), np.ones((2, 2))")
def joining(a, b):
    return np.concatenate([a, b]), np.vstack([a, b]), np.hstack((a, b)), np.stack([a, b], axis=-1)


@calls("np.arange(4), 2", "np.eye(2), 0")
def repeating(x, n):
    return np.repeat(x, n), np.tile(x, n), np.tile(x, (2, 1)), np.pad(x, 1), np.pad(x, n, mode="edge")


@calls("np.arange(6).reshape(2, 3), np.arange(3)", "np.eye(2), np.eye(2)", "np.ones((2, 3)), np.ones(2)")
def products(a, b):
    return a @ b, np.dot(a, b), np.inner(b, b), np.outer(a, b), np.matmul(a, b)


@calls("np.arange(4.0).reshape(2, 2), np.ones((2, 3))", "np.eye(2), np.zeros((2, 0))")
def einsum(a, b):
    return (
        np.einsum("ij,jk->ik", a, b),
        np.einsum("ii", a),
        np.einsum("ij->j", b),
        np.tensordot(a, b, axes=1),
        np.kron(a, a),
    )


@calls(
    "np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])",
    "np.eye(3), np.arange(3.0)",
    "np.ones((2, 2)), np.ones(2)",
)
def linear_algebra(a, b):
    return np.linalg.solve(a, b), np.linalg.inv(a), np.linalg.det(a), np.linalg.norm(b), np.linalg.cholesky(a)


@calls("np.array([[2.0, 0.0], [0.0, 3.0]])", "np.array([[0.0, 1.0], [-1.0, 0.0]])")
def decompositions(a):
    values, vectors = np.linalg.eig(a)
    q, r = np.linalg.qr(a)
    u, s, vt = np.linalg.svd(a)
    return values, np.abs(vectors), np.abs(q @ r - a) < 1e-12, s, np.linalg.matrix_rank(a), np.linalg.eigvalsh(a + a.T)


@calls("np.array([[1, 1], [1, 0]]), 10", "np.eye(2), 0", "np.array([[2.0]]), -1")
def matrix_power(a, n):
    return np.linalg.matrix_power(a, n)


@calls("np.array([1.0, -2.0, 3.0]), 0.0", "np.array([1, 2]), 5")
def where(x, limit):
    return np.where(x > limit, x, limit), np.where(x > limit, 1, 0), np.maximum(x, limit), np.clip(x, limit, 2)


@calls("np.arange(5.0)", "np.arange(2)", "np.array([1.0])")
def differences(x):
    return (
        np.diff(x),
        np.cumsum(x),
        np.cumprod(x + 1),
        np.gradient(x) if len(x) > 1 else None,
        np.convolve(x, [1, -1]),
        np.interp(0.5, x, x * 2),
    )


@calls("3", "1", "0")
def grids(n):
    x, y = np.meshgrid(np.arange(n), np.arange(2))
    i, j = np.indices((n, 2))
    return x + y, np.mgrid[0:n, 0:2], i * j, np.fromfunction(lambda a, b: a - b, (n, 2))


@calls("np.array([1.0, 4.0])", "np.array([-1])", "2.0")
def elementwise(x):
    rounded = np.floor(x / 3), np.round(x / 3, 2), np.sign(x), np.mod(x, 3)
    both = np.power(x, 2), np.arctan2(x, 1), np.hypot(x, x), np.isclose(x, 4)
    return np.sqrt(x), np.exp(x), np.log(np.abs(x)), np.sin(x), np.square(x), np.reciprocal(x * 1.0), rounded, both


@calls("np.array([5, 3, 8])", "np.array([], dtype=int)")
def ufunc_methods(x):
    return (
        np.add.reduce(x),
        np.multiply.accumulate(x),
        np.subtract.outer(x, x),
        np.maximum.reduce(x, initial=0),
        np.logical_or.reduce(x),
    )


@calls("np.arange(8.0)", "np.arange(5)")
def fourier(x):
    f = np.fft.fft(x)
    return np.round(f, 10), np.round(np.fft.ifft(f).real, 10), np.fft.fftfreq(len(x)), np.fft.rfft(x).shape


@calls("np.array([1.0, 2.0, 2.5, 9.0])", "np.array([1.0])")
def statistics(x):
    counts, edges = np.histogram(x, bins=3)
    return (
        counts,
        edges,
        np.percentile(x, 50),
        np.quantile(x, [0.25, 0.75]),
        np.average(x, weights=x),
        np.corrcoef(x, -x).shape,
    )


@calls("np.array([1, 2]), np.array([2, 3])", "np.array([], int), np.array([1])")
def set_functions(x, y):
    return np.union1d(x, y), np.intersect1d(x, y), np.setdiff1d(x, y), np.isin(x, y)


@calls("np.arange(4)", "np.eye(2)")
def functions_of_functions(x):
    double = np.vectorize(lambda v: v * 2 if v > 1 else -1.5)
    return double(x), np.apply_along_axis(lambda r: r[::-1], 0, x), np.piecewise(x * 1.0, [x > 1], [lambda v: v**2, -1])


@calls("np.arange(3), np.arange(3)", "np.arange(3), np.array([0.0, 1.0, 2.0 + 1e-12])", "np.zeros(2), np.zeros(3)")
def comparing(x, y):
    return np.array_equal(x, y), np.allclose(x, y), (x == y).all()


@calls("np.array([3, 5, 6])", "np.array([0])")
def properties(x):
    return x.shape, x.ndim, x.size, x.dtype, x.T.shape, len(x), x.nbytes, x.strides, x.flags.writeable, x.base is None


@calls("np.arange(6.0).reshape(2, 3)", "np.zeros((1, 1))")
def index_with_axes(a):
    best = a.argmax(axis=1)
    order = np.argsort(-a, axis=1)
    place = np.unravel_index(a.argmax(), a.shape)
    chosen = np.choose(best % 2, [a[:, 0], a[:, -1]]), np.compress([True], a, axis=0)
    return np.take(a, [0], axis=1), np.take_along_axis(a, order, axis=1), a[np.arange(len(a)), best], place, chosen


@calls("np.arange(3.0)", "np.zeros(0)")
def ndenumerate(x):
    out = {}
    for (i,), v in np.ndenumerate(x):
        out[i] = v * 2
    for i, j in np.ndindex(2, 2):
        out[i, j] = i + j
    return out


@calls("np.arange(4.0), 2", "np.arange(6.0), 3", "np.arange(4.0), 3")
def batches(x, size):
    losses = []
    for start in range(0, len(x), size):
        batch = x[start : start + size]
        if len(batch) < size:
            break
        losses.append(batch.mean())
    return losses, np.array_split(x, size)


@calls("np.array([1.0, 2.0]), [0.5, 0.5]", "np.ones((2, 2)), [1, 2]")
def arrays_and_lists(x, weights):
    return x * weights, x + [1, 1], [10, 10] - x, np.dot(x, weights), sum(w * v for w, v in zip(weights, x))


@calls("2, 3", "1, 0")
def shapes_from_arguments(n, m):
    x = np.zeros((n, m))
    y = x.reshape(m, n)
    return x.shape + y.shape, np.ones(n * m).sum(), np.empty((n, 2, m)).shape, np.identity(n), list(range(n))[m:]


@calls("[1.0, 2.0], [3.0, 4.0], 2", "[0], [1], 1")
def polynomials(a, b, n):
    return (
        np.polyval(a, n),
        np.polymul(a, b),
        np.polyfit([0, 1, 2], [1, 3, 5], 1).round(8),
        np.roots([1, -3, 2]),
        np.vander(a, n),
    )
