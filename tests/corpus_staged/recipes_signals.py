"""Recipes on signals, images, fractals."""

import cmath
import math

import numpy as np

from tests.corpus_staged import calls


@calls("np.arange(8.0)", "np.array([1.0])", "np.arange(6.0)")
def fft_recursive(x):
    n = len(x)
    if n == 1:
        return x.astype(complex)
    if n % 2:
        raise ValueError(f"length {n} is no power of 2")
    even, odd = fft_recursive(x[::2]), fft_recursive(x[1::2])
    factor = np.exp(-2j * np.pi * np.arange(n // 2) / n) * odd
    return np.concatenate([even + factor, even - factor])


@calls("np.arange(8.0)", "np.array([5.0])")
def fft_iterative(x):
    n = len(x)
    a = np.array(x, dtype=complex)
    j = 0
    for i in range(1, n):
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j ^= bit
        if i < j:
            a[i], a[j] = a[j], a[i]
    length = 2
    while length <= n:
        w = cmath.exp(-2j * math.pi / length)
        for start in range(0, n, length):
            factor = 1
            for k in range(length // 2):
                u, v = a[start + k], a[start + k + length // 2] * factor
                a[start + k], a[start + k + length // 2] = u + v, u - v
                factor *= w
        length *= 2
    return a.round(10)


@calls("np.array([1, 2, 3]), np.array([0, 1, 0.5])", "np.array([1]), np.array([2])")
def convolution(x, kernel):
    out = np.zeros(len(x) + len(kernel) - 1)
    for i, a in enumerate(x):
        for j, b in enumerate(kernel):
            out[i + j] += a * b
    return out


@calls(
    "np.arange(16.0).reshape(4, 4), np.ones((3, 3)) / 9", "np.eye(3), np.array([[1.0]])", "np.eye(2), np.ones((3, 3))"
)
def image_filter(image, kernel):
    n, m = kernel.shape
    rows, columns = image.shape[0] - n + 1, image.shape[1] - m + 1
    out = np.empty((rows, columns))
    for i in range(rows):
        for j in range(columns):
            out[i, j] = (image[i : i + n, j : j + m] * kernel).sum()
    return out


@calls("np.array([[52, 55], [61, 255]], np.uint8)", "np.zeros((2, 2), np.uint8)")
def equalise_histogram(image):
    counts = np.bincount(image.ravel(), minlength=256)
    cumulative = counts.cumsum()
    low = cumulative[cumulative > 0][0]
    if low == image.size:
        return image
    table = np.round((cumulative - low) / (image.size - low) * 255).astype(np.uint8)
    return table[image]


@calls("np.array([[10, 200], [130, 90]], np.uint8), 100", "np.zeros((1, 1), np.uint8), 0")
def threshold_in_place(image, level):
    for row in image:
        for j in range(len(row)):
            row[j] = 255 if row[j] >= level else 0
    return np.mean(image > 0)


@calls("np.array([[1.0, 5.0], [7.0, 3.0]])", "np.zeros((2, 3))")
def dither(image):
    """Spreads the error of each pixel over those to come."""
    n, m = image.shape
    for i in range(n):
        for j in range(m):
            old = image[i, j]
            image[i, j] = np.round(old / 4) * 4
            error = old - image[i, j]
            if j + 1 < m:
                image[i, j + 1] += error * 7 / 16
            if i + 1 < n:
                image[i + 1, j] += error * 5 / 16
    return image


@calls("-0.5 + 0.5j, 50", "2.0, 10", "0, 5", "1 + 1j, 0")
def mandelbrot_point(c, limit):
    z = 0
    for n in range(limit):
        if abs(z) > 2:
            return n
        z = z * z + c
    return limit


@calls("4, 3, 10", "1, 1, 1")
def mandelbrot(width, height, limit):
    x = np.linspace(-2, 1, width)
    y = np.linspace(-1, 1, height)
    c = x + 1j * y[:, None]
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, dtype=int)
    for _ in range(limit):
        inside = np.abs(z) <= 2
        if not inside.any():
            break
        z[inside] = z[inside] ** 2 + c[inside]
        counts += inside
    return counts


@calls("-0.8 + 0.156j, 4, 8", "0j, 2, 3")
def julia(c, n, limit):
    image = np.zeros((n, n), np.int32)
    for i in range(n):
        for j in range(n):
            z, k = complex(i / n - 0.5, j / n - 0.5), 0
            while abs(z) < 2 and k < limit:
                z = z * z + c
                k += 1
            image[i, j] = k
    return image


@calls("np.array([1.0, 2.0, 8.0, 3.0]), 0.5", "np.array([]), 0.1", "[5.0], 1")
def exponential_smoothing(x, alpha):
    out = []
    for i, v in enumerate(x):
        if i == 0:
            level = v
        else:
            level = alpha * v + (1 - alpha) * level
        out.append(level)
    return out


@calls("np.array([1.0, 5.0, 2.0, 9.0, 3.0]), 3", "np.array([1.0]), 1", "np.arange(4.0), 2")
def median_filter(x, width):
    if width % 2 == 0:
        raise ValueError("width must be odd")
    half = width // 2
    padded = np.pad(x, half, mode="edge")
    out = np.zeros_like(x)
    for i in range(len(x)):
        out[i] = np.median(padded[i : i + width])
    return out


@calls("np.array([0.0, 1.0, 0.0, 2.0, 0.0])", "np.array([1.0, 1.0])")
def peaks(x):
    found = []
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] > x[i + 1]:
            found.append((i, x[i]))
    return found


@calls("np.arange(12).reshape(2, 2, 3)", "np.zeros((1, 1, 3), np.uint8)")
def greyscale(image):
    grey = image @ np.array([0.299, 0.587, 0.114])
    if grey.max() > 5:
        grey = grey / grey.max()
    return (grey * 255).astype(np.uint8)


@calls("5.0, 44", "1, 4")
def sine_table(frequency, n):
    table = [math.sin(2 * math.pi * frequency * i / n) for i in range(n)]
    crossings = sum(1 for a, b in zip(table, table[1:]) if a <= 0 < b)
    return table[:3], crossings


@calls("np.array([1.0, 2.0, 3.0]), 2", "np.array([1.0]), 3")
def upsample(x, factor):
    out = np.zeros(len(x) * factor)
    out[::factor] = x
    for k in range(1, factor):
        out[k::factor] = x * (1 - k / factor)
    return out


@calls("np.array([3, 3, 3, 1, 1, 5])", "np.array([], dtype=int)", "np.array([7])")
def run_lengths(x):
    runs = []
    for v in x:
        if runs and runs[-1][0] == v:
            runs[-1][1] += 1
        else:
            runs.append([v, 1])
    return runs


@calls("np.linspace(0, 1, 5), np.array([0.5, -0.2])", "np.zeros(2), np.array([])")
def autoregressive_filter(x, a):
    y = np.zeros_like(x)
    for t in range(len(x)):
        y[t] = x[t]
        for k, coefficient in enumerate(a, start=1):
            if t - k < 0:
                break
            y[t] += coefficient * y[t - k]
    return y


@calls("np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.5], [1.0, 1.0]])", "np.zeros((3, 2))")
def convex_hull(points):
    points = sorted(set(map(tuple, points.tolist())))
    if len(points) <= 1:
        return points

    def half(ps):
        out = []
        for p in ps:
            while len(out) >= 2:
                (ax, ay), (bx, by) = out[-2], out[-1]
                if (bx - ax) * (p[1] - ay) - (by - ay) * (p[0] - ax) > 0:
                    break
                out.pop()
            out.append(p)
        return out[:-1]

    return half(points) + half(reversed(points))


@calls("np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0]])", "np.zeros((0, 2))")
def polygon_area(corners):
    area = 0.0
    for i in range(len(corners)):
        x1, y1 = corners[i]
        x2, y2 = corners[(i + 1) % len(corners)]
        area += x1 * y2 - x2 * y1
    return abs(area) / 2
