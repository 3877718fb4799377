"""Programs of contests and courses: grids, dates, words, geometry, loops that end somewhere within."""

import math
import operator
from collections import defaultdict, deque
from functools import reduce
from itertools import count

from tests.corpus_staged import calls


@calls("5, 3", "0, 0", "2.5, 1")
def inplace_on_attribute_list(n, k):
    held = {"items": [1], "n": 0}
    for i in range(k):
        held["items"] += [i * n]
        held["n"] += 1
        if i * n > 3:
            held["items"][0] -= 1
    return held


@calls("[[1, 2], [3, 4]]", "[[5]]", "[]")
def mutate_nested_arg(m):
    for row in m:
        for j in range(len(row)):
            row[j] *= 2
        row.append(sum(row))
    return len(m), sum(map(len, m))


@calls("{'a': 1, 'b': -2}", "{}", "{'x': 0.5}")
def mutate_dict_arg(d):
    for k in list(d):
        if d[k] < 0:
            del d[k]
        else:
            d[k] += 1
    d["total"] = sum(d.values())
    return sorted(d.items())


@calls("10", "0", "-3", "7.5")
def multiple_returns(n):
    def sign(x):
        if x > 0:
            return 1
        elif x < 0:
            return -1

    s = sign(n)
    if s is None:
        return "zero"
    return s * n, s


@calls("3, 4, 5", "1, 1, 3", "2, 2, 2", "0, 1, 1", "3.0, 4, 5")
def triangle_kind(a, b, c):
    if a + b <= c or a + c <= b or b + c <= a:
        raise ValueError("not a triangle: %s" % ((a, b, c),))
    kinds = {1: "equilateral", 2: "isosceles", 3: "scalene"}
    return kinds[len({a, b, c})], a * a + b * b == c * c


@calls("1, 12", "29, 2", "31, 4", "0, 1")
def valid_date(day, month):
    days = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return 1 <= month <= 12 and 1 <= day <= days[month - 1]


@calls("2024, 3, 1", "2023, 12, 31", "1900, 1, 1")
def day_number(y, m, d):
    lengths = [31, 29 if y % 4 == 0 and (y % 100 or y % 400 == 0) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return sum(lengths[: m - 1]) + d


@calls("0", "13", "100", "999", "1234567", "-5")
def in_words(n):
    ones = (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen"
    ).split()
    tens = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split()
    if n < 0:
        return "minus " + in_words(-n)
    if n < 20:
        return ones[n]
    if n < 100:
        return tens[n // 10] + ("-" + ones[n % 10] if n % 10 else "")
    if n < 1000:
        return ones[n // 100] + " hundred" + (" and " + in_words(n % 100) if n % 100 else "")
    for size, name in ((10**6, "million"), (10**3, "thousand")):
        if n >= size:
            return in_words(n // size) + " " + name + (" " + in_words(n % size) if n % size else "")


@calls("5", "0", "12", "1")
def bell_triangle(n):
    row = [1]
    for _ in range(n):
        new = [row[-1]]
        for x in row:
            new.append(new[-1] + x)
        row = new
    return row[0]


@calls("4, 2", "0, 0", "5, 5", "6, 3")
def stirling(n, k):
    if n == k:
        return 1
    if k == 0 or k > n:
        return 0
    return k * stirling(n - 1, k) + stirling(n - 1, k - 1)


@calls("10, 4", "1, 0", "64, 6")
def reverse_bits(n, width):
    result = 0
    for _ in range(width):
        result = result << 1 | n & 1
        n >>= 1
    return result, f"{result:0{width}b}" if width else ""


@calls("[3, 4, -1, 1]", "[1, 2, 0]", "[]", "[7]")
def first_missing(nums):
    i = 0
    n = len(nums)
    while i < n:
        j = nums[i] - 1
        if 0 <= j < n and nums[i] != nums[j]:
            nums[i], nums[j] = nums[j], nums[i]
        else:
            i += 1
    for i in range(n):
        if nums[i] != i + 1:
            return i + 1
    return n + 1


@calls("[1, 2, 3, 4, 5], 9", "[1, 1], 5", "[], 0", "[5], 5")
def subarray_sum(xs, target):
    seen = {0: -1}
    total = 0
    for i, x in enumerate(xs):
        total += x
        if total - target in seen:
            return seen[total - target] + 1, i
        seen.setdefault(total, i)
    return None


@calls("[[1, 3, 1], [1, 5, 1], [4, 2, 1]]", "[[2]]", "[[1, 2.5]]")
def min_path(grid):
    rows, cols = len(grid), len(grid[0])
    best = [[math.inf] * cols for _ in range(rows)]
    best[0][0] = grid[0][0]
    for r in range(rows):
        for c in range(cols):
            if r:
                best[r][c] = min(best[r][c], best[r - 1][c] + grid[r][c])
            if c:
                best[r][c] = min(best[r][c], best[r][c - 1] + grid[r][c])
    return best[-1][-1]


@calls("[[1, 2, 3], [4, 5, 6], [7, 8, 9]]", "[[1]]", "[[1, 2], [3, 4]]")
def rotate_matrix(m):
    n = len(m)
    for r in range(n):
        for c in range(r + 1, n):
            m[r][c], m[c][r] = m[c][r], m[r][c]
    for row in m:
        row.reverse()
    return m


@calls("[[1, 2, 3], [4, 5, 6]]", "[[1]]", "[]")
def spiral_order(m):
    out = []
    while m:
        out += m.pop(0)
        m = [list(r) for r in zip(*m)][::-1]
    return out


@calls("[1, 2, 3, 4], 2", "[5], 1", "[4, 4, 4], 3")
def split_array(xs, k):
    lo, hi = max(xs), sum(xs)
    while lo < hi:
        mid = (lo + hi) // 2
        parts, total = 1, 0
        for x in xs:
            if total + x > mid:
                parts += 1
                total = 0
            total += x
        if parts <= k:
            hi = mid
        else:
            lo = mid + 1
    return lo


@calls("3, 7, 2", "3, 5, 4", "1, 1, 1", "2, 6, 5")
def water_jugs(a, b, target):
    seen = {(0, 0)}
    queue = deque([(0, 0, 0)])
    while queue:
        x, y, steps = queue.popleft()
        if target in (x, y):
            return steps
        pour = min(x, b - y)
        back = min(y, a - x)
        for s in ((a, y), (x, b), (0, y), (x, 0), (x - pour, y + pour), (x + back, y - back)):
            if s not in seen:
                seen.add(s)
                queue.append((*s, steps + 1))
    return -1


@calls("{'a': ['b'], 'b': ['c'], 'c': []}", "{'a': ['b'], 'b': ['a']}", "{}")
def has_cycle(graph):
    state = {}

    def visit(v):
        if state.get(v) == 1:
            return True
        if state.get(v) == 2:
            return False
        state[v] = 1
        if any(visit(w) for w in graph[v]):
            return True
        state[v] = 2
        return False

    return any(visit(v) for v in graph)


@calls("4, [[0, 1, 1], [1, 2, 2], [2, 3, 3], [0, 3, 10]]", "1, []", "3, [[0, 1, 0.5]]")
def prim(n, edges):
    adj = defaultdict(list)
    for u, v, w in edges:
        adj[u].append((w, v))
        adj[v].append((w, u))
    inside, total = {0}, 0
    while len(inside) < n:
        options = [(w, v) for u in inside for w, v in adj[u] if v not in inside]
        if not options:
            return None
        w, v = min(options)
        inside.add(v)
        total += w
    return total


@calls("0.5, 3", "1, 0", "2, 10", "-1.5, 5")
def taylor_exp(x, n):
    term = total = 1
    for k in range(1, n):
        term = term * x / k
        total += term
    return total


@calls("lambda x: x * x - 2, 0, 2", "lambda x: x, -1, 1", "lambda x: x + 5, 0, 1")
def bisect_root(f, a, b):
    if f(a) * f(b) > 0:
        raise ValueError("no sign change")
    while b - a > 1e-6:
        m = (a + b) / 2
        if f(m) == 0:
            return m
        if f(a) * f(m) < 0:
            b = m
        else:
            a = m
    return round((a + b) / 2, 4)


@calls("1.0, 0.1, 5", "0, 0.5, 2", "2, 1, 0")
def euler_method(y, h, steps):
    ts, ys = [0], [y]
    for i in range(steps):
        y += h * (y - ts[-1])
        ts.append(ts[-1] + h)
        ys.append(y)
    return list(zip(ts, ys))


@calls("[(0, 0), (4, 0), (4, 3)]", "[(0, 0)]", "[(0.5, 1), (2, 2), (1, 5), (0, 3)]")
def shoelace(points):
    area = 0
    for (x1, y1), (x2, y2) in zip(points, points[1:] + points[:1]):
        area += x1 * y2 - x2 * y1
    return abs(area) / 2, sum(math.dist(p, q) for p, q in zip(points, points[1:]))


@calls("[(0, 0), (2, 0), (1, 1), (2, 2), (0, 2)]", "[(1, 1)]", "[(0, 0), (1, 1)]")
def convex_hull(points):
    points = sorted(set(points))
    if len(points) <= 1:
        return points

    def turn(o, a, b):
        return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])

    def half(ps):
        hull = []
        for p in ps:
            while len(hull) > 1 and turn(hull[-2], hull[-1], p) <= 0:
                hull.pop()
            hull.append(p)
        return hull[:-1]

    return half(points) + half(points[::-1])


@calls("'1+1'", "'aaa'", "''")
def count_chars(text):
    counts = {}
    for c in text:
        if c in counts:
            counts[c] += 1
        else:
            counts[c] = 1
    best = max(counts, key=counts.get, default=None)
    return counts, best, sorted(counts, key=lambda c: (-counts[c], c))


@calls("[1, [2, [3]]], 1", "[], 0", "[[[]]], 2")
def weighted(xs, level):
    return sum(weighted(x, level + 1) if isinstance(x, list) else x * level for x in xs)


@calls("3", "0", "-1", "2.0")
def switch_functions(n):
    def neg():
        return "neg", n

    def zero():
        return 0

    def pos(k=2):
        return [n] * k

    return (neg if n < 0 else zero if n == 0 else pos)()


@calls("2, 3", "0, 0", "-1.5, 2")
def operators_module(a, b):
    ops = {"+": operator.add, "*": operator.mul, "<": operator.lt, "max": max}
    return {name: f(a, b) for name, f in ops.items()}, reduce(operator.sub, [a, b, 1])


@calls("5", "0", "2")
def print_table(n):
    for i in range(1, n + 1):
        for j in range(1, i + 1):
            print(f"{i * j:3}", end="" if j < i else "\n")
    print("=" * n, sep="")


@calls("17, 5", "-17, 5", "17, -5", "0, 3", "5.5, 2")
def c_division(a, b):
    q = abs(a) // abs(b)
    if (a < 0) != (b < 0):
        q = -q
    return q, a - q * b, math.fmod(a, b), math.trunc(a / b), int(a / b)


@calls("'s'", "3", "None", "[1]", "2.5", "(1, 2)", "{'k': 1}", "True")
def describe(x):
    if x is None:
        return "nothing"
    if isinstance(x, str):
        return x * 2
    if isinstance(x, (list, tuple)):
        return [describe(y) for y in x]
    if isinstance(x, dict):
        return {k: describe(v) for k, v in x.items()}
    if isinstance(x, bool):
        return not x
    return x + 1


@calls("4", "0", "1.5")
def late_binding(n):
    fs = []
    for i in range(3):

        def f(x, i=i):
            return x * i + n

        fs.append(f)
    gs = [lambda: i for i in range(2)]
    return [f(2) for f in fs], [g() for g in gs]


@calls("3", "5", "0")
def infinite_then_return(n):
    total = 0
    for i in count():
        total += i
        if total >= n:
            return i, total


@calls("7", "1", "2", "30")
def ulam(n):
    seq = [1, 2]
    k = 3
    while len(seq) < n:
        ways = 0
        for i, a in enumerate(seq):
            if k - a in seq[i + 1 :]:
                ways += 1
        if ways == 1:
            seq.append(k)
        k += 1
        if k > 60:
            break
    return seq[:n]


@calls("5, 0.5", "3, 1.5", "0, 0")
def while_true_state(n, x):
    state, out = "a", []
    while True:
        if state == "a":
            out.append(x)
            state = "b" if x > 1 else "c"
        elif state == "b":
            x -= 1
            state = "a"
        else:
            x += 0.75
            n -= 1
            state = "a"
        if n <= 0 or len(out) > 9:
            break
    return out, state, n
