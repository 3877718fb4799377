"""New containers that get two names in branches and loops, and what operands of comparisons change."""

import numpy as np

from tests.corpus_staged import calls

NUMBERS = ("1", "-1", "3", "2")


@calls(*NUMBERS)
def two_names_for_a_new_list(x):
    a = b = [0]
    if x > 0:
        a = b = [1]
    a.append(x)
    return a, b, a is b


@calls(*NUMBERS)
def two_names_on_both_paths(x):
    if x > 0:
        a = b = [1]
    else:
        a = b = [2]
    a.append(x)
    return a, b, a is b


@calls(*NUMBERS)
def name_and_item(x):
    d = {"f": []}
    f = d["f"]
    if x > 0:
        f = d["f"] = []
    f.append(x)
    return d, f is d["f"]


@calls(*NUMBERS)
def two_names_in_a_loop(x):
    a = b = [0]
    for i in range(10):
        if i * x > 5:
            a = b = [i]
        a.append(x)
    return a, b, a is b


@calls(*NUMBERS)
def list_twice_in_a_tuple(x):
    if x > 0:
        a = [1]
        t = (a, a)
    else:
        a = [2]
        t = (a, [2])
    a.append(x)
    return a, t, t[0] is t[1]


@calls(*NUMBERS)
def dict_in_a_list(x):
    a = {}
    b = [a]
    if x > 0:
        a = {"n": x}
        b = [a, a]
    a["z"] = 1
    return a, b


@calls(*NUMBERS)
def two_names_for_an_array(x):
    a = b = np.zeros(2)
    if x > 0:
        a = b = np.ones(2)
    a[0] = x
    return a, b


@calls(*NUMBERS)
def logged_in_chained_comparisons(x):
    f = lambda v: (log.append(v), v)[1]
    log = []
    r = f(x) < f(2) < f(3) < f(4)
    s = 0 < f(x) <= f(1)
    return r, s, log


@calls(*NUMBERS)
def logged_in_and_or(x):
    log = []

    def f(v):
        log.append(v)
        return v

    r = f(x) > 1 and f(2) and f(3), f(x) > 2 or f(4), not (f(x) < 2 < f(5))
    return r, log


@calls(*NUMBERS)
def rebound_item(x):
    class_ = {"f": []}
    f = class_["f"]
    for i in range(4):
        f += [i] if i < x else []
        if i == x:
            f = class_["f"] = []
    return class_, f is class_["f"]


@calls(*NUMBERS)
def logged_operands(x):
    log = []

    def f(v):
        log.append(("f", v))
        return v

    r = f(x) < f(2) < f(3), [f(i) for i in range(2) if f(i) != x], f(1) if x > 1 else f(0)
    return r, log


@calls(*NUMBERS)
def each_of_two_lists(x):
    xs, ys = [], []
    for target in (xs, ys, xs):
        target += [x]
        if x > 1:
            target.append(len(target))
    return xs, ys


@calls(*NUMBERS)
def one_list_three_times(x):
    a = [[]] * 3
    b = [[] for _ in range(3)]
    for l in (a, b):
        l[0] += [x]
        if x > 1:
            l[1].append(2)
    return a, b, a[0] is a[2]


@calls(*NUMBERS)
def best_path(x):
    best, path = None, []

    def go(i, cur):
        nonlocal best
        if i == 3:
            if best is None or sum(cur) > sum(best):
                best = cur[:]
            return
        for v in (x, -x):
            cur.append(v)
            go(i + 1, cur)
            cur.pop()

    go(0, path)
    return best, path


@calls(*NUMBERS)
def extended_by_itself(x):
    it = [1, 2]
    it.extend(it)
    it += it
    it.extend(iter([x]))
    it.extend({x: 1})
    it += "ab"
    it += range(2)
    return it


@calls(*NUMBERS)
def array_under_two_indices(x):
    arr = np.array([1.0, 2.0, 3.0])
    xs = [arr]
    xs += [arr]
    xs[0] += x
    arr *= 2
    ys = [a.copy() for a in xs]
    if x > 1:
        ys[0][0] = -1
    return xs, ys, xs[0] is xs[1]
