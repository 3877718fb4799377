"""Lists, dicts, attributes, arrays: reads, writes, aliases, and what happens half way through."""

from collections import ChainMap, OrderedDict, defaultdict, deque, namedtuple

import numpy as np

from tests.corpus import calls

Point = namedtuple("Point", "x y")


@calls("[1, 2, 3], 1", "[1], 5", "{1: 2}, 1", "{}, 1", "'abc', 1", "(1, 2), -1", "None, 0")
def read(xs, i):
    if xs:
        x = xs[i]
    else:
        x = xs[0]
    return x


@calls("[1, 2, 3], 1, 'v'", "[1], 5, 0", "{}, 'k', []", "(1, 2), 0, 9", "'abc', 0, 'x'")
def write(xs, i, v):
    for _ in range(2):
        xs[i] = v
    return xs


@calls("[1, 2, 3], 0", "{'a': 1}, 'a'", "{'a': 1}, 'b'", "[], 0")
def delete(xs, i):
    del xs[i]
    if xs:
        del xs[i]
    return xs


class Traced:
    """Prints each access."""

    def __init__(self):
        self.__dict__["data"] = {}

    def __getitem__(self, key):
        print("get", key)
        return self.data[key]

    def __setitem__(self, key, value):
        print("set", key, value)
        self.data[key] = value

    def __delitem__(self, key):
        print("del", key)
        del self.data[key]

    def __getattr__(self, name):
        print("getattr", name)
        if name.startswith("no_"):
            raise AttributeError(name)
        return 1

    def __setattr__(self, name, value):
        print("setattr", name, value)

    def __delattr__(self, name):
        print("delattr", name)

    def __iadd__(self, other):
        print("iadd", other)
        return self if other else "replaced"


@calls("Traced(), 1", "Traced(), 0")
def order_of_accesses(t, n):
    t["a"] = n
    t["a"] += 1
    t.x += t["a"]
    t[1:2, ..., None] = t.y
    t["t"] = Traced()
    t["t"] += n
    del t["a"], t.z
    for t["i"] in range(n):
        t.w = t["i"]
    if n:
        t += 0
    else:
        t += 1
    return t == "replaced" or t.no_such


@calls("[[0] * 2] * 2")
def aliased_rows(grid):
    for i in range(2):
        for j in range(2):
            grid[i][j] += 1
    return grid


@calls("[1, 2, 3], [4]", "[], []")
def two_names_for_one_list(xs, ys):
    alias = xs
    for y in ys:
        xs += [y]
        if y:
            xs = xs + [y]
    return alias, xs, alias is xs


@calls("[3, 1, 2]")
def list_methods(xs):
    if xs.append(4) is None:
        xs.extend(x for x in (5, 6) if x > 5)
        xs.insert(0, xs.pop())
    while xs.count(3):
        xs.remove(3)
    xs.reverse()
    return xs.index(2), xs


@calls("'a b a c b a'", "''")
def word_count(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return sorted(counts.items(), key=lambda kv: (-kv[1], kv[0])), counts


@calls("['x', 'y', 'x']")
def default_dict(keys):
    d = defaultdict(list)
    for i, k in enumerate(keys):
        d[k].append(i)
        if i == 1:
            d[i]
    return d


@calls("[1, 2, 3, 4]", "[]")
def deque_rotation(xs):
    q = deque(xs, maxlen=3)
    while len(q) > 1:
        q.appendleft(q.pop() + q[0])
        q.popleft()
    return list(q), q


@calls("Point(1, 2)", "Point('a', [])")
def named_tuples(p):
    if p.x:
        p = p._replace(x=p.y)
    x, y = p
    return p, x, y, p.y is p[1]


@calls("{'a': {'b': [1]}}", "{}", "{'a': 5}")
def nested_structure(d):
    try:
        for key in d["a"]["b"]:
            d["a"]["c"] = {"d": key}
            d["a"]["b"][0] += key
        del d["a"]["b"][0]
    except (KeyError, TypeError) as e:
        return type(e).__name__, str(e)
    return d


@calls("[1, 2]", "'ab'")
def swaps_items(xs):
    for i in range(len(xs) - 1):
        if i >= 0:
            xs[i], xs[i + 1] = xs[i + 1], xs[i]
    return xs


@calls("[0, 1, 2]")
def index_reads_what_was_just_bound(xs):
    i, xs[i] = 1, "x"
    i = 0
    for i, xs[i] in [(1, "y"), (2, "z")]:
        pass
    return xs, i


@calls("[2, 0, 1]")
def index_reads_after_binding(xs):
    i = 0
    i, xs[i] = 1, "x"
    for i, xs[i] in [(0, "y"), (2, "z")]:
        pass
    return xs, i


class Box:
    total = 0
    items: list

    def __init__(self, total=0):
        self.total = total

    def __repr__(self):
        return f"Box({self.total})"


@calls("Box(), 3", "Box(1), 0")
def attributes_in_loops(box, n):
    for i in range(n):
        box.total += i
        if box.total > 2:
            box.last = i
            box.total = 0
    if not hasattr(box, "last"):
        box.last = None
    del box.last
    return box.total, vars(box)


@calls("Box()")
def class_attribute_shadowed(box):
    del box.total
    while box.total < 3:
        box.total += 1
    return box.total, Box.total


@calls("Box()", "None")
def missing_attribute(box):
    for _ in range(1):
        return box.nothing


@calls("np.arange(5.0)", "np.zeros(0)", "[1.0, 2.0]")
def array_in_place(a):
    for i in range(len(a)):
        a[i] = a[i] * 2 + i
        if a[i] > 5:
            a[i] -= 1
    return a


@calls("np.arange(6)")
def array_views(a):
    v = a[::2]
    w = a.reshape(2, 3)
    for i in range(len(v)):
        v[i] = 10 * i
    w[0] += 1
    w[:, -1] = [7, 8]
    a[a > 10] = -1
    return a, v, w, v.base is a


@calls("np.arange(4)", "np.arange(4.0)", "np.arange(4, dtype=np.int8)")
def array_dtypes(a):
    total = 0
    for x in a:
        total += x
    mean = total / len(a)
    if mean > 1:
        a = a * 2.5
    else:
        a //= 2
    return total, type(total).__name__, mean, a, a.dtype.name


@calls("np.arange(3)", "np.array(1)", "np.zeros((0, 2))")
def array_truth(a):
    if a:
        return "true"
    return "false"


@calls("np.arange(3), np.arange(3)", "np.arange(3), np.arange(2)", "np.int64(3), 3")
def array_comparisons(a, b):
    if np.all(a == b) and a.shape == np.shape(b):
        return a == b, a < b, (a <= b) & (a >= b)
    return not np.any(a != b)


@calls("np.arange(3), np.arange(3)")
def array_chained_comparison(a, b):
    return 0 <= a < b


@calls("np.arange(12).reshape(3, 4)")
def array_rows(m):
    out = []
    for row in m:
        row[0] = -1
        for j, x in enumerate(row):
            if x % 2 == 0:
                row[j] = 0
        out.append(row.sum())
    return out, m, m[1, 2], m[1][2], m[..., 0], m[None].shape


@calls("np.arange(3), 5", "np.arange(3), 1")
def array_index_error(a, i):
    for k in range(i + 1):
        a[k] += 1
    return a


@calls("[1, 2], {'a': 1}")
def unusual_mappings(xs, d):
    chain = ChainMap({}, d)
    ordered = OrderedDict()
    for i, x in enumerate(xs):
        chain["a"] += x
        ordered[x] = i
        if i:
            ordered.move_to_end(xs[0])
    return dict(chain), d, list(ordered), len(ordered)


@calls("bytearray(b'abc')", "memoryview(bytearray(b'abc'))")
def bytes_in_place(b):
    for i in range(len(b)):
        b[i] ^= 32
        if i == 1:
            b[i] = 48
    return bytes(b)


@calls("[1, [2, [3, []]]]", "[]")
def self_reference(xs):
    depth = 0
    while xs:
        *_, xs = xs
        depth += 1
    xs.append(xs)
    return depth, xs[0] is xs


@calls("{'b': 1, 'a': 2}")
def dict_order_and_updates(d):
    d |= {"c": 3}
    for k in sorted(d):
        d[k] = d.pop(k) * 10
        if k == "b":
            d.setdefault("z", []).append(k)
    return list(d.items())
