"""Algorithms over lists, dicts and strings."""

import heapq

from tests.corpus import calls


@calls("30", "2", "1")
def sieve(n):
    prime = [True] * (n + 1)
    prime[0:2] = [False, False][: n + 1]
    for i in range(2, int(n**0.5) + 1):
        if prime[i]:
            for j in range(i * i, n + 1, i):
                prime[j] = False
    return [i for i, p in enumerate(prime) if p]


@calls("'kitten', 'sitting'", "'', 'abc'", "'same', 'same'")
def edit_distance(a, b):
    previous = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        current = [i]
        for j, y in enumerate(b, 1):
            cost = 0 if x == y else 1
            current.append(min(current[-1] + 1, previous[j] + 1, previous[j - 1] + cost))
        previous = current
    return previous[-1]


@calls("[3, 1, 2, 3, 0, -5]", "[]", "[1]", "[2, 1.5, True]")
def quicksort(xs, lo=0, hi=None):
    if hi is None:
        hi = len(xs) - 1
    while lo < hi:
        pivot, i, j = xs[(lo + hi) // 2], lo, hi
        while i <= j:
            while xs[i] < pivot:
                i += 1
            while xs[j] > pivot:
                j -= 1
            if i <= j:
                xs[i], xs[j] = xs[j], xs[i]
                i, j = i + 1, j - 1
        quicksort(xs, lo, j)
        lo = i
    return xs


@calls("[5, 2, 4, 6, 1]", "[]", "['b', 'a']")
def insertion_sort(xs):
    for i in range(1, len(xs)):
        x = xs[i]
        j = i - 1
        while j >= 0 and xs[j] > x:
            xs[j + 1] = xs[j]
            j -= 1
        xs[j + 1] = x


@calls("[5, 2, 4, 6, 1, 3]", "[2, 2, 1]", "[]")
def merge_sort(xs):
    if len(xs) <= 1:
        return xs
    middle = len(xs) // 2
    left, right = merge_sort(xs[:middle]), merge_sort(xs[middle:])
    merged = []
    i = j = 0
    while i < len(left) and j < len(right):
        if left[i] <= right[j]:
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged + left[i:] + right[j:]


def _sift_down(heap, start, end):
    root = start
    while True:
        child = 2 * root + 1
        if child >= end:
            break
        if child + 1 < end and heap[child] < heap[child + 1]:
            child += 1
        if heap[root] >= heap[child]:
            return
        heap[root], heap[child] = heap[child], heap[root]
        root = child


@calls("[3, 1, 4, 1, 5, 9, 2, 6]", "[]", "[1, 'a']")
def heapsort(xs):
    n = len(xs)
    for start in reversed(range(n // 2)):
        _sift_down(xs, start, n)
    for end in range(n - 1, 0, -1):
        xs[0], xs[end] = xs[end], xs[0]
        _sift_down(xs, 0, end)
    return xs


@calls("[1, 3, 5, 7], 5", "[1, 3, 5, 7], 4", "[], 1")
def binary_search(xs, x):
    lo, hi = 0, len(xs)
    while lo < hi:
        mid = (lo + hi) // 2
        if xs[mid] == x:
            return mid
        if xs[mid] < x:
            lo = mid + 1
        else:
            hi = mid
    return ~lo


@calls("'abababc', 'ababc'", "'aaa', 'b'", "'abc', ''")
def knuth_morris_pratt(text, pattern):
    if not pattern:
        return 0
    failure, k = [0], 0
    for c in pattern[1:]:
        while k and c != pattern[k]:
            k = failure[k - 1]
        if c == pattern[k]:
            k += 1
        failure.append(k)
    k = 0
    for i, c in enumerate(text):
        while k > 0 and c != pattern[k]:
            k = failure[k - 1]
        if c == pattern[k]:
            k += 1
        if k == len(pattern):
            return i - k + 1
    return -1


@calls("4", "6", "3", "1")
def n_queens(n):
    solutions = []

    def place(row, columns):
        if row == n:
            solutions.append(tuple(columns))
            return len(solutions) >= 3
        for column in range(n):
            for r, c in enumerate(columns):
                if c == column or abs(c - column) == row - r:
                    break
            else:
                if place(row + 1, [*columns, column]):
                    return True
        return False

    return place(0, []), solutions


@calls("{'a': {'b': 1, 'c': 4}, 'b': {'c': 2}, 'c': {}, 'd': {}}, 'a'", "{'a': {'x': 1}}, 'a'")
def dijkstra(graph, start):
    distance = {start: 0}
    queue = [(0, start)]
    while queue:
        d, node = heapq.heappop(queue)
        if d > distance[node]:
            continue
        for neighbour, weight in graph[node].items():
            new = d + weight
            if neighbour not in distance or new < distance[neighbour]:
                distance[neighbour] = new
                heapq.heappush(queue, (new, neighbour))
    return distance


@calls("6, [(0, 1), (2, 3), (1, 3), (4, 4)]", "2, []", "1, [(0, 5)]")
def union_find(n, pairs):
    parent = list(range(n))

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    groups = n
    for a, b in pairs:
        a, b = find(a), find(b)
        if a != b:
            parent[a] = b
            groups -= 1
    return groups, parent, [find(i) for i in range(n)]


@calls("[1, 3, 4, 5], [1, 4, 5, 7], 7", "[], [], 5", "[9], [1], 5")
def knapsack(weights, values, capacity):
    best = [[0] * (capacity + 1) for _ in range(len(weights) + 1)]
    for i in range(1, len(weights) + 1):
        for w in range(capacity + 1):
            best[i][w] = best[i - 1][w]
            if weights[i - 1] <= w:
                candidate = best[i - 1][w - weights[i - 1]] + values[i - 1]
                if candidate > best[i][w]:
                    best[i][w] = candidate
    return best[-1][-1]


@calls("[10, 20, 30, 40, 30]", "[5, 6]")
def matrix_chain(sizes):
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            cost[i, j] = float("inf")
            for k in range(i, j):
                q = cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if q < cost[i, j]:
                    cost[i, j] = q
    return cost[0, n - 1]


@calls("360", "97", "1", "-5")
def prime_factors(n):
    factors, p = [], 2
    while p * p <= n:
        while n % p == 0:
            factors.append(p)
            n //= p
        p += 1 if p == 2 else 2
    if n > 1:
        factors.append(n)
    return factors


@calls("3", "1")
def hanoi(n):
    moves = []

    def move(k, a, b, c):
        if k > 0:
            move(k - 1, a, c, b)
            moves.append(a + c)
            move(k - 1, b, a, c)

    move(n, "A", "B", "C")
    return moves


@calls("[1, 2, 3]", "[]")
def permutations(xs):
    if not xs:
        return [[]]
    out = []
    for i, x in enumerate(xs):
        for rest in permutations(xs[:i] + xs[i + 1:]):
            out.append([x] + rest)
    return out


@calls("'(a[b]{c})'", "'(]'", "'(('", "''")
def balanced(text):
    stack, pairs = [], {")": "(", "]": "[", "}": "{"}
    for c in text:
        if c in "([{":
            stack.append(c)
        elif c in pairs:
            if not stack or stack.pop() != pairs[c]:
                return False
    return not stack


@calls("'aaabbc'", "''", "'abc'")
def run_length(text):
    out, i = "", 0
    while i < len(text):
        j = i
        while j < len(text) and text[j] == text[i]:
            j += 1
        out += text[i] + (str(j - i) if j - i > 1 else "")
        i = j
    return out


@calls("'3 4 + 2 *'", "'1 +'", "'1 0 /'", "'2 x'")
def reverse_polish(text):
    stack = []
    for token in text.split():
        if token in ("+", "-", "*", "/"):
            b, a = stack.pop(), stack.pop()
            match token:
                case "+":
                    stack.append(a + b)
                case "-":
                    stack.append(a - b)
                case "*":
                    stack.append(a * b)
                case "/":
                    stack.append(a / b)
        else:
            stack.append(int(token))
    return stack[-1]


@calls("{'a': ['b'], 'b': ['c'], 'c': []}", "{'a': ['b'], 'b': ['a']}")
def topological_sort(graph):
    order, state = [], {}

    def visit(node):
        if state.get(node) == "done":
            return
        if state.get(node) == "open":
            raise ValueError(f"cycle at {node}")
        state[node] = "open"
        for other in graph[node]:
            visit(other)
        state[node] = "done"
        order.append(node)

    for node in graph:
        visit(node)
    return order[::-1]


@calls("'....#\\n.##..\\n.....'", "'.#\\n#.'")
def maze(text):
    grid = text.split("\n")
    seen, frontier, steps = {(0, 0)}, [(0, 0)], 0
    goal = len(grid) - 1, len(grid[0]) - 1
    while frontier:
        if goal in seen:
            return steps
        following = []
        for r, c in frontier:
            for dr, dc in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                place = r + dr, c + dc
                if not (0 <= place[0] <= goal[0] and 0 <= place[1] <= goal[1]):
                    continue
                if grid[place[0]][place[1]] == "#" or place in seen:
                    continue
                seen.add(place)
                following.append(place)
        frontier, steps = following, steps + 1
    return None


@calls("'ABCBDAB', 'BDCABA'", "'', 'a'")
def longest_common_subsequence(a, b):
    table = {}
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if i == 0 or j == 0:
                table[i, j] = ""
            elif a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1] + a[i - 1]
            else:
                table[i, j] = max(table[i - 1, j], table[i, j - 1], key=len)
    return table[len(a), len(b)]


@calls("'1a2b'", "'zz'", "''")
def caesar(text):
    out = []
    for c in text:
        if "a" <= c <= "z":
            c = chr((ord(c) - 97 + 3) % 26 + 97)
        elif c.isdigit():
            c = str((int(c) + 3) % 10)
        out.append(c)
    return "".join(out)
