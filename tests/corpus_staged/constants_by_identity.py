"""`is True`, `is False` and `is None` of items, of results of staged comparisons, and of defaults."""

import numpy as np  # noqa: F401  (for arguments)

from tests.corpus_staged import calls


@calls("30", "2", "100")
def sieve_asking_for_true(n):
    flags = [True] * (n + 1)
    i = 2
    while i * i <= n:
        if flags[i] is True:
            for j in range(i * i, n + 1, i):
                flags[j] = False
        i += 1
    return sum(flags) - 2, [i for i in range(n) if flags[i] is False]


@calls("10", "0", "1", "40")
def filled_where_none(n):
    table = [None] * (n + 2)
    for i in range(n + 1):
        if table[i] is None:
            table[i] = 1 if i < 2 else table[i - 1] + table[i - 2]
    return table[n], table[n + 1] is None, table[0] is not None


@calls("[1, 2, 3], 2", "[1, 2], 0", "[1.5] * 40, 1", "np.arange(4), 1")
def results_of_comparisons(xs, n):
    count = 0
    for x in xs:
        if (x > n) is True:
            count += 1
        if (x > n) is not False:
            count += 10
        if False is (x == n):
            count += 100
    return count


@calls("[1, 2, 9], 4", "[], 2", "[1] * 40, 2")
def default_of_get(xs, n):
    table = {x: x * 2 for x in range(n)}
    out = []
    for x in xs:
        found = table.get(x)
        if found is None:
            found = table.get(x + 1, None)
        out.append(-1 if found is None else found)
    return out


@calls("[1, 2, 3], 3", "[], 0", "[1] * 40, 2")
def default_of_next(xs, n):
    it, total = iter(xs), 0
    while (v := next(it, None)) is not None:
        total += v
        if total > n:
            break
    last = next(it, None)
    return total, last is None, last, list(it)


@calls("[1, True, 0, False], 1", "[True, True], True", "[1, 2], 0")
def bools_and_numbers(xs, n):
    return [x is True for x in xs], n is True, (n > 1) is (n > 0), bool(xs[0]) is True, (not n) is False


@calls("np.ones(3), 0", "np.zeros(2), 0")
def numpys_bools_are_others(x, n):
    return (x[0] > n) is True, bool(x[0] > n) is True, np.bool_(True) is True


@calls("[0, 4, 8], 1", "[2] * 30, 2")
def cells_of_a_board(xs, n):
    board = [[None] * 3 for _ in range(3)]
    for x in xs:
        cell = board[x % 3][n % 3]
        if cell is None:
            board[x % 3][n % 3] = x
        elif cell is True:
            return x
    return board
