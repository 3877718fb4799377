"""Dynamic programming, graphs, sorting and searching in arrays."""

from collections import deque

import numpy as np

from tests.corpus_staged import calls


@calls("[1, 3, 4], [15, 50, 60], 8", "[2], [3], 1", "[], [], 5", "np.array([1, 2]), np.array([3, 4]), 3")
def knapsack(weights, values, capacity):
    n = len(weights)
    dp = np.zeros((n + 1, capacity + 1), dtype=int)
    for i in range(1, n + 1):
        for w in range(capacity + 1):
            dp[i, w] = dp[i - 1, w]
            if weights[i - 1] <= w:
                dp[i, w] = max(dp[i, w], dp[i - 1, w - weights[i - 1]] + values[i - 1])
    return dp[n, capacity], dp


@calls("'kitten', 'sitting'", "'', 'abc'", "'same', 'same'")
def edit_distance(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), int)
    d[:, 0] = np.arange(len(a) + 1)
    d[0, :] = np.arange(len(b) + 1)
    for i, ca in enumerate(a, 1):
        for j, cb in enumerate(b, 1):
            cost = 0 if ca == cb else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return int(d[-1, -1])


@calls(
    "np.array([1, 2, 3, 2]), np.array([2, 3, 1])", "np.array([1]), np.array([2])", "np.array([], int), np.array([1])"
)
def lcs_length(a, b):
    table = np.zeros((a.size + 1, b.size + 1), dtype=np.int32)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            if x == y:
                table[i + 1][j + 1] = table[i][j] + 1
            else:
                table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j])
    return table[-1][-1]


@calls("np.array([5, 2, 8, 1])", "np.array([])", "np.array([2.5, 1.5])")
def selection_sort(a):
    for i in range(len(a)):
        m = i
        for j in range(i + 1, len(a)):
            if a[j] < a[m]:
                m = j
        a[i], a[m] = a[m], a[i]
    return a


@calls("10", "1", "0")
def nested_return(n):
    for i in range(2, n):
        for j in range(2, n):
            if i * j == n:
                return i, j
            if j > i:
                break
        else:
            continue
    return None


@calls("np.array([[1, 2], [3, 4]]), 3", "np.array([[1, 2], [3, 4]]), 9", "np.zeros((0, 0)), 1")
def find_in(a, v):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] == v:
                break
        else:
            continue
        break
    else:
        return "missing"
    return i, j


@calls("27", "1", "97")
def collatz(n):
    path = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        path.append(n)
    return max(path), len(path)


@calls("10", "1", "np.int64(12)")
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@calls("np.array([3, 1, 2, 5, 4])", "np.array([])", "np.array([1.5, 0.5])")
def quicksort(a):
    if len(a) <= 1:
        return a
    p = a[len(a) // 2]
    return np.concatenate([quicksort(a[a < p]), a[a == p], quicksort(a[a > p])])


@calls("np.array([3, 1, 2]), np.array(['c', 'a', 'b'])", "np.array([]), np.array([])")
def argsorted(keys, vals):
    order = np.argsort(keys, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return keys[order], vals[order], rank, np.lexsort((vals, keys))


@calls("np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]), 0", "np.array([[0, 1], [1, 0]]), 1")
def bfs(adj, start):
    dist = np.full(len(adj), -1)
    dist[start] = 0
    queue = deque([start])
    while queue:
        u = queue.popleft()
        for v in np.flatnonzero(adj[u]):
            if dist[v] < 0:
                dist[v] = dist[u] + 1
                queue.append(v)
    return dist


@calls("np.array([[0, 4, 0], [4, 0, 1], [0, 1, 0]]), 0", "np.array([[0]]), 0", "np.array([[0.0, 2.5], [0, 0]]), 1")
def dijkstra(w, s):
    n = len(w)
    dist = np.full(n, np.inf)
    dist[s] = 0
    done = np.zeros(n, bool)
    for _ in range(n):
        u = np.argmin(np.where(done, np.inf, dist))
        if dist[u] == np.inf:
            break
        done[u] = True
        for v in range(n):
            if w[u, v] and not done[v] and dist[u] + w[u, v] < dist[v]:
                dist[v] = dist[u] + w[u, v]
    return dist


@calls("30", "2", "1", "np.int64(20)")
def primes(n):
    sieve = np.ones(n + 1, dtype=bool)
    sieve[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if sieve[i]:
            sieve[i * i :: i] = False
    return np.flatnonzero(sieve), sieve.sum()


@calls("np.array([1, 5, 3]), lambda v: v > 2", "np.arange(4.0), lambda v: v < 0")
def count_if(x, pred):
    n = 0
    for v in x:
        if pred(v):
            n += 1
    return n, sum(1 for v in x if pred(v)), any(pred(v) for v in x), all(map(pred, x)), list(filter(pred, x))
