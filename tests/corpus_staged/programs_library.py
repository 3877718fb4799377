"""Programs with exceptions, operators, iterators, and much of the standard library."""

import cmath
import contextlib
import functools
import itertools
import math
import operator
import statistics
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from decimal import Decimal
from fractions import Fraction

import numpy as np  # noqa: F401

from tests.corpus_staged import calls


def memoize(f):
    cache = {}

    @functools.wraps(f)
    def inner(*args):
        if args not in cache:
            cache[args] = f(*args)
        return cache[args]

    inner.cache = cache
    return inner


@memoize
def slow_square(n):
    return n * n


@calls("4", "0", "1.5", "2**40")
def memo_decorated(n):
    return slow_square(n) + slow_square(n)


def trace_calls(prefix):
    def decorator(f):
        @functools.wraps(f)
        def inner(*args, **kwargs):
            print(prefix, f.__name__, args, kwargs)
            return f(*args, **kwargs)

        return inner

    return decorator


@trace_calls(">")
def scaled(x, *, by=2):
    return x * by


@calls("3", "1.5", "np.int64(2)")
def logging_decorated(x):
    return scaled(x) + scaled(x, by=x)


@calls("3", "0", "10")
def gen_squares(n):
    def squares():
        i = 0
        while i < n:
            yield i * i
            i += 1

    return sum(squares()), list(squares()), max(squares(), default=-1)


@calls("4, 0", "4, 2", "0, 1.5", "'a', 1")
def divide(a, b):
    try:
        result = a / b
    except ZeroDivisionError:
        print("division by zero!")
        result = None
    except TypeError as e:
        return str(e)
    else:
        result += 1
    finally:
        print("done")
    return result


@calls("'12'", "'x'", "''", "'1.5'")
def parse(text):
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError as e:
            raise RuntimeError("cannot parse " + repr(text)) from e


@calls("[1, 2, 3], 1", "[1], 5", "{}, 1", "{1: 2}, 1")
def lookup(container, key):
    try:
        return container[key]
    except (IndexError, KeyError) as e:
        return type(e).__name__, e.args


@calls("3", "-1", "0")
def assertion(n):
    assert n >= 0, f"n must be >= 0, not {n}"
    assert n
    return n**0.5


class Timer:
    def __init__(self):
        self.log = []

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, kind, value, tb):
        self.log.append(kind.__name__ if kind else "out")
        return kind is ValueError


@calls("3", "-1", "0")
def with_statement(n):
    with Timer() as t:
        if n < 0:
            raise ValueError("negative")
        n = 10 // n
    return n, t.log


@calls("3", "-1")
def with_suppress(n):
    with contextlib.suppress(ZeroDivisionError):
        return 1 / (n + 1)
    return "suppressed"


total_calls = 0


@calls("1", "2.5", "0")
def global_counter(n):
    global total_calls
    total_calls = 0
    for i in range(3):
        total_calls += n
    return total_calls


@calls("1", "1, 2", "1, 2, 3, c=4", "1, b=2.5", "x=3, a=1")
def args_kwargs(a, b=10, *rest, c=0, **more):
    return a + b + sum(rest) + c, rest, more


@calls("1, key=2", "1", "1, 2")
def keyword_only(a, *, key):
    return a * key


@calls("1, 2", "1", "1, b=3")
def positional_only(a, /, b=2):
    return a - b


@calls("1", "[5]")
def mutable_default(x, acc=None, seen=[]):
    seen.clear()
    if acc is None:
        acc = []
    acc.append(x)
    seen.append(len(acc))
    return acc, seen


class Temperature:
    def __init__(self, celsius):
        self._c = celsius

    @property
    def fahrenheit(self):
        return self._c * 9 / 5 + 32

    @fahrenheit.setter
    def fahrenheit(self, f):
        self._c = (f - 32) * 5 / 9

    @classmethod
    def from_kelvin(cls, k):
        return cls(k - 273.15)

    @staticmethod
    def is_freezing(c):
        return c <= 0


@calls("25", "-10.5", "0")
def properties(c):
    t = Temperature(c)
    f = t.fahrenheit
    t.fahrenheit = f + 1
    return f, t._c, Temperature.from_kelvin(300)._c, Temperature.is_freezing(c)


class Vec:
    def __init__(self, *xs):
        self.xs = xs

    def __add__(self, other):
        if not isinstance(other, Vec):
            return NotImplemented
        return Vec(*(a + b for a, b in zip(self.xs, other.xs)))

    def __rmul__(self, k):
        return Vec(*(k * x for x in self.xs))

    def __neg__(self):
        return -1 * self

    def __eq__(self, other):
        return isinstance(other, Vec) and self.xs == other.xs

    def __hash__(self):
        return hash(self.xs)

    def __getitem__(self, i):
        return self.xs[i]

    def __iter__(self):
        return iter(self.xs)

    def __contains__(self, x):
        return x in self.xs

    def __repr__(self):
        return f"Vec{self.xs}"

    def __matmul__(self, o):
        return sum(a * b for a, b in zip(self, o))

    def __lt__(self, other):
        return self @ self < other @ other

    def __call__(self, t):
        return [x * t for x in self.xs]

    def __len__(self):
        return len(self.xs)


@calls("1, 2", "0.5, -1", "0, 0")
def operators(a, b):
    v = Vec(a, b) + 2 * Vec(b, a)
    print(v, -v)
    return v @ v, v == Vec(a, b), a in v, v[0], list(v), v(2), len(v), min(v, Vec(1, 1))


@calls("1", "2.5")
def operator_type_error(a):
    return Vec(a) + a


class Shape:
    def area(self):
        raise NotImplementedError

    def describe(self):
        return f"{type(self).__name__} of area {self.area():.2f}"


class Circle(Shape):
    def __init__(self, r):
        self.r = r

    def area(self):
        return math.pi * self.r**2


class Square(Shape):
    def __init__(self, side):
        super().__init__()
        self.side = side

    def area(self):
        return self.side * self.side


@calls("1, 2", "0, 1.5")
def polymorphism(r, s):
    shapes = [Circle(r), Square(s)]
    biggest = max(shapes, key=lambda sh: sh.area())
    return [sh.describe() for sh in shapes], type(biggest).__name__


@calls("2")
def abstract(n):
    return Shape().area() * n


class Counter2:
    instances = 0

    def __init__(self):
        type(self).instances += 1
        self.n = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.n >= 3:
            raise StopIteration
        self.n += 1
        return self.n


@calls("1", "2.5")
def iterator_class(k):
    Counter2.instances = 0
    return [x * k for x in Counter2()], Counter2.instances


class Money(int):
    def __add__(self, other):
        return Money(int(self) + int(other))


@calls("5", "0")
def int_subclass(n):
    return Money(n) + 3, type(Money(n) + 3).__name__


@calls("Fraction(1, 3), 3", "Fraction(1, 2), 0")
def fractions(f, n):
    total = Fraction(0)
    for i in range(1, n + 1):
        total += f / i
    return total, float(total)


@calls("1, 3", "2, 4", "1, 0")
def fractions_made(a, b):
    f = Fraction(a, b)
    return f + 1, f.numerator, f.limit_denominator(10)


@calls("'1.10', 3", "'0', 1")
def decimals(text, n):
    return Decimal(text) * n, Decimal(n) / 3


@calls("[1, 2, 3, 4]", "[1.5]", "[]")
def stats(xs):
    return statistics.mean(xs), statistics.median(xs), statistics.pstdev(xs)


@calls("1 + 2j", "3", "0", "-1.0")
def complex_numbers(z):
    return z * 1j, abs(z), cmath.sqrt(z), z == z.conjugate(), z.real, cmath.phase(z)


@calls("[3, 1, 2], 2", "[], 1")
def itertools_use(xs, k):
    return (
        list(itertools.accumulate(xs)),
        list(itertools.islice(itertools.count(k), 3)),
        list(itertools.chain(xs, [k])),
        list(itertools.takewhile(lambda x: x > k, xs)),
        list(itertools.pairwise(xs)),
        list(itertools.zip_longest(xs, [1], fillvalue=k)),
        list(itertools.starmap(pow, [(k, 2)])),
        list(itertools.compress(xs, [1, 0, 1])),
    )


@calls("[3, 1, 2], 2", "[1.5], 1")
def functools_use(xs, k):
    add = functools.partial(operator.add, k)
    return (
        functools.reduce(lambda a, b: a * b + k, xs, 1),
        list(map(add, xs)),
        sorted(xs, key=functools.cmp_to_key(lambda a, b: b - a)),
    )


@calls("[3, 1, 2, 3], 2", "[], 1")
def collections_use(xs, k):
    c = Counter(xs)
    c[k] += 1
    d = defaultdict(list)
    for x in xs:
        d[x % 2].append(x)
    q = deque(xs, maxlen=2)
    q.appendleft(k)
    return c, dict(d), list(q), ChainMap({1: k}, {2: 3})[1], OrderedDict(a=k)
