"""Textbook algorithms in pure Python: searching, matrices as lists, graphs, backtracking, random numbers."""

import heapq
import math
import random
from collections import Counter, defaultdict, deque
from collections.abc import Mapping
from functools import cached_property
from itertools import combinations, permutations, product

from tests.corpus_staged import calls


@calls("[[0, 1, 0], [0, 1, 0], [0, 1, 0]], 2", "[[1, 1], [1, 1]], 1")
def life(board, steps):
    rows, cols = len(board), len(board[0])
    for _ in range(steps):
        new = [[0] * cols for _ in range(rows)]
        for r in range(rows):
            for c in range(cols):
                n = sum(board[(r + i) % rows][(c + j) % cols] for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
                new[r][c] = 1 if n == 3 or (board[r][c] and n == 2) else 0
        board = new
    return board


@calls("{1: [2, 3], 2: [4], 3: [4], 4: []}, 1", "{1: []}, 1")
def bfs(graph, start):
    seen = {start}
    order = []
    queue = deque([start])
    while queue:
        v = queue.popleft()
        order.append(v)
        for w in graph[v]:
            if w not in seen:
                seen.add(w)
                queue.append(w)
    return order


@calls("{1: [2, 3], 2: [4], 3: [4], 4: []}, 1", "{1: []}, 1")
def dfs(graph, start):
    visited = []

    def visit(v):
        if v in visited:
            return
        visited.append(v)
        for w in graph[v]:
            visit(w)

    visit(start)
    return visited


@calls("{'a': {'b': 1, 'c': 4}, 'b': {'c': 2.5, 'd': 6}, 'c': {'d': 3}, 'd': {}}, 'a'", "{'a': {}}, 'a'")
def dijkstra(graph, source):
    dist = {v: math.inf for v in graph}
    dist[source] = 0
    heap = [(0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v, w in graph[u].items():
            nd = d + w
            if nd < dist[v]:
                dist[v] = nd
                heapq.heappush(heap, (nd, v))
    return dist


@calls("3, [(0, 1, 4), (1, 2, -2), (0, 2, 5)]", "2, []")
def bellman_ford(n, edges):
    dist = [float("inf")] * n
    dist[0] = 0
    for _ in range(n - 1):
        for u, v, w in edges:
            if dist[u] + w < dist[v]:
                dist[v] = dist[u] + w
    for u, v, w in edges:
        if dist[u] + w < dist[v]:
            raise ValueError("negative cycle")
    return dist


@calls("[[0, 3, 8], [1e9, 0, 2], [4, 1e9, 0]]", "[[0]]")
def floyd(d):
    n = len(d)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i][k] + d[k][j] < d[i][j]:
                    d[i][j] = d[i][k] + d[k][j]
    return d


@calls("5, [(0, 1), (1, 2), (3, 4)]", "1, []", "3, [(0, 0)]")
def union_find(n, pairs):
    parent = list(range(n))
    size = [1] * n

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for a, b in pairs:
        a, b = find(a), find(b)
        if a != b:
            if size[a] < size[b]:
                a, b = b, a
            parent[b] = a
            size[a] += size[b]
    return len({find(x) for x in range(n)}), parent


@calls("4, [(0, 1, 10), (0, 2, 6), (0, 3, 5), (1, 3, 15), (2, 3, 4)]", "1, []")
def kruskal(n, edges):
    parent = [*range(n)]

    def find(i):
        if parent[i] != i:
            parent[i] = find(parent[i])
        return parent[i]

    total, tree = 0, []
    for u, v, w in sorted(edges, key=lambda e: e[2]):
        ru, rv = find(u), find(v)
        if ru != rv:
            parent[ru] = rv
            total += w
            tree.append((u, v))
    return total, tree


@calls("{1: [2], 2: [3], 3: []}", "{1: [2], 2: [1]}", "{}")
def topological(graph):
    indegree = defaultdict(int)
    for v in graph:
        for w in graph[v]:
            indegree[w] += 1
    ready = [v for v in graph if indegree[v] == 0]
    order = []
    while ready:
        v = ready.pop()
        order.append(v)
        for w in graph[v]:
            indegree[w] -= 1
            if not indegree[w]:
                ready.append(w)
    if len(order) != len(graph):
        raise ValueError("cycle")
    return order


@calls("4", "1", "3", "5")
def n_queens(n):
    solutions = []

    def place(row, cols):
        if row == n:
            solutions.append(cols)
            return
        for c in range(n):
            if all(c != cc and abs(c - cc) != row - r for r, cc in enumerate(cols)):
                place(row + 1, cols + [c])

    place(0, [])
    return len(solutions), solutions[:1]


@calls("[1, 2, 3], 2", "[1], 1", "[1, 2], 3")
def combos(xs, k):
    return [sum(c) for c in combinations(xs, k)], list(permutations(xs))[:3], len(list(product(xs, repeat=2)))


@calls("[3, 1, 2]", "[]")
def subsets(xs):
    result = [[]]
    for x in xs:
        result += [s + [x] for s in result]
    return result


@calls("[1, 5, 11, 5]", "[1, 2, 5]", "[]")
def partition_equal(nums):
    total = sum(nums)
    if total % 2:
        return False
    reachable = {0}
    for n in nums:
        reachable |= {r + n for r in reachable}
    return total // 2 in reachable


@calls("'([]{})'", "'(]'", "''", "'(('")
def balanced(s):
    stack = []
    pairs = {")": "(", "]": "[", "}": "{"}
    for c in s:
        if c in pairs.values():
            stack.append(c)
        elif c in pairs:
            if not stack or stack.pop() != pairs[c]:
                return False
    return not stack


@calls("'3 4 + 2 *'", "'1 0 /'", "'5'", "'1 +'")
def rpn(expression):
    stack = []
    ops = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b}
    for token in expression.split():
        if token in ops:
            b, a = stack.pop(), stack.pop()
            stack.append(ops[token](a, b))
        else:
            stack.append(float(token))
    return stack[0] if len(stack) == 1 else stack


@calls("'the cat the dog'", "''")
def word_count(text):
    counts = {}
    for w in text.split():
        counts[w] = counts.get(w, 0) + 1
    return sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])), Counter(text.split()).most_common(1)


@calls("[2, 7, 11, 15], 9", "[1, 2], 7", "[3, 3], 6")
def two_sum(nums, target):
    seen = {}
    for i, x in enumerate(nums):
        if target - x in seen:
            return seen[target - x], i
        seen[x] = i


@calls("[1, 3, 2, 5], 2", "[1], 1", "[4.5, 2], 1")
def sliding_max(xs, k):
    window, out = deque(), []
    for i, x in enumerate(xs):
        while window and xs[window[-1]] <= x:
            window.pop()
        window.append(i)
        if window[0] <= i - k:
            window.popleft()
        if i >= k - 1:
            out.append(xs[window[0]])
    return out


@calls("[0, 1, 0, 2, 1, 0, 1, 3]", "[]", "[1]")
def trap_rain(h):
    if not h:
        return 0
    l, r = 0, len(h) - 1
    lm, rm, water = h[l], h[r], 0
    while l < r:
        if lm < rm:
            l += 1
            lm = max(lm, h[l])
            water += lm - h[l]
        else:
            r -= 1
            rm = max(rm, h[r])
            water += rm - h[r]
    return water


@calls("[[1, 3], [2, 6], [8, 10]]", "[]", "[[1, 4], [4, 5]]")
def merge_intervals(intervals):
    merged = []
    for a, b in sorted(intervals):
        if merged and a <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], b)
        else:
            merged.append([a, b])
    return merged


@calls("[3, 2, 3]", "[1, 2, 2, 2]", "[1]")
def majority(xs):
    count, candidate = 0, None
    for x in xs:
        if count == 0:
            candidate = x
        count += 1 if x == candidate else -1
    return candidate


@calls("[1, 2, 3, 4, 5], 2", "[1], 3", "[], 1")
def rotate(xs, k):
    if xs:
        k %= len(xs)
        xs[:] = xs[-k:] + xs[:-k]
    return xs


@calls("[4, 1, 2]", "[]", "[1, 1]")
def next_permutation(a):
    i = len(a) - 2
    while i >= 0 and a[i] >= a[i + 1]:
        i -= 1
    if i < 0:
        a.reverse()
        return False
    j = len(a) - 1
    while a[j] <= a[i]:
        j -= 1
    a[i], a[j] = a[j], a[i]
    a[i + 1 :] = a[:i:-1]
    return True


@calls("4, 7", "1, 1", "9, 3")
def josephus(n, k):
    people = list(range(1, n + 1))
    i = 0
    while len(people) > 1:
        i = (i + k - 1) % len(people)
        del people[i]
    return people[0]


@calls("5, 3", "0, 1")
def heap_merge(n, k):
    heap = []
    for i in range(n):
        heapq.heappush(heap, (i * 7 + k) % 5)
    return [heapq.heappop(heap) for _ in range(len(heap))], heapq.nsmallest(2, [n, k, 3])


@calls("42, 10", "7, 0")
def annealing(seed, steps):
    random.seed(seed)
    x = 5.0
    e = x * x
    t = 10.0
    for _ in range(steps):
        y = x + random.uniform(-1, 1)
        d = y * y - e
        if d < 0 or random.random() < math.exp(-d / t):
            x, e = y, y * y
        t *= 0.9
    return x, e


@calls("42, 5", "7, 0")
def shuffle_own_rng(seed, n):
    rng = random.Random(seed)
    deck = list(range(n))
    for i in range(n - 1, 0, -1):
        j = rng.randint(0, i)
        deck[i], deck[j] = deck[j], deck[i]
    return deck, rng.choice("abc")


@calls("10, 42", "3, 0")
def lcg(n, seed):
    out = []
    for _ in range(n):
        seed = (1103515245 * seed + 12345) % 2**31
        out.append(seed >> 16)
    return out


class Neighbours(Mapping):
    __slots__ = ("_inner",)

    def __init__(self, inner):
        self._inner = inner

    def __getitem__(self, key):
        return self._inner[key]

    def __iter__(self):
        return iter(self._inner)

    def __len__(self):
        return len(self._inner)


class Views(Neighbours):
    __slots__ = ()

    def __init__(self, inner):
        self._inner = inner

    def __getitem__(self, key):
        return Neighbours(self._inner[key])


class Network:
    def __init__(self, edges):
        self._edges = {}
        self._node = {}
        for a, b in edges:
            self._node[a] = {}
            self._node[b] = {}
            self._edges.setdefault(a, {})[b] = {}
            self._edges.setdefault(b, {})[a] = self._edges[a][b]

    @cached_property
    def edges(self):
        return Views(self._edges)

    def __getitem__(self, node):
        return self.edges[node]

    def __iter__(self):
        return iter(self._node)


@calls("Network([(0, 1), (1, 2)]), 0", "Network([(0, 1), (1, 2), (0, 2), (2, 3)]), 3")
def shortest_paths(network, start):
    order, parents = [], {node: [] for node in network}
    paths = dict.fromkeys(network, 0.0)
    lengths = {start: 0}
    paths[start] = 1.0
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        order.append(node)
        far, ways = lengths[node], paths[node]
        for other in network[node]:
            if other not in lengths:
                waiting.append(other)
                lengths[other] = far + 1
            if lengths[other] == far + 1:
                paths[other] += ways
                parents[other].append(node)
    return order, parents, paths, lengths
