"""Programs that change what they hold in loops: objects, queues, generators, counters, texts."""

from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from functools import singledispatch, wraps
from itertools import count, cycle, islice

import numpy as np  # noqa: F401

from tests.corpus_staged import calls


class Machine:
    TABLE = {("idle", "start"): "running", ("running", "pause"): "paused", ("paused", "start"): "running"}

    def __init__(self):
        self.state = "idle"
        self.ticks = 0

    def send(self, event):
        try:
            self.state = self.TABLE[self.state, event]
        except KeyError:
            raise RuntimeError(f"cannot {event} while {self.state}") from None
        if self.state == "running":
            self.ticks += 1


@calls("['start', 'pause', 'start']", "[]", "['pause']")
def machine(events):
    m = Machine()
    for e in events:
        m.send(e)
    return m.state, m.ticks


class Queue2:
    def __init__(self, size):
        self.buffer = [None] * size
        self.head = self.count = 0

    def push(self, x):
        if self.count == len(self.buffer):
            raise OverflowError("full")
        self.buffer[(self.head + self.count) % len(self.buffer)] = x
        self.count += 1

    def pop(self):
        if not self.count:
            raise IndexError("empty")
        x, self.buffer[self.head] = self.buffer[self.head], None
        self.head = (self.head + 1) % len(self.buffer)
        self.count -= 1
        return x


@calls("2, 1", "3, 2.5", "1, 0")
def ring_buffer(size, x):
    q = Queue2(size)
    out = []
    for i in range(size):
        q.push(x + i)
    out.append(q.pop())
    q.push(x * 10)
    while q.count:
        out.append(q.pop())
    return out, q.buffer, q.head


@calls("1, 3", "5, 5", "2, 0")
def ring_overflow(size, n):
    q = Queue2(size)
    for i in range(n):
        q.push(i)
    return q.count


class Robot:
    DIRS = [(0, 1), (1, 0), (0, -1), (-1, 0)]

    def __init__(self):
        self.x, self.y, self.d = 0, 0, 0
        self.path = {(0, 0)}

    def turn(self, right=True):
        self.d = (self.d + (1 if right else -1)) % 4

    def forward(self, n):
        dx, dy = self.DIRS[self.d]
        for _ in range(n):
            self.x += dx
            self.y += dy
            self.path.add((self.x, self.y))


@calls("[(True, 2), (False, 1)]", "[]", "[(True, 1), (True, 1), (True, 1), (True, 1)]")
def robot(commands):
    r = Robot()
    for right, n in commands:
        r.turn(right)
        r.forward(n)
    return r.x, r.y, r.d, len(r.path), abs(r.x) + abs(r.y)


@dataclass
class Employee:
    name: str
    salary: float
    reports: list = field(default_factory=list)

    def total(self):
        return self.salary + sum(r.total() for r in self.reports)

    def give_raise(self, percent):
        self.salary = round(self.salary * (1 + percent / 100), 2)
        for r in self.reports:
            r.give_raise(percent)


@calls("100, 10", "0, 0", "99.99, -5")
def company(salary, percent):
    boss = Employee("b", salary * 2, [Employee("x", salary), Employee("y", salary + 1)])
    before = boss.total()
    boss.give_raise(percent)
    return before, boss.total(), boss


@calls("Employee('b', 10, [Employee('c', 5)]), 10", "Employee('z', 1.5), 0")
def company_argument(boss, percent):
    boss.give_raise(percent)
    if boss.salary > 10:
        boss.reports.append(Employee("new", boss.salary / 2))
    return boss.total()


@singledispatch
def area(x):
    return 0


@area.register
def _(x: int):
    return x * x


@area.register
def _(x: float):
    return round(x * x, 2)


@calls("3", "2.5", "'s'", "True")
def dispatching(x):
    return area(x)


def countdown(n):
    while n > 0:
        yield n
        n -= 1


@calls("3", "0", "2.5")
def generator_consumers(n):
    return (
        list(countdown(n)),
        sum(countdown(n)),
        max(countdown(n), default=None),
        dict(enumerate(countdown(n))),
        [a * b for a, b in zip(countdown(n), count(1))],
    )


@calls("3", "0", "5")
def generator_pipeline(n):
    def numbers():
        for i in range(n):
            yield i

    def squares(it):
        for x in it:
            yield x * x

    def evens(it):
        return (x for x in it if x % 2 == 0)

    return list(evens(squares(numbers())))


@calls("2", "0", "3")
def flatten_tree(n):
    def build(k):
        return [build(k - 1), k, build(k - 1)] if k else []

    def walk(t):
        for x in t:
            if isinstance(x, list):
                yield from walk(x)
            else:
                yield x

    return list(walk(build(n)))


@calls("5", "0", "1")
def take_while_loop(n):
    out = []
    for x in cycle([1, 2, 3]):
        if len(out) >= n:
            break
        out.append(x)
    return out, list(islice(count(n, 2), 3))


def timed(log):
    def deco(f):
        @wraps(f)
        def inner(*a, **k):
            log.append(f.__name__)
            try:
                return f(*a, **k)
            finally:
                log.append("done")

        return inner

    return deco


@calls("3", "-1", "0")
def local_decorator(n):
    log = []

    @timed(log)
    def work(x, *, by=2):
        if x < 0:
            raise ValueError("neg")
        return x * by

    try:
        result = work(n, by=n + 1)
    except ValueError as e:
        result = str(e)
    return result, log


@calls("1, 2, 3", "0", "1, x=5", "1, 2, y=2.5")
def signature_mix(a, *args, x=1, **kw):
    def inner(p, q=a, *r, s=x, **t):
        return p + q + sum(r) + s + sum(t.values())

    return inner(*args or (0,), **kw)


@calls("3", "2.5", "True")
def scope_tricks(x):
    y = x

    def outer():
        y = 10

        def inner():
            nonlocal y
            y += x
            return y

        return inner(), y

    return outer(), y, [y for y in range(2)], y


counter_value = 0


def bump(by):
    global counter_value
    counter_value += by
    return counter_value


@calls("3", "0", "1.5")
def globals_bumped(n):
    global counter_value
    counter_value = 0
    values = [bump(n), bump(1)]
    if n > 1:
        bump(100)
    return values, counter_value


@calls("10, 3", "0, 1", "5.5, 2")
def while_with_else_and_state(total, step):
    taken = []
    while total > 0:
        if len(taken) > 5:
            taken.append("many")
            break
        total -= step
        taken.append(total)
    else:
        taken.append("none left")
    return taken


@calls("3, 1", "0, 0", "1, 2", "2.0, 1")
def shadowed_builtins(max, sum):
    list = [max, sum]
    if max > sum:
        list.append(max - sum)
    return list


@calls("3", "0", "-2", "2.5")
def accumulate_mixed(n):
    total = 0
    text = ""
    flags = []
    while n > 0:
        total += n
        text += f"{n},"
        flags.append(n > 1)
        n -= 1
    return total, text, flags, all(flags), any(flags)


@calls("2, 3", "0, 0", "1.5, 2")
def aliasing_lists(a, b):
    xs = [a]
    ys = xs
    zs = xs[:]
    if a > 1:
        ys.append(b)
        zs.append(-b)
    xs += [0]
    return xs, ys, zs, xs is ys


@calls("2", "0", "5")
def swap_lists(n):
    a, b = [], [0]
    i = 0
    while i < n:
        a, b = b, a
        a.append(i)
        i += 1
    return a, b


@calls("2", "0", "4")
def list_of_growing_lists(n):
    rows = []
    i = 0
    while i < n:
        rows.append([i])
        rows[-1].append(i * i)
        rows[0][0] += 1
        i += 1
    return rows


@calls("3", "0")
def dict_of_lists(n):
    groups = {}
    i = 0
    while i < n:
        groups.setdefault(i % 2, []).append(i)
        i += 1
    return groups, {k: sum(v) for k, v in groups.items()}


@calls("3", "0", "6")
def defaultdict_counts(n):
    d = defaultdict(int)
    e = defaultdict(lambda: [0, 0])
    for i in range(n):
        d[i % 3] += i
        e[i % 2][i % 2] += 1
    return dict(d), dict(e), d["missing"], len(d)


@calls("3", "0", "6")
def counter_updates(n):
    c = Counter()
    i = 0
    while i < n:
        c[i % 3] += 1
        c.update([i])
        i += 1
    return c, c.most_common(1), sum(c.values())


@calls("3", "0", "6")
def deque_rotation(n):
    q = deque([1, 2, 3], maxlen=4)
    i = 0
    while i < n:
        q.append(i)
        q.rotate(1)
        i += 1
    return list(q), q[0], q[-1], len(q)


@calls("3", "0", "6")
def set_building(n):
    s = set()
    i = 0
    while i < n:
        s.add(i * i % 5)
        s |= {i}
        i += 1
    return s, len(s), 4 in s, frozenset(s)


@calls("3", "0", "-1")
def string_in_loop(n):
    s = "x"
    while len(s) < n:
        s = s + "-" + s[0]
    return s, s.count("x"), s.find("-"), s.replace("x", "y"), "x" in s


@calls("[5, 3, 8]", "[]", "[1]")
def running_stats(xs):
    n, mean, m2 = 0, 0.0, 0.0
    for x in xs:
        n += 1
        d = x - mean
        mean += d / n
        m2 += d * (x - mean)
    return (mean, m2 / n) if n else None


@calls("3, 5", "0, 0", "10, 2")
def nested_break(n, m):
    found = None
    for i in range(n):
        for j in range(m):
            if i * j == 6:
                found = (i, j)
                break
        else:
            continue
        break
    return found


@calls("5", "0", "2")
def complex_conditions(n):
    out = []
    for i in range(n):
        if i % 2 == 0 and (i > 2 or n < 3) and not i == 4:
            out.append(i)
        elif i in (1, 3) or i == n - 1:
            out.append(-i)
    return out


@calls("7, 3", "-7, 3", "7, -3", "0, 5", "7.5, 2", "1, 0")
def floor_division(a, b):
    try:
        q, r = divmod(a, b)
    except ZeroDivisionError as e:
        return str(e)
    assert q * b + r == a
    return q, r, -a // b, a % -b if b else None


@calls("2, 10", "10, 2", "-1, 1", "0.1, 3")
def number_formats(a, b):
    return (
        "%s %d %.3f %e %x" % (a, a, a, b, int(abs(a))),
        f"{a:{b}.2f}|{a!s:>6}|{b:+d}|{a:%}",
        "{0} {1} {0}".format(a, b),
    )


@calls("10**18, 10**18", "2**62, 4", "-2**63, 2", "np.int64(2**40), 2**10")
def big_products(a, b):
    p = a * b
    s = 0
    for i in range(3):
        s += p << i
    return p, s, p // 7, p % 1000, -p >> 3, p**2


@calls("1.5", "2", "True", "1j", "np.float32(1.5)", "np.int8(100)")
def scalar_kinds(x):
    total = 0
    for k in (1, 2.5, True):
        total = total + x * k
    return total, type(total).__name__, x == x, x * 2
