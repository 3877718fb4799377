"""Lists, dicts, sets and deques changed in place, in branches and loops, under one name or several."""

from collections import Counter, deque

import numpy as np

from tests.corpus_staged import calls


class Box:
    def __init__(self, items):
        self.items = items


@calls("np.array([1.0, -1.0, 2.0])", "[1, -2, 3]", "np.array([])")
def list_plus_in_a_loop(x):
    out = []
    for v in x:
        if v > 0:
            out += [v]
    return out


@calls("1", "-1")
def list_plus_under_two_names(x):
    out = alias = [0]
    if x > 0:
        out += [x]
    else:
        out += [1, 2]
    return out, alias, out is alias


@calls("1", "-1")
def sets_in_place(x):
    s = {0}
    if x > 0:
        s |= {1}
    else:
        s -= {0}
    s ^= {5}
    s &= {1, 5}
    return s


@calls("1", "-1")
def dict_or_in_a_branch(x):
    d = {"a": 1}
    if x > 0:
        d |= {"b": x}
    return d


@calls("2", "1", "-1")
def lists_in_a_list(x):
    inner, total = [[1], [2]], [0]
    if x > 0:
        total[0] += x
    if x > 1:
        inner[0] += [x]
    inner[1] += [x]
    return total, inner


@calls("1, [1, 2]", "-1, []")
def argument_grows(x, xs):
    if x > 0:
        xs += [x]
    xs *= 2
    return len(xs)


@calls("0", "2", "3")
def list_times_in_place(x):
    xs = [1]
    ys = xs
    xs *= x
    return xs, ys, xs is ys


@calls("1", "3")
def counters_and_deques(x):
    counted = Counter()
    counted += Counter({"a": x, "b": -x})
    last = deque([1], maxlen=3)
    for i in range(20):
        if i % x == 0:
            last += [i]
    return counted, last


@calls("3", "20", "0")
def own_length_in_the_right_side(x):
    xs = []
    for i in range(x):
        xs += [len(xs)] + [i]
    return xs


@calls("[1], [2]", "np.array([1, 2]), [1, 2]", "(1,), [2]", "3, [1]", "'ab', []")
def right_side_of_any_kind(x, xs):
    xs += x
    return xs


@calls("1", "-1")
def attribute_in_place(x):
    box = Box([])
    if x > 0:
        box.items += [x]
    else:
        box.items += [1, 2]
    return box.items


@calls("1, Box([])", "2, Box([1])")
def attribute_of_an_argument(x, box):
    box.items += [x]
    return box.items


@calls("1", "-1")
def item_of_a_tuple(x):
    t = ([1],)
    if x > 0:
        t[0] += [x]
    return t


@calls("1", "-1")
def order_of_keys_changes(x):
    d = {"a": 1, "b": 2}
    if x > 0:
        d["a"] = d.pop("a")
    return d


@calls("np.array([1.0, -2.0])")
def list_plus_array(x):
    xs = [1, 2]
    ys = xs
    xs += x
    return xs, ys, np.sum(xs)



@calls("3", "0", "6", "2.5")
def tuple_spread(n):
    t = ()
    i = 0
    while i < n:
        t += (i,)
        t = (*t, i * 2)
        i += 1
    return t, len(t), t[::2]


@calls("3", "0", "6")
def list_spread(n):
    t = []
    i = 0
    while i < n:
        t = [*t, i * 2]
        i += 1
    return t, len(t), t[::2]


@calls("3", "0", "6")
def dict_spread(n):
    t = {}
    i = 0
    while i < n:
        t = {**t, "last": i, i: n}
        i += 1
    return t


@calls("3", "0", "-2")
def tuple_in_branch(n):
    xs = []
    for i in range(abs(n)):
        xs.append(i)
    if n > 0:
        t = (*xs, n)
    else:
        t = (n, *xs)
    return t, [t, t]


@calls("3", "0", "4")
def tuple_attr(n):
    held = {"t": ()}
    for i in range(n):
        held["t"] = (*held["t"], i)
    return held
