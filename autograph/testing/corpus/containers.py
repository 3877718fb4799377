"""Lists that grow in loops; state in lists, dicts, tuples, dataclasses and other objects."""

from collections import namedtuple
from dataclasses import dataclass

from autograph.testing.corpus import calls


@calls("np.array([1.0, 2.0, 3.0])")
def append_over_an_array(xs):
    doubled = []
    for x in xs:
        doubled.append(x * 2)
    return doubled[0] + doubled[2], len(doubled)


@calls("2.0")
def append_over_a_range(x):
    powers = []
    for _ in range(4):
        powers.append(x)
        x = x * 2
    return powers


@calls("np.array([1.0, 2.0, 3.0])")
def append_to_two(xs):
    sums, products = [], []
    total, product = 0.0, 1.0
    for x in xs:
        total += x
        product *= x
        sums.append(total)
        products.append(product)
    return sums[-1], products[-1], sums[0]


@calls("np.array([1.0, -2.0, 3.0])")
def append_in_a_branch(xs):
    kept = []
    for x in xs:
        if x > 0:
            kept.append(x)
    return len(kept), sum(kept)


@calls("3", "-3")
def list_items(n):
    state = [0, n]
    if n > 0:
        state[0] = n * 2
    else:
        state[1] = 7
    return state


@calls("4", "0")
def list_items_in_a_loop(n):
    state = [0, 1]
    while n > 0:
        state[0] += n
        state[1] *= 2
        n -= 1
    return state[0], state[1]


@calls("5", "-5")
def dict_items(n):
    state = {"count": 0, "last": n}
    if n > 0:
        state["count"] += 1
    else:
        state["last"] = 0
    return state


@calls("4")
def dict_items_in_a_loop(n):
    totals = {"even": 0, "odd": 0}
    for i in range(n):
        if i % 2 == 0:
            totals["even"] += i
        else:
            totals["odd"] += i
    return totals["even"], totals["odd"]


@calls("3")
def nested_containers(n):
    state = {"sums": [0, 0], "rounds": 0}
    while n > 0:
        state["sums"][n % 1] += n
        state["rounds"] += 1
        n -= 1
    return state


@calls("4", "1")
def tuple_state(n):
    pair = (0, 1)
    while n > 0:
        pair = (pair[1], pair[0] + pair[1])
        n -= 1
    return pair


@calls("3.0", "-3.0")
def tuple_from_a_branch(x):
    pair = (x, 1.0) if x > 0 else (0.0, x)
    first, second = pair
    return first - second


Point = namedtuple("Point", "x y")


@calls("3")
def named_tuples(n):
    point = Point(0, 1)
    for i in range(n):
        point = Point(point.x + point.y, i)
    return point.x, point.y


@dataclass
class Particle:
    place: float
    speed: float

    def move(self, time):
        self.place = self.place + self.speed * time
        if self.place > 10:
            self.speed = -self.speed


@calls("3.0", "1.0")
def dataclass_state(speed):
    particle = Particle(0.0, speed)
    for _ in range(8):
        particle.move(1.0)
    return particle.place, particle.speed


class Counter:
    def __init__(self):
        self.count = 0
        self.total = 0.0

    def add(self, x):
        self.count += 1
        self.total += x


@calls("np.array([1.0, 2.0, 6.0])")
def attributes_in_a_loop(xs):
    counter = Counter()
    for x in xs:
        if x > 1:
            counter.add(x)
    return counter.count, counter.total


@calls("2.0", "-2.0")
def attributes_in_a_branch(x):
    counter = Counter()
    if x > 0:
        counter.total = x
    else:
        counter.count = 5
    return counter.count, counter.total


@calls("3", "-3")
def object_from_a_branch(n):
    counter = Counter()
    other = counter
    if n > 0:
        other.add(n)
    return counter.total
