"""Python's numbers: exact integers, mixtures, conversions, `math`."""

import cmath
import math
from fractions import Fraction

import numpy as np  # noqa: F401

from tests.corpus_staged import calls


@calls("30", "0", "1", "5")
def exact_factorial(n):
    product = 1
    for i in range(2, n + 1):
        product *= i
    return product


@calls("2, 100", "-3, 41", "10, 0", "2, -2", "0, 0")
def large_powers(a, b):
    return a**b, a**b % 1000


@calls("2**62, 2**62", "-2**63, -1", "10**30, 10**30", "1, 2")
def beyond_64_bits(a, b):
    return a + b, a * b, a - b, a // b, -a


@calls("2**70, 3", "5, 2**70", "-1, 65")
def large_bits(a, b):
    return a & b, a | b, a ^ b, ~a, a >> 3, a << 2, a.bit_length()


@calls("7, 2", "-7, 2", "7, -2", "7.5, 2", "-7.5, -2", "True, 2")
def division(a, b):
    return a / b, a // b, a % b, divmod(a, b)


@calls("3, 2, 5", "3, -1, 7", "2, 100, 1000007")
def modular_power(a, b, m):
    return pow(a, b, m), pow(a, 2)


@calls("2.7", "-2.7", "2", "True", "np.float32(2.5)", "1e300")
def conversions(x):
    return int(x), float(x), bool(x), complex(x), str(x)


@calls("2.5", "3.5", "-0.5", "2.675", "7", "1234.5")
def rounding(x):
    return round(x), round(x, 1), round(x, -2), math.floor(x), math.ceil(x), math.trunc(x)


@calls("1, 2.0", "1, 2j", "True, 2", "True, 0.5", "False, True")
def mixtures(a, b):
    return a + b, a - b, a * b, a == b, a and b, abs(a) + abs(b)


@calls("3 + 4j", "1j", "0j", "2.0")
def complex_numbers(z):
    return z.real, z.imag, abs(z), z.conjugate(), z * z, cmath.sqrt(z), z == z.real


@calls("True, False", "True, True", "False, False")
def booleans(a, b):
    return a & b, a | b, a ^ b, a + b, -a, ~int(a), not a, a * 3, a < b, sum([a, b])


@calls("0.5", "2", "np.float64(0.25)")
def elementary(x):
    return (math.sin(x), math.cos(x), math.atan2(x, 2), math.exp(x), math.log(x), math.log2(x), math.log(x, 3),
            math.hypot(x, 1), math.degrees(x), math.tanh(x), math.copysign(x, -1), math.fmod(7, x))  # fmt: skip


@calls("12, 18", "0, 5", "17, 5")
def integer_math(a, b):
    return math.gcd(a, b), math.lcm(a, b), math.isqrt(a), math.comb(a, 2), math.factorial(b), math.perm(b, 2)


@calls("float('nan')", "float('inf')", "-0.0", "1.0")
def special_values(x):
    return math.isnan(x), math.isinf(x), x == x, x < 1, x > 1, max(x, 1.0), min(1.0, x), abs(x), math.copysign(1, x)


@calls("10", "255", "0", "-5")
def number_texts(n):
    return bin(n), hex(n), oct(n), str(n)[::-1], len(str(n)), [int(d) for d in str(abs(n))]


@calls("'ff', 16", "'1010', 2", "'zz', 36", "'8', 8")
def parse_number(text, base):
    value = 0
    for c in text:
        digit = ord(c) - ord("0") if c.isdigit() else ord(c) - ord("a") + 10
        if digit >= base:
            raise ValueError(f"{c!r} is no digit to base {base}")
        value = value * base + digit
    return value, int(text, base)


@calls("13, 2", "255, 16", "0, 2", "-5, 3")
def to_base(n, base):
    if n == 0:
        return "0"
    digits, negative = "", n < 0
    n = abs(n)
    while n:
        n, digit = divmod(n, base)
        digits = "0123456789abcdef"[digit] + digits
    return "-" + digits if negative else digits


@calls("1, 3", "2, -4", "5, 0")
def fractions(a, b):
    total = Fraction(0)
    for i in range(1, 4):
        total += Fraction(a, b) / i
    return str(total), total > 1, float(total)


@calls("1.1, 2.2", "0.1, 0.2", "1e16, 1")
def float_details(a, b):
    return a + b == 3.3, a + b, (a + b) - a, a.is_integer(), a.as_integer_ratio(), a.hex()


@calls("5, 3", "0, 0", "-1, 2", "1, -1", "2.0, 1")
def bits(a, b):
    return a & b, a | b, a << b, a >> b


@calls("10", "0", "-3")
def digit_sum(n):
    total = 0
    n = abs(n**5)
    while n > 0:
        total += n % 10
        n //= 10
    return total


@calls("100", "1")
def fibonacci_exactly(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a, len(str(a))


@calls("3", "3.0", "np.int64(3)", "np.float32(3)", "True")
def as_dict_key(x):
    d = {3: "three", 1: "one", 0.5: "half"}
    return d.get(x), d.get(x / 6), {x: 1} == {3: 1}, hash(x) == hash(3)


@calls("1", "1.0", "2", "None")
def identity(x):
    y = x
    return x is y, x is None, y is not None, x == 1, x in (1, None)


@calls("3", "7")
def augmented(n):
    a = n
    a += 2; a -= 1; a *= 3; a //= 2; a %= 5; a **= 2; a <<= 3; a >>= 1; a |= 1; a &= 14; a ^= 5  # fmt: skip
    b = float(n)
    b /= 3
    return a, b


@calls("5", "2.5", "np.array([1, 2])")
def no_change(x):
    return +x, x * 1, x + 0, x**1, x - 0, --x, x / 1


@calls("0", "1", "0.0", "-0.0", "np.array([0, 1])", "2j")
def zeros_and_ones(x):
    return x * 0, 0 * x, x + 0.0, 0 - x, x**0, 1 * x, x - x


@calls("3, 4, 5", "1.5, 2, 1")
def sums_and_extremes(a, b, c):
    return (sum((a, b, c)), sum([a, b], c), max(a, b, c), min([a, b, c]), sorted((a, b, c)), math.fsum([a, b]),
            math.prod([a, b, c]))  # fmt: skip


@calls("np.array([7, 2, 11])", "[7, 2, 11]")
def as_text(x):
    return (hex(x[0]), chr(65 + x[1]), oct(x[0]), bin(x[1]), round(2.5678, x[1]), "ab".center(x[2], "-"),
            "a".zfill(x[1]), "abcab".count("ab", x[1]), "{:{}}|".format("a", x[1]))  # fmt: skip


@calls("np.array([1, 2])", "3")
def attribute_by_number(x):
    class_ = type("Box", (), {})
    box = class_()
    setattr(box, f"field_{x}", x)
    return vars(box)


@calls("1, None", "None, 1", "2.5, 'a'", "'a', np.float64(1)", "np.arange(2), None", "None, np.arange(2)", "1, 2")
def orders(a, b):
    return a < b


@calls("None, 1", "1, [2]", "(1,), 3")
def orders_the_other_way(a, b):
    return b >= a


@calls("1, None, 2")
def orders_in_a_chain(a, b, c):
    return a < b <= c
