"""`and`, `or`, `not`, chained comparisons and `in`."""

from autograph.testing.corpus import calls


@calls("3, 4", "3, -4", "-3, -4")
def both(a, b):
    return a > 0 and b > 0


@calls("3, -4", "-3, -4")
def either(a, b):
    return a > 0 or b > 0


@calls("3", "-3")
def negated(x):
    return not x > 0


@calls("3, 5", "0, 5", "0, 0")
def value_of_and(a, b):
    return a and b


@calls("3, 5", "0, 5", "0, 0")
def value_of_or(a, b):
    return a or b


@calls("2", "0", "20")
def later_operand_is_guarded(n):
    if n != 0 and 10 // n > 2:
        return 1
    return 0


@calls("5", "-1", "10", "0")
def between(x):
    return 0 <= x < 10


@calls("1, 2, 3", "1, 3, 2", "3, 2, 1")
def ascending(a, b, c):
    if a < b < c:
        return 1
    return 0


@calls("1, 5", "6, 5", "4, 2")
def mixed(a, b):
    if not (a > b) and (b > 3 or a == 4):
        return a
    return b


@calls("2", "5")
def among_constants(n):
    return n in (1, 2, 3)


@calls("2", "5")
def not_among_constants(n):
    if n not in (1, 2, 3):
        n = -n
    return n


@calls("2, np.array([1, 2, 3])", "7, np.array([1, 2, 3])")
def among_items(n, xs):
    return n in xs
