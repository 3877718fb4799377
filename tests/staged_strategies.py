"""Programs of numbers, arrays and containers for hypothesis to draw; all of them end.

A program is the text of a module with a function `main(n, f, x, a, xs, d)`: an integer, a number, a vector, a matrix
of two rows, a list of numbers and a dict. Its variables keep to their kind (integers `i j k`, numbers `p q`, vectors
`x y z`, …), so that most of what is drawn has a meaning; the rest goes wrong as it does in Python and NumPy.

What makes it end, and soon: loops run over three items at most or count down from three; integers are multiplied by
small constants only; lists and vectors stop growing.
"""

from __future__ import annotations

import re

from hypothesis import strategies as st

from tests.drawing import FormWriter, Lines, Scope, forms, indented

PRELUDE = '''\
import math

import numpy as np

g = 0
TABLE = {"low": -1, "high": 2.5}
WEIGHTS = np.array([0.5, 1.0, 2.0])


def scale(v, by=2):
    if v > 10:
        return v - 7
    return v * by


def count(step=1):
    global g
    g += step
    return g


def change(v, c):
    v += c
    v[:1] = 0
    return v


def first_above(v, c):
    for i, e in enumerate(v):
        if e > c:
            return i
    return -1


def push(xs, v):
    if len(xs) < 6:
        xs.append(v)
    return xs


def total(v):
    s = 0
    for e in v:
        if e < 0:
            continue
        s += e
    return s


def check(v):
    if v > 40:
        raise ValueError(f"too large: {v}")
    return v


class Box:
    def __init__(self, n):
        self.n, self.seen, self.data = n, [], np.zeros(3)

    def add(self, v):
        if v > 0:
            self.n += v
        self.seen = self.seen[-2:] + [v]
        self.data[len(self.seen) % 3] += 1
        return self.n

    @property
    def big(self):
        return self.n > 5
'''

# {i} stands for an integer, {p} for a number, {x} for a vector, {c} for a condition.
INTEGERS = forms("""
    {i} + {i}   {i} - {i}   {i} * 3   {i} // 2   {i} % 3   {i} // {i}   {i} * {i} % 97   -{i}   abs({i})
    min({i}, {i})   max({i}, 1)   int({p})   {i} if {c} else {i}   {i} & 3   {i} | 4   {i} ^ {i}   {i} << 2   {i} >> 1
    ~{i}   len({x})   {x}.shape[0]   first_above({x}, {p})   count()   {c} or {i}   {i} and {i}   2 ** 65 + {i}
    [{i}, {i}, 5][{i} % 3]   int({c})   len(xs)   len(d)   int({x}.argmax())   xs.index(xs[-1])   round({p})
    {i} ** 2 % 31   divmod({i}, 3)[1]   (lambda e: e - 1)({i})   math.floor({p})   sum(1 for e in {x} if e > {p})
    len([e for e in {x} if e > 0])   (k := {i})   (j := {i})
""")
NUMBERS = forms("""
    {i}   {p} + {p}   {p} - {p}   {p} * 0.5   {p} / 4   {p} / (abs({p}) + 1)   {p} / {p}   -{p}   abs({p})   {x}[0]
    {x}[-1]   {x}[{i} % 3]   {x}[{i}]   {x}.sum()   np.sum({x})   {x}.mean()   {x}.max()   np.sin({p})   float({p})
    a[0, {i} % 3]   a[{i} % 2][1]   a.sum()   {p} if {c} else {p}   ({p} > {p}) + 1   box.n   math.sqrt(abs({p}))
    np.sqrt(abs({p}))   round({p}, 2)   xs[-1]   xs[{i}]   d.get({i}, {p})   d[{i} % 3]   scale({p})
    scale({p}, by={i})   check({p})   box.add({p})   total({x})   sum(xs)   max({p}, {p})   {p} or {p}   {c} and {p}
    np.dot({x}, {x})   {x} @ {x}   np.float32({p})   np.maximum({p}, 1)   min(xs)   TABLE['low'] * {p}   np.int64({i})
    {p} ** 2 % 13   int(box.big)   np.random.rand()   sorted(xs)[0]   np.prod({x}[:2])   np.abs({p})   {x}.item(0)
    box.data[1]   (q := {p})   (p := {p})
""")
VECTORS = forms("""
    {x} + {x}   {x} - {x}   {x} * {x}   {x} + {p}   {p} - {x}   {x} * 0.5   {x} / 2   {x} % 3   -{x}   {x}[::-1]
    np.where({x} > {p}, {x}, {x})   np.where({x} > 0, {p}, {i})   np.sqrt(np.abs({x}))   {x}.copy()   np.zeros(3)
    np.arange(3)   np.ones_like({x})   np.sort({x})   np.cumsum({x})   np.roll({x}, {i} % 3)   a[{i} % 2]
    a.sum(axis=0)   a[:, 1:].T[0]   np.clip({x}, -1, 2)   np.array([{p}, {p}, {i}])   np.maximum({x}, {p})
    {x}.astype(int)   np.array([e + {p} for e in {x}])   {x}.astype(np.float32)   {x}[:]   {x}[[0, 2, 1]]
    np.abs({x})   {x} // 2   WEIGHTS   np.concatenate([{x}[:1], {x}[1:3]])   {x} if {c} else {x}   change({x}, {i})
    change({x}.copy(), {p})   np.full(3, {p})   ({x} > {p}) * 1   np.asarray({x})   np.tile({x}[:1], 3)
    np.outer({x}, {x})[1]   box.data   {x}.reshape(-1)   np.round({x}, 1)   np.minimum({x}, {x})
    (z := {x})   (y := {x})   np.full_like({x}, {i})   np.linspace(0, {i}, 3)
""")
CONDITIONS = forms("""
    {p} > {p}   {p} <= {p}   {i} == {i}   {i} != 0   0 < {p} < 3   {i} % 2 == 0   {p} > 0   {i} > 1   not {c}
    {c} and {c}   {c} or {c}   ({x} > {p}).any()   ({x} > 0).all()   {x}.sum() > {p}   {i} in xs   {i} in d
    len(xs) > 2   xs   {i}   isinstance({p}, float)   {x} is {x}   np.any({x})   box.big   np.isnan({p})   n > {i}
    {x}.shape == {x}.shape   f > {p}   all(e > 0 for e in xs)   any(e > {p} for e in {x})   np.array_equal({x}, {x})
    -1 <= {i} <= {i} < 9   bool({p})   (k := {i}) > {i}   (q := {p}) <= {p}   (y := {x}).sum() > 1
""")
STORES = forms("""
    {v}[0]   {v}[-1]   {v}[{i} % 3]   {v}[{i}]   {v}[1:]   {v}[::2]   {v}[{v} > {p}]   {v}[...]   a[{i} % 2, 1]   a[0]
    a[:, {i} % 3]   a[{i} % 2][2]   xs[-1]   xs[{i}]   d[{i} % 3]   box.n   d['key']   {v}[[0, 2]]   a[a > {p}]
    box.data[{i} % 3]   a.T[1]
""")
UPDATES = forms("""
    i *= 2   j //= 2   p *= 0.5   q /= 3   x *= 2   y /= 2   z **= 2   k %= 4   y //= 2   k -= 1   y *= x   x -= y
    z += {p}   p += {x}[0]   a += {x}   a[1] *= {p}   i <<= 1   q = -q   j = not j   p = k   i, j = j, {i}
    p, q = q, {p}   x, y = y, x   i, (p, k) = {i}, ({p}, {i})   y = z = {x}   i, *_ = [{i}, {p}, 0]
    x[0], x[-1] = x[-1], x[0]   (p, q), y = divmod({p}, 3), {x}   p, q, *_ = {x}   k, xs = len(xs), xs[:3]
""")
CHANGES = forms("""
    push(xs, {p})   push(xs, {i})   xs.pop()   xs.insert(0, {i}); del xs[4:]   xs.sort()   xs.reverse()
    xs.remove({i})   d.update({{i} % 4: {p}})   d.pop({i}, None)   d[{i} % 4] = d.get({i} % 4, 0) + 1
    xs = (xs + [{p}])[:6]   z.fill({p})   xs = [e for e in xs if e != {i}]   xs[:] = [{p}, {i}]
    y = np.append(y, {p})[-4:]   box.add({p})   change(y, {p})   count({i})   xs = [e * 2 for e in y][:5]
    np.add(y, {p}, out=y)   y.sort()   d = {e: {p} for e in range(3)}   np.random.seed({i} % 9)   d.clear()
    push(box.seen, {x})
""")
NESTED = forms("""
    w = [xs]   w = xs   w = d   w = (xs, d)   w = {'seen': box.seen, 'n': {i}}   w = [{p}, xs]   w = vars(box)
    w = [w, xs]   w = {'k': [xs, d]}   w = None   w = {i}   w = [d, {x}]   w = [y, xs]   w = box   w = (box, xs)
    w = box.seen   w = [e for e in (xs, d)]   w = xs if {c} else [xs]   w = xs[:]   w = {**d, 9: xs}   w = [*xs, d]
""")
SHOWS = forms("""
    print({i}, {p})   print('x', {x})   print(f"{{p}:.3f} {{i}}")   print(xs, d, sep=' | ')   print(p, q, end=';')
    print(a.shape, x.dtype, len(y))   print(repr({p}), str({i}))   print(type({p}).__name__)   print(box.n, *xs)
    print([{i}, {p}], {'k': {p}})
""")
TRAPS = forms("""
    assert {c}, 'no'   assert {i} < 50, {i}   check({p})   if {p} > 30: raise KeyError({i})   p = 1 / {i}
""")
RETURNS = forms("""
    return i, j, k, p, q, y, z, box   return i, p, y   return [y, z], {'x': x, 'p': q}, box.seen   print(i, j, p, y)
    return {p}, {x}, k, z   return w, xs, i   return i, [w, d, xs]   return {'w': w}, box
""")
LOOPS = forms("""
    i in range(3)   j in range({i} % 4)   k in range(min(n, 3))   i in range(2, -1, -1)   p in {x}[:3]   p in x
    q in xs[:3]   i, p in enumerate({x}[:3])   p, q in zip({x}, {x})   k, (p, q) in enumerate(zip(x, y))   y in a
    row in a   _ in range(2)   p in reversed(xs[:3])   i in reversed(range(3))   k in list(d)[:3]
    k, p in list(d.items())[:3]   i in range(len(x))   j in range(x.shape[0])   k in range(0, 6, 2)
    p in [{i}, {p}, 1]   k in (1, 2)   i, j in [(1, 2), (0, 3)]   q in a[0]   p in (e * 2 for e in xs)
    p in sorted(xs)[:3]   z in [x, y]   z in list(a)   p in map(scale, xs[:2])
""")
TESTS = ("{count} > 0", "{count}", "{count} > 0 and {c}", "{count} and {c}", "(k := {count}) > 0",
         "{count} > 0 and (q := {p}) < 9", "(j := {count})")  # fmt: skip
PATTERNS = ("0", "1 | 2", "int(k) if k > 2", "(0, p)", "(1, _)", "[i]", "[i, p]", "[]", "float()")
ERRORS = ("ValueError", "ZeroDivisionError", "IndexError", "(ValueError, TypeError)", "Exception", "KeyError",
          "ArithmeticError as e", "Exception as e", "NameError")  # fmt: skip

FORMS = {"i": INTEGERS, "p": NUMBERS, "x": VECTORS, "c": CONDITIONS}
NAMES = {"i": ("i", "j", "k"), "p": ("p", "q"), "x": ("x", "y", "z"), "c": ()}
LEAVES = {"i": ("0", "1", "2", "3", "-1", "n"), "p": ("0.5", "1.5", "-2.0", "f", "n"), "x": ("x",),
          "c": ("n > 1", "f > 1", "True")}  # fmt: skip
LOCALS = {"i": "2", "j": "0", "p": "v", "q": "v * 2", "x": "box.data.copy()", "y": "np.ones(3)", "z": "a[0]"}

ARGUMENTS = {
    "n": ("0", "1", "2", "5", "-3", "10**19", "np.int64(3)", "True"),
    "f": ("0.5", "-1.5", "2", "0.0", "np.float32(1.25)", "3.0", "np.float64(-0.0)", "float('nan')"),
    "x": ("np.array([1.0, -2.0, 3.5])", "np.array([3, 0, -1])", "np.zeros(3)", "np.arange(3, dtype=np.float32)",
          "np.array([-0.5, 2.0, 1.0])", "np.array([2, 5, 7])", "np.ones(3)", "np.array([0.0, np.inf, -1.0])",
          "np.arange(4.0)", "np.array([2.0])", "np.array([], dtype=float)", "np.array([1, 2, 3], np.int8)"),
    "a": ("np.arange(6.0).reshape(2, 3)", "np.array([[1, -1, 2], [0, 3, 4]])", "np.eye(3)[:2]",
          "np.ones((2, 3), np.float32)"),
    "xs": ("[1, 2, 3]", "[0.5, -1]", "[]", "[3]", "[2, 1.5, 0, -4]"),
    "d": ("{}", "{0: 1, 1: 2.5}", "{2: 0}", "{0: -1, 1: 1, 2: 3}"),
}  # fmt: skip


@st.composite
def arguments(draw: st.DrawFn) -> str:
    """The text of arguments for `main`."""
    return ", ".join(draw(st.sampled_from(choices)) for choices in ARGUMENTS.values())


@st.composite
def numeric_programs(draw: st.DrawFn) -> str:
    """The text of a module whose function `main(n, f, x, a, xs, d)` is to be tried."""
    return _Writer(draw, st.integers(3, 24)).program()


class _Writer(FormWriter):
    forms, names, leaves = FORMS, NAMES, LEAVES
    assigned, loops, tests, else_in, deepest = "ipxip", LOOPS, TESTS, 4, 4

    def program(self) -> str:
        scope = Scope()
        kept = self.pick("x.copy()", "x", "np.zeros(3)", "x[:]", "a[0]")
        body = ["i, j, k = n, 1, 0", "p, q = f, 0.5", f"y, z = {kept}, np.arange(3.0)", "box = Box(n)", "w = xs"]
        while self.left > 3 or len(body) < 7:
            body += self.block(scope)
        body.append(self.filled(self.pick(*RETURNS)))
        return PRELUDE + "\n\n" + "\n".join(["def main(n, f, x, a, xs, d):", *indented(body)]) + "\n"

    def some(self, forms: tuple[str, ...]) -> Lines:
        return [self.filled(self.pick(*forms))]

    # Simple statements

    def update(self, scope: Scope) -> Lines:
        return self.some(UPDATES)

    def store(self, scope: Scope) -> Lines:
        place = self.pick(*STORES).replace("{v}", self.pick(*NAMES["x"]))
        return [self.filled(f"{place} {self.pick('=', '=', '+=', '-=')} {self.pick('{i}', '{p}', '{p}')}")]

    def change(self, scope: Scope) -> Lines:
        return self.some(CHANGES)

    def nest(self, scope: Scope) -> Lines:
        return self.some(NESTED)

    def show(self, scope: Scope) -> Lines:
        return self.some(SHOWS)

    def trap(self, scope: Scope) -> Lines:
        return self.some(TRAPS)

    def doubtful(self, scope: Scope) -> Lines:
        """Bind or read a variable that may be unbound."""
        if scope.loose and self.flip():
            return [f"p = {self.pick(*scope.loose)}"]
        if not scope.nesting:
            return self.assign(scope)
        name = self.fresh("t")
        scope.loose.append(name)
        return [f"{name} = {self.expression(self.pick('i', 'p'))}"]

    def jump(self, scope: Scope) -> Lines:
        results = ["{p}", ""] if scope.inner else ["{i}, {p}, {x}", "", "{x}", "{i}, [xs], w"]
        kinds = [f"return {result}".rstrip() for result in results]
        kinds += ["break", "continue", "break", "continue"] if scope.loop else []
        kinds += ["raise", "raise"] if scope.handler else []
        return [self.filled(self.pick(*kinds, "raise ValueError('drawn', {i})"))]

    # Compound statements

    def while_(self, scope: Scope) -> Lines:
        return [*super().while_(scope), *self.loop_else(scope)]

    def needs_parentheses(self, text: str, depth: int) -> bool:
        return depth < 2 and re.search(r"[^,] ", text) is not None

    def try_(self, scope: Scope) -> Lines:
        error = self.pick(*ERRORS)
        lines = ["try:", *self.inside(scope), f"except {error}:"]
        lines += ["    print(type(e).__name__, e)"] if error.endswith(" as e") else []
        lines += self.inside(scope, handler=True)
        lines += ["else:", *self.inside(scope)] if self.flip(4) else []
        return lines + (["finally:", *indented(self.show(scope))] if self.flip(4) else [])

    def with_(self, scope: Scope) -> Lines:
        return ["with np.errstate(all='ignore'):", *self.inside(scope)]

    def match_(self, scope: Scope) -> Lines:
        lines = [self.filled(f"match {self.pick('{i}', '({i} % 2, {p})', 'xs[:2]')}:")]
        for _ in range(self.draw(st.integers(1, 2))):
            lines += indented([f"case {self.pick(*PATTERNS)}:", *self.inside(scope)])
        return lines + (indented(["case _:", *self.inside(scope)]) if self.flip() else [])

    def def_(self, scope: Scope) -> Lines:
        if scope.inner:
            return self.if_(scope)
        name, shared = self.fresh("h"), self.pick("i", "p", "q", "i, p", "y", "")
        lines = [f"def {name}(v, k=1):"] + ([f"    nonlocal {shared}"] if shared else [])
        lines += [f"    {name} = {value}" for name, value in LOCALS.items() if name not in shared]
        lines += self.block(Scope(nesting=1, inner=True))
        scope.functions.append(name)
        return [*lines, f"    return {self.pick('v', 'k', 'i', 'p')}"]

    simple = (*[FormWriter.assign] * 3, *[update] * 2, *[store] * 2, *[change] * 2, nest, show, doubtful, trap,
              FormWriter.call)  # fmt: skip
    compound = (*[FormWriter.if_] * 4, *[while_] * 2, *[FormWriter.for_] * 4, try_, with_, match_, def_)
