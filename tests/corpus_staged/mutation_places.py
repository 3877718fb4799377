"""Containers changed in attributes, classes, globals, closures, defaults and other containers; classic algorithms."""

from collections import OrderedDict, defaultdict, deque

import numpy as np

from tests.corpus_staged import calls

NUMBERS = ("1", "2", "-1", "0", "3")
ROWS = ("np.array([1,2,3])", "np.array([3.0,-1.0,2.0])", "[1,2,3]", "[2,1]", "np.array([3,1]*10)", "[]")


class Vec:
    def __init__(self, xs):
        self.xs = xs

    def __iadd__(self, o):
        self.xs += o.xs if isinstance(o, Vec) else [o]
        return self

    def __setitem__(self, i, v):
        self.xs[i] = v

    def __getitem__(self, i):
        return self.xs[i]

    def __delitem__(self, i):
        del self.xs[i]

    def __len__(self):
        return len(self.xs)

    def __contains__(self, v):
        return v in self.xs

    def __iter__(self):
        return iter(self.xs)


class Stack:
    items = []

    def __init__(self):
        self.own = []

    def push(self, v):
        self.items.append(v)
        self.own.append(v)


class Node:
    def __init__(self, v, next=None):
        self.v = v
        self.next = next


class Cache:
    def __init__(self, size):
        self.size = size
        self.data = OrderedDict()
        self.hits = 0

    def get(self, k, make):
        if k in self.data:
            self.hits += 1
            self.data.move_to_end(k)
            return self.data[k]
        v = self.data[k] = make(k)
        if len(self.data) > self.size:
            self.data.popitem(last=False)
        return v


G = {"log": [], "n": 0}


def note(x):
    G["log"].append(x)
    G["n"] += 1


@calls(*NUMBERS)
def own_iadd(x):
    v = Vec([1])
    if x > 0:
        v += x
    else:
        v += Vec([7, 8])
    v[0] = x
    if x > 1:
        del v[0]
    return v.xs, len(v), 7 in v, [a for a in v]


@calls("Vec([1]),1", "Vec([3,4]),2")
def own_iadd_of_an_argument(v, x):
    v += x
    if x > 1:
        v[0] += 10
    return list(v)


@calls(*NUMBERS)
def class_attribute(x):
    Stack.items = []
    s, t = Stack(), Stack()
    s.push(x)
    if x > 0:
        t.push(-x)
    return s.items is t.items, list(Stack.items), s.own, t.own


@calls(*NUMBERS)
def linked_list(x):
    head = None
    for i in range(3):
        if i != x:
            head = Node(i * x, head)
    out = []
    while head is not None:
        out.append(head.v)
        head = head.next
    return out


@calls(*NUMBERS)
def least_recently_used(x):
    c = Cache(2)
    log = []

    def make(k):
        log.append(k)
        return k * x

    r = [c.get(k, make) for k in [1, 2, 1, 3, 2]]
    return r, log, c.hits, list(c.data)


@calls(*NUMBERS)
def log_in_a_module(x):
    G["log"] = []
    G["n"] = 0
    note(x)
    if x > 0:
        note(x + 1)
    for i in range(10):
        note(i * x)
    r = G["log"][:], G["n"]
    G["log"] = []
    G["n"] = 0
    return r


@calls(*NUMBERS)
def chained_assignment(x):
    a = b = c = [0]
    a, b = b + [x], a
    if x > 0:
        c += a
    else:
        c = c + b
    return a, b, c, b is c


@calls(*NUMBERS)
def starred_targets(x):
    first, *rest = [[x], [2], [3]]
    rest[0], (first[0], *tail) = first, (9, x, 5)
    return first, rest, tail


@calls(*NUMBERS)
def items_as_targets(x):
    d = {}
    d["a"], d["b"] = x, [x]
    for d["k"] in range(3):
        pass
    if x > 0:
        d["a"], d["b"] = d["b"], d["a"]
    (d["c"]) = e = []
    e.append(x)
    return d


@calls(*NUMBERS)
def index_assigned_first(x):
    xs = [1, 2, 3]
    i = 0
    i, xs[i] = 2, x
    xs[xs[0] % 3] = 9
    return xs, i


@calls(*NUMBERS)
def closure_in_a_closure(x):
    xs = [1]

    def outer():
        ys = []

        def inner(v):
            nonlocal ys
            xs.append(v)
            if v > 0:
                ys += [v]
            else:
                ys = [v]

        inner(x)
        inner(-x)
        inner(x)
        return ys

    return outer(), xs


@calls(*NUMBERS)
def defaults_of_lambdas(x):
    fs = [lambda v, k=k, acc=[]: acc.append(v * k) or acc for k in range(3)]
    for f in fs:
        f(x)
        f(1)
    return [f(0) for f in fs]


@calls(*NUMBERS)
def defaults_of_functions(x):
    def count(acc={}, *, hist=[]):
        acc[len(acc)] = x
        if x > 0:
            hist.append(x)
        return acc, hist

    count()
    count()
    return count()


@calls(*NUMBERS)
def bubble_sort(x):
    xs = [3, 1, 2]
    for i in range(len(xs)):
        for j in range(len(xs) - 1 - i):
            if xs[j] * x > xs[j + 1] * x:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
    return xs


@calls(*ROWS)
def insertion_sort(xs):
    xs = list(xs)
    for i in range(1, len(xs)):
        k, j = xs[i], i - 1
        while j >= 0 and xs[j] > k:
            xs[j + 1] = xs[j]
            j -= 1
        xs[j + 1] = k
    return xs


@calls("10", "30", "2")
def sieve(n):
    sieve = [True] * (n + 1)
    sieve[:2] = [False] * 2
    for i in range(2, n + 1):
        if sieve[i]:
            sieve[i * i :: i] = [False] * len(sieve[i * i :: i])
    return [i for i, p in enumerate(sieve) if p]


@calls("3", "5", "0")
def pascal(n):
    rows = [[1]]
    for _ in range(n):
        last = rows[-1]
        rows.append([1] + [a + b for a, b in zip(last, last[1:])] + [1])
    return rows


@calls(*ROWS)
def grouped(xs):
    groups = defaultdict(list)
    for v in xs:
        groups[v % 3].append(v)
    return dict(groups), {k: sum(v) for k, v in groups.items()}


@calls("'([])'", "'(]'", "''")
def brackets(text):
    out = []
    for ch in text:
        if ch in "([":
            out.append(ch)
        elif not out or (out.pop() + ch) not in ("()", "[]"):
            return False
    return not out


@calls("{1:[(2,5),(3,1)],3:[(2,1)]},1", "{},0")
def shortest_paths(g, start):
    dist = {start: 0}
    q = deque([start])
    while q:
        u = q.popleft()
        for v, w in g.get(u, []):
            if v not in dist or dist[u] + w < dist[v]:
                dist[v] = dist[u] + w
                q.append(v)
    return dist


@calls("[[1,2],[3,4]]")
def rotated(m):
    return [list(r) for r in zip(*m[::-1])], [row[:] for row in m], [x for row in m for x in row]


@calls("[1,2,3],1", "[1,2,3],2")
def rotated_in_place(xs, k):
    xs[:] = xs[-k:] + xs[:-k]
    return xs


@calls(*NUMBERS)
def arrays_in_a_list(x):
    a = np.zeros(3)
    xs = [a, a]
    if x > 0:
        xs[0][0] = x
    xs[1] += 1
    xs[0] = xs[0] * 2
    return xs, a


@calls(*NUMBERS)
def rows_of_an_array(x):
    a = np.zeros((2, 2))
    rows = list(a)
    if x > 0:
        rows[0] += x
    rows.append(a[0])
    d = {"r": a[1]}
    d["r"][:] = 7
    return a, rows


@calls(*NUMBERS)
def immutable_in_place(x):
    s = frozenset([1])
    t = s
    s |= {x} if x > 1 else {5}
    u = (1,)
    u += (x,)
    n = "a"
    n *= 2
    n += str(x)
    return sorted(s), t, u, n


@calls(*NUMBERS)
def deep_in_dicts(x):
    d = {"a": {"b": {"c": [1]}}}
    d["a"]["b"]["c"] += [x]
    d["a"]["b"]["n"] = d["a"]["b"].get("n", 0) + x
    if x > 0:
        d["a"]["b"]["c"][0] -= x
        del d["a"]["b"]["n"]
    return d


@calls("1", "2")
def errors_of_items(x):
    xs = [1, 2]
    try:
        xs[5] = x
    except IndexError as e:
        xs.append(str(e))
    try:
        del {}[x]
    except KeyError as e:
        xs.append(e.args)
    return xs


@calls(*NUMBERS)
def dict_that_grows_while_iterated(x):
    d = {1: "a"}
    for k in d:
        if x > 0:
            d[k + x] = "b"
    return d


@calls(*NUMBERS)
def taken_from_both_ends(x):
    xs = list(range(6))
    out = []
    while xs:
        if len(xs) % 2:
            out.append(xs.pop())
        else:
            out.append(xs.pop(0) * x)
        if out[-1] > 50:
            break
    return xs, out


@calls(*ROWS)
def zipped_with_itself(xs):
    it = [iter(xs)] * 2
    pairs = list(zip(*it))
    return pairs


@calls(*NUMBERS)
def list_in_a_dict_and_a_tuple(x):
    t = ([], {})
    t[0].append(x)
    t[1]["a"] = t[0]
    if x > 0:
        t[1]["a"].append(-x)
    return t, t[1]["a"] is t[0]


@calls(*NUMBERS)
def global_made_and_deleted(x):
    global H
    H = [x]
    H += [x]
    if x > 0:
        H = H * 2
    r = H
    del H
    return r


@calls(*NUMBERS)
def attribute_deleted(x):
    class_ = Vec([x])
    class_.extra = []
    if x > 0:
        class_.extra.append(x)
        class_.xs.append(x)
    else:
        del class_.extra
    return class_.xs, getattr(class_, "extra", None)
