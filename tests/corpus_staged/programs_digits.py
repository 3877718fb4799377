"""Programs about digits and sequences."""

import math
from math import gcd, isqrt

import numpy as np  # noqa: F401

from tests.corpus_staged import calls


@calls("'4539578763621486'", "'1234'", "''")
def luhn(number):
    total = 0
    for i, d in enumerate(reversed(number)):
        d = int(d)
        if i % 2 == 1:
            d *= 2
            if d > 9:
                d -= 9
        total += d
    return total % 10 == 0


@calls("121", "123", "-1", "0")
def palindrome_number(n):
    if n < 0:
        return False
    reverse, m = 0, n
    while m:
        reverse = reverse * 10 + m % 10
        m //= 10
    return reverse == n


@calls("10", "0", "1", "27")
def collatz_path(n):
    if n < 1:
        return []
    path = [n]
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        path.append(n)
    return path


@calls("30", "2", "0")
def primes_upto(n):
    sieve = [True] * (n + 1)
    for p in range(2, int(n**0.5) + 1):
        if sieve[p]:
            for q in range(p * p, n + 1, p):
                sieve[q] = False
    return [p for p in range(2, n + 1) if sieve[p]]


@calls("10", "0", "1")
def primes_gen(count):
    def gen():
        n = 2
        while True:
            if all(n % p for p in range(2, isqrt(n) + 1)):
                yield n
            n += 1

    g = gen()
    return [next(g) for _ in range(count)]


@calls("600851475143", "13195", "2", "1")
def largest_factor(n):
    best = None
    f = 2
    while n > 1:
        while n % f == 0:
            best = f
            n //= f
        f += 1
        if f * f > n:
            if n > 1:
                best = n
            break
    return best


@calls("2, 10, 1000", "3, 0, 7", "7, 256, 13", "2, 10**20, 10**9 + 7")
def modpow(base, exp, mod):
    result = 1
    base %= mod
    while exp:
        if exp & 1:
            result = result * base % mod
        exp >>= 1
        base = base * base % mod
    return result


@calls("16", "15", "0", "10**20", "-1")
def int_sqrt(n):
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    x = n
    y = (x + 1) // 2
    while y < x:
        x = y
        y = (x + n // x) // 2
    return x


@calls("220", "284", "6", "10")
def amicable(n):
    def s(k):
        t = 1
        for i in range(2, int(math.sqrt(k)) + 1):
            if k % i == 0:
                t += i
                if i * i != k:
                    t += k // i
        return t

    m = s(n)
    return m if m != n and s(m) == n else None


@calls("3, 4", "0, 5", "2, 3")
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@calls("4", "1", "0")
def gray_codes(n):
    return [i ^ (i >> 1) for i in range(1 << n)]


@calls("3, 7", "22, 7", "0, 1", "-7, 3", "1, 0")
def continued_fraction(p, q):
    terms = []
    while q:
        a = p // q
        terms.append(a)
        p, q = q, p - a * q
    return terms


@calls("10", "1", "0", "100")
def fizzbuzz(n):
    out = []
    for i in range(1, n + 1):
        if i % 15 == 0:
            out.append("FizzBuzz")
        elif i % 3 == 0:
            out.append("Fizz")
        elif i % 5 == 0:
            out.append("Buzz")
        else:
            out.append(i)
    return out


@calls("15", "3")
def fizzbuzz_print(n):
    for i in range(1, n + 1):
        print("Fizz" * (i % 3 == 0) + "Buzz" * (i % 5 == 0) or i, end=" " if i < n else "\n")


@calls("12", "1", "0", "-3", "2.5", "np.int64(6)")
def look_and_say(n):
    s = "1"
    result = []
    k = 0
    while k < n:
        result.append(s)
        t, i = "", 0
        while i < len(s):
            j = i
            while j < len(s) and s[j] == s[i]:
                j += 1
            t += str(j - i) + s[i]
            i = j
        s = t
        k += 1
        if k > 8:
            break
    return result


@calls("8", "1", "0")
def partitions(n):
    p = [1] + [0] * n
    for k in range(1, n + 1):
        for i in range(k, n + 1):
            p[i] += p[i - k]
    return p[n]


@calls("3, 10", "0, 4", "7, 7")
def egcd_loop(a, b):
    (x0, x1), (y0, y1) = (1, 0), (0, 1)
    while b:
        q, (a, b) = a // b, (b, a % b)
        x0, x1 = x1, x0 - q * x1
        y0, y1 = y1, y0 - q * y1
    return {"gcd": a, "x": x0, "y": y0}


@calls("1000", "10", "0", "3.0")
def euler1(n):
    return sum(i for i in range(int(n)) if i % 3 == 0 or i % 5 == 0)


@calls("20", "1", "5")
def smallest_multiple(n):
    lcm = 1
    for i in range(1, n + 1):
        lcm = lcm * i // gcd(lcm, i)
    return lcm


@calls("12", "2", "1000")
def pythagorean(total):
    for a in range(1, total // 3 + 1):
        if a > 40:
            break
        b = (total * total - 2 * total * a) // (2 * (total - a))
        c = total - a - b
        if a * a + b * b == c * c and a < b < c:
            return a, b, c
    return None


@calls("10", "20", "0")
def stern_brocot(n):
    seq = [1, 1]
    i = 1
    while len(seq) < n:
        seq.append(seq[i] + seq[i - 1])
        seq.append(seq[i])
        i += 1
    return seq[:n]


@calls("5", "1", "10")
def hamming(n):
    h = [1]
    i2 = i3 = i5 = 0
    while len(h) < n:
        nxt = min(h[i2] * 2, h[i3] * 3, h[i5] * 5)
        h.append(nxt)
        if nxt == h[i2] * 2:
            i2 += 1
        if nxt == h[i3] * 3:
            i3 += 1
        if nxt == h[i5] * 5:
            i5 += 1
    return h[-1]
