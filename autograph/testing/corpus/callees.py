"""Called functions, closures, lambdas, methods, and recursion to a static depth."""

from autograph.testing.corpus import calls


def clip(x, low=0.0, high=1.0):
    if x < low:
        return low
    if x > high:
        return high
    return x


@calls("0.5", "-2.0", "7.0")
def returns_early(x):
    return clip(x) * 2


@calls("5.0")
def with_keywords(x):
    return clip(x, high=3.0) + clip(-x, low=-2.0)


def digits(n):
    count = 1
    while n >= 10:
        n = n // 10
        count += 1
    return count


@calls("5, 123", "1000, 99")
def has_a_loop(a, b):
    return digits(a) * 10 + digits(b)


@calls("3", "0")
def called_in_a_loop(n):
    total = 0
    for i in range(n):
        total += digits(i * 50)
    return total


@calls("3.0", "-3.0")
def closure(x):
    def scaled(y):
        return y * x if y > 0 else y

    return scaled(2.0) + scaled(-x)


@calls("4", "0")
def closure_with_nonlocal(n):
    count = 0

    def add(value):
        nonlocal count
        if value % 2 == 0:
            count += value

    for i in range(n):
        add(i)
    return count


@calls("3", "-3")
def lambdas(x):
    choose = lambda a, b: a if a > b else b  # noqa: E731
    return choose(x, 1) + choose(2, x)


def power(x, exponent):
    if exponent == 0:
        return 1.0
    half = power(x, exponent // 2)
    return half * half * x if exponent % 2 else half * half


@calls("2.0", "-1.5")
def recursion(x, exponent=5):
    return power(x, exponent)


def adaptive(x, depth):
    if depth == 0:
        return x
    if x > 1:
        return adaptive(x / 2, depth - 1) + 1
    return adaptive(x * 3, depth - 1)


@calls("5.0", "0.1")
def recursion_in_branches(x, depth=3):
    return adaptive(x, depth)


def is_even(n, x):
    return x if n == 0 else is_odd(n - 1, x + 1)


def is_odd(n, x):
    return -x if n == 0 else is_even(n - 1, x + 1)


@calls("2.0")
def mutual_recursion(x):
    return is_even(4, x), is_odd(4, x)


@calls("3.0")
def functions_as_values(x):
    for apply in (clip, abs, lambda y: y - 5):
        x = apply(x) + 2
    return x


class Linear:
    def __init__(self, slope, offset):
        self.slope, self.offset = slope, offset

    def __call__(self, x):
        return self.slope * x + self.offset

    def positive(self, x):
        return self(x) if self(x) > 0 else 0.0


@calls("2.0, 3.0", "-2.0, 3.0")
def methods(x, y):
    line = Linear(x, 1.0)
    return line(y), line.positive(y)


def total(*numbers, start=0):
    for number in numbers:
        start += number if number > 0 else 0
    return start


@calls("1, -2, 3")
def starred(a, b, c):
    return total(a, b, *(c, a), start=b)


@calls("np.array([3.0, 1.0, 2.0])")
def array_to_a_callee(xs):
    def largest(items):
        best = items[0]
        for item in items:
            if item > best:
                best = item
        return best

    return largest(xs) - largest(-xs)
