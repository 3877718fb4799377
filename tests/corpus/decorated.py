"""Decorated functions, partials, caches, properties: callables that are not plain functions."""

import functools
import itertools
import operator

from tests.corpus import calls


def traced(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        print("call", f.__name__, args)
        if args:
            result = f(*args, **kwargs)
        else:
            result = f(0)
        print("result", result)
        return result

    return wrapper


def repeated(times=2):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args):
            for _ in range(times):
                result = f(*args)
            return result

        return wrapper

    return decorate


@traced
@repeated(times=2)
def _square(x):
    if x < 0:
        raise ValueError(x)
    return x * x


@calls("[1, 2]", "[]", "[1, -1]")
def calls_decorated(xs):
    out = [_square()]
    for x in xs:
        out.append(_square(x))
    return out, _square.__name__, _square.__wrapped__.__wrapped__(3)


@calls("3", "0")
@traced
def decorated_itself(n):
    while n > 2:
        n -= 1
    return n


@calls("3", "-1")
@repeated(3)
@traced
def decorated_twice(n):
    if n < 0:
        raise ValueError("negative")
    for i in range(n):
        print(i)
    return i


@calls("12")
def lru_cache_in_function(n):
    asked = []

    @functools.lru_cache(maxsize=None)
    def fib(k):
        asked.append(k)
        if k < 2:
            return k
        return fib(k - 1) + fib(k - 2)

    return fib(n), len(asked), fib.cache_info().hits


@functools.lru_cache(maxsize=None)
def _ways(n, coins):
    if n == 0:
        return 1
    total = 0
    for i, c in enumerate(coins):
        if c <= n:
            total += _ways(n - c, coins[i:])
    return total


@calls("10", "0")
def cached_helper(n):
    _ways.cache_clear()
    return _ways(n, (1, 2, 5))


@calls("3")
def partials(n):
    def power(base, exponent, /, *, sign=1):
        result = sign
        while exponent > 0:
            result *= base
            exponent -= 1
        return result

    square = lambda x, **k: power(x, 2, **k)
    of_two = functools.partial(power, 2)
    minus = functools.partial(of_two, sign=-1)
    return square(n), of_two(n), minus(n), list(map(of_two, range(n))), minus.func is power


class Adder:
    def __init__(self, n):
        self.n = n
        self.called = 0

    def __call__(self, x):
        self.called += 1
        if x > self.n:
            return x
        return x + self.n

    apply = functools.partialmethod(__call__, 10)


@calls("3")
def callable_objects(n):
    add = Adder(n)
    out = []
    for i in range(5):
        out.append(add(i))
        if i == 3:
            out.append(add.apply())
    return out, add.called, list(map(add, [1, 9]))


@functools.singledispatch
def _describe(x):
    return "something"


@_describe.register
def _(x: int):
    if x < 0:
        return "negative"
    return "number"


@_describe.register(list)
def _describe_list(xs):
    return [_describe(x) for x in xs]


@calls("[1, -1, 'a', [2]]", "None")
def single_dispatch(x):
    if x:
        return _describe(x)
    return _describe(x), _describe.dispatch(list).__name__


@calls("[3, 1, 2]", "[]")
def functional_tools(xs):
    def step(acc, x):
        if x == 1:
            return acc
        return acc + x

    total = functools.reduce(step, xs, 0)
    groups = {}
    for parity, group in itertools.groupby(sorted(xs), key=lambda x: x % 2):
        groups[parity] = list(group)
    pairs = [a - b for a, b in itertools.product(xs, repeat=2) if a > b]
    taken = list(itertools.takewhile(lambda x: x > 2, xs))
    return total, groups, pairs, taken, sorted(xs, key=functools.cmp_to_key(lambda a, b: b - a))


@calls("[('b', 2), ('a', 1)]")
def operator_module(xs):
    xs.sort(key=operator.itemgetter(1))
    names = list(map(operator.itemgetter(0), xs))
    for name in names:
        if operator.eq(name, "a"):
            names = operator.add(names, [operator.methodcaller("upper")(name)])
    return xs, names


@calls("5")
def decorator_defined_inside(n):
    seen = []

    def register(kind):
        def decorate(f):
            if kind == "twice":
                seen.append(f)
            seen.append(f)
            return f
        return decorate

    for i in range(2):
        @register("twice" if i else "once")
        def f(x, i=i):
            return x + i
    return [f(n) for f in seen]


@calls("2", "0")
def class_based_decorator(n):
    class Count:
        def __init__(self, f):
            functools.update_wrapper(self, f)
            self.f, self.count = f, 0

        def __call__(self, *args):
            self.count += 1
            return self.f(*args)

    @Count
    def f(k):
        if k:
            return f(k - 1) + 1
        return 0

    return f(n), f.count, f.__name__
