"""Machine learning by hand: regression, networks, trees, clusters."""

import math

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


@calls("5, 'relu'", "-2.0, 'relu'", "np.array([-1.0, 2.0]), 'tanh'", "1.0, 'bad'")
def activation(x, kind):
    table = {"relu": lambda v: np.maximum(v, 0), "tanh": np.tanh}
    if kind not in table:
        raise KeyError(kind)
    return table[kind](x)


class Layer:
    def __init__(self, n, m, rng):
        self.W = rng.normal(size=(n, m))
        self.b = np.zeros(m)
        self.cache = None

    def forward(self, x):
        self.cache = x
        return np.maximum(x @ self.W + self.b, 0)

    def backward(self, g, lr):
        dW = self.cache.T @ g
        self.W -= lr * dW
        self.b = self.b - lr * g.sum(0)
        return g @ self.W.T


class Net:
    def __init__(self, sizes, seed=0):
        rng = np.random.default_rng(seed)
        self.layers = [Layer(a, b, rng) for a, b in zip(sizes, sizes[1:])]
        self.losses = []

    def fit(self, X, y, epochs):
        for _ in range(epochs):
            out = X
            for layer in self.layers:
                out = layer.forward(out)
            g = 2 * (out - y) / len(X)
            self.losses.append(float((out - y).ravel() @ (out - y).ravel()))
            for layer in reversed(self.layers):
                g = layer.backward(g, 0.01)
        return self


@calls(
    "Net([2, 3, 1]), np.ones((4, 2)), np.zeros((4, 1)), 3",
    "Net([1, 1], 3), np.arange(3.0)[:, None], np.ones((3, 1)), 2",
)
def train(net, X, y, epochs):
    net.fit(X, y, epochs)
    return net.losses, net.layers[0].W, net.layers[-1].b, net.layers[0].cache is X


@calls("[2, 3, 1], np.ones((4, 2)), 2", "[2, 1], np.ones((1, 2)), 1")
def train_made_here(sizes, X, epochs):
    net = Net(sizes, 1)
    net.fit(X, np.zeros((len(X), sizes[-1])), epochs)
    return net.losses, net.layers[0].W.shape


class RunningStat:
    def __init__(self):
        self.n = 0
        self.mean = 0.0
        self.m2 = 0.0

    def push(self, x):
        self.n += 1
        d = x - self.mean
        self.mean += d / self.n
        self.m2 += d * (x - self.mean)

    @property
    def std(self):
        return math.sqrt(self.m2 / (self.n - 1)) if self.n > 1 else 0.0


@calls("RunningStat(), [1.0, 2.0, 4.0]", "RunningStat(), np.array([1.0, 5.0])", "RunningStat(), []")
def stats(s, xs):
    for x in xs:
        s.push(x)
    return s.n, s.mean, s.std


@calls("np.array([[1.0, 2], [3, 4], [5, 6]]), np.array([0, 1, 1]), 2", "np.ones((2, 2)), np.array([0, 0]), 1")
def gaussian_nb(X, y, k):
    n, d = X.shape
    mean, var, prior = np.zeros((k, d)), np.zeros((k, d)), np.zeros(k)
    for c in range(k):
        Xc = X[y == c]
        mean[c, :] = Xc.mean(axis=0)
        var[c, :] = Xc.var(axis=0) + 1e-9
        prior[c] = Xc.shape[0] / float(n)
    preds = []
    for x in X:
        post = [
            np.log(prior[c]) - 0.5 * np.sum(np.log(2 * np.pi * var[c])) - 0.5 * np.sum((x - mean[c]) ** 2 / var[c])
            for c in range(k)
        ]
        preds.append(np.argmax(post))
    return np.array(preds)


@calls(
    "np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]]), np.array([0, 1, 1, 1]), 2",
    "np.zeros((2, 2), int), np.array([0, 1]), 1",
)
def tree(X, y, depth):
    def entropy(v):
        p = np.bincount(v) / len(v)
        p = p[p > 0]
        return -np.sum(p * np.log2(p))

    def grow(X, y, d):
        if d == 0 or len(np.unique(y)) == 1:
            return int(np.bincount(y).argmax())
        best, gain = None, 0.0
        for j in range(X.shape[1]):
            m = X[:, j] == 1
            if m.all() or not m.any():
                continue
            g = entropy(y) - m.mean() * entropy(y[m]) - (1 - m.mean()) * entropy(y[~m])
            if g > gain + 1e-12:
                best, gain = j, g
        if best is None:
            return int(np.bincount(y).argmax())
        m = X[:, best] == 1
        return {"feature": best, "yes": grow(X[m], y[m], d - 1), "no": grow(X[~m], y[~m], d - 1)}

    return grow(X, y, depth)


@calls("np.array([[1.0, 0], [0, 1]]), np.array([1, -1]), 10", "np.eye(3), np.array([1, 1, -1]), 2")
def svm_sgd(X, y, epochs, lam=0.1):
    w = np.zeros(X.shape[1])
    t = 0
    for epoch in range(1, epochs + 1):
        for i, xi in enumerate(X):
            t += 1
            eta = 1 / (lam * t)
            if y[i] * np.dot(w, xi) < 1:
                w = (1 - eta * lam) * w + eta * y[i] * xi
            else:
                w = (1 - eta * lam) * w
    return w


@calls("np.random.default_rng(0), np.array([0.2, 0.5, 0.8]), 30", "np.random.default_rng(1), np.array([0.5]), 3")
def bandit(rng, probs, steps, eps=0.1):
    q = np.zeros(len(probs))
    n = np.zeros(len(probs), dtype=int)
    total = 0
    for t in range(steps):
        if rng.random() < eps:
            a = rng.integers(len(probs))
        else:
            a = int(np.argmax(q))
        r = 1 if rng.random() < probs[a] else 0
        n[a] += 1
        q[a] += (r - q[a]) / n[a]
        total += r
    return q, n, total


@calls("np.random.default_rng(0), 4, 20", "np.random.default_rng(2), 3, 5")
def q_learning(rng, n, episodes):
    Q = np.zeros((n, 2))
    for _ in range(episodes):
        s = 0
        for step in range(50):
            a = rng.integers(2) if rng.random() < 0.3 else int(Q[s].argmax())
            s2 = min(s + 1, n - 1) if a == 1 else max(s - 1, 0)
            r = 1.0 if s2 == n - 1 else 0.0
            Q[s, a] += 0.5 * (r + 0.9 * Q[s2].max() - Q[s, a])
            s = s2
            if s == n - 1:
                break
    return Q
