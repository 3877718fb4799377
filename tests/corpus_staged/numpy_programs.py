"""Functions around arrays: defaults, closures, generators, globals, exceptions, patterns."""

import math

import numpy as np

from tests.corpus_staged import calls


@calls("np.array([1, 2, 3])", "np.array([0.0])", "np.array([], int)")
def conditionals(x):
    kind = "none" if x.size == 0 else "zero" if not x.any() else "some"
    m = x.max() if x.size else -1
    return kind, m, m if m > 2 else m * 2


@calls("np.array([1.0, 2.0]), 3, offset=1", "np.array([1.0, 2.0])", "2, 2, 0", "np.ones(2), *[2, 3]")
def defaults(x, power=2, offset=0, *, scale=1.0):
    return scale * x**power + offset


@calls("np.ones(3), np.zeros(3), np.arange(3)", "1, 2.5", "np.ones(2)")
def variadic(*arrays, **options):
    total = 0
    for a in arrays:
        total = total + a
    return total / len(arrays), len(arrays), options.get("k", 5)


@calls("20", "0", "1.0")
def cached(n, memo={}):
    key = ("k", n)
    if key not in memo:
        memo[key] = n * n
    return memo[key], len(memo) > 0


@calls("[3, 1, 2]", "[2.5, 1]", "np.array([3, 1, 2])", "(1, 2)")
def list_or_array(xs):
    total = 0
    for i in range(len(xs)):
        total += xs[i] * (i + 1)
    if isinstance(xs, list):
        xs.append(total)
    elif isinstance(xs, np.ndarray):
        xs[0] = total
    return total, xs


class Vec:
    __slots__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, o):
        return Vec(self.x + o.x, self.y + o.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    def __eq__(self, o):
        return (self.x, self.y) == (o.x, o.y)

    def norm(self):
        return math.hypot(self.x, self.y)


@calls("Vec(1.0, 2.0), Vec(0.5, 0.5), 3", "Vec(0, 0), Vec(1, 1), 2")
def orbit(p, v, n):
    for _ in range(n):
        p = p + v * 0.5
        if p.norm() > 2:
            v = v * -1
    return p.x, p.y, v.x, p == p


_cache = {}


@calls("5", "5", "6")
def memo_sum(n):
    if n not in _cache:
        _cache[n] = np.arange(n).sum()
    result = _cache[n]
    _cache.clear()
    return result


_count = 0


_buffer = np.zeros(3)


@calls("1.0", "2.0")
def global_state(x):
    global _count
    _count = 0
    _buffer[:] = 0
    for i in range(3):
        _count += 1
        _buffer[i] += x * _count
    return _count, _buffer.copy()


@calls("np.arange(3.0)", "np.ones(2)")
def make_closure(x):
    calls_made = 0

    def scale(k):
        nonlocal calls_made
        calls_made += 1
        return x * k

    a = scale(2)
    b = scale(a.sum())
    return a, b, calls_made


@calls("np.arange(6.0)", "np.ones(1)")
def generator_used(x):
    def pairs(v):
        for i in range(0, len(v) - 1, 2):
            yield v[i], v[i + 1]

    return [a + b for a, b in pairs(x)], sum(a * b for a, b in pairs(x))


@calls("np.arange(3.0)", "np.array([5.0])")
def lambdas(x):
    fs = [lambda v, k=k: v * k for k in range(3)]
    return [f(x) for f in fs], (lambda *a: sum(a))(*x)


@calls("np.array([4.0, 9.0]), 0", "np.array([4.0, 9.0]), 1", "np.array([4.0]), 2")
def try_in_loop(x, mode):
    out = []
    for v in x:
        try:
            if mode == 1:
                raise ValueError("mode")
            out.append(math.sqrt(v) if mode == 0 else v / 0)
        except ValueError:
            out.append(-1)
        finally:
            out.append(0)
    return out


@calls("np.arange(3), 2", "np.arange(3), 7")
def assertion(x, k):
    assert k in x, f"{k} is not in {x}"
    assert x.max() < 100
    return k


@calls("3", "np.int64(3)", "3.0", "'3'")
def matching(x):
    match x:
        case int():
            return "int"
        case float():
            return "float"
        case str(s):
            return s
        case _:
            return type(x).__name__


@calls("np.array([1.0, 2.0])", "np.array([[1.0], [2.0]])", "[1.0, 2.0]")
def walrus(x):
    if (n := len(x)) > 1 and (m := np.mean(x)) > 1:
        return n, m
    while (s := np.sum(x)) < 10:
        x = np.asarray(x) * 2
    return s
