"""Sequences of calls for hypothesis to draw: of objects that are shared, aliased, bound anew and patched in between.

A sequence is the text of a module, and steps. The module has classes, helpers, objects and two drawn functions
`f(a, b, xs, ys, d, it, n)` and `g` of the same parameters: two objects, two lists, a dict, an iterator, an integer.
A step is a statement. Most steps call one of the functions; others let two names stand for one object, bind names
anew, move iterators on, or patch a class. A call may get one object for two parameters.

Every sequence ends: lists stop growing at seven items, numbers are reduced, `while` loops count down from three.
"""

from __future__ import annotations

from typing import ClassVar

from hypothesis import strategies as st

from tests.drawing import FormWriter, Lines, Scope, forms, indented

PRELUDE = '''\
import itertools
from dataclasses import dataclass, field
from unittest import mock

G = 1
LIMITS = [3, 1]
TOTALS = {"k": 2}


class Meta(type):
    def tag(cls):
        return 4


class Base(metaclass=Meta):
    K = 2

    def m(self, k):
        return self.n + k

    def kind(self):
        return 0


class Box(Base):
    def __init__(self, n):
        self.n, self.items, self.next = n, [n, 1], None

    @property
    def p(self):
        return self.n * 2

    @staticmethod
    def s(k):
        return k + 1

    @classmethod
    def c(cls):
        return cls.K

    def __len__(self):
        return len(self.items)

    def __add__(self, other):
        return self.n + other

    def __call__(self, k):
        return k - self.n

    def __contains__(self, k):
        return k in self.items

    def __iter__(self):
        return iter(self.items)


class Sub(Box):
    def kind(self):
        return 1


class Other(Base):
    K = 6
    p = 3
    c = s = __call__ = lambda self, k=0: k + 8

    def __init__(self, n):
        self.n, self.items, self.next = n, [4], None

    def __len__(self):
        return 2

    def __add__(self, other):
        return other

    def __iter__(self):
        yield from self.items


@dataclass
class Data:
    n: int
    items: list = field(default_factory=list)
    next: object = None
    p: int = 5

    def m(self, k):
        return k

    kind = c = s = __call__ = lambda self, k=1: k

    def __len__(self):
        return len(self.items)

    def __add__(self, other):
        return self.n - other

    def __iter__(self):
        return iter(self.items)


def push(xs, k):
    if len(xs) < 7:
        xs.append(k)


def first(it, k=2):
    for e in it:
        if e > k:
            return e
    return -1


def helper(a, k=1):
    return a.n + k


def other_helper(a, k=3):
    a.n = k
    return k


def bump(k):
    global G
    G = (G + k) % 9
    return G


p, q, r = Box(2), Sub(3), Data(1, [5])
u, v, w = [1, 4, 2], [3], []
d, e = {}, {"k": 1, 0: 2}
i, j = iter([1, 5, 2, 6]), iter(u)
'''

INTEGERS = forms("""
    {i} + {i}   {i} - {i}   {i} * 3 % 17   -{i}   min({i}, {i})   {i} if {c} else {i}   len({l})   {l}[-1]   {l}[0]
    {o}.n   {o}.n   {o}.p   {o}.m({i})   {o}.s({i})   {o}.c()   {o}.K   len({o})   {o} + {i}   {o}({i})   {o}.kind()
    next({t}, -1)   next({t})   sum({t})   first({t}, {i})   len(list({t}))   d.get('k', 0)   d['k']   len(d)
    G   LIMITS[0]   LIMITS[-1]   len(LIMITS)   TOTALS['k']   bump({i})   helper({o})   helper({o}, {i})   sum({l})
    max({l}, default=0)   {o}.items[0]   sum({o}.items)   len({o}.items)   {l}.count({i})   sum(e for e in {o})
    type({o}).K   type({o}).tag()   min({t}, default=0)   {l}.pop()   sum(k * 2 for k in {l})   int({c})
    {o}.next.n   getattr({o}, 'n', 0)   len(sorted({t}))   sum(k for k, _ in zip({t}, {l}))
""")
CONDITIONS = forms("""
    {i} > {i}   {i} > 1   {i} == {i}   n > 2   {i} % 2   {l} is {l}   {o} is {o}   {o}.items is {l}
    {o}.items is {o}.items   {o}   {l}   d   {i} in {o}   {i} in {t}   {i} in {l}   any(e > {i} for e in {t})
    all(e < {i} for e in {t})   isinstance({o}, Sub)   isinstance({o}, Box)   {o} == {o}   not {c}   {c} and {c}
    {c} or {c}   {o}.next is None   {o}.next is {o}   {l} == {l}   'k' in d   d is TOTALS   {l} is LIMITS
    hasattr({o}, 'next')   type({o}) is Box   {i} in d
""")
LISTS = forms("""
    {o}.items   {o}.items   [{i}, {i}]   {l} + [{i}]   {l}[:3]   {l} if {c} else {l}   list({t})   [e for e in {l}]
    [e + {i} for e in {o}]   sorted({l})   LIMITS   {o}.items[1:]   {l} or {o}.items
""")
OBJECTS = forms("""
    {o} if {c} else {o}   {o}.next or {o}   Box({i})   Sub({i})   Data({i}, {l})
""")
ITERATORS = forms("""
    iter({l})   zip({l})   reversed({l})   map(abs, {t})   (k + 1 for k in {t})   iter({o})   itertools.islice({t}, 2)
    itertools.chain({l}, {t})   filter(None, {t})   iter(range({i} % 5))   itertools.accumulate({t})
""")
CHANGES = forms("""
    push({l}, {i})   push({o}.items, {i})   {o}.items = {l}   {o}.items = {l}   {o}.n = {i} % 97   {o}.n += 1
    {o}.n = ({o}.n + {i}) % 97   d['k'] = {i}   d[{i} % 3] = {i}   d.pop('k', None)   xs, ys = ys, xs   ys = xs
    ys = {l}   xs = {l}   a, b = b, a   a = {o}   {o}.next = {o}   {o}.next = None   del {l}[:1]   {l}.sort()
    {l}.clear()   {l}[0] = {i}   {l}[:] = [{i}]   {l}.reverse()   {o}.items, {o}.items = {o}.items, {l}
    b.items += [{i}]; del b.items[7:]   xs += [{i}]; del xs[7:]   ys.extend({l}[:2]); del ys[7:]
    it = {t}   jt = {t}   jt = it   next({t}, None)   other_helper({o}, {i} % 9)   bump({i})
    LIMITS[0] = {i} % 9   TOTALS['k'] = {i}   print({i}, {l})   print({c})   d.update(k={i})   {o}.extra = {i}
    xs.insert(0, {i}); xs.pop()
""")
LOOPS = forms("""
    k in {t}   k in {t}   k in {l}   k in {o}   k in {o}.items   k in range({i} % 5)   m, k in enumerate({t})
    k, m in zip({t}, {l})   m, k in zip({l}, {t})   k in list(d)[:3] if 0 in d else {l}   k in reversed({l})
    k in {l}[:3]   k in map(abs, {t})   k, m in zip({t}, {t})   _ in range(3)   k in sorted({l})
""")
RETURNS = forms("""
    return {i}   return {l}   return {o}   return {l}, {o}.items   return [{l}, {l}], {i}   return {t}
    return xs, ys, a, b   return k, {i}   return {c}, {o}.next   return {'l': {l}}, d
""")
PATCHES = forms("""
    Box.p = property(lambda self: self.n + 10)   Box.p = 5   Sub.p = property(lambda self: -1)   del Sub.p
    Box.m = lambda self, k: k - 1   Sub.m = lambda self, k: k * 2   Base.m = lambda self, k: self.n   del Sub.m
    Box.s = staticmethod(lambda k: k * 3)   Box.s = lambda self, k: self.n - k   Box.c = classmethod(lambda cls: 11)
    Box.c = staticmethod(lambda: 12)   Box.__len__ = lambda self: 1   Sub.__len__ = lambda self: 0   del Sub.__len__
    Box.__bool__ = lambda self: self.n > 2   Box.__eq__ = lambda self, other: self.n == other.n   del Box.__eq__
    Box.__add__ = lambda self, other: 20 + other   Box.__call__ = lambda self, k: 30   Base.kind = lambda self: 9
    Box.__contains__ = lambda self, k: k > 1   Box.__iter__ = lambda self: iter((7, 8))   Base.K = 13   Sub.K = 14
    del Sub.K   Box.K = 15   Meta.tag = lambda cls: 16   Sub.__bases__ = (Other,)   Sub.__bases__ = (Box,)
    Sub.kind = lambda self: 5   p.__class__ = Sub   q.__class__ = Box   p.__class__ = Other   p.m = lambda k: 42
    del p.m   q.K = 17   Data.m = lambda self, k: self.n * k   Data.p = property(lambda self: 18, lambda self, n: None)
    Box.__getattr__ = lambda self, name: 19   del Box.__getattr__   Other.p = property(lambda self: len(self.items))
    Box.n = property(lambda self: 2, lambda self, n: None)   del Box.n   Box.__setattr__ = object.__setattr__
    helper.__defaults__ = (4,)   helper = other_helper   helper = lambda a, k=2: k   first.__defaults__ = (0,)
    helper.__code__ = other_helper.__code__   Base.s = staticmethod(lambda k: 21)   del Box.s   Box.kind = Sub.kind
""")
BINDINGS = forms("""
    p.items = q.items   q.items = u   r.items = p.items   u = v   v = u   u = [1, 4, 2]   v = []   w = u   u.append(4)
    w = [5, 0, 2, 8, 3]   p = q   p = Box(2)   q = Sub(3)   r = Data(1, u)   p.next = q   q.next = p   r.next = r
    q.next = None   d = e   d = {}   e = {'k': 3}   d['k'] = 5   d[0] = 1   e[1] = 7   i = iter(u)
    i = iter([5, 1, 4, 2])   i = iter(p.items)   i = (k * 2 for k in u)   i = map(abs, [1, -3, 2])   i = reversed(v)
    i = iter(range(5))
    i = j   j = i   next(i, None)   list(i)   j = iter(u)   i = itertools.chain(u, [2])   i = iter(())   G = 7   G = 2.5
    LIMITS = [0, 1]   LIMITS = u   LIMITS[0] += 1   TOTALS = e   TOTALS = {'k': 4}   TOTALS['k'] = 6   u.clear()
    del u[:1]   p.n = 7   p.n = 1.5   q.n += 1   p.extra = 3   del p.extra   u[:] = [2, 2]   i = filter(None, [0, 3, 4])
    p.items = [p.n, 6]   i = iter((3, 1, 2))   i = iter({4: 0, 1: 1, 7: 2})   w = p.items   u = p.items
""")
MOCKS = forms("""
    mock.patch.object(Box, 'p', new_callable=mock.PropertyMock, return_value=31)
    mock.patch.object(Box, 'm', return_value=32)   mock.patch.object(Box, 'c', return_value=33)
    mock.patch.object(Box, 's', lambda k: 34)
    mock.patch.object(Base, 'kind', lambda self: 35)   mock.patch.dict(TOTALS, k=36)   mock.patch.object(p, 'n', 37)
    mock.patch.object(Box, '__len__', lambda self: 3)   mock.patch.dict(d, {'k': 38})   mock.patch.object(Box, 'K', 39)
""")
CALLS = {
    "a": ("p", "q", "r", "p"), "b": ("p", "q", "r"), "xs": ("u", "v", "w", "p.items"), "ys": ("u", "v", "q.items"),
    "d": ("d", "e", "TOTALS"), "it": ("i", "j", "iter(u)", "iter([4, 2, 9])"), "n": ("0", "1", "2", "3", "5", "2.5"),
}  # fmt: skip


@st.composite
def sequences(draw: st.DrawFn) -> tuple[str, list[str]]:
    """The text of a module with functions `f` and `g`, and steps."""
    text = PRELUDE + "".join(_Writer(draw, st.integers(1, 4)).function(name) for name in "fg")
    steps: list[str] = []
    for _ in range(draw(st.integers(4, 12))):
        steps.append(_step(draw, [step for step in steps if step[:2] in ("f(", "g(")]))
    return text, steps


def _step(draw: st.DrawFn, calls: list[str]) -> str:
    """A step; `calls` are those so far, of which some are made again."""
    kind = draw(st.sampled_from(("call", "call", "again", "again", "bind", "patch", "result", "mock")))
    if kind in ("bind", "patch"):
        return draw(st.sampled_from(BINDINGS if kind == "bind" else PATCHES))
    if kind == "again" and calls:
        return draw(st.sampled_from(calls))
    call = f"{draw(st.sampled_from('ffg'))}({', '.join(draw(st.sampled_from(each)) for each in CALLS.values())})"
    if kind == "mock":
        return f"with {draw(st.sampled_from(MOCKS))}:\n    {call}"
    return f"u = {call}; u = u if isinstance(u, list) else [3, 1]" if kind == "result" else call


class _Writer(FormWriter):
    forms = {"i": INTEGERS, "c": CONDITIONS, "l": LISTS, "o": OBJECTS, "t": ITERATORS}
    names: ClassVar = {"i": ("n",), "c": (), "l": ("xs", "ys"), "o": ("a", "b"), "t": ("it",)}
    leaves: ClassVar = {
        "i": ("0", "1", "2", "n", "len(xs)"), "c": ("n > 1", "xs is ys", "n"), "l": ("xs",), "o": ("a",),
        "t": ("it", "jt"),
    }  # fmt: skip
    assigned, loops, tests, else_in, deepest = "i", LOOPS, ("{iterations} > 0", "{iterations} > 0 and {c}"), 4, 3

    def function(self, name: str) -> str:
        body = ["k = 0", "jt = iter(ys)"]
        while self.left > 0:
            body += self.block(Scope(nesting=0))
        body.append(self.filled(self.pick(*RETURNS)))
        return "\n\n" + "\n".join([f"def {name}(a, b, xs, ys, d, it, n):", *indented(body)]) + "\n"

    def needs_parentheses(self, text: str, depth: int) -> bool:
        return " " in text or text.startswith("-")

    def change(self, scope: Scope) -> Lines:
        return [self.filled(self.pick(*CHANGES))]

    def assign(self, scope: Scope) -> Lines:
        return [self.filled(f"k = {self.expression('i')}")]

    def jump(self, scope: Scope) -> Lines:
        loops = ["break", "break", "continue"] if scope.loop else []
        return [self.filled(self.pick(*loops, "return {i}", "return {l}", "raise ValueError({i})"))]

    def stop(self, scope: Scope) -> Lines:
        """A jump under a condition, as loops over iterators have it."""
        return [f"if {self.expression('c')}:", *indented(self.jump(scope))]

    simple: ClassVar = (change, change, change, assign)
    compound: ClassVar = (FormWriter.if_, FormWriter.for_, FormWriter.for_, FormWriter.while_, stop)
