"""An item of a container is the same object, however a program gets it (law 1).

A program gets an item of a container, changes it by one of its names, and reads it by another:

    c = max(p, key=size)        # p[0] is v
    v[0] = n + 5
    return c[0], c is v, c, n

Every way to get an item meets every kind of item. What is changed and read, and what is a global, an argument or made
in the function, is drawn. Each program runs plain and staged, for several calls; results, changes, and which objects
are one must agree.
"""

from __future__ import annotations

import itertools
import random
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

import autograph as ag
from tests import outcomes
from tests.drawing import EXAMPLES

pytestmark = [pytest.mark.once, pytest.mark.filterwarnings("ignore::autograph.errors.RetraceWarning")]

HEAD = """
import copy, functools, heapq, itertools, operator, random
import numpy as np

class Box:
    def __init__(self, a):
        self.a, self.b = a, 2

class Holder:
    pass

def size(x):
    return {size}

def make(k):
    return {make}

def world(n, known):
    v, w, u, o = make(5), make(1), make(3), Holder()
    o.xs, o.one = [v, w, u], v
    q = [[v, w, u], [u, v]]
    p, d = [v, w, u] if known else [make(5), w, u], dict(v=v, w=w, u=u)
    every = dict(p=p, q=q, d=d, t=(v, w, u), o=o, u=u, v=v, w=w)
    globals().update({{name: every[name] for name in {captured!r}}})
    return {{name: every[name] for name in {given!r}}} | dict(n=n)

def pick(r, i):
    return r[i]

def best(r):
    b = r[0]
    for x in r:
        if size(x) > size(b):
            b = x
    return b
"""
# By kind: how an item is made, its size, how {x} is changed, and how {y} is read.
KINDS = {
    "list": ("[k, 2] + [3] * k", "len(x)",
             "{x}[0] = n + 5; {x}[0] += n + 1; {x}.append(n); {x}[:] = [n, 8]; {x} += [n]",
             "{y}[0]; len({y}); sum({y}); {y}[-1]; {y}[:1]"),
    "dict": ("dict(enumerate([k, 2] + [3] * k))", "len(x)", "{x}[0] = n + 5; {x}['n'] = n; {x}.update(z=n)",
             "{y}[0]; len({y}); sum({y}.values()); {y}.get(0); 'n' in {y}"),
    "set": ("set(range(k + 1))", "len(x)", "{x}.add(n + 50); {x}.discard(0); {x} |= {{n + 70}}",
            "len({y}); sum({y}); n + 50 in {y}; 0 in {y}"),
    "object": ("Box(k)", "x.a", "{x}.a = n + 15; {x}.a += n + 1; {x}.b = n", "{y}.a; {y}.a + {y}.b"),
    "bytearray": ("bytearray([k, 2] + [3] * k)", "len(x)", "{x}[0] = n + 5; {x}.append(n)",
                  "{y}[0]; len({y}); sum({y})"),
    "array": ("np.arange(3.0) + k", "float(x[0])", "{x}[0] = n + 5; {x} += n + 1; {x}[...] = n",
              "{y}[0]; float({y}.sum()); {y}[0] + n"),
}  # fmt: skip
EXPRESSIONS = """
p[0]   p[n]   p[n - 1]   p[-1 - n]   p.__getitem__(n)   operator.getitem(p, n)   operator.itemgetter(n)(p)
max(p, key=size)   min(p, key=size)   max(v, w, key=size)   max(p, key=lambda x: size(x) * n)
max(p, key=lambda x: size(x) - n, default=w)   p[max(range(3), key=lambda i: size(p[i]) * n)]
sorted(p, key=size)[0]   sorted(p, key=size, reverse=True)[n]   sorted(p, key=lambda x: -size(x) * n)[n]
next(x for x in p if size(x) > n)   next((x for x in p if size(x) > n + 1), w)   next(iter(p))
next(filter(lambda x: size(x) > n, p))   list(filter(lambda x: size(x) > n, p))[0]   list(map(lambda x: x, p))[n]
[x for x in p][n]   [x for x in p if size(x) > n][0]   [x for x in p if size(x) > n][n]   list(p)[n]   tuple(p)[n]
p[:][n]   p[n:][0]   p[:n + 1][-1]   p[::-1][n]   p.copy()[n]   copy.copy(p)[n]   (p + [w])[n]   (p * 2)[n + 2]
[*p, w][n - 1]   (v, w)[n % 2]   [v, w][n % 2]   sum([p, [w]], [])[n]   (p if n else t)[0]   (p or t)[n]
{0: v, 1: w}[n % 2]   {0: v, 1: w}.get(n, w)   dict(enumerate(p)).get(n, w)   {i: x for i, x in enumerate(p)}[n]
list(d.values())[n]   list(d.items())[n][1]   sorted(d.items())[n][1]   max(d.values(), key=size)   d['v']
d[max(d, key=lambda k: size(d[k]) * n)]   d.get('x', v)   d.setdefault('v', w)   [x for k, x in d.items()][n]
random.choice(p)   random.sample(p, 2)[n % 2]   heapq.nlargest(1, p, key=size)[0]
functools.reduce(lambda a, b: a if size(a) * n > size(b) else b, p)   list(zip(p, range(3)))[n][0]
list(enumerate(p))[n][1]   list(reversed(p))[n]   list(itertools.chain(p, p))[n]   list(itertools.islice(p, n, None))[0]
list(itertools.accumulate(p, lambda a, b: a))[n]   list(itertools.permutations(p, 2))[n][0]
list(itertools.zip_longest(p, [1]))[n][0]   [list(g) for k, g in itertools.groupby(p, size)][n][0]
v if n else w   v or w   (n and v) or w   q[0][n]   q[n % 2][0]   sum(q, [])[n]   [x for r in q for x in r][n]
max(q, key=len)[n]   max(q[0], key=size)   max([x for r in q for x in r], key=size)   [p, [w]][n % 2][0]
(lambda x: x)(p[n])   pick(p, n)   best(p)   t[n]   copy.copy(t)[n]   max(t, key=size)   sorted(t, key=size)[n]
o.xs[n]   max(o.xs, key=size)   o.one   getattr(o, 'one')   dict(zip('abc', p))['abc'[n]]   p[p.index(p[n])]
max(enumerate(p), key=lambda e: size(e[1]))[1]   max([(size(x) * n, i, x) for i, x in enumerate(p)])[2]
sorted([(size(x) * n, i, x) for i, x in enumerate(p)])[n][2]   min(zip([3, 1, 2], range(3), p))[2]
[(size(x), x) for x in p][n][1]   max([[x, size(x)] for x in p], key=lambda e: e[1])[0]
max([{'x': x, 's': size(x) * n} for x in p], key=lambda e: e['s'])['x']   [p[i] for i in range(n + 1)][-1]
"""
STATEMENTS = """
for c in p: break

for c in p:
    if size(c) > n: break

c = p[0]
for x in p:
    if size(x) * n > size(c): c = x

for i, c in enumerate(p):
    if i == n: break

c = None
for x in p:
    if c is None or size(x) > size(c): c = x

i = 0
while i < 2 and size(p[i]) > n + 2: i += 1
c = p[i]

r = list(p); r.sort(key=size); c = r[n]

r = []
for x in p:
    if size(x) > n: r.append(x)
c = r[-1]

r = {}
for i, x in enumerate(p): r[i * n] = x
c = r[n]

if n > 0: c = p[0]
else: c = p[1]

for r in q:
    for c in r:
        if size(c) > n: break

c, *_ = p

c = list(p).pop(n)

r = [w, w, w]; r[n] = v; c = r[1]

it = iter(p); next(it); c = next(it)

p.sort(key=size); c = p[n]

p[n], p[0] = p[0], p[n]; c = p[n]

o.one = p[n]; c = o.one

c = p[n]; c, w = w, c; c = w

for c in sorted(p, key=size): pass

for c, _ in zip(p, range(n + 1)): pass

for k in d: c = d[k]

for i in range(n + 1): c = p[i]

try: c = p[n + 2]
except IndexError: c = p[0]
"""
INSIDE = "p, q, d, t = [v, w, u], [[v, w, u], [u, v]], {'v': v, 'w': w, 'u': u}, (v, w, u)"
WAYS = [f"c = {each}" for each in re.split(r" {3}|\n", EXPRESSIONS.strip())] + STATEMENTS.strip().split("\n\n")
CALLS = [(0, True), (1, True), (2, True), (1, False), (0, True)]
ENGINES = ("numpy", "native", "auto")


def programs(kind: str, seed: int) -> Iterator[tuple[str, str]]:
    """For each way to get an item, a program, and an engine."""
    make, size, changes, reads = KINDS[kind]
    draw = random.Random(f"{kind} {seed}")
    for way in WAYS:
        names = dict(zip("xy", draw.choice(["cv", "vc"])))
        change, read = (draw.choice(each.split("; ")).format(**names) for each in (changes, reads))
        body = f"{way}\n{change}\nreturn {read}, c is v, c, n + 1\n"
        if draw.random() < 0.2:
            body = f"{INSIDE}\n{body}"
        used = [name for name in "pqdtouvw" if re.search(rf"\b{name}\b", body)]
        captured = [name for name in used if not re.search(rf"\b{name}\b.*= ", body) and draw.random() < 0.2]
        given = [name for name in used if name not in captured]
        head = HEAD.format(make=make, size=size, given=given, captured=captured)
        yield f"{head}\ndef main({', '.join([*given, 'n'])}):\n{textwrap.indent(body, '    ')}", draw.choice(ENGINES)


def result(names: dict[str, Any], function: Any, call: tuple[int, bool]) -> outcomes.Outcome:
    random.seed(1)
    found = outcomes.run(function, f"**world{call}", names)
    found.warnings = [each for each in found.warnings if each[0] != "RetraceWarning"]
    return found


@pytest.mark.parametrize("seed", range(1 + EXAMPLES // 1000))
@pytest.mark.parametrize("kind", KINDS)
def test_an_item_is_the_same_object(kind: str, seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (text, engine) in enumerate(programs(kind, seed)):
        filename = f"<access {kind} {seed} {number}>"
        plain, names = outcomes.execute(text, filename), outcomes.execute(text, filename)
        monkeypatch.setenv("AUTOGRAPH_TIERS", f"random:{number}" if engine == "auto" else "off")
        staged = ag.function(names["main"], engine=engine)
        for call in itertools.islice(itertools.cycle(CALLS), 2 * len(CALLS) if engine == "auto" else len(CALLS)):
            assert result(names, staged, call) == result(plain, plain["main"], call), f"{engine} {call}: {text}"
