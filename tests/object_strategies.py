"""Programs over objects for hypothesis to draw: loops over lists of objects, whose attributes they read and set.

A program is the text of a module with a function `main`, which takes what everyday_strategies.py says, but most of it
is objects here: of plain classes, with slots, of dataclasses, with properties, `__getattr__` and `__setattr__`. Some
objects are several times in a list, refer to each other, lack attributes, have a `__dict__` that was read, or hide
what their class has. Programs change classes, too. All programs end.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests.drawing import FormWriter, Lines, Scope, forms, indented
from tests.everyday_strategies import PARAMETERS

PRELUDE = """\
import math
import random
from dataclasses import dataclass
from typing import Any


class Plain:
    scale = 2
    next = None

    def __init__(self, x, y, n=0):
        self.x, self.y, self.n = x, y, n

    def move(self, k):
        self.x += self.y * k
        return self.x

    def size(self):
        return abs(self.x) + self.n

    @property
    def both(self):
        return self.x, self.size()

    @property
    def halved(self):
        return self.n // 2

    def apart(self, other):
        if other is self:
            return 0.0
        return math.sqrt(abs(self.x - other.x) + abs(self.y - other.y))

    def plus(self, other):
        return type(self)(self.x + other.x, self.y)

    def __sub__(self, other):
        return Plain(self.x - other.x, other.y, self.n)

    def scaled(self, by=2, *, k=1):
        for _ in range(k):
            self.x = self.x * by
            if self.x > 100:
                raise OverflowError(self.n)


class Slots:
    __slots__ = ("x", "y", "n", "next")
    scale = 3

    def __init__(self, x, y, n=0):
        self.x, self.y, self.n, self.next = x, y, n, None

    def move(self, k):
        self.y -= k
        return self.y

    def size(self):
        return max(self.x, self.y)

    halved, both, apart, scaled = Plain.halved, Plain.both, Plain.apart, Plain.scaled
    plus, __sub__ = Plain.plus, Plain.__sub__


@dataclass
class Data:
    x: float
    y: float
    n: int = 0
    next: Any = None
    scale = 4

    def move(self, k):
        self.x, self.y = self.y, k

    def size(self):
        return self.x * 2 + self.y

    halved, both, apart, scaled = Plain.halved, Plain.both, Plain.apart, Plain.scaled
    plus, __sub__ = Plain.plus, Plain.__sub__


@dataclass(slots=True, eq=False)
class DataSlots(Data):
    def size(self):
        return self.n


@dataclass(frozen=True)
class Frozen:
    x: float
    y: float
    n: int = 0
    next: Any = None
    scale = 5

    def move(self, k):
        return k

    size = move


class Computed(Plain):
    reads = 0

    @property
    def y(self):
        self.reads += 1
        return self.low + 1

    @y.setter
    def y(self, value):
        self.low = value


class Lazy(Plain):
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return 2.5


class Strict(Slots):
    __slots__ = ("count",)

    def __setattr__(self, name, value):
        if value is None and name in "xy":
            raise ValueError(name)
        super().__setattr__(name, value)
        super().__setattr__("count", len(name))


KEPT = {kind: dict(vars(kind)) for kind in (Plain, Slots)}


def reset():
    for kind, names in KEPT.items():
        for name in [*vars(kind)]:
            if name not in names:
                delattr(kind, name)
            elif vars(kind)[name] is not names[name]:
                setattr(kind, name, names[name])


def chained(things):
    for thing, other in zip(things, things[1:]):
        object.__setattr__(thing, "next", other)
    return things


def looked(thing):
    vars(thing)
    return thing


def without(thing, name):
    object.__delattr__(thing, "n" if isinstance(thing, Computed) else name)
    return thing


def moved(thing, k):
    thing.x += k
    return thing
"""

NUMBERS = forms("""
    {o}.x   {o}.y   {o}.x   {o}.y   {o}.n   {o}.x * {o}.y   {o}.x - {o}.x   {p} + {p}   {p} * 0.5   {p} - {p}   abs({p})
    team[{h}].x   {o}.size()   {o}.move({p})   sum(z.x for z in team)   {o}.scale   max({p}, {p})   -{p}   {i}   {p} / 3
    {o}.apart({o})   {o}.both[1]   {o}.halved   {o}.next.size()   getattr({o}, 'apart')({o})
    math.sqrt(abs({p}))   getattr({o}, 'y', 0.25)   {o}.next.x   moved({o}, {p}).y   {p} if {c} else {p}   xs[{h}]
    d[{h}].y   len(team)   max(z.n for z in team)   {o}.extra
""")
INTEGERS = forms("{i} + {i}   {o}.n   {i} * 3   {i} % 5   len(team)   {i} - 1   {i} * {i}   int({p})   {i} // 2")
CONDITIONS = forms("""
    {p} > {p}   {o}.x > {p}   {o}.y < 0   {o} is {o}   {o}.next is None   {o}.next is not None   {o}.n > {i}
    {o} in team   isinstance({o}, Slots)   not {c}   {c} and {c}   {c} or {c}   {o}.x > {o}.x   type({o}) is Plain
    {i} % 2 == 0
    hasattr({o}, 'extra')   {p} == {p}   {o} == {o}   {o}.next is {o}
""")
OBJECTS = forms("""
    {o}   team[{h}]   team[{h}]   t[{h}]   d[{h}]   {o} if {c} else {o}   Plain({p}, {p})   Slots({p}, {p}, {i})
    {o}.next   Data({p}, 1.5)   rows[0][{h}]   moved({o}, {p})   Frozen({p}, {p})   min(team, key=lambda z: z.n)
""")
PLACES = forms("{h}   {i}   {i} % 3   -{i} % 4")
CHANGES = forms("""
    {o}.move({p})   q += {o}.size()   q = {o}.apart({o})   p += {o}.halved
    m = Plain(m.x + {p}, {p})   m = m.plus({o})   m = m - {o}   m.x += {p}   w = Slots({p}, m.y, 1)   q += m.x * w.y
    seen.append(Plain({p}, m.x)); del seen[20:]   w, m = Slots(m.x, w.x), Plain(w.y, 1.5)
    {o}.x += {p}   {o}.x = {p}   {o}.y -= {p}   {o}.y = {p}   {o}.x += {p} * 0.5   {o}.n += 1   {o}.n += {i}
    {o}.n = {i}   {o}.x, {o}.y = {o}.y, {o}.x   {o}.x = {o}.y   {o}.next = {o}   {o}.next = None   team[{h}] = {o}
    {o}.move({p})
    {o}.extra = {p}   setattr({o}, 'x', {p})   moved({o}, {p})   q += {o}.x   i += {o}.n   xs[{h}] = {o}.x   z = {o}
    xs[{h}] += {o}.y   q = {o}.x - {o}.y   p, q = {o}.x, {o}.y   a, b = b, a   a = {o}   team.append({o}); del team[30:]
    d[{h}] = {o}   seen.append({o})   {o}.x *= -1   {o}.x = -{o}.x   {o}.x = None   {o}.y = {i}   {o}.n = {i} * 2 ** 40
    w = m   m = {o}   seen.append(m)   m.next = m   m = Plain({p}, m)   m = m.plus(m)   {o}.next = m   d[{h}] = w
    del {o}.y   del {o}.extra   Plain.scale = {p}   Plain.y = property(lambda z: 1.5, moved)   del Plain.y
    Slots.x, Slots.y = Slots.y, Slots.x   {o}.__dict__ = dict(x={p}, y={p}, n=1)   vars({o})['x'] = {p}   {o}.x = 'a'
    Plain.move = Slots.move   Slots.size = lambda z: z.n + 1   Plain.size, Slots.size = Slots.size, Plain.size
    {o}.move = {p}   {o}.size = lambda: 2.5   q += {o}.size()   i += {o}.halved
    q = {o}.apart({o})   p, q = {o}.both   {o}.scaled({p}, k={i})
    {o}.x = float('nan')   {o}.x = {o}   print({p}, {o}.n)   {o}.__class__ = Plain   q += {p}   i += 1
""")
RETURNS = forms("""
    return i, q, team, xs   return p, q, a, b, seen   return z, d, {p}   return m, w, q, seen
    return m.x, w.y, m is w   return sum(z.x for z in team)
""")
LOOPS = forms("""
    z in team   z in team   a in team   z in t   i in range(len(team))   j in range(len(team))   i in range(n)
    j in range(i + 1, len(team))   i, z in enumerate(team)   z, a in zip(team, team)   b in team   z in rows[0]
    z, p in zip(team, xs)   z in list(team)   z in reversed(team)
""")
NAMES = {"i": ("i", "j"), "p": ("p", "q"), "c": (), "o": ("a", "b", "z", "z"), "h": ("i", "j", "i % 3")}
LEAVES = {
    "i": ("0", "1", "2", "3", "n"), "p": ("0.5", "1.5", "(-2.0)", "2", "i", "z.x", "a.y"), "o": ("team[0]", "team[i]"),
    "c": ("i > 1", "p > q", "z.x > 0"), "h": ("0", "1", "-1", "2"),
}  # fmt: skip
KINDS = ("Plain", "Plain", "Slots", "Slots", "Data", "DataSlots", "Frozen", "Computed", "Lazy", "Strict")
ITEMS = ("(k + 0.5, 1.0 - k, k)", "(k * 0.25, 2.0)", "(1.5, k, k)", "(k, 0.5)", "(0.5 if k % 3 else k, 1.0)")
STREAM = "r = random.Random(3)"


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, list[str]]:
    """The text of a module whose function `main` is to be tried, and texts of statements that make its arguments."""
    writer = _Writer(draw, st.integers(3, 14))
    return writer.program(), [_setup(draw, writer.calm) for _ in range(draw(st.integers(1, 3)))]


def _setup(draw: st.DrawFn, calm: bool) -> str:
    def pick(*choices: str) -> str:
        return draw(st.sampled_from(choices))

    kind = pick(*KINDS[: 6 if calm else None])

    def one() -> str:
        if calm:
            return f"{kind}(1.5, -0.5, 2)"
        made = f"{pick(kind, kind, pick(*KINDS))}(1.5, -0.5, 2)"
        return pick(*[made] * 9, "looked(Plain(0.5, 2.5))", f"without({kind}(1.0, 2.0), 'y')")

    count = pick("3", "5", "8", "20", "25", *["0", "1"] * (not calm))
    team = f"[{kind}{pick(*ITEMS)} for k in range({count})]"
    if not calm and pick("same", "same", "others") == "others":
        team += f" + [a, {one()}]"
    team = pick(team, team, team, f"chained({team})", f"[*{team}, a, b]")
    lines = ["reset()", f"a, b = {one()}, {one()}", *["b = a"] * (pick("1", "2", "3", "4") == "1"), f"team = {team}"]
    lines += ["xs, ys = [0.5, 1.5, 2.5], [1, 2]", f"t = {pick('(a, b, a)', 'tuple(team)', '(a,)')}"]
    lines += ["rows = [team, [a, b]]"]
    lines += [f"d = {pick('{0: a, 1: b}', 'dict(enumerate(team))')}", f"n = {pick('3', '5', '12', '40')}", "s = 'ab'"]
    return "\n".join([*lines, STREAM])


class _Writer(FormWriter):
    assigned, loops, tests, else_in, deepest = "ppio", LOOPS, ("{count} > 0", "{count} > 0 and {c}"), 9, 4
    forms = dict(zip("ipcoh", (INTEGERS, NUMBERS, CONDITIONS, OBJECTS, PLACES), strict=True))
    names, leaves = NAMES, LEAVES

    def __init__(self, draw: st.DrawFn, statements: st.SearchStrategy[int]) -> None:
        super().__init__(draw, statements)
        self.changes, self.heads = CHANGES, LOOPS
        self.calm = self.flip(4) is False
        if self.calm:       # most become machine code
            self.forms = self.forms | {"p": NUMBERS[:14], "c": CONDITIONS[:3], "o": ("z", "team[{h}]"), "h": ("i",)}  # type: ignore[misc]
            self.names = self.names | {"h": ("i",)}     # type: ignore[misc]
            self.leaves = self.leaves | {"h": ("0",), "p": ("0.5", "1.5", "z.x"), "o": ("z",)}      # type: ignore[misc]
            self.changes, self.heads = CHANGES[:23], LOOPS[:7]

    def program(self) -> str:
        scope = Scope()
        body = ["i, j, p, q, left, seen, z = 0, 1, 0.0, 0.5, 99, [], a", "m, w = Plain(1.5, 0.5), Slots(0.5, 2.5)"]
        while self.left > 3 or len(body) < 4:
            body += self.draw(st.sampled_from([self.for_, self.for_, self.walk]))(scope)
        body.append(self.filled(self.pick(*RETURNS)))
        return PRELUDE + "\n\n" + "\n".join([f"def main({PARAMETERS}):", *indented(body)]) + "\n"

    def change(self, scope: Scope) -> Lines:
        return self.filled(self.pick(*self.changes)).split("; ")

    def jump(self, scope: Scope) -> Lines:
        return [self.pick("return q, team, seen", *["break", "continue"] * (3 * scope.loop))]

    def for_(self, scope: Scope) -> Lines:
        head = f"for {self.filled(self.pick(*self.heads))}:"
        return [head, "    left -= 1", "    if left < 0:", "        break", *self.inside(scope, loop=True)]

    def walk(self, scope: Scope) -> Lines:
        """A walk over linked objects."""
        begin = f"z = {self.pick('a', 'team[0]', 'b')}"
        inside = self.inside(scope, loop=False)
        return [begin, "while z is not None and left > 0:", "    left -= 1", *inside, "    z = z.next"]

    simple = (FormWriter.assign, *[change] * 8)
    compound = (*[FormWriter.if_] * 3, *[for_] * 4, walk)
