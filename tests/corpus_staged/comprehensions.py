"""Comprehensions, generators, and the functions that consume them."""

from functools import reduce
from itertools import accumulate, chain, product, takewhile

import numpy as np

from tests.corpus_staged import calls


@calls("np.array([1, -2, 3])", "[]", "[0.5, -0.5]")
def squares_of_positive(x):
    return [v * v for v in x if v > 0]


@calls("4", "0", "-1")
def over_range(n):
    return [i * j for i in range(n) for j in range(i) if (i + j) % 2]


@calls("3, 2", "0, 4")
def table(n, m):
    return [[i * m + j for j in range(m)] for i in range(n)]


@calls("['b', 'a', 'c'], [1, 2.5, 3]", "[], []")
def dict_of_pairs(names, values):
    d = {name: value * 2 for name, value in zip(names, values)}
    return d, {v: k for k, v in d.items()}, {k: v for k, v in d.items() if v > 2}


@calls("[3, 1, 3, 2]", "[]", "[1.0, 1, True]")
def set_of_remainders(xs):
    return {x % 3 for x in xs}, len({x for x in xs})


@calls("np.array([1.5, 2.5])", "[1, 2, 3]", "[]")
def sum_of_generator(xs):
    return sum(x * x for x in xs), sum((x for x in xs), 0.5)


@calls("np.array([1, 2, 3])", "[0, 1]", "[]")
def any_and_all(xs):
    return any(x > 2 for x in xs), all(x > 0 for x in xs), any(xs), all(xs)


@calls("[3, 1, 2]", "[2.5]", "[]")
def min_and_max(xs):
    return min(xs, default=None), max((x * -1 for x in xs), default=0), max([0, *xs]), min(xs)


@calls("np.array([1.0, 2.0, 3.0])", "np.array([])")
def array_of_comprehension(x):
    return np.array([np.sqrt(v) if v > 1 else 0.0 for v in x])


@calls("[1, 2, 3]", "[]")
def map_and_filter(xs):
    doubled = list(map(lambda x: x * 2, xs))
    odd = list(filter(lambda x: x % 2, xs))
    return doubled, odd, list(map(lambda x, y: x - y, xs, doubled)), sum(map(abs, xs))


@calls("[5, 2, 9]", "[]", "[1.5]")
def with_reduce(xs):
    return reduce(lambda a, b: a * b, xs, 1), reduce(max, xs)


@calls("[2.5, -1.0, 9.0]", "[]", "[3, 4.5]", "[1.0, 'x']")
def with_reduce_over_iterators(xs):
    def both(a, b):
        return (min(a[0], b[0]), b[1]) if a[0] < b[1] else b

    pairs = zip(range(len(xs)), xs)
    first = reduce(both, pairs, (1, 2.0))
    return first, list(pairs), reduce(lambda a, b: a + b[0] * b[1], enumerate(xs, 1), 0), reduce(max, iter(xs), 1)


@calls("['pear', 'fig', 'apple'], True", "[], False")
def sort_with_key(words, reverse):
    return sorted(words), sorted(words, key=len, reverse=reverse), sorted(words, key=lambda w: (w[-1], w))


@calls("[(1, 2.0), (0, 5.0), (1, -1.0)]", "[]")
def sort_pairs(pairs):
    by_second = sorted(pairs, key=lambda p: p[1])
    pairs.sort(key=lambda p: (p[0], -p[1]))
    return by_second, max(pairs, key=lambda p: p[0] * p[1], default=None)


@calls("np.arange(6).reshape(2, 3)", "np.zeros((0, 2))")
def transpose_by_zip(a):
    return [list(column) for column in zip(*a)], [sum(row) for row in a]


@calls("10", "1", "0")
def own_generator(n):
    def triangular(limit):
        total, i = 0, 1
        while total < limit:
            total += i
            i += 1
            yield total

    numbers = list(triangular(n))
    for t in triangular(n):
        if t > 5:
            numbers.append(-t)
            break
    return numbers, sum(triangular(n))


@calls("[1, 2, 3, 10, 2]", "[]")
def itertools_recipes(xs):
    sums = list(accumulate(xs))
    small = list(takewhile(lambda x: x < 5, xs))
    return sums, small, list(chain(xs, sums))[:6], [a * b for a, b in product(xs[:2], repeat=2)]


@calls("[1, 2, 3]", "[]")
def nested_conditionals(xs):
    return ["low" if x < 2 else "mid" if x < 3 else "high" for x in xs if x != 0]


@calls("5", "0")
def walrus_in_comprehension(n):
    return [y for x in range(n) if (y := x * x) > 3], [last := x for x in range(n)]


@calls("3, 10", "0, 5")
def comprehension_of_functions(n, x):
    fs = [lambda v, k=k: v * k for k in range(n)]
    return [f(x) for f in fs]


@calls("{'x': [1, 2], 'y': [3]}", "{}")
def nested_structures(d):
    return {k: [v * 10 for v in vs] for k, vs in d.items()}, [(k, v) for k, vs in d.items() for v in vs]


@calls("np.array([[1, 2], [3, 4]])", "np.array([[1, 2, 3]])")
def rows_and_columns(a):
    rows = [row.sum() for row in a]
    columns = [a[:, j].max() for j in range(a.shape[1])]
    return rows, columns, [v for row in a for v in row if v % 2 == 0]


@calls("[3, 4]", "[0]", "[]")
def shared_by_comprehension(xs):
    total = 0

    def add(x):
        nonlocal total
        total += x
        return total

    return [add(x) for x in xs], total


@calls("[1, 2, 3, 4]", "[]")
def unpacked(xs):
    return [*xs, *(x + 1 for x in xs)], {**{str(x): x for x in xs}, "end": 0}, (*xs,)


@calls("np.array([[1, -2], [3, 4]])", "np.zeros((2, 0))", "[[1, 2], [], [-3]]", "[]")
def flattened(rows):
    return [v for row in rows for v in row if v > 0], {int(v) % 3 for row in rows for v in row}


@calls("np.arange(3), np.array([2, 1])", "[1, 2], [0.5]", "range(2), np.zeros(0)", "np.zeros(0), [1]")
def over_pairs(xs, ys):
    pairs = [(x, y) for x in xs if x > 0 for y in ys if x != y]
    return pairs, sum(x * y for x in xs for y in ys if x < y), any(x > y for x in xs for y in ys)


@calls("3", "0", "np.int64(2)")
def triangular(n):
    cells = [(i, j, k) for i in range(n) for j in range(i) for k in (i, j) if k]
    return cells, max((i * j for i in range(n) for j in range(n) if i + j < n), default=None)


@calls("np.array([3, 1])", "np.array([0])")
def growing(counts):
    xs = [k for n in counts for k in range(n)]
    xs.append(len(xs))
    return xs, all(k < n for n in counts for k in range(n))


@calls("[[1], 2]", "[[1], np.arange(2)]", "5")
def wrong_parts(rows):
    return [v + 1 for row in rows for v in row]


@calls("[1, 2]", "np.array([1, 2])")
def prints_in_order(xs):
    def show(x):
        print("x", x)
        return x

    return [show(y) for x in xs if show(x) for y in (x, -x) if show(y * 10)]
