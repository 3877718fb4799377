"""Textbook algorithms in pure Python: texts, dynamic programming, sorting in place."""

import bisect
from itertools import groupby

import numpy as np  # noqa: F401

from tests.corpus_staged import calls


@calls("'Hello', 3", "'xyz', -1", "'', 5", "'a z', 29")
def caesar(text, shift):
    out = ""
    for c in text:
        if c.isalpha():
            base = ord("A") if c.isupper() else ord("a")
            out += chr((ord(c) - base + shift) % 26 + base)
        else:
            out += c
    return out


@calls("'attack', 'key'", "'', 'k'")
def vigenere(text, key):
    return "".join(chr((ord(t) + ord(key[i % len(key)]) - 194) % 26 + 97) for i, t in enumerate(text))


@calls("'aaabbc'", "''", "'abc'")
def run_length(s):
    return [(k, len(list(g))) for k, g in groupby(s)]


@calls("'kitten', 'sitting'", "'', 'abc'", "'same', 'same'")
def levenshtein(a, b):
    previous = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        current = [i]
        for j, cb in enumerate(b, 1):
            current.append(min(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (ca != cb)))
        previous = current
    return previous[-1]


@calls("[1, 3, 4, 5], [1, 4, 5, 7], 7", "[1], [1], 0", "[2, 3], [10.5, 4], 5", "[], [], 5", "[10], [100], 5")
def knapsack(weights, values, capacity):
    best = [0] * (capacity + 1)
    for w, v in zip(weights, values):
        for c in range(capacity, w - 1, -1):
            best[c] = max(best[c], best[c - w] + v)
    return best[capacity]


@calls("[1, 3, 4, 5], [1, 4, 5, 7], 7", "[1], [1], 0")
def knapsack_table(weights, values, capacity):
    n = len(weights)
    table = [[0] * (capacity + 1) for _ in range(n + 1)]
    for i in range(1, n + 1):
        for c in range(capacity + 1):
            table[i][c] = table[i - 1][c]
            if weights[i - 1] <= c:
                table[i][c] = max(table[i][c], table[i - 1][c - weights[i - 1]] + values[i - 1])
    chosen = []
    c = capacity
    for i in range(n, 0, -1):
        if table[i][c] != table[i - 1][c]:
            chosen.append(i - 1)
            c -= weights[i - 1]
    return table[n][capacity], chosen[::-1]


@calls("[1, 2, 3, 4], [2, 4, 3]", "[], [1]", "[1, 2], [1, 2]")
def lcs(a, b):
    m, n = len(a), len(b)
    L = [[0] * (n + 1) for _ in range(m + 1)]
    for i in range(m):
        for j in range(n):
            if a[i] == b[j]:
                L[i + 1][j + 1] = L[i][j] + 1
            else:
                L[i + 1][j + 1] = max(L[i][j + 1], L[i + 1][j])
    out = []
    i, j = m, n
    while i > 0 and j > 0:
        if a[i - 1] == b[j - 1]:
            out.append(a[i - 1])
            i -= 1
            j -= 1
        elif L[i - 1][j] >= L[i][j - 1]:
            i -= 1
        else:
            j -= 1
    return out[::-1]


@calls("[10, 9, 2, 5, 3, 7, 101, 18]", "[]", "[1.5, 0.5]", "[3, 2, 1]")
def lis(nums):
    tails = []
    for x in nums:
        i = bisect.bisect_left(tails, x)
        if i == len(tails):
            tails.append(x)
        else:
            tails[i] = x
    return len(tails)


@calls("[10, 9, 2, 5, 3, 7, 101, 18]", "[5]", "[1, 2, 3]")
def lis_quadratic(nums):
    best = [1] * len(nums)
    for i in range(len(nums)):
        for j in range(i):
            if nums[j] < nums[i] and best[j] + 1 > best[i]:
                best[i] = best[j] + 1
    return max(best, default=0)


@calls("[1, 2, 5], 11", "[2], 3", "[1], 0")
def coin_change(coins, amount):
    INF = float("inf")
    dp = [0] + [INF] * amount
    for a in range(1, amount + 1):
        for c in coins:
            if c <= a and dp[a - c] + 1 < dp[a]:
                dp[a] = dp[a - c] + 1
    return dp[amount] if dp[amount] != INF else -1


@calls("[1, 2, 5], 11", "[2], 3", "[1], 0")
def coin_ways(coins, amount):
    ways = [1] + [0] * amount
    for coin in coins:
        for x in range(coin, amount + 1):
            ways[x] += ways[x - coin]
    return ways[amount]


@calls("[-2, 1, -3, 4, -1, 2, 1, -5, 4]", "[-1]", "[1.5, -0.5, 2]", "[True, True]")
def kadane(xs):
    best = current = xs[0]
    for x in xs[1:]:
        current = max(x, current + x)
        best = max(best, current)
    return best


@calls(
    "[5, 2, 9, 1]",
    "[]",
    "[1.5, 1, True]",
    "[3, 3]",
    "np.array([5, 2, 9, 1])",
    "np.array([])",
    "np.array([1.5])",
    "[3, 1, 2]",
)
def bubble_sort(xs):
    n = len(xs)
    for i in range(n):
        swapped = False
        for j in range(n - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
                swapped = True
        if not swapped:
            break
    return xs


@calls("[5, 2, 9, 1]", "[]", "[1.5, 1]")
def insertion_sort(xs):
    for i in range(1, len(xs)):
        key = xs[i]
        j = i - 1
        while j >= 0 and xs[j] > key:
            xs[j + 1] = xs[j]
            j -= 1
        xs[j + 1] = key


@calls("[5, 2, 9, 1]", "[]", "[2, 1, 1.0]")
def selection_sort(xs):
    for i in range(len(xs)):
        m = i
        for j in range(i + 1, len(xs)):
            if xs[j] < xs[m]:
                m = j
        xs[i], xs[m] = xs[m], xs[i]
    return None


@calls("[5, 2, 9, 1, 5, 6]", "[]", "[1]")
def quick_sort(xs):
    if len(xs) <= 1:
        return xs
    pivot = xs[len(xs) // 2]
    left = [x for x in xs if x < pivot]
    middle = [x for x in xs if x == pivot]
    right = [x for x in xs if x > pivot]
    return quick_sort(left) + middle + quick_sort(right)


@calls("[5, 2, 9, 1, 5, 6]", "[]", "[2, 1]")
def quick_sort_in_place(xs):
    def partition(lo, hi):
        pivot = xs[hi]
        i = lo
        for j in range(lo, hi):
            if xs[j] <= pivot:
                xs[i], xs[j] = xs[j], xs[i]
                i += 1
        xs[i], xs[hi] = xs[hi], xs[i]
        return i

    def sort(lo, hi):
        if lo < hi:
            p = partition(lo, hi)
            sort(lo, p - 1)
            sort(p + 1, hi)

    sort(0, len(xs) - 1)


@calls("[5, 2, 9, 1, 5, 6]", "[]", "[2, 1]")
def merge_sort(xs):
    if len(xs) < 2:
        return xs[:]
    mid = len(xs) // 2
    a, b = merge_sort(xs[:mid]), merge_sort(xs[mid:])
    out = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    out.extend(a[i:])
    out.extend(b[j:])
    return out


@calls("[5, 2, 9, 1, 5, 6]", "[]", "[2, 1]")
def heap_sort(xs):
    def sift(start, end):
        root = start
        while True:
            child = 2 * root + 1
            if child > end:
                break
            if child + 1 <= end and xs[child] < xs[child + 1]:
                child += 1
            if xs[root] < xs[child]:
                xs[root], xs[child] = xs[child], xs[root]
                root = child
            else:
                break

    for start in range((len(xs) - 2) // 2, -1, -1):
        sift(start, len(xs) - 1)
    for end in range(len(xs) - 1, 0, -1):
        xs[end], xs[0] = xs[0], xs[end]
        sift(0, end - 1)
    return xs


@calls("[5, 2, 9, 1, 5, 6]", "[0]")
def counting_sort(xs):
    counts = [0] * (max(xs) + 1)
    for x in xs:
        counts[x] += 1
    out = []
    for v, c in enumerate(counts):
        out += [v] * c
    return out


@calls("[170, 45, 75, 90, 2]", "[0]")
def radix_sort(xs):
    place = 1
    while max(xs) // place > 0:
        buckets = [[] for _ in range(10)]
        for x in xs:
            buckets[x // place % 10].append(x)
        xs = [x for b in buckets for x in b]
        place *= 10
    return xs


@calls("[3, 0, 2, 5]", "[1]")
def gnome_sort(a):
    i = 0
    while i < len(a):
        if i == 0 or a[i] >= a[i - 1]:
            i += 1
        else:
            a[i], a[i - 1] = a[i - 1], a[i]
            i -= 1
    return a


@calls(
    "[1, 3, 5, 7], 5",
    "[1, 3, 5, 7], 4",
    "[], 1",
    "[1.5], 1.5",
    "np.array([1, 3, 5, 7]), 5",
    "np.array([1.0]), 2",
    "np.array([], int), 1",
)
def binary_search(xs, target):
    lo, hi = 0, len(xs) - 1
    while lo <= hi:
        mid = (lo + hi) // 2
        if xs[mid] == target:
            return mid
        if xs[mid] < target:
            lo = mid + 1
        else:
            hi = mid - 1
    return -1


@calls("[1, 3, 5, 7], 5, 0, 3", "[1, 3, 5, 7], 4, 0, 3")
def binary_search_rec(xs, t, lo, hi):
    if lo > hi:
        return None
    mid = lo + (hi - lo) // 2
    if xs[mid] == t:
        return mid
    return binary_search_rec(xs, t, mid + 1, hi) if xs[mid] < t else binary_search_rec(xs, t, lo, mid - 1)


@calls("[[1, 2], [3, 4]], [[5, 6], [7, 8]]", "[[1.5]], [[2]]", "[[1, 2]], [[3], [4]]", "[[1]], [[1], [2]]")
def matmul(A, B):
    if len(A[0]) != len(B):
        raise ValueError("shapes do not fit: %dx%d and %dx%d" % (len(A), len(A[0]), len(B), len(B[0])))
    return [[sum(a * b for a, b in zip(row, col)) for col in zip(*B)] for row in A]


@calls("[[1, 2, 3], [4, 5, 6]]", "[[1]]")
def transpose(m):
    return [list(r) for r in zip(*m)], [[row[i] for row in m] for i in range(len(m[0]))]


@calls("[[2, 0], [1, 3]]", "[[1, 2, 3], [4, 5, 6], [7, 8, 10]]", "[[5]]", "[[0.5, 1], [1, 2]]")
def determinant(m):
    if len(m) == 1:
        return m[0][0]
    total = 0
    for c in range(len(m)):
        minor = [row[:c] + row[c + 1 :] for row in m[1:]]
        total += (-1) ** c * m[0][c] * determinant(minor)
    return total


@calls("[[2, 1, -1, 8], [-3, -1, 2, -11], [-2, 1, 2, -3]]", "[[0, 1, 2], [1, 0, 3]]", "[[1, 1, 2], [1, 1, 3]]")
def gauss(m):
    n = len(m)
    m = [list(map(float, row)) for row in m]
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(m[r][i]))
        if abs(m[p][i]) < 1e-12:
            raise ValueError("singular")
        m[i], m[p] = m[p], m[i]
        for r in range(i + 1, n):
            f = m[r][i] / m[i][i]
            for c in range(i, n + 1):
                m[r][c] -= f * m[i][c]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (m[i][n] - sum(m[i][j] * x[j] for j in range(i + 1, n))) / m[i][i]
    return x


@calls("3", "1", "0", "4")
def spiral(n):
    grid = [[0] * n for _ in range(n)]
    x = y = 0
    dx, dy = 0, 1
    for k in range(n * n):
        grid[x][y] = k
        nx, ny = x + dx, y + dy
        if not (0 <= nx < n and 0 <= ny < n and grid[nx][ny] == 0):
            dx, dy = dy, -dx
        x, y = x + dx, y + dy
    return grid
