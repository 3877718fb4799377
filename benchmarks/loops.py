"""Loops of numbers and elements of arrays, as one writes them in Python; benchmarks/c/loops.c has them in C."""

import numpy as np


def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def collatz_sum(count):
    total = 0
    for start in range(1, count):
        n = start
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            total += 1
    return total


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


def edit_rows(a, b):
    row = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        new = np.empty(len(b) + 1, dtype=np.int64)
        new[0] = i
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            new[j] = min(row[j] + 1, new[j - 1] + 1, row[j - 1] + cost)
        row = new
    return row[len(b)]


def sieve(n):
    prime = np.ones(n + 1, dtype=np.bool_)
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


def lu(a):
    a = a.copy()
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def sift(x, root, end):
    while True:
        child = 2 * root + 1
        if child >= end:
            break
        if child + 1 < end and x[child] < x[child + 1]:
            child += 1
        if x[root] >= x[child]:
            break
        x[root], x[child] = x[child], x[root]
        root = child


def heap_sort(x):
    x = x.copy()
    n = len(x)
    for start in range(n // 2 - 1, -1, -1):
        sift(x, start, n)
    for end in range(n - 1, 0, -1):
        x[0], x[end] = x[end], x[0]
        sift(x, 0, end)
    return x


def slope(x, y, z):
    return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z


def lorenz(x, y, z, steps, h):
    for _ in range(steps):
        ax, ay, az = slope(x, y, z)
        bx, by, bz = slope(x + h / 2 * ax, y + h / 2 * ay, z + h / 2 * az)
        cx, cy, cz = slope(x + h / 2 * bx, y + h / 2 * by, z + h / 2 * bz)
        dx, dy, dz = slope(x + h * cx, y + h * cy, z + h * cz)
        x = x + h / 6 * (ax + 2 * bx + 2 * cx + dx)
        y = y + h / 6 * (ay + 2 * by + 2 * cy + dy)
        z = z + h / 6 * (az + 2 * bz + 2 * cz + dz)
    return x + y + z


def mandelbrot(height, width, iterations):
    out = np.zeros((height, width), dtype=np.int64)
    for i in range(height):
        for j in range(width):
            re = -2.0 + 3.0 * j / width
            im = -1.0 + 2.0 * i / height
            x = y = 0.0
            n = 0
            while n < iterations and x * x + y * y <= 4.0:
                x, y = x * x - y * y + re, 2.0 * x * y + im
                n += 1
            out[i, j] = n
    return out


def moving_average(x, width):
    out = np.zeros(len(x) - width + 1)
    for i in range(len(out)):
        total = 0.0
        for j in range(width):
            total += x[i + j]
        out[i] = total / width
    return out


def insertion_sort(x):
    x = x.copy()
    for i in range(1, len(x)):
        item = x[i]
        j = i - 1
        while j >= 0 and x[j] > item:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = item
    return x


def horner(factors, x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        total = 0.0
        for j in range(len(factors)):
            total = total * x[i] + factors[j]
        out[i] = total
    return out


def matmul(a, b):
    out = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            out[i, j] = total
    return out
