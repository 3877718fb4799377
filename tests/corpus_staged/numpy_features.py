"""What NumPy offers besides arithmetic: structured, masked and derived arrays, dates, texts, iterators, formats."""

import numpy as np
import numpy.ma as ma

from tests.corpus_staged import calls


@calls("np.arange(5), 2", "np.arange(5.0), 2.5", "np.zeros(0), 1", "[1, 2, 3], 2")
def contains(x, v):
    if v in x:
        return f"{v} is in {x}"
    return "no"


@calls("np.array([1, 2, 3])", "np.array([[1, 2], [3, 4], [5, 6]])", "(4, 5, 6)", "[1.5, 2, 0]")
def star_unpack(xs):
    first, *rest = xs
    *init, last = xs
    a, b, c = xs
    return first, rest, init, last, a, b, c


@calls("np.arange(3), np.arange(3.0)", "[1, 2], np.array([3, 4, 5])", "np.zeros((2, 2)), 'ab'")
def zipped(a, b):
    out = []
    for x, y in zip(a, b):
        out.append((x, y))
    return out


@calls("np.array([3.14159, 2.71828])", "np.array([1, 2])", "np.float32(1.5)", "2.5")
def formats(x):
    s = f"{x}"
    if np.ndim(x):
        for i, v in enumerate(x):
            s += f" {i}:{v:.2f}|{v:>8.3g}|{v!r}|{v:e}"
    else:
        s += f" {x:.3f} {x:08.2f} {x:%}"
    print(s)
    return len(s)


@calls("np.arange(6).reshape(2, 3)", "np.zeros((2, 0))", "np.ones(4)")
def flat_and_T(a):
    t = a.T
    if a.size:
        t[0] = 9
        a.flat[0] = -1
        a.flat = a.flat[::-1] if a.ndim == 1 else [1, 2, 3]
    return a, list(a.flat), t.flags.c_contiguous


@calls("np.array([3, 1, 2])", "np.array([[3, 1], [2, 5]])", "np.array([2.0, np.nan, 1.0])")
def in_place_methods(a):
    b = a.copy()
    b.sort()
    c = a.copy()
    c.fill(7)
    d = a.copy()
    d.partition(1)
    r = a.sort()
    return a, b, c, d, r


@calls("np.arange(4)", "np.zeros(0)", "np.arange(3.0)")
def resizing(a):
    b = a.copy()
    b.resize(6, refcheck=False)
    return b, np.resize(a, (2, 3)) if a.size else None


@calls("np.array([1, 2, 3, 4])", "np.array([1.5])", "np.array([], int)")
def ufunc_methods(x):
    if x.size == 0:
        return np.add.reduce(x), np.multiply.reduce(x)
    y = np.zeros(5)
    np.add.at(y, [0, 0, 1], 1.5)
    return (
        np.add.reduce(x),
        np.multiply.accumulate(x),
        np.subtract.outer(x, x),
        np.maximum.reduce(x),
        y,
        np.add.reduceat(x, [0]),
        np.logical_and.reduce(x > 0),
    )


@calls("np.arange(6.0).reshape(2, 3), np.arange(3.0)", "np.ones((2, 2)), np.ones(2)", "np.ones((2, 2)), np.ones(3)")
def einsums(a, v):
    return np.einsum("ij,j->i", a, v), np.einsum("ij->ji", a), np.einsum("ij->", a), np.einsum("i,j", v, v)


@calls(
    "np.array([('a', 3), ('b', 1)], dtype=[('name', 'U1'), ('n', 'i4')])",
    "np.array([], dtype=[('name', 'U1'), ('n', 'i4')])",
)
def structured_sort(t):
    t = np.sort(t, order="n")
    t["n"] *= 2
    total = t["n"].sum()
    names = [row["name"] for row in t]
    return t, total, names


@calls("3", "0")
def structured_make(n):
    rec = np.zeros(n, dtype=[("pos", "f8", 2), ("id", "i4")])
    rec["id"] = np.arange(n)
    for i in range(n):
        rec[i]["pos"] = (i, i * 2)
    return rec, rec.dtype.names, rec["pos"].sum()


@calls("np.datetime64('2020-02-27'), 4", "np.datetime64('2021-01-01'), 0")
def date_range(start, n):
    days = start + np.arange(n)
    weekdays = (days.astype("datetime64[D]").view("int64") - 4) % 7
    return days, weekdays, days[weekdays < 5]


@calls(
    "np.array(['2020-01-01', '2020-03-01'], dtype='datetime64[D]')",
    "np.array(['2020-01-01'], dtype='datetime64[D]')",
    "np.array(['NaT', '2020-01-01'], dtype='datetime64[D]')",
)
def dates_diff(d):
    gaps = np.diff(d)
    months = d.astype("datetime64[M]").astype(int) % 12 + 1
    return gaps, months, d.min(), np.isnat(d), gaps / np.timedelta64(1, "D"), str(d[0])


@calls("np.array(['apple', 'Bob', 'cat'])", "np.array([], dtype='U3')")
def string_arrays(s):
    up = np.char.upper(s)
    lens = np.char.str_len(s)
    return up, lens, s[lens > 3], np.char.add(s, "!"), [x.lower() for x in s], sorted(s)


@calls("np.arange(5.0)", "np.array([1, 2])", "3")
def vectorized(x):
    def f(v, limit=2):
        if v > limit:
            return limit
        return v

    g = np.vectorize(f)
    return g(x), np.vectorize(f, otypes=[float])(x)


@calls("np.arange(6.0).reshape(2, 3)", "np.ones((2, 2))")
def along_axis(a):
    def spread(row):
        return row.max() - row.min()

    return np.apply_along_axis(spread, 1, a), np.apply_along_axis(np.sort, 0, a), np.apply_over_axes(np.sum, a, [0])


@calls("np.arange(6).reshape(2, 3)", "np.zeros((0, 2))")
def ndindexing(a):
    total = 0
    for i, j in np.ndindex(a.shape):
        total += a[i, j] * (i + j)
    out = np.zeros_like(a)
    for idx in np.ndindex(*a.shape):
        out[idx] = sum(idx)
    return total, out


@calls("np.arange(6).reshape(2, 3)", "np.array([1.5, 2.5])")
def ndenum(a):
    best, where = -1, None
    for idx, v in np.ndenumerate(a):
        if v > best:
            best, where = v, idx
    return best, where


@calls("np.arange(6.0).reshape(2, 3)", "np.array([1, 2])")
def niter(a):
    total = 0
    for v in np.nditer(a):
        total += v * v
    b = a.copy()
    with np.nditer(b, op_flags=["readwrite"]) as it:
        for v in it:
            v[...] = 2 * v
    return total, b


@calls("ma.array([1.0, 2, 3], mask=[0, 1, 0])", "ma.masked_invalid(np.array([1.0, np.nan]))")
def masked(m):
    return m.mean(), m.filled(-1), (m * 2).sum(), m.mask, m.count()


@calls("np.array([1.0, -999, 3.0])", "np.array([1.0])")
def masks_made(x):
    m = ma.masked_equal(x, -999)
    return m.mean(), m.compressed(), ma.is_masked(m)


@calls("np.matrix([[1, 2], [3, 4]])", "np.matrix([[2.0]])")
def matrices(m):
    return m * m, m.T, m.I, m[0], m.A1


class Signal(np.ndarray):
    def __new__(cls, data, rate=1.0):
        obj = np.asarray(data, float).view(cls)
        obj.rate = rate
        return obj

    def __array_finalize__(self, obj):
        self.rate = getattr(obj, "rate", None)

    def energy(self):
        return float((np.asarray(self) ** 2).sum())


@calls("Signal([1, 2, 3], 2.0)", "Signal([])")
def subclasses(s):
    t = s * 2
    return t, t.rate, t.energy(), type(s[1:]).__name__, s.sum()


@calls("[1, 2, 3]", "np.arange(3)")
def subclass_made(xs):
    s = Signal(xs, rate=4)
    return s.energy(), s.rate, (s + 1).energy()


@calls("5", "0", "-3", "2.5")
def staged_builtins(x):
    return int(x), float(x), bool(x), str(x), divmod(x, 2), round(x), abs(x), pow(x, 2), hash(x), complex(x)


@calls("np.float64(2.567)", "np.float32(-1.5)", "np.int64(7)", "np.array(3.5)")
def staged_numpy_builtins(x):
    return int(x), float(x), bool(x), divmod(x, 2), abs(x), f"{x:.1f}", x.item(), x.dtype, complex(x)


@calls("np.float64(2.567)", "np.int64(5)", "np.float32(2.5)")
def scalar_methods(x):
    return (
        x.item(),
        x.round(1),
        x.astype(np.int32),
        x.clip(0, 3),
        x.conj(),
        x.tolist(),
        x.sum(),
        x.mean(),
        x.is_integer(),
        x.shape,
    )


@calls("np.arange(6).reshape(2, 3)", "np.ones((1, 1))")
def fortran(a):
    f = np.asfortranarray(a)
    g = a.copy(order="F")
    return (
        f.flags.f_contiguous,
        g.flags["F_CONTIGUOUS"],
        f.ravel(order="K"),
        f.strides,
        a.reshape(-1, order="F"),
        np.ravel(f),
    )


@calls("np.arange(12).reshape(3, 4)", "np.ones((2, 2))")
def fancy(a):
    rows = np.array([0, 1])
    cols = [0, 1]
    b = a[rows[:, None], cols]
    c = a[rows, cols]
    a[rows, cols] = -1
    a[:, [0, -1]] = a[:, [-1, 0]]
    d = a[..., 0]
    e = a[None, :, 1:]
    f = np.take(a, [0, 1], axis=1)
    g = a[np.ix_([0, 1], [1])]
    return b, c, d, e, f, g, a


@calls("np.arange(5), 2", "np.arange(5.0), 0")
def put_and_place(x, k):
    np.put(x, [0, -1], [10, 20])
    np.place(x, x > 5, [k])
    np.copyto(x, 3, where=x == k)
    x[[1, 1]] += 1
    return x, np.select([x < 1, x > 2], [x, x * 2], default=-1), np.where(x > 2)


@calls("np.arange(3), np.arange(2)", "np.array([1.5]), np.array([1, 2])")
def meshes(x, y):
    X, Y = np.meshgrid(x, y)
    I, J = np.indices((2, 2))
    gx, gy = np.mgrid[0:2, 0:3]
    return X, Y, np.dstack([X, Y]).shape, I + J, gx * gy, np.ogrid[0:3][0], np.r_[x, y], np.c_[x, x]


@calls("np.array([1.0, 2.0])", "np.float64(3)", "np.sum", "[1]")
def asked_about(x):
    kind = "function" if callable(x) else "value"
    return kind, hasattr(x, "__array_interface__"), hasattr(x, "__call__"), issubclass(type(x), np.ndarray)


@calls("np.array([1.0, 20.0])", "np.array([7])")
def by_way_of_text(x):
    digits = str(int(x[-1]))
    return int(digits, 16), int(digits)


@calls("np.array([1.0, 2.0])", "np.array([1.0]), 0", "np.array([1.0]), None")
def library_default(x, initial=np._NoValue):
    if initial is np._NoValue:
        return x.max()
    return x.max(initial=initial)
