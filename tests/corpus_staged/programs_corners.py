"""Corners of numbers, truth, containers and text, as they come up in ordinary programs."""

import calendar
import datetime
import math

import numpy as np  # noqa: F401

from tests.corpus_staged import calls


@calls("7, 2", "-7, 2", "7, -2", "7.5, 2", "-7.5, 2", "True, 2", "np.int64(-7), 2", "1, 0", "1.0, 0", "10**30, 7")
def division(a, b):
    return a // b, a % b, a / b, divmod(a, b)


@calls("0.5", "1.5", "2.5", "-0.5", "2.675", "3", "np.float64(2.5)", "True")
def rounding(x):
    return round(x), round(x, 1), round(x, 2), math.floor(x), math.ceil(x), math.trunc(x), int(x)


@calls("2, 100", "2, -1", "0, 0", "0, -1", "2.0, 3", "-8, 1/3", "np.int64(2), 3", "True, 5", "10**400, 0.5")
def powers(a, b):
    return a**b


@calls("2**63", "2**64 - 1", "-2**63", "1", "np.int64(5)", "True")
def overflow(n):
    return n * 2, n + n, n << 1, -n, ~n, n ^ 1, n.bit_length() if isinstance(n, int) else None


@calls("12, 10", "0, 0", "-1, 3", "True, False", "np.int64(6), 3")
def bits(a, b):
    return a & b, a | b, a ^ b, ~a, a << 2, a >> 1, bin(a), a & -a


@calls("13", "0", "255", "-1", "True")
def popcount(n):
    count = 0
    while n:
        n &= n - 1
        count += 1
        if count > 70:
            return None
    return count


@calls("6", "0", "1", "64", "1023")
def is_power_of_two(n):
    return n > 0 and n & (n - 1) == 0, n and not n & (n - 1)


@calls("5", "0", "-3", "2.5", "True", "np.int64(3)", "float('nan')", "float('inf')")
def chained(x):
    return 0 < x < 5, 0 <= x == x, not 0 < x, x == x == 2.5, 1 < 2 < x


@calls("5", "0", "0.0", "False", "-1", "np.int64(0)", "''", "[]", "None")
def truthiness(x):
    return x or "default", x and "yes", not x, bool(x), "t" if x else "f", [] or x, x or 0


@calls("5", "0", "-3", "2.5", "True")
def early_returns(x):
    if x < 0:
        return "negative"
    if x == 0:
        return None
    if x > 4:
        return [x, x]
    return x


@calls("5", "0", "-3", "2.5")
def no_return(x):
    if x > 0:
        return x


@calls("5", "0", "3")
def while_else(n):
    i = 0
    while i < n:
        if i == 3:
            print("found")
            break
        i += 1
    else:
        print("not found")
    return i


@calls("[1, 2, 3], 2", "[], 1", "[1], 5")
def for_else(xs, x):
    for i, y in enumerate(xs):
        if y == x:
            break
    else:
        return -1
    return i


@calls("5", "0", "10.5")
def walrus(n):
    if (m := n * 2) > 5:
        return m
    return [y := m + 1, y**2]


@calls("[1, 2, 3, 4]", "[1, 2]", "[1]")
def star_unpack(xs):
    first, *rest = xs
    *init, last = xs
    a, *mid, b = [*xs, *rest]
    return first, rest, init, last, a, mid, b, {**{"a": first}, "b": last}


@calls("3, 4", "1.5, 0", "0, 0")
def printing(a, b):
    print(a, b, sep=", ", end="!\n")
    print(f"{a + b} {a:>5} {b:.2f} {a!r} {a=}")
    print("%d %5.2f %s" % (a, b, a), "{} {:>4}".format(a, b))
    print([a, b], (a,), {"k": b})
    print()


@calls("1234567.891", "0.5", "42", "-3", "True", "np.float64(2.5)", "np.int64(7)")
def formatting(x):
    return f"{x:,.2f}|{x:e}|{x:+}|{x:08.3f}|{x:>10}|{x:<10}|{x:^10}|{str(x)}|{x!r}"


@calls("255", "0", "-10", "True", "1.5")
def int_formatting(n):
    return f"{n:b} {n:x} {n:o} {n:#x} {n:08b}", hex(n), oct(n), bin(n), chr(n % 26 + 97)


@calls("[3, 1, 2]", "[]", "[1.5, 1]", "[True, 2]")
def builtins_use(xs):
    return (
        sum(xs),
        sorted(xs),
        sorted(xs, reverse=True),
        any(xs),
        all(xs),
        len(xs),
        max(xs, default=None),
        min(xs, default=0),
        list(reversed(xs)),
        list(map(str, xs)),
        list(filter(lambda x: x > 1, xs)),
        list(enumerate(xs, 1)),
        list(zip(xs, xs[1:])),
        sum(xs, 10),
        tuple(xs),
        set(xs) == set(sorted(xs)),
    )


@calls("[3, 1, 2], 1", "[1], 0", "[4, 5], -1")
def list_methods(xs, i):
    xs.append(i)
    xs.insert(0, 9)
    x = xs.pop(i)
    xs.extend([x, x])
    xs.remove(9) if 9 in xs else None
    xs.sort()
    return xs, xs.index(x), xs.count(x), xs.copy(), xs[::-1], xs[i:], xs[-1]


@calls("{'a': 1}, 'b', 2", "{}, 'a', 0.5", "{'a': 1, 'b': 2}, 'a', 5")
def dict_methods(d, k, v):
    d[k] = v
    d.setdefault("z", []).append(v)
    d.update(q=v)
    got = d.pop("q")
    return d, got, list(d.items()), d.get("nope", v), k in d, len(d), {v: k for k, v in d.items() if k != "z"}


@calls("{1, 2}, 2", "set(), 1", "{5}, 3")
def set_methods(s, x):
    s.add(x)
    s.discard(1)
    t = {x, x + 1}
    return s | t, s & t, s - t, s ^ t, x in s, s <= t, len(s), sorted(s)


@calls("3", "0", "1.5", "-2")
def dict_of_counts(n):
    d = {}
    i = 0
    while i < n:
        d[i % 2] = d.get(i % 2, 0) + i
        i += 1
    return d


@calls("5, 2", "0, 1", "3, 3")
def nested_comprehension(n, k):
    return [[i * j for j in range(i)] for i in range(n) if i % k == 0], {i: {j for j in range(i)} for i in range(k)}


@calls("4", "0", "1")
def triangle(n):
    for i in range(1, n + 1):
        print(" " * (n - i) + "*" * (2 * i - 1))


@calls("2024", "1900", "2000", "2023", "np.int64(2024)")
def leap(year):
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


@calls("2024, 2, 29", "1970, 1, 1", "2000, 12, 31")
def day_of_week(y, m, d):
    if m < 3:
        m += 12
        y -= 1
    k, j = y % 100, y // 100
    h = (d + 13 * (m + 1) // 5 + k + k // 4 + j // 4 + 5 * j) % 7
    return ["Sat", "Sun", "Mon", "Tue", "Wed", "Thu", "Fri"][h]


@calls("2024, 2", "2023, 2", "1, 13")
def calendar_use(y, m):
    return calendar.monthrange(y, m), datetime.date(y, m, 1).isoformat(), str(datetime.timedelta(days=m))


@calls("2024", "1999", "2000")
def easter(year):
    a = year % 19
    b, c = divmod(year, 100)
    d, e = divmod(b, 4)
    f = (b + 8) // 25
    g = (b - f + 1) // 3
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    el = (32 + 2 * e + 2 * i - h - k) % 7
    m = (a + 11 * h + 22 * el) // 451
    month, day = divmod(h + el - 7 * m + 114, 31)
    return datetime.date(year, month, day + 1)


@calls("1, 5, 6", "1, 2, 1", "1, 0, 1", "0, 1, 2", "1.0, -3, 2")
def quadratic(a, b, c):
    d = b * b - 4 * a * c
    if d < 0:
        return None
    if d == 0:
        return -b / (2 * a)
    return (-b + d**0.5) / (2 * a), (-b - d**0.5) / (2 * a)


@calls("2", "0", "1e-9", "-1", "np.float64(9.0)", "True")
def newton(x):
    if x < 0:
        raise ValueError("math domain error")
    guess = x
    while abs(guess * guess - x) > 1e-9:
        guess = (guess + x / guess) / 2
    return guess


@calls("10", "100", "0", "1")
def leibniz(n):
    pi, sign = 0, 1
    for k in range(n):
        pi += sign * 4 / (2 * k + 1)
        sign = -sign
    return pi


@calls("20", "0", "1")
def monte_carlo(n):
    import random

    rng = random.Random(1)
    inside = 0
    for _ in range(n):
        if rng.random() ** 2 + rng.random() ** 2 <= 1:
            inside += 1
    return 4 * inside / max(n, 1)


@calls("0", "1", "-0.5", "1 + 1j", "-2")
def mandelbrot(c):
    z = 0
    for n in range(30):
        if abs(z) > 2:
            return n
        z = z * z + c
    return 30


@calls("0, 10, 5", "1, 2, 1", "0, 1, 0")
def simpson(a, b, n):
    def f(x):
        return x**3 - x

    if n == 0:
        raise ZeroDivisionError("n is 0")
    h = (b - a) / n
    s = f(a) + f(b)
    for i in range(1, n):
        s += f(a + i * h) * (4 if i % 2 else 2)
    return s * h / 3


@calls("98.6, 'F'", "37, 'C'", "1, 'K'")
def convert_temperature(t, unit):
    if unit == "F":
        return (t - 32) * 5 / 9
    elif unit == "C":
        return t * 9 / 5 + 32
    raise ValueError(f"unknown unit: {unit!r}")


@calls("87", "0", "100", "59.5", "-1", "True", "np.float64(70)")
def grade(score):
    if not 0 <= score <= 100:
        raise ValueError(f"score out of range: {score}")
    for limit, letter in ((90, "A"), (80, "B"), (70, "C"), (60, "D")):
        if score >= limit:
            return letter
    return "F"


@calls("3661", "0", "59.5", "86400")
def hms(seconds):
    m, s = divmod(seconds, 60)
    h, m = divmod(m, 60)
    return "%02d:%02d:%02d" % (h, m, s), f"{h}h {m}m" if h else f"{m}m"


@calls("[1, [2, [3, [4]]]]", "[]", "[[]]", "[1.5, [True]]")
def flatten(xs):
    out = []
    for x in xs:
        if isinstance(x, list):
            out.extend(flatten(x))
        else:
            out.append(x)
    return out


@calls("[1, [2, [3]]]", "[]", "5")
def depth(x):
    return 1 + max((depth(y) for y in x), default=0) if isinstance(x, list) else 0


@calls("1, 2.0", "True, 1j", "0, False", "np.int64(1), 2.5", "np.float32(1), 2")
def mixing(a, b):
    return a + b, a * b, type(a + b).__name__, a == b, isinstance(a, int), isinstance(b, (float, complex))
