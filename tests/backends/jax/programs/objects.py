"""State in objects: attributes, properties, dataclasses, named tuples, classes with operators, captured names."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax.numpy as jnp

from tests.backends.jax.programs import tries

X = [1.0, -2.0, 3.0]
SCALE = 2.0
TABLE = jnp.array([1.0, 2.0, 3.0])
LOG: list[Any] = []
SETTINGS = {"limit": 1.5}


class Account:
    fee = 0.25

    def __init__(self, balance):
        self.balance = balance
        self.history = jnp.zeros(4)
        self.n = 0

    def pay(self, amount):
        if amount > self.balance:
            return False
        self.balance -= amount + self.fee
        self.history[self.n] = amount
        self.n += 1
        return True

    @property
    def broke(self):
        return self.balance < 1

    def __call__(self, x):
        return x * self.balance if self.broke else x


class Pair(NamedTuple):
    a: Any
    b: Any


@dataclass
class Particle:
    position: Any
    speed: Any
    path: list = field(default_factory=list)

    def step(self, dt=0.5):
        self.position = self.position + dt * self.speed
        if self.position > 2:
            self.speed = -self.speed
        return self


class Vector:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __lt__(self, other):
        return self.x**2 + self.y**2 < other.x**2 + other.y**2

    def __getitem__(self, at):
        return self.x if at == 0 else self.y


@tries((5.0, X), (1.0, X))
def methods(balance, amounts):
    account = Account(balance)
    paid = 0
    for amount in amounts:
        if account.pay(amount):
            paid += 1
    return account.balance, account.history, account.n, paid, account.broke, account(2.0)


@tries((5.0, 2), (5.0, 0))
def attribute_in_while(balance, n):
    account = Account(balance)
    while account.n < n:
        account.pay(1.0)
    other = account
    other.balance = other.balance * 2
    return account.balance, account.history


@tries((5.0, True), (5.0, False))
def object_made_in_branch(balance, b):
    if b:
        account = Account(balance)
    else:
        account = Account(balance * 2)
        account.n = 3
    return account.balance, account.n


@tries((1.0, 2.0, 4), (1.0, 2.0, 0))
def dataclass(position, speed, n):
    particle = Particle(position, speed)
    for _ in range(n):
        particle.step()
    return particle.position, particle.speed


@tries((1.0, 2.0))
def dataclass_returned(position, speed):
    particle = Particle(position, speed)
    for _ in range(3):
        particle = particle.step()
        particle.path.append(particle.position)
    return particle.position, particle.path


@tries((1.0, 3), (1.0, 0))
def named_tuple(x, n):
    pair = Pair(x, 0.0)
    for i in range(n):
        pair = pair._replace(b=pair.b + pair.a) if pair.a > 1 else Pair(pair.a * 2, pair.b)
    return pair, pair.a


@tries((1.0,), (3.0,))
def globals_are_read(x):
    if x < SETTINGS["limit"]:
        return x * SCALE
    total = 0.0
    for e in TABLE:
        total += e * x
    return total


@tries((1.0,), or_error=True)
def global_array_is_changed(x):
    """The plain run changes it for later calls, too."""
    TABLE[0] += x
    return TABLE.sum()


@tries((X,), or_error=True)
def values_that_escape(x):
    LOG.clear()
    for e in x:
        LOG.append(e)
    return len(LOG)


@tries((2.0,), (0.5,))
def nonlocal_state(x):
    count = 0
    best = 0.0

    def see(v):
        nonlocal count, best
        count += 1
        if v > best:
            best = v

    for k in range(3):
        see(x * k if x > 1 else -k)
    return count, best


@tries((X, 1), (X, 2))
def list_of_objects(x, i):
    accounts = [Account(e) for e in x]
    for account in accounts:
        if account.balance > 0:
            account.balance += 1.0
    accounts[0].history[0] = 9.0
    return [a.balance for a in accounts], accounts[0].history, accounts[1].history


@tries((3.0,), (-3.0,))
def objects_that_share(x):
    a, b = Account(x), Account(x)
    b.history = a.history
    b.history[1] = 5.0
    if x > 0:
        a.history[2] = 6.0
    return a.history, b.history


@tries((3.0, True), (3.0, False), or_error=True)
def object_by_branch(x, flag):
    a, b = Account(x), Account(x * 2)
    chosen = a if flag else b
    chosen.balance = 100.0
    return a.balance, b.balance


@tries((X,))
def setattr_and_getattr(x):
    account = Account(x[0])
    for name in ("balance", "n"):
        if getattr(account, name) > 0:
            setattr(account, name, getattr(account, name) * 2)
    return account.balance, account.n, hasattr(account, "broke")


@tries((X,))
def isinstance_and_none(x):
    total = None
    for e in x:
        total = e if total is None else total + e
    if isinstance(x, list):
        total = -total
    return total


@tries((2.0,))
def local_class(x):
    class Local:
        def __init__(self):
            self.v = x

        def grow(self):
            while self.v < 10:
                self.v = self.v * 2
            return self.v

    return Local().grow()


class Empty(NamedTuple):
    """As optimizers without a state have."""


@tries((3.0,), (0.1,))
def carries_an_empty_record(x):
    state = (Empty(), x)
    for i in range(50):
        if state[1] < 0.5:
            break
        state = (Empty(), state[1] * 0.5)
    return state[1], i
