"""Creating, indexing, shaping and printing arrays; arrays of texts."""

import numpy as np

from tests.corpus_staged import calls


@calls("np.arange(6).reshape(2, 3), 1", "np.zeros((2, 2, 2)), 0", "np.arange(3), 0")
def shapes(a, axis):
    n, *rest = a.shape
    return (
        a.shape[axis],
        n,
        rest,
        a.ndim,
        len(a),
        a.size // n,
        np.expand_dims(a, axis).shape,
        np.moveaxis(a, 0, -1).shape,
    )


@calls("3, 4", "2, np.int64(2)", "1, 0")
def creations(n, m):
    a = np.zeros((n, m))
    b = np.full((n,), m)
    c = np.arange(n * m).reshape(n, m)
    d = np.linspace(0, 1, n)
    e = np.eye(n, m)
    f = np.tile(np.arange(n), m)
    g = np.repeat([1, 2], n)
    return a, b, c, d, e, f, g, np.empty((0, n)).shape


@calls("0.0, 1.0, 0.25", "0, 10, 3", "5, 0, -2", "1, 1, 1")
def aranges(a, b, s):
    return np.arange(a, b, s), list(range(int(a), int(b), int(s) or 1)), np.linspace(a, b, 3)


@calls("np.array([1.5, 2.5, 3.5, -0.5])", "np.float64(2.675)", "2.675", "np.array([1, 2])")
def roundings(x):
    return np.round(x), np.round(x, 2), np.rint(x), np.floor(x), np.trunc(x), np.around(x, 1), np.sign(x)


@calls("np.array([3, 1, 2])", "np.array([[2, 1], [0, 5]])", "np.array([True, False])")
def comparisons(x):
    y = x > 1
    z = (x >= 1) & (x < 3)
    w = ~y | z
    return y, z, w, y.any(), z.all(), np.count_nonzero(w), x[w], np.where(w, x, 0), y.sum(), y.mean()


@calls("np.arange(10), 2, 8, 3", "np.arange(5.0), -4, -1, 1", "np.arange(3), 0, 10, 1", "np.arange(4), 5, 2, -1")
def slicing(x, i, j, k):
    return x[i:j:k], x[:i], x[j:], x[::k], x[::-1], x[i:j][::-1], x[-i:], x[slice(i, j, k)]


@calls("np.arange(12).reshape(3, 4), 1, 2", "np.eye(3), 0, -1")
def matrix_indexing(a, i, j):
    a[i, j] += 10
    a[i] *= 2
    a[:, j] -= 1
    a[i:, :j] = 0
    a[-1, -1] = a[0, 0]
    return a[i][j], a[i, :], a[:, j], a[i : i + 1], a[[i, 0]], a.T[j], a.diagonal(), np.trace(a)


@calls("[[1, 2], [3, 4]]", "[[1.5]]", "[[]]", "((1, 2, 3),)")
def from_lists(rows):
    a = np.array(rows)
    total = 0
    for row in rows:
        for v in row:
            total += v
    return a.shape, a.dtype, total, [sum(r) for r in rows], [max(c) for c in zip(*rows)], a.sum() == total


@calls("np.arange(4.0)", "np.arange(6).reshape(2, 3)", "np.float64(3)")
def iterating(x):
    out = []
    for i, v in enumerate(np.ravel(x)):
        out.append((i, v * 2))
    total = sum(np.ravel(x))
    return out, total, max(np.ravel(x)), sorted(np.ravel(-x)), list(map(float, np.ravel(x)))


@calls("np.array([1, 2, 3, 4, 5, 6]), 3", "np.arange(4.0), 2", "np.arange(2), 5")
def chunks(x, n):
    parts = np.array_split(x, n)
    return [p.sum() for p in parts], [len(p) for p in parts], np.split(x, [1]), np.hstack(parts)


@calls("np.array(['b', 'a', 'c'])", "np.array(['xyz', 'x'])")
def texts(s):
    order = np.argsort(s)
    joined = ",".join(s[order])
    out = ""
    for t in s:
        if t > "a":
            out += t.upper()
    return joined, out, s == "a", np.isin(s, ["a", "b"]), len(s[0]), s.dtype, s.tolist()


@calls("{'a': np.arange(3), 'b': np.ones(3)}", "{'x': np.array([1.0])}")
def table(columns):
    means = {name: col.mean() for name, col in columns.items()}
    best = max(means, key=means.get)
    columns["total"] = sum(columns.values())
    for name in list(columns):
        if name != "total":
            columns[name] = columns[name] / columns["total"].sum()
    return means, best, columns


@calls("[{'x': 1.0, 'w': 2}, {'x': 3.0, 'w': 1}]", "[{'x': 1, 'w': 1}]")
def records(rows):
    num = den = 0
    for r in rows:
        num += r["x"] * r["w"]
        den += r["w"]
    rows.sort(key=lambda r: r["w"])
    return num / den, [r["x"] for r in rows], {r["w"]: r["x"] for r in rows}


@calls(
    "np.array([1, 2, 3]), 'int32'",
    "np.array([1.7]), int",
    "np.array([300]), np.uint8",
    "np.array(['1', '2']), float",
    "np.array([1.5]), 'U3'",
)
def astypes(x, t):
    y = x.astype(t)
    return y, y.dtype, y.itemsize


@calls("np.arange(24).reshape(2, 3, 4)", "np.zeros((1, 1, 1))")
def transposes(a):
    b = a.transpose(2, 0, 1)
    c = np.swapaxes(a, 0, 1)
    d = a.reshape(-1, a.shape[-1])
    e = np.concatenate([a, a], axis=2)
    f = np.stack([a, a], -1)
    return b.shape, c, d, e.shape, f.shape, a.squeeze().shape, b.flags.c_contiguous, a.T.shape, a.flatten().base is None


@calls("np.arange(3)", "np.array([[1, 2], [3, 4]])")
def prints(x):
    print(x)
    print("sum", x.sum(), "mean", x.mean(), sep=": ")
    print(f"{x.shape} {x.dtype} {x.sum():05d} {x.mean():.3f} {x!r}")
    print("%s %d %.2f" % (x, x.sum(), x.mean()))
    print("{:>10} {!r:>12}".format(x.sum(), x.mean()))
    print(*x.ravel(), sep=",", end="!\n")
    print([x[0], (x[-1],)], {"k": x[0]})
    print(str(x) + repr(x.sum()), x.tolist(), x.max() == x.ravel()[-1])


@calls("np.array([5.0, 1.0, 3.0])", "np.array([2, 2])")
def sort_keys(x):
    pairs = [(v, i) for i, v in enumerate(x)]
    pairs.sort()
    best = max(pairs)
    by_index = sorted(pairs, key=lambda p: -p[1])
    return pairs, best, by_index, min(x, key=lambda v: abs(v - 2))


@calls(
    "np.arange(5), slice(1, 3)",
    "np.arange(5), slice(None, None, -1)",
    "np.arange(5), [0, 2]",
    "np.arange(5), np.array([True, False, True, False, True])",
    "np.arange(5), ...",
    "np.arange(5), (2,)",
    "np.arange(5), None",
)
def any_index(x, i):
    y = x[i]
    x[i] = 0
    return y, x


@calls(
    "np.arange(4.0), 0",
    "np.arange(4.0), np.int32(3)",
    "np.arange(4.0), -1",
    "np.arange(4.0), True",
    "np.arange(4.0), np.array(2)",
)
def int_index(x, i):
    return x[i], x[i:].sum(), [10, 20, 30, 40][i] if not isinstance(i, np.ndarray) else None
