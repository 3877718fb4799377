"""Which statements become machine code: each is put into a loop, and the report on that loop tells.

docs/support.py writes the table. `python docs/constructs.py 'q = sum(t)'` shows the report on one statement.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import math  # noqa: F401  (the statements use it)
import random  # noqa: F401
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

import autograph as ag

PARAMETERS = "n, xs, ys, rows, d, t, s, a, team, r, x, y, m"
TEMPLATE = """\
def f({parameters}):
    p, q, i, w, zs = 0.5, 1.5, 1, s, [0.5]
    for k in range(n):
        j = k % 3
        p = p * 0.5 + j
        {statement}
    return p, q, i, w, zs
"""
LINE = 6     # of the statement
COLUMNS = COMPILED, CALLED, PLAIN = "compiled", "machine code calls Python", "the loop stays in Python"


@dataclass
class Point:
    x: float
    y: float

    def size(self) -> float:
        return self.x * self.x + self.y * self.y


class Slots:
    __slots__ = ("x", "y")

    def __init__(self, x: float, y: float) -> None:
        self.x, self.y = x, y


# By family, separated by three spaces or lines.
STATEMENTS = {
    "Lists": """
        q += xs[j]   xs[j] = p   xs[j] += p   xs[j], xs[0] = xs[0], xs[j]   q += rows[j][1]   rows[j][1] = p
        zs.append(p)   q = xs.pop()   q = xs.pop(0)   xs.insert(0, p)   i = len(xs)   i += p in xs   i = xs.index(2.0)
        i = xs.count(p)   q = sum(xs)   q = max(xs)   q = min(xs)   xs.sort()   xs.reverse()   zs = sorted(xs)
        zs = xs[1:3]   zs = xs[::-1]   xs[1:3] = [p, q]   del xs[0]   zs = [p, q]   zs = [p] * 3   zs = xs + ys
        zs = xs.copy()   zs = list(xs)   xs.extend(ys)   xs.remove(2.0)   xs.clear()   i += xs == ys   i += xs < ys
        zs = [v * 2 for v in xs]   zs = [v for v in xs if v > p]   q = sum(v * v for v in xs)
        for v in xs: q += v
        for e, v in enumerate(xs): q += v * e
        for u, v in zip(xs, ys): q += u * v
        for v in reversed(xs): q += v
        for row in rows: q += row[0]
        xs.sort(key=lambda v: -v)
    """,
    "Tuples": """
        q += t[j]   i = len(t)   i += p in t   zs = (p, q)   q = sum(t)   q = max(t)
        for v in t: q += v
    """,
    "Dicts": """
        q += d[j]   d[j] = p   d[j] += p   d[j] = d.get(j, 0) + 1   q += d.get(j, 0)   i += j in d   i = len(d)
        q = d.pop(j, 0.0)   del d[j]   q = d.setdefault(j, p)   d.clear()   d.update(d)   zs = {j: p}   zs = dict(d)
        for e in d: i += e
        for e, v in d.items(): q += v * e
        for v in d.values(): q += v
        q = max(d.values())   zs = list(d)
    """,
    "Sets": """
        zs = {j, i}   zs = set(xs)   i += len(set(xs))
    """,
    "Strings": """
        i += s[j] == 'a'   i += s[j] == s[0]   i = len(s)   i += ord(s[j])   w = s[j]   w = s[1:]   i += 'a' in s
        i += s.count('a')   i += s.find('b')   w = w + 'a'   w = str(j)   w = f"{j}"   i += s < w   w = chr(97 + j)
        for c in s: i += c == 'a'
        i += s.startswith('a')   w = s.upper()   i += int('12'[j % 2])
    """,
    "Python's random": """
        q = random.random()   q = random.uniform(0, p)   i = random.randint(1, 6)   i = random.randrange(10)
        q = random.gauss(0, 1)   q = random.choice(xs)   random.shuffle(xs)   q = random.expovariate(1.5)
        q = random.normalvariate(0, 1)   zs = random.sample(xs, 2)   i = random.getrandbits(8)   q = random.triangular()
        zs = random.choices(xs, k=2)
    """,
    "NumPy's generators": """
        q = r.random()   q = r.uniform(0, p)   q = r.standard_normal()   q = r.normal(0, 1)   i = r.integers(6)
        q = r.exponential()   q = r.choice(x)   r.shuffle(x)   zs = r.permutation(4)   i = r.poisson(2.0)
        zs = r.random(3)   zs = r.standard_normal(3)   i = r.binomial(4, 0.5)   q = r.gamma(2.0)   q = r.beta(1.0, 2.0)
    """,
    "np.random": """
        q = np.random.random()   q = np.random.rand()   q = np.random.uniform(0, p)   q = np.random.randn()
        q = np.random.normal(0, 1)   i = np.random.randint(6)   q = np.random.exponential()   q = np.random.choice(x)
        np.random.shuffle(x)   zs = np.random.permutation(4)   i = np.random.poisson(2.0)   zs = np.random.rand(3)
    """,
    "Objects": """
        q += a.x   a.x = p   a.x += p   a.x, a.y = a.y, a.x   q += team[j].x   team[j].x = p   q = a.size()
        q += team[j].size()   for b in team: q += b.size()
        q = Point(p, q).x   b = Point(p, q); q = b.x + b.y   zs.append(Point(p, q))
        i += isinstance(a, Point)   q = getattr(a, 'x')   i += a is team[0]
        for b in team: q += b.x
        for b in team: b.x += p
        i += a == team[0]   team.append(a)
    """,
    "Arrays": """
        q += x[j]   x[j] = p   x[j] += p   q += m[j, 1]   m[j, 1] = p   q += m[j][1]   i = len(x)   i = x.shape[0]
        q = x.sum()   q = x.max()   q = np.dot(x, y)   q = x @ y   zs = m @ x   i = x.argmax()   q = np.abs(x).sum()
        x[:] = y   x[:] = x * 2 + y   x += y   x[1:] = y[:-1]   zs = x + y   zs = x * p   zs = np.zeros(3)
        zs = x.copy()   zs = x[x > p]   zs = np.where(x > p, x, y)   m[j] = x   m[j, :] += y   zs = m[j]   zs = m.T
        m[[0, 1]] = m[[1, 0]]   zs = np.sqrt(x)   zs = x[1:3]   q = x.mean()   zs = np.sort(x)   zs = np.cumsum(x)
        zs = m.sum(axis=0)   zs = np.outer(x, y)   i += (x > p).any()   zs = np.concatenate((x, y))
        for v in x: q += v
        for row in m: q += row[0]
        zs = x.tolist()   q = np.linalg.norm(x)   zs = np.linspace(0, 1, 5)   zs = np.arange(5)
    """,
    "Numbers": """
        q = math.sin(p)   q = p ** 2   q = p ** 0.5   i = j // 2   i = int(p)   q = float(j)   q = abs(p)
        q = max(p, q)   q = np.exp(p)   i = round(p)   q = round(p, 2)   i, q = divmod(j, 2)   q = math.floor(p)
        q = complex(p, q)
        i = j << 2   i = j ** 3   i = i * 7 % 1000003   i = math.gcd(j, 6)   i = math.factorial(j)   i = math.comb(5, j)
        i += isinstance(p, float)   q = np.float64(p)   i = j.bit_length()   i = np.int64(j)   i = pow(3, j, 7)
    """,
    "Control flow": """
        if p > q: break
        if p > q: continue
        while i < k: i += 1
        if p > 100: raise ValueError(p)
        if p > 100: print(p)
        print(p)   assert p < 100   i = j if p > q else i   i += 0 < p < 3
        q = helper(p)   q = other(p) or 0.0   i = recursive(j)
    """,
}


def helper(v: float) -> float:
    return v * 2 if v > 1 else v


def other(v: float) -> float | None:
    return None if v > 1 else v


def recursive(v: int) -> int:
    return 1 if v < 2 else v * recursive(v - 1)


def arguments() -> list[Any]:
    """The arguments of all functions, made anew."""
    xs, rows = [1.0, 2.0, 3.0, 0.5] * 20, [[1.0, 2.0, 3.0] for _ in range(4)]
    team = [Point(k, 0.5) for k in range(1, 5)]
    return [70, xs, xs[:30], rows, {0: 1.5, 1: 2.5, 2: 0.5}, (1.0, 2.0, 3.0), "abca" * 9, Point(1.5, 2.0), team,
            np.random.default_rng(1), np.arange(9.0), np.ones(9), np.ones((3, 9))]  # fmt: skip


def statements(family: str) -> list[str]:
    """The statements of a family."""
    lines = [line.strip() for line in STATEMENTS[family].strip().splitlines()]
    return [each for line in lines for each in line.split("   ")]


def run(statement: str) -> ag.function:
    """A function with the statement in a loop, after two calls of it as machine code."""
    text = TEMPLATE.format(parameters=PARAMETERS, statement=statement)
    filename = f"<construct {statement}>"
    linecache.cache[filename] = len(text), None, text.splitlines(keepends=True), filename
    names = dict(globals())
    exec(compile(text, filename, "exec"), names)
    staged = ag.function(names["f"], engine="native")
    for _ in range(2):
        with contextlib.suppress(IndexError, KeyError, ValueError), contextlib.redirect_stdout(io.StringIO()):
            staged(*arguments())
    return staged


def what_becomes_of(staged: ag.function) -> str:
    """The column of the table in which its statement is."""
    trace = staged.traces[-1]
    regions = [] if trace.plain else trace.executable.native.every
    if not any(region.compiled for region in regions):
        return PLAIN
    return CALLED if any(event.kind == "native_callback" for region in regions for event in region.events) else COMPILED


def row(family: str) -> tuple[str, ...]:
    """The row of a family in the table."""
    found = [(what_becomes_of(run(each)), each) for each in statements(family)]
    return family, *(", ".join(f"`{each}`" for is_in, each in found if is_in == column) for column in COLUMNS)


if __name__ == "__main__":
    print(run(sys.argv[1]).explain())
