"""The programs of staged.py: numeric Python as one writes it, and as one writes it for NumPy's sake."""

import numpy as np


def add(a, b):
    return a + b


def collatz(n):
    """The steps until a number comes down to 1."""
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


def rnn(inputs, lengths, state, w, u):
    """A recurrent network over sequences of different lengths."""
    outputs = np.zeros((len(inputs), *state.shape), state.dtype)
    for t in range(np.max(lengths)):
        new = np.tanh(inputs[t] @ w + state @ u)
        state = np.where((t < lengths)[:, None], new, state)
        outputs[t] = state
    return outputs, state


def mandelbrot(width, height, limit):
    """How many iterations each point of a grid takes to leave a circle."""
    counts = np.zeros((height, width), dtype=np.int64)
    for row in range(height):
        for column in range(width):
            c = complex(3 * column / width - 2, 2 * row / height - 1)
            z = 0j
            n = 0
            while n < limit and abs(z) <= 2:
                z = z * z + c
                n += 1
            counts[row, column] = n
    return counts


def mandelbrot_of_arrays(width, height, limit):
    c = 3 * np.arange(width) / width - 2 + 1j * (2 * np.arange(height)[:, None] / height - 1)
    z = np.zeros_like(c)
    counts = np.zeros(c.shape, dtype=np.int64)
    for _ in range(limit):
        inside = np.abs(z) <= 2
        if not inside.any():
            break
        z[inside] = z[inside] ** 2 + c[inside]
        counts += inside
    return counts


def beam_search(embedding, w, v, first, stop, width, length):
    """The likeliest sequences that a recurrent network goes on with, and their scores."""
    letters = v.shape[1]
    sequences, tokens = np.zeros((width, length), np.int64), np.full(width, first)
    states, done = np.zeros((width, w.shape[0])), np.zeros(width, bool)
    scores = np.full(width, -np.inf)
    scores[0] = 0.0
    for at in range(length):
        states = np.tanh(embedding[tokens] + states @ w)
        logits = states @ v
        logits = logits - np.max(logits, axis=1, keepdims=True)
        gains = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
        gains[done] = -np.inf
        gains[done, stop] = 0.0
        grown = np.ravel(scores[:, None] + gains)
        best = np.argpartition(-grown, width)[:width]
        best = best[np.argsort(-grown[best])]
        parents, tokens = best // letters, best % letters
        sequences, states, scores = sequences[parents], states[parents], grown[best]
        sequences[:, at] = tokens
        done = done[parents] | (tokens == stop)
        if np.all(done):
            break
    return sequences, scores


def k_means(points, centers, iterations):
    """Where the centers of clusters end up."""
    for _ in range(iterations):
        distances = np.sum((points[:, None, :] - centers[None, :, :]) ** 2, axis=2)
        nearest = np.argmin(distances, axis=1)
        new = np.zeros_like(centers)
        for k in range(len(centers)):
            members = nearest == k
            if np.any(members):
                new[k] = np.mean(points[members], axis=0)
            else:
                new[k] = centers[k]
        shift = np.max(np.abs(new - centers))
        centers = new
        if shift < 1e-6:
            break
    return centers


def k_means_by_matmul(points, centers, iterations):
    for _ in range(iterations):
        distances = (centers**2).sum(axis=1) - 2 * points @ centers.T
        members = np.equal.outer(np.arange(len(centers)), distances.argmin(axis=1))
        counts = members.sum(axis=1)[:, None]
        new = np.where(counts > 0, members @ points / np.maximum(counts, 1), centers)
        done = np.abs(new - centers).max() < 1e-6
        centers = new
        if done:
            break
    return centers


def matmuls(x, w):
    for _ in range(100):
        x = np.tanh(x @ w)
    return x


def newton(constant, x, tolerance, limit):
    """Twenty lines, with all kinds of statements."""
    found = False
    steps = 0
    history = np.zeros(limit)
    while not found and steps < limit:
        value = x**3 - 2 * x - constant
        slope = 3 * x**2 - 2
        if abs(slope) < 1e-12:
            break
        step = value / slope
        x = x - step
        history[steps] = value
        steps += 1
        if abs(step) < tolerance and abs(value) < tolerance:
            found = True
    if found:
        worst = history[:steps].max()
    else:
        worst = -1.0
    return x, steps, worst


# Straight-line programs: calls are traced into, loops would be staged.


def ops_10(x):
    x = x * 0.999 + 0.001
    x = x * 0.998 + 0.002
    x = x * 0.997 + 0.003
    x = x * 0.996 + 0.004
    return x * 0.995 + 0.005


def ops_100(x):
    x = ops_10(ops_10(ops_10(ops_10(ops_10(x)))))
    return ops_10(ops_10(ops_10(ops_10(ops_10(x)))))


def ops_1000(x):
    x = ops_100(ops_100(ops_100(ops_100(ops_100(x)))))
    return ops_100(ops_100(ops_100(ops_100(ops_100(x)))))


def ops_10000(x):
    x = ops_1000(ops_1000(ops_1000(ops_1000(ops_1000(x)))))
    return ops_1000(ops_1000(ops_1000(ops_1000(ops_1000(x)))))
