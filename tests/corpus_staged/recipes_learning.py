"""Recipes of machine learning and statistics."""

import numpy as np

from tests.corpus_staged import calls


def _points(n, d, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@calls("_points(12, 2), 3, 20", "np.zeros((4, 2)), 2, 5", "_points(5, 1), 1, 0")
def k_means(points, k, limit):
    centres = points[:k].copy()
    labels = np.zeros(len(points), dtype=int)
    for step in range(limit):
        distances = np.linalg.norm(points[:, None] - centres, axis=2)
        new = distances.argmin(axis=1)
        if step > 0 and (new == labels).all():
            break
        labels = new
        for j in range(k):
            if (labels == j).any():
                centres[j] = points[labels == j].mean(axis=0)
    return centres, labels


@calls("np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 0, 0, 1]), 10", "np.zeros((1, 1)), np.array([1]), 0")
def perceptron(x, y, epochs):
    w, b = np.zeros(x.shape[1]), 0
    for _ in range(epochs):
        mistakes = 0
        for features, label in zip(x, y):
            guess = 1 if features @ w + b > 0 else 0
            if guess != label:
                w += (label - guess) * features
                b += label - guess
                mistakes += 1
        if mistakes == 0:
            break
    return w, b


@calls("_points(8, 2), np.arange(8) % 2, 0.5, 15", "_points(2, 1), np.array([1, 0]), 0.1, 0")
def logistic_regression(x, y, rate, steps):
    w = np.zeros(x.shape[1])
    losses = []
    for i in range(steps):
        p = 1 / (1 + np.exp(-x @ w))
        w -= rate * x.T @ (p - y) / len(y)
        if i % 5 == 0:
            losses.append(-np.mean(y * np.log(p) + (1 - y) * np.log(1 - p)))
    return w, losses


@calls("np.array([1.0, 2.0, 3.0])", "np.array([[1000.0, 1000.0], [0.0, 1.0]])", "np.array([5])")
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@calls("_points(10, 3), 2", "np.ones((3, 2)), 1")
def principal_components(x, k):
    centred = x - x.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(centred.T))
    order = np.argsort(values)[::-1][:k]
    return values[order], np.abs(centred @ vectors[:, order]).round(6)


@calls("np.arange(5.0), np.arange(5.0) * 2 + 1", "np.ones(2), np.zeros(2)")
def line_fit(x, y):
    n = len(x)
    sx = sy = sxx = sxy = 0
    for a, b in zip(x, y):
        sx, sy = sx + a, sy + b
        sxx, sxy = sxx + a * a, sxy + a * b
    d = n * sxx - sx * sx
    if d == 0:
        return None
    slope = (n * sxy - sx * sy) / d
    return slope, (sy - slope * sx) / n


def _cell(x, h, w, u, b):
    return np.tanh(w @ x + u @ h + b)


@calls(
    "_points(4, 3), _points(2, 3, 1), _points(2, 2, 2), np.zeros(2)",
    "np.zeros((0, 1)), np.ones((2, 1)), np.eye(2), np.ones(2)",
)
def recurrent_network(xs, w, u, b):
    h = np.zeros(len(b))
    outputs = []
    for x in xs:
        h = _cell(x, h, w, u, b)
        outputs.append(h)
    return h, np.stack(outputs) if outputs else None


@calls("_points(6, 2).reshape(3, 2, 2), np.array([3, 1])", "np.ones((1, 1, 1)), np.array([0])")
def dynamic_lengths(batch, lengths):
    """Sequences of different lengths, in one batch; time comes first."""
    state = np.zeros(batch.shape[1:])
    for t in range(batch.shape[0]):
        active = (t < lengths)[:, None]
        state = np.where(active, np.tanh(state + batch[t]), state)
    return state


@calls("np.log(np.array([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.4, 0.4, 0.2]])), 2", "np.zeros((0, 2)), 1")
def beam_search(scores, width):
    beams = [((), 0.0)]
    for row in scores:
        candidates = []
        for sequence, score in beams:
            for token, s in enumerate(row):
                candidates.append((sequence + (token,), score + s))
        candidates.sort(key=lambda c: c[1], reverse=True)
        beams = candidates[:width]
    return beams


@calls("np.array([[0.9, 0.1], [0.5, 0.5]]), np.array([1.0, 0.0]), 100", "np.eye(2), np.array([0.3, 0.7]), 5")
def markov_chain(p, state, limit):
    for step in range(limit):
        new = state @ p
        if np.allclose(new, state, atol=1e-10):
            return new, step
        state = new
    return state, limit


@calls("np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([[0.9, 0.1], [0.2, 0.8]]), [0, 0, 1]", "np.eye(2), np.eye(2), [1]")
def viterbi(transition, emission, observed):
    n = len(transition)
    score = np.full(n, 1 / n) * emission[:, observed[0]]
    back = []
    for o in observed[1:]:
        paths = score[:, None] * transition
        back.append(paths.argmax(axis=0))
        score = paths.max(axis=0) * emission[:, o]
    path = [int(score.argmax())]
    for pointers in reversed(back):
        path.insert(0, int(pointers[path[0]]))
    return path, score.max()


@calls("np.array([1.0, 2.0, 3.0, 4.0]), 2", "np.array([1.0]), 3", "np.array([]), 1")
def moving_average(x, width):
    out = np.empty(max(len(x) - width + 1, 0))
    total = x[:width].sum()
    for i in range(len(out)):
        out[i] = total / width
        if i + width < len(x):
            total += x[i + width] - x[i]
    return out


@calls("[1.0, 5.0, 2.0]", "[]", "[3]", "np.array([1.0, 2.0])", "[1.0, 2.0, 3.0]", "range(4)", "np.arange(3)")
def running_statistics(xs):
    n, mean, m2 = 0, 0.0, 0.0
    for x in xs:
        n += 1
        delta = x - mean
        mean += delta / n
        m2 += delta * (x - mean)
    return mean, m2 / (n - 1) if n > 1 else float("nan")


@calls("_points(6, 2), np.array([0, 0, 0, 1, 1, 1]), np.zeros(2), 3", "np.ones((1, 2)), np.array([4]), np.ones(2), 1")
def nearest_neighbours(x, labels, query, k):
    order = np.argsort(((x - query) ** 2).sum(axis=1))[:k]
    votes = {}
    for label in labels[order]:
        votes[int(label)] = votes.get(int(label), 0) + 1
    return max(votes, key=votes.get), votes


@calls("_points(3, 4), 4, 0.1", "np.zeros((1, 2)), 2, 1.0")
def two_layer_network(x, hidden, rate):
    rng = np.random.default_rng(7)
    weights = {"w1": rng.normal(size=(x.shape[1], hidden)), "w2": rng.normal(size=(hidden, 1))}
    target = x.sum(axis=1, keepdims=True)
    losses = []
    for _ in range(5):
        h = np.maximum(x @ weights["w1"], 0)
        error = h @ weights["w2"] - target
        losses.append(float((error**2).mean()))
        grad2 = h.T @ error
        grad1 = x.T @ ((error @ weights["w2"].T) * (h > 0))
        weights["w1"] -= rate * grad1
        weights["w2"] -= rate * grad2
        rate *= 0.9 if len(losses) < 2 or losses[-1] < losses[-2] else 0.1
    return losses, weights["w2"]


@calls("np.array([1.0, -1.0]), 50", "np.array([0.0]), 1")
def adam(w, steps):
    m = v = 0
    for t in range(1, steps + 1):
        g = 2 * (w - 3)
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        w = w - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return w


@calls("np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0])", "np.array([1]), np.array([1])", "np.array([0]), np.array([0])")
def confusion(truth, guess):
    table = np.zeros((2, 2), dtype=int)
    for t, g in zip(truth, guess):
        table[t, g] += 1
    tp, fp, fn = table[1, 1], table[0, 1], table[1, 0]
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    return table, precision, recall, "f1: %.3f" % (2 * precision * recall / max(precision + recall, 1e-9))


@calls("_points(5, 2), 0.7, 3", "np.zeros((2, 1)), 0.5, 1")
def momentum_over_batches(x, momentum, epochs):
    w, velocity, history = np.zeros(x.shape[1]), np.zeros(x.shape[1]), []
    for epoch in range(epochs):
        for start in range(0, len(x), 2):
            batch = x[start : start + 2]
            gradient = batch.mean(axis=0) + w
            velocity = momentum * velocity - 0.1 * gradient
            w += velocity
        history.append(np.linalg.norm(w))
        if epoch and history[-1] > history[-2] * 2:
            raise ArithmeticError("diverges")
    return w, history


@calls("np.array([0.2, 0.5, 0.3]), 10, 0", "np.array([1.0]), 0, 1")
def sample_categories(p, n, seed):
    np.random.seed(seed)
    edges, counts = np.cumsum(p), np.zeros(len(p), int)
    for _ in range(n):
        counts[np.searchsorted(edges, np.random.rand())] += 1
    return counts


@calls("np.array([1.0, 2.0, 4.0]), np.array([2.0, 2.0, 3.0])", "np.zeros(1), np.zeros(2)")
def losses(y, p):
    error = y - p
    huber = np.where(np.abs(error) < 1, 0.5 * error**2, np.abs(error) - 0.5)
    return {
        "mse": np.mean(error**2),
        "mae": np.abs(error).mean(),
        "huber": huber.sum(),
        "worst": error[np.abs(error).argmax()],
    }
