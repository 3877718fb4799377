"""`map` of a lambda, whose items the call around it takes."""

from __future__ import annotations

import numpy as np  # noqa: F401  (arguments name it)

from tests.corpus_staged import calls


def added(a, b):
    return a + b


@calls("5", "0", "90")
def nested(n):
    found = []
    for i in range(n):
        found.append(list(map(lambda j: added(i, j), range(n))))
    return found


@calls("[1, 2.5, True], 2", "[], 0", "[1.5] * 90, 3", "np.arange(5), 2", "'ab', 'c'", "{1: 2, 3: 4}, 1", "(1, 2), 0.5")
def several_consumers(xs, k):
    found = list(map(lambda x: x + k, xs)), tuple(map(lambda x: (x, k), xs)), set(map(lambda x: x * 2, xs))
    return found, sorted(map(lambda x: x, xs)), any(map(lambda x: x == k, xs)), all(map(lambda x: x != k, xs))


@calls("5", "80")
def sums(n):
    return sum(map(lambda j: j * 0.5, range(n))), max(map(lambda j: -j, range(n))), min(map(lambda j: j % 7, range(n)))


@calls("5, 9", "90, 40", "5, 3", "90, 89")
def raises(n, k):
    return list(map(lambda j: 10 // (k - j), range(n)))


@calls("3", "90")
def ended_by_an_iterator(n):
    rest = iter(range(5))
    return list(map(lambda j: next(rest) + j, range(n)))


def stops(j):
    if j > 3:
        raise StopIteration
    return j


@calls("3", "90")
def ended_by_an_exception(n):
    return list(map(lambda j: stops(j), range(n))), sum(map(lambda j: stops(j), range(n)))


class Stops:
    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        if self.value > 2:
            raise StopIteration
        return self.value + other


@calls("[Stops(0), Stops(5), Stops(1)]", "[1, Stops(3), 5]", "[1] * 90 + [Stops(3)]")
def ended_by_an_operator(xs):
    return list(map(lambda x: x + 1, xs))


@calls("4", "90")
def changes_variables(n):
    total, log = 0, []

    def add(j):
        nonlocal total
        total += j
        log.append(total)
        return total

    found = list(map(lambda j: add(j), range(n)))
    return found, total, log


@calls("4", "90")
def prints_and_appends(n):
    log = []
    found = max(map(lambda j: log.append(j) or (print(j) if j < 3 else None) or -j, range(n)))
    return found, log


@calls("[1, 2, 3]", "[]")
def changes_the_list(xs):
    return list(map(lambda x: xs.append(x) or x if len(xs) < 20 else x, xs)), xs


@calls("4", "90")
def other_parameters(n):
    return list(map(lambda *a: a, range(n))), list(map(lambda j, k=2: j + k, range(n)))


@calls("4", "90")
def of_functions(n):
    return [function() for function in list(map(lambda j: lambda: j, range(n)))]


@calls("4", "90")
def generators(n):
    return list(map(lambda j: j * 2, (k + 1 for k in range(n)))), sum(map(lambda r: sum(map(lambda j: j, r)), [[n]]))


@calls("[3, 4]", "[]")
def not_the_builtin(xs):
    def map(function, values):
        return [function(value) * 2 for value in values]

    return list(map(lambda x: x + 1, xs))
