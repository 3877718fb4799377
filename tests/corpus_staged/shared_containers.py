"""Containers that were there before a branch or loop, nested in what it leaves: they stay those very containers."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace

import numpy as np

from tests.corpus_staged import calls

registry = [0]


class Box:
    def __init__(self, content):
        self.content = content

    def __eq__(self, other):
        return type(other) is Box and other.content == self.content

    def __repr__(self):
        return f"Box({self.content})"


@calls("0", "5")
def changed_before_it_is_returned(a):
    xs = [0]
    if a:
        return 0
    xs[0] = 1
    return [xs]


@calls("0", "5")
def returned_beside_a_number(a):
    xs = [0]
    if a:
        return 0
    xs[0] = 1
    return xs, 2


@calls("0", "5")
def in_a_dict(a):
    xs = [0]
    if a:
        return 0
    xs[0] = 1
    return {"k": xs}


@calls("0", "5")
def a_tuple_made_before(a):
    xs = [0]
    pair = (xs, 1)
    if a:
        return 0
    xs[0] = 1
    return pair


@calls("0", "5")
def in_an_object(a):
    xs = [0]
    if a:
        return 0
    xs[0] = 1
    return Box(xs)


@calls("0", "5")
def in_a_closure(a):
    xs = [0]
    if a:
        read = len
    else:
        xs[0] = 1

        def read(_):
            return xs

    return read([1, 2])


@calls("0", "5")
def grown_after_it_was_nested(a):
    xs = [0]
    if a:
        found = 0
    else:
        found = [xs]
    xs.append(5)
    return found, xs


@calls("0", "5")
def changed_after_it_was_nested(a):
    xs = [0]
    if a:
        found = 0
    else:
        found = (xs, 1)
    xs[0] = a + 5
    return found


@calls("0", "5")
def nested_either_way(a):
    xs = [0]
    found = [xs] if a else (xs, 1)
    xs[0] = 1
    return found


@calls("0", "5")
def nested_in_one_of_two_lists(a):
    xs = [0]
    ys = [xs, 1]
    if a:
        found = ys
    else:
        found = [xs]
    xs[0] = 5
    return found, ys


@calls("0, [5, 6]", "1, [5, 6]")
def of_the_caller(a, xs):
    if a:
        return 0
    xs[0] = 1
    return [xs]


@calls("0, [5, 6]", "1, [5, 6]")
def of_the_caller_and_changed_later(a, xs):
    if a:
        found = 0
    else:
        xs[0] = 1
        found = [xs]
    xs[0] += 1
    return found


@calls("0, {'k': [0]}", "1, {'k': [0]}")
def nested_in_an_argument(a, d):
    if a:
        return 0
    d["k"][0] = 9
    return {"x": d["k"]}


@calls("5, [5, 6]", "-1, [5, 6]", "1, [5, 6]")
def returned_in_three_ways(a, xs):
    if a > 3:
        return {"first": xs[0], "all": xs}
    if a < 0:
        return [xs]
    xs[0] += a
    return xs


@calls("0", "5")
def of_the_module(a):
    registry[0] = 0
    if a:
        return 0
    registry[0] = a + 3
    return [registry]


@calls("0", "5")
def of_an_object(a):
    box = Box([1])
    if a:
        return 0
    box.content[0] = 7
    return box.content


@calls("0", "5")
def of_an_object_and_nested(a):
    box = Box([0])
    if a:
        found = 0
    else:
        found = [box.content]
    box.content.append(3)
    return found


@calls("0, Box([0])", "5, Box([0])")
def of_an_object_of_the_callers(a, box):
    if a:
        found = 0
    else:
        found = [box.content]
    box.content.append(a)
    return found


@calls("0", "5")
def of_a_namespace(a):
    space = SimpleNamespace(values=[0])
    if a:
        return 0
    space.values[0] = 1
    return [space.values]


@calls("0", "5")
def the_attributes_of_an_object(a):
    box = Box(0)
    if a:
        found = 0
    else:
        found = vars(box)
    box.content = a + 3
    return found


@calls("0", "5")
def the_attributes_of_an_object_at_the_end(a):
    box = Box(0)
    if a:
        return 0
    box.content = 1
    return box.__dict__


@calls("0", "5")
def a_deque(a):
    waiting = deque([1])
    if a:
        found = 0
    else:
        found = (waiting,)
    waiting.append(2)
    return found


@calls("0", "5")
def a_list_of_arrays(a):
    xs = [np.zeros(2)]
    if a:
        found = 0
    else:
        found = [xs]
    xs[0][0] = 2.0
    xs.append(a)
    return str(found)


@calls("0", "3", "30")
def nested_by_each_turn(n):
    xs = [0]
    found = 0
    for i in range(n):
        found = [xs]
        xs[0] = i
    return found


@calls("0", "3", "30")
def grown_by_each_turn(n):
    xs = [0]
    found = 0
    for i in range(n):
        found = [xs]
        xs.append(i)
    return found, xs


@calls("0", "3", "30")
def of_an_object_nested_by_each_turn(n):
    box = Box([0])
    found = 0
    for i in range(n):
        found = [box.content]
        box.content[0] = i
    return found


@calls("0", "3", "30")
def kept_by_each_turn(n):
    xs = [0]
    history = []
    for i in range(n):
        xs[0] += i
        history.append((i, xs))
    return history


@calls("1.0, 2.0, 6", "1.0, 2.0, 0", "np.ones(2), np.float32(3), 3")
def rebuilt_and_kept(a, b, n):
    params, best, before, history = [a, b], None, None, []
    for i in range(n):
        if i % 3 == 0:
            best = params
        before = params
        params = [2 * p + 1 for p in params]
        history.append(params)
    params.append(0.0)
    return params, best, before, history, best is before, bool(history) and history[-1] is params


@calls("1.0, 2.0, 6", "1.0, 2.0, 0")
def rebuilt_under_two_names(a, b, n):
    params = [a, b]
    other = params
    for _ in range(n):
        params = [p + 1 for p in params]
    other.append(0.0)
    return params, other, params is other


@calls("1.0, 2.0, 6", "1.0, 2.0, 0")
def rebuilt_and_changed_in_place(a, b, n):
    params = [a, b]
    for i in range(n):
        params[0] = params[1] * 2
        if i % 2 == 0:
            params = [p + 1 for p in params]
        params[1] += 1
    return params


@calls("1.0, 2.0, 6", "1.0, 2.0, 0")
def swapped_and_rebuilt(a, b, n):
    x, y = [a, b], [b, a]
    for _ in range(n):
        x, y = y, x
        y = [v + 1 for v in y]
    x.append(1.0)
    return x, y, x is y


@calls("1.0, 2.0, 6", "1.0, 2.0, 0")
def rebuilt_and_captured(a, b, n):
    params = [a, b]

    def now():
        return params

    def first(params=params):
        return params

    for _ in range(n):
        params = [p + 1 for p in params]
    first().append(3.0)
    return now() is params, first() is params, params, first()


@calls("1.0, 2.0, 6", "1.0, 2.0, 0")
def dicts_rebuilt(a, b, n):
    params = {"a": a, "b": [b]}
    for _ in range(n):
        params = {name: value * 2 for name, value in params.items()}
    params["c"] = 1
    return params


@calls("[1.0, 2.0], 6", "[1.0, 2.0], 0")
def argument_rebuilt(params, n):
    begin = params
    for _ in range(n):
        params = [p + 1 for p in params]
    return params, params is begin


@calls("[1.0, 2.0]", "[np.ones(2), 2.0]")
def items_taken_apart_and_zipped(ws):
    for _ in range(100):
        u, v = [w * 2 for w in ws]
        ws = [w - 0.1 * g for w, g in zip(ws, [u, v])]
    return ws


@calls("np.array([1.0, 2.0, 3.0]), 2.0", "[1.0, 2.0, 3.0], 2.0")
def zipped_with_lists(x, u):
    ys = [u, 1.0, 2 * u]
    total = 0.0
    for a, b in zip(x, ys):
        total += a * b
        ys[2] = total
    pairs = zip(x, [u, u, 1.0])
    first = next(pairs)
    return total, ys, first, list(pairs), sum(a * b for a, b in zip([1.0, u, 3.0], x)), dict(zip({"a": 1, "b": 2}, x))


class Tensor:
    """Not one of the graph's, whatever it is called."""

    def __init__(self, n):
        self.n = n


@calls("0", "5")
def of_an_object_called_tensor(a):
    box = Box(Tensor(1))
    if a > 2:
        box.content = Tensor(2)
    else:
        box.content = Tensor(3)
    assert a != 5
    return box.content.n


class Thin:
    shared = {"weight": 1}

    def __init__(self):
        self.links = {}

    def link(self, a, b, **more):
        found = self.links.setdefault(a, {}).get(b, self.shared)
        found.update(more)
        self.links[a][b] = found
        return getattr(self, "other", self.shared) is found


@calls("Thin(), 1, 2", "Thin(), 'a', 'a'")
def given_back_by_default(thin, a, b):
    there = thin.link(a, b), thin.link(a, b, colour=3), thin.link(b, a)
    mine = [a]
    found = thin.links.get(7, mine)
    mine.append(b)
    return there, thin.links, found, found is mine, thin.links[a][b] is thin.links[b][a]


LIMITS = 1e-5, 1e5


class Bounded:
    def __init__(self, limits=LIMITS):
        self.limits = limits
        self.kind = "a", (1, limits)

    def settings(self, names):
        found = {}
        for name in names:
            found[name] = getattr(self, name)
        return found, self.limits, [self.limits, self.kind[1]]


@calls("Bounded(), 1.0", "Bounded((1.0, 2.0)), np.arange(2)")
def tuples_stay_the_same_ones(thing, x):
    found, limits, both = thing.settings(["limits", "kind"])
    thing.last = limits
    return (found["limits"] is thing.limits, limits is thing.limits, thing.last is thing.limits, both[0] is limits,
            both[1] is thing.kind[1], LIMITS, x * limits[0], thing)  # fmt: skip


@calls("1")
def a_tuple_of_the_module(x):
    return LIMITS, x


class Key:
    def __init__(self, number=0):
        self.number = number


@calls("Key(), [Key(1), Key(2)], 1.5, {}", "Key(3), [], 2, {1: 2}", "Key(4), [Key(5)], np.arange(2), {(1, 2): 3}")
def objects_as_keys(key, keys, x, table):
    made = Key(x)
    table[made] = x
    mine = {key: x, (1, key): made, **{each: each.number for each in keys}}
    for each in keys:
        mine[each] += x
    other = {made: 1.0}
    other[made] += x
    here = made in other, other[made], key in mine, list(mine)[0] is key, {made} & set(table) == {made}
    return here, list(other)[0] is made, list(table)[-1] is made, len(mine), [mine[each] for each in keys], made.number


@calls("[1.0, 2.0], Key(), 0", "[1.0], Key(), 2", "[], Key(3), 1")
def identities(ws, key, n):
    known, first = {id(ws): "ws", id(key): "key"}, id(ws)
    for _ in range(n):
        ws = [w + 1 for w in ws]
    return id(ws) == first, known[id(key)], sorted(known.values()), id(len) == id(len)


@calls("Key(), [1.0, 2.0], 0", "Key(), [1.0, 2.0], 3")
def a_list_that_may_be_replaced(key, ws, n):
    first = ws
    for _ in range(n):
        ws = [w * 2.0 for w in ws]
    key.best = ws
    return key.best is first, key
