"""Numbers and arrays of all kinds: promotion, rounding, overflow, order; and what goes wrong."""

import math

import numpy as np

from tests.corpus_staged import calls


@calls(
    "np.array([1, 2, 3]), 2",
    "np.array([1.0, 2.0]), 0.5",
    "np.array([1, 2], np.uint8), 2",
    "np.array([2, 3]), -1",
    "np.array([2.0]), -1",
)
def powers(x, k):
    return x**k, k ** x.astype(float), np.power(x.astype(float), k), x**2, x**0.5


@calls("5, 3", "-5, 3", "5.5, -2", "np.int64(-7), 2", "np.array([5, -5]), 3", "0, 7", "7, np.float32(2)")
def modular(a, b):
    q, r = divmod(a, b)
    return q, r, a // b, a % b, np.mod(a, b), np.fmod(a, b), math.fmod(a, b) if np.ndim(a) == 0 else None


@calls("5", "True", "2.7", "-2.5", "np.float64(2.5)", "np.int32(3)", "1e300")
def conversions(x):
    return (
        int(x),
        float(x),
        round(x),
        math.floor(x),
        math.ceil(x),
        math.trunc(x),
        bool(x),
        str(x),
        repr(x),
        f"{x}",
        np.float32(x),
        np.asarray(x),
    )


@calls("np.array([3+4j, 1j])", "3+4j", "np.complex64(1+1j)", "np.array([1.0, -1.0])")
def complexes(z):
    return abs(z), np.angle(z), np.conj(z), z * z, np.real(z), np.imag(z), np.sqrt(z + 0j), z == z, np.isreal(z)


@calls("np.array([True, False, True])", "np.array([1, 0])", "np.array([], bool)")
def booleans(m):
    return (
        m.sum(),
        ~m.astype(bool),
        m & m,
        np.logical_not(m),
        m.any(),
        m.all(),
        m.argmax() if m.size else None,
        m + m,
        True in m,
        np.nonzero(m),
    )


@calls("7, 3", "np.array([7, 8]), 3", "np.uint8(200), 1", "-8, 2")
def bits(a, b):
    return a & b, a | b, a ^ b, ~a, a << b, a >> b, bin(a) if isinstance(a, int) else None


@calls("np.arange(6.0)", "np.array([1, 2], np.int16)")
def masks_in_place(x):
    x[x % 2 == 0] *= 10
    x[x > 20] = 20
    m = (x > 5).astype(int)
    x[m.nonzero()] += 1
    np.add.at(x, [0, 0], 1)
    return x, m


@calls("np.arange(6.0), 2", "np.arange(3), 0", "np.arange(3), 5", "np.arange(3), -1")
def popped(x, i):
    rest = np.delete(x, i)
    more = np.insert(rest, 0, x[i])
    return rest, more, np.append(more, [1, 2])


@calls("np.array([1.0, 2.0, 3.0])", "np.array([[1, 2], [3, 4]])", "np.float64(2)", "3")
def same_object(x):
    y = x
    y = np.asarray(y)
    z = np.array(y, copy=True)
    w = np.ascontiguousarray(y)
    return y is x, z is y, w is y, np.atleast_1d(y) is y, y.reshape(y.shape) is y, y[...] is y


@calls("np.array([3, 1, 2])", "np.array([2.0])")
def returns_argument(x):
    x.sort()
    return x


@calls("np.array([3, 1, 2]), np.array([1, 1, 1])", "np.ones(2), np.zeros(2)")
def returns_views(x, y):
    a, b = x[:2], x[1:]
    a += 1
    b *= 2
    y[:] = x[::-1]
    return a, b, y, (x, x), [a, a]


@calls("np.ones(3)", "np.ones(3, np.float32)", "np.ones(3, int)")
def in_place_types(x):
    x += 1
    x *= 2
    y = x / 3
    x = x / 2
    x -= y
    return x, x.dtype, y.dtype


@calls("np.ones((2, 3)), np.ones(3)", "np.ones((2, 3)), np.ones(2)")
def in_place_broadcast(a, b):
    a += b
    return a


@calls("np.array([1, 2, 3], np.uint8), np.array([255, 1, 0], np.uint8)", "np.int8(-128), np.int8(-1)")
def wraps(a, b):
    return a + b, a - b, a * b, -a, abs(a), a // np.maximum(abs(b), 1)


@calls(
    "np.uint8(5), 10",
    "np.uint8(5), 300",
    "np.int32(5), 2.5",
    "np.float32(0.1), 0.1",
    "5, np.float32(2)",
    "True, np.int8(1)",
)
def scalar_promotion(a, b):
    return a + b, b - a, a * b, a / b, a < b, a == b


@calls("np.array([0.1, 0.2, 0.3])", "np.array([0.1, 0.2], np.float32)", "np.array([1e308, 1e308])")
def float_sums(x):
    return sum(x), x.sum(), np.sum(x), math.fsum(x), x.mean(), np.add.reduce(x), x.cumsum()[-1], float(np.dot(x, x))


@calls("np.float64(0.0), 0.0", "1.0, 0.0", "np.array([0.0, 1.0]), 0", "-1, 0.0")
def zero_divisions(a, b):
    try:
        return a / b, a % b
    except ZeroDivisionError as e:
        return "error", str(e)


@calls("np.array([3.0, np.nan, 1.0])", "np.array([np.nan, np.nan])", "np.array([2.0, 1.0])")
def nan_ordering(x):
    return (
        np.sort(x),
        np.argmax(x),
        x.max(),
        max(x),
        min(x),
        np.nanmax(x) if not np.isnan(x).all() else None,
        (x == x).sum(),
        sorted(x)[0],
    )


@calls("np.inf", "-np.inf", "np.nan", "1e400", "0.0", "-0.0")
def specials(x):
    return (
        x > 0,
        x == x,
        math.isinf(x),
        np.isnan(x),
        math.copysign(1, x),
        x * 0,
        max(x, 1.0),
        min(1.0, x),
        str(x),
        [x] == [x],
        x in [x],
    )


@calls("np.array([1, 2]), 2 ** 40", "np.array([1, 2], np.int32), 2 ** 20", "np.array([1.0]), 2 ** 70")
def big_with_arrays(x, n):
    return x * n, x + n


@calls("np.array([[1, 2], [3, 4]]), np.array([0, 1])", "np.ones((3, 2)), np.array([2, 2])")
def row_ops(a, idx):
    b = a[idx]
    b[0] = -1
    a[idx, 0] = 5
    for row in a:
        row += 1
    for i, row in enumerate(a):
        row[i % a.shape[1]] = 0
    return a, b


@calls("np.eye(2), 3", "np.ones((2, 3)), 1")
def rebinding_in_loop(a, n):
    for i in range(n):
        b = a
        a = a * 2
        if i % 2:
            a = b
    return a, b is a


@calls("np.zeros(3), [1, 2, 3]", "np.zeros(2), (4, 5)", "np.zeros(2), np.array([1, 2])", "np.zeros(2), [1, 2, 3]")
def assign_sequence(x, xs):
    x[:] = xs
    x[0], x[1] = xs[1], xs[0]
    return x


@calls("np.arange(3.0), 'a'", "np.arange(3), 1.5", "np.arange(3), [1]", "np.zeros(2), None")
def assign_wrong(x, v):
    x[0] = v
    return x


@calls("np.arange(3)", "np.ones((2, 2))")
def unhashable(x):
    return {x: 1}


@calls("np.arange(3)", "np.arange(2.0)")
def wrong_unpack(x):
    a, b = x
    return a + b


@calls("np.arange(3)", "3", "[1]")
def wrong_call(x):
    return x(2)


@calls("np.arange(3)", "np.arange(4)")
def wrong_reshape(x):
    return x.reshape(2, 2)


@calls("np.arange(3), 5", "np.arange(3), 1")
def wrong_axis(x, axis):
    return np.sum(x, axis=axis)


@calls("np.arange(3), {}", "np.arange(3), {'dtype': float}", "np.arange(3), {'bad': 1}")
def keyword_errors(x, options):
    return np.sum(x, **options)
