"""Statistics, random processes, simulations."""

import math
from collections import Counter, defaultdict

import numpy as np
from numpy.random import default_rng  # noqa: F401

from tests.corpus_staged import calls


@calls(
    "np.array([1.0, 2, 4]), np.array([1.0, 3, 5])",
    "np.array([1, 1]), np.array([2, 3])",
    "np.array([1.0]), np.array([1.0])",
)
def pearson(x, y):
    xm, ym = x - x.mean(), y - y.mean()
    r = (xm * ym).sum() / np.sqrt((xm**2).sum() * (ym**2).sum())
    return r


@calls("np.array([3, 1, 4, 1, 5, 9, 2, 6])", "np.array([1.5, 1.5])", "np.array([7])", "np.array([])")
def summary(x):
    n = len(x)
    if n == 0:
        return None
    q1, med, q3 = np.percentile(x, [25, 50, 75])
    iqr = q3 - q1
    outliers = x[(x < q1 - 1.5 * iqr) | (x > q3 + 1.5 * iqr)]
    return {
        "n": n,
        "mean": x.mean(),
        "std": x.std(ddof=1) if n > 1 else 0.0,
        "median": med,
        "iqr": iqr,
        "outliers": outliers,
    }


@calls("np.random.default_rng(0), 100", "np.random.default_rng(5), 0", "np.random.default_rng(1), np.int64(10)")
def monte_carlo_pi(rng, n):
    inside = 0
    for _ in range(n):
        x, y = rng.random(), rng.random()
        if x * x + y * y <= 1:
            inside += 1
    return 4 * inside / n if n else math.nan


@calls("np.random.default_rng(0), lambda x: -0.5 * x * x, 50", "np.random.default_rng(3), lambda x: -abs(x), 20")
def metropolis(rng, logp, n):
    x = 0.0
    samples = np.empty(n)
    accepted = 0
    for i in range(n):
        proposal = x + rng.normal(0, 1)
        if np.log(rng.uniform()) < logp(proposal) - logp(x):
            x = proposal
            accepted += 1
        samples[i] = x
    return samples, accepted / n


@calls("np.random.RandomState(0), 10, 3", "np.random.RandomState(1), 4, 4")
def bootstrap(rs, n, k):
    data = rs.randn(n)
    means = [rs.choice(data, size=n, replace=True).mean() for _ in range(k)]
    return np.mean(means), np.std(means)


@calls("np.array([0, 1, 1, 2, 2, 2])", "np.array([], int)", "np.array([3])")
def counts(x):
    values, cnt = np.unique(x, return_counts=True)
    d = dict(zip(values.tolist(), cnt.tolist()))
    b = np.bincount(x)
    return d, b, values[cnt == cnt.max()] if len(x) else None


@calls("[('a', 1), ('b', 2), ('a', 3)]", "[]")
def grouped(pairs):
    groups = defaultdict(list)
    for k, v in pairs:
        groups[k].append(v)
    return {k: np.mean(v) for k, v in groups.items()}


@calls("np.array([3, 1, 3, 2])", "[1, 1]", "'abca'")
def most_common(xs):
    c = Counter(xs.tolist() if isinstance(xs, np.ndarray) else xs)
    return c.most_common(1)[0]


@calls("default_rng(1), 6", "default_rng(2), 1")
def simulated_annealing(rng, n):
    cities = rng.random((n, 2))
    tour = np.arange(n)

    def length(t):
        return np.sqrt(((cities[t] - cities[np.roll(t, -1)]) ** 2).sum(axis=1)).sum()

    best = length(tour)
    temp = 1.0
    while temp > 0.1:
        i, j = rng.integers(0, n, 2)
        new = tour.copy()
        new[i], new[j] = new[j], new[i]
        cost = length(new)
        if cost < best or rng.random() < np.exp((best - cost) / temp):
            tour, best = new, cost
        temp *= 0.9
    return tour, round(best, 6)


@calls("default_rng(0), 8, 5", "default_rng(3), 4, 2")
def genetic(rng, size, generations):
    pop = rng.integers(0, 2, size=(size, 6))
    for g in range(generations):
        fitness = pop.sum(axis=1)
        parents = pop[np.argsort(fitness)[-size // 2 :]]
        children = []
        for _ in range(size - len(parents)):
            a, b = parents[rng.integers(len(parents), size=2)]
            cut = rng.integers(1, 6)
            child = np.concatenate((a[:cut], b[cut:]))
            if rng.random() < 0.3:
                child[rng.integers(6)] ^= 1
            children.append(child)
        pop = np.vstack([parents, children])
    return pop.sum(axis=1).max(), pop


@calls("default_rng(0), 5, 0.5", "default_rng(1), 1, 2")
def poisson_process(rng, t_max, rate):
    t = 0
    events = []
    while True:
        t += rng.exponential(1 / rate)
        if t > t_max:
            break
        events.append(t)
    return events


@calls("0, 10", "7, 3")
def legacy_seed(seed, n):
    np.random.seed(seed)
    x = np.random.rand(n)
    y = np.random.randint(0, 10, size=n)
    np.random.shuffle(y)
    return x.mean(), y, np.random.normal(), np.random.choice([1, 2, 3], p=[0.2, 0.3, 0.5])


@calls("default_rng(0), np.array([0.1, 0.9])", "default_rng(4), np.array([0.5, 0.25, 0.25])")
def markov(rng, p):
    states = []
    s = 0
    for _ in range(6):
        s = rng.choice(len(p), p=p)
        states.append(int(s))
        if s == len(p) - 1:
            states.append(-1)
    return states


@calls(
    "np.array([[0.7, 0.3], [0.4, 0.6]]), np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 0, 1]), np.array([0.5, 0.5])"
)
def forward(A, B, obs, pi):
    alpha = pi * B[:, obs[0]]
    scale = [alpha.sum()]
    alpha /= scale[0]
    for o in obs[1:]:
        alpha = (alpha @ A) * B[:, o]
        scale.append(alpha.sum())
        alpha /= scale[-1]
    return np.log(scale).sum(), alpha


@calls("1.0, 0.0, np.array([1.1, 0.9, 1.2])", "0, 1, np.array([1, 2])")
def kalman(x, p, zs):
    q, r = 1e-3, 0.1
    estimates = np.zeros(len(zs))
    for k, z in enumerate(zs):
        p = p + q
        gain = p / (p + r)
        x = x + gain * (z - x)
        p = (1 - gain) * p
        estimates[k] = x
    return estimates, p


@calls("np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0])", "np.array([1]), np.array([0])", "np.array([]), np.array([])")
def metrics(t, p):
    tp = int(np.sum((t == 1) & (p == 1)))
    fp = int(np.sum((t == 0) & (p == 1)))
    fn = int(np.sum((t == 1) & (p == 0)))
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    print(f"precision={precision:.2f} recall={recall:.2f} f1={f1:.2f}")
    return precision, recall, f1


@calls("np.array([[1.0, 2], [3, 4]])", "np.array([[1, 2, 3]])")
def reductions(a):
    return (
        a.sum(0),
        a.sum(axis=1, keepdims=True),
        a.prod(),
        a.var(axis=0),
        a.argmin(1),
        np.ptp(a, axis=0),
        a.cumsum(1),
        np.median(a, axis=0),
        np.average(a, axis=0, weights=[1] * len(a)),
    )


@calls("np.array([1.0, 2, 3, 4, 5, 6]), 2, 0.3", "np.array([1.0, 1.0, 1.0]), 1, 0.5")
def holt(x, horizon, alpha, beta=0.1):
    level, trend = x[0], x[1] - x[0]
    for v in x[1:]:
        last = level
        level = alpha * v + (1 - alpha) * (level + trend)
        trend = beta * (level - last) + (1 - beta) * trend
    return [level + (h + 1) * trend for h in range(horizon)]


@calls("20, 0.2, np.random.default_rng(0)", "5, 1.0, np.random.default_rng(1)")
def percolation(n, p, rng):
    grid = rng.random((n, n)) < p
    reach = np.zeros_like(grid)
    reach[0] = grid[0]
    changed = True
    while changed:
        before = reach.sum()
        reach[1:] |= reach[:-1] & grid[1:]
        reach[:-1] |= reach[1:] & grid[:-1]
        reach[:, 1:] |= reach[:, :-1] & grid[:, 1:]
        reach[:, :-1] |= reach[:, 1:] & grid[:, :-1]
        changed = reach.sum() > before
    return reach[-1].any(), reach.sum()


@calls("6, 0.5, np.random.RandomState(0), 3", "4, 2.0, np.random.RandomState(1), 1")
def ising(n, T, rs, sweeps):
    s = rs.choice([-1, 1], size=(n, n))
    for _ in range(sweeps * n * n):
        i, j = rs.randint(n), rs.randint(n)
        nb = s[(i + 1) % n, j] + s[i - 1, j] + s[i, (j + 1) % n] + s[i, j - 1]
        dE = 2 * s[i, j] * nb
        if dE <= 0 or rs.rand() < math.exp(-dE / T):
            s[i, j] *= -1
    return s.mean(), s
