"""Calls: helpers, closures, recursion, arguments of every kind, what `functools` makes."""

import functools
import math
import operator

import numpy as np

from tests.corpus_staged import _helpers, calls
from tests.corpus_staged._helpers import clip_all, positive_part
from tests.corpus_staged._more_helpers import halve_until


@calls("3", "2.5, 4", "1, 0", "np.arange(3), factor=-1")
def helper_of_another_module(x, factor=2):
    return _helpers.scale(x, factor)


@calls("[5, -5, 50]", "[]")
def helpers_by_name(xs):
    return clip_all(xs), clip_all(xs, high=6), halve_until(100, 7)


@calls("77", "3.0")
def helper_of_helper(x):
    return _helpers.through_another_module(x), _helpers.LIMIT + x


@calls("np.array([1, -2, 3])", "np.array([-0.5])")
def helper_changes_its_argument(x):
    y = positive_part(x)
    return y is x, y.sum()


@calls("3", "0")
def global_of_another_module(n):
    _helpers.calls_made = 0
    for _ in range(n):
        last = _helpers.count_call()
    return _helpers.calls_made


counter = 0


@calls("3", "0")
def global_variable(n):
    global counter
    counter = 0
    while counter < n:
        counter += 1
        if counter == 2:
            counter = n
    return counter


@calls("4", "0", "2")
def closure_counts(n):
    count = 0

    def step(by=1):
        nonlocal count
        if by > 1:
            count *= 2
        count += by
        return count

    for i in range(n):
        step(i)
    return count, step()


@calls("2, 3", "0, 1.5")
def function_made_by_function(a, b):
    def adder(n):
        return lambda x: x + n

    return adder(a)(b), adder("x")("y"), [f(10) for f in map(adder, [a, b])]


@calls("5", "0", "1")
def factorial(n):
    return 1 if n <= 1 else n * factorial(n - 1)


@calls("10", "1", "0")
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@calls("48, 18", "7, 0", "0, 0", "-4, 6")
def gcd(a, b):
    if b == 0:
        return a
    return gcd(b, a % b)


@calls("4", "0", "5", "1")
def mutual_recursion(n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    return even(n), odd(n)


@calls("3", "1", "0")
def hanoi(n):
    moves = []

    def move(k, source, target, spare):
        if k > 0:
            move(k - 1, source, spare, target)
            moves.append(source + target)
            move(k - 1, spare, target, source)

    move(n, "A", "C", "B")
    return moves


@calls("[1, [2, [3, 4]], []]", "[]", "5")
def recursion_over_structure(tree):
    if isinstance(tree, list):
        return sum(recursion_over_structure(t) for t in tree)
    return tree * 2


@calls("np.array([3, 1, 2])", "np.array([])", "np.array([1.5])")
def recursion_over_array(x):
    if len(x) <= 1:
        return x
    middle = len(x) // 2
    left, right = recursion_over_array(x[:middle]), recursion_over_array(x[middle:])
    return np.concatenate([left + 1, right])


@calls("2, 10", "3, 0", "2, 13", "1.5, 3")
def power(x, n):
    if n == 0:
        return 1
    half = power(x, n // 2)
    return half * half * (x if n % 2 else 1)


@calls("1, 2, 3", "1", "1, 2, k=4, m=5")
def star_arguments(first, *rest, k=1, **named):
    total = first * k
    for x in rest:
        total += x
    for name, value in named.items():
        total -= value
    return total, rest, named


@calls("1, 2", "1, 2, 3", "b=1, a=2", "1, c=5")
def defaults_and_keywords(a, b=10, *, c=100):
    return a + b * 2 + c * 3


@calls("5, 3", "5")
def positional_only(a, b=2, /, *, c=1):
    return a - b + c


@calls("1", "1, 2", "a=1, b=2, c=3")
def missing_argument(a, b):
    return a + b


@calls("[1, 2], {'c': 3}", "[1], {'b': 2, 'c': 0}", "[], {}")
def spread_arguments(args, kwargs):
    def f(a, b=5, c=7):
        return a * 100 + b * 10 + c

    return f(*args, **kwargs), f(0, *args)


@calls("3", "-1.5")
def with_partial(x):
    double = functools.partial(operator.mul, 2)
    clip = functools.partial(np.clip, a_min=0, a_max=2)
    below = functools.partial(max, 0)
    return double(x), clip(x), below(x), list(map(double, [x, x + 1]))


@calls("6", "0")
def with_cache(n):
    @functools.lru_cache(maxsize=None)
    def paths(k):
        if k < 0:
            return 0
        return 1 if k == 0 else paths(k - 1) + paths(k - 2)

    return paths(n)


def logged(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        print(f.__name__, args, kwargs)
        result = f(*args, **kwargs)
        print("->", result)
        return result

    return wrapper


@logged
def _weigh(x, y=1):
    return x - y if x > y else y - x


@calls("3", "-2.5")
def decorated_helper(x):
    return _weigh(x) + _weigh(x, y=x)


@calls("2.0, 1", "2, 3", "np.arange(3.0), 2")
def functions_in_a_list(x, n):
    table = [np.sqrt, np.square, lambda v: v + 1, abs]
    for f in table[:n]:
        x = f(x)
    return x, table[n](x)


@calls("0.5", "3", "np.array([0.1, 0.2])")
def compose(x):
    def then(*fs):
        return functools.reduce(lambda f, g: lambda v: g(f(v)), fs)

    return then(np.sin, np.cos, lambda v: v * 2)(x)


@calls("1.0, 2.0", "0, 0")
def higher_order(a, b):
    def apply_twice(f, x):
        return f(f(x))

    def integrate(f, low, high, n=4):
        h = (high - low) / n
        return h * sum(f(low + (i + 0.5) * h) for i in range(n))

    return apply_twice(lambda x: x * 2 + 1, a), integrate(lambda x: x * x, a, b), integrate(math.exp, a, b)


@calls("3", "0")
def mutable_default(n):
    def remember(x, seen=[]):
        seen.append(x)
        return len(seen)

    return [remember(i) for i in range(n)]


@calls("[3, 1, 2]")
def operator_functions(xs):
    return (operator.add(xs[0], xs[1]), operator.itemgetter(1)(xs), sorted(xs, key=operator.neg),
            functools.reduce(operator.xor, xs), operator.methodcaller("count", 1)(xs))  # fmt: skip


@calls("3", "1")
def late_binding(n):
    fs = []
    for i in range(n):
        fs.append(lambda x: x * i)
    return [f(10) for f in fs]


@calls("5, 2", "2, 5")
def inner_function_with_early_return(x, y):
    def compare(a, b):
        if a > b:
            return 1
        if a < b:
            return -1
        return 0

    order = compare(x, y)
    if order > 0:
        return "greater", compare(y, x)
    return "less", order


@calls("10, 3", "9, 3", "1, 0")
def several_results(a, b):
    def divide(p, q):
        return p // q, p % q

    quotient, remainder = divide(a, b)
    while remainder > 0:
        a, b = b, remainder
        quotient, remainder = divide(a, b)
    return quotient, b


@calls("np.arange(4.0)", "np.array([])")
def arrays_captured(x):
    total = np.zeros(1)

    def visit(v):
        total[0] += v
        return total[0] > 3

    for v in x:
        if visit(v):
            break
    return total


OFFSETS = np.array([1.0, 2.0, 3.0])


@calls("np.zeros(3)", "1", "np.zeros(2)")
def global_array(x):
    return x + OFFSETS, OFFSETS.sum()


SETTINGS = {"rate": 0.5, "steps": 3}


@calls("1.0", "8")
def global_settings(x):
    for _ in range(SETTINGS["steps"]):
        x -= SETTINGS["rate"] * x
    return x


def _counted(x):
    _counted.calls = getattr(_counted, "calls", 0) + 1
    return x * _counted.calls


@calls("2.0", "np.arange(3)")
def function_attributes(x):
    def inner(y):
        inner.last = y
        return inner.last + 1

    vars(_counted).clear()
    return _counted(x), _counted(x), inner(x), inner.last


@calls("5, 1", "0, 1", "0, -1")
def callee_returns_what_may_be_unbound(n, k):
    def last(n):
        for i in range(n):
            found = i * k
        return n, found

    return last(n)[1] + last(n + 1)[0]


@calls("np.array([0.5, 2.0, 3.0])", "np.zeros(0)", "[1.0, 2, 3]", "[]", "(1.0, 2.0)", "np.ones((2, 2, 2))",
       "np.array(2.0)", "{'a': 1}", "'ab'", "range(3)")  # fmt: skip
def reduced(xs):
    scaled = []
    for x in xs:
        scaled.append(x * 2)

    def step(total, x):
        print(x)
        return total * x + 1 if np.sum(x) > 1 else total

    return (functools.reduce(step, xs, 1), functools.reduce(operator.add, scaled), functools.reduce(operator.mul, xs),
            functools.reduce(lambda a, b: (a[0] + b, a[1] + 1), xs, (0, 0)),
            functools.reduce(lambda a, b: [*a, b], xs, []),
            functools.reduce(lambda a, b: a + b, (x * x for x in xs)))  # fmt: skip


@calls("[1.5, 0.0]", "[]", "[2.0, 1]", "np.array([1, 2])")
def reduced_by_division(xs):
    return functools.reduce(lambda a, b: 1 // b / a, xs)


def _counted_arguments(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print(len(args), *kwargs)
        if {"scale", "factor"} <= kwargs.keys():
            raise TypeError("scale is factor")
        if "scale" in kwargs:
            kwargs["factor"] = kwargs.pop("scale")
        return function(*args, **kwargs)

    return wrapper


@calls("2.0", "2.0, 3", "2.0, factor=np.arange(3)", "x=1, scale=4", "1, scale=4, factor=3", "")
@_counted_arguments
def wrapped_with_other_parameters(x, factor=2):
    return x * factor if factor is not None else x


def _times(x, k):
    return x * k


@calls("functools.partial(_times, k=2), 2.0", "functools.partial(_times, k=3), np.arange(3)")
def partial_handed_on(g, x):
    return operator.methodcaller("__call__", x)(g), list(map(g, [x, x + 1]))


@calls("[_times, math.sin, 3, 2.5]", "[]", "[np.arange(3), float, 'a']")
def documentation(things):
    found = [(thing.__doc__ or "").strip()[:20] for thing in things]
    for thing in things:
        if hasattr(thing, "__module__"):
            found.append(thing.__module__)
    return found
