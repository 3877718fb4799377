"""Where NumPy surprises: promotion, overflow, warnings, empty and 0-d arrays, views, errors."""

import numpy as np

from tests.corpus_staged import calls


@calls("np.array([1, 0, 3, 0])", "np.array([0.0, 0.0])", "np.array([2.0, np.nan])")
def division_warns(x):
    y = 1 / x
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.log(x) / x
    z[~np.isfinite(z)] = 0
    return y, z


@calls("np.int32(2**30), np.int32(2)", "np.int8(100), np.int8(100)", "np.uint8(200), np.uint8(100)", "5, 6")
def scalar_overflow(a, b):
    c = a * b
    d = a + b
    e = a - b * 2
    return c, d, e, type(c).__name__


@calls("np.array([100, 120], np.int8)", "np.array([250, 3], np.uint8)", "np.array([1, 2])")
def promotions(x):
    a = x + 1
    b = x * 2.0
    c = x + np.int16(1)
    d = x + np.array([1])
    e = x / 2
    f = x // 2
    g = x**2
    return a, b, c, d, e, f, g, a.dtype, b.dtype, c.dtype


@calls(
    "np.array([1, 2], np.uint8), 300",
    "np.array([1, 2], np.uint8), -1",
    "np.array([1.0]), 10**400",
    "np.array([1, 2]), 3",
)
def nep50(x, k):
    return x + k


@calls("np.arange(3), np.arange(4)", "np.ones((2, 1)), np.ones((1, 3))", "np.ones(3), 2")
def broadcasting(a, b):
    try:
        return a + b
    except ValueError as e:
        return str(e)


@calls("np.arange(3), np.arange(4)", "np.ones((2, 1)), np.ones((1, 3))", "np.ones(3), np.arange(3)")
def broadcasting_raises(a, b):
    c = a * 2
    return c + b


@calls("np.array([4.0, -1.0, 9.0])", "np.array([-1.0])")
def sqrt_where(x):
    out = np.full_like(x, -1.0)
    np.sqrt(x, out=out, where=x >= 0)
    res = np.add(out, 1, out=out)
    return out, res is out


@calls("np.arange(6)", "np.arange(2.0)")
def overlapping(x):
    x[1:] = x[:-1]
    x[1:] += x[:-1]
    y = x[::-1]
    y[0] = 100
    return x, y, np.shares_memory(x, y)


@calls("np.array([1.0, np.nan, 3.0])", "np.array([np.nan])", "np.array([1, 2])")
def nan_handling(x):
    mask = np.isnan(x)
    clean = x[~mask]
    total = np.nansum(x)
    m = np.nanmean(x)
    filled = np.where(mask, 0, x)
    return clean, total, m, filled, np.nan in x, np.nan_to_num(x)


@calls("np.arange(4.0)", "np.array([1, 2, 3])")
def read_only(x):
    y = x.copy()
    y.flags.writeable = False
    y[0] = 1
    return y


@calls("np.arange(4.0)", "np.array([1, 2, 3])")
def read_only_view(x):
    y = np.broadcast_to(x, (2, len(x)))
    return y.flags.writeable, y.sum(axis=1)


@calls("np.array([1, 2, 3])", "np.array([1.5, -2.5])")
def zero_d(x):
    s = np.array(x[0])
    s += 1
    s[()] = s * 2
    t = np.sum(x)
    return s, s.shape, t, t + s, type(t + s).__name__, s.item(), np.asarray(t).ndim


@calls("np.array([1.0, 2.0, np.inf])", "np.array([np.nan, 1.0])", "np.array([0.0])")
def warns_inside(x):
    a = x - x
    b = np.exp(x * 1000)
    c = x[0] / 0
    return a, b, c


@calls("np.array([1, 2])", "np.array([0])")
def int_division(x):
    return x // 0, x % 0, x[0] // 0


@calls("1, 0", "1.0, 0", "np.float64(1), 0", "0, 5")
def divides(a, b):
    return a / b


@calls("np.arange(10)", "np.array([5.0])", "np.array([], int)")
def empties(x):
    y = x[x > 100]
    return y.sum(), y.size, y.dtype, np.concatenate([y, y]), y.tolist(), list(y), np.any(y), np.all(y)


@calls("np.array([], float)", "np.array([1.0])", "np.zeros((0, 3))")
def empty_mean(x):
    return x.mean(), x.std()


@calls("np.array([])", "np.array([2, 1])")
def empty_max(x):
    return x.max()


@calls("np.array([1, 2, 3]), 5", "np.array([1, 2, 3]), -1", "np.array([1, 2, 3]), 1.0")
def index_errors(x, i):
    return x[i]


@calls("np.array([1.0, 2.0])", "np.array([[1, 2]])")
def truth_errors(x):
    if x > 0:
        return 1
    return 0


@calls("np.array([1, 2, 3])", "np.array([1.7, 2.2])")
def casting_errors(x):
    x += 0.5
    return x


@calls("np.array([1, 2, 3])", "np.ones((2, 2))")
def attribute_error(x):
    return x.foo


@calls("np.ones((2, 3)), np.ones((2, 3))", "np.ones((2, 3)), np.ones((3, 2))")
def matmul_error(a, b):
    return a @ b


@calls("np.ones((2, 2))", "np.zeros((2, 2))", "np.ones((2, 3))")
def linalg_error(a):
    return np.linalg.inv(a + np.eye(2)), np.linalg.det(a), np.linalg.inv(a)


@calls("np.arange(3), 'x'", "np.arange(3), None", "np.arange(3), [1, 2, 3]")
def type_errors(x, y):
    return x + y


@calls("np.array([[1.0, 2.0], [3.0, 4.0]])", "np.array([[1.0, 2.0, 3.0]])")
def swaps(a):
    a[0], a[-1] = a[-1].copy(), a[0].copy()
    a[:, 0], a[:, 1] = a[:, 1], a[:, 0].copy()
    b = a
    b = b + 1
    c = a
    c += 1
    return a, b, c is a


@calls("np.arange(5)", "np.zeros(3)")
def views_mutate(a):
    v = a[1:3]
    v[:] = 9
    w = a.reshape(1, -1)
    w[0, 0] = -1
    r = np.ravel(a)
    r[-1] = 7
    m = a[a > 5]
    m[:] = 0
    return a, v.base is a, np.may_share_memory(a, v), m


@calls("np.arange(4.0), 8", "np.arange(6), 3", "np.ones((2, 2)), 0")
def resized_in_place(x, n):
    y = x.copy()
    y.resize(n, refcheck=False)
    z = np.arange(4.0)
    np.ndarray.resize(z, (2, 3), refcheck=False)
    y += 1
    return len(y), y.shape, y * 2, z.shape, z.sum(axis=0)


@calls("np.zeros((2, 3)), 3", "np.zeros((2, 3)), 1", "np.zeros((2, 3)), 100")
def shape_changes_in_a_loop(x, n):
    y, seen = np.arange(4.0), 0
    for i in range(n):
        seen += len(y) * x.shape[0]
        y.resize(len(y) + 1, refcheck=False)
        x.shape = x.shape[::-1] if i % 2 else (x.size, 1)
    if n > 2:
        y.resize(7, refcheck=False)
    return seen, y, x.shape
