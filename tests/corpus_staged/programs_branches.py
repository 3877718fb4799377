"""Programs whose branches change containers, match structures, raise and clean up."""

import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import Enum, auto
from functools import total_ordering
from itertools import zip_longest

from tests.corpus_staged import calls


@calls("5, 2", "2, 5", "0, 0", "1.5, True")
def branch_appends(a, b):
    log = []
    if a > b:
        log.append("a")
        log.append(a)
    elif a < b:
        log.insert(0, b)
    else:
        log = None
    return log


@calls("5, 2", "2, 5", "0, 0")
def branch_dicts(a, b):
    d = {"a": a}
    if a > b:
        d["bigger"] = a
    else:
        d["a"] += b
        d.setdefault("n", []).append(b)
    return d, len(d), sorted(d)


@calls("5", "-5", "0", "2.5")
def branch_del(x):
    d = {"pos": 1, "neg": 2}
    xs = [1, 2, 3]
    if x > 0:
        del d["neg"]
        xs.pop()
    elif x < 0:
        d.pop("pos")
        xs.remove(2)
    return d, xs


@calls("5", "-5", "0")
def branch_functions(x):
    if x > 0:

        def f(y):
            return y + x
    else:

        def f(y):
            return y - x

    return f(10)


@calls("5", "-5", "0")
def branch_lambdas(x):
    op = (lambda y: y * 2) if x > 0 else (lambda y: y + 100)
    return op(x)


class Op(Enum):
    ADD = auto()
    SUB = auto()
    MUL = auto()


@calls("3, 4", "4, 3", "0, 0")
def branch_enum(a, b):
    op = Op.ADD if a < b else Op.SUB
    if op is Op.ADD:
        return a + b, op.name
    return a - b, op.name


@calls("Op.ADD, 2, 3", "Op.SUB, 2, 3", "Op.MUL, 2.5, 3")
def match_enum(op, a, b):
    match op:
        case Op.ADD:
            return a + b
        case Op.SUB:
            return a - b
        case _:
            return a * b


@calls("('circle', 2)", "('rect', 2, 3)", "('line',)", "['circle', 1.5]", "5")
def match_sequences(shape):
    match shape:
        case ("circle", r):
            return math.pi * r * r
        case ("rect", w, h) if w != h:
            return w * h
        case ("rect", w, _):
            return w * w
        case [kind, *rest]:
            return kind, rest
        case _:
            return None


@calls("{'type': 'move', 'x': 1, 'y': 2}", "{'type': 'stop'}", "{'type': 'turn', 'by': 90, 'extra': 1}", "{}")
def match_mappings(event):
    match event:
        case {"type": "move", "x": x, "y": y}:
            return x + y
        case {"type": "turn", "by": by, **rest}:
            return by % 360, rest
        case {"type": "stop"}:
            return 0
    return "unknown"


@dataclass
class Pt:
    x: int
    y: int


@calls("Pt(0, 0)", "Pt(0, 5)", "Pt(3, 3)", "Pt(1.5, 2)", "7")
def match_classes(p):
    match p:
        case Pt(x=0, y=0):
            return "origin"
        case Pt(0, y):
            return f"y axis at {y}"
        case Pt(x, y) if x == y:
            return "diagonal", x
        case Pt():
            return p.x + p.y
        case int(n):
            return n


@calls("3", "0", "-1", "10")
def return_kinds(n):
    if n == 0:
        return
    if n < 0:
        raise ValueError(n)
    for i in range(n):
        if i == 5:
            return "five", i
        if i * i > n:
            return i
    return [n]


@calls("3", "0", "50")
def loop_return_kinds(n):
    while n < 100:
        if n == 0:
            return None
        if n > 60:
            return str(n)
        n *= 2
    return float(n)


@calls("[1, 2, 3], 2", "[], 0", "[1.5], 2")
def first_match(xs, x):
    return next((i for i, y in enumerate(xs) if y == x), None), next((y for y in xs if y > x), -1)


@calls("[1, -2, 3]", "[-1]", "[]")
def partition(xs):
    pos, neg = [], []
    for x in xs:
        (pos if x > 0 else neg).append(x)
    return pos, neg


@calls("[1, 2, 1, 3]", "[]", "[1.5, True, 1]")
def unique(xs):
    seen = set()
    return [x for x in xs if not (x in seen or seen.add(x))]


@calls("[3, 1, 2]", "[]", "[2.5]")
def argmax(xs):
    if not xs:
        return None
    best = 0
    for i in range(1, len(xs)):
        if xs[i] > xs[best]:
            best = i
    return best, xs[best], max(range(len(xs)), key=xs.__getitem__), xs.index(max(xs))


@calls("[1, 2, 3, 4, 5], 2", "[1], 3", "[], 1")
def chunks(xs, n):
    return [xs[i : i + n] for i in range(0, len(xs), n)], list(zip(*[iter(xs)] * n))


@calls("[1, 2, 3], [4, 5]", "[], []", "[1.5], [2, 3]")
def interleave(a, b):
    out = []
    for x, y in zip_longest(a, b):
        if x is not None:
            out.append(x)
        if y is not None:
            out.append(y)
    return out


@calls("'3,4;5,6'", "''", "'1'", "'a,b'")
def parse_matrix(text):
    rows = []
    for line in text.split(";"):
        if not line:
            continue
        try:
            rows.append([int(v) for v in line.split(",")])
        except ValueError as e:
            print("bad line:", e)
            rows.append(None)
    return rows


@calls("['3', '+', '4']", "['1', '/', '0']", "['x', '+', '1']", "['1']")
def evaluate(tokens):
    try:
        a, op, b = tokens
        a, b = int(a), int(b)
        if op == "+":
            return a + b
        elif op == "/":
            return a / b
    except ValueError as e:
        return f"error: {e}"
    except ZeroDivisionError:
        return math.inf
    finally:
        tokens.clear()


class ValidationError(ValueError):
    def __init__(self, field, value):
        self.field = field
        self.value = value
        super().__init__(f"{field}: {value!r}")


@calls("5, 'x'", "-1, 'x'", "5, ''", "200, 'y'")
def validate(age, name):
    errors = []
    if age < 0:
        errors.append(ValidationError("age", age))
    if not name:
        errors.append(ValidationError("name", name))
    if age > 150:
        raise ValidationError("age", age)
    return [str(e) for e in errors], len(errors)


@calls("3", "0", "-2")
def retry(n):
    attempts = 0
    while True:
        try:
            attempts += 1
            if attempts < n:
                raise ConnectionError(attempts)
            return attempts
        except ConnectionError as e:
            last = e.args[0]
            print("retry", last)


@calls("3", "0", "-1")
def cleanup(n):
    log = []
    try:
        log.append("open")
        if n < 0:
            raise ValueError("neg")
        if n == 0:
            return log
        log.append(10 // n)
    finally:
        log.append("close")
    return log + ["end"]


@calls("0", "1", "2", "3")
def exception_chain(n):
    try:
        try:
            if n == 1:
                raise KeyError("k")
            if n == 2:
                [][n]
            if n == 3:
                int("x")
        except LookupError as e:
            raise RuntimeError(f"lookup {n}") from e
    except ValueError:
        return "value"
    return "ok"


@calls("3", "0")
def nested_finally(n):
    out = []
    for i in range(3):
        try:
            if i == n:
                break
            if i == 1:
                continue
            out.append(i)
        finally:
            out.append(-i)
    else:
        out.append("else")
    return out


@total_ordering
class Card:
    RANKS = "23456789TJQKA"

    def __init__(self, text):
        self.rank = self.RANKS.index(text[0]) + 2
        self.suit = text[1]

    def __eq__(self, other):
        return self.rank == other.rank

    def __lt__(self, other):
        return self.rank < other.rank

    def __repr__(self):
        return f"{self.RANKS[self.rank - 2]}{self.suit}"


@calls("'2H 3D 5S 9C KD'", "'AS AH'", "'TC TD TH TS 2C'")
def poker(text):
    cards = sorted((Card(t) for t in text.split()), reverse=True)
    counts = sorted(Counter(c.rank for c in cards).values(), reverse=True)
    if counts[0] == 4:
        return "four", cards
    if counts[0] == 2:
        return "pair", str(cards[0])
    return max(cards), min(cards) < cards[0]


class Bag:
    def __init__(self, items=()):
        self._items = list(items)

    def __len__(self):
        return len(self._items)

    def __iter__(self):
        yield from self._items

    def __contains__(self, x):
        return any(x == y for y in self._items)

    def __add__(self, other):
        return Bag([*self, *other])

    def __iadd__(self, x):
        self._items.append(x)
        return self

    def __repr__(self):
        return f"Bag({self._items})"

    def __bool__(self):
        return bool(self._items)


@calls("1, 2", "0, 0", "1.5, True")
def bags(a, b):
    bag = Bag()
    print(bool(bag))
    bag += a
    bag += b
    both = bag + Bag([a])
    print(both, len(both))
    return a in both, 99 in both, sum(both), [x for x in both if x > a], max(both)


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.tag = cls.__name__
        return made


class Tagged(metaclass=Meta):
    def __init__(self, x):
        self.x = x


@calls("1", "2.5")
def metaclass(x):
    t = Tagged(x)
    return t.tag, t.x + 1


class Celsius:
    def __get__(self, obj, owner):
        return None if obj is None else (obj.f - 32) / 1.8

    def __set__(self, obj, value):
        obj.f = value * 1.8 + 32


class Weather:
    c = Celsius()

    def __init__(self, f):
        self.f = f


@calls("212", "32.0", "0")
def descriptors(f):
    w = Weather(f)
    before = w.c
    w.c = before + 10
    return before, w.f, w.c


class Lazy:
    def __getattr__(self, name):
        if name.startswith("x"):
            return len(name)
        raise AttributeError(name)


@calls("1", "2.5")
def getattr_class(n):
    return Lazy().xyz + n, getattr(Lazy(), "missing", n)


class Singleton:
    _instance = None

    def __new__(cls, *args):
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance


@calls("3, False", "0, False", "4, True", "2, False", "5, True")
def singleton(n, begun):
    Singleton._instance = object.__new__(Singleton) if begun else None
    a, b = Singleton(n), Singleton(n + 1)
    a.value = n
    return a is b, b.value


class Observer:
    def __init__(self):
        self.handlers = defaultdict(list)

    def on(self, event, fn):
        self.handlers[event].append(fn)

    def fire(self, event, *args):
        return [fn(*args) for fn in self.handlers[event]]


@calls("3", "1.5", "0")
def observers(n):
    o = Observer()
    seen = []
    o.on("x", lambda v: v * 2)
    o.on("x", lambda v: seen.append(v))
    o.on("y", seen.append)
    return o.fire("x", n), o.fire("y", n + 1), o.fire("z"), seen
