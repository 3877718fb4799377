"""Loops of numbers and elements of arrays, and what to call them with."""

import numpy as np

LOOPS = {}


def calls(*examples):
    def register(function):
        LOOPS[function.__name__] = function, examples
        return function

    return register


@calls("27", "1", "2**62 + 1", "2**70 + 3")
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@calls("12", "0")
def collatz_sum(limit):
    total = 0
    for start in range(1, limit):
        n = start
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            total += 1
    return total


@calls("np.arange(40) % 3, np.arange(35) % 4", "np.array([1, 2]), np.array([2])")
def edit_distance(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    for i in range(len(a) + 1):
        table[i, 0] = i
    for j in range(len(b) + 1):
        table[0, j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
    return table[len(a), len(b)]


@calls("50", "3", "0")
def sieve(n):
    prime = np.ones(n + 1, dtype=bool)
    prime[:2] = False
    i = 2
    while i * i <= n:
        if prime[i]:
            for j in range(i * i, n + 1, i):
                prime[j] = False
        i += 1
    count = 0
    for i in range(n + 1):
        if prime[i]:
            count += 1
    return count


@calls("np.eye(9) * 20 + np.arange(81).reshape(9, 9)", "np.zeros((9, 9))", "np.full((9, 9), np.nan)")
def lu(a):
    n = a.shape[0]
    a = a.copy()
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


@calls("np.cos(np.arange(40))")
def heap_sort(x):
    x = x.copy()
    n = len(x)
    for start in range(n // 2 - 1, -1, -1):
        root = start
        while True:
            child = 2 * root + 1
            if child >= n:
                break
            if child + 1 < n and x[child] < x[child + 1]:
                child += 1
            if x[root] >= x[child]:
                break
            x[root], x[child] = x[child], x[root]
            root = child
    return x


@calls("1.0, 2.0, 3.0, 9, 0.01", "1e308, 1e308, -1e308, 9, 1.0", "1.0, 2, 3.0, 0, 0.01")
def lorenz(x, y, z, steps, h):
    for _ in range(steps):
        dx, dy, dz = 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z
        x, y, z = x + h * dx, y + h * dy, z + h * dz
    return x, y, z


@calls("3, 4, 9")
def mandelbrot(h, w, iters):
    out = np.zeros((h, w), dtype=np.int64)
    for i in range(h):
        for j in range(w):
            cr = -2.0 + 3.0 * j / w
            ci = -1.0 + 2.0 * i / h
            x = y = 0.0
            n = 0
            while n < iters and x * x + y * y <= 4.0:
                x, y = x * x - y * y + cr, 2.0 * x * y + ci
                n += 1
            out[i, j] = n
    return out


@calls("np.arange(20.0)", "np.arange(20)", "np.arange(40.0)[::-2]", "np.array([])", "[1, 2.5, 3j]")
def widening(xs):
    """The total is an `int` at first, and what `best` is even depends on the way."""
    total = 0
    best = None
    for x in xs:
        total += x
        if best is None or x > best:
            best = x
    return total, best


@calls("np.arange(20), 5", "np.arange(20), 25", "np.arange(20.0), 3.0", "np.arange(4), -1")
def search(xs, wanted):
    for i in range(len(xs) + 30):
        if xs[i] == wanted:
            return i
    return -1


@calls("np.arange(12).reshape(3, 4), 3", "np.arange(12.0).reshape(4, 3).T, 3", "np.ones((3, 4), bool), 3")
def backwards(a, n):
    for i in range(n):
        for j in range(4):
            a[-1 - i, -1 - j] = a[i, j] + i
    return a


@calls("np.arange(30, dtype='i1'), 30", "np.full(9, 200, 'u1'), 9", "np.arange(30, dtype='f4'), 30")
def narrow(xs, n):
    total = xs[0]
    for i in range(n):
        total = total + xs[i] * 2
        xs[i] = i * 3
    return total, xs


@calls("np.arange(20.0), np.zeros(20), 7", "np.arange(20.0), np.zeros(20), 0")
def swapped(a, b, n):
    """Two arrays that take turns."""
    for _ in range(n):
        for i in range(1, 19):
            b[i] = (a[i - 1] + a[i + 1]) / 2
        a, b = b, a
    return a, b


@calls("20, 5", "20, 100", "-3, 5")
def unbound(n, k):
    for i in range(n):
        if i == k:
            found = i
    return found


@calls("40, 0.5", "40, 0.0", "4, float('nan')")
def raising(n, x):
    total = 0.0
    for i in range(n):
        if i > 30:
            raise ValueError(f"{i} is more than thirty, and {total} is so far")
        total += i / x
    return total


@calls("np.zeros(20), 9")
def read_only(x, n):
    for i in range(n):
        if i == 5:
            x.flags.writeable = False
        x[i] = i
    return x
