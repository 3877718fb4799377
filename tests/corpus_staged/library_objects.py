"""Objects of Python's and NumPy's own classes, whose contents a trace cannot see: dates, fractions, matrices, …"""

import functools  # noqa: F401
import operator  # noqa: F401
import types  # noqa: F401
from array import array
from collections import Counter, deque  # noqa: F401
from datetime import date, timedelta  # noqa: F401
from decimal import Decimal
from fractions import Fraction

import numpy as np

from tests.corpus_staged import calls


class Numbers(list):
    def total(self):
        return sum(self)


class Signal(np.ndarray):
    rate = 1

    def energy(self):
        return float((np.asarray(self) ** 2).sum())


class Box:
    def __init__(self, content):
        self.content = content


@calls("Fraction(1, 2)", "Fraction(1, 3)", "Decimal(1)", "Decimal(3)", "timedelta(1)", "timedelta(2)")
def doubled(x):
    return x + x, x == x, bool(x), type(x).__name__


@calls("date(2000, 2, 27), 2", "date(2001, 2, 27), 2", "date(2000, 2, 27), 3", "None, 1")
def days_later(day, n):
    if day is None:
        return "never"
    for _ in range(n):
        day += timedelta(days=1)
    return day.isoformat(), day.year


@calls("[Fraction(1), Fraction(2)]", "[Fraction(3), Fraction(2)]", "[]")
def sum_of_fractions(xs):
    total = Fraction(0)
    for x in xs:
        total += x
    return total


@calls("array('i', [1, 2])", "array('i', [3, 4])", "memoryview(b'ab')", "memoryview(b'cd')", "bytearray(b'ab')")
def buffers(x):
    return x[0], len(x), [v + 1 for v in x], np.sum(x), np.asarray(x)


@calls("np.matrix([[1, 2], [3, 4]])", "np.matrix([[1, 2], [3, 5]])", "np.ma.array([[1, 2], [3, 4]], mask=np.eye(2))")
def kinds_of_arrays(m):
    return m * m, m.T, m[0], np.sum(m), np.asarray(m)


@calls("np.arange(3.0).view(Signal)", "np.ones(2).view(Signal)", "np.arange(2)")
def derived_arrays(x):
    signal = np.asarray(x).view(Signal)
    return (x + 1).sum(), type(x[1:]).__name__, signal.energy(), signal.rate


@calls("Numbers([1, 2])", "Numbers([3])", "Numbers([0.5])")
def derived_list(xs):
    return xs.total(), xs[0], len(xs), [x * 2 for x in xs]


@calls("np.poly1d([1, 2]), 3", "np.poly1d([3, 4]), 3", "functools.partial(pow, 2), 3", "functools.partial(pow, 3), 3")
def callables(f, x):
    return f(x)


@calls("operator.itemgetter(0)", "operator.itemgetter(1)", "[7, 5].index, [(5, 5)]")
def sorted_by(key, pairs=((2, 1), (1, 2))):
    return sorted(pairs, key=key) if len(pairs) == 2 else key(pairs[0][0])


@calls("deque([1, 2]), 3", "deque([4, 5]), 3")
def queue(waiting, value):
    waiting.append(value)
    first = waiting.popleft()
    return first, len(waiting), waiting


@calls("types.SimpleNamespace(a=1)", "types.SimpleNamespace(a=2.5)")
def namespace(names):
    names.a += 1
    names.b = names.a * 2
    return names.a


@calls("Counter('xy')", "Counter('xyyy')")
def counted(counter):
    counter["x"] += 2
    return counter.most_common(1), counter["z"]


@calls("Box(Fraction(1, 2))", "Box(Fraction(1, 3))", "Box(array('i', [1, 2]))", "Box(array('i', [3, 2]))")
def held_by_an_object(box):
    return box.content + box.content


@calls("Box(np.matrix([[1, 2]]))", "Box(np.matrix([[3, 4]]))")
def matrix_of_an_object(box):
    return box.content.sum(), box.content[0, 1]


_shared = array("i", [1, 2])


@calls("1", "2", "3")
def shared_buffer(n):
    global _shared
    _shared[0] = 5
    result = _shared[0] + n
    _shared[0] = n
    return result, _shared[0] * n


MISSING = object()


@calls("", "object()", "MISSING", "None")
def sentinel(x=MISSING):
    return x is MISSING


@calls("list(range(40)), None", "list(range(40)), list(range(50))")
def whole_or_none(xs, weights):
    if weights is None:
        return sum(xs)
    return sum(x * w for x, w in zip(xs, weights))


@calls("Fraction(1, 2)", "2", "2.5", "Decimal(2)")
def of_which_class(x):
    if isinstance(x, Fraction):
        return x.numerator
    if isinstance(x, (int, Decimal)):
        return x * 2
    return "float"
