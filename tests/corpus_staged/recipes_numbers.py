"""Recipes about numbers: primes, roots, integrals, sequences."""

import math  # noqa: F401

import numpy as np

from tests.corpus_staged import calls


@calls("30", "2", "1", "0")
def sieve(n):
    prime = np.ones(n + 1, dtype=bool)
    prime[:2] = False
    i = 2
    while i * i <= n:
        if prime[i]:
            prime[i * i :: i] = False
        i += 1
    return np.nonzero(prime)[0]


@calls("20", "2", "0")
def sieve_with_lists(n):
    flags = [True] * n
    primes = []
    for i in range(2, n):
        if flags[i]:
            primes.append(i)
            for j in range(i * i, n, i):
                flags[j] = False
    return primes


@calls("360", "97", "1")
def prime_factors(n):
    factors, p = {}, 2
    while n > 1:
        while n % p == 0:
            factors[p] = factors.get(p, 0) + 1
            n //= p
        p += 1 if p == 2 else 2
        if p * p > n > 1:
            factors[n] = factors.get(n, 0) + 1
            break
    return factors


@calls("1071, 462", "0, 5", "-4, 6")
def greatest_common_divisor(a, b):
    while b:
        a, b = b, a % b
    return abs(a)


@calls("240, 46", "7, 0")
def extended_euclid(a, b):
    x0, x1, y0, y1 = 1, 0, 0, 1
    while b != 0:
        q = a // b
        a, b = b, a - q * b
        x0, x1 = x1, x0 - q * x1
        y0, y1 = y1, y0 - q * y1
    return a, x0, y0


@calls("7, 13", "3, 0", "2, 64")
def power_by_squaring(x, n):
    result = 1
    while n > 0:
        if n & 1:
            result *= x
        x *= x
        n >>= 1
    return result


@calls("2.0", "0.0", "612", "-1.0")
def newton_square_root(a):
    if a < 0:
        raise ValueError("no real root")
    x = a if a > 1 else 1.0
    for i in range(50):
        better = 0.5 * (x + a / x)
        if abs(better - x) < 1e-12:
            break
        x = better
    return x, i


@calls("lambda x: x ** 3 - x - 2, 1, 2", "math.cos, 0.0, 3.0", "lambda x: x * x + 1, 0, 1")
def bisection(f, low, high):
    if f(low) * f(high) > 0:
        raise ValueError(f"no change of sign in [{low}, {high}]")
    while high - low > 1e-9:
        middle = (low + high) / 2
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


@calls("2.0, 3.0", "0.0, 1.0", "1.0, 1.0")
def secant(x0, x1):
    def f(x):
        return x * x - 2

    steps = 0
    while abs(f(x1)) > 1e-10 and steps < 30:
        x0, x1 = x1, x1 - f(x1) * (x1 - x0) / (f(x1) - f(x0))
        steps += 1
    return x1, steps


@calls("lambda x: x ** 2, 0, 1, 10", "np.sin, 0.0, 3.0, 4", "math.exp, 0, 0, 2", "abs, -1, 1, 3")
def simpson(f, a, b, n):
    if n % 2:
        raise ValueError("n must be even")
    h = (b - a) / n
    total = f(a) + f(b)
    for i in range(1, n):
        total += f(a + i * h) * (4 if i % 2 else 2)
    return total * h / 3


@calls("0.0, 1.0, 8", "1, 1, 2")
def trapezoid_refined(a, b, levels):
    estimates, n = [], 1
    for _ in range(levels):
        x = np.linspace(a, b, n + 1)
        y = 1 / (1 + x * x)
        estimates.append((y[1:] + y[:-1]).sum() * (b - a) / n / 2)
        n *= 2
        if len(estimates) > 1 and abs(estimates[-1] - estimates[-2]) < 1e-4:
            break
    return estimates


@calls("[2, -6, 2, -1], 3", "[], 5", "[1.5], 2", "[1, 2], np.array([1.0, 2.0])", "[1, 0, 0, 0], 10**9")
def horner(coefficients, x):
    result = 0
    for c in coefficients:
        result = result * x + c
    return result


@calls("41, 3", "1, 1", "5, 2")
def josephus(n, k):
    people, i = list(range(1, n + 1)), 0
    while len(people) > 1:
        i = (i + k - 1) % len(people)
        people.pop(i)
    return people[0]


@calls("10, 0, 1", "0, 5, 5", "90, 0, 1")
def fibonacci_like(n, a, b):
    sequence = [a, b]
    while len(sequence) < n:
        sequence.append(sequence[-1] + sequence[-2])
    return sequence[:n]


@calls("30", "1")
def longest_collatz(limit):
    best, longest = 1, 0
    for n in range(1, limit):
        steps, m = 0, n
        while m != 1:
            if m % 2 == 0:
                m //= 2
            else:
                m = 3 * m + 1
            steps += 1
        if steps > longest:
            best, longest = n, steps
    return best, longest


@calls("28", "6", "12", "1")
def perfect_number(n):
    divisors = [d for d in range(1, n) if n % d == 0]
    total = sum(divisors)
    return "perfect" if total == n else "deficient" if total < n else "abundant"


@calls("1.0, 20", "0.5, 3", "-1.0, 0")
def exponential_series(x, terms):
    total, term = 0.0, 1.0
    for k in range(terms):
        total += term
        term *= x / (k + 1)
        if abs(term) < 1e-15:
            return total, k
    return total, terms


@calls("10", "1")
def pi_of_leibniz(n):
    total, sign = 0.0, 1
    for k in range(n):
        total += sign / (2 * k + 1)
        sign = -sign
    return 4 * total


@calls("5", "50")
def e_to_many_digits(digits):
    one = 10 ** (digits + 5)
    total = term = one
    k = 1
    while term:
        term //= k
        total += term
        k += 1
    return total // 10**5


@calls("2, 3, 5", "10, 10, 0")
def ackermann_like(m, n, depth):
    calls_made = 0

    def climb(a, b, left):
        nonlocal calls_made
        calls_made += 1
        if left == 0 or a == 0:
            return b + 1
        if b == 0:
            return climb(a - 1, 1, left - 1)
        return climb(a - 1, climb(a, b - 1, left - 1), left - 1)

    return climb(m, n, depth), calls_made


@calls("1.0, 2.5, 0.3, 0.01", "0.0, 0.0, 1.0, 0.5")
def gradient_descent(x, y, rate, eps):
    def gradient(x, y):
        return 2 * (x - 1), 4 * (y + 0.5)

    for step in range(100):
        gx, gy = gradient(x, y)
        x, y = x - rate * gx, y - rate * gy
        if max(abs(gx), abs(gy)) < eps:
            break
    else:
        step = None
    return x, y, step


@calls("0.5, 3.2, 10", "0, 4, 3")
def logistic_map(x, r, n):
    orbit = np.empty(n)
    for i in range(n):
        orbit[i] = x
        x = r * x * (1 - x)
    return orbit


@calls("12.5, 0", "0, 2", "100, -40")
def temperature(value, kind):
    if kind == 0:
        return value * 9 / 5 + 32
    elif kind > 0:
        return (value - 32) * 5 / 9
    raise ValueError("kind must not be negative, is {}".format(kind))


@calls("1000.0, 0.05, 3", "1000, 0, 0", "0.0, 0.1, 2")
def loan_table(amount, rate, years):
    table = []
    payment = amount * rate / (1 - (1 + rate) ** -years) if rate > 0 and years else amount
    for year in range(1, years + 1):
        interest = amount * rate
        amount = amount + interest - payment
        table.append((year, round(interest, 2), round(amount, 2)))
    return table, payment


@calls("4, 2", "1, 1", "0, 3")
def stirling(n, k):
    table = np.zeros((n + 1, k + 1), dtype=object)
    table[0, 0] = 1
    for i in range(1, n + 1):
        for j in range(1, k + 1):
            table[i, j] = j * table[i - 1, j] + table[i - 1, j - 1]
    return table[n, k]
