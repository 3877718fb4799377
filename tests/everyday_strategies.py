"""Everyday programs for hypothesis to draw: loops over lists, dicts, strings, objects and streams of random numbers.

A program is the text of a module with a function `main(n, xs, ys, rows, d, t, a, b, team, s, r)`: a number, two lists
and a list of lists, a dict, a tuple, two objects and a list of objects, a string, and a stream of random numbers.
Beside it goes the text of statements that make the arguments, where two names may stand for one object.

All programs end: loops over what may grow are left after some iterations, lists are cut, and numbers grow slowly.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import strategies as st

from tests.drawing import FormWriter, Lines, Scope, forms, indented

PARAMETERS = "n, xs, ys, rows, d, t, a, b, team, s, r"
PRELUDE = """\
import math
import random
from dataclasses import dataclass, field

import numpy as np

TABLE = {0: 1, 1: 0.5, 2: 7}
LIMITS = [3, 1, 2]


class Own(Exception):
    pass


class Point:
    scale = 2

    def __init__(self, x, y, items):
        self.x, self.y, self.items = x, y, items

    def moved(self, k):
        self.x = self.x + k
        return self.x

    def size(self):
        return abs(self.x) + abs(self.y)


class Slots:
    __slots__ = ("x", "y", "items")
    scale = 3

    def __init__(self, x, y, items):
        self.x, self.y, self.items = x, y, items

    def moved(self, k):
        self.y -= k
        return self.y

    def size(self):
        return max(self.x, self.y)


@dataclass
class Data:
    x: float
    y: float = 0.5
    items: list = field(default_factory=list)
    scale = 4

    def moved(self, k):
        self.x, self.y = self.y, k
        return k

    def size(self):
        return self.x * 2 + self.y


class Sub(Point):
    @property
    def y(self):
        return self.low + 1

    @y.setter
    def y(self, value):
        if value is None:
            raise Own("no value")
        self.low = value

    def moved(self, k):
        return super().moved(k) - 1


def clipped(v, low=0, high=9):
    if v < low:
        return low
    return min(v, high)


def push(zs, v):
    if len(zs) < 12:
        zs.append(v)
    return len(zs)


def found(zs, v):
    for at, z in enumerate(zs):
        if z == v:
            return at
"""

INTEGERS = forms("""
    {i} + {i}   {i} - {i}   {i} * 3   {i} % 3   {i} // 2   {i} // {i}   {i} % {i}   {i} * {i} % 97   -{i}   abs({i})
    min({i}, {i})   max({i}, 2)   int({p})   {i} if {c} else {i}   len({l})   len({l})   {l}[{h}]   {l}[{h}]   d[{h}]
    d.get({h}, {i})   len(d)   {l}.count({p})   {l}.index({p})   {i} ** 2 % 31   {i} << 3   {i} & 7   len(s)   ord({s})
    s.count({s})   s.find({s})   t[{h}]   int({s})   found({l}, {p})   push({l}, {p})   {i} + 2 ** 62   {i} ^ {i}
    round({p})   len(set({l}))   {g}   {l}.pop()   d.pop({h}, 0)   sum({l})   divmod({i}, 3)[1]   {l}.pop({h})
    sum(1 for z in {l} if z > {p})   TABLE[{h}]   len(rows[{h}])   a.scale   len({o}.items)   int({c})   (k := {i})
    len({l}[{h}:{h}])   math.floor({p})   LIMITS[{h}]   len(rows)   {s}.index({s})   {i} * 2 ** 40   np.int64({i})
""")
NUMBERS = forms("""
    {i}   {p} + {p}   {p} - {p}   {p} * 0.5   {p} / 4   {p} / {p}   -{p}   abs({p})   {l}[{h}]   {l}[{h}]   {l}[{h}]
    rows[{h}][{h}]   rows[{h}][{h}]   d[{h}]   d.get({h}, {p})   d.get({h})   {o}.x   {o}.y   {o}.x   {o}.y   {g}   {g}
    {o}.size()   {o}.moved({p})   clipped({p})   clipped({p}, high={i})   {p} if {c} else {p}   max({p}, {p})
    min({p}, {p})   sum({l})   max({l})   min({l})   {l}.pop()   {l}.pop(0)   {l}.pop({h})   t[{h}]   float({p})
    math.sqrt(abs({p}))   math.sin({p})   {p} % 2.5   {p} // 0.3   {p} or {p}   {c} and {p}   sum(t)   team[{h}].x
    {o}.items[{h}]   {l}[-1]   sorted({l})[{h}]   d.pop({h})   d.setdefault({h}, {p})   {p} * {o}.scale   float({s})
    max({p}, {p}, 1.5)   sum(z * 2 for z in {l})   max(d.values())   {l}[{h}] + {l}[{h}]   {l}[{h}] - {p}
    round({p}, 2)
    next(z for z in {l} if z > {p})   {p} ** 2 % 13   bool({p})   np.float64({p})   (q := {p})   {p} == {p}
    sum(map(abs, {l}))   math.exp({p})   {l}[{h}] * 2   sum(row[0] for row in rows)   max({l}, default={p})
    math.floor({p})   np.float32({p})   not {p}   min(t)   sum(z.x for z in team)   {l}[{l}[{h}]]   np.sqrt({p})
""")
CONDITIONS = forms("""
    {p} > {p}   {p} <= {p}   {i} == {i}   {i} % 2 == 0   {p} > 0   not {c}   {c} and {c}   {c} or {c}   {p} in {l}
    {h} in d   {h} in d   {p} not in {l}   {l} is {l}   {l} == {l}   {l} < {l}   {l}   d   {o} is {o}   {o} == {o}
    {s} in s   {s} == {s}   {s} < {s}   isinstance({p}, float)   isinstance({o}, Point)   0 < {p} < 3   {i}   {p}
    {l}[{h}] == {p}   {l}[{h}] > {p}   {l}[{h}] < {l}[{h}]   {o}.x > {p}   q is None   t is {l}   any({l})   all({l})
    {o}.items is {l}   rows[{h}] is {l}   {s}   {g} > 0.5   {p} != {p}   {p} in t   {i} in TABLE   {o} in team
    any(z > {p} for z in {l})   {s}.isdigit()   rows[0] is rows[-1]   type({p}) is int   math.isnan({p})   n > 2
    hasattr({o}, 'low')   {s}.startswith({s})   {i} in range({i})   {i} < len({l})   {p} in (1, 2.5, None)
""")
LISTS = forms("""
    {l}   rows[{h}]   rows[{h}]   {o}.items   [{p}, {p}]   {l}[:3]   {l}[{h}:]   {l}[{h}:{h}]   {l}[::-1]   sorted({l})
    list({l})   ({l} + {l})[:9]   [{p}] * 3   [0] * ({i} % 5)   [z * 2 for z in {l}]   [z for z in {l} if z > {p}]
    [{p} for z in range({i} % 4)]   list(range({i} % 6))   {l} if {c} else {l}   [*{l}, {p}][-9:]   list(d.values())[:9]
    list(d)   [z.x for z in team][:9]   list(t)   {l}.copy()   [{p}, {i}, {p}]   [row[{h}] for row in rows]   LIMITS
    list(reversed({l}))   [u + z for u, z in zip({l}, {l})]   [len(row) for row in rows]   [ord(z) for z in s]
    list(map(abs, {l}))   {l}[{h}::2]   sorted({l}, reverse=True)   [0.0 for _ in {l}]   []
""")
OBJECTS = forms("""
    {o}   {o}   team[{h}]   team[{h}]   {o} if {c} else {o}   Point({p}, {p}, {l})   Slots({p}, {i}, [])   Data({p})
    Data({p}, {i}, {l})   Sub({i}, {p}, {l})   max(team, key=lambda z: z.x)
""")
STRINGS = forms("""
    s[{h}]   s[{h}]   s[{h}:{h}]   s[::-1]   ({s} + {s})[:9]   str({i})   chr(97 + {i} % 26)   {s}.upper()   {s} * 2
    {s} if {c} else {s}   str({p})   f'{{i}}!'   s[-1]   ''.join(sorted(s))   {s}.replace({s}, {s})[:9]   repr({p})
    {s}[0]
""")
VARIABLES = forms("{v}   {v}   rows[{h}]   {o}.items")
PLACES = forms("{h}   {i}   {i} % 3   {i} % 3   len({l}) - 1   -{i} % 4   {i} - 1   {p}")

# How each kind of stream is asked for numbers.
STREAMS = {
    "python": forms("""
        r.random()   r.random()   r.randint(0, {i} % 7)   r.randint(1, 6)   r.randrange(5)   r.uniform(-1, {p})
        r.choice({l})   r.gauss(0, 1)   r.randrange(1, {i})   r.getrandbits(3)   r.choice(s + 'x')
        r.sample(range(9), 2)
        r.expovariate(1.5)   r.triangular()   r.normalvariate(0.0, {p})   r.choices({l}, k=2)[0]   r.random() * {p}
    """),
    "generator": forms("""
        r.random()   r.random()   r.integers(6)   r.integers(0, {i} % 7)   r.uniform(-1, {p})   r.standard_normal()
        r.normal(0, 1)   r.choice(3)   r.integers(1, 100)   r.exponential()   r.random(3)[1]   r.poisson(2.5)
        r.choice({l})   r.integers(0, 2, size=3)[0]   r.permutation(4)[{h}]   r.random() * {p}   r.normal({p}, 0.5)
    """),
    "legacy": forms("""
        r.random()   r.rand()   r.randint(6)   r.randint(0, {i} % 7)   r.uniform(-1, {p})   r.randn()   r.normal(0, 1)
        r.choice(3)   r.random_sample()   r.exponential()   r.rand(3)[1]   r.choice({l})   r.permutation(4)[{h}]
        r.standard_normal()   r.random() * {p}   r.randint(1, {i})   r.poisson(2.5)   r.normal(scale={p})
    """),
}
MAKERS = {
    "python": ("random", "random.Random(3)", "random.Random('seed')"),
    "generator": ("np.random.default_rng(3)", "np.random.Generator(np.random.MT19937(4))"),
    "legacy": ("np.random", "np.random.RandomState(5)"),
}

CHANGES = forms("""
    {v}[{h}] = {p}   {v}[{h}] = {p}   {v}[{h}] += {p}   {v}[{h}] *= 2   {v}[{h}] -= {i}   {v}.append({p})
    {v}.append({p})
    rows[{h}][{h}] = {p}   rows[{h}][{h}] += {p}   rows[{h}] = {l}   d[{h}] = {p}   d[{h}] += {p}   del d[{h}]
    d[{h}] = d.get({h}, 0) + 1   del {v}[{h}]   {v}.insert({h}, {p})   {v}.sort()   {v}.reverse()   {v}.clear()
    {v}.extend({v}[:3])   {v}[{h}:{h}] = {l}[:2]   {v}.remove({p})   {v} += [{p}]   xs = ys   ys = xs   xs, ys = ys, xs
    zs = {l}   ys = {l}   xs = {l}   {v}[0], {v}[-1] = {v}[-1], {v}[0]   {v}[i], {v}[j] = {l}[j], {l}[i]   i, j = j, {i}
    {o}.x = {p}   {o}.y = {p}   {o}.x += {p}   {o}.y -= {i}   {o}.x, {o}.y = {o}.y, {o}.x   {o}.items = {l}   a = b
    a, b = b, a   a = {o}   b = {o}   team[{h}] = {o}   team.append({o}); del team[7:]   {o}.moved({p})
    {o}.items.append({p})   w = {s}   w = (w + {s})[-9:]   print({p}, {i})   print({l})   print(w, end=' ')   d = {}
    {v}[:] = {l}[:5]   xs = xs[1:]   t = ({p}, {i})   p = {g}   {v}.append({g})   {v}[{h}] = {g}   d[{s}] = {p}
    d.update({{h}: {p}})   e = dict(d)   d, e = e, d   {v}.sort(key=lambda z: -z)   {o}.extra = {p}   del xs[:1]
    p = None   p = {s}   i = {i} * 2 ** 61   p = {p} * 1e200   assert {c}, {i}   xs.append(xs[{h}])   {v}[{h}] = {i} * 2
    i += 1   q += {p}   p, q = q, {p}   i = {l}[{h}]   p = d[{h}]   q = {o}.x   rows.append({l}); del rows[5:]
    for z in {l}[:4]: q += z   zs = [{p}, {i}]   d.clear()   z = {o}   {v}[{h}] = {s}   seen.append({p})
""")
RETURNS = forms("""
    return i, j, k, p, q, xs, ys, zs, a, b, w, d, e, seen   return p, q, zs, z   return {l}, {l}, {o}, {p}
    return xs is ys, a is b, i, p, seen   return [{l}, {l}], {'d': d, 'e': e}   return {i}, {p}, rows, team
""")
LOOPS = forms("""
    i in range(n)   i in range(n)   i in range(n)   k in range(n)   j in range(n)   k in range(len({l}))
    i in range(len({l}))   p in {l}   q in {l}
    i in {l}   j in range({i} % 5)   i, p in enumerate({l})   p, q in zip({l}, {l})   k in d   k, p in d.items()
    p in d.values()   z in team   k in s   row in rows   i, row in enumerate(rows)   p in reversed({l})   _ in range(n)
    k in range(1, n)   i in range(n, 0, -1)   p in sorted({l})   z, p in zip(team, {l})   p in list({l})   p in {l}[1:]
    i, z in enumerate(team)   p in t   j in range(i, n)   p in row   i, (j, k) in enumerate(zip({l}, {l}))
    p in {o}.items
    k in list(d)   i in range(len(xs) - 1, -1, -1)   i, w in enumerate(s)   k in range(0, n, 2)   p in map(abs, {l})
""")
EXCEPTIONS = (
    "IndexError", "KeyError", "(IndexError, KeyError)", "ZeroDivisionError", "TypeError", "Exception", "Own",
    "(TypeError, ValueError)", "LookupError", "ArithmeticError", "AttributeError", "RuntimeError",
)  # fmt: skip

NAMES = {
    "i": ("i", "j", "k", "i"), "p": ("p", "q", "i"), "c": (), "l": ("xs", "ys", "zs", "xs"), "o": ("a", "b", "a", "z"),
    "s": ("s", "w"), "h": ("i", "j", "i % 3", "k % 3", "j % 2"), "g": (), "v": ("xs", "ys", "zs", "xs"),
}  # fmt: skip
LEAVES = {
    "i": ("0", "1", "2", "3", "n", "n", "(-1)", "(2**63 - 1)", "7", "5"),
    "p": ("0.5", "1.5", "(-2.0)", "2", "0", "1e308", "True", "xs[i]", "ys[i % 3]", "a.x", "b.y", "d[i]", "n"),
    "c": ("i > 1", "p > q", "True", "n > 2", "i % 2", "xs"), "l": ("xs", "ys", "rows[0]", "row"), "o": ("team[0]",),
    "s": ("'a'", "'b'", "''", "'12'", "'é'"), "h": ("0", "1", "-1", "2", "-2", "9"), "g": ("r.random()",),
    "v": ("row", "rows[0]"),
}  # fmt: skip

# What arguments are made of.
ITEMS = (
    "1, 2, 3, 4, 5", "0.5, 1.5, 2.5", "3, 1, 2, 0", "1, 0.5, True, 2", "1, 2**70, 3", "", "7", "1.5, 2, 0, 0.25, 3",
    "2, 0, 1, 3, 2, 0, 1", "True, False, True", "2**62, -2**62, 3", "1, None, 2", "1, 'b', 2", "0.0, -0.0, 1.0",
    "np.float64(0.5), 2.5, 1", "np.int64(2), 1, 0", "float('nan'), 1.0, 2.0", "*range(9)", "*range(30, 0, -1)",
    "1, 2, 3, 4, 0.5, 6, 7, 8", "0, 1, 2, 3, 4, 5, 6, 7, 2**64", "5, 3, 8, 1, 9, 2", "1.0, 2.0, 3.0, 4.0, 5.0, 6.0",
    "np.bool_(True), 1", "1j, 2.0", "float('inf'), 0.5, -1.0", "300, 301, 302, 1000, 5",
)  # fmt: skip
ROWS = (
    "[[0] * 3] * 3", "[[0] * 3 for _ in range(3)]", "[[1, 2, 3], [4, 5, 6]]", "[xs, ys]", "[xs, xs]",
    "[[1], [2, 3], []]",
    "[[0.5, 1.5], [2.5, 3.5]]", "[[1, 0.5], [2, 3]]", "[[1, 2], xs, [3]]", "[[1.0, 2.0, 3.0]] * 2 + [[1, 2, 3]]",
)  # fmt: skip
DICTS = (
    "{}", "{0: 1, 1: 2, 2: 3}", "{0: 0.5, 1: 1.5, 3: 2.5}", "{1: 1, 'a': 2}", "{0: 1, 1: 0.5, 2: None}",
    "{True: 1, 2: 2}",
    "{k: k * k for k in range(9)}", "{0.0: 1, 1: 2.5}", "{2**70: 1, 0: 2}", "dict(TABLE)", "TABLE",
    "{'a': 1, 'b': 2, 'c': 0}",
)  # fmt: skip
OBJECTS_MADE = (
    "Point(1, 2.5, xs)", "Point(0.5, 1.5, [])", "Slots(1, 2, [1, 2])", "Slots(0.5, 0.25, xs)", "Data(1.5)",
    "Data(2, 3, ys)",
    "Sub(1, 2, [3])", "Point(2**62, 1, [5, 6])", "Slots(None, 1, [])", "Point(np.float64(1.5), 3, [0.5])",
    "Data(True, 2.5)",
)  # fmt: skip
TEAMS = (
    "[a, b, a]", "[a, b]", "[a]", "[Point(k, k * 0.5, []) for k in range(4)]", "[Slots(k, 1.5, xs) for k in range(3)]",
    "[Data(k + 0.5) for k in range(4)]", "[Point(1, 2, xs), Sub(3, 4, xs), Point(5, 6, ys)]",
    "[b, Point(0.5, 1, ys), b]",
)  # fmt: skip
OTHERS = {
    "n": ("3", "5", "4", "8", "2", "0", "12", "np.int64(4)", "3", "True", "25", "6", "5", "2.5", "7", "9"),
    "t": ("(1, 2, 3)", "(0.5, 1, 2)", "(3, xs)"),
    "s": ("'abcab'", "'x1y22'", "''", "'kitten'", "'\\u00e4b\\U0001f600'", "'0123'"),
}  # fmt: skip


@st.composite
def programs(draw: st.DrawFn) -> tuple[str, list[str]]:
    """The text of a module whose function `main` is to be tried, and texts of statements that make its arguments."""
    stream = draw(st.sampled_from(sorted(STREAMS)))
    writer = _Writer(draw, stream)
    return writer.program(), [_setup(draw, stream, writer.calm) for _ in range(draw(st.integers(1, 3)))]


def _setup(draw: st.DrawFn, stream: str, calm: bool) -> str:
    """Statements that make arguments; calm ones have no names in common, and in most lists numbers only."""

    def pick(*choices: str) -> str:
        return draw(st.sampled_from(choices))

    def one(choices: tuple[str, ...], unlike: str = r"\b(xs|ys|a|b|TABLE)\b|\\] \\*") -> str:
        """One of the choices that fit."""
        return pick(*(choice for choice in choices if not calm or not re.search(unlike, choice)))

    def items() -> str:
        return one(ITEMS, "None|'b'|2\\*\\*|np")

    xs, a = items(), one(OBJECTS_MADE)
    lines = [f"xs = [{xs}]", f"ys = {pick(*['xs'] * (not calm), f'[{xs}]', *[f'[{items()}]'] * 3)}"]
    lines += [f"rows = {one(ROWS)}", f"d = {one(DICTS)}", f"a = {a}"]
    lines += [f"b = {pick(*['a'] * (not calm), a, one(OBJECTS_MADE))}", f"team = {one(TEAMS)}"]
    lines += [f"r = {pick(*MAKERS[stream])}"]
    return "\n".join([*lines, *(f"{name} = {one(choices)}" for name, choices in OTHERS.items())])


# What a program may be about, by what it needs; most are about one or two of them.
TOPICS = {
    "rows": r"\brows?\b",
    "dicts": r"\b[de]\b(?!=)|TABLE",
    "objects": r"\{o\}|team|\b[ab]\b|Point|Slots|Data",
    "strings": r"\{s\}|\b[sw]\b|str\(",
    "random": r"\{g\}|\br\.",
    "aliases": r"^[abtxyz]s? = \{|^[xyab]s?, |= ys|\bis\b|items = \{l|rows\[\{h\}\] = \{l|LIMITS",
    "oddities": r"None|2 \*\* |np\.|\{c\} and|\{i\} <<|e200|del |insert|remove|clear|type\(|isinstance|set\(|:=|next\(",
}


class _Writer(FormWriter):
    assigned, loops, tests, else_in, deepest = "iipp", LOOPS, ("{count} > 0", "{count} > 0 and {c}"), 8, 4

    def __init__(self, draw: st.DrawFn, stream: str) -> None:
        super().__init__(draw, st.integers(3, 16))
        topics = draw(st.lists(st.sampled_from(sorted(TOPICS)), max_size=3)) if draw(st.integers(0, 3)) else TOPICS
        self.without = "|".join(TOPICS[name] for name in sorted(set(TOPICS) - {*topics})) or "(?!)"
        kinds = (INTEGERS, NUMBERS, CONDITIONS, LISTS, OBJECTS, STRINGS, PLACES, STREAMS[stream], VARIABLES)
        self.forms, self.names, self.leaves = (     # type: ignore[misc]
            {kind: self.fitting(choices) or choices for kind, choices in each.items()}
            for each in (dict(zip("ipcloshgv", kinds, strict=True)), NAMES, LEAVES)
        )
        self.loops, self.changes = self.fitting(LOOPS), self.fitting(CHANGES)       # type: ignore[misc]
        if self.flip():     # a few forms only: swarm testing
            self.forms = {kind: self.few(choices, 6) for kind, choices in self.forms.items()}    # type: ignore[misc]
            self.loops, self.changes = self.few(self.loops, 5), self.few(self.changes, 5)   # type: ignore[misc]
        self.calm = "oddities" not in topics

    def fitting(self, choices: Sequence[str]) -> tuple[str, ...]:
        """Those that are about the topics of this program."""
        return tuple(choice for choice in choices if not re.search(self.without, choice))

    def few(self, choices: Sequence[str], most: int) -> tuple[str, ...]:
        return tuple(self.draw(st.lists(st.sampled_from(choices), min_size=2, max_size=most)))

    def program(self) -> str:
        scope = Scope()
        first = self.pick("0, 1, 2, 0, 0.5", *["n % 3, n % 2, 2, n, n * 0.5"] * 3)
        body = [f"i, j, k, p, q, left, seen = {first}, 99, []"]
        body += ["z, e, w, row, zs = a, {0: 1}, s, xs, [0.5, 1, 2]"]
        body += self.assign(scope) if self.flip(6) else []
        while self.left > 3 or len(body) < 5:
            body += self.draw(st.sampled_from([self.for_, self.for_, self.while_]))(scope)
        body.append(self.filled(self.pick(*self.fitting(RETURNS), "return i, j, k, p, q, zs, seen")))
        return PRELUDE + "\n\n" + "\n".join([f"def main({PARAMETERS}):", *indented(body)]) + "\n"

    def change(self, scope: Scope) -> Lines:
        return self.filled(self.pick(*self.changes)).split("; ")

    def shuffle(self, scope: Scope) -> Lines:
        return [self.filled("r.shuffle({l})")]

    def jump(self, scope: Scope) -> Lines:
        kinds = ["return {i}, {p}, xs", "raise Own({p})", "return zs, {o}", *["break", "continue"] * (3 * scope.loop)]
        line = self.filled(self.pick(*kinds))
        return [line] if self.flip(8) else [f"if {self.expression('c')}:", *indented([line])]

    def while_(self, scope: Scope) -> Lines:
        first, *rest = super().while_(scope)
        return [f"{first.split(' = ')[0]} = {self.pick('n % 4', 'len(xs) % 5', 'n', 'n + 1')}", *rest]

    def try_(self, scope: Scope) -> Lines:
        if self.calm and not self.flip(6):
            return self.change(scope)
        handler = [*self.inside(scope)] if self.flip() else ["    seen.append(type(error).__name__)"]
        lines = ["try:", *self.inside(scope), f"except {self.pick(*EXCEPTIONS)} as error:", *handler]
        return lines + (["finally:", "    j += 1"] if self.flip(5) else [])

    def for_(self, scope: Scope) -> Lines:
        head, *rest = super().for_(scope)
        enough = ["    left -= 1", "    if left < 0:", "        break"]
        return [head, *(enough if re.search(r"\bin (?!range)|j in|len\(", head) else []), *rest]

    simple = (*[FormWriter.assign] * 4, *[change] * 8, shuffle)
    compound = (*[FormWriter.if_] * 4, while_, *[for_] * 5, try_)
