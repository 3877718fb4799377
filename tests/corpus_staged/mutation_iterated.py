"""Containers that change, or are looked into, while somebody iterates over them."""

import numpy as np  # noqa: F401  (for arguments)

from tests.corpus_staged import calls

SMALL = ("1", "2", "3", "0")


@calls(*SMALL)
def index_in_a_comprehension(x):
    xs = [x, 2, x]
    return [xs.index(v) for v in xs], [xs.count(v) for v in xs]


@calls(*SMALL)
def grows_under_a_staged_condition(x):
    xs = [1, 2, 3]
    for v in xs:
        if v < x and len(xs) < 8:
            xs.append(v + 2)
    return xs


@calls(*SMALL)
def index_in_a_loop(x):
    xs = [x, 2, x]
    out = []
    for v in xs:
        out.append(xs.index(v))
    return out


@calls(*SMALL)
def first_of_equals(x):
    xs = [x, 2, x]
    out = []
    for i, v in enumerate(xs):
        if xs.index(v) == i:
            out.append(v)
    return out


@calls(*SMALL)
def zeroed_and_grown(x):
    xs = [3, 1, 2]
    for i, v in enumerate(xs):
        if v > x:
            xs[i] = 0
    for a, b in zip(xs, xs[1:]):
        if a > b:
            xs.append(a)
    return xs


@calls(*SMALL)
def item_set_while_iterated(x):
    xs = [1, 2, 3]
    for v in xs:
        if v == 2:
            xs.append(9)
        if v * x > 3:
            xs[0] = v
    return xs


@calls(*SMALL)
def removed_while_iterated(x):
    xs = [1, 2, 3, 4]
    for v in xs:
        if v == x:
            xs.remove(v)
    return xs


@calls(*SMALL)
def dict_views_while_changed(x):
    d = {1: "a", 2: "b"}
    for k in d:
        if k == x:
            d[k] = "c"
    for k in list(d):
        if k >= x:
            del d[k]
    for k, v in d.items():
        if k == x:
            d[k] = v * 2
    return d


@calls(*SMALL)
def sets_while_changed(x):
    s = {1, 2}
    for v in s:
        if v == x:
            s.add(v)
    for v in set(s):
        if v != x:
            s.discard(v)
    return s


@calls(*SMALL)
def index_in_keys_and_maps(x):
    xs = [x, 2, x]
    return (
        list(map(lambda v: xs.index(v), xs)),
        sum(xs.count(v) for v in xs),
        sorted(xs, key=lambda v: xs.index(v)),
        list(filter(lambda v: xs.count(v) > 1, xs)),
    )


@calls(*SMALL)
def grows_by_plus(x):
    xs = [1, 2]
    for v in xs:
        if len(xs) < 5:
            xs += [v * x]
    return xs


@calls(*SMALL)
def holds_itself_while_iterated(x):
    xs = [[x], [2]]
    out = []
    for row in xs:
        out.append(xs)
        if row[0] > 1:
            row.append(len(out))
    return xs, len(out), out[0] is xs


@calls(*SMALL)
def iterated_in_a_branch(x):
    xs = [1, 2, 3]
    if x > 0:
        ys = [xs.index(v) if v != x else -1 for v in xs]
        for v in xs:
            if v == x:
                xs.append(0)
            if len(xs) > 5:
                break
    else:
        ys = []
    return xs, ys


@calls(*SMALL)
def queue_that_grows(x):
    q = [x]
    for v in q:
        if v < 20:
            q.append(v * 2 + 1)
    return q


@calls(*SMALL)
def reversed_and_iterators(x):
    xs = [1, 2, 3]
    for v in reversed(xs):
        if v > x:
            xs.append(v)
    it = iter(xs)
    for v in it:
        if v == x:
            xs.insert(0, 7)
        if len(xs) > 9:
            break
    return xs


@calls("np.array([1, 2])", "np.array([])", "[1, 2]", "[]")
def target_deleted_after_the_loop(xs):
    for x in xs:
        y = x
    del x
    return y


@calls("1", "-1", "0")
def deleted_where_it_may_be_unbound(x):
    if x > 0:
        y = x
    del y
    return x
