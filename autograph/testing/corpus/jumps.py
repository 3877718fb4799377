"""`break`, `continue`, `return` in loops, and `else` of loops."""

from autograph.testing.corpus import calls


@calls("10", "0")
def break_in_while(limit):
    n = 1
    while True:
        if n > limit:
            break
        n *= 2
    return n


@calls("np.array([3.0, 1.0, -2.0, 5.0])", "np.array([3.0, 1.0])")
def break_in_for(xs):
    total = 0.0
    for x in xs:
        if x < 0:
            break
        total += x
    return total


@calls("10", "7")
def continue_in_while(n):
    total = 0
    while n > 0:
        n -= 1
        if n % 3 == 0:
            continue
        total += n
    return total


@calls("np.array([3.0, -1.0, 2.0])")
def continue_in_for(xs):
    total = 0.0
    for x in xs:
        if x < 0:
            continue
        total += x
    return total


@calls("20", "3")
def break_and_continue(n):
    total = 0
    for i in range(n):
        if i % 2 == 0:
            continue
        if i > 9:
            break
        total += i
    return total


@calls("np.array([3.0, -1.0, -2.0])", "np.array([3.0, 1.0])")
def return_in_for(xs):
    for i, x in enumerate(xs):
        if x < 0:
            return i
    return -1


@calls("91", "13")
def return_in_while(n):
    divisor = 2
    while divisor * divisor <= n:
        if n % divisor == 0:
            return divisor
        divisor += 1
    return n


@calls("np.array([[1, 2], [0, 4]])", "np.array([[1, 2], [3, 4]])")
def return_from_nested_loops(m):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] == 0:
                return i * 10 + j
    return -1


@calls("np.array([1, 5, 9])", "np.array([1, 3, 9])")
def for_else(xs):
    for x in xs:
        if x == 5:
            found = 1
            break
    else:
        found = 0
    return found


@calls("7", "9")
def while_else(n):
    divisor = 2
    while divisor < n:
        if n % divisor == 0:
            break
        divisor += 1
    else:
        divisor = 0
    return divisor


@calls("6", "1")
def break_from_the_inner_loop(n):
    total = 0
    for i in range(n):
        for j in range(n):
            if i + j > 4:
                break
            total += 1
    return total


@calls("12", "2")
def two_breaks(n):
    total = 0
    while True:
        if n <= 0:
            break
        total += n
        if total > 20:
            break
        n -= 3
    return total, n


@calls("np.array([0.5, 0.2, 0.9]), 0.4", "np.array([0.1, 0.2, 0.3]), 0.4")
def first_above(xs, level):
    found = -1.0
    for x in xs:
        if x > level:
            found = x
            break
    return found
