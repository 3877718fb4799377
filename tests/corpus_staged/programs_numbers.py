"""Programs of number theory, as people write them: primes, recursions, bases, factors."""

from functools import reduce

import numpy as np  # noqa: F401

from tests.corpus_staged import calls


@calls("7", "1", "0", "97", "True", "-3", "np.int64(91)", "10**12")
def is_prime(n):
    if n < 2:
        return False
    if n in (2, 3):
        return True
    if n % 2 == 0 or n % 3 == 0:
        return False
    i = 5
    while i * i <= n:
        if n % i == 0 or n % (i + 2) == 0:
            return False
        i += 6
    return True


@calls("97", "561", "2**61 - 1", "1", "np.int64(221)")
def miller_rabin(n):
    if n < 2:
        return False
    small = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]
    for p in small:
        if n % p == 0:
            return n == p
    d, s = n - 1, 0
    while d % 2 == 0:
        d //= 2
        s += 1
    for a in small:
        x = pow(a, d, n)
        if x == 1 or x == n - 1:
            continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


@calls("10", "90", "0", "1", "True")
def fib_memo(n):
    memo = {}

    def fib(k):
        if k < 2:
            return k
        if k in memo:
            return memo[k]
        memo[k] = fib(k - 1) + fib(k - 2)
        return memo[k]

    return fib(n)


@calls("20", "0", "1", "5")
def fib_default_memo(n, memo=None):
    if memo is None:
        memo = {0: 0, 1: 1}
    if n not in memo:
        memo[n] = fib_default_memo(n - 1, memo) + fib_default_memo(n - 2, memo)
    return memo[n]


@calls("100", "0", "1", "2000")
def fib_iter(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


@calls("90", "0", "1", "1000")
def fib_fast_doubling(n):
    def double(k):
        if k == 0:
            return 0, 1
        a, b = double(k >> 1)
        c = a * (2 * b - a)
        d = a * a + b * b
        return (d, c + d) if k & 1 else (c, d)

    return double(n)[0]


@calls("255, 16", "0, 2", "-10, 2", "10**20, 36", "5, 1")
def to_base(n, base):
    digits = "0123456789abcdefghijklmnopqrstuvwxyz"
    if base < 2 or base > 36:
        raise ValueError(f"bad base {base}")
    if n == 0:
        return "0"
    sign = "-" if n < 0 else ""
    n = abs(n)
    out = []
    while n:
        n, r = divmod(n, base)
        out.append(digits[r])
    return sign + "".join(reversed(out))


@calls("'ff', 16", "'101', 2", "'', 10", "'9z', 10")
def from_base(text, base):
    value = 0
    for ch in text:
        d = ord(ch) - 48 if ch.isdigit() else ord(ch.lower()) - 87
        if d >= base:
            raise ValueError("invalid digit %r for base %d" % (ch, base))
        value = value * base + d
    return value


@calls("1994", "4", "0", "3999", "-1")
def to_roman(n):
    table = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ]
    if n < 0:
        raise ValueError("no Roman numeral for %d" % n)
    result = ""
    for value, numeral in table:
        while n >= value:
            result += numeral
            n -= value
    return result


@calls("'MCMXCIV'", "'IV'", "''")
def from_roman(s):
    values = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
    total = 0
    previous = 0
    for ch in reversed(s):
        v = values[ch]
        if v < previous:
            total -= v
        else:
            total += v
        previous = v
    return total


@calls("48, 18", "0, 0", "-12, 8", "10**18, 10**9", "7.5, 2.5", "True, 3")
def gcd_rec(a, b):
    return a if b == 0 else gcd_rec(b, a % b)


@calls("3, 11", "10, 17", "2, 4", "0, 5")
def mod_inverse(a, m):
    def egcd(a, b):
        if a == 0:
            return b, 0, 1
        g, y, x = egcd(b % a, a)
        return g, x - (b // a) * y, y

    g, x, _ = egcd(a, m)
    if g != 1:
        raise ArithmeticError(f"{a} has no inverse mod {m}")
    return x % m


@calls("[2, 3, 2], [3, 5, 7]", "[0], [1]", "[1, 2], [2, 4]")
def chinese_remainder(remainders, moduli):
    total = 0
    prod = reduce(lambda a, b: a * b, moduli)
    for r, m in zip(remainders, moduli):
        p = prod // m
        total += r * pow(p, -1, m) * p
    return total % prod


@calls("28", "12", "1", "0")
def is_perfect(n):
    return n > 0 and sum(d for d in range(1, n) if n % d == 0) == n


@calls("28", "12", "1", "49", "0")
def divisors(n):
    small, large = [], []
    i = 1
    while i * i <= n:
        if n % i == 0:
            small.append(i)
            if i != n // i:
                large.append(n // i)
        i += 1
    return small + large[::-1]


@calls("36", "1", "97", "10**6")
def totient(n):
    result = n
    p = 2
    while p * p <= n:
        if n % p == 0:
            while n % p == 0:
                n //= p
            result -= result // p
        p += 1
    if n > 1:
        result -= result // n
    return result


@calls("5", "0", "20", "25", "True")
def factorial_rec(n):
    if n <= 1:
        return 1
    return n * factorial_rec(n - 1)


@calls("5, 2", "0, 0", "50, 25", "3, 5")
def binomial(n, k):
    if k < 0 or k > n:
        return 0
    k = min(k, n - k)
    result = 1
    for i in range(k):
        result = result * (n - i) // (i + 1)
    return result


@calls("5", "1", "0", "6")
def pascal(rows):
    triangle = []
    for r in range(rows):
        row = [1] * (r + 1)
        for c in range(1, r):
            row[c] = triangle[r - 1][c - 1] + triangle[r - 1][c]
        triangle.append(row)
    return triangle


@calls("9", "100", "0", "1")
def catalan(n):
    if n == 0:
        return [1]
    c = [1]
    for i in range(n):
        c.append(c[-1] * 2 * (2 * i + 1) // (i + 2))
    return c[-1]


@calls("12345", "0", "-908", "10**25")
def digit_sum(n):
    n = abs(n)
    total = 0
    while n > 0:
        total += n % 10
        n //= 10
    return total


@calls("19", "4", "1", "7", "0")
def happy(n):
    seen = set()
    while n != 1 and n not in seen:
        seen.add(n)
        n = sum(int(d) ** 2 for d in str(n))
    return n == 1


@calls("153", "154", "0", "9474")
def armstrong(n):
    digits = [int(d) for d in str(n)]
    return n == sum(d ** len(digits) for d in digits)
