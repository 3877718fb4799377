"""Small programs that change containers: with exceptions, heaps, copies, aliases, memos, queues, stacks, grids."""

import bisect
import copy
import heapq
import operator
from collections import Counter, OrderedDict, deque

import numpy as np  # noqa: F401  (for arguments)

from tests.corpus_staged import calls

NUMBERS = ("1", "2", "3", "-1", "30")
ROWS = ("np.array([1,2,3])", "np.array([0.5,-1.0])", "[1,2,3]", "[2,2]", "np.array([3]*10)")


@calls("[1],2", "[1,2,3],2", "[],-3", "[3,3,1],3")
def raises_after_a_change(xs, x):
    xs.append(x)
    if x < 0:
        raise ValueError(len(xs))
    xs.append(2 * x)


@calls("[1],2", "[1,2,3],2", "[],-3", "[3,3,1],3")
def raises_in_a_loop(xs, x):
    for i in range(12):
        xs.append(i * x)
        if xs[-1] > 20:
            raise KeyError(xs[-1])
    xs.clear()


@calls("[1],2", "[1,2,3],2", "[],-3", "[3,3,1],3")
def tries_and_changes(xs, x):
    try:
        xs.append(x)
        if x < 0:
            raise ValueError
        xs.append(1)
    except ValueError:
        xs.append("e")
    finally:
        xs.append("f")
    return len(xs)


@calls(*ROWS)
def heap(x):
    h = []
    for v in x:
        heapq.heappush(h, v)
    out = []
    while h:
        out.append(heapq.heappop(h))
    return out


@calls(*ROWS)
def bisected(x):
    s = []
    for v in x:
        if v > 0:
            bisect.insort(s, v)
    return s


@calls(*NUMBERS)
def unbound_methods(x):
    xs = [1]
    list.append(xs, x)
    if x > 1:
        list.insert(xs, 0, x)
    dict_ = {}
    dict.update(dict_, a=x)
    if x > 1:
        dict.pop(dict_, "a")
    return xs, dict_


@calls(*NUMBERS)
def bound_methods(x):
    xs = [1]
    add = xs.append
    if x > 1:
        add(x)
    for _ in range(10):
        add(0)
    list(map(add, [5, x]))
    return xs


@calls(*NUMBERS)
def operator_functions(x):
    xs = [1, 2]
    if x > 1:
        operator.iadd(xs, [x])
        operator.setitem(xs, 0, 9)
    else:
        operator.delitem(xs, 0)
    return xs


@calls(*NUMBERS)
def copies(x):
    xs = [[1], [2]]
    ys = copy.copy(xs)
    zs = copy.deepcopy(xs)
    if x > 1:
        ys[0].append(x)
        zs[0].append(-x)
        ys.append([3])
    return xs, ys, zs


@calls(*NUMBERS)
def nested_dicts(x):
    d = {"k": {"n": [1]}}
    e = d["k"]
    if x > 1:
        e["n"].append(x)
        d["k"]["m"] = x
    else:
        d["k"] = {"n": []}
    return d, e, d["k"] is e


@calls(*NUMBERS)
def one_list_under_three_names(x):
    xs = [1]
    d = {"xs": xs}
    t = (xs, d)
    if x > 1:
        t[0].append(x)
    d["xs"].append(7)
    return t, xs is d["xs"]


@calls(*NUMBERS)
def recursion_counts_in_a_list(x):
    a = [0]

    def inc():
        a[0] += 1
        if a[0] < x:
            inc()

    inc()
    return a


@calls(*NUMBERS)
def functions_kept_in_a_list(x):
    fs = []
    for i in range(3):

        def f(i=i):
            fs.append(i) if i > x else None
            return i

        fs.append(f)
    for f in fs[:3]:
        f()
    return len(fs), fs[3:]


@calls(*NUMBERS)
def memo(x):
    memo = {}

    def fib(n):
        if n in memo:
            return memo[n]
        r = n if n < 2 else fib(n - 1) + fib(n - 2)
        memo[n] = r
        return r

    return fib(10) * x, len(memo)


@calls(*NUMBERS)
def ragged(x):
    out = []
    i = 0
    while i < x:
        if i % 2:
            out.append(i)
        else:
            out.append([i])
        i += 1
    return out


@calls(*NUMBERS)
def dict_with_a_limit(x):
    out = {}
    while x > 1:
        out[x] = out.get(x, 0) + 1
        x = x // 2
        if len(out) == 3:
            out.pop(next(iter(out)))
    return out


@calls("1", "2", "3")
def set_until_repeated(x):
    s = set()
    while x not in s:
        s.add(x)
        x = (x * 3 + 1) % 7
    return s, x


@calls(*NUMBERS)
def counted_words(x):
    words = ["b", "a", "c", "a"]
    count = {}
    for w in words:
        count[w] = count.get(w, 0) + x
    best = max(count, key=count.get)
    top = sorted(count.items(), key=lambda kv: (-kv[1], kv[0]))
    return count, best, top


@calls("[1],2", "[1,2,3],2", "[],-3", "[3,3,1],3")
def removed_while_copied(xs, x):
    for i, v in enumerate(list(xs)):
        if v > x:
            xs.remove(v)
    return xs


@calls("[1],2", "[1,2,3],2", "[],-3", "[3,3,1],3")
def popped_by_index(xs, x):
    i = 0
    while i < len(xs):
        if xs[i] == x:
            xs.pop(i)
        else:
            i += 1
    return len(xs)


@calls("[1],2", "[1,2,3],2", "[],-3", "[3,3,1],3")
def filtered_in_place(xs, x):
    xs[:] = [v for v in xs if v != x]
    xs[len(xs) :] = [x]
    xs[0:0] = (x, x)
    return xs


@calls("[1],[2]", "[1,2],[3,4]")
def two_arguments_extended(a, b):
    a.extend(b)
    b.extend(a)
    if len(a) > 3:
        a, b = b, a
    a.pop()
    return a is b


@calls("[[1,2],[3,4]],0,1,5", "[[1,2],[3,4]],1,-1,2.5", "[[1]],0,3,1")
def matrix_row(m, i, j, v):
    m[i][j] = v
    m[i][j] += 1
    row = m[i]
    row[0], row[-1] = row[-1], row[0]
    return sum(map(sum, m))


@calls(*NUMBERS)
def doubled_until_large(x):
    xs = [0] * 5
    for i in range(5):
        xs[i] = x if i == 0 else xs[i - 1] * 2
        if xs[i] > 10:
            break
    else:
        xs.append("end")
    return xs


@calls(*NUMBERS)
def buckets(x):
    d = {i: [] for i in range(3)}
    for i in range(30):
        d[(i * x) % 3].append(i)
    return d


@calls(*NUMBERS)
def ordered_dict(x):
    d = OrderedDict(a=1, b=2, c=3)
    if x > 1:
        d.move_to_end("a")
    else:
        d.popitem(last=False)
    return d


@calls(*NUMBERS)
def postfix(x):
    st = []
    for tok in ["3", "4", "+", "x", "*"]:
        if tok == "+":
            st.append(st.pop() + st.pop())
        elif tok == "*":
            st.append(st.pop() * st.pop())
        else:
            st.append(x if tok == "x" else int(tok))
    return st


@calls(*NUMBERS)
def walk_on_a_grid(x):
    grid = [[0] * 4 for _ in range(4)]
    r = c = 0
    for step in range(6):
        grid[r][c] = step * x
        if (step + x) % 2:
            r = (r + 1) % 4
        else:
            c = (c + 1) % 4
    return grid, r, c


@calls(*NUMBERS)
def queue_of_pairs(x):
    q = [(x, 0)]
    seen = []
    while q:
        v, depth = q.pop(0)
        if depth > 3 or v in seen:
            continue
        seen.append(v)
        q += [(v * 2 % 11, depth + 1), (v + 3, depth + 1)]
    return seen


@calls(*NUMBERS)
def starred_and_deleted(x):
    a, b, *c = [x, 2, 3, 4]
    c += [a]
    [a, c[0]], b = [b, a], c
    del c[1], b
    return a, c


@calls(*NUMBERS)
def sorts(x):
    xs = [5, 3, x]
    xs.sort(key=lambda v: -v)
    ys = sorted(xs, reverse=True)
    xs.sort()
    return xs, ys, xs.index(3), xs.count(x)


@calls(*NUMBERS)
def merged_dicts(x):
    d = dict(a=x)
    d.update({"b": 2}, c=3)
    d |= {"d": x}
    e = {**d, "a": 0}
    if x > 1:
        d.update(e)
    for k in list(d):
        if k < "c":
            del d[k]
    return d, e


@calls(*NUMBERS)
def bytes_in_place(x):
    ba = bytearray(b"abc")
    ba[0] = 65
    ba.append(66)
    ba.extend(b"z")
    ba += b"!"
    del ba[1]
    return ba, x


@calls(*NUMBERS)
def set_operators(x):
    s = {1, 2, 3}
    t = {2, x}
    s &= t
    s |= {9}
    u = s.union({1})
    s.symmetric_difference_update({9, 10})
    s.intersection_update({10, 2})
    return s, t, u, s <= u


@calls(*NUMBERS)
def counter_arithmetic(x):
    c = Counter(a=1)
    c["b"] += x
    c["a"] -= 1
    c2 = +c
    c += Counter(a=2)
    c -= Counter(b=1)
    return c, c2, sorted(c.elements()) if x < 9 else 0


@calls(*NUMBERS)
def deque_items(x):
    dq = deque(range(4))
    dq[0] = x
    dq[-1] += x
    if x > 1:
        dq.remove(x)
        dq.reverse()
    dq *= 2
    return dq, dq.count(x), list(dq)[::2]


@calls(*NUMBERS)
def list_in_itself(x):
    xs = []
    xs.append(xs)
    return len(xs), x


@calls(*NUMBERS)
def nested_loops_with_breaks(x):
    acc = []
    for a in range(3):
        for b in range(a):
            acc += [(a, b)] if a + b > x else [(x,)]
            if len(acc) > 2:
                break
        else:
            continue
        acc.append("b")
        break
    return acc


@calls(*ROWS)
def newest_two(xs):
    total = []
    for x in xs:
        if x in total:
            continue
        total.insert(0, x)
        while len(total) > 2:
            total.pop()
    return total


@calls(*ROWS)
def pairs_by_next(xs):
    it = iter(xs)
    out = []
    for a in it:
        b = next(it, None)
        out.append((a, b))
    return out
