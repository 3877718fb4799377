"""`while`."""

from autograph.testing.corpus import calls


@calls("5", "0", "-2")
def countdown(n):
    steps = 0
    while n > 0:
        n = n - 1
        steps += 1
    return n, steps


@calls("6", "27", "1")
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@calls("48, 36", "17, 5")
def greatest_common_divisor(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@calls("2.0", "9.0")
def square_root(x):
    guess = x
    while abs(guess * guess - x) > 1e-6:
        guess = (guess + x / guess) / 2
    return guess


@calls("10", "1")
def fibonacci(limit):
    a, b = 0, 1
    while b < limit:
        a, b = b, a + b
    return b


@calls("4", "0")
def nested(n):
    total = 0
    while n > 0:
        i = 0
        while i < n:
            total += i
            i += 1
        n -= 1
    return total


@calls("10, 3", "2, 30")
def two_conditions(a, b):
    rounds = 0
    while a > 0 and b > 0:
        a -= 2
        b -= 1
        rounds += 1
    return a, b, rounds


@calls("7.0", "0.5")
def integer_becomes_float(x):
    total = 0
    while x > 1:
        total += x
        x = x / 2
    return total


@calls("np.array([1.0, 2.0, 3.0])", "np.array([20.0, 0.0, 1.0])")
def array_state(xs):
    rounds = 0
    while xs.sum() < 20:
        xs = xs * 2
        rounds += 1
    return xs, rounds


@calls("np.array([3, 1, 4, 0, 5])", "np.array([0, 1, 1, 1, 1])")
def by_an_element(xs):
    i = 0
    while xs[i] != 0:
        i += 1
    return i


@calls("3", "1")
def loop_invariant(n):
    double = n * 2
    i = 0
    while i < double:
        i += n
    return i, double
