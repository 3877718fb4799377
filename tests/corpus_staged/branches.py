"""`if`, conditional and logical expressions, chained comparisons, `match`."""

import math

import numpy as np

from tests.corpus_staged import calls


@calls("3", "-3", "0", "-2.5", "np.float32(-1)")
def absolute(x):
    if x < 0:
        return -x
    return x


@calls("5", "0", "-5", "0.0", "np.int8(-7)")
def sign(x):
    if x > 0:
        s = 1
    elif x < 0:
        s = -1
    else:
        s = 0
    return s


@calls("95", "80", "71.5", "12")
def grade(points):
    if points >= 90:
        letter = "A"
    elif points >= 80:
        letter = "B"
    elif points >= 70:
        letter = "C"
    else:
        letter = "F"
    return letter, points


@calls("4", "-4", "0")
def integer_or_float(n):
    """The two ways give different types."""
    if n > 0:
        half = n // 2
    else:
        half = n / 2
    return half


@calls("4.0", "-4.0", "float('nan')")
def number_or_none(x):
    if x >= 0:
        return math.sqrt(x)


@calls("1", "0", "-1")
def number_text_or_list(n):
    if n > 0:
        result = n
    elif n == 0:
        result = "zero"
    else:
        result = [n]
    return result


@calls("2, True", "2, False", "-2, True", "-2, False")
def bound_on_one_path(x, use):
    if x > 0:
        y = x * 10
    if use and x > 0:
        return y
    return x


@calls("2", "-2")
def used_though_unbound(x):
    if x > 0:
        y = x * 10
    return y + 1


@calls("3, 4", "4, 3", "2, 2")
def swap_if_greater(a, b):
    if a > b:
        a, b = b, a
    return a, b


@calls("3, 1, 2", "1, 1, 1", "1, 2.5, 2")
def median_of_three(a, b, c):
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    return b


@calls("1.0, -3.0, 2.0", "1, 2, 1", "1, 0, 1", "0, 2, 4", "0, 0, 1")
def quadratic(a, b, c):
    if a == 0:
        if b == 0:
            raise ValueError("not an equation")
        return (-c / b,)
    d = b * b - 4 * a * c
    if d > 0:
        root = math.sqrt(d)
        return (-b - root) / (2 * a), (-b + root) / (2 * a)
    elif d == 0:
        return (-b / (2 * a),)
    else:
        root = math.sqrt(-d)
        return complex(-b, -root) / (2 * a), complex(-b, root) / (2 * a)


@calls("2000", "1900", "2024", "2023")
def leap_year(year):
    return year % 4 == 0 and year % 100 != 0 or year % 400 == 0


@calls("3", "0", "-1", "[]", "[1]", "None")
def truth(x):
    return "yes" if x else "no"


@calls("5, 0, 3", "1, 2, 3", "-1, 0, 1", "0.5, 0, np.float64(2)")
def clamp(x, low, high):
    return low if x < low else high if x > high else x


@calls("0, 3", "2, 0", "0, 0", "2, 3", "0.0, []")
def values_of_and_and_or(a, b):
    return a and b, a or b, not a, (a or b) and a


@calls("3", "15", "5", "7", "0")
def fizz_buzz(n):
    text = ""
    if n % 3 == 0:
        text += "Fizz"
    if n % 5 == 0:
        text += "Buzz"
    return text or str(n)


@calls("1, 2, 3", "3, 2, 1", "1, 1, 1", "1, 1, 2")
def chained(a, b, c):
    return a < b < c, a <= b <= c, a == b == c, a < b > c, a != b != c


@calls("5", "-5")
def short_circuit_keeps_from_failing(x):
    return x > 0 and math.sqrt(x) > 2, x < 0 or 1 / x < 1


@calls("np.array([1.0, -2.0, 3.0])", "np.array([])", "np.array([-1.0])")
def branch_on_a_sum(x):
    if x.sum() > 0:
        y = x / x.sum()
    else:
        y = np.zeros_like(x)
    return y


@calls("np.array([1.0, 2.0]), 1", "np.array([1.0, 2.0]), -1")
def shapes_differ(x, n):
    if n > 0:
        y = np.ones(5)
    else:
        y = x
    return y, y.shape, len(y)


@calls("np.array([True, False])", "np.array([1])", "np.array([0.0])", "np.array(3)")
def truth_of_an_array(x):
    if x:
        return 1
    return 2


@calls("np.array([1, 2, 3]), np.array([1, 2, 3])", "np.array([1, 2]), np.array([1, 3])", "np.arange(2), np.arange(3)")
def all_equal(x, y):
    if x.shape != y.shape:
        return False
    if (x == y).all():
        return True
    return "some" if np.any(x == y) else False


@calls("0", "1", "2", "7", "-1", "1.0", "True")
def match_number(n):
    match n:
        case 0:
            return "zero"
        case 1 | 2:
            return "small"
        case int() if n < 0:
            return "negative"
        case int():
            return "integer"
        case _:
            return "other"


@calls("(0, 0)", "(3, 0)", "(0, 4)", "(3, 4)", "(1, 2, 3)", "5")
def match_point(point):
    match point:
        case (0, 0):
            return 0
        case (x, 0):
            return x
        case (0, y):
            return y
        case (x, y):
            return (x * x + y * y) ** 0.5
        case _:
            raise ValueError("not a point")


@calls("{'kind': 'circle', 'r': 2.0}", "{'kind': 'box', 'w': 2, 'h': 3}", "{'kind': 'line'}", "{}")
def match_mapping(shape):
    match shape:
        case {"kind": "circle", "r": r}:
            area = math.pi * r**2
        case {"kind": "box", "w": w, "h": h} if w > 0 and h > 0:
            area = w * h
        case {"kind": kind}:
            return f"unknown: {kind}"
        case _:
            area = None
    return area


@calls("[1, 2, 3]", "[1]", "[]", "[5, 6]", "(7, 8, 9, 10)")
def match_sequence(xs):
    match xs:
        case []:
            total = 0
        case [x]:
            total = x
        case [x, *rest]:
            total = x + len(rest) * max(rest)
    return total


@calls("3, None", "3, 4", "3, 0")
def optional_argument(x, scale=None):
    if scale is None:
        scale = 2
    if scale == 0:
        return x
    return x * scale


@calls("3", "3.5", "True", "'3'", "np.float64(3)", "np.arange(3)", "[3]", "2 + 1j")
def by_class(x):
    if isinstance(x, bool):
        return "truth", not x
    elif isinstance(x, int):
        return "integer", x + 1
    elif isinstance(x, float):
        return "float", x + 0.5
    elif isinstance(x, (str, list)):
        return "sequence", len(x)
    elif isinstance(x, np.ndarray):
        return "array", x.sum()
    return "other", type(x).__name__


@calls("3", "3.5", "np.int16(3)", "np.arange(2.0)", "np.array(1)", "1j")
def names_of_types(x):
    y = x * 2
    return type(x).__name__, type(y).__name__, type(y) is type(x), isinstance(y, type(x)), np.isscalar(y)


@calls("1, 10", "2, 10", "3, 10", "9, 10")
def dispatch(op, x):
    actions = {1: lambda v: v + 1, 2: lambda v: v * 2, 3: lambda v: -v}
    if op in actions:
        return actions[op](x)
    return None


@calls("3, 4", "0, 0", "-1, 1")
def nested_conditions(x, y):
    if x > 0:
        if y > 0:
            where = "I"
        else:
            where = "IV"
    elif x < 0:
        if y > 0:
            where = "II"
        else:
            where = "III"
    elif y == 0:
        where = "origin"
    else:
        where = "axis"
    return where


@calls("2", "3.0", "-1")
def conditional_with_calls(x):
    def f(v):
        return v * 10

    def g(v):
        return v - 1

    return (f if x > 2 else g)(x), f(x) if x > 0 else g(x)


@calls("1, 2", "2, 1", "1.0, 1")
def comparisons(a, b):
    return [a == b, a != b, a < b, a <= b, a > b, a >= b, (a < b) + (a == b), -(a > b)]


@calls("0", "1", "np.array([0, 1])")
def is_true(x):
    found = bool(np.any(x))
    return found is True, found is not False, (x is None) is False


@calls("2", "0", "0.5", "None")
def the_same_asked_twice(a):
    found = []
    if a and a:
        found.append("and")
    if a or a:
        found.append("or")
    if a and (a or a):
        found.append("both")
    while a and a:
        a -= a
        found.append(a)
    return found
