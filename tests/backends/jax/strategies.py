"""Programs of numbers, arrays and containers, drawn from a seed, for JAX; all of them end.

A program is the text of a module with a function `main(n, b, p, x, y, m)`: an integer, a bool, a number, two vectors of
four elements and a matrix of four rows. It uses only what NumPy and JAX both have. Its variables keep to their kind
(integers `i j k`, numbers `p q`, vectors `x y z`, …), for JAX cannot change a kind as Python does.

What makes it end: loops have few iterations. What makes it comparable: its numbers stay small, mostly multiples of a
power of two, so that no test depends on how a sum is rounded.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from tests.drawing import forms, indented

Lines = list[str]

HELPERS = {
    "scale": """
def scale(v, by=2.0):
    if v > 2.0:
        return v - by
    return v * 0.5
""",
    "fill": """
def fill(v, c):
    v[:2] = c
    v[3] += 1.0
    return v
""",
    "first_above": """
def first_above(v, c):
    for at in range(len(v)):
        if v[at] > c:
            return at
    return -1
""",
    "total": """
def total(v):
    s = 0.0
    for e in v:
        if e < 0:
            continue
        s += e
    return s
""",
    "halve_rows": """
def halve_rows(a, by):
    for row in a[1:]:
        row[:] = row * by
""",
    "swap": """
def swap(pair):
    pair[0], pair[1] = pair[1], pair[0]
""",
    "halved": """
def halved(v, depth):
    if depth == 0:
        return v
    return halved(v * 0.5, depth - 1)
""",
    "check": """
def check(v):
    if v > 6.0:
        raise ValueError("too large")
    return v
""",
    "Box": """
class Box:
    def __init__(self, n, data):
        self.n, self.level, self.data = n, 0.5, data

    def add(self, v):
        if v > 0:
            self.n += 1
            self.level = v
        self.data[1] = v
        return self.level

    @property
    def high(self):
        return self.level > 1.0
""",
    "Pair": """
@dataclass
class Pair:
    v: object
    w: float
""",
}

# NumPy itself errs at some stores of a column into a row: what is stored into `m` is no view of it, hence `* 1.0`.
# {i} stands for an integer, {p} for a number, {x} for a vector, {c} for a condition, {v} for a variable with a vector.
INTEGERS = forms("""
    {i} + 1   {i} - {i}   {i} * 3 % 7   ({i} + {i}) % 19   {i} // 2   {i} % 3   -{i}   abs({i})   min({i}, {i})
    max({i}, 1)   {i} if {c} else {i}   {i} & 3   {i} | 4   {i} ^ {i}   ~{i}   len({x})   {x}.shape[0]   {i} >> 1
    first_above({x}, {p})   {x}.argmax()   sum(1 for e in {x} if e > {p})   counts[{i} % 3]   box.n   jnp.argmin({x})
    len([e for e in (1, 2, 3) if e > 1])   (k := {i})   max({i}, {i}, 0)   ({x} > {p}).sum()   {i} % 5 - 1
""")
NUMBERS = forms("""
    {p} + {p}   {p} - {p}   {p} * 0.5   {p} / 4   -{p}   abs({p})   x[0]   {x}[-1]   {x}[{i} % 4]   {x}.sum()
    jnp.sum({x})   {x}.max()   {x}.min()   jnp.minimum({p}, 2.0)   max({p}, {p})   min({p}, {p})   {p} if {c} else {p}
    xs[1]   xs[{i} % 3]   d['a']   box.level   scale({p})   scale({p}, by=1.5)   total({x})   sum(xs)   m[0, 1]
    m[{i} % 4, {i} % 4]   m.sum() / 16   jnp.dot({x}, {x}) / 64   {x} @ {x} / 64   (q := {p})
    jnp.clip({p}, -2.0, 2.0)   sum((e for e in {x} if e > {p}), 0.0)   sum([e * 0.5 for e in {x}])
    jnp.where({c}, {p}, 1.0)   halved({p}, 2)   m[{i} % 4][1]   parts[0][1]   d['v'][{i} % 4]   pair.w   pair.v[2]
    box.add({p})   {p} * {i} / 4   {x}[1:3].sum()   max(e for e in {x})   min([{p}, {p}, 1.5])   {p} or 1.5
    {i} * 0.5   m.T[2, 1]   box.data[{i} % 4]   check({p})   (lambda e: e - 1.0)({p})   m.max()   m[{i} % 4].sum()
    m[:, 1].max()   jnp.floor({p})   parts[{i} % 2][0]
""")
VECTORS = forms("""
    {x} + {x}   {x} - {x}   {x} * 0.5   {x} + {p}   {p} - {x}   {x} * {x} / 8   {x}[::-1]   -{x}   {x}.copy()   {x}[:]
    jnp.where({x} > {p}, {x}, {x})   jnp.abs({x})   jnp.zeros(4)   jnp.ones_like({x})   jnp.full(4, {p})
    jnp.sort({x})   jnp.cumsum({x}) / 4   jnp.roll({x}, 1)   m[1]   m[{i} % 4]   m[:, 1]   m[:, {i} % 4]   m.T[0]
    m.T[{i} % 4]   m.reshape(-1)[4:8]   m.sum(axis=0) / 4   jnp.array([{p}, {p}, 1.0, {p}])
    jnp.concatenate([{x}[:2], {x}[2:]])   jnp.maximum({x}, {p})   jnp.clip({x}, -2.0, 2.0)   {x} if {c} else {x}
    box.data   parts[0]   parts[1]   d['v']   pair.v   fill({x}, {p})   fill({x}.copy(), {p})
    jnp.array([e + {p} for e in {x}])   {x}.reshape(2, 2).reshape(4)   {x}.ravel()   jnp.asarray({x})
    jnp.stack([{x}, {x}])[1]   {x}.reshape(2, 2).T.reshape(-1)   parts[{i} % 2]   jnp.diag(m)
    {x}[jnp.array([0, 2, 1, 3])]   (z := {x})   jnp.concatenate([{x}[1:], {x}[:1]])   {x} * (1 if b else 2)
""")
CONDITIONS = forms("""
    {p} > {p}   {p} <= {p}   {i} == {i}   {i} != 0   0.0 < {p} < 2.0   {i} % 2 == 0   not {c}   {c} and {c}
    {c} or {c}   ({x} > {p}).any()   ({x} > 0).all()   jnp.any({x} > {p})   {x}.sum() > {p}   {i} > 1   {i} in (1, 2)
    box.high   any(e > {p} for e in {x})   all(e < {p} for e in {x})   -1 <= {i} <= {i} < 9   {x}.shape == {x}.shape
    n > {i}   {p} == {p}   {p} != {p}   {i}   bool({p} > 1)   len({x}) > 3   any([e > 1.0 for e in xs])
    {x}[{i} % 4] > {p}   (q := {p}) > 0.5   {c} if {c} else b   d['a'] > {p}   jnp.all({x} == {x})   {x} is {x}
""")
STORES = forms("""
    {v}[0]   {v}[-1]   {v}[{i} % 4]   {v}[1:]   {v}[::2]   {v}[{v} > {p}]   {v}[...]   {v}[:]   m[{i} % 4, 1]   m[0]
    m[:, {i} % 4]   m[{i} % 4][2]   m[1][{i} % 4]   xs[-1]   xs[0]   d['a']   box.level   box.data[{i} % 4]   m.T[1]
    parts[0][1]   parts[{i} % 2][0]   d['v'][2]   pair.v[0]   m.T[0, 2]   m.reshape(-1)[5]   m[1:, 2]   pair.w
    {v}[::-1][0]   {v}[1:][1]   m[m > {p}]   {v}[jnp.array([0, 2])]   {v}.reshape(2, 2)[1, 0]   m[{i} % 4, {i} % 4]
    {v}[-1 - {i} % 3]
""")
WIDE_STORES = forms("""
    {v}[:] = {x}   {v}[...] = {x}   m[0] = {x} * 1.0   m[:, 1] = {x} * 1.0   {v}[:2] = {x}[2:]   {v}[1:] = {x}[:-1]
    {v}[::2] = {x}[:2]   box.data[:] = {x}   m[{i} % 4] = {x} * 1.0   {v}[:] += {x}   m[1] -= {x}   m.T[2] = {x} * 1.0
    m[1:] = m[:-1]   parts[0][:] = {x}   m[:2, :2] = m[2:, 2:]   {v}[1:3] *= 0.5   m[:, :2] *= 0.5   d['v'][:] = {x}
    m[...] = m.T   m[2, 1:] = {x}[:3]
""")
UPDATES = forms("""
    i += 1   j -= 1   k //= 2   p *= 0.5   q -= 0.5   q = -q   i, j = j, i   p, q = q, {p}   x, y = y, x   y = z = {x}
    i, (p, k) = {i}, ({p}, {i})   x[0], x[-1] = x[-1], x[0]   p, q, *_ = {x}   z = y   y = x   box.data = {x}
    parts[0] = {x}   d['v'] = {x}   d['a'] = {p}   pair.v = {x}   box.n += 1   box.level *= 0.5   p, _, q, _ = {x}
    xs = [e + 1.0 for e in xs]   x[0], y[1] = y[1], x[0]   xs = [q, *xs[:2]]   xs[0], xs[1] = xs[1], xs[0]   i %= 5
    x = x + y   m = m * 0.5   m = m.T   z = m[{i} % 4]   counts[{i} % 3] += 1   counts[1] = {i}
    row = m[1]; row[0] = {p}   w = m.T; w[1, 0] = {p}   v = x[1:3]; v[0] = {p}   parts = [y, z]   d = {**d, 'a': {p}}
    j = i   q = p   first, *rest = xs; q = first
""")
CALLS = forms("""
    fill({v}, {p})   box.add({p})   halve_rows(m, {i} % 2 / 2)   swap(parts)   swap(xs)   fill(m[{i} % 4], {p})
    fill(m[0], 1.5)   fill(box.data, {p})   fill({v}[::-1], {p})   fill(m[:, 1], {p})   fill(d['v'], {p})
    fill(parts[1], {p})   check({p})   box.data[1] = scale({p})   fill(pair.v, {p})
""")
SHOWS = forms("""
    print({i}, {p})   print('x', {x})   print({c})   print(f"{{p}:.3f} {{i}}")   print(i, p, sep=' | ')   print(xs)
    print('at', {i}, end=';')
""")
TRAPS = forms("""
    assert {c}, 'no'   assert {i} < 6   check({p})   if {p} > 3.0: raise KeyError('large')
    if {c}: raise ValueError('odd')
""")
LOOPS = forms("""
    i in range(3)   j in range({i} % 4)   k in range(2, -1, -1)   i in range(len(x))   p in x   q in {x}   q in xs
    i, p in enumerate(x)   p, q in zip(x, y)   p in reversed(x)   i in reversed(range(3))   row in m
    i, row in enumerate(m)   part in parts   key in d   i in (1, 2)   p in x[:3]   _ in range(2)
    j in range(1, {i} % 3 + 1)   k in range(0, 4, 2)   i, (p, q) in enumerate(zip(x, y))   row, p in zip(m, x)
    k in range({i} % 3, -1, -1)   column in m.T   q in y[::-1]   i, j in [(1, 2), (0, 3)]   k, q in enumerate(xs)
    p in [{p}, {p}]
""")
USES = forms("""
    row[{i} % 4] = {p}   row[0] += {p}   p += row.sum() / 4   row *= 0.5   z = row   y = y + row   row[:] = {x}
""")
APPENDED = forms("""
    z = jnp.array(out)   p = sum(out)   q = out[-1]   j = len(out)   p = max(out)   y = jnp.stack(out)
    q = out[{i} % 4]
""")
TESTS = ("{count} > 0", "{count} > 0 and {c}", "{c} and {count} > 0", "(k := {count}) > 0")
COUNTS = ("3", "2", "{i} % 4", "{i} % 3 + 1", "min(abs({i}), 3)")

FORMS: dict[str, Sequence[str]] = {"i": INTEGERS, "p": NUMBERS, "x": VECTORS, "c": CONDITIONS}
NAMES: dict[str, Sequence[str]] = {"i": ("i", "j", "k"), "p": ("p", "q"), "x": ("x", "y", "z"), "c": ("b",)}
LEAVES: dict[str, Sequence[str]] = {"i": ("0", "1", "2", "n"), "p": ("0.5", "1.5", "(-2.0)"), "x": ("x",),
                                    "c": ("b", "n > 1")}  # fmt: skip
STATE = {
    "m": "", "xs": "xs = [p, 0.5, x[1]]", "d": "d = {'a': p * 0.5, 'v': y.copy()}", "parts": "parts = [x, y * 0.5]",
    "box": "box = Box(n, jnp.zeros(4))", "pair": "pair = Pair(x, 1.5)", "counts": "counts = [0, 1, n]",
}  # fmt: skip
SEEN = {"box": "box.n, box.level, box.data", "pair": "pair.v, pair.w"}
STATE_NAME = re.compile(rf"(?<!['.])\b({'|'.join(STATE)})\b(?!')")


class Program:
    """One program.

    Args:
        seed: what it is drawn from.

    Attributes:
        text: that of the module, on JAX.
        raises: whether it may raise on purpose.
    """

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.left = self.random.randint(3, 9)
        self.counter = 0
        self.loose: list[str] = []
        self.state = [name for name in STATE if self.random.random() < (0.5 if name == "m" else 0.3)]
        self.prints, self.raises = self.flip(4), self.flip(6)
        self.returned = ", ".join(["i, j, k, p, q, x, y, z", *(SEEN.get(name, name) for name in self.state)])
        kept = self.pick("x.copy()", "x", "jnp.zeros(4)", "y * 2", "x[:]", "x[::-1]")
        begin = ["i, j, k = n, 1, 0", "q = 0.5", f"z = {kept}", *(STATE[name] for name in self.state if STATE[name])]
        body = [*begin, *self.statements(0, 2 if self.left < 5 else 3)]
        while self.left > 0:
            body += self.statement(0)
        body.append(f"return {self.returned}")
        main = "\n".join(["def main(n, b, p, x, y, m):", *indented(body)])
        used = [name for name in HELPERS if re.search(rf"\b{name}\b", main)]
        begin = ["from dataclasses import dataclass\n"] * ("Pair" in used) + ["import jax.numpy as jnp\n"]
        begin += ["import autograph as ag\n"] * ("ag." in main)
        self.text = "\n\n".join([*begin, *(HELPERS[name][1:] for name in used), main, ""])

    # Choices

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def flip(self, one_in: int = 2) -> bool:
        return self.random.randrange(one_in) == 0

    def fresh(self, root: str) -> str:
        self.counter += 1
        return f"{root}{self.counter}"

    def some(self, choices: Sequence[str], depth: int = 1) -> str:
        """One of the forms that use no state but this program's, filled with expressions of some depth."""
        while True:
            form = self.random.choice(choices)
            if set(STATE_NAME.findall(form)) <= set(self.state) and ("check" not in form or self.raises):
                return self.filled(form, depth)

    # Expressions

    def expression(self, kind: str, depth: int = 2) -> str:
        if depth == 0 or self.flip(3):
            return self.pick(*NAMES[kind], *NAMES[kind], *LEAVES[kind])
        text = self.some(FORMS[kind], depth - 1)
        return f"({text})" if re.search(r"[^,] |^[-~]", text) else text

    def filled(self, form: str, depth: int = 1) -> str:
        form = form.replace("{v}", self.pick(*NAMES["x"]))
        text = re.sub(r"\{([ipxc])\}", lambda found: self.expression(found[1], depth), form)
        return text.replace(":=", "<=") if " for " in form else text

    # Statements

    def statements(self, nesting: int, count: int, loop: bool = False) -> Lines:
        lines: Lines = []
        for _ in range(self.random.randint(1, count)):
            lines += self.statement(nesting, loop)
        return lines

    def block(self, nesting: int, loop: bool = False) -> Lines:
        return indented(self.statements(nesting + 1, 2, loop))

    def statement(self, nesting: int, loop: bool = False) -> Lines:
        self.left -= 1
        if nesting and self.flip(7):
            return self.jump(loop)
        simple = [self.assign, self.assign, self.update, self.store, self.store, self.wide, self.call]
        simple += [self.doubtful] if nesting or self.loose else []
        simple += [self.show] * self.prints + [self.trap] * self.raises
        if self.left > 0 and nesting < 3 and self.flip():
            compound = [self.if_, self.if_, self.for_, self.for_, self.while_, self.collect]
            return self.random.choice(compound)(nesting, loop)
        return self.random.choice(simple)()

    def assign(self) -> Lines:
        kind = self.pick("i", "p", "p", "x")
        sign = "=" if kind == "x" else self.pick("=", "=", "+=")
        return [f"{self.pick(*NAMES[kind])} {sign} {self.expression(kind)}"]

    def update(self) -> Lines:
        return self.some(UPDATES).split("; ")

    def store(self) -> Lines:
        return [f"{self.some(STORES)} {self.pick('=', '=', '+=', '-=')} {self.expression('p', 1)}"]

    def wide(self) -> Lines:
        return [self.some(WIDE_STORES)]

    def call(self) -> Lines:
        return [self.some(CALLS)]

    def show(self) -> Lines:
        return [self.some(SHOWS)]

    def trap(self) -> Lines:
        return self.some(TRAPS).replace(": raise", ":\n    raise").split("\n")

    def doubtful(self) -> Lines:
        """Bind or read a variable that may be unbound."""
        if self.loose and self.flip():
            return [f"p = {self.pick(*self.loose)}"]
        self.loose.append(name := self.fresh("t"))
        return [f"{name} = {self.expression('p')}"]

    def jump(self, loop: bool) -> Lines:
        shorter = self.returned.replace("i, j", f"{self.expression('i', 1)}, j", 1)
        return [self.pick(*["break", "continue"] * 2 * loop, f"return {self.pick(self.returned, shorter)}")]

    def if_(self, nesting: int, loop: bool) -> Lines:
        lines = [f"if {self.expression('c')}:", *self.block(nesting, loop)]
        if self.flip(3):
            lines += [f"elif {self.expression('c')}:", *self.block(nesting, loop)]
        return lines + (["else:", *self.block(nesting, loop)] if self.flip() else [])

    def while_(self, nesting: int, loop: bool) -> Lines:
        count = self.fresh("c")
        lines = [f"{count} = {self.filled(self.pick(*COUNTS))}"]
        if self.flip(4):
            lines += ["while True:", f"    if {count} <= 0:", "        break"]
        else:
            lines += [f"while {self.filled(self.pick(*TESTS).replace('{count}', count))}:"]
        return [*lines, f"    {count} -= 1", *self.block(nesting, True), *self.loop_else(nesting, loop)]

    def for_(self, nesting: int, loop: bool) -> Lines:
        head = self.some(LOOPS)
        body = self.block(nesting, True)
        if self.flip() and re.search(r"range|zip|enumerate\(\w\)|in x|in y|in m", head) and "xs" not in head:
            body.insert(0, "    ag.set_loop_options(unroll=False)")
        lines = [f"for {head}:", *body]
        for name in ("row", "part", "column"):
            if re.match(rf".*\b{name}\b.* in ", head):
                at = self.random.choice([1 + ("ag." in lines[1]), len(lines)])
                lines.insert(at, "    " + self.some(USES).replace("row", name))
        if head.startswith("key"):
            lines.append(self.filled("    q = q + d['a'] if key == 'a' else q"))
        return lines + self.loop_else(nesting, loop)

    def loop_else(self, nesting: int, loop: bool) -> Lines:
        return ["else:", *self.block(nesting, loop)] if self.flip(4) else []

    def collect(self, nesting: int, loop: bool) -> Lines:
        """A loop of fixed length that appends."""
        out = self.fresh("out")
        head, value = self.random.choice([("e in x", "e"), ("e in y", "q"), ("at in range(4)", "x[at]"),
                                          ("at, e in enumerate(x)", "e * at")])  # fmt: skip
        body = [*self.statements(3, 1), f"{out}.append({value} + {self.expression('p', 1)})"]
        return [f"{out} = []", f"for {head}:", *indented(body), self.some(APPENDED).replace("out", out)]


ARGUMENTS = (
    (0, False, 0.5, [1.0, -2.0, 3.5, 0.25], [0.5, 1.5, -1.0, 2.0]),
    (3, True, -1.5, [-0.5, 2.0, 1.0, -3.0], [2.0, -0.5, 0.0, 1.0]),
    (-2, True, 2.25, [0.0, 0.0, 4.0, 1.0], [-1.0, -2.0, -3.0, -0.5]),
)
MATRICES = [[[(3 * row + 5 * at + shift) % 7 / 2 - 1.5 for at in range(4)] for row in range(4)] for shift in range(3)]

