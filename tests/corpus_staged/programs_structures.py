"""Data structures and interview questions in pure Python."""

import itertools
import math
import operator
from dataclasses import dataclass
from functools import cache, partial, reduce
from itertools import chain

from tests.corpus_staged import calls


class SegmentTree:
    def __init__(self, xs, op=min, default=math.inf):
        self.n = len(xs)
        self.op = op
        self.default = default
        self.tree = [default] * self.n + list(xs)
        for i in range(self.n - 1, 0, -1):
            self.tree[i] = op(self.tree[2 * i], self.tree[2 * i + 1])

    def update(self, i, v):
        i += self.n
        self.tree[i] = v
        while i > 1:
            i //= 2
            self.tree[i] = self.op(self.tree[2 * i], self.tree[2 * i + 1])

    def query(self, lo, hi):
        result = self.default
        lo += self.n
        hi += self.n
        while lo < hi:
            if lo & 1:
                result = self.op(result, self.tree[lo])
                lo += 1
            if hi & 1:
                hi -= 1
                result = self.op(result, self.tree[hi])
            lo //= 2
            hi //= 2
        return result


@calls("[4, 2, 7, 1], 0, 3", "[1.5, 3], 0, 2", "[5], 0, 1")
def segment_tree(xs, lo, hi):
    t = SegmentTree(xs)
    before = t.query(lo, hi)
    t.update(lo, before + 1)
    return before, t.query(lo, hi), SegmentTree(xs, max, -1).query(lo, hi)


class LRU:
    def __init__(self, capacity):
        self.capacity = capacity
        self.data = {}

    def get(self, key):
        if key not in self.data:
            return -1
        self.data[key] = value = self.data.pop(key)
        return value

    def put(self, key, value):
        self.data.pop(key, None)
        if len(self.data) >= self.capacity:
            del self.data[next(iter(self.data))]
        self.data[key] = value


@calls("2, 5", "1, 3", "3, 1.5")
def lru_cache_class(capacity, v):
    c = LRU(capacity)
    c.put(1, v)
    c.put(2, v * 2)
    a = c.get(1)
    c.put(3, v * 3)
    return a, c.get(2), c.get(3), c.data


class Trie:
    def __init__(self):
        self.children = {}
        self.count = 0

    def insert(self, word):
        node = self
        for c in word:
            node = node.children.setdefault(c, Trie())
            node.count += 1

    def prefix(self, p):
        node = self
        for c in p:
            if c not in node.children:
                return 0
            node = node.children[c]
        return node.count


@calls("['apple', 'app', 'bat'], 'ap'", "[], 'x'", "['a'], ''")
def trie(words, p):
    t = Trie()
    for w in words:
        t.insert(w)
    return t.prefix(p)


class Matrix:
    def __init__(self, rows):
        self.rows = [list(r) for r in rows]

    def __matmul__(self, other):
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*other.rows)] for r in self.rows])

    def __pow__(self, n):
        result = Matrix([[int(i == j) for j in range(len(self.rows))] for i in range(len(self.rows))])
        base = self
        while n:
            if n & 1:
                result = result @ base
            base = base @ base
            n >>= 1
        return result

    def __getitem__(self, key):
        r, c = key
        return self.rows[r][c]

    def __setitem__(self, key, value):
        r, c = key
        self.rows[r][c] = value

    def __eq__(self, other):
        return self.rows == other.rows


@calls("10", "0", "1", "90")
def fib_matrix(n):
    return (Matrix([[1, 1], [1, 0]]) ** n)[0, 1]


@calls("[[1, 2], [3, 4]], 5", "[[0.5]], 1")
def matrix_class(rows, v):
    m = Matrix(rows)
    m[0, 0] = v
    m[0, 0] += 1
    return m.rows, m == Matrix(rows), (m @ m).rows


class Poly:
    def __init__(self, *coeffs):
        self.coeffs = list(coeffs)

    def __call__(self, x):
        result = 0
        for c in reversed(self.coeffs):
            result = result * x + c
        return result

    def __add__(self, other):
        return Poly(*(a + b for a, b in itertools.zip_longest(self.coeffs, other.coeffs, fillvalue=0)))

    def __mul__(self, other):
        out = [0] * (len(self.coeffs) + len(other.coeffs) - 1)
        for i, a in enumerate(self.coeffs):
            for j, b in enumerate(other.coeffs):
                out[i + j] += a * b
        return Poly(*out)

    def derivative(self):
        return Poly(*[i * c for i, c in enumerate(self.coeffs)][1:])


@calls("1, 2", "0, 0.5", "-1, 3")
def polynomials(a, x):
    p = Poly(a, 1, 2)
    q = p * p + Poly(x)
    return p(x), q.coeffs, q.derivative()(x)


@dataclass
class Particle:
    x: float = 0.0
    v: float = 1.0

    def step(self, dt):
        self.x += self.v * dt
        if self.x > 1 or self.x < 0:
            self.v = -self.v
            self.x = min(max(self.x, 0), 1)


@calls("3, 0.3", "10, 0.25", "0, 1", "5, 1")
def bouncing(steps, dt):
    ps = [Particle(), Particle(v=-2), Particle(0.5)]
    for _ in range(steps):
        for p in ps:
            p.step(dt)
    return ps, sum(p.x for p in ps)


class Elevator:
    def __init__(self):
        self.floor = 0
        self.log = []

    def go(self, target):
        while self.floor != target:
            self.floor += 1 if target > self.floor else -1
            self.log.append(self.floor)


@calls("[3, 1]", "[]", "[-2, 2]")
def elevator(targets):
    e = Elevator()
    for t in targets:
        e.go(t)
    return e.floor, e.log


@calls("[1, 2, 3, 4, 5]", "[]", "[2.5, -1]")
def pipeline(xs):
    return reduce(operator.add, map(lambda x: x * x, filter(lambda x: x % 2, xs)), 0)


@calls("3", "0", "2.5")
def compose(x):
    def comp(*fs):
        return reduce(lambda f, g: lambda v: g(f(v)), fs)

    return comp(lambda v: v + 1, lambda v: v * 2, partial(operator.mul, 3))(x)


@calls("3, 4", "0, 1.5")
def currying(a, b):
    add = lambda x: lambda y: x + y
    return add(a)(b), (lambda *xs: sum(xs))(a, b), (lambda x, y=2, **k: x * y + sum(k.values()))(a, z=b)


@calls("[3, 1, 2]", "['b', 'a']", "[]", "[(1, 'b'), (1, 'a')]")
def sorts(xs):
    return sorted(xs), sorted(xs, reverse=True), xs == sorted(xs), sorted(enumerate(xs), key=operator.itemgetter(1))


@calls("[[1, 2], [3]], 2", "[[]], 0")
def sum_nested(xs, k):
    return (
        sum(map(sum, xs)) * k,
        list(chain.from_iterable(xs)),
        sum((sub for sub in xs), []),
        [y for x in xs for y in x],
    )


@calls("3", "1", "0")
def hailstones(n):
    best = max(range(1, n + 1), key=lambda k: (steps(k), k), default=None)
    return best


def steps(n):
    count = 0
    while n != 1:
        n = 3 * n + 1 if n & 1 else n // 2
        count += 1
    return count


@calls("2, 5", "1, 1", "0, 3")
def grid_paths(n, m):
    @cache
    def paths(i, j):
        if i == 0 or j == 0:
            return 1
        return paths(i - 1, j) + paths(i, j - 1)

    return paths(n, m)


@calls("[1, 3, 5], [2, 4]", "[], [1.5]", "[1], []")
def median_of_two(a, b):
    merged = sorted(a + b)
    n = len(merged)
    if n % 2:
        return merged[n // 2]
    return (merged[n // 2 - 1] + merged[n // 2]) / 2


@calls("[7, 1, 5, 3]", "[1]", "[5, 4]", "[1.5, 2.5]")
def best_trade(prices):
    lowest, profit = float("inf"), 0
    for p in prices:
        if p < lowest:
            lowest = p
        elif p - lowest > profit:
            profit = p - lowest
    return profit


@calls("[2, 3, -2, 4]", "[0]", "[-2.0, 3]")
def max_product(xs):
    best = hi = lo = xs[0]
    for x in xs[1:]:
        if x < 0:
            hi, lo = lo, hi
        hi, lo = max(x, hi * x), min(x, lo * x)
        best = max(best, hi)
    return best


@calls("[1, 2, 3, 4]", "[5, 0]", "[0, 0]")
def product_except_self(xs):
    out = [1] * len(xs)
    left = 1
    for i in range(len(xs)):
        out[i] = left
        left *= xs[i]
    right = 1
    for i in range(len(xs) - 1, -1, -1):
        out[i] *= right
        right *= xs[i]
    return out


@calls("[-1, 0, 1, 2, -1, -4]", "[]", "[0, 0, 0]")
def three_sum(nums):
    nums.sort()
    found = []
    for i in range(len(nums) - 2):
        if i and nums[i] == nums[i - 1]:
            continue
        lo, hi = i + 1, len(nums) - 1
        while lo < hi:
            s = nums[i] + nums[lo] + nums[hi]
            if s < 0:
                lo += 1
            elif s > 0:
                hi -= 1
            else:
                found.append([nums[i], nums[lo], nums[hi]])
                lo += 1
                while lo < hi and nums[lo] == nums[lo - 1]:
                    lo += 1
    return found


@calls("[2, 0, 1, 1]", "[3, 0, 0, 4]", "[0]")
def jump_game(xs):
    reach = 0
    for i, x in enumerate(xs):
        if i > reach:
            return False
        reach = max(reach, i + x)
    return True


@calls("[1, 8, 6, 2, 5]", "[1, 1]")
def container(h):
    i, j, best = 0, len(h) - 1, 0
    while i < j:
        best = max(best, (j - i) * min(h[i], h[j]))
        if h[i] < h[j]:
            i += 1
        else:
            j -= 1
    return best


@calls("[2, 1, 5, 6, 2, 3]", "[1]", "[]")
def largest_rectangle(heights):
    stack, best = [], 0
    for i, h in enumerate(heights + [0]):
        while stack and heights[stack[-1]] >= h:
            height = heights[stack.pop()]
            width = i if not stack else i - stack[-1] - 1
            best = max(best, height * width)
        stack.append(i)
    return best


@calls("4", "1", "0")
def parentheses(n):
    out = []

    def go(s, a, b):
        if len(s) == 2 * n:
            out.append(s)
            return
        if a < n:
            go(s + "(", a + 1, b)
        if b < a:
            go(s + ")", a, b + 1)

    go("", 0, 0)
    return out


@calls("[2, 3, 6, 7], 7", "[2], 1", "[1], 2")
def combination_sum(candidates, target):
    out = []

    def go(start, rest, path):
        if rest == 0:
            out.append(path[:])
            return
        for i in range(start, len(candidates)):
            if candidates[i] <= rest:
                path.append(candidates[i])
                go(i, rest - candidates[i], path)
                path.pop()

    go(0, target, [])
    return out


@calls("[1, 2, 3]", "[1]", "[]")
def permute(xs):
    if len(xs) <= 1:
        return [xs]
    return [[xs[i]] + rest for i in range(len(xs)) for rest in permute(xs[:i] + xs[i + 1 :])]
