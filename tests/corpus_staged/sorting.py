"""Sorting and comparing by keys that hang on numbers and arrays."""

import functools
import itertools

import numpy as np

from tests.corpus_staged import calls


@calls("np.array([3.0, 1.0, 2.0])", "np.array([1, 1, 0])", "np.zeros(0)")
def order(x):
    return sorted(range(len(x)), key=lambda i: -x[i])


@calls("[0, 1, 2], np.array([3.0, 1, 2])", "[2, 2, 0], [1, 2, 3]", "[], [1]", "[5], [1]")
def indices(xs, x):
    ys = sorted(xs, key=lambda c: x[c])
    best = max(xs, key=lambda c: -x[c], default=None)
    xs.sort(key=lambda c: x[c], reverse=True)
    return ys, best, xs


@calls("[1, 2, 5], 4", "[1.5, -2], 0", "[], 1")
def nearest(points, p):
    return min(points, key=lambda q: abs(q - p))


@calls("np.array([[3.0, 1.0], [1.0, 2.0], [0.0, 9.0]]), 1", "np.array([[3, 1], [1, 2]]), 0")
def sort_rows(rows, column):
    rows = np.abs(rows)
    names = ["a", "b", "c"][: len(rows)]
    names.sort(key=lambda name: rows["abc".index(name), column])
    return names, max(names, key=lambda name: rows["abc".index(name)].sum())


@calls("2.0, 3", "-1, 0.5")
def prints_while_sorting(a, b):
    def key(name):
        print("key of", name)
        return a if name == "a" else b

    return sorted(["a", "b", "a"], key=key), min("a", "b", key=key)


@calls("{'x': 3, 'y': 1}", "{'x': 1.5, 'y': 1.5}", "{}")
def by_value(table):
    return sorted(table, key=table.get), sorted(table.items(), key=lambda item: item[1])


@calls("[(1, 'b'), (0, 'a')], 1", "[(1, 'b'), (1, 'a')], -1", "[(2, 'b'), (1, 2)], 0")
def by_tuples(pairs, sign):
    return sorted(pairs, key=lambda pair: (sign * pair[0], pair[1]))


@calls("[3, 1, 2], 2", "[3.0, 1], 0")
def compared(xs, pivot):
    return sorted(xs, key=functools.cmp_to_key(lambda a, b: abs(a - pivot) - abs(b - pivot)))


@calls("[3, 1, 2, 4], 2", "np.arange(5), 3")
def grouped(xs, n):
    return [(bool(key), list(group)) for key, group in itertools.groupby(sorted(xs), key=lambda x: x > n)]


@calls("[3, 1, 2], 2", "[1], 7", "[], 1")
def folded(xs, start):
    return functools.reduce(lambda total, x: total * start + x, xs, 0)


@calls("[3, 1, 2], 2", "np.arange(4), 2")
def mapped(xs, n):
    return list(map(lambda x: x * n, xs)), list(filter(lambda x: x > n, xs)), any(map(lambda x: x == n, xs))
