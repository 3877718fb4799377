"""Constructs in constructs."""

import numpy as np  # noqa: F401

from tests.corpus_staged import calls


@calls("5, 3", "0, 0", "3, 10")
def loop_in_if_in_loop(n, m):
    total = 0
    for i in range(n):
        if i % 2 == 0:
            j = 0
            while j < m:
                if j == 2:
                    j += 2
                    continue
                total += i * j
                j += 1
        else:
            for k in range(i):
                if k > m:
                    break
                total -= k
    return total


@calls("np.array([4, -1, 3, 0, 2])", "np.array([], dtype=int)", "np.array([0])")
def returns_from_everywhere(x):
    for v in x:
        if v == 0:
            return "zero"
        while v > 0:
            v -= 2
            if v == -1:
                for w in x:
                    if w == 2:
                        return "odd", w
    else:
        return "end"


@calls("3", "1", "-2", "0")
def while_in_both_branches(n):
    if n > 0:
        while n < 100:
            n *= n + 1
    else:
        while n < 10:
            n += 3
            if n == 4:
                break
        else:
            n = -1
    return n


@calls("[[1, 2], [3, 4, 5], []]", "[]", "[[7], [-1, 7]]")
def breaks_of_two_levels(rows):
    seen = []
    for row in rows:
        for x in row:
            if x == 4:
                break
            if x < 0:
                return seen
            seen.append(x)
        else:
            seen.append("|")
            continue
        seen.append("!")
    return seen


@calls("12", "7", "0")
def conditional_in_test(n):
    count = 0
    while (n > 5 if count % 2 == 0 else n > 2) and not (n == 4 or count > 20):
        n -= 1 if n % 2 else 2
        count += 1
    return n, count


@calls("4", "0", "1")
def function_in_a_loop(n):
    results = []
    for i in range(n):

        def scaled(x):
            if x > 1:
                return x * i
            return i

        results.append(scaled(i + 1))
    return results


@calls("np.arange(4.0), 3", "np.arange(4.0), 0", "np.zeros(0), 2")
def try_in_a_loop_in_an_if(x, n):
    errors = 0
    if n > 0:
        for i in range(n + 3):
            try:
                x[i] += 1 / (i - 1)
            except ZeroDivisionError:
                errors += 1
            except IndexError as e:
                errors += 100
                message = str(e)
                break
        else:
            message = None
    else:
        message = "none"
    return errors, message


@calls("3", "6", "0")
def match_in_a_loop(n):
    state, path = "start", []
    while n >= 0:
        match state, n % 3:
            case "start", 0:
                state = "a"
            case "start", _:
                state = "b"
            case "a", r:
                path.append(r)
                state = "b"
            case _:
                if n > 4:
                    state = "start"
                    n -= 1
        n -= 1
        path.append(state)
    return path


@calls("np.array([[1, 0, 2], [0, 0, 3]])", "np.zeros((2, 2))", "np.zeros((0, 3))")
def comprehension_in_a_loop_in_a_loop(a):
    report = {}
    for i, row in enumerate(a):
        nonzero = [int(v) for v in row if v != 0]
        if nonzero:
            for j, v in enumerate(nonzero):
                if v > 1:
                    report[i, j] = [k for k in range(v)]
        else:
            report[i] = None
    return report


@calls("6", "0")
def else_of_if_of_else(n):
    a = b = c = 0
    for i in range(n):
        if i == 0:
            a = 1
        else:
            if i == 1:
                b = a
            else:
                if i % 2:
                    a, b = b, a + b
                elif c < 3:
                    c += a
                else:
                    c = 0.5
                    a = a - c
    return a, b, c


@calls("4", "1", "0")
def counters_of_loops(n):
    outer = middle = inner = 0
    while outer < n:
        middle = 0
        while middle <= outer:
            for _ in range(middle):
                inner += 1
                if inner % 5 == 0:
                    break
            middle += 1
            if inner > 20:
                return outer, middle, inner
        outer += 1
    return outer, middle, inner


@calls("3, True", "3, False", "0, True")
def plain_and_staged_conditions(n, verbose):
    lines = []
    for i in range(n):
        if verbose:
            if i > 0:
                lines.append(f"turn {i}")
            else:
                print("first")
        elif i == n - 1:
            lines = None
    return lines


@calls("np.array([3.0, -1.0, 2.0])", "np.array([0.0])", "np.array([])")
def mixed_carries(x):
    best, index, seen, flags = None, -1, [], {}
    for i, v in enumerate(x):
        if best is None or v > best:
            best, index = v, i
        if v < 0:
            seen.append(i)
            flags["negative"] = flags.get("negative", 0) + 1
    return best, index, seen, flags


@calls("10", "3", "0")
def two_loops_share_state(n):
    primes, number = [], 2
    while len(primes) < n:
        for p in primes:
            if number % p == 0:
                break
            if p * p > number:
                primes.append(number)
                break
        else:
            primes.append(number)
        number += 1
    return primes


@calls("5", "2", "0")
def deep(n):
    out = 0
    for a in range(n):
        if a % 2:
            for b in range(a):
                if b % 2 == 0:
                    for c in range(b + 1):
                        if c != 1:
                            k = c
                            while k < 3:
                                if (k + a) % 2:
                                    k += 2
                                    continue
                                out += k
                                k += 1
                        else:
                            out *= 2
    return out


@calls("np.array([1, 2, 3, 4]), 10", "np.array([1]), 0", "np.array([5, 5]), 10")
def pair_with_sum(x, target):
    n = len(x)
    for i in range(n):
        for j in range(i + 1, n):
            if x[i] + x[j] == target:
                break
        else:
            continue
        return i, j
    return None
