"""Loops of which only a part is numbers and elements of arrays, and what to call them with."""

import numpy as np

from tests.runtime.engines.native.programs import collection

PROGRAMS, calls = collection()


@calls("np.eye(5) * 20 + np.arange(25.0).reshape(5, 5)", "np.eye(3, dtype='f4') + 1", "np.zeros((3, 3))",
       "np.eye(2, dtype=int)")  # fmt: skip
def lu_by_rows(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i] -= f * a[k]
            a[i, k] = f
    return a


@calls("np.arange(12.0).reshape(3, 4), 3", "np.arange(12).reshape(4, 3).T, 3", "np.arange(12.0).reshape(3, 4), 5",
       "np.ones((3, 4, 2)), 3", "np.ones((3, 4), complex), 3")  # fmt: skip
def rows(a, n):
    """Views, some of them strided."""
    total = 0
    for i in range(n):
        row, column = a[i], a[:, i]
        for j in range(3):
            total += row[j] * column[j]
            row[j] = total
    return total, a


@calls("4", "0", "1")
def made_in_each_iteration(n):
    total = 0.0
    for i in range(n):
        b, c = np.zeros(n), np.arange(n)
        for j in range(n):
            b[j] = i * j
            c[j] += i
        total += b.sum() + np.sum(c) + c.max()
    return total


@calls("20", "0")
def appended(n):
    squares, odd = [], {}
    for i in range(n):
        square = i * i % 7
        squares.append(square + 0.5)
        if square % 2:
            odd[i] = square
    return squares, odd


@calls("7", "3")
def printed(n):
    total = 0
    for i in range(n):
        total += i
        print("iteration", i, total)
        if i == 5:
            print(f"{total:5d}", end="!\n")
    return total


@calls("np.array([[2.0, 1.0], [1.0, 3.0]]), 12", "np.eye(3), 2", "np.ones((2, 3)), 3", "np.zeros((2, 2)), 3")
def power_iteration(a, n):
    x = np.ones(len(a))
    value = 0.0
    for i in range(n):
        y = a @ x
        value = y[0] / x[0]
        norm = np.sqrt(y @ y)
        x = y / norm
        if i > 9:
            x[0] = value
    return x, value


@calls("np.arange(6.0), 3", "np.arange(6), 9")
def several_views(x, n):
    """What one view is given, others show."""
    for i in range(n):
        half, back = x[:3], x[::-1]
        half[0] += i
        back[1] = half[0] * 2
        x[2] = half[i] + back[5]
        x[1:3] = half[:2] + i
    return x


@calls("[1, 2, 3], 5", "[0.5, 2], 2", "[], 3", "[1, 'a', 3], 3")
def from_lists(xs, n):
    total = 0
    for i in range(n):
        total += xs[i] * i
        xs[i] = total
        ys = [total, i]
        xs.append(ys[0] + len(ys))
    return total, xs


@calls("np.arange(5.0), 4", "np.arange(5.0), 7", "np.arange(5.0), 9")
def changing_shape(x, n):
    for i in range(n):
        if i == 3:
            x.shape = (5, 1)
        if i == 6:
            x = x[::2]
        if i == 8:
            x = x.astype("f4")
        x[0] = i
    return x


@calls("np.arange(6.0), 4")
def read_only_meanwhile(x, n):
    for i in range(n):
        if i == 2:
            x.flags.writeable = False
        x[i] = 3
    return x


@calls("8", "2")
def of_many_kinds(n):
    """The same place gives numbers and arrays of many kinds."""
    kinds = [1, 2.5, np.arange(3), np.float32(3), "ab", np.arange(3.0)[::2], True, None]
    found = []
    for i in range(n):
        x = kinds[i]
        if x is not None:
            x = x * 2
        found.append((i * 3, x))
    return found


@calls("10, 3", "2, 0")
def kept(n, k):
    """Arrays that go on into the next iterations, and out of the loop."""
    best, last = None, np.zeros(3)
    for i in range(n):
        a = last + i
        if best is None or i % k == 1:
            best = a
        last, a[0] = a, a[1] * 2 % 11
    return best, last


@calls("np.arange(8.0), 8", "np.arange(8), 3", "[1, 2], 2")
def of_functions(x, n):
    total = 0
    for i in range(n):
        y = helper(x, i)
        total = total + y[0] if y[1] > 2 else total - 1
    return total


def helper(x, i):
    return np.array([x[i], x[i] * 2 + i])


@calls("np.arange(5.0), 5", "np.arange(5.0), 7", "[1, 2], 1")
def raising_inside(x, n):
    total = 0.0
    for i in range(n):
        total += x[i] * 2
        row = np.split(x, [i, 3])[1 - i % 4]
        if i == 4:
            row.nothing = 3
        total += row.sum()
    return total


@calls("5", "1")
def of_truths(n):
    found = 0
    left = list(range(n))
    while left:
        found += left.pop() * 2
        if left[-2:]:
            found += 1
    return found


@calls("30", "0")
def words(n):
    found, text = 0, ""
    for i in range(n):
        text = text + str(i % 4)
        if text.endswith("2"):
            found += len(text)
        found += i
    return found, text


@calls("np.arange(12.0).reshape(3, 4), 3", "np.arange(12).reshape(3, 4), 4")
def reshaped(a, n):
    total = 0
    for i in range(n):
        flat = a.ravel()
        total += flat[i] + a.T[i, 0]
        b = a.reshape(2, 6)
        b[1, i] = total
        rest = flat[i:]
        total += rest[0] + len(rest) + rest.shape[0] + b.ndim
    return total, a


@calls("[1, 2.5, 4]", "[]", "(1, 2)", "{3: 4, 5: 6}", "{7}", "np.arange(6.0).reshape(3, 2)", "'abc'", "5", "None",
       "np.array(3)", "iter([1, 2])", "range(3)", "np.arange(3.0)", "[[1, 2], np.arange(2), 'a']")  # fmt: skip
def through_anything(xs):
    total, count = 0, 0
    for x in xs:
        count += 1
        if count < 9:
            total = total + x * count
    return total, count


@calls("np.arange(12.0).reshape(4, 3)", "np.arange(12).reshape(3, 4).T", "np.zeros((0, 3))", "np.ones((2, 3, 2))")
def through_rows(a):
    total = 0.0
    for row in a:
        for i in range(3):
            total += row[i] * i
        row[0] = total
        for x in row:
            total = total + x
    return total


@calls("np.arange(4.0), [1, 2, 3, 4, 5]", "[1, 2], 'abc'", "[], []", "[1.5, 2], [[1, 2], 3]", "3, [1]")
def side_by_side(xs, ys):
    total, left = 0, []
    for i, (x, y) in enumerate(zip(xs, ys)):
        total += x * i
        total = total - i * 2
        if i % 2:
            left.append(y)
    return total, left


@calls("[(1, 2), (3, 4)]", "[[1, 2], [3, 4]]", "[(1, 2), (3, 4, 5)]", "['ab', 'cd']", "[(1, 2), 3]", "[(1,), (2, 3)]",
       "np.arange(6).reshape(3, 2)", "{(1, 2): 3, (4, 5): 6}")  # fmt: skip
def pairs(things):
    total, count = 0, 0
    for a, b in things:
        count += 2
        total = a + b if count == 2 else total + a + b
        count -= 1
    return total, count


@calls("5, 3", "5, 9", "0, 0")
def raised_by_iterators(n, k):
    total, numbers = 0, {}
    for i in range(n):
        numbers[i] = i
    for key in numbers:
        total += key * 2
        if key == k:
            numbers[99] = total
    for i in range(n):
        for j, value in enumerate(numbers.values()):
            total += j * value * i
    return total


# Lists ----------------------------------------------------------------------------------------------------------------


@calls("[[1.0, 2.0, 5.0], [0.5, 4.0, 1.0], [3.0, 9.0, 2.0]]", "[[1, 2, 5], [7, 4, 1], [3, 9, 2]]",
       "[[1, 0.5], [np.inf, 2]]", "[[1.0], [2.0]]", "[[2**70, 3], [4, 5]]", "[[True, 2], [3, 4]]", "[]",
       "[np.arange(2.0), [1.0, 2]]", "[[1.0, 'a'], [2.0, 3.0]]", "[(1.0, 2.0), [3.0, 4.0]]",
       "[[0.0] * 2] * 2")  # fmt: skip
def shortest(rows):
    n = len(rows)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                rows[i][j] = min(rows[i][j], rows[i][k] + rows[k][j])
    return rows


@calls("[[1.0, 2.0, 5.0], [0.5, 4.0, 1.0], [3.0, 9.0, 2.0]], 3", "[[1, 2], [7, 4]], 2", "[[1, 2, 3]], 2")
def relaxed(grid, rounds):
    n, m = len(grid), len(grid[0])
    for _ in range(rounds):
        fresh = [row[:] for row in grid]
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                fresh[i][j] = (grid[i - 1][j] + grid[i + 1][j] + grid[i][j - 1] + grid[i][j + 1]) / 4
        grid = fresh
    return grid


@calls("[[1, 2.0], ['a', None], [3.5]], 3", "[[1], [2], [3]], 3", "[[1], [2]], 3", "[1, 2, 3], 3", "[None, 1], 2")
def swapped(rows, n):
    """Rows change places, and items that are borrowed stay what they are."""
    seen = []
    for i in range(n):
        row = rows[i]
        rows[i], rows[-1] = rows[i - 1], row
        seen.append(row)
        seen[0] = rows
        rows[i - 1] = i
    return rows, seen[1:]


@calls("[3, 1, 2], 3", "[3.5, 1, -2.0], 3", "[], 2", "[1, 2], -3", "['b', 'a'], 2", "[True, 0.0, None], 3")
def items(xs, n):
    out = []
    for i in range(n):
        x = xs[i - 1]
        if x is None:
            out.append(len(out))
        else:
            out.append(x)
            xs[i - 1] = x * 2
        xs.append(i)
    return out, xs, len(xs)


@calls("[1, 2, 3], 3", "[1.5, 2.5], 1", "[0.5], 0")
def one_twice(xs, n):
    """An object that the list holds alone is replaced while it is still in use."""
    rows = [[x, -x] for x in xs]
    total = 0
    for i in range(n):
        row = rows[0]
        rows[0] = [row, i]
        rows[0] = row
        rows[0] = [i + 0.5, row[0]]
        total += row[1] + rows[0][1]
    return total, rows


class Changing:
    """When it is deleted, it changes a list and an array."""

    def __init__(self, xs, a):
        self.changed = xs, a

    def __del__(self):
        xs, a = self.changed
        xs.append(7.0)
        a[0] += 1


def with_changing():
    xs, a = [0.5] * 70, np.arange(3.0)
    xs[1] = Changing(xs, a)
    return xs, a


@calls("*with_changing(), 5", "*with_changing(), 0")
def deleted(xs, a, n):
    """Replacing an item runs code that changes the list and an array."""
    total = 0.0
    for i in range(n):
        xs[1] = i + 0.5
        total += xs[-1] * 2 + a[0]
    return total, xs, a


@calls("4", "0")
def grown(n):
    rows = [[0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            rows[i][j] = i * j if i != j else i / 2
        rows.append([])
        rows[n + i].append(rows[i][i])
    return rows


@calls("[0, 0, 0], 7", "[0.5], 9", "[], 1")
def counted_by_while(counts, n):
    i = steps = 0
    while i < n:
        counts[i % len(counts)] += 1
        if counts[0] > 1:
            counts[0] = counts[-1]
            steps += 1
        i += 1
    return counts, steps, len(counts)


@calls("[[0.0] * 4] * 3, np.arange(4.0)", "[[1, 2]], np.arange(2)", "[[1.0]], np.arange(3.0)")
def beside_arrays(rows, a):
    for row in rows:
        for j in range(len(a)):
            a[j] += row[j] * 2
            row[j] = a[j]
    return rows, a


@calls("[[1, 2.5], [3.5, 4]], [[0.5, 2], [1, True]]", "[[1, 2]], [[3], [4.5]]", "[[1.5]], [[2, 'a']]")
def product(a, b):
    """Items of several kinds: numbers that begin as integers."""
    rows, columns = len(a), len(b[0])
    c = [[0] * columns for _ in range(rows)]
    for i in range(rows):
        for j in range(columns):
            for k in range(len(b)):
                c[i][j] += a[i][k] * b[k][j]
    return c


@calls("[1, 2.5, -3, 0.5, True, 7]", "[0.5, 'a', 2]", "[2**80, 1.5]", "[]", "[np.inf, 1, -0.0]")
def several_kinds(xs):
    best, total, out = None, 0, []
    for x in xs:
        if best is None or x < best:
            best = x
        total += x
    for i in range(len(xs)):
        xs[i] = xs[i - 1] * 2 if i % 2 else total
        out.append(xs[i])
    return best, total, out, xs
