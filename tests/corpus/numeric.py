"""Recipes over numbers: Python's ints, floats and complex, and NumPy's scalars."""

import cmath
import math
import random

import numpy as np

from tests.corpus import calls


@calls("27", "1", "837799")
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@calls("48, 18", "17, 5", "0, 5", "-4, 6", "10**30, 10**20", "2.5, 1.0")
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@calls("2.0", "2", "0.0", "-1.0", "np.float32(2)")
def newton_sqrt(x):
    if x < 0:
        raise ValueError(f"negative: {x}")
    if x == 0:
        return x
    guess = x
    for i in range(100):
        new = (guess + x / guess) / 2
        if abs(new - guess) < 1e-12 * new:
            return new, i
        guess = new
    return guess


@calls("0.0, 2.0", "0, 1", "2.0, 0.0")
def bisection(a, b):
    def f(x):
        return x**3 - 2

    assert f(a) * f(b) < 0, "no change of sign"
    while abs(b - a) > 1e-9:
        c = (a + b) / 2
        if f(c) == 0:
            break
        elif f(a) * f(c) < 0:
            b = c
        else:
            a = c
    else:
        return "converged", (a + b) / 2
    return c


@calls("10", "0", "1", "90")
def fibonacci(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@calls("10", "100", "3.0", "-1", "np.int8(5)")
def factorial(n):
    if n < 0:
        raise ValueError("negative")
    result = 1
    while n > 1:
        result *= n
        n -= 1
    return result


@calls("2, 10, 1000", "3, 0, 7", "0, 5, 7", "2, -1, 7")
def power_mod(base, exponent, modulus):
    result = 1 % modulus
    base %= modulus
    while exponent > 0:
        if exponent & 1:
            result = result * base % modulus
        exponent >>= 1
        base = base * base % modulus
    return result


@calls("97", "91", "2", "1")
def is_prime(n):
    if n < 2:
        return False
    i = 2
    while i * i <= n:
        if n % i == 0:
            return False
        i += 1
    return True


@calls("0.0, 1.0, 10", "0, 3, 4", "0.0, 1.0, 3")
def simpson(a, b, n):
    if n % 2:
        raise ValueError("n must be even")
    h = (b - a) / n
    total = math.exp(a) + math.exp(b)
    for i in range(1, n):
        if i % 2 == 1:
            total += 4 * math.exp(a + i * h)
        else:
            total += 2 * math.exp(a + i * h)
    return total * h / 3


@calls("1000, 7", "0, 7")
def monte_carlo_pi(n, seed):
    draw = random.Random(seed)
    inside = 0
    for _ in range(n):
        x, y = draw.random(), draw.random()
        if x * x + y * y <= 1:
            inside += 1
    return 4 * inside / n


@calls("-0.5 + 0.5j", "2 + 2j", "0", "np.complex128(0.3)")
def escape_time(c):
    z = 0
    for i in range(30):
        if abs(z) > 2:
            return i, z
        z = z * z + c
    return None


@calls("1, -3, 2", "1, 0, 1", "0, 2, 1", "0, 0, 1")
def quadratic(a, b, c):
    if a == 0:
        if b == 0:
            return []
        return [-c / b]
    d = b * b - 4 * a * c
    if d >= 0:
        root = math.sqrt(d)
    else:
        root = cmath.sqrt(d)
    return [(-b - root) / (2 * a), (-b + root) / (2 * a)]


@calls("0.1, 100", "1.0, 5", "3, 3")
def logistic_map(x, n):
    seen = []
    while n:
        x = 3.7 * x * (1 - x)
        if not 0 <= x <= 1:
            seen.append(x)
            break
        n -= 1
    return x, seen


@calls("[1.0, 2.5, -3.0]", "[]", "[1e308, 1e308]", "[float('nan'), 1.0]")
def running_statistics(xs):
    n, mean, m2, low, high = 0, 0.0, 0.0, math.inf, -math.inf
    for x in xs:
        n += 1
        delta = x - mean
        mean += delta / n
        m2 += delta * (x - mean)
        if x < low:
            low = x
        if x > high:
            high = x
    return n, mean, m2 / (n - 1) if n > 1 else None, low, high


@calls("12345", "0", "-7", "np.int64(90)")
def digit_sum(n):
    sign = -1 if n < 0 else 1
    n = abs(n)
    total = 0
    while n:
        n, digit = divmod(n, 10)
        total += digit
    return sign * total


@calls("10", "255", "0", "-3")
def to_binary(n):
    if n < 0:
        return "-" + to_binary(-n)
    bits = ""
    while True:
        bits = "01"[n % 2] + bits
        n //= 2
        if n == 0:
            return bits


@calls("5", "2.5", "np.float32(1.5)", "np.int16(3)", "True", "1j")
def type_promotion(x):
    total = 0
    for i in range(3):
        total += x * i
        if i == 1:
            total = total / 2
    y = x ** 2 if total else x
    return total, type(total).__name__, y, type(y).__name__


@calls("np.int8(100)", "np.uint8(3)", "100")
def wraparound(n):
    with np.errstate(over="ignore"):
        for _ in range(3):
            n = n * n - n + type(n)(1)
    return n, type(n).__name__


@calls("1.0, 0.0", "-1.0, 0.0", "0.0, 0.0", "1, 0")
def divisions(a, b):
    out = []
    for d in (b + 1, b):
        out.append(a // d)
        out.append(a % d)
        out.append(a / d)
    return out


@calls("20", "1")
def pythagorean(n):
    return [(a, b, c) for a in range(1, n) for b in range(a, n) for c in range(b, n) if a * a + b * b == c * c]


@calls("1994", "4", "0", "3999")
def roman(n):
    table = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"),
             (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]
    out = ""
    for value, letters in table:
        while n >= value:
            out += letters
            n -= value
    return out


@calls("2000, 2, 29", "1999, 2, 29", "2024, 13, 1")
def day_of_year(year, month, day):
    lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        lengths[1] = 29
    if not 1 <= month <= 12:
        raise ValueError(f"month {month}")
    elif day > lengths[month - 1]:
        raise ValueError(f"day {day}")
    for length in lengths[: month - 1]:
        day += length
    return day


@calls("1.0, 20", "0.5, 0")
def euler_spring(x, steps):
    v, t, crossings = 0.0, 0.0, []
    for _ in range(steps):
        before = x
        v -= 0.3 * x
        x += 0.3 * v
        t += 0.3
        if before > 0 >= x or before < 0 <= x:
            crossings.append(round(t, 3))
    return x, v, crossings


@calls("16", "15", "1", "0")
def integer_log2(n):
    if n <= 0:
        raise ArithmeticError(n)
    bits = -1
    while n:
        n >>= 1
        bits += 1
    return bits


@calls("3, 4", "0, 0", "1, 5", "2, 3")
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(min(m, 2) - 1, 1)
    return ackermann(min(m, 2) - 1, ackermann(min(m, 2), n - 1))
