"""Methods, properties, dataclasses, namedtuples, operators of one's own."""

import dataclasses
import enum
import math
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tests.corpus_staged import calls


class Counter:
    made = 0

    def __init__(self, start=0, step=1):
        self.n, self.step = start, step
        self.history = []

    def advance(self, times):
        for _ in range(times):
            if self.n > 5:
                self.step = -1
            self.n += self.step
            self.history.append(self.n)
        return self

    @property
    def even(self):
        return self.n % 2 == 0

    @even.setter
    def even(self, wanted):
        if wanted != self.even:
            self.n += 1

    @classmethod
    def of(cls, n):
        return cls(n * 2)

    @staticmethod
    def double(x):
        return x * 2 if x > 0 else x


@calls("Counter(), 3", "Counter(4, 2), 5", "Counter(), 0")
def methods(counter, times):
    counter.advance(times)
    return counter.n, counter.even


@calls("5", "-1")
def objects_made_inside(n):
    counter = Counter(n, 2)
    counter.advance(2).advance(1)
    counter.even = False
    other = Counter.of(n)
    other.n -= Counter.double(n)
    return counter, other.n, vars(other)


@calls("4", "0")
def class_attribute(n):
    Counter.made = 0
    for _ in range(n):
        Counter.made += 1
    return Counter.made


class Account:
    def __init__(self, balance=0.0):
        self.balance = balance
        self.log = []

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError(f"cannot deposit {amount}")
        self.balance += amount
        self.log.append(("deposit", amount))

    def withdraw(self, amount):
        if amount > self.balance:
            self.log.append(("refused", amount))
            return False
        self.balance -= amount
        self.log.append(("withdraw", amount))
        return True


@calls("Account(100.0), [50, -30, -500]", "Account(), []", "Account(5), [0]")
def bank_account(account, amounts):
    refused = 0
    for amount in amounts:
        if amount < 0:
            if not account.withdraw(-amount):
                refused += 1
        else:
            account.deposit(amount)
    return account.balance, refused


@calls("Account(100), Account(0), 30", "Account(1), Account(2), 30")
def transfer(source, target, amount):
    if source.withdraw(amount):
        target.deposit(amount)
        return True
    return source.balance, target.balance


@dataclass
class Particle:
    x: float
    v: float = 0.0
    path: list = field(default_factory=list)

    def step(self, dt, force):
        self.v += force * dt
        self.x += self.v * dt
        if self.x < 0:
            self.x, self.v = -self.x, -self.v
        self.path.append(self.x)


@calls("Particle(1.0), 0.5, 5", "Particle(0, 1), 0.1, 0", "Particle(np.array(2.0)), 1, 2")
def bouncing(particle, dt, steps):
    for _ in range(steps):
        particle.step(dt, -1.0)
    return particle


@calls("Particle(1.0), 2", "Particle(5, 6), -1")
def replaced(p, dx):
    q = dataclasses.replace(p, x=p.x + dx)
    return q, p == q, dataclasses.astuple(q)


class Point(NamedTuple):
    x: float
    y: float = 0.0

    def norm(self):
        return math.hypot(self.x, self.y)


@calls("Point(3, 4), 2", "Point(1.5), -1")
def namedtuple(p, k):
    q = Point(p.x * k, p.y + k)
    x, y = q
    return q, q.norm(), x + y, p._replace(y=k), q._asdict()


@calls("Point(0.0, 1.0), 4", "Point(0, 0), 0")
def namedtuple_carried(p, n):
    for i in range(n):
        if i % 2:
            p = Point(p.x + 1, p.y * 2)
        else:
            p = p._replace(x=p.x - p.y)
    return p


class Vector:
    def __init__(self, *parts):
        self.parts = list(parts)

    def __add__(self, other):
        return Vector(*[a + b for a, b in zip(self.parts, other.parts)])

    def __mul__(self, k):
        return Vector(*(p * k for p in self.parts))

    __rmul__ = __mul__

    def __getitem__(self, i):
        return self.parts[i]

    def __setitem__(self, i, value):
        self.parts[i] = value

    def __len__(self):
        return len(self.parts)

    def __iter__(self):
        return iter(self.parts)

    def __eq__(self, other):
        return self.parts == other.parts

    def __bool__(self):
        return any(self.parts)

    def __call__(self, x):
        return sum(p * x**i for i, p in enumerate(self.parts))

    def __repr__(self):
        return f"Vector{tuple(self.parts)}"


@calls("Vector(1, 2), Vector(3, 4), 2", "Vector(), Vector(), 0", "Vector(0.5), Vector(-0.5), 1")
def own_operators(a, b, k):
    c = a + b * k
    if c:
        c[0] = c[0] + len(c)
    print(c, k * a)
    return [x for x in c], c == a, c(2)


class Polynomial:
    def __init__(self, coefficients):
        self.coefficients = np.asarray(coefficients, dtype=float)

    def __call__(self, x):
        result = 0.0
        for c in self.coefficients[::-1]:
            result = result * x + c
        return result

    def derivative(self):
        powers = np.arange(1, len(self.coefficients))
        return Polynomial(self.coefficients[1:] * powers)


@calls("[1, 2, 3], 2.0", "[5], 1", "[0, 0, 1], np.array([1.0, 2.0])")
def polynomial(coefficients, x):
    p = Polynomial(coefficients)
    return p(x), p.derivative()(x), p.derivative().coefficients


class Model:
    def __init__(self, n):
        self.w = np.zeros(n)
        self.steps = 0

    def forward(self, x):
        return x @ self.w

    def train(self, x, y, rate=0.1):
        error = self.forward(x) - y
        self.w -= rate * x.T @ error / len(y)
        self.steps += 1
        return float((error**2).mean())


@calls("Model(2), np.eye(2), np.ones(2), 3", "Model(1), np.zeros((2, 1)), np.ones(2), 0")
def trains_a_model(model, x, y, epochs):
    losses = []
    for _ in range(epochs):
        losses.append(model.train(x, y))
        if losses[-1] < 0.1:
            break
    return losses, model.w


class Base:
    scale = 2

    def area(self, r):
        return self.factor(r) * self.scale

    def factor(self, r):
        return r


class Square(Base):
    def factor(self, r):
        return super().factor(r) * r if r > 0 else 0


class Circle(Base):
    scale = 1

    def factor(self, r):
        return math.pi * r**2


@calls("[Square(), Circle(), Base()], 2", "[], 1", "[Square()], -1")
def inheritance(shapes, r):
    return [shape.area(r) for shape in shapes]


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


@calls("Colour.RED, 3", "Colour.GREEN, 3")
def enums(colour, x):
    if colour is Colour.RED:
        x = x * Level.HIGH
    elif colour == Colour.GREEN:
        x = x - Level.LOW
    return x, colour.name, Level.HIGH > x


class Node:
    def __init__(self, value, next=None):
        self.value, self.next = value, next


@calls("[1, 2, 3]", "[]")
def linked_list(xs):
    head = None
    for x in xs:
        head = Node(x, head)
    out, node = [], head
    while node is not None:
        out.append(node.value)
        node = node.next
    return out


class Tree:
    def __init__(self):
        self.root = None

    def insert(self, key):
        if self.root is None:
            self.root = [key, None, None]
            return
        node = self.root
        while True:
            side = 1 if key < node[0] else 2
            if node[side] is None:
                node[side] = [key, None, None]
                return
            node = node[side]


@calls("[5, 2, 8, 1]", "[]", "[1.5, 1.5]")
def search_tree(keys):
    tree = Tree()
    for key in keys:
        tree.insert(key)
    return tree.root


@calls("3", "0")
def attribute_appears(n):
    class Box:
        pass

    box = Box()
    for i in range(n):
        box.last = i
        if i == 1:
            box.seen = True
    return getattr(box, "last", None), hasattr(box, "seen"), vars(box)


@calls("Account(10), 5")
def bound_method_as_value(account, amount):
    act = account.deposit
    for _ in range(3):
        act(amount)
    return [f(1) for f in (account.withdraw, abs)], account.balance


class Meter:
    total = 0

    def __setattr__(self, name, value):
        print("set", name, value)
        super().__setattr__(name, value)


@calls("3", "-1")
def own_setattr(n):
    meter = Meter()
    if n > 0:
        meter.value = n
    meter.value = 2 * n
    return meter.value


class Asked:
    def __init__(self, value):
        self.value = value

    def __bool__(self):
        print("asked", self.value)
        return self.value


@calls("Asked(True), Asked(False), 1", "Asked(False), Asked(True), 2", "Asked(True), Asked(True), 3")
def asked_once(a, b, x):
    if a and b:
        x += 1
    if a or b:
        x += 2
    return x, a or b


class Lists:
    def __init__(self, parts):
        self.parts = parts


@calls("Lists([1, 2]), 3", "Lists([]), 4")
def list_of_an_object(o, x):
    return o.parts, o.parts is o.parts, x


class Steps:
    """An iterator that tells Python of its end."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n


@calls("Steps(3), 2", "Steps(0), 2")
def iterated_by_steps(steps, x):
    total = 0
    for step in steps:
        total += step * x
    return total


class Swapped:
    def __init__(self, value, next=None):
        self.value, self.next = value, next


@calls("Swapped(1), Swapped(2), 5", "Swapped(1), Swapped(2), -5")
def swapped(a, b, x):
    if x > 0:
        a, b = b, a
    a.value = x
    b.next = Swapped(x, b.next)
    return a, b


class Composed:
    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    @property
    def __name__(self):
        return "_then_".join(part.__name__ for part in self.parts)


@calls("2.0", "np.arange(2.0)")
def an_object_that_makes_its_name(x):
    twice = Composed(abs, np.negative)
    return twice(x), twice.__name__, Composed(twice, abs)(x)
