"""Machine learning by hand: regression, networks, trees, clusters."""

import numpy as np
from numpy.linalg import norm
from numpy.random import default_rng  # noqa: F401

from tests.corpus_staged import calls


@calls("[1.0, 2.0], [3.0, 4.0]", "np.array([1, 2]), np.array([3, 4])", "(1, 2), (1, 2)")
def cosine_similarity(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return float(a @ b / (norm(a) * norm(b)))


@calls(
    "np.array([[0.0, 0], [0, 1], [5, 5], [5, 6]]), 2, 0",
    "np.arange(12.0).reshape(6, 2), 3, 1",
    "np.zeros((3, 2)), 1, 0",
)
def kmeans(points, k, seed):
    rng = np.random.default_rng(seed)
    centers = points[rng.choice(len(points), k, replace=False)]
    for it in range(100):
        d = np.linalg.norm(points[:, None] - centers[None], axis=2)
        labels = d.argmin(axis=1)
        new = np.array([points[labels == j].mean(axis=0) if np.any(labels == j) else centers[j] for j in range(k)])
        if np.allclose(new, centers):
            break
        centers = new
    return labels, centers, it


@calls(
    "np.array([1.0, 2, 3, 4]), np.array([0, 0, 1, 1])",
    "np.array([1, 1]), np.array([0, 1])",
    "np.array([3.0, 1, 2]), np.array([1, 0, 1])",
)
def decision_stump(x, y):
    best, best_err = None, len(y) + 1
    for threshold in np.unique(x):
        for polarity in (1, -1):
            pred = (polarity * x > polarity * threshold).astype(int)
            err = np.sum(pred != y)
            if err < best_err:
                best, best_err = (threshold, polarity), err
    return best, best_err


@calls(
    "np.array([[1.0, 2], [2, 1], [-1, -2], [-2, -1]]), np.array([1, 1, 0, 0]), 0.1, 50",
    "np.ones((2, 1)), np.array([0, 1]), 1, 3",
)
def logistic(X, y, lr, epochs):
    w = np.zeros(X.shape[1])
    b = 0
    losses = []
    for epoch in range(epochs):
        z = X @ w + b
        p = 1 / (1 + np.exp(-z))
        grad_w = X.T @ (p - y) / len(y)
        grad_b = np.mean(p - y)
        w -= lr * grad_w
        b -= lr * grad_b
        if epoch % 10 == 0:
            loss = -np.mean(y * np.log(p + 1e-12) + (1 - y) * np.log(1 - p + 1e-12))
            losses.append(loss)
    return w, b, losses


@calls(
    "np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([[0], [1], [1], [0]]), 5, 20",
    "np.ones((1, 2)), np.ones((1, 1)), 2, 1",
)
def mlp(X, y, hidden, epochs):
    rng = np.random.default_rng(42)
    W1, b1 = rng.standard_normal((X.shape[1], hidden)), np.zeros(hidden)
    W2, b2 = rng.standard_normal((hidden, 1)), np.zeros(1)
    for _ in range(epochs):
        h = np.tanh(X @ W1 + b1)
        out = h @ W2 + b2
        d_out = 2 * (out - y) / len(X)
        dW2, db2 = h.T @ d_out, d_out.sum(0)
        d_h = d_out @ W2.T * (1 - h**2)
        dW1, db1 = X.T @ d_h, d_h.sum(0)
        for param, grad in zip((W1, b1, W2, b2), (dW1, db1, dW2, db2)):
            param -= 0.1 * grad
    return np.round(W1, 8), np.round(((out - y) ** 2).mean(), 8)


def _sigmoid(z):
    return 1.0 / (1.0 + np.exp(-z))


@calls("np.array([0.2, -1.0, 3.0])", "0.5", "np.float32(1)")
def sigmoid_stable(z):
    z = np.asarray(z, dtype=float)
    out = np.empty_like(z)
    pos = z >= 0
    out[pos] = _sigmoid(z[pos])
    ez = np.exp(z[~pos])
    out[~pos] = ez / (1 + ez)
    return out


@calls("np.array([[1.0, 2, 3], [1, 1, 1]])", "np.array([1.0, 2.0])", "np.array([[1000.0, 0]])")
def softmax(x, axis=-1):
    x = x - np.max(x, axis=axis, keepdims=True)
    e = np.exp(x)
    return e / e.sum(axis=axis, keepdims=True)


@calls("np.array([1, 0, 2]), 3", "np.array([0]), 1", "np.array([], int), 2")
def one_hot(labels, n):
    out = np.zeros((labels.size, n))
    out[np.arange(labels.size), labels] = 1
    return out


@calls(
    "np.arange(20.0).reshape(10, 2), np.arange(10), 4, default_rng(0)",
    "np.ones((3, 1)), np.zeros(3), 5, default_rng(1)",
)
def minibatches(X, y, size, rng):
    order = rng.permutation(len(X))
    batches = []
    for i in range(0, len(X), size):
        idx = order[i : i + size]
        batches.append((X[idx], y[idx]))
    return batches


@calls("np.arange(8.0).reshape(4, 2), np.array([1.0, 2, 3, 4]), 0.01, 20, default_rng(0)")
def sgd(X, y, lr, epochs, rng):
    w = rng.normal(size=X.shape[1])
    history = []
    for epoch in range(epochs):
        for i in rng.permutation(len(X)):
            err = X[i] @ w - y[i]
            w -= lr * err * X[i]
        loss = ((X @ w - y) ** 2).mean()
        history.append(loss)
        if len(history) > 1 and abs(history[-1] - history[-2]) < 1e-6:
            break
    return w, history


@calls("np.array([1.0, -1.0]), lambda w: 2 * w, 0.1, 0.9", "np.array([3.0]), lambda w: w, 0.5, 0.0")
def momentum(w, grad, lr, beta):
    v = np.zeros_like(w)
    trace = []
    for _ in range(5):
        v = beta * v + grad(w)
        w = w - lr * v
        trace.append(np.linalg.norm(w))
    return w, np.array(trace)


@calls("np.array([[1.0, 2], [2, 4.1], [3, 5.9]]), 2", "np.eye(3), 1")
def pca(X, k):
    Xc = X - X.mean(axis=0)
    U, S, Vt = np.linalg.svd(Xc, full_matrices=False)
    signs = np.sign(Vt[np.arange(len(Vt)), np.abs(Vt).argmax(axis=1)])
    comps = (Vt * signs[:, None])[:k]
    var = S**2 / (len(X) - 1)
    return np.round(comps, 6), np.round(var[:k] / var.sum(), 6)


@calls(
    "np.array([[1.0, 2], [1.5, 1.8], [8, 8]]), np.array([0, 0, 1]), np.array([1.0, 1.0]), 2",
    "np.array([[0.0]]), np.array([3]), np.array([5]), 1",
)
def knn(X, y, q, k):
    d = np.sqrt(np.sum((X - q) ** 2, axis=1))
    nearest = y[np.argsort(d)[:k]]
    values, c = np.unique(nearest, return_counts=True)
    return values[np.argmax(c)]
