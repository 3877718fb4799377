"""Everyday programs: dates, grades, conversions, tables, recursion."""

import json
import math
import re
import string

import numpy as np  # noqa: F401

from tests.corpus_staged import calls


@calls("1", "True", "2.0", "None", "'s'", "np.int64(1)", "[1]")
def type_tests(x):
    if isinstance(x, bool):
        return "bool", int(x)
    if isinstance(x, (int, float)):
        return type(x).__name__, x + 1
    if x is None:
        return "none"
    return type(x), hasattr(x, "append")


@calls("5, 3", "3, 5", "0, 0", "2.5, 2")
def swap_order(a, b):
    if a > b:
        a, b = b, a
    lo = hi = a
    lo -= 1
    return a, b, lo, hi, a is hi


@calls("3", "0", "5")
def del_use(n):
    d = {i: i * i for i in range(n)}
    if 0 in d:
        del d[0]
    xs = list(range(n))
    del xs[1:2]
    t = n
    del t
    return d, xs


@calls("3", "0", "-1")
def unbound(n):
    if n > 0:
        y = n
    return y


@calls("3", "0")
def unbound_loop(n):
    for i in range(n):
        last = i
    return last, i


@calls("3", "0", "2.5")
def type_changing(n):
    x = 0
    i = 0
    while i < n:
        x = x + 1 if i < 2 else x / 2
        i += 1
    return x


@calls("5", "0", "2")
def accumulate_text(n):
    s = ""
    i = 0
    while i < n:
        s += str(i) + ("," if i < n - 1 else ".")
        i += 1
    return s, len(s), s.upper(), s[::-1], s.split(",")


@calls("'a1b22'", "''", "'999'")
def sum_digits_text(text):
    total = 0
    for c in text:
        if c in string.digits:
            total += int(c)
    return total, re.findall(r"\d+", text)


@calls("{'a': [1, 2.5, None]}", "[]", "3")
def json_use(x):
    return json.loads(json.dumps(x)), json.dumps(x)


@calls("1", "0", "-1")
def nested_exceptions(n):
    try:
        try:
            1 / n
        except ZeroDivisionError as e:
            raise KeyError("inner") from e
        finally:
            print("finally")
    except KeyError as e:
        return repr(e), type(e.__cause__).__name__
    return n


@calls("3", "0")
def bare_raise(n):
    try:
        return 10 % n
    except ZeroDivisionError:
        print("re-raise")
        raise


@calls("5", "3", "0")
def loop_continue_break(n):
    out = []
    i = 0
    while True:
        i += 1
        if i > n:
            break
        if i % 2:
            continue
        for j in range(i):
            if j == 3:
                break
            out.append((i, j))
    return out


@calls("3", "1200")
def recursion_depth(n):
    def down(k):
        return 0 if k == 0 else 1 + down(k - 1)

    try:
        return down(n)
    except RecursionError:
        return "too deep"


@calls("0.1, 0.2", "1, 2", "1e16, 1", "float('nan'), 1")
def float_compare(a, b):
    return a + b == 0.3, math.isclose(a + b, 0.3), a + b, (a + b) - b == a, math.fsum([a, b, -a])


@calls("5", "0", "3.7", "-3.7", "'8'", "True", "'x'", "None")
def conversions(x):
    return int(x), float(x), str(x), bool(x), complex(x)


@calls("3", "-3", "3.5", "0", "True", "np.int64(-2)", "-0.0")
def unary(x):
    return -x, +x, abs(x), not x, -(-x)


@calls("3", "2.5", "-1", "0")
def math_use(x):
    return (
        math.exp(x),
        math.sin(x),
        math.log(x) if x > 0 else None,
        math.sqrt(abs(x)),
        math.hypot(x, 4),
        math.copysign(1, x),
        math.degrees(x),
        math.isfinite(x),
        math.gcd(int(x), 6),
        math.pi * x,
    )


@calls("-1", "4", "0")
def math_error(x):
    return math.sqrt(x), math.log(x)


@calls("25", "-5", "170", "0")
def math_factorial(n):
    return math.factorial(n), math.comb(n, 2), math.perm(n, 2), math.isqrt(n)


@calls("[1, 2, 3], slice(1, None)", "[1, 2, 3], slice(None, None, -1)", "[1, 2], 5")
def slices(xs, s):
    return xs[s]


@calls("5, 2", "0, 1", "7, -3")
def slicing(n, k):
    xs = list(range(n))
    xs[1:3] = [k, k, k]
    return xs, xs[::k], xs[-k:], xs[:k], xs[k:]


@calls("3", "0", "2")
def lists_of_lists(n):
    wrong = [[0] * n] * n
    right = [[0] * n for _ in range(n)]
    for i in range(n):
        wrong[i][i] = right[i][i] = i + 1
    return wrong, right


@calls("1", "2", "3.0", "'a'", "4")
def dict_dispatch(x):
    table = {1: lambda: "one", 2: lambda: "two", 3: lambda: "three"}
    return table.get(x, lambda: "many")()


@calls("5", "0", "-1.5")
def ternaries(x):
    return "pos" if x > 0 else "neg" if x < 0 else "zero", (x if x > 0 else -x) + (1 if x else 2)


@calls("10, 3", "3, 10", "2, 2")
def range_use(a, b):
    return list(range(a, b)), list(range(a, b, -2)), len(range(a)), b in range(a), sum(range(b, a)), range(a)[-1]


@calls("5", "0", "3")
def zip_matrix(n):
    a = [[i * n + j for j in range(n)] for i in range(n)]
    total = 0
    for i, row in enumerate(a):
        for j, x in enumerate(row):
            if i == j or i + j == n - 1:
                total += x
    return total, list(zip(*a)), sum(map(sum, a)), sum(a, [])


@calls("3", "1", "0")
def magic_square(n):
    if n % 2 == 0:
        raise ValueError("odd only")
    m = [[0] * n for _ in range(n)]
    i, j = 0, n // 2
    for k in range(1, n * n + 1):
        m[i][j] = k
        a, b = (i - 1) % n, (j + 1) % n
        if m[a][b]:
            i = (i + 1) % n
        else:
            i, j = a, b
    return m


@calls("3, 'x'", "0, ''")
def none_handling(n, s):
    x = None
    for i in range(n):
        if x is None:
            x = i
        elif i > x:
            x = i
    return x, s or None, x is not None and x + 1


@calls("4", "0", "2.5", "-1")
def none_search(n):
    best = None
    for x in [3, 1, 2]:
        if x < n and (best is None or x > best):
            best = x
    return best


@calls("2.5", "3", "True", "10**20", "np.float64(0.5)", "float('inf')")
def number_methods(x):
    if isinstance(x, float):
        return x.is_integer(), x.hex()
    return x.bit_length(), x.to_bytes(9, "big"), x.real, x.numerator


@calls("3, 4", "-1, 2")
def nested_functions(a, b):
    total = 0

    def add(x):
        nonlocal total
        total += x
        if x > 2:
            inner(x)

    def inner(x):
        nonlocal total
        total *= x

    add(a)
    add(b)
    return total


@calls("5", "1.5", "0")
def string_multiplication(n):
    return "ab" * int(n), [0] * int(n), (n,) * 2, "-" * 3 + str(n)


@calls("[('b', 2), ('a', 2), ('c', 1)]", "[]")
def sort_keys(pairs):
    pairs.sort(key=lambda p: (p[1], p[0]))
    return pairs, max(pairs, key=lambda p: p[1], default=None), dict(pairs), sorted(pairs, key=lambda p: -p[1])


@calls("2, 3", "0, 5", "10, 0")
def egg_drop(eggs, floors):
    dp = [0] * (eggs + 1)
    m = 0
    while dp[eggs] < floors:
        m += 1
        for k in range(eggs, 0, -1):
            dp[k] += dp[k - 1] + 1
        if m > 50:
            break
    return m
