"""Signals and images: filters, transforms, edges, segmentation."""

import math

import numpy as np

from tests.corpus_staged import calls


@calls("np.array([1.0, 3, 2, 5, 4, 1])", "np.array([1, 1, 1])", "np.array([])", "np.array([2.5, 0.5], np.float32)")
def zero_crossings(x):
    signs = np.sign(x - x.mean())
    signs[signs == 0] = -1
    crossings = np.where(np.diff(signs))[0]
    return len(crossings), crossings


@calls("np.sin(np.arange(20.0)), 5, 2", "np.arange(8), 4, 4", "np.arange(3), 4, 1")
def spectrogram(x, size, hop):
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(size) / size)
    frames = []
    for start in range(0, len(x) - size + 1, hop):
        frames.append(np.abs(np.fft.rfft(x[start : start + size] * window)))
    if not frames:
        return np.empty((0, size // 2 + 1))
    return np.round(np.stack(frames), 6)


@calls("np.arange(10.0), 0.3", "np.array([5, 1, 3]), 0.5", "np.zeros(0), 0.1")
def ema(x, alpha):
    out = np.empty_like(x, dtype=float)
    if x.size == 0:
        return out
    out[0] = x[0]
    for i in range(1, len(x)):
        out[i] = alpha * x[i] + (1 - alpha) * out[i - 1]
    return out


@calls(
    "np.array([1.0, 2, 3, 4]), np.array([0.5, 0.5])", "np.array([1, 2, 3]), np.array([1])", "np.arange(4), np.arange(2)"
)
def lfilter(x, b):
    y = np.zeros(len(x))
    for n in range(len(x)):
        acc = 0.0
        for k in range(len(b)):
            if n - k >= 0:
                acc += b[k] * x[n - k]
        y[n] = acc
    return y


@calls(
    "np.arange(25.0).reshape(5, 5), np.array([[0, 1, 0], [1, -4, 1], [0, 1, 0]])",
    "np.ones((3, 3)), np.ones((3, 3)) / 9",
    "np.ones((2, 2), int), np.ones((3, 3), int)",
)
def convolve2d(image, kernel):
    kh, kw = kernel.shape
    ph, pw = kh // 2, kw // 2
    padded = np.pad(image, ((ph, ph), (pw, pw)), mode="edge")
    out = np.zeros(image.shape)
    for i in range(kh):
        for j in range(kw):
            out += kernel[i, j] * padded[i : i + image.shape[0], j : j + image.shape[1]]
    return out


@calls("np.array([[1, 9, 1], [1, 1, 1], [5, 1, 1]])", "np.eye(4)", "np.zeros((1, 1))")
def median_blur(img):
    h, w = img.shape
    out = img.copy()
    for y in range(h):
        for x in range(w):
            y0, y1 = max(y - 1, 0), min(y + 2, h)
            x0, x1 = max(x - 1, 0), min(x + 2, w)
            out[y, x] = np.median(img[y0:y1, x0:x1])
    return out


@calls(
    "np.array([[0, 1, 0], [0, 1, 0], [0, 1, 0]]), 1",
    "np.array([[0, 1, 1, 0], [0, 0, 1, 0], [1, 0, 0, 0], [1, 1, 0, 1]], bool), 3",
    "np.zeros((2, 2), int), 2",
)
def game_of_life(board, steps):
    for _ in range(steps):
        n = sum(np.roll(np.roll(board, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
        board = ((n == 3) | ((board == 1) & (n == 2))).astype(board.dtype)
    return board


@calls("np.array([1, 5, 2, 8, 3]), 3", "np.array([1, 2]), 5", "np.arange(4.0), 1")
def sliding_max(x, k):
    v = np.lib.stride_tricks.sliding_window_view(x, k)
    return v.max(axis=1)


KERNELS = {"box": np.ones(3) / 3, "sharp": np.array([-1.0, 3.0, -1.0])}


@calls("np.arange(6.0), 'box'", "np.arange(4.0), 'sharp'", "np.arange(4.0), 'none'")
def named_kernel(x, kind):
    k = KERNELS[kind]
    return np.convolve(x, k, mode="same")


@calls("np.array([[1, 1, 0], [0, 1, 0], [1, 0, 1]])", "np.zeros((2, 2), int)", "np.ones((1, 4), int)")
def label_components(img):
    labels = np.zeros(img.shape, int)
    current = 0
    for i in range(img.shape[0]):
        for j in range(img.shape[1]):
            if img[i, j] and not labels[i, j]:
                current += 1
                stack = [(i, j)]
                while stack:
                    y, x = stack.pop()
                    if 0 <= y < img.shape[0] and 0 <= x < img.shape[1] and img[y, x] and not labels[y, x]:
                        labels[y, x] = current
                        stack += [(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)]
    return labels, current


@calls("np.array([1.0, 2, 3]), np.array([0.5, 1.5])", "np.array([1]), np.array([1])")
def histogram_by_hand(x, edges):
    h = np.zeros(len(edges) + 1, int)
    for v in x:
        b = np.searchsorted(edges, v)
        h[b] += 1
    c, e = np.histogram(x, bins=3)
    return h, c, e, np.digitize(x, edges)


@calls("np.array([[255, 0], [10, 20]], np.uint8), 30", "np.array([[1.0]]), 3")
def brighten(img, amount):
    return np.clip(img.astype(np.int16) + amount, 0, 255).astype(img.dtype)


@calls("np.arange(16, dtype=np.uint8).reshape(4, 4)", "np.ones((2, 4))")
def pool(img):
    h, w = img.shape
    return img.reshape(h // 2, 2, w // 2, 2).max(axis=(1, 3)), img.reshape(h // 2, 2, w // 2, 2).mean(axis=(1, 3))


@calls("np.arange(48).reshape(4, 4, 3)", "np.ones((1, 1, 3), np.float32)")
def grey(img):
    return img @ np.array([0.299, 0.587, 0.114]), img[..., ::-1], img.mean(-1), np.rot90(img), np.flipud(img)


@calls("np.array([[0.0, 0], [4, 0], [0, 3]])", "np.array([[0, 0], [1, 1], [2, 0], [1, -1]])")
def polygon(points):
    area = 0
    n = len(points)
    for i in range(n):
        x0, y0 = points[i]
        x1, y1 = points[(i + 1) % n]
        area += x0 * y1 - x1 * y0
    perimeter = sum(math.hypot(*(points[i] - points[i - 1])) for i in range(n))
    return abs(area) / 2, perimeter


@calls("np.array([1.0, 2.0, 4.0])", "np.array([3])", "np.array([1, 4, 9, 16])")
def differences(x):
    d = np.diff(x)
    g = np.gradient(x) if len(x) > 1 else None
    c = np.cumsum(x)
    p = np.cumprod(x)
    e = np.ediff1d(x, to_begin=0)
    return d, g, c, p, e, np.diff(x, n=2), x[1:] / x[:-1]


@calls("np.arange(5.0), 0.5", "np.zeros(3), 0.1", "np.array([]), 1")
def threshold_counts(x, t):
    above = below = 0
    for v in x:
        if v > t:
            above += 1
        elif v < t:
            below += 1
        else:
            return "equal"
    return {"above": above, "below": below, "share": above / (above + below) if above + below else None}


@calls("np.array([1.0, 2.0, 3.0]), 2", "np.array([5]), 1")
def rolling(x, k):
    buf = np.zeros(k)
    out = []
    for i, v in enumerate(x):
        buf = np.roll(buf, 1)
        buf[0] = v
        out.append(buf.mean())
    return np.array(out), buf


@calls("np.array([0.0, 1, 0, -1, 0, 1, 0, -1]), 3", "np.ones(4), 1")
def autocorr(x, lags):
    x = x - x.mean()
    c0 = np.dot(x, x)
    if c0 == 0:
        return np.zeros(lags + 1)
    return np.array([np.dot(x[: len(x) - k], x[k:]) / c0 for k in range(lags + 1)])


@calls("np.array([1.0, 2, 1, 3, 1]), 1.5", "np.array([]), 1", "np.array([5, 1, 5]), 2")
def find_peaks(x, height):
    peaks = []
    for i in range(1, len(x) - 1):
        if x[i - 1] < x[i] > x[i + 1] and x[i] >= height:
            peaks.append(i)
    props = {"heights": x[peaks] if peaks else np.array([])}
    return np.array(peaks, dtype=int), props


@calls("np.arange(16.0).reshape(4, 4)", "np.ones((3, 3), np.uint8) * 200")
def sobel(img):
    gx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    gy = gx.T
    img = img.astype(np.float64)
    h, w = img.shape
    mag = np.zeros((h - 2, w - 2))
    for i in range(h - 2):
        for j in range(w - 2):
            patch = img[i : i + 3, j : j + 3]
            mag[i, j] = np.hypot((patch * gx).sum(), (patch * gy).sum())
    return (mag / mag.max() * 255).astype(np.uint8) if mag.max() > 0 else mag


@calls("np.array([[10, 200], [30, 220]], np.uint8)", "np.zeros((2, 2), np.uint8)")
def otsu(img):
    hist, _ = np.histogram(img.ravel(), 256, (0, 256))
    total = img.size
    best, thr = -1.0, 0
    w0 = s0 = 0
    s = np.dot(np.arange(256), hist)
    for t in range(256):
        w0 += hist[t]
        if w0 == 0:
            continue
        w1 = total - w0
        if w1 == 0:
            break
        s0 += t * hist[t]
        m0, m1 = s0 / w0, (s - s0) / w1
        var = w0 * w1 * (m0 - m1) ** 2
        if var > best:
            best, thr = var, t
    return thr, img > thr


@calls("np.array([[0, 0, 1], [1, 0, 1], [1, 1, 1]]), (0, 0), 7", "np.ones((2, 2), int), (1, 1), 1")
def flood_fill(img, seed, colour):
    old = img[seed]
    if old == colour:
        return img
    stack = [seed]
    while stack:
        r, c = stack.pop()
        if r < 0 or c < 0 or r >= img.shape[0] or c >= img.shape[1] or img[r, c] != old:
            continue
        img[r, c] = colour
        stack.extend([(r + 1, c), (r - 1, c), (r, c + 1), (r, c - 1)])
    return img


@calls("np.array([[0, 1], [1, 1]]), 2", "np.eye(3, dtype=int), 1")
def dilate(mask, n):
    for _ in range(n):
        p = np.pad(mask, 1)
        mask = p[1:-1, 1:-1] | p[:-2, 1:-1] | p[2:, 1:-1] | p[1:-1, :-2] | p[1:-1, 2:]
    return mask
