"""NumPy's dtypes, scalars, 0-d arrays, and how Python numbers join in."""

import math

import numpy as np

from tests.corpus_staged import calls


@calls("np.int8(100), np.int8(100)", "np.uint8(3), np.uint8(5)", "np.int64(2**62), np.int64(2**62)")
def wraps_around(a, b):
    return a + b, a - b, a * b


@calls("np.int8([1, 2])", "np.uint16([1, 2])", "np.float16([1, 2])", "np.complex64([1, 2])", "np.array([True, False])")
def with_python_numbers(x):
    return x + 1, x * 2.0, x * True, x + 1j, x / 2, x**2


@calls("np.int8([1, 2])", "np.uint8([1])")
def python_integer_does_not_fit(x):
    return x + 1000


@calls("np.float32(1.5)", "np.int16(3)", "np.float64(2.0)", "np.complex128(1j)", "np.bool_(True)")
def scalars_with_python_numbers(s):
    return s + 1, 2 * s, s + 1.0, s * 1j, s == 1, type(s + 1).__name__


@calls("np.int32(7), 2", "7, np.int32(2)", "np.float32(7), np.int64(2)", "np.uint8(7), np.int8(2)")
def scalar_operators(a, b):
    return a + b, a - b, a * b, a / b, a // b, a % b, a**b, a < b, max(a, b)


@calls("np.array(5)", "np.array(2.5)", "np.array(True)")
def zero_dimensional(x):
    y = x + 1
    return y, type(y).__name__, x.shape, x.ndim, x[()], x.item(), float(x), x.copy()


@calls("np.array(5.0)", "np.array(3)")
def zero_dimensional_in_place(x):
    y = x
    y += 1
    x[...] = x * 2
    x[()] += 1
    return y is x


@calls("np.array([1, 2, 3])", "np.array([1.5])", "np.array([], dtype=np.int8)")
def sums_of_dtypes(x):
    return x.sum(), x.mean() if x.size else None, x.sum().dtype, x.cumsum(), x.prod(), x.astype(np.int8).sum()


@calls("np.array([1.7, -1.7, 300.0])", "np.array([1, 2])", "np.array([1 + 2j])", "np.array([True])")
def casts(x):
    real = x.real
    return (
        real.astype(int),
        real.astype(np.float32),
        real.astype("complex64"),
        real.astype(bool),
        real.astype(np.int64).dtype,
    )


@calls("np.arange(3, dtype=np.uint8)", "np.arange(3, dtype=np.float32)")
def keeps_its_dtype(x):
    x += 1
    x *= 2
    y = x - 1
    return y, y.dtype == x.dtype, x.dtype.name, x.itemsize


@calls("np.arange(3)", "np.arange(3.0)", "np.zeros(2, np.uint8)")
def in_place_that_does_not_fit(x):
    x += 0.5
    return x


@calls("np.arange(3)", "np.arange(3.0)")
def in_place_true_division(x):
    x /= 2
    return x


@calls("np.arange(3)", "np.array([1.0, 2.0])")
def widens_instead(x):
    x = x + 0.5
    x = x * 1j
    return x


@calls("3, 4", "2.0, 0", "1, 1")
def creations(n, m):
    n = int(n)
    return (np.zeros(n), np.ones((n, m), np.int8), np.full(n, m), np.full(2, m / 2), np.eye(n, dtype=bool),
            np.arange(m), np.arange(m, dtype=float), np.linspace(0, m, n), np.empty(0))  # fmt: skip


@calls("np.arange(3, dtype=np.int16)", "np.array([[1.0]])")
def creations_like(x):
    return np.zeros_like(x), np.ones_like(x, dtype=float), np.full_like(x, 7), np.empty_like(x).shape


@calls("[1, 2, 3]", "[1, 2.5]", "[[1, 2], [3, 4]]", "[True, 2]", "[]", "[1j, 2]", "(1, np.float32(2))")
def arrays_of_lists(xs):
    x = np.array(xs)
    return x, x.dtype, np.asarray(xs, dtype=complex), np.asarray(x) is x


@calls("1, 2.5", "np.float32(1), 2", "True, False", "1, 1j", "np.arange(2), np.ones(2)")
def arrays_of_variables(a, b):
    return np.array([a, b]), np.stack([a, b]), np.array([[a, b], [b, a]]).dtype


@calls("np.float32(0.1)", "0.1", "np.float64(0.1)", "np.float16(0.1)")
def precision(x):
    return x * 3, x + np.float32(0.2), x + 0.2, np.float64(x), x == 0.1, np.sqrt(x), math.sqrt(x)


@calls(
    "np.array([1, 2], np.int32), np.array([1.5, 2.5], np.float32)",
    "np.uint8([250]), np.int8([-3])",
    "np.array([True]), np.uint64([3])",
)
def promotion(x, y):
    return x + y, x * y, x / y, x > y, np.maximum(x, y), np.concatenate([x, y]), np.result_type(x, y)


@calls("np.array([True, False, True])", "np.array([], dtype=bool)")
def boolean_arrays(m):
    return (
        ~m,
        m & True,
        m | ~m,
        m ^ m,
        m.sum(),
        m.any(),
        m.all(),
        m + m,
        m * 2,
        np.logical_not(m),
        m.mean() if m.size else 0,
    )


@calls("np.array([1.0, np.nan, np.inf])", "np.array([-np.inf])")
def not_numbers(x):
    return np.isnan(x), np.isfinite(x), x == x, np.nansum(x), np.nan_to_num(x), x.max(), np.nanmin(x)


@calls("np.array([3 + 4j, 1j])", "np.array([1.0, -2.0])", "np.array([1, 2])")
def complex_arrays(z):
    return z.real, z.imag, np.abs(z), z.conj(), np.angle(z), z * 1j, z.dtype, np.iscomplexobj(z), (z * z.conj()).real


@calls("5, 3", "np.int8(5), 3", "5, np.uint8(3)", "np.int64(5), np.int32(3)")
def bit_operations(a, b):
    return a & b, a | b, a ^ b, ~a, a << b, a >> 1, np.bitwise_and(a, b), np.invert(a)


@calls("np.array([1, 2, 3], np.int8)", "np.array([0.5])")
def item_types(x):
    first = x[0]
    total = 0
    for v in x:
        total = total + v
    return type(first).__name__, type(total).__name__, first * 2, x.tolist(), type(x.tolist()[0]).__name__, x.item(0)


@calls("3", "np.float32(3)", "np.array([1.5, 2.5])", "True", "2j")
def numpy_functions_of_anything(x):
    return (
        np.sin(x),
        np.exp(x),
        np.add(x, 1),
        np.multiply(x, x),
        np.square(x),
        np.abs(x),
        np.real(x),
        np.ndim(x),
        np.shape(x),
    )


@calls("np.array([5, 7], np.uint8)", "np.array([5.5], np.float32)")
def dtype_as_condition(x):
    if x.dtype == np.uint8:
        return x.astype(int) - 6
    if np.issubdtype(x.dtype, np.floating):
        return x - x.dtype.type(6)
    return None


@calls("np.array([1, 200], np.uint8)", "np.array([-1], np.int16)")
def views_as_other_dtypes(x):
    return x.view(np.int8), x.astype(np.int8), x.nbytes, np.iinfo(x.dtype).max, np.dtype(x.dtype).kind


@calls("np.float64(3.0)", "np.int32(3)", "np.bool_(True)")
def scalar_methods(s):
    return (
        s.dtype,
        s.item(),
        s.shape,
        s.astype(np.float32),
        s.sum(),
        s.reshape(1),
        isinstance(s, np.generic),
        -s if s.dtype != bool else ~s,
    )


@calls("1, np.array([1, 2])", "np.float32(1), np.arange(2.0)", "0.5, np.array([1, 2], np.int8)", "True, np.zeros(2)")
def order_of_operands(a, x):
    return a + x, x + a, a - x, x - a, a / (x + 1), a**x, a < x, x < a, np.subtract(a, x)


@calls("np.array(['b', 'a'])", "np.array([b'x'])")
def text_arrays(names):
    return np.sort(names), names == names[0], names.dtype.kind, len(names), list(names)


@calls("np.array([1, 'a', None], dtype=object)")
def object_arrays(x):
    return x[0] + 1, x == "a", x.dtype, len(x)


@calls("np.datetime64('2024-02-28'), 3")
def dates(day, n):
    later = day + np.timedelta64(n, "D")
    return later, later > day, str(later), (later - day) / np.timedelta64(1, "h")


@calls("np.array([(1, 2.5), (3, 4.5)], dtype=[('a', int), ('b', float)])")
def records(table):
    table["b"] += table["a"]
    return table["a"].sum(), table[0]["b"], table.dtype.names


@calls("5", "2.5", "np.float64(1)", "np.array([1, 2])", "True")
def dtype_of_the_sum(x):
    return (x + 1.5).dtype


@calls("np.int8(100)", "np.int8(-100)", "5", "np.array([100, 1], np.int8)")
def scalars_of_numpy_on_the_left(x):
    y = np.int8(100)
    z = np.float64(0.0)
    return y + x, y * x, y - x, y // 7 % x, z / (x - x), y < x, y == x, np.add(y, 1) ** 2


@calls("np.array([1, 2], np.int8)", "np.array([0.5, 2])", "3")
def arrays_on_the_left(x):
    y = np.array([100, 3], np.int8)
    total = y + x
    y = y * x
    return total, y, np.ones(2) / x, np.array([1, 2]) @ np.array([x, x]).reshape(2, -1)


@calls("np.array([1, 2], 'longlong')", "np.array([1, 2])", "np.array([1, 2], 'q')", "np.array([3], 'ulonglong')")
def dtypes_that_are_equal(x):
    last = x[-1]
    if last > 0:
        last = last * 2
    dtypes = x.dtype, x.sum().dtype, (x * 2).dtype
    return [*map(type, dtypes)], type(x[0]), type(last), x.astype("longlong").dtype.char


@calls("np.arange(3), np.arange(3.0)", "np.arange(3, dtype='f4'), np.ones(2, 'c8')",
       "np.array([1, 2]), np.array([1, 3])")
def dtypes_found_at_run_time(x, y):
    kind = np.common_type(x, y)
    found = np.dtype(kind)
    if found != np.result_type(x, y):
        print("cast", found)
    limits = np.finfo(kind)
    return found, found.char, found == x.dtype, kind(3), np.zeros(2, found), limits.eps, np.iinfo(np.dtype('i4')).max
