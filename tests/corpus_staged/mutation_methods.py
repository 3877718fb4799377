"""Methods and statements that change lists, dicts, sets and deques, in branches, loops and inner functions."""

from collections import Counter, defaultdict, deque

import numpy as np  # noqa: F401  (for arguments)

from tests.corpus_staged import calls

NUMBERS = ("1", "2", "3", "-1")
ROWS = ("np.array([1,2,3])", "np.array([0.5,-1.0])", "[1,2,3]", "[2]", "np.array([3]*10)")


class Bag:
    def __init__(self, *a):
        self.xs = list(a)
        self.d = {}
        self.n = 0

    def add(self, x):
        if x > 0:
            self.xs.append(x)
        else:
            self.xs.insert(0, x)
        self.n += 1
        return self


G = []
GD = {"a": [1]}
GN = 0


@calls(*NUMBERS)
def sort_or_reverse(x):
    xs = [3, 1, 2]
    if x > 0:
        xs.sort()
    else:
        xs.reverse()
    return xs


@calls(*NUMBERS)
def sorted_then_popped(x):
    xs = [3, x, 2]
    xs.sort()
    if x > 2:
        xs.pop(0)
    return xs


@calls(*NUMBERS)
def slices_in_branches(x):
    xs = list(range(5))
    if x > 2:
        xs[1:3] = [x]
    else:
        xs[::2] = [0, 0, 0]
    del xs[-1]
    return xs


@calls(*NUMBERS)
def deletions_in_branches(x):
    xs = [1, 2, 3, 4]
    if x > 2:
        del xs[0]
    elif x > 1:
        del xs[1:3]
    else:
        xs.clear()
    return xs, len(xs)


@calls(*NUMBERS)
def dict_grows_in_a_loop(x):
    d = {"a": 1}
    for i in range(3):
        if x > i:
            d[i] = x
        else:
            d.pop(i, None)
    return d


@calls(*NUMBERS)
def popitem_or_setdefault(x):
    d = {"a": 1, "b": 2}
    if x > 0:
        k, v = d.popitem()
    else:
        k, v = "z", d.setdefault("z", x)
    return d, k, v


@calls(*NUMBERS)
def setdefault_of_lists(x):
    d = {}
    for i in range(4):
        d.setdefault(i % 2, []).append(i * x)
    return d


@calls(*NUMBERS)
def defaultdict_in_a_branch(x):
    d = defaultdict(list)
    for i in range(12):
        if i % x:
            d[i % 3].append(i)
        else:
            d["no"].append(x)
    return d


@calls(*NUMBERS)
def swapped_names(x):
    a, b = [1], [2]
    if x > 0:
        a, b = b, a
    a.append(x)
    return a, b


@calls(*NUMBERS)
def swapped_items(x):
    a = [1, 2, 3]
    if x > 0:
        a[0], a[2] = a[2], a[0]
    a[1], *a[2:] = [x, 7, 8]
    return a


@calls(*NUMBERS)
def set_methods(x):
    s = {1, 2}
    if x > 0:
        s.add(3)
        s.discard(1)
    else:
        s.update([7, 8])
        s.remove(2)
    t = set(s)
    t.clear()
    return s, t, len(s)


@calls(*NUMBERS)
def deque_methods(x):
    q = deque([1, 2, 3], maxlen=4)
    if x > 0:
        q.append(x)
        q.appendleft(0)
    else:
        q.rotate(2)
        q.pop()
    q.extendleft([9])
    q.insert(1, 5) if len(q) < 4 else None
    return q


@calls(*NUMBERS)
def counter_by_letters(x):
    c = Counter()
    for ch in "hello":
        if x > 1:
            c[ch] += x
        else:
            c.update(ch)
    c.subtract({"l": 1})
    return c, c.most_common(1)


@calls(*NUMBERS)
def nested_rows(x):
    rows = [[0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            if i * j > x:
                rows[i][j] += x
            else:
                rows[j][i] -= 1
    return rows


@calls(*NUMBERS)
def repeated_rows(x):
    rows = [[0] * 3] * 2
    rows[0][1] = x
    if x > 0:
        rows[1] = [1]
    return rows


@calls("Bag(1),2", "Bag(),-3")
def methods_of_an_argument(o, x):
    o.add(x).add(-x)
    return o.n, len(o.xs)


@calls("Bag(1),2", "Bag(),-3")
def attributes_grow_in_a_loop(o, x):
    for i in range(3):
        if x > i:
            o.xs += [i]
            o.d[i] = o.xs[-1]
    return o


@calls(*NUMBERS)
def global_list_and_number(x):
    global GN
    if x > 0:
        GN += x
        G.append(x)
    else:
        G.clear()
    r = GN, list(G)
    GN = 0
    G[:] = []
    return r


@calls(*NUMBERS)
def global_dict_of_lists(x):
    GD["a"].append(x)
    if x > 0:
        GD["b"] = x
    r = {k: (list(v) if type(v) is list else v) for k, v in GD.items()}
    del GD["a"][1:]
    GD.pop("b", None)
    return r


@calls(*ROWS)
def grows_in_an_inner_function(x):
    out = []

    def put(v):
        out.append(v)
        if v > 1:
            out.insert(0, -v)

    for v in x:
        put(v)
    return out


@calls(*ROWS)
def counts_in_an_inner_function(x):
    n, hist = 0, {}

    def bump(k):
        nonlocal n
        n += 1
        hist[k] = hist.get(k, 0) + 1

    for v in x:
        if v > 1:
            bump("big")
        else:
            bump("small")
    return n, hist


@calls(*NUMBERS)
def stack_of_children(x):
    stack = [1]
    while stack:
        v = stack.pop()
        if v < x:
            stack += [v * 2, v * 2 + 1]
        if len(stack) > 20:
            break
    return stack, v


@calls(*NUMBERS)
def breadth_first_set(x):
    seen, queue = set(), deque([x])
    while queue:
        v = queue.popleft()
        if v in seen or v <= 0:
            continue
        seen.add(v)
        queue.extend([v - 2, v - 3])
    return sorted(seen)


@calls("[1,2,3]", "[4,5]", "[1.5,2,9,3]")
def argument_swapped_and_doubled(xs):
    xs[0], xs[-1] = xs[-1], xs[0]
    xs[1:2] = []
    xs.extend(xs)
    return xs.index(max(xs))


@calls("{'a':1},'a'", "{},'b'", "{'a':1,'z':0},'q'")
def argument_dict_changed(d, k):
    if k in d:
        del d[k]
    else:
        d[k] = len(d)
    d.update(z=1)
    return list(d)


@calls("[1],1", "[],2")
def aliases_of_an_argument(xs, x):
    ys = xs
    zs = xs[:]
    ys.append(x)
    zs.append(x)
    if x > 1:
        ys = zs
    ys.append(-1)
    return ys is xs, ys is zs


@calls(*NUMBERS)
def tuple_of_one_list_twice(x):
    a = [1]
    b = (a, a)
    if x > 0:
        b[0].append(x)
    return b, b[0] is b[1]


@calls(*NUMBERS)
def comprehensions_that_change(x):
    l = [i * x for i in range(4)]
    [l.append(v) for v in l[:2]]
    {l.remove(v) for v in (l[0],)}
    return l


@calls(*NUMBERS)
def mutable_default_of_an_inner_function(x):
    def f(acc=[], **kw):
        acc.append(x)
        kw["n"] = len(acc)
        return acc, kw

    f()
    f(a=1)
    return f()


@calls(*NUMBERS)
def rows_in_place(x):
    xs = [[1], [2]]
    for row in xs:
        row.append(x)
        row += [x + 1]
        row *= 1
    for i, row in enumerate(xs):
        if x > i:
            row[0] = -1
    return xs


@calls("0.7, np.arange(3.0), [1.0, 2.0]", "0.1, np.arange(3.0), [1.0, 2.0]")
def longer_after_a_loop_and_written_in_one(p, a, ps):
    xs = list(ps)
    for y in a:
        xs.pop()
        xs.append(y)
    xs.insert(0, p)
    if p > 0.2:
        n = 3
        while n > 0:
            n -= 1
            xs.pop()
            xs.append(p * n)
    return sum(xs), xs
