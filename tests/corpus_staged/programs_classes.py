"""Programs with classes: accounts, stacks, trees, dataclasses, enums, state machines."""

import enum
import math
from collections import namedtuple
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np  # noqa: F401

from tests.corpus_staged import calls


class InsufficientFunds(Exception):
    def __init__(self, need, have):
        super().__init__(f"need {need}, have {have}")
        self.need = need
        self.have = have


class Account:
    count = 0

    def __init__(self, balance=0):
        self.balance = balance
        self.history = []

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("deposit must be positive")
        self.balance += amount
        self.history.append(("deposit", amount))
        return self

    def withdraw(self, amount):
        if amount > self.balance:
            raise InsufficientFunds(amount, self.balance)
        self.balance -= amount
        self.history.append(("withdraw", amount))
        return self.balance


@calls("100, 30", "10, 30", "-5, 1", "1.5, 1", "np.int64(4), 4")
def bank(start, amount):
    account = Account()
    account.deposit(start)
    account.withdraw(amount)
    return account.balance, account.history


@calls("Account(50), 20", "Account(), 5", "Account(1.5), 1.5")
def bank_argument(account, amount):
    try:
        account.withdraw(amount)
    except InsufficientFunds as e:
        return "missing", e.need - e.have
    finally:
        account.history.append("tried")
    return account.balance


@calls("Account(50), [20, -10, 100, 5]", "Account(0), []")
def bank_ledger(account, moves):
    failed = 0
    for m in moves:
        if m >= 0:
            account.deposit(m)
        elif -m <= account.balance:
            account.withdraw(-m)
        else:
            failed += 1
    return account.balance, failed


class Stack:
    def __init__(self):
        self.items = []

    def push(self, x):
        self.items.append(x)

    def pop(self):
        if not self.items:
            raise IndexError("pop from empty stack")
        return self.items.pop()

    def __len__(self):
        return len(self.items)

    def __bool__(self):
        return len(self) > 0

    @property
    def top(self):
        return self.items[-1] if self.items else None


@calls("5", "0", "2.5", "np.int64(3)")
def stack_countdown(n):
    s = Stack()
    while n > 0:
        s.push(n)
        n -= 1
    total = 0
    while s:
        total += s.pop()
    return total, len(s), s.top


@calls("3, True", "0, False")
def stack_underflow(n, more):
    s = Stack()
    for i in range(n):
        s.push(i * 2)
    if more:
        for _ in range(n + 1):
            s.pop()
    return s.top


class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next


@calls("[1, 2, 3]", "[]", "[1.5]")
def linked_list_reverse(xs):
    head = None
    for x in reversed(xs):
        head = Node(x, head)
    previous = None
    while head:
        head.next, previous, head = previous, head, head.next
    out = []
    while previous is not None:
        out.append(previous.value)
        previous = previous.next
    return out


@calls("4", "0", "1")
def linked_list_sum(n):
    head = None
    i = 0
    while i < n:
        head = Node(i, head)
        i += 1
    total = 0
    node = head
    while node is not None:
        total += node.value
        node = node.next
    return total


class Tree:
    def __init__(self, key):
        self.key, self.left, self.right = key, None, None

    def insert(self, key):
        if key < self.key:
            if self.left is None:
                self.left = Tree(key)
            else:
                self.left.insert(key)
        elif self.right is None:
            self.right = Tree(key)
        else:
            self.right.insert(key)

    def walk(self):
        if self.left:
            yield from self.left.walk()
        yield self.key
        if self.right:
            yield from self.right.walk()

    def height(self):
        return 1 + max(self.left.height() if self.left else 0, self.right.height() if self.right else 0)


@calls("[5, 3, 8, 1, 4]", "[1]", "[2.5, 1, 3]")
def tree_sort(xs):
    root = Tree(xs[0])
    for x in xs[1:]:
        root.insert(x)
    return list(root.walk()), root.height()


def insert(tree, key):
    if tree is None:
        return [key, None, None]
    if key < tree[0]:
        tree[1] = insert(tree[1], key)
    else:
        tree[2] = insert(tree[2], key)
    return tree


@calls("[5, 3, 8, 1, 4]", "[1]", "[]")
def tree_of_lists(xs):
    tree = None
    for x in xs:
        tree = insert(tree, x)

    def depth(t):
        return 0 if t is None else 1 + max(depth(t[1]), depth(t[2]))

    return tree, depth(tree)


@dataclass
class Point:
    x: float
    y: float = 0

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __mul__(self, k):
        return Point(self.x * k, self.y * k)

    def __abs__(self):
        return math.hypot(self.x, self.y)


@calls("3, 4", "0, 0", "1.5, -2", "np.float64(1), 2")
def points(x, y):
    p = Point(x, y)
    q = p + Point(1)
    q = q * 2
    return abs(p), q, q == p, replace(q, y=0)


@calls("Point(1, 2), 3", "Point(0.5), 0", "Point(-1, -1), 1")
def points_argument(p, n):
    for _ in range(n):
        if p.x > 2:
            p = p * -1
        else:
            p = p + Point(1, 1)
    return p


@calls("Point(1, 2), 3", "Point(0.5), 0")
def points_mutated(p, n):
    i = 0
    while i < n:
        p.x += p.y
        p.y = p.x - p.y
        i += 1
    return p.x


@dataclass(frozen=True, order=True)
class Version:
    major: int
    minor: int = 0


@calls("1, 2", "0, 0", "1, 3")
def versions(a, b):
    v = max(Version(a, b), Version(1, 2))
    return v, v < Version(1, 3), {Version(a): 1}


@calls("1, 2", "0, 5")
def frozen_is_frozen(a, b):
    v = Version(a, b)
    v.major = b
    return v


@dataclass
class Inventory:
    items: dict = field(default_factory=dict)
    total: int = 0

    def add(self, name, n=1, *, price=0):
        self.items[name] = self.items.get(name, 0) + n
        self.total += n * price


@calls("3, 5", "0, 1.5")
def inventory(n, price):
    inv = Inventory()
    inv.add("apple", n, price=price)
    inv.add("apple")
    inv.add("pear", n + 1)
    return inv


class Color(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 3


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 10


@calls("1", "2", "3", "7")
def enums(n):
    c = Color(n)
    return c.name, c.value, c is Color.RED, Color.GREEN


@calls("1", "10", "5")
def int_enums(n):
    if n > Level.LOW:
        level = Level.HIGH
    else:
        level = Level.LOW
    return level, level + n, n == Level.HIGH


@calls("0, 3", "1, 4", "2, 0", "5, 2")
def traffic_light(state, steps):
    for _ in range(steps):
        match state:
            case 0:
                state = 1
            case 1:
                state = 2
            case 2:
                state = 0
            case _:
                raise ValueError(f"bad state {state}")
    return state


@calls("'aab'", "'b'", "''", "'abx'")
def dfa(text):
    state = "start"
    n = 0
    for c in text:
        match state, c:
            case "start", "a":
                state = "seen"
            case "seen", "a" | "b":
                state, n = "start", n + 1
            case _, other:
                return f"stuck in {state} at {other!r}"
    return state, n


@calls("5", "0", "-3", "2.5", "True", "'x'", "None")
def classify(x):
    match x:
        case None:
            return "none"
        case bool():
            return "bool"
        case int() if x < 0:
            return "negative"
        case int() | float():
            return x * 2
        case _:
            return "other"


Pair = namedtuple("Pair", "first second")


class Employee(NamedTuple):
    name: str
    pay: float = 10.0

    def raised(self, f):
        return self._replace(pay=self.pay * f)


@calls("1, 2", "2.5, 0")
def namedtuples(a, b):
    p = Pair(a, b)
    if p.first > p.second:
        p = Pair(p.second, p.first)
    e = Employee("x").raised(p.first)
    return p, e, e.pay, p._asdict()


@calls("Pair(1, 2)", "Pair(3, 0)")
def namedtuple_argument(p):
    a, b = p
    return p._replace(first=a + b) if a < b else p


def counter(start):
    def up(by=1):
        nonlocal start
        start += by
        return start

    return up


@calls("5", "0", "1.5")
def closures(n):
    c = counter(n)
    c()
    c(by=n)
    return c(), [f() for f in [lambda: n, lambda: n * 2]]


@calls("5", "0", "-2", "True")
def make_multipliers(n):
    fs = [lambda x: x * i for i in range(3)]
    gs = [lambda x, i=i: x * i for i in range(3)]
    return [f(n) for f in fs], [g(n) for g in gs]
