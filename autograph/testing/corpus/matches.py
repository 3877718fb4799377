"""`match`."""

from autograph.testing.corpus import calls


@calls("0", "1", "7")
def literals(n):
    match n:
        case 0:
            return 10
        case 1:
            return 20
        case _:
            return 30


@calls("1", "3", "6")
def alternatives(n):
    match n:
        case 1 | 2:
            kind = 1
        case 3 | 4 | 5:
            kind = 2
        case _:
            kind = 3
    return kind


@calls("5", "-5", "0")
def guards(n):
    match n:
        case value if value > 0:
            return value * 2
        case value if value < 0:
            return -value
    return 1


@calls("1, 5", "2, 5", "2, 2")
def sequences(a, b):
    match (a, b):
        case (1, other):
            return other
        case (first, second) if first == second:
            return 0
        case (first, _):
            return first * 100


@calls("3", "4")
def without_default(n):
    result = -1
    match n:
        case 3:
            result = 9
    return result


@calls("3", "8")
def in_a_loop(n):
    total = 0
    for i in range(4):
        match n % 3:
            case 0:
                total += 1
            case 1:
                total += 10
            case _:
                total += 100
        n = n + 1
    return total
