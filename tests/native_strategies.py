"""Loops of numbers and of elements of arrays for hypothesis to draw; all of them end.

A program is the text of a module with a function `main(n, m, f, x, y, a)`: an integer, a small one, a number, two
vectors and a matrix of some layout, dtype and length. Integers `i j k` meet the limits of 64 bits, `p q` are numbers of
any type, which may change from iteration to iteration, and `t` may be None.

What makes it end, and soon: loops have few iterations; what is multiplied is small, or wraps as NumPy's integers do.
Loops over ranges that have no end to speak of are left after a few iterations.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.drawing import FormWriter, Lines, Scope, forms, indented

PRELUDE = """\
import math

import numpy as np


def scale(v, by=2):
    if abs(v) > 10:
        return v - 7
    return v * by


def first_above(v, c):
    for at in range(len(v)):
        if v[at] > c:
            return at
    return -1
"""

# {i} stands for an integer, {p} for a number, {e} for an element, {c} for a condition, {x} for a vector.
INTEGERS = forms("""
    {i} + {i}   {i} - {i}   {i} * 3   3 * {i}   {i} // 2   {i} % 3   {i} // {i}   {i} % {i}   {i} * {i} % 97   -{i}
    abs({i})   min({i}, {i})   max({i}, 1)   max({i}, {i}, 0)   int({p})   {i} if {c} else {i}   {i} & 7   {i} | 4
    {i} ^ {i}   {i} << 2   {i} >> 1   {i} >> ({i} % 70)   1 << ({i} % 66)   ~{i}   len({x})   int({c})   int({e})
    first_above({x}, {p})   {c} or {i}   {i} and {i}   {i} ** 2 % 31   {i} // -1   {i} % -5   {i} * -1   {i} + True
    math.floor({p})   math.ceil({p})   {i} * {e}   {i} + {e}   {e} // 3   2 ** 62 + {i}   9223372036854775807 - {i}
    {i} & {i}   {x}.size   {i} % 9223372036854775808   a.ndim   bool({i})   round({p})   np.int64({i})   {i} % 1
    -9223372036854775808 + {i}   9223372036854775807 // {i}   {i} if {p} > {p} else {p}   divmod({i}, 3)[1]
    (k := {i})   (j := {i})
""")
NUMBERS = forms("""
    {i}   {p} + {p}   {p} - {p}   {p} * 0.5   {p} / 4   {p} / (abs({p}) + 1)   {p} / {p}   -{p}   abs({p})   {e}   {e}
    {e}   float({p})   {p} if {c} else {p}   ({p} > {p}) + 1   math.sqrt(abs({p}))   math.sqrt({p})   scale({p})
    scale({p}, by={i})   max({p}, {p})   min({p}, {p}, 1.5)   {p} or {p}   {c} and {p}   {p} % 2.5   {p} // 0.3
    {p} // {p}   {p} % {p}   math.sin({p})   math.exp({p})   math.log({p})   {p} ** 0.5   {p} ** 2 % 13   {e} * {e}
    {e} + {e}   {e} - {e}   {e} / {e}   {e} // {e}   {e} % {e}   {e} * {p}   {p} - {e}   math.fabs({p})   +{p}
    math.copysign({p}, {p})   math.atan2({p}, {p})   math.fmod({p}, {p})   {i} / {i}   {i} / 3   {p} * 1e300
    {e} >> 1   {e} & {e}   {e} ** 2   abs({e})   -{e}   ~{e}   not {p}   np.sqrt({p})   np.maximum({p}, {e})
    np.abs({e})   np.floor({p} * 3)   np.sin({p})   np.exp({e})   np.rint({e})   np.sign({p})   np.minimum({p}, {i})
    np.hypot({e}, {p})   np.clip({e}, -1, 2.5)   np.clip({p}, 0, {p})   np.square({e})   np.log({e})   np.add({e}, {i})
    np.multiply({e}, {e})   np.arctan2({p}, {e})   np.power({e}, 2)   {e}.item()   round({e}, 1)   np.float64({p})
    np.isnan({p}) + 1   np.floor_divide({i}, {e})   np.copysign({p}, {e})   np.trunc({p})   np.fmax({e}, 1)
    {c} + {c}   float({i})   math.pow({p}, {p})   5e-324 * {p}   np.float32({p})   math.hypot({p}, {p})
    complex({p}, 0.5)   abs({p} + 2j)   {p} * ({p} - 1j)   ({p} + 1j) / ({p} - 2j)   ({p}).conjugate()   ({p}).imag
    (q := {p})   (p := {p})   ({p} * 1j).real   ({p} + 1j) ** 2   {p} == {p} * 1j   {e}.real
""")
ELEMENTS = forms("""
    x[0]   x[-1]   y[1]   {x}[{i} % 3]   {x}[{i} % len({x})]   {x}[{i} % 3 - 1]   {x}[-({i} % 3)]   {x}[i % 2]   {x}[j]
    a[{i} % 2, {i} % 3]   a[-1, {i} % 2]   a[1, -2]   a[i % 2, j % 3]   {x}[{i}]   a[{i}, 0]   {x}[len({x}) - 1]
    {x}[min(abs({i}), 2)]   a[-({i} % 2), k % 3]   {x}[-1 - k % 3]   {x}[k % 3]   a[{i} % 2][1]   {x}[{e}]
""")
CONDITIONS = forms("""
    {p} > {p}   {p} <= {p}   {i} == {i}   {i} != 0   0 < {p} < 3   {i} % 2 == 0   {p} > 0   {i} > 1   not {c}
    {c} and {c}   {c} or {c}   {i}   {p}   {e} > {e}   {e} == {i}   {e} != {p}   {i} >= {p}   t is None   t is not None
    {p} != {p}   math.isnan({p})   {i} < 9007199254740993   {p} == 9007199254740993   {e}   {i} in (1, 2)
    isinstance({p}, float)   bool({p})   math.isfinite({p})   i < j   j <= k   {i} < len({x})   -1 <= {i} <= 4
    {e} is None   np.isnan({e})   np.isfinite({p})   np.less({p}, {e})   np.logical_and({c}, {e})
    (k := {i}) > {i}   (q := {p}) <= {p}   (p := {e}) > 1
""")
WIDE = forms("""
    {x}.sum()   np.sum({x})   {x}.max()   a[{i} % 2].sum()   ({x} > {p}).any()   np.dot({x}, {x})   {x}[1:].sum()
    ({x} + {x})[1]   np.abs({x})[0]   a.sum()   a[:, 1].mean()   ({x} * 2 - {p})[-1]   np.where({x} > 0, {x}, {p})[0]
""")
STORES = forms("""
    {x}[0]   {x}[-1]   {x}[{i} % 3]   {x}[{i} % len({x})]   {x}[i % 3]   {x}[j % 3 - 1]   {x}[k % 2]   a[{i} % 2, 1]
    a[{i} % 2, {i} % 3]   a[i % 2, j % 3]   a[-1, -({i} % 3)]   a[i % 2, -1]   {x}[-1 - i % 3]   {x}[{i}]
    a[{i} % 2][2]
""")
UPDATES = forms("""
    i *= 2   j //= 2   p *= 0.5   q /= 3   k %= 4   k -= 1   p += {e}   i <<= 1   q = -q   j = not j   p = k
    i, j = j, {i}   p, q = q, {p}   j >>= 1   x, y = y, x   t = {p}   t = None   t = {i}   t = t if {c} else None
    if t is None or {p} > t: t = {p}   if t is None: t = {p}   t = p if t is None else t + p   p = i = {i}
    i, (p, k) = {i}, ({p}, {i})   t, p = p, 1.5   i = {c}   p = {c}   p = {i}   i ^= {i}   q += 1   j += 1   k += i
    x[0], x[-1] = x[-1], x[0]   x[i % 3], y[j % 2] = {p}, {p}   i = i * 3 % 1000003   s = {i}   s += p   p = s
    {x}[i % 3] += 1
""")
WIDE_UPDATES = forms("""
    x += {p}   x = x * y + {p}   y = np.where(x > {p}, x, y) - x   p += np.sqrt(np.abs(x)).sum()   y[:] = x
    x[1:] = {p}   y = x * 2   x[:] = y + {p}   a[0] = {p}   a[1] += {i}   z = x + y
    y = np.sqrt(x)    x[{i} % 2:] *= 2   a += 1   np.add(x, 1, out=x)   y = x[::-1]   x = x.copy()
    y = x + 1   x = np.ones(len(y))   y = np.zeros_like(x)
    y = np.zeros({i} % 7)   y = np.zeros({i} % 7 - 1, np.int32)   y = np.copy(x)   x = np.zeros_like(y, bool)
    a = np.zeros((2, len(x)), 'float32')   a = a.copy()   x = np.zeros(m)
""")
SHOWS = forms("""
    print({i}, {p})   print('x', {e})   assert {c}, 'no'   assert {i} < 50, {i}   p = 1 / {i}   raise KeyError({i})
    seen.append({p})   seen.append(i)   words = f"{{p}}"
""")
RETURNS = forms("""
    return i, j, k, p, q, t, x, y, a, seen   return p, t, y is x   return i, x   return [i, j, k], p, q, t, seen
    return i, p, t, s, k
""")
LOOPS = forms("""
    i in range(m)   j in range(m)   k in range(m)   i in range(m)   j in range(len(x))   k in range({i} % 4)
    k in range(min(m, n))   i in range(m, -1, -1)   p in x   q in y   p in {x}   _ in range(m)   i in range(len(x))
    k in range(0, 2 * m, 2)   k in range(n)   i in range({i}, n)   i in range(j, 4)   j in range(i % 3, -m, -1)
    i in range(0, 4, {i})   k in range(len(x) - 1, -1, -1)   q in a[0]   j in range(a.shape[1])   i in range(len(a))
    j in range(i % 5)   k in range(1, m)   p in x[1:]   i in range(m << 60)   i in range(3)
""")
TESTS = ("{count} > 0", "{count} > 0 and {c}", "(k := {count}) > 0", "{count} > 0 and (p := {p}) < 9")
ITERATIONS = ("m", "m", "m + 1", "{i} % 4", "min(abs({i}), 3)", "min(len({x}), 5)")

FORMS = {"i": INTEGERS, "p": NUMBERS, "e": ELEMENTS, "c": CONDITIONS, "x": ("x", "y")}
NAMES = {"i": ("i", "j", "k"), "p": ("p", "q"), "e": ("x[i % 3]", "y[j % 2]", "a[i % 2, j % 3]"), "c": (),
         "x": ("x", "y")}  # fmt: skip
LEAVES = {
    "i": ("0", "1", "2", "3", "(-1)", "n", "63", "(2**63 - 1)", "(-2**63)", "m", "4"),
    "p": ("0.5", "1.5", "(-2.0)", "f", "n", "0.0", "(-0.0)", "1e308", "q", "i"),
    "e": ("x[0]", "y[-1]", "x[k % 2]"), "c": ("n > 1", "f > 1", "True", "p > q", "i < 3"), "x": ("x", "y"),
}  # fmt: skip

DTYPES = ("f8", "f8", "i8", "i8", "f4", "i4", "i1", "u1", "u8", "i2", "u4", "?", "q", ">f8", ">i4", "f2", "c16")
LAYOUTS = ("", "", "", "", "", ", step=2", ", step=-1", ", step=-3", ", offset=1", ", frozen=True", ", step=0")
FLOATS = ("0.5, -1.25, 2.5, 7", "*range(9)", "*range(-5, 28)", "1, -2, 3, 5, 0", "1e20, -0.0, 0.0, 2",
          "2, 5, 7, 1, 1, 4", "4.0", "", "float('nan'), 1, 2", "float('inf'), -1, 0, 0.25")  # fmt: skip
VALUES = {
    "f": FLOATS, "c": FLOATS, "b": ("1, 0, 1, 1", "0", "0, 1, 0, 0, 1"),
    "i": ("1, -2, 3, 5, 0", "3, 0, 1", "0, 127, 1, -128", "5, 4, 3, 2, 1, 0", "*range(9)", "*range(-9, 29, 2)", ""),
    "u": ("1, 2, 3, 5, 0", "3, 0, 1", "0, 255, 1", "5, 4, 3, 2, 1, 0", "*range(9)", "*range(35)", ""),
}  # fmt: skip
LARGE = ("2**62, -2**62, 3, 1", "2**63 - 1, -2**63, 0, -1")       # for integers of 64 bits
MATRICES = ("1, 2, 3, 4, 5, 6", "0, 1, 2, 0, 3, 4", "7, 0, 0, 1, 1, 1")
NS = ("0", "1", "2", "3", "5", "5", "-3", "2**63 - 1", "2**64", "-2**63", "np.int64(3)", "True", "np.int8(100)",
      "np.uint64(2**63)", "np.uint8(4)", "10**19", "2**62")  # fmt: skip
MS = ("3", "3", "3", "2", "4", "1", "5", "0", "np.int64(3)", "True")
FS = ("0.5", "-1.5", "2", "0.0", "-0.0", "3.0", "1e308", "5e-324", "float('nan')", "float('inf')", "np.float32(1.25)",
      "np.float64(-0.5)", "np.float64(1e200)", "True", "np.int64(7)", "2**63", "np.longdouble(1.5)", "1j")  # fmt: skip


@st.composite
def arguments(draw: st.DrawFn) -> str:
    """The text of arguments for `main`; arrays are made by `zone`, which sees what is written beside them."""

    def pick(*choices: str) -> str:
        return draw(st.sampled_from(choices))

    def array(values: str, dtype: str, rows: str = "") -> str:
        return f"zone([{values}], {dtype!r}{rows}{pick(*LAYOUTS)})"

    def vector(*dtypes: str) -> str:
        dtype = pick(*dtypes)
        return array(pick(*VALUES[np.dtype(dtype).kind], *(LARGE if dtype in ("i8", "q") else ())), dtype)

    usual = pick("f8", "i8", *DTYPES)
    x, y = vector(usual), vector(usual, usual, *DTYPES)
    both = pick(*[f"{x}, {y}"] * 4, f"*same({x})", f"*shifted({x})", f"*turned({x})")
    a = array(pick(*MATRICES), pick("f8", usual, *DTYPES), ", rows=2")
    return f"{pick(*NS)}, {pick(*MS)}, {pick(*FS)}, {both}, {a}"


class Zones:
    """Arrays in the midst of buffers, of which nothing else may be written to.

    Attributes:
        names: the functions by which the texts of `arguments` make them.
    """

    _CANARY, _ROOM = 0xA5, 128

    def __init__(self) -> None:
        self._made: list[tuple[Any, Any]] = []
        self.names = {
            "zone": self.zone,
            "same": lambda x: (x, x),
            "shifted": lambda x: (x[:-1], x[1:]),
            "turned": lambda x: (x, x[::-1]),
        }

    def zone(
        self, values: list[Any], dtype: str, *, rows: int = 0, step: int = 1, offset: int = 0, frozen: bool = False
    ) -> Any:
        """An array of these values; with a step of 0, all elements are the first."""
        found = np.array(values).astype(dtype, casting="unsafe").reshape((rows, -1) if rows else -1)
        if found.dtype.hasobject:
            return found
        size, count = found.itemsize, max(abs(step), 1) * found.size
        buffer = np.full(2 * self._ROOM + count * size + offset, self._CANARY, "u1")
        strides = tuple(step * each for each in found.strides)
        begin = self._ROOM + offset - min(0, step) * (found.size - 1) * size * bool(found.size)
        view = np.ndarray(found.shape, found.dtype, buffer, begin, strides)
        view[...] = found
        outside = np.ones(buffer.shape, bool)
        places = np.ndarray(found.shape, f"V{size}", outside, begin, strides)
        places[...] = np.zeros((), f"V{size}")
        self._made.append((buffer, outside))
        view.flags.writeable = not frozen
        return view

    def check(self) -> None:
        """Assert that nothing beside the arrays has been written to, and forget them."""
        for buffer, outside in self._made:
            assert (buffer[outside] == self._CANARY).all(), "there was written beside an array"
        self._made.clear()


@st.composite
def loops(draw: st.DrawFn) -> str:
    """The text of a module whose function `main(n, m, f, x, y, a)` is to be tried."""
    return _Writer(draw, st.integers(3, 20)).program()


class _Writer(FormWriter):
    forms, names, leaves = FORMS, NAMES, LEAVES
    assigned, loops, tests, else_in, deepest = "ipipi", LOOPS, TESTS, 6, 5

    def program(self) -> str:
        self.wide = self.flip(3)
        scope = Scope()
        counts = self.pick("n, 1, 0", "0, 0, 0", "m, 1, n")
        body = [f"i, j, k = {counts}", "p, q = f, 0.5", "t, s, left, seen = None, 0, 60, []"]
        body += self.assign(scope) if self.flip(3) else []
        while self.left > 3 or len(body) < 6:
            body += self.draw(st.sampled_from([self.while_, self.for_, self.for_]))(scope)
        body.append(self.filled(self.pick(*RETURNS)))
        return PRELUDE + "\n\n" + "\n".join(["def main(n, m, f, x, y, a):", *indented(body)]) + "\n"

    def needs_parentheses(self, text: str, depth: int) -> bool:
        return " " in text or text.startswith(("-", "~", "+"))

    def update(self, scope: Scope) -> Lines:
        choices = WIDE_UPDATES if self.wide and self.flip(3) else UPDATES
        return [self.filled(self.pick(*choices))]

    def store(self, scope: Scope) -> Lines:
        return [self.filled(f"{self.pick(*STORES)} {self.pick('=', '=', '+=', '-=')} {self.pick('{i}', '{p}', '{e}')}")]

    def show(self, scope: Scope) -> Lines:
        """What there is no machine code for; seldom outside a branch, for it keeps the whole loop in Python."""
        if self.wide and self.flip(3):
            return [self.filled(f"p = {self.pick(*WIDE)}")]
        line = self.filled(self.pick(*SHOWS))
        return [line] if self.flip(12) else [f"if {self.expression('c')}:", *indented([line])]

    def jump(self, scope: Scope) -> Lines:
        kinds = ["return {i}, {p}, x, y", "return t, {p}, a", "raise ValueError('drawn', {i})"]
        return [self.filled(self.pick(*kinds, *["break", "continue"] * (3 * scope.loop)))]

    def for_(self, scope: Scope) -> Lines:
        head, *rest = super().for_(scope)
        enough = ["    left -= 1", "    if left < 0:", "        break"]
        return [head, *(enough if re.search(r"\bn\)|<<|j, 4|in [xya]|len\(", head) else []), *rest]

    def while_(self, scope: Scope) -> Lines:
        iterations, *rest = super().while_(scope)
        return [self.filled(f"{iterations.split(' = ')[0]} = {self.pick(*ITERATIONS)}"), *rest]

    simple = (*[FormWriter.assign] * 3, *[update] * 4, *[store] * 4, show)
    compound = (*[FormWriter.if_] * 4, *[while_] * 2, *[for_] * 5)
