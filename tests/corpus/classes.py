"""Classes made in functions, methods, `super()`, mangled names, properties, descriptors, dataclasses."""

import functools
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from tests.corpus import calls


@calls("3", "0")
def class_body_with_control_flow(n):
    class Made:
        total = 0
        for i in range(n):
            total += i
            if total > 2:
                big = True
                break
        else:
            big = False
        while total > 10:
            total -= 1
        names = [k for k in ("a", "b") if n]

    return Made.total, Made.big, Made.names, vars(Made).get("i", "none")


@calls("3")
def class_body_reads_enclosing_names(n):
    x = "function"

    class Made:
        y = x
        x = "class"
        if n:
            z = x

        def method(self):
            return x, self.x

    return Made.y, Made.z, Made().method()


class Base:
    def __init__(self, n):
        self.n = n

    def value(self):
        return self.n

    @classmethod
    def make(cls, n):
        return cls(n)

    @staticmethod
    def twice(n):
        return 2 * n


class Child(Base):
    def __init__(self, n):
        if n > 0:
            super().__init__(n)
        else:
            super().__init__(-n)
            self.negative = True

    def value(self):
        total = 0
        for i in range(self.n):
            if i % 2:
                total += super().value()
            else:
                total += i
        return total

    @classmethod
    def make(cls, n):
        while n > 5:
            n -= 1
        return super().make(n)

    @property
    def parity(self):
        if self.n % 2:
            return "odd"
        return "even"

    @parity.setter
    def parity(self, value):
        if value == "odd" and self.n % 2 == 0:
            self.n += 1

    def __len__(self):
        for i in range(10):
            if i >= self.n:
                return i
        return 10

    def __getattr__(self, name):
        if name.startswith("auto_"):
            return name[5:]
        raise AttributeError(name)


@calls("3", "-4", "0", "9")
def inheritance(n):
    child = Child.make(n)
    child.parity = "odd"
    out = [child.value(), child.parity, len(child), child.auto_x, Child.twice(n), child.twice(1)]
    if child:
        out.append(vars(child))
    return out, child.nothing


class Mangled:
    __secret = 1

    def __init__(self):
        self.__count = 0

    def __bump(self, __by=1):
        __local = __by
        if __local > 0:
            self.__count += __local
        for __i in range(2):
            self.__count += __i
        return self.__count

    def run(self, n):
        while self.__count < n:
            self.__bump()
            if self.__count > 100:
                break
            __seen = self.__secret
        return self.__count, __seen, sorted(vars(self))


@calls("5", "0")
def mangled_names(n):
    return Mangled().run(n)


@calls("4")
def mangled_in_local_class(n):
    class _Hidden:
        __x = n

        def get(self):
            def inner():
                if self.__x:
                    return self.__x, __class__.__name__
            for _ in range(1):
                r = inner()
            return r

    return _Hidden().get(), [k for k in vars(_Hidden) if "x" in k and not k.startswith("__")]


@calls("2")
def zero_argument_super_in_local_class(n):
    class A:
        def go(self, k):
            return ["A", k]

    class B(A):
        def go(self, k):
            if k > 1:
                return ["B", *super().go(k - 1)]
            for _ in range(1):
                r = super().go(k)
            return r

    class C(B):
        def go(self, k):
            return [*super(C, self).go(k), __class__.__name__]

    return C().go(n), C().go(0)


@dataclass
class Account:
    owner: str
    balance: float = 0
    log: list = field(default_factory=list)

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.balance += amount
        self.log.append(("deposit", amount))

    def withdraw(self, amount):
        if amount > self.balance:
            self.log.append(("refused", amount))
            return False
        self.balance -= amount
        return True

    def __post_init__(self):
        if not self.owner:
            self.owner = "nobody"


@calls("Account('ann'), [5, -3, 2]", "Account('', 1), [1, 2, 3]", "Account('bob', 10), [-1, -2, -20]")
def dataclass_methods(account, amounts):
    for amount in amounts:
        if amount > 0:
            account.deposit(amount)
        elif not account.withdraw(-amount):
            break
    return account, account == Account("ann", 4)


@calls("Account('ann'), 0")
def method_raises(account, amount):
    for _ in range(3):
        account.balance += 1
        account.deposit(amount)


@calls("[1, 2]", "[]")
def special_methods(xs):
    class Vector:
        def __init__(self, items):
            self.items = list(items)

        def __add__(self, other):
            if isinstance(other, Vector):
                return Vector(a + b for a, b in zip(self.items, other.items))
            if not self.items:
                return NotImplemented
            return Vector(a + other for a in self.items)

        __radd__ = __add__

        def __eq__(self, other):
            return self.items == other.items

        def __hash__(self):
            h = 0
            for x in self.items:
                h = h * 31 + x
            return h

        def __getitem__(self, i):
            if isinstance(i, slice):
                return Vector(self.items[i])
            return self.items[i]

        def __iter__(self):
            for x in self.items:
                yield x

        def __bool__(self):
            return any(self.items)

        def __call__(self, *args, **kwargs):
            return args or kwargs or None

        def __repr__(self):
            return f"<{' '.join(map(str, self))}>"

    v = Vector(xs)
    return repr(v + v), v(1), v(k=2), v(), list(v[1:]), hash(v), bool(v), repr(1 + v)


@calls("2", "0")
def metaclass_and_decorator(n):
    def tagged(cls):
        if n:
            cls.tag = cls.__name__ * n
        return cls

    class Meta(type):
        def __new__(mcs, name, bases, space, **options):
            for k in list(space):
                if k.startswith("drop"):
                    del space[k]
            space.update(options)
            return super().__new__(mcs, name, bases, space)

    @tagged
    class Made(metaclass=Meta, extra=n):
        drop_me = 1
        keep = 2

    return sorted(k for k in vars(Made) if not k.startswith("__")), getattr(Made, "tag", None), Made.extra


class Color(Enum):
    RED = 1
    GREEN = 2

    def flip(self):
        if self is Color.RED:
            return Color.GREEN
        return Color.RED


class Level(IntEnum):
    LOW = 1
    HIGH = 10


@calls("Color.RED", "Color.GREEN")
def enums(c):
    out = []
    for other in Color:
        if other is c:
            continue
        out.append((other, other.flip(), other.value))
    for level in Level:
        if level > 5:
            out.append(level + 1)
    return out


@calls("3")
def descriptors(n):
    class Clamped:
        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self.name
            return instance.__dict__.get(self.name, 0)

        def __set__(self, instance, value):
            while value > 10:
                value -= 10
            instance.__dict__[self.name] = value

    class Thing:
        size = Clamped()

        @functools.cached_property
        def costly(self):
            print("computed")
            total = 0
            for i in range(n):
                total += i
            return total

    t = Thing()
    for _ in range(n):
        t.size += 7
    return t.size, Thing.size, t.costly, t.costly


@calls("3", "1")
def bound_methods_and_unbound(n):
    xs = []
    add = xs.append
    value = Base.value
    for i in range(n):
        add(value(Base(i)))
        m = Child(i + 1).value
        if i:
            add(m())
    return xs, str.upper("a"), list(map(Base(5).twice, xs))


@calls("5")
def slots_and_class_variables(n):
    class Node:
        __slots__ = ("next", "value")
        made = 0

        def __init__(self, value, next=None):
            self.value, self.next = value, next
            Node.made += 1

    head = None
    for i in range(n):
        head = Node(i, head)
        if i == 3:
            continue
        head.value *= 10
    out = []
    while head is not None:
        out.append(head.value)
        head = head.next
    try:
        Node(0).other = 1
    except AttributeError:
        out.append("no such slot")
    return out, Node.made
