"""Functions that call themselves as deep as the data say."""

from __future__ import annotations

import numpy as np  # noqa: F401  (arguments name it)

from tests.corpus_staged import calls


@calls("0", "1", "15", "True", "7.5")
def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)


@calls("2, 3", "0, 5", "1, 12")
def ackermann(m, n):
    if m == 0:
        return n + 1
    if n == 0:
        return ackermann(m - 1, 1)
    return ackermann(m - 1, ackermann(m, n - 1))


@calls("5", "30", "100")
def factorial(n):
    return 1 if n == 0 else n * factorial(n - 1)


@calls("3", "10", "20")
def of_two_classes(n):
    if n == 0:
        return 0
    if n == 5:
        return 0.5 + of_two_classes(n - 1)
    return 1 + of_two_classes(n - 1)


@calls("0", "5", "50")
def none_at_some_depth(n):
    if n == 0:
        return None
    found = none_at_some_depth(n - 1)
    if found is None:
        return n
    return found + n if n % 7 else None


@calls("3, 4", "0, 4", "-2, 9")
def raises_at_the_bottom(a, n):
    if n == 0:
        return 1 // a
    return raises_at_the_bottom(a, n - 1) + 1


@calls("[1, 2, 3], 2", "[1.5, 2, 3], 2", "[1, 2, 3], 5", "[1, 'a', 3], 2", "[2**70, 3, 4], 2", "[None], 0")
def sums_items(xs, i):
    if i < 0:
        return 0
    return xs[i] + sums_items(xs, i - 1)


@calls("3", "0")
def prints(n):
    if n == 0:
        print("bottom")
        return 0
    print("down", n)
    found = prints(n - 1)
    print("up", n)
    return found + n


@calls("10", "10, 2", "3, 1, acc=4")
def with_defaults(n, step=1, *, acc=0):
    if n <= 0:
        return acc
    return with_defaults(n - step, acc=acc + n)


@calls("10", "5, 7", "n=3, b=1")
def with_keywords(n, a=2, b=3):
    if n <= 0:
        return a * 10 + b
    return with_keywords(b=a + 1, n=n - 1, a=b)


@calls("[0] * 10, 0", "[0.0] * 5, 3", "[True, None], 0")
def changes_and_raises(xs, i):
    if i == len(xs):
        return xs[i]
    xs[i] = i * i
    changes_and_raises(xs, i + 1)
    xs[i] += 1
    return None


@calls("[], 10", "[1], 3")
def appends(xs, n):
    if n == 0:
        return xs
    xs.append(n)
    return appends(xs, n - 1)


@calls("2.0, 10", "2, 4", "float('nan'), 4", "float('inf'), 2")
def floats(x, n):
    if n == 0:
        return x
    return floats(x * 1.5, n - 1) - 1


@calls("10", "0")
def by_another(n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    return even(n), odd(n)


@calls("7", "0")
def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def partition(xs, low, high):
    pivot, i = xs[high], low - 1
    for j in range(low, high):
        if xs[j] <= pivot:
            i += 1
            xs[i], xs[j] = xs[j], xs[i]
    xs[i + 1], xs[high] = xs[high], xs[i + 1]
    return i + 1


@calls("[5, 2, 9, 1, 5, 6], 0, 5", "[2.5, 1, 0.5], 0, 2", "[], 0, -1", "[3, 'a'], 0, 1", "np.array([3, 1, 2]), 0, 2")
def quicksort(xs, low, high):
    if low < high:
        middle = partition(xs, low, high)
        quicksort(xs, low, middle - 1)
        quicksort(xs, middle + 1, high)


@calls("[[0] * 4 for _ in range(3)], 1, 1, 0, 7", "[[0, 1], [1, 0]], 0, 0, 0, 2", "np.zeros((3, 3)), 1, 1, 0, 5")
def flood(grid, row, column, old, new):
    if row < 0 or row >= len(grid) or column < 0 or column >= len(grid[0]):
        return
    if grid[row][column] != old:
        return
    grid[row][column] = new
    flood(grid, row + 1, column, old, new)
    flood(grid, row - 1, column, old, new)
    flood(grid, row, column + 1, old, new)
    flood(grid, row, column - 1, old, new)


def is_safe(board, row, column):
    for each in range(row):
        if board[each] == column or abs(board[each] - column) == row - each:
            return False
    return True


@calls("[0] * 5, 0, 5", "np.zeros(4, int), 0, 4", "[0] * 3, 0, 4")
def queens(board, row, n):
    if row == n:
        return 1
    count = 0
    for column in range(n):
        if is_safe(board, row, column):
            board[row] = column
            count += queens(board, row + 1, n)
    return count


@calls("list(range(50)), 17, 0, 49", "[1.5, 2.5], 9, 0, 1", "np.arange(9), 3, 0, 8")
def binary_search(xs, x, low, high):
    if low > high:
        return -1
    middle = (low + high) // 2
    if xs[middle] == x:
        return middle
    if xs[middle] < x:
        return binary_search(xs, x, middle + 1, high)
    return binary_search(xs, x, low, middle - 1)


@calls("[1, 2, 3, 4], 0", "['a', 'b', 'c'], 0")
def permutations(xs, k):
    if k == len(xs):
        return 1 if xs[0] < xs[-1] else 0
    total = 0
    for i in range(k, len(xs)):
        xs[k], xs[i] = xs[i], xs[k]
        total += permutations(xs, k + 1)
        xs[k], xs[i] = xs[i], xs[k]
    return total


@calls("'kitten', 'sitting', 4, 5", "'', 'a', 0, 1", "[1, 2], [2, 1], 2, 2")
def distance(a, b, i, j):
    if i == 0 or j == 0:
        return i + j
    if a[i - 1] == b[j - 1]:
        return distance(a, b, i - 1, j - 1)
    return 1 + min(distance(a, b, i - 1, j), distance(a, b, i, j - 1), distance(a, b, i - 1, j - 1))


@calls("[3, 1, 2]", "[2.5, 1]", "[]", "['b', 'a']")
def sorted_anew(xs):
    if len(xs) <= 1:
        return xs
    pivot, rest = xs[0], xs[1:]
    return sorted_anew([x for x in rest if x < pivot]) + [pivot] + sorted_anew([x for x in rest if not x < pivot])
