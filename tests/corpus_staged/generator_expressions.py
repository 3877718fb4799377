"""Generator expressions over staged and plain values: consumed at once, bit by bit, in branches, more than once."""

import numpy as np

from tests.corpus_staged import calls

ROWS = ("np.array([1, 2, 3])", "np.array([2.5, 0.0, 9.0])", "np.array([0, 0, 0])", "[1, 2, 3]", "[0, 0, 0, 2]")
LONG = "np.array([1, 2, 5, 6, 7, 8, 9, 10, 11])"


def loud(v):
    print("loud", v)
    return v


@calls(*ROWS, LONG)
def first_that_is_larger(x):
    return next((v for v in x if v > 2), -1), next((i for i, v in enumerate(x) if v > 1), None)


@calls(*ROWS)
def first_or_none_at_all(x):
    return next(i for i, v in enumerate(x) if v > 1)


@calls(*ROWS)
def first_of_items(x):
    return next(v for v in [x[0], x[1]] if v > 2)


@calls(*ROWS, LONG)
def used_up(x):
    g = (v * 2 for v in x)
    return sum(g), list(g)


@calls(*ROWS)
def left_in_the_middle(x):
    g = (v * 2 for v in x)
    out = []
    for v in g:
        out.append(v)
        if v > 2:
            break
    return out, list(g)


@calls(*ROWS)
def used_up_in_a_branch(x):
    g = (v * 2 for v in x)
    total = 0
    if x[0] > 0:
        total = sum(g)
    return total + sum(g)


@calls(*ROWS, LONG)
def turn_by_turn(x):
    for v in (loud(v) for v in x if v > 1):
        print("got", v)


@calls(*ROWS)
def two_by_hand(x):
    g = (loud(v) for v in x)
    print("made")
    return next(g), next(g), list(g), type(g).__name__


@calls(*ROWS)
def any_and_all(x):
    return any(loud(v) > 1 for v in x), all(loud(v) < 2 for v in x), any(v > 1 for v in [x[0], x[1]])


@calls(*ROWS)
def any_and_all_by_index(x):
    rising = all(x[i] <= x[i + 1] for i in range(len(x) - 1))
    return rising, any(x[i] > 1 for i in range(3)), sum(1 for v in x if v > 1)


@calls("7", "12", "1", "30")
def divisors(n):
    prime = all(n % d for d in range(2, n))
    return prime, any(n % d == 0 for d in range(2, 10)), sum(d for d in range(1, n + 1) if n % d == 0)


@calls("20", "2")
def primes(n):
    return [k for k in range(2, n) if all(k % d for d in range(2, k))]


@calls(*ROWS)
def chosen_by_staged_conditions(x):
    numbers = list(i for i in range(3) if x[i] > 1)
    letters = "".join(c for c in "abc" if x[0] > 1), sorted(c for c in "cab" if x[1] > 0)
    return numbers, letters, tuple(v for v in (1, 2, 3) if x[0] > v), min((v for v in x if v > 1), default=-1)


@calls(*ROWS)
def of_pairs_and_of_generators(x):
    total = 0
    for a, b in ((v, v * 2) for v in (w + 1 for w in x) if v > 0):
        if a > 2:
            continue
        total += b
    return total, sum(v for v in (w * 2 for w in x) if v > 2)


@calls("iter([1, 4, 2])", "iter([1, 2, 1, 3])", "iter([])", "iter([5])")
def takes_two_at_once(it):
    return any(e > next(it) for e in it), sum(e + next(it) for e in it)


@calls("iter([1, 4, 2]), 0", "iter([3, 4, 2, 5]), 2")
def takes_more_by_a_condition(it, n):
    found = max(e for e in it if next(it) > n)
    for e in (next(it) for _ in range(n)):
        found += e
    return found


@calls(*ROWS)
def unpacked(x):
    a, b = (v + 1 for v in x[:2])
    c, *d = (v for v in [1, x[0], 3])
    return a, b, c, d, [*(v + 1 for v in x)]


@calls(*ROWS)
def counts_what_is_computed(x):
    n = 0

    def bump(v):
        nonlocal n
        n += 1
        return v

    found = any(bump(v) > 1 for v in x)
    first = next((bump(v) for v in x if v > 2), None)
    return n, found, first


@calls(*ROWS)
def into_lists(x):
    out = []
    if x[0] > 0:
        out.append(1)
    out.extend(v for v in x if v > 1)
    out.extend(v for v in (1, 2, 3) if x[0] > v)
    out += (v for v in x)
    return out, [sum(v * k for v in x) for k in range(3)]


@calls(*ROWS)
def returned(x):
    return (v for v in x), np.sum(x)


@calls(*ROWS)
def in_a_loops_test(x):
    while any(v > 1 for v in x):
        x = [v - 1 for v in x]
    return x


@calls("12", "0", "30")
def perfect_numbers(n):
    """A generator that captures the variable of the comprehension around it, and is consumed at once."""
    found = [k for k in range(2, n) if sum(d for d in range(1, k) if k % d == 0) == k]
    return found, sum(1 for k in range(2, n) if all(k % d for d in range(2, k)))


@calls("[[1, 2], [3, 4], [0, 7]]", "[[1.5, 2.0]]")
def sums_of_rows(rows):
    largest = [max(x - rows[0][0] for x in row) for row in rows]
    return largest, [sorted(row, key=lambda x: -x * row[0])[0] for row in rows]
