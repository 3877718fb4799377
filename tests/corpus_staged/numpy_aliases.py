"""Arrays that share memory, or are laid out or typed oddly; structures of arrays."""

import tempfile

import numpy as np
from numpy import arange, array, pi, sin, sqrt, zeros

from tests.corpus_staged import calls


def _alias(n=4):
    x = np.arange(float(n))
    return x, x


def _views(n=5):
    x = np.arange(float(n))
    return x[:-1], x[1:]


def _ro(n=3):
    x = np.arange(float(n))
    x.flags.writeable = False
    return x


def _mm(n=4):
    m = np.memmap(tempfile.TemporaryFile(), dtype=float, shape=(n,))
    m[:] = np.arange(n)
    return m


@calls("*_alias()", "*_views()", "np.arange(3.0), np.ones(3)", "_ro(), np.ones(3)", "np.ones(3), _ro()", "_mm(), _mm()")
def add_into(a, b):
    a += b
    b[0] = 100
    return a, b.sum(), np.shares_memory(a, b)


@calls("*_alias()", "*_views()", "np.arange(4.0), np.zeros(4)")
def shift_into(a, b):
    for i in range(1, len(a)):
        b[i] = a[i - 1] + b[i - 1]
    return b


@calls("*_views()", "*_alias(3)", "np.arange(3.0), np.arange(3.0)")
def out_overlap(a, b):
    np.add(a, b, out=b)
    np.multiply(b, 2, b)
    r = np.cumsum(a, out=a)
    return r is a, a, b


@calls(
    "np.asfortranarray(np.arange(6.0).reshape(2, 3))",
    "np.arange(6.0).reshape(3, 2).T",
    "np.arange(12.0).reshape(2, 6)[:, ::2]",
    "np.arange(6.0).reshape(2, 3)",
)
def layouts(a):
    b = a * 2
    c = a.copy()
    d = np.empty_like(a)
    r = a.ravel()
    r[0] = -1
    return (
        b.flags.f_contiguous,
        c.flags.c_contiguous,
        d.strides,
        a.flags.c_contiguous,
        a.T.flags.c_contiguous,
        a,
        a.reshape(-1),
        a.strides,
    )


@calls(
    "np.array([1, 2], '>i4')",
    "np.array([1.5], '>f8')",
    "np.array([1, 2], 'i4')",
    "np.array([1], np.float16)",
    "np.array([1, 2], np.longdouble)",
)
def odd_dtypes(x):
    y = x + 1
    return y, y.dtype.byteorder, x.dtype, x.sum(), type(x[0]).__name__, x * 0.5


@calls("np.array([1, 'a', None], object)", "np.array([1, 2.5], object)", "np.array([[1], [2, 3]], object)")
def object_arrays(x):
    out = []
    for v in x:
        out.append(v if v is not None else "none")
    return out, x.dtype, len(x), x == 1


@calls("np.array(5.0)", "np.array(3)", "np.array([[2]])", "5.0")
def zero_dims(x):
    y = x + 1
    z = np.asarray(x)
    if z.ndim == 0:
        z = z.reshape(1)
    z[0] = 7
    return y, z, x, type(y).__name__, float(z[0]) + 1, x * np.ones(2)


@calls("3.0", "np.float64(3.0)", "np.array(3.0)", "3", "np.int64(3)")
def kinds_apart(x):
    return (
        type(x).__name__,
        type(x + 1).__name__,
        type(x * 2.0).__name__,
        isinstance(x, float),
        isinstance(x, int),
        isinstance(x, np.generic),
        np.isscalar(x),
        type(-x).__name__,
        type(x / 2).__name__,
    )


@calls("1, 2", "1.0, 2", "np.int8(1), 2", "1, np.float32(2)", "True, 2", "1j, 2", "np.array([1]), 2")
def many_types(a, b):
    c = a + b
    if c > 2 if not isinstance(c, (complex, np.ndarray)) else False:
        c = c * 2
    return c, c - a


@calls("2.0", "0.5")
def names_imported(r):
    circ = 2 * pi * r
    grid = arange(3) * r
    out = zeros(3)
    out[:] = sqrt(grid)
    return circ, sin(out).sum(), array([r, r])


@calls(
    "np.arange(3.0), True",
    "np.arange(3.0), False",
    "np.arange(3.0), 1",
    "np.arange(3.0), 0",
    "np.arange(3.0), np.True_",
    "np.arange(3.0), None",
    "np.arange(3.0), ''",
)
def flags(x, verbose):
    if verbose:
        print("sum", x.sum())
    return x.sum() if not verbose else x


@calls("[np.ones(2), np.zeros(2)]", "[np.ones(2)]", "[]", "(np.ones(2), np.arange(3))")
def list_of_arrays(xs):
    total = 0
    for x in xs:
        x *= 2
        total = total + x.sum()
    if len(xs) > 1:
        xs[0][0] = total
    return total, xs


@calls(
    "{'w': np.ones((2, 2)), 'b': np.zeros(2)}, np.array([1.0, 2.0])",
    "{'w': np.eye(2), 'b': np.ones(2)}, np.array([0.0, 1.0])",
)
def params_dict(params, x):
    y = params["w"] @ x + params["b"]
    grads = {k: np.ones_like(v) * y.sum() for k, v in params.items()}
    for k in params:
        params[k] -= 0.1 * grads[k]
    params["step"] = params.get("step", 0) + 1
    return y, params
