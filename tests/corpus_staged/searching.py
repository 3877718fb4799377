"""Searching, sorting and dynamic programming, on arrays and numbers."""

import math

import numpy as np

from tests.corpus_staged import calls


@calls("np.array([5, 3, 8]), 3", "np.array([5, 3, 8]), 9", "np.array([1.5]), 1.5")
def searching(x, v):
    w = np.where(x == v)[0]
    if len(w) == 0:
        return -1
    return w[0], int(w[0]), np.argmax(x == v), x.tolist().index(v), np.searchsorted(np.sort(x), v)


@calls("np.arange(5.0), 1.5", "np.array([1, 2, 3]), 2", "np.array([2.0]), 2.0")
def clipping(x, limit):
    y = x.copy()
    y[y > limit] = limit
    z = np.minimum(x, limit)
    c = np.clip(x, None, limit)
    np.clip(x, 0, limit, out=x) if x.dtype.kind == "f" else None
    return y, z, c, x, (y == z).all()


@calls("10", "0", "np.int64(3)", "7.5")
def accumulates(n):
    total = 0
    product = 1
    values = []
    i = 0
    while i < n:
        i += 1
        if i % 3 == 0:
            continue
        if i > 7:
            break
        total += i
        product *= i
        values.append(total)
    else:
        values.append(-1)
    return total, product, values, i


@calls(
    "np.array([2, 7, 11, 15]), 9",
    "np.array([1, 2]), 10",
    "[3, 3], 6",
    "[1,2,3],5",
    "[1,2],9",
    "np.array([1,4,7]),8",
)
def two_sum(nums, target):
    seen = {}
    for i, v in enumerate(nums):
        if target - v in seen:
            return seen[target - v], i
        seen[v] = i
    return None


@calls("np.array([-2, 1, -3, 4, -1, 2, 1, -5, 4])", "np.array([-1])", "[1.5, -0.5, 2]")
def max_subarray(x):
    best = current = x[0]
    start = end = s = 0
    for i in range(1, len(x)):
        if current < 0:
            current, s = x[i], i
        else:
            current += x[i]
        if current > best:
            best, start, end = current, s, i
    return best, start, end


@calls("5, [1, 2, 5]", "3, [2]", "0, [1]", "11, np.array([1, 2, 5])")
def coin_change(amount, coins):
    dp = np.full(amount + 1, amount + 1)
    dp[0] = 0
    for a in range(1, amount + 1):
        for c in coins:
            if c <= a:
                dp[a] = min(dp[a], dp[a - c] + 1)
    return int(dp[amount]) if dp[amount] <= amount else -1


@calls("np.array([10, 9, 2, 5, 3, 7, 101, 18])", "np.array([1])", "np.array([3, 2, 1])")
def lis(x):
    dp = np.ones(len(x), int)
    for i in range(len(x)):
        for j in range(i):
            if x[j] < x[i]:
                dp[i] = max(dp[i], dp[j] + 1)
    k = dp.argmax()
    seq = [x[k]]
    for i in range(k - 1, -1, -1):
        if dp[i] == dp[k] - 1 and x[i] < seq[-1]:
            seq.append(x[i])
            k = i
    return dp.max(), seq[::-1]


@calls("np.array([[1, 3, 1], [1, 5, 1], [4, 2, 1]])", "np.array([[5]])", "np.array([[1.5, 2], [0.5, 1]])")
def min_path(grid):
    cost = grid.copy()
    cost[0] = np.cumsum(grid[0])
    cost[:, 0] = np.cumsum(grid[:, 0])
    for i in range(1, grid.shape[0]):
        for j in range(1, grid.shape[1]):
            cost[i, j] += min(cost[i - 1, j], cost[i, j - 1])
    return cost[-1, -1], cost


@calls("np.array([40, 20, 30, 10, 30])", "np.array([2, 3])")
def matrix_chain(p):
    n = len(p) - 1
    m = np.zeros((n, n), dtype=np.int64)
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            m[i, j] = np.iinfo(np.int64).max
            for k in range(i, j):
                cost = m[i, k] + m[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if cost < m[i, j]:
                    m[i, j] = cost
    return m[0, n - 1]


@calls("np.array([3, 0, 1, 0, 2])", "np.array([1.0, 0.0])")
def move_zeros(x):
    pos = 0
    for i in range(len(x)):
        if x[i] != 0:
            x[pos], x[i] = x[i], x[pos]
            pos += 1
    return x


@calls("np.array([2, 0, 2, 1, 1, 0])", "np.array([0])", "np.array([1, 2])", "[0, 1, 2, 1, 0]", "[]", "[2, 2]")
def dutch_flag(a):
    lo, mid, hi = 0, 0, len(a) - 1
    while mid <= hi:
        if a[mid] == 0:
            a[lo], a[mid] = a[mid], a[lo]
            lo += 1
            mid += 1
        elif a[mid] == 1:
            mid += 1
        else:
            a[mid], a[hi] = a[hi], a[mid]
            hi -= 1
    return a


@calls("np.array([5, 2, 9, 1, 7])", "np.array([1.5])", "np.array([3, 3, 1])", "[23, 12, 1, 8, 34]", "[]", "[2, 1]")
def shell_sort(a):
    gap = len(a) // 2
    while gap > 0:
        for i in range(gap, len(a)):
            temp = a[i]
            j = i
            while j >= gap and a[j - gap] > temp:
                a[j] = a[j - gap]
                j -= gap
            a[j] = temp
        gap //= 2
    return a


@calls("np.array([5, 2, 9, 1])", "np.array([1.5])", "np.array([], int)")
def merge_sort(a):
    def merge(l, r):
        out = np.empty(len(l) + len(r), dtype=a.dtype)
        i = j = k = 0
        while i < len(l) and j < len(r):
            if l[i] <= r[j]:
                out[k] = l[i]
                i += 1
            else:
                out[k] = r[j]
                j += 1
            k += 1
        out[k:] = l[i:] if i < len(l) else r[j:]
        return out

    if len(a) <= 1:
        return a
    mid = len(a) // 2
    return merge(merge_sort(a[:mid]), merge_sort(a[mid:]))


@calls("4", "1", "5")
def n_queens(n):
    cols, d1, d2 = np.zeros(n, bool), np.zeros(2 * n, bool), np.zeros(2 * n, bool)

    def place(row):
        if row == n:
            return 1
        count = 0
        for c in range(n):
            if not (cols[c] or d1[row + c] or d2[row - c + n]):
                cols[c] = d1[row + c] = d2[row - c + n] = True
                count += place(row + 1)
                cols[c] = d1[row + c] = d2[row - c + n] = False
        return count

    return place(0)


@calls("3", "1", "0", "5")
def hanoi(n):
    moves = []

    def move(k, a, b, c):
        if k == 0:
            return
        move(k - 1, a, c, b)
        moves.append((k, a, c))
        move(k - 1, b, a, c)

    move(n, "A", "B", "C")
    return len(moves), moves


@calls("8, 3", "0, 2", "np.int64(5), 1")
def binomials(n, k):
    row = np.zeros(n + 1, dtype=object)
    row[0] = 1
    for _ in range(n):
        row[1:] = row[1:] + row[:-1]
    return row, math.comb(n, k), math.factorial(n), math.gcd(n, k), int(row.sum())


@calls("100", "1", "10**20")
def big_ints(n):
    a, b = 0, 1
    for _ in range(5):
        a, b = b, a + b * n
    return a, b, a % 7, b // 3, str(b), b > 2**63, a & 255


@calls("3, 2", "2, 5", "0, 0")
def ackermann_like(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann_like(m - 1, 1)
    return ackermann_like(m - 1, ackermann_like(m, n - 1)) if m < 3 else n


@calls("np.array([1, 4, 9]), np.array([2, 3])", "np.array([], int), np.array([1])", "[1, 2], [2]")
def merged(a, b):
    out = []
    i = j = 0
    while i < len(a) or j < len(b):
        if j >= len(b) or (i < len(a) and a[i] <= b[j]):
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    return out


@calls("'ACGT', 'AGT'", "'', 'A'", "'AAA', 'AAA'")
def needleman(a, b, match=1, mismatch=-1, gap=-1):
    S = np.zeros((len(a) + 1, len(b) + 1), int)
    S[:, 0] = gap * np.arange(len(a) + 1)
    S[0] = gap * np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            S[i, j] = max(
                S[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch), S[i - 1, j] + gap, S[i, j - 1] + gap
            )
    i, j, out_a, out_b = len(a), len(b), "", ""
    while i > 0 or j > 0:
        if i > 0 and j > 0 and S[i, j] == S[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch):
            out_a, out_b, i, j = a[i - 1] + out_a, b[j - 1] + out_b, i - 1, j - 1
        elif i > 0 and S[i, j] == S[i - 1, j] + gap:
            out_a, out_b, i = a[i - 1] + out_a, "-" + out_b, i - 1
        else:
            out_a, out_b, j = "-" + out_a, b[j - 1] + out_b, j - 1
    return S[-1, -1], out_a, out_b


@calls("np.array([3.0, 1.0, 2.0]), np.array([1.0, 1, 1]), 2.0", "np.array([1.0]), np.array([2.0]), 0.5")
def fractional_knapsack(v, w, cap):
    order = np.argsort(-(v / w))
    total, taken = 0.0, np.zeros(len(v))
    for i in order:
        if cap <= 0:
            break
        take = min(w[i], cap)
        total += v[i] * take / w[i]
        taken[i] = take
        cap -= take
    return total, taken


@calls("np.array([1, 3, 0]), np.array([4, 4, 2])", "np.array([], int), np.array([], int)")
def schedule(start, end):
    chosen, last = [], -np.inf
    for i in np.argsort(end):
        if start[i] >= last:
            chosen.append(i)
            last = end[i]
    return chosen
