"""Programs for hypothesis to draw whose variables change kind: None, a text or a tuple at first, and then a number.

They are those of gradient_strategies.py, with two *slots* besides: places that hold something of another kind at first,
in a local variable, an item, an attribute, a global and so on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import strategies as st

from tests import gradient_strategies
from tests.drawing import Lines, Scope, forms, indented

PRELUDE = gradient_strategies.PRELUDE + '''

GLOBAL = None


class Cell:
    step = None

    def __init__(self, y=None):
        self.y = y

    def put(self, v):
        self.y = v if self.y is None else self.y * 0.5 + v
        return self.y

    @property
    def twice(self):
        return self.y * 2


def maybe(v, k):
    if k > 0:
        return v * 0.5


def either(v, k):
    for i in range(k):
        if i > 0:
            return v * i
    return ""


def or_else(v, w):
    return w if v is None else v


def numbers(v, k):
    for i in range(k):
        yield v * (i + 1)


def use(v, w):
    return v * w + 0.5
'''


@dataclass(frozen=True)
class Slot:
    """A place for something: how it is made, read and written."""

    made: str
    read: str
    written: str


PLACES = tuple(
    Slot(*map(str.strip, line.split("|")))
    for line in """
    {name} = {first}                       | {name}           | {name} = {value}
    {name}s = [{first}]                    | {name}s[0]       | {name}s[0] = {value}
    {name}s = [{first}, p]                 | {name}s[-2]      | {name}s[i * 0] = {value}
    {name}s = {{'p': {first}}}             | {name}s['p']     | {name}s['p'] = {value}
    {name}s = {{}}; {name}s['p'] = {first} | {name}s.get('p') | {name}s.update(p={value})
    {name}s = Cell({first})                | {name}s.y        | {name}s.y = {value}
    {name}s = Cell({first})                | {name}s.y        | setattr({name}s, 'y', {value})
    {name}s = ({first}, 2.0)               | {name}s[0]       | {name}s = ({value}, {name}s[1])
    {name}s = [[{first}], 0.5]             | {name}s[0][0]    | {name}s[0][0] = {value}
    {name}s = {{'q': Cell({first})}}       | {name}s['q'].y   | {name}s['q'].y = {value}
    {name} = {first}                       | read_{name}()    | {name} = {value}
    {name} = {first}                       | {name}           | write_{name}({value})
    GLOBAL = {first}                       | GLOBAL           | GLOBAL = {value}
    """.strip().splitlines()
)
FIRST = forms("""
    None   None   None   ''   'text'   ()   0   False   1.5   []   {}   np.ones(2)   np.ones((2, 2))   F32(1)   p   x
    [p]   Cell()   range(2)   b''   1j   np.arange(3)
""")
# {s} stands for what is in a slot, {w} for a statement's beginning that writes to it.
VALUES = forms("""
    {p}   {p}   {p}   {p} * {p}   {x}   {x}.sum()   {p} + {i}   maybe({p}, {i})   either({p}, {i} % 3)   {x} * {p}   {i}
    ({s}, {p})[1]   or_else({s}, {p})   {a}   np.array([{p}, 0.5])   {p} if {c} else None   {p} if {c} else {s}
    {i} % 2   down({p}, {i} % 3)   Cell({p}).y   next(iter([{p}]))   min({p}, {p})   [{p}, {p}][{i} % 2]   F32({p})
    {p} or {s}   {s} or {p}
""")
ODD = forms("""
    None   ''   ()   f'{{{p}}}'   str({p})   [{p}]   ({p}, {p})   'text'   np.ones(2)   {{'a': {p}}}   False
""")
USES = forms("""
    p = {s} * {s}   p = {s} + {p}   p += {s}   p = max({s}, 0.1)   p = math.sin({s})   p = [{s}, p][0]   p = use({s}, q)
    q = np.sum({s} * {p})   p = use({p}, {s})   p = {s} if {c} else p   q = ({s}, p)[{i} % 2] * 0.5   p *= {s}
    p = {p} if {s} is None else {s}   x = x * {s}   y = {s} + y   p = np.sum({s})   q = -{s}   p = {s} ** 2
    p = abs({s})   p = float({s})   q = np.tanh({s})   p = sum([{s}, p])   y[0] = {s}   xs[0] = {s}   d['u'] = {s}
    box.n = {s}   p = np.maximum({s}, 0.1)   q = {s} / 2   q = np.where({c}, {s}, p)   p = or_else({s}, p)
    q = np.asarray({s}).sum()   p, q = {s}, p   q = (lambda e: e * {s})(p)   p = np.mean({s})   q = {s} @ x
    if {s}: p = {s} * 2.0   if {s} is not None: p = {s} * p   q = np.sum(np.array([{s}, p]))
    q = sum(e * {s} for e in xs)   q = len(str({s})) * p   p = float(str({s}))   xs.append({s}); p = xs.pop()
    p = {s} if isinstance({s}, float) else p   q = round({s}, 3) * p   p = {s} - {s} * 0.5   q = np.dot({s}, 2.0)
    q = {s}[0] * p   q = np.sum({s}[-1])   p = np.float64({s})   q = {s} > 0 and p or q   q = ({s} > 0.1) * p
""")
# What a slot is set to, so that it can be changed in place then, and how.
UPDATES = {
    "{p}": forms("{s} += {p}   {s} *= {p}   {s} -= {x}   {s} **= 2   {s} /= 2"),
    "{x} * 0.5": forms("{s}[0] = {p}   {s}[0] *= {p}   {s}[:] = {p}   {s} += {p}   {s}.fill({p})   {s}[{i} % 2] = {p}"),
    "[{p}, {p}]": forms("{s}[0] = {p}   {s}[-1] += {p}   {s}.append({p})   {s} += [{p}]   {s}.reverse()"),
}
ITERATORS = forms("""
    it = iter(xs); p = next(it); q = sum(it)   it = iter([p, q, r]); q = next(it) * next(it)
    p = next(iter({x}))   it = iter(x); next(it); p = sum(it)   it = zip(xs, x); p, q = next(it)
    it = enumerate(x); k, p = next(it); k, q = next(it)   it = reversed(xs); p = next(it)   p = sum(numbers({p}, 3))
    it = numbers({p}, 3); q = next(it); p = sum(it)   it = (e * {p} for e in x); p = next(it) + next(it)
    q = list(map(scale, xs))[0]   p = next((e for e in x if e > {p}), p)   xs = list(reversed(xs))
    p = sum(e * f for e, f in zip(xs, reversed(xs)))   q = next(iter(d.values())) * 0.5   k, p = max(enumerate(x))
    xs = [e for e in iter(xs)]   it = map(scale, x); p = next(it); q = max(it)   p, *zs = iter(x); q = sum(zs)
""")
LISTS = forms("""
    zs = [None] * 3; zs[{i} % 3] = {p}; p = sum(z for z in zs if z is not None)   zs = [None, {p}]; p = zs[1] * zs[-1]
    zs = []; zs.append({p}); zs.append(None); p = zs[0]   zs = ['', {p}, ()]; zs[0] = {p}; q = zs[0] + zs[1]
    zs = {{'a': None}}; zs['a'] = {p}; p = zs['a']   zs = [[], {p}]; zs[0].append({p}); q = zs[0][0] * zs[1]
    cell = Cell(); p = cell.put({p}); q = cell.put({p})   cell = Cell({p}); cell.y = cell.twice; p = cell.y
    zs = {{'a': {p}, 'b': None}}; q = zs['a'] if zs['b'] is None else q   zs = (None, {p}); p = zs[1]
    zs = [None, None]; zs[:] = [{p}, {p}]; q = zs[1]   zs = np.array([None, {p}]); q = zs[1] * 2
    zs = dict.fromkeys('ab'); zs['b'] = {p}; p = zs['b']   cell = Cell(); cell.next = Cell({p}); p = cell.next.y
""")
LOOPS = gradient_strategies.LOOPS + forms("""
    i in range(n)   i in range(n)   k in range({i} % 4)   p in iter(xs)   k, p in enumerate(iter(x))
    q in numbers({p}, n)   p, q in zip(iter(xs), x)   z in (x, y)   p in (xs[0], {p})
""")


@st.composite
def programs(draw: st.DrawFn) -> str:
    """The text of a module whose function `main(n, p, x, a, xs)` is to be differentiated."""
    return _Writer(draw, st.integers(2, 12)).program()


class _Writer(gradient_strategies.Writer):
    loops = LOOPS
    slots: list[Slot]

    def program(self) -> str:
        self.slots, made = [], ["global GLOBAL"]
        for name in ("s", "t")[: self.draw(st.integers(1, 2))]:
            place = self.draw(st.sampled_from(PLACES))
            fill = {"name": name, "first": self.filled(self.pick(*FIRST), 1), "value": "{value}"}
            self.slots.append(Slot(*(part.format(**fill) for part in (place.made, place.read, place.written))))
            unbound = place.made == "{name} = {first}" and self.flip(6)
            made += ["if n > 99: s = t = 1"] if unbound else self.slots[-1].made.split("; ")
            made += [f"def read_{name}():", f"    return {name}"] if "read_" in place.read else []
            write = [f"def write_{name}(v):", f"    nonlocal {name}", f"    {name} = v"]
            made += write if "write_" in place.written else []
        body = ["i, j, k = n, 1, 0", "q, r = p * 0.5, 0.5", "y, z = x * 2, np.arange(3.0)", "b, ys = a * 0.5, [x]"]
        body += ["d = {'u': q, 'v': y}", "t_ = (p, y)", "box = Box(q)", *made]
        body = [line.replace("t_ =", "t =") if "t" not in [s.made[0] for s in self.slots] else line for line in body]
        start = len(body)
        while self.left > 0 or len(body) < start + 3:
            body += self.block(Scope())
        body += self.use(Scope()) if self.flip() else []
        body.append(self.filled(self.pick("return {s}", "return {s} * p", "return p + q * r + np.sum(x * y)",
                                          "return p * q + box.n + d['u']", "return np.sum({s}) + p",
                                          "return use({s}, p)", "return or_else({s}, p) * 1.0")))  # fmt: skip
        return PRELUDE + "\n\n" + "\n".join(["def main(n, p, x, a, xs):", *indented(body)]) + "\n"

    def filled(self, form: str, depth: int = 1) -> str:
        while "{s}" in form:
            form = form.replace("{s}", self.draw(st.sampled_from(self.slots)).read, 1)
        return super().filled(form, depth)

    def written(self, value: str) -> Lines:
        slot = self.draw(st.sampled_from(self.slots))
        return [slot.written.replace("{value}", self.filled(value))]

    def write(self, scope: Scope) -> Lines:
        return self.written(self.pick(*VALUES))

    def write_odd(self, scope: Scope) -> Lines:
        return self.written(self.pick(*ODD)) if self.flip() else self.write(scope)

    def use(self, scope: Scope) -> Lines:
        return self.filled(self.pick(*USES)).split("; ")

    def update(self, scope: Scope) -> Lines:
        """Something is changed in place that may be a number, an array or a list."""
        slot, value = self.draw(st.sampled_from(self.slots)), self.pick(*UPDATES)
        change = self.pick(*UPDATES[value]).replace("{s}", slot.read)
        if re.search(r"\) \S*= ", change):
            return self.use(scope)      # no call is assigned to
        return [slot.written.replace("{value}", self.filled(value)), self.filled(change)]

    def iterate(self, scope: Scope) -> Lines:
        return self.filled(self.pick(*ITERATORS, *LISTS)).split("; ")

    def write_in_loop(self, scope: Scope) -> Lines:
        head = self.pick("for i in range(n):", "for row in a:", "for i, e in enumerate(x):", "for p in xs:")
        lines = self.write(scope) + (self.use(scope) if self.flip(3) else [])
        if self.flip(4):
            lines = [f"if {self.expression('c', 1)}:", *indented(lines)]
        if self.flip(5):
            jump = self.filled(self.pick("break", "continue", "return {s}"))
            lines += [f"if {self.expression('c', 1)}:", f"    {jump}"]
        return [head, *indented(lines)]

    def guarded(self, scope: Scope) -> Lines:
        head = self.pick("with np.errstate(all='ignore'):", "try:")
        lines = [head, *indented(self.write(scope) + self.use(scope))]
        return lines + ["finally:", "    k = 0"] * (head == "try:")

    simple = (
        *[write] * 6, write_odd, *[use] * 3, *[update] * 2, iterate, gradient_strategies.Writer.assign,
        gradient_strategies.Writer.update, gradient_strategies.Writer.change,
    )  # fmt: skip
    compound = (*[write_in_loop] * 4, guarded, *gradient_strategies.Writer.compound)
