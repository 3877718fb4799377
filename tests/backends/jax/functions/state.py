"""State that loops and branches change: attributes, dicts, dataclasses, tuples, lists, variables of outer functions."""

from dataclasses import dataclass

import jax.numpy as jnp

from tests.backends.jax.functions import example


class Counter:
    def __init__(self, value):
        self.value, self.calls = value, 0

    def add(self, x):
        if x > 0:
            self.value = self.value + x
        self.calls += 1
        return self.value


@dataclass
class Point:
    x: object
    y: object

    def moved(self, by):
        return Point(self.x + by, self.y * by)


@example([1.0, -2.0, 3.0])
def attributes(v):
    counter = Counter(0.5)
    for e in v:
        counter.add(e**2 if e > 0 else e)
    return counter.value * counter.calls


@example([1.0, -2.0, 3.0])
def attribute_in_branch(v):
    counter = Counter(v[0])
    if v[1] < 0:
        counter.value = counter.value * v[2]
    else:
        counter.value = v.sum()
    return counter.value**2


@example([1.0, -2.0, 3.0])
def dict_in_loop(v):
    seen = {"positive": 0.0, "negative": 0.0}
    for e in v:
        if e > 0:
            seen["positive"] += e**2
        else:
            seen["negative"] += e
    return seen["positive"] * seen["negative"]


@example([0.4, 1.5])
def dataclass_in_loop(v):
    point = Point(v[0], v[1])
    for i in range(3):
        if point.x < 2:
            point = point.moved(v[1])
        else:
            point = Point(point.y, point.x)
    return point.x * point.y


@example([0.5, 1.5])
def dataclass_fields(v):
    point = Point(v[0], v[1])
    for _ in range(4):
        point.x, point.y = point.y * 0.5, point.x + point.y
    return point.x + point.y**2


@example([0.5, 1.5])
def tuple_in_loop(v):
    state = (v[0], (v[1], 1.0))
    for _ in range(3):
        a, (b, c) = state
        state = (b, (a * b, c + a))
    return state[0] + state[1][0] * state[1][1]


@example([0.5, 1.5, 2.5])
def append_and_stack(v):
    out = []
    total = 0.0
    for e in v:
        total = total + e**2
        out.append(total)
    return jnp.stack(out)


@example([0.5, 1.5, 2.5])
def append_pairs(v):
    firsts, seconds = [], []
    for i, e in enumerate(v):
        firsts.append(e * i)
        seconds.append(jnp.sin(e))
    return jnp.stack(firsts) * jnp.stack(seconds)


@example([0.55, 1.5, 2.5, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9])
def append_in_long_loop(v):
    out = []
    for e in v:
        if e > 0.5:
            y = e**2
        else:
            y = -e
        out.append(y)
    return jnp.array(out)


@example([0.5, 1.5])
def outer_variable(v):
    total = 0.0

    def add(x):
        nonlocal total
        if x > 1:
            total = total + x**2
        else:
            total = total + x

    for e in v:
        add(e)
    return total


@example([0.5, 1.5, 2.5])
def list_as_queue(v):
    window = [0.0, 0.0]
    out = []
    for e in v:
        window = [window[1], e]
        out.append(window[0] * window[1] + window[1] ** 2)
    return jnp.stack(out)


@example([0.5, 1.5])
def list_items(v):
    pair = [v[0], v[1]]
    if pair[0] < pair[1]:
        pair[0], pair[1] = pair[1], pair[0]
    pair[0] *= 2.0
    return pair[0] - pair[1]


@example(0.5)
def recursion(x, depth=4):
    if depth == 0:
        return x
    return recursion(jnp.sin(x) + 0.1 if x > 0.3 else x * 2, depth - 1)


@example(1.5)
def functions_in_list(x):
    for f in (jnp.sin, lambda y: y * y if y > 0.5 else y, jnp.exp):
        x = f(x)
    return x


@example([0.5, 2.0])
def closure_over_data(v):
    scale = v[1]

    def scaled(x):
        return x * scale if x < scale else x

    return sum(scaled(e) for e in v)


@example([1.0, 2.0, 3.0])
def starred(v):
    first, *rest = v
    total = first
    for e in rest:
        total = total * e if total < 3 else total + e
    return total


@example([1.0, 2.0, 3.0])
def nested_containers(v):
    state = {"pair": [v[0], v[1]], "n": 0}
    for e in v:
        state["pair"][state["n"] % 2] += e**2
        state["n"] += 1
    return state["pair"][0] * state["pair"][1]


@example([1.0, 2.0, 3.0])
def property_and_method(v):
    box = Box(v)
    if box.large:
        box.scale(0.5)
    return box.v


class Box:
    def __init__(self, v):
        self.v = v

    @property
    def large(self):
        return self.v.sum() > 5

    def scale(self, by):
        for i in range(3):
            self.v[i] = self.v[i] * by * (i + 1)
