"""Recipes on graphs and tables: dynamic programming, shortest paths, backtracking, games."""

import heapq
from collections import deque

import numpy as np

from tests.corpus_staged import calls


@calls("'kitten', 'sitting'", "'', 'abc'", "'same', 'same'")
def edit_distance(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=int)
    d[:, 0] = np.arange(len(a) + 1)
    d[0] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[-1, -1]


@calls("np.array([1, 2, 3]), np.array([2, 3, 4, 4])", "np.array([], dtype=int), np.array([1])")
def edit_distance_of_arrays(a, b):
    row = np.arange(len(b) + 1)
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            old = row[j]
            row[j] = min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
            previous = old
    return row[-1]


@calls("[10, 9, 2, 5, 3, 7, 101, 18]", "[]", "[1]", "np.array([3.0, 1.0, 2.0])")
def longest_increasing(xs):
    n = len(xs)
    lengths = [1] * n
    for i in range(n):
        for j in range(i):
            if xs[j] < xs[i] and lengths[j] + 1 > lengths[i]:
                lengths[i] = lengths[j] + 1
    return max(lengths, default=0), lengths


@calls("'ABCBDAB', 'BDCABA'", "'', 'x'")
def longest_common_subsequence(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            table[i + 1][j + 1] = table[i][j] + 1 if x == y else max(table[i][j + 1], table[i + 1][j])
    i, j, out = len(a), len(b), ""
    while i and j:
        if a[i - 1] == b[j - 1]:
            out = a[i - 1] + out
            i, j = i - 1, j - 1
        elif table[i - 1][j] >= table[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return out


@calls("[1, 5, 10], 18", "[5], 3", "[2, 3], 0")
def coin_change(coins, amount):
    ways = [1] + [0] * amount
    fewest = [0] + [None] * amount
    for coin in coins:
        for a in range(coin, amount + 1):
            ways[a] += ways[a - coin]
    for a in range(1, amount + 1):
        options = [fewest[a - c] + 1 for c in coins if c <= a and fewest[a - c] is not None]
        fewest[a] = min(options) if options else None
    return ways[amount], fewest[amount]


INF = float("inf")


@calls(
    "np.array([[0, 3, INF], [INF, 0, 1], [1, INF, 0]])",
    "np.zeros((1, 1))",
    "np.array([[0, 3, np.inf], [np.inf, 0, 1], [2, np.inf, 0]])",
)
def floyd_warshall(d):
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


@calls("np.array([[0, 2, 9], [2, 0, 4], [9, 4, 0]]), 0", "np.array([[0, 0], [0, 0]]), 1")
def dijkstra(weights, source):
    n = len(weights)
    distance = np.full(n, np.inf)
    distance[source] = 0
    done = np.zeros(n, dtype=bool)
    while not done.all():
        u = np.argmin(np.where(done, np.inf, distance))
        if distance[u] == np.inf:
            break
        done[u] = True
        for v in range(n):
            if weights[u, v] and distance[u] + weights[u, v] < distance[v]:
                distance[v] = distance[u] + weights[u, v]
    return distance


@calls("{0: [(1, 4), (2, 1)], 2: [(1, 2)], 1: []}, 0", "{5: []}, 5")
def dijkstra_with_a_heap(graph, source):
    distance = {source: 0}
    heap = [(0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        for v, w in graph[u]:
            if d + w < distance.get(v, float("inf")):
                distance[v] = d + w
                heapq.heappush(heap, (d + w, v))
    return distance


@calls("[(0, 1, 4), (0, 2, 3), (1, 2, -2)], 3", "[(0, 1, -1), (1, 0, -1)], 2", "[], 1")
def bellman_ford(edges, n):
    distance = [float("inf")] * n
    distance[0] = 0
    for turn in range(n):
        changed = False
        for u, v, w in edges:
            if distance[u] + w < distance[v]:
                distance[v] = distance[u] + w
                changed = True
        if not changed:
            return distance
    raise ValueError("a negative cycle")


@calls("{1: [2, 3], 2: [4], 3: [4], 4: []}, 1", "{7: []}, 7")
def breadth_first(graph, start):
    order, queue, seen = [], deque([start]), {start}
    while queue:
        node = queue.popleft()
        order.append(node)
        for other in graph[node]:
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return order


@calls("{1: [2, 3], 2: [4], 3: [4], 4: []}, 1", "{1: [1]}, 1")
def depth_first(graph, start, seen=None):
    seen = seen if seen is not None else []
    seen.append(start)
    for other in graph[start]:
        if other not in seen:
            depth_first(graph, other, seen)
    return seen


@calls("np.array([[0, 0, 1], [1, 0, 0], [1, 1, 0]])", "np.array([[0, 1], [1, 0]])")
def maze(walls):
    n, m = walls.shape
    queue, steps = [(0, 0)], np.full((n, m), -1)
    steps[0, 0] = 0
    while queue:
        i, j = queue.pop(0)
        if (i, j) == (n - 1, m - 1):
            return steps[i, j]
        for di, dj in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            a, b = i + di, j + dj
            if 0 <= a < n and 0 <= b < m and not walls[a, b] and steps[a, b] < 0:
                steps[a, b] = steps[i, j] + 1
                queue.append((a, b))
    return None


@calls("np.array([[1, 1, 0], [0, 0, 0], [0, 1, 1]]), 1, 1", "np.zeros((2, 2), int), 0, 0")
def flood_fill(image, i, j):
    old, changed = image[i, j], 0
    stack = [(i, j)]
    while stack:
        i, j = stack.pop()
        if i < 0 or j < 0 or i >= image.shape[0] or j >= image.shape[1] or image[i, j] != old:
            continue
        image[i, j] = 9
        changed += 1
        stack += [(i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)]
    return changed


@calls("4", "1", "3")
def queens(n):
    solutions = []

    def place(row, columns):
        if row == n:
            solutions.append(columns)
            return
        for c in range(n):
            for r, other in enumerate(columns):
                if other == c or abs(other - c) == row - r:
                    break
            else:
                place(row + 1, columns + [c])

    place(0, [])
    return solutions


@calls("[1, 2, 3]", "[]")
def permutations(xs):
    if len(xs) <= 1:
        return [xs]
    return [[x] + rest for i, x in enumerate(xs) for rest in permutations(xs[:i] + xs[i + 1 :])]


@calls("[3, 34, 4, 12], 7", "[1], 2", "[], 0")
def subset_sum(xs, target):
    reachable = {0: []}
    for x in xs:
        for total, parts in list(reachable.items()):
            if total + x not in reachable:
                reachable[total + x] = parts + [x]
    return reachable.get(target)


@calls("[0, 1, 0, 2, 1, 0, 1, 3]", "[]", "[3, 3]")
def trapped_water(heights):
    low, high = 0, len(heights) - 1
    left = right = water = 0
    while low < high:
        if heights[low] < heights[high]:
            left = max(left, heights[low])
            water += left - heights[low]
            low += 1
        else:
            right = max(right, heights[high])
            water += right - heights[high]
            high -= 1
    return water


@calls("5, [(0, 1), (3, 4), (1, 2)]", "2, []")
def union_find(n, edges):
    parent = list(range(n))

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for a, b in edges:
        ra, rb = find(a), find(b)
        if ra != rb:
            parent[max(ra, rb)] = min(ra, rb)
    return [find(x) for x in range(n)]


@calls("{'a': ['b'], 'b': ['c'], 'c': []}", "{'a': ['b'], 'b': ['a']}", "{}")
def topological_order(graph):
    degree = {node: 0 for node in graph}
    for targets in graph.values():
        for t in targets:
            degree[t] += 1
    ready = [node for node in graph if degree[node] == 0]
    order = []
    while ready:
        node = ready.pop()
        order.append(node)
        for t in graph[node]:
            degree[t] -= 1
            if degree[t] == 0:
                ready.append(t)
    if len(order) < len(graph):
        raise ValueError("a cycle among " + ", ".join(sorted(set(graph) - set(order))))
    return order


@calls("np.array([[1, 3, 1], [1, 5, 1], [4, 2, 1]])", "np.array([[7]])")
def cheapest_path(grid):
    n, m = grid.shape
    cost = np.zeros_like(grid)
    for i in range(n):
        for j in range(m):
            if i == 0 and j == 0:
                before = 0
            elif i == 0:
                before = cost[i, j - 1]
            elif j == 0:
                before = cost[i - 1, j]
            else:
                before = min(cost[i - 1, j], cost[i, j - 1])
            cost[i, j] = grid[i, j] + before
    return cost[-1, -1], cost


@calls("[(1, 3), (2, 4), (5, 6)]", "[]", "[(0, 9), (1, 2)]")
def merge_intervals(intervals):
    merged = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((start, end))
    return merged


@calls("np.array([[0, 1, 0], [0, 1, 0], [0, 1, 0]]), 2", "np.zeros((2, 2), int), 1", "np.ones((1, 1), int), 0")
def game_of_life(board, turns):
    for _ in range(turns):
        padded = np.pad(board, 1)
        n, m = board.shape
        neighbours = sum(padded[i : i + n, j : j + m] for i in range(3) for j in range(3) if (i, j) != (1, 1))
        board = ((neighbours == 3) | (board == 1) & (neighbours == 2)).astype(int)
    return board


@calls("np.array([[0, 1, 0], [0, 1, 0], [0, 1, 0]])", "np.eye(2, dtype=int)")
def game_of_life_by_loops(board):
    n, m = board.shape
    new = np.zeros_like(board)
    for i in range(n):
        for j in range(m):
            alive = 0
            for di in (-1, 0, 1):
                for dj in (-1, 0, 1):
                    if di == 0 and dj == 0:
                        continue
                    alive += board[(i + di) % n, (j + dj) % m]
            if alive == 3 or board[i, j] and alive == 2:
                new[i, j] = 1
    return new


@calls("[[5, 3], [0, 0]]", "[[1, 2], [2, 1]]")
def latin_square(rows):
    n = len(rows)
    values = {v for row in rows for v in row if v}
    for i in range(n):
        for j in range(n):
            if rows[i][j] == 0:
                used = set(rows[i]) | {row[j] for row in rows}
                free = sorted(values - used)
                rows[i][j] = free[0] if free else -1
    return rows


@calls("30, 30", "0, 5")
def elementary_automaton(rule, steps):
    cells = np.zeros(11, dtype=int)
    cells[5] = 1
    lines = []
    for _ in range(min(steps, 4)):
        lines.append("".join("#" if c else "." for c in cells))
        pattern = 4 * np.roll(cells, 1) + 2 * cells + np.roll(cells, -1)
        cells = (rule >> pattern) & 1
    return lines
