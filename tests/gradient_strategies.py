"""Programs of floats, arrays and containers for hypothesis to draw, and to be differentiated.

A program is the text of a module with a function `main(n, p, x, a, xs)`: an integer, a float, a vector of three, a
matrix of two rows and a list of two floats. It returns one number. What is drawn stays small and has few kinks; see
test_gradient_fuzz.py for what is done about those. Variables keep to their kind: integers `i j k`, numbers `p q r`,
vectors `x y z`, matrices `a b`, a list of numbers `xs`, one of vectors `ys`, a dict `d`, a tuple `t` and an object
`box`.
"""

from __future__ import annotations

from hypothesis import strategies as st

from tests.drawing import FormWriter, Lines, Scope, forms, indented

PRELUDE = '''\
import math

import numpy as np

F32 = np.float32
HALVES = np.array([0.5, -0.5, 0.25])
HALVES.flags.writeable = False  # the same in every call


def scale(v, by=0.5):
    if v > 0.3:
        return v * by
    return v - by


def change(v, c):
    v *= 0.5
    v[0] = c
    return v


def swap(v, w):
    v[0], w[1] = w[1], v[0]


def total(v):
    s = 0.0
    for e in v:
        if e < -0.4:
            continue
        s += e * e
    return s


def first(v, c):
    for i, e in enumerate(v):
        if e > c:
            return e * i
    return c


def push(xs, v):
    if len(xs) < 6:
        xs.append(v)
    return xs


def down(v, k):
    if k <= 0:
        return v
    return np.sin(down(v * 0.5, k - 1)) + v


def pair(v, w):
    return v * w, {"sum": v + w}


class Box:
    def __init__(self, n):
        self.n, self.seen, self.data = n, [], np.zeros(3)

    def add(self, v):
        if v > 0:
            self.n = self.n * 0.5 + v
        self.seen = self.seen[-2:] + [v]
        self.data[len(self.seen) % 3] += v * 0.5
        return self.n

    @property
    def half(self):
        return self.n * 0.5
'''


# {i} stands for an integer, {p} for a number, {x} for a vector, {a} for a matrix, {c} for a condition.
INTEGERS = forms("""
    {i} + 1   {i} - {i}   {i} % 3   {i} // 2   abs({i})   min({i}, 2)   int({x}.argmax())   len(xs)   len({x})
    {i} if {c} else {i}   x.shape[0]   int({p} * 2)   int({c})
""")
NUMBERS = forms("""
    {p} + {p}   {p} - {p}   {p} * {p}   {p} * 0.5   {p} / (1 + {p} * {p})   -{p}   abs({p})   {x}[0]   {x}[-1]
    {x}[{i} % 3]   {x}.sum()   np.sum({x})   {x}.mean()   {x}.max()   np.sin({p})   math.sin({p})   float({p})
    {a}[0, {i} % 3]   {a}[{i} % 2][1]   {a}.sum()   {p} if {c} else {p}   {i} * {p}   math.sqrt(1 + {p} * {p})
    np.tanh({p})   xs[-1]   xs[{i} % len(xs)]   d['u']   scale({p})   scale({p}, by={p})   total({x})   sum(xs)
    max({p}, {p})   np.dot({x}, {x})   {x} @ {x}   F32({p})   np.maximum({p}, 0.1)   min(xs)   down({p}, {i} % 3)
    first({x}, {p})   box.n   box.add({p})   box.half   box.data[1]   {p} ** 2   np.exp(-{p} * {p})   t[0]
    np.prod({x})
    sum(e * e for e in {x})   sum(e * {p} for e in xs)   pair({p}, {p})[0]   pair({p}, {p})[1]['sum']   {i} + 0.5
    np.sqrt(1 + {x}[1] ** 2)   {x}.item({i} % 3)   np.linalg.norm({x} + 2)   (lambda e: e * {p})({p})
    np.float64({p})
    np.sum([{p}, {p}])   np.where({c}, {p}, {p})   {p} + 1j * 0 if False else {p}   {x}[[0, 1]].sum()   np.mean({a})
""")
VECTORS = forms("""
    {x} + {x}   {x} - {x}   {x} * {x}   {x} + {p}   {p} - {x}   {x} * 0.5   {x} / 2   -{x}   {x}[::-1]   {x} * {p}
    np.where({x} > {p}, {x}, {x})   np.where({x} > 0, {p}, {i})   np.sqrt(1 + {x} * {x})   {x}.copy()   np.zeros(3)
    np.arange(3)   np.ones_like({x})   np.sort({x})   np.cumsum({x})   np.roll({x}, {i} % 3)   {a}[{i} % 2]
    {a}.sum(axis=0)   {a}.T[1:].sum(axis=1) @ {a}   np.clip({x}, -1, 2)   np.array([{p}, {p}, {i}])
    np.maximum({x}, {p})   {x}.astype(F32)   np.array([e * {p} for e in {x}])   {x}[:]   {x}[[0, 2, 1]]   np.sin({x})
    HALVES   np.concatenate([{x}[:1], {x}[1:]])   {x} if {c} else {x}   change({x}, {p})   change({x}.copy(), {p})
    np.full(3, {p})   ({x} > {p}) * {p}   np.asarray({x})   np.outer({x}, {x})[1]   box.data   {x}.reshape(-1)
    d['v']   ys[-1]   np.tanh({x})   np.minimum({x}, {x})   t[1]   np.dot({a}[:, :2].T, [{p}, 1])[[0, 1, 1]]
    np.array([{x}[0], {p}, 1.0])   {x} ** 2   np.exp(-{x} * {x})   {a}[{i} % 2, :]   {a}.reshape(-1)[::2]
    {a}.ravel()[:3]   {x} / (1 + {x} * {x})   {a}[:, 0].sum() * {x}   np.linspace(0, {p}, 3)   ys[{i} % len(ys)]
""")
MATRICES = forms("""
    {a} + {a}   {a} * {a}   {a} + {x}   {a} * {p}   np.sin({a})   {a}.T.T   {a}[::-1]   {a}.copy()   np.zeros((2, 3))
    np.stack([{x}, {x}])   np.array([{x}, {x}])   np.where({a} > {p}, {a}, 0)   {a}.reshape(3, 2).T
    np.cumsum({a}, axis=1)
    np.outer([1.0, 0.5], {x})   {a} @ np.outer({x}, {x})   {a} if {c} else {a}   np.vstack(({x}, {x}))   {a}[:]
    {a} / (1 + {p} ** 2)   np.tile({x}, (2, 1))   {a}.astype(F32)   np.full((2, 3), {p})
""")
CONDITIONS = forms("""
    {p} > {p}   {p} <= {p}   {i} == {i}   {i} != 0   -0.5 < {p} < 1   {i} % 2 == 0   {p} > 0   {i} > 1   not {c}
    {c} and {c}   {c} or {c}   ({x} > {p}).any()   np.all({x} > -1)   {x}.sum() > {p}   len(xs) > 2   n > {i}
    any(e > {p} for e in xs)
""")
STORES = forms("""
    {v}[0]   {v}[-1]   {v}[{i} % 3]   {v}[1:]   {v}[::2]   {v}[{v} > {p}]   {v}[...]   {m}[{i} % 2, 1]   {m}[0]
    {m}[:, {i} % 3]   {m}[{i} % 2][2]   xs[-1]   xs[{i} % len(xs)]   d['u']   box.n   d['key']   {v}[[0, 2]]
    {m}[{m} > {p}]   box.data[{i} % 3]   {m}.T[1]   ys[-1][0]   d['v'][1]   {v}[:]   {m}.reshape(-1)[{i} % 6]
    {m}.flat[1]
""")
UPDATES = forms("""
    p *= 0.5   q /= 3   x *= {p}   y /= 2   z **= 2   y *= {x}   x -= {x}   z += {p}   p += {x}[0]   a += {x}
    b *= 0.5
    a[1] *= {p}   q = -q   p, q = q, {p}   x, y = y, x   i, (p, r) = {i}, ({p}, {p})   y = z = {x}
    p, *_ = [{p}, {p}]
    x[0], x[-1] = x[-1], x[0]   (p, q), y = ({p}, {p}), {x}   p, q, r = {x}   a, b = b, a   t = ({p}, {x})
    t = (t[0] * {p}, t[1])   y[1:] *= {p}   x[:2] += y[1:]   a[:, 1] -= {p}   b[0] = {x}   b[:] = {a}   x += a[0]
    np.add(y, {p}, out=y)   np.multiply({x}, {x}, out=z)   np.sin({x}, out=y)   np.copyto(y, {x})   y.fill({p})
    np.put(y, [1], {p})   y.sort()   np.add.at(y, [0, 0, 1], {p})   swap(y, z)   swap(x, a[0])   y = x[:]   z = a[1]
    z = y   b = a.T.T   np.fill_diagonal(b, {p})   q = x.sum(); x[:] = 0   np.cumsum({x}, out=y)
    np.maximum(y, {p}, out=y)
    np.matmul({x}, np.outer({x}, {x}), out=z)   z = b[0]; z *= {p}   y[{x} > {p}] *= {p}   np.clip(y, -1, 1, out=y)
    x[1:] = x[:-1] * {p}   x[:-1] += x[1:]   y[[0, 0, 1]] += {p}   y[i % 3] += {p}
    a[0], a[1] = a[1].copy(), a[0] * {p}
""")
CHANGES = forms("""
    push(xs, {p})   xs.append({p}); xs = xs[-4:]   xs.pop(); xs.append({p})   xs.insert(0, {p}); del xs[4:]
    xs.reverse()
    d.update(u={p})   d['u'] = d['u'] * {p}   d['w'] = d.get('w', 0.0) + {p}   xs = (xs + [{p}])[:6]
    xs = [e * {p} for e in xs]   xs[:] = [{p}, {p}]   box.add({p})   change(y, {p})   xs = [e * 2 for e in y]
    ys.append({x}); ys = ys[-3:]   push(ys, {x})   ys[0] = {x}   ys[-1] *= {p}   d['v'] = {x}   d['v'] *= {p}
    xs.sort()
    d = dict(u={p}, v={x})   box.data = {x}   box.seen.append({p})   box.n *= {p}   xs += [{p}]; xs = xs[:6]
    y = np.array(ys).sum(axis=0)   y = np.append(y, {p})[-3:]   xs.extend([{p}]); xs = xs[1:]
    ys = [v * {p} for v in ys]
    p = sum(xs) + sum(v[0] for v in ys)   push(ys, y)   d['v'] = y   xs[0], xs[-1] = xs[-1], xs[0]
    t = tuple(xs[:1]) + (y,)
""")
LOOPS = forms("""
    i in range(3)   j in range({i} % 4)   k in range(min(n, 3))   i in range(2, -1, -1)   p in {x}   q in xs[:3]
    i, p in enumerate({x})   p, q in zip({x}, {x})   k, (p, q) in enumerate(zip(x, y))   y in a   row in a
    _ in range(2)
    p in reversed(xs[:3])   r in reversed(x)   i in range(len(x))   p in [{p}, {p}]   z in ys   i, z in enumerate(ys)
    p, q in [({p}, {p}), ({p}, 0.5)]   q in a[0]   p in (e * {p} for e in xs)   z in [x, y]   p in map(scale, xs[:2])
    p, q, r in a   p, z in zip(x, a.T)   p in x[::-1]   q in xs   k in range(n)
""")

FORMS = {"i": INTEGERS, "p": NUMBERS, "x": VECTORS, "a": MATRICES, "c": CONDITIONS}
NAMES = {"i": ("i", "j", "k"), "p": ("p", "q", "r"), "x": ("x", "y", "z"), "a": ("a", "b"), "c": ()}
LEAVES = {"i": ("0", "1", "2", "n"), "p": ("0.5", "1.5", "-0.7"), "x": ("x",), "a": ("a",),
          "c": ("n > 1", "p > 0.2", "x[0] > 0")}  # fmt: skip
LOCALS = {"i": "1", "p": "v", "q": "v * 2", "r": "0.5", "y": "np.ones(3)", "z": "HALVES * v", "xs": "[v, 0.5]"}


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a module whose function `main(n, p, x, a, xs)` is to be differentiated."""
    return Writer(draw, st.integers(2, 16)).program()


class Writer(FormWriter):
    forms, names, leaves = FORMS, NAMES, LEAVES
    assigned, loops, tests, else_in, deepest = "ipxpxa", LOOPS, ("{iterations} > 0", "{iterations} > 0 and {c}"), 6, 3

    def program(self) -> str:
        scope = Scope()
        body = ["i, j, k = n, 1, 0", "q, r = p * 0.5, 0.5"]
        body += [f"y = {self.pick('x * 2', 'x', 'np.zeros(3)', 'x[:]', 'a[0]', 'x.copy()')}", "z = np.arange(3.0)"]
        body += [f"b = {self.pick('a.copy()', 'a', 'np.ones((2, 3))', 'a * x')}", "ys = [x]"]
        body += [self.pick("xs = [p, 0.5]", "xs = list(xs)", "xs.append(p)", "xs[0] *= p")]
        body += ["d = {'u': q, 'v': y}", "t = (p, y)", "box = Box(q)"]
        start = len(body)
        while self.left > 0 or len(body) < start + 2:
            body += self.block(scope)
        body.append(self.pick(
            "return p + q * r + np.sum(x * y + z) + np.sum(a * b)",
            "return sum(xs) + total(ys[-1]) + d['u'] * box.n + p",
            "return np.sum(d['v'] * box.data) + t[0] + np.sum(t[1] * HALVES) + box.half + np.sum(a)", "return p * 1.0",
            "return np.sum(y * HALVES) + sum(np.sum(v * v) for v in ys) + r", "return np.sum(x * HALVES) + np.sum(b)",
            "return np.dot(x, y) + z[0] * q"))  # fmt: skip
        return PRELUDE + "\n\n" + "\n".join(["def main(n, p, x, a, xs):", *indented(body)]) + "\n"

    # Simple statements

    def update(self, scope: Scope) -> Lines:
        return self.filled(self.pick(*UPDATES)).split("; ")

    def change(self, scope: Scope) -> Lines:
        return self.filled(self.pick(*CHANGES)).split("; ")

    def store(self, scope: Scope) -> Lines:
        place = self.pick(*STORES).replace("{v}", self.pick(*NAMES["x"])).replace("{m}", self.pick(*NAMES["a"]))
        return [self.filled(f"{place} {self.pick('=', '=', '+=', '-=', '*=')} {{p}}")]

    def jump(self, scope: Scope) -> Lines:
        kinds = ["return {p}", "return {p} * {p}"]
        kinds += ["break", "continue", "break", "continue"] if scope.loop else []
        return [self.filled(self.pick(*kinds))]

    # Compound statements

    def def_(self, scope: Scope) -> Lines:
        if scope.inner or scope.nesting:
            return self.if_(scope)
        name, shared = self.fresh("h"), self.pick("p", "q", "p, r", "y", "xs", "")
        lines = [f"def {name}(v, k=1):"] + ([f"    nonlocal {shared}"] if shared else [])
        lines += [f"    {name} = {value}" for name, value in LOCALS.items() if name not in shared.split(", ")]
        lines += ["    j = 0"]
        lines += self.block(Scope(nesting=1, inner=True))
        scope.functions.append(name)
        return [*lines, f"    return {self.pick('v * p', 'q', 'p', 'y[0] * v', 'np.sum(x) + v', 'xs[0]')}"]

    simple = (*[FormWriter.assign] * 3, *[update] * 3, *[store] * 2, *[change] * 2, FormWriter.call)
    compound = (*[FormWriter.if_] * 3, *[FormWriter.while_] * 2, *[FormWriter.for_] * 4, def_)
