"""Programs whose arguments, lists and objects have several names, while all of them change."""

from collections import Counter, deque

from tests.corpus_staged import calls


class Node:
    def __init__(self, v):
        self.v = v
        self.kids = []
        self.parent = None

    def add(self, kid):
        kid.parent = self
        self.kids.append(kid)
        return kid

    def total(self):
        return self.v + sum(k.total() for k in self.kids)


@calls("3, 4", "0, -1", "1.5, 2")
def tree_with_parents(a, b):
    root = Node(a)
    x = root.add(Node(b))
    y = x.add(Node(a * b))
    if a > b:
        y.v += 100
        x.parent.v -= 1
    return root.total(), y.parent is x, y.parent.parent.v


@calls("Node(1), 3", "Node(2.5), 0")
def tree_argument_grows(root, n):
    node = root
    for i in range(n):
        node = node.add(Node(i))
        if i > 1:
            root.v += node.v
    return root.total(), node is root


@calls("[1, 2, 3], 1", "[], 0", "[5], -1")
def alias_of_argument(xs, n):
    ys = xs
    zs = [xs, ys]
    if n > 0:
        zs[0].append(n)
    else:
        ys = ys + [n]
    zs[1].append("end")
    return xs, ys, zs[0] is xs, len(zs[1])


@calls("{'a': [1]}, 2", "{'a': []}, -2")
def alias_in_dict(d, n):
    inner = d["a"]
    d["b"] = inner
    if n > 0:
        inner.append(n)
        d["a"] = d["a"] + [0]
    inner.append(-n)
    return d, d["a"] is d["b"]


@calls("[3, 1], [4]", "[], []", "[1], [2, 3, 4]")
def swap_arguments(a, b):
    if len(a) > len(b):
        a, b = b, a
    a += b[:1]
    b[:] = b[1:]
    return a, b


@calls("5", "0", "-3", "2.5")
def closures_share(n):
    total = 0
    seen = []

    def add(x):
        nonlocal total
        total += x
        seen.append(total)
        return add

    if n > 0:
        add(n)(1)
    else:
        add(-n)

    def get():
        return total

    add(10)
    return get(), seen


@calls("3", "0", "6")
def queue_simulation(n):
    q = deque(range(n))
    order = []
    while len(q) > 1:
        q.append(q.popleft())
        order.append(q.popleft())
    return order, list(q)


@calls("3", "0", "6")
def tally(n):
    c = Counter("abracadabra")
    d = {}
    i = 0
    while i < n:
        for k in c:
            d[k] = d.get(k, 0) + c[k] * i
        i += 1
    return d, c["a"]


@calls("[1, 2, 3], 2", "[1], 5", "[], 1")
def pop_while(xs, n):
    taken = []
    while xs and n > 0:
        taken.append(xs.pop())
        n -= 1
    return taken, xs, n


@calls("[4, 2, 9], 3", "[1], 0", "[], 5")
def remove_while_iterating(xs, n):
    for x in xs[:]:
        if x > n:
            xs.remove(x)
    for i in range(len(xs) - 1, -1, -1):
        if xs[i] == n:
            del xs[i]
    return xs


@calls("3, 2", "0, 1", "2, 0")
def matrix_power(n, p):
    m = [[1, n], [0, 1]]
    r = [[1, 0], [0, 1]]
    while p > 0:
        r = [[sum(r[i][k] * m[k][j] for k in range(2)) for j in range(2)] for i in range(2)]
        p -= 1
    return r


@calls("5", "0", "1")
def pairs_in_set(n):
    s = set()
    for a in range(n):
        for b in range(a):
            if (a + b) % 3 == 0:
                s.add((a, b))
    return sorted(s), (2, 1) in s


@calls("[1, 2, 3]", "[]", "[0.5]")
def generator_over_argument_changed(xs):
    g = (x * 2 for x in xs)
    xs.append(10)
    first = next(g, None)
    xs.append(20)
    return first, list(g), xs


@calls("3", "0", "5")
def exception_in_loop(n):
    out = []
    for i in range(n):
        if i == 4:
            raise RuntimeError(f"at {i} with {out}")
        out.append(10 // (i + 1))
    return out


@calls("[3, 0, 1]", "[1]", "[]")
def exception_mutates_before(xs):
    total = 0
    for i in range(len(xs)):
        xs[i] += 1
        total += 6 // (xs[i] - 1)
    return total


@calls("1", "2", "0")
def dict_iteration_order(n):
    d = {}
    for k in ("z", "a", "m"):
        d[k] = n
        if n > 1:
            d.pop("z", None)
            d["z"] = n
    return list(d), d


@calls("2, 'ab'", "0, 'x'", "3, ''")
def text_building(n, s):
    out = []
    for i in range(n):
        out.append(f"{i}:{s}" * (i + 1))
    return "|".join(out), s.join(map(str, range(n))), (s * n)[::-1], s.center(n + 4, "*")


@calls("10, 3", "1, 1", "7, 0")
def modular_tables(n, k):
    return {i: [j for j in range(n) if k and j % k == i] for i in range(k)}, [
        (i, i**k % (k or 1)) for i in range(n) if i & 1
    ]
