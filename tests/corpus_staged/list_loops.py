"""Loops over lists, tuples, `enumerate`, `zip` and dicts of numbers, which machine code runs without callbacks."""

from tests.corpus_staged import calls

NUMBERS = ("[0.5, 2.5, 3.0, -1.0] * 20, [4, 5, 6] * 20", "[1, 2, 3] * 20, [0.5, True, 2**70] * 20", "[], [1]")


@calls(*NUMBERS)
def weighted(xs, ys):
    total = 0
    for i, x in enumerate(xs, 3):
        total += i * x
    for x, y in zip(xs, ys):
        total += x * y
    for i, (x, y) in enumerate(zip(xs, ys)):
        total += i * (x - y)
    return total


@calls(*NUMBERS)
def each_with_each(xs, ys):
    found = []
    for x in xs:
        best = 0.0
        for j, y in enumerate(ys):
            if x * y > best:
                best = x * y + j
        for y, z in zip(ys, xs):
            best = best + y * z
        found.append(best)
    return found


@calls("[1, 2]", "[5.5, 2.0]", "[]")
def grown_while_iterated(xs):
    total = 0
    for i, x in enumerate(xs):
        if i < 70:
            xs.append(x + 1)
        elif i == 75:
            xs.clear()
        total += x
    return total, xs


@calls("[1, 2, 3.5] * 20, [1, 2, 3, 4] * 20", "[1] * 70, [9] * 80")
def shrunk_while_iterated(xs, ys):
    found = []
    for x, y in zip(xs, ys):
        if x > 2:
            ys.pop()
        found.append(x * y)
    return found, ys


@calls("[3, 1, 2] * 30, 7", "[3] * 70, 0", "['a'] * 70, 1", "[1] * 69 + [None], 2")
def from_one_iterator(xs, n):
    numbers = iter(xs)
    total = 0
    for x in numbers:
        total = total + x
        if total > n:
            break
    for i, x in enumerate(numbers):
        total = total + i * x
    return total, list(numbers)


@calls("[3, 1, 4, 1, 5] * 20, 2**53 - 3", "[3, 1, 4, 1, 5] * 20, 2**63 - 40", "[1] * 70, -(2**70)", "[1] * 70, True")
def numbered_from(xs, first):
    found = []
    for i, x in enumerate(xs, first):
        found.append(i + x)
    return found


@calls("[3, 1, 4, 1, 5] * 20, [1, 2] * 50", "[3] * 70, [1] * 71", "[3] * 71, [1] * 70")
def strictly_parallel(xs, ys):
    total = 0
    for x, y in zip(xs, ys, strict=True):
        total += x * y
    return total


@calls("[1, 2, 1, 3, 1] * 20", "[True, 1, 1.0, 0.5] * 20", "['a', 1, 2] * 30", "[1, [2], 3] * 30")
def histogram(xs):
    counts = {}
    for x in xs:
        counts[x] = counts.get(x, 0) + 1
    for x in xs:
        if x in counts:
            counts[x] += 1
    return counts


@calls("[1, 2, 1, 3] * 20, {1: 2.5, 2: 7, 3: None}", "[1, 2, 4] * 30, {1: 2, 2: 1}", "[2**70, 0], {2**70: 1, 0: 0}")
def looked_up(keys, table):
    total = 0
    for key in keys:
        value = table.get(key)
        if value is not None:
            total += value
    for key in keys:
        total += table[key]
    return total


@calls("[5, 3, 8, 1] * 20", "[0.5, 2, True] * 30", "[]")
def stack_of_pairs(xs):
    stack, found = [(0, len(xs))], []
    while stack:
        low, high = stack.pop()
        if high - low < 3:
            found.append((low, high))
            continue
        middle = (low + high) // 2
        stack.append((low, middle))
        stack.append((middle, high))
    while found:
        xs.append(found.pop()[0])
    return xs


@calls("[5, 3, 8, 1] * 20", "[0.5, 2, True] * 30", "[1, 2]")
def popped_too_often(xs):
    total = 0
    for _ in range(len(xs) + 1):
        total += xs.pop()
    return total


@calls("'kitten' * 9, 'sitting' * 8", "'', 'a'", "'äß→' * 20, 'ä→' * 30")
def edits(a, b):
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for j in range(len(b) + 1):
        table[0][j] = j
    for i in range(1, len(a) + 1):
        table[i][0] = i
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + cost)
    return table[-1]


@calls("[1, 2, 3, 4, 5] * 20, 4", "[0.5, 2, True] * 30, 3", "[1, 2], -1")
def windows(xs, n):
    found = []
    for i in range(len(xs)):
        part = xs[i : i + n]
        found.append(part + xs[-n:] + xs[:i])
        part.append(i)
    return found


@calls("[[1, 2, 3]] * 70", "[[0.5], [True, 2]] * 40", "[[1, 'a']] * 70")
def aliased(rows):
    copies = []
    for row in rows:
        copies.append(list(row) + row * 2)
        row[0] += 1
    return copies, rows, [row is rows[0] for row in rows]


@calls("[[1, 2, 3]] * 70", "[[0.5, 2], [True, 2**70]] * 40", "[[1, 'a']] * 70", "[[2], []]", "[[10**400, 0.5]] * 70")
def aggregated(rows):
    found = []
    for row in rows:
        found.append((max(row), min(row), sum(row), sorted(row)))
    return found


@calls("[5, 3, 8, 1, 3] * 20, 5", "[0.5, 2, True, 1.0] * 30, 3", "[1, 'a'] * 40, 4", "[3, 2] * 40, 0")
def sorted_windows(xs, n):
    window, found = sorted(xs[:n]), []
    for i in range(n, len(xs)):
        window.pop(window.index(xs[i - n]))
        j = 0
        while j < len(window) and window[j] < xs[i]:
            j += 1
        window.insert(j, xs[i])
        found.append((window[0], window.count(xs[i]), xs[i] in window, i in window))
    return found, window


@calls("[[5, 3, 8], [0.5, True], []] * 30", "[['b', 'a']] * 70", "[[1, None]] * 70")
def rearranged(rows):
    for row in rows:
        row.sort()
        row += [1, 2]
        row.reverse()
        del row[0]
        row.insert(-1, 9)
        row.insert(100, len(row))
    return rows


@calls("70, 5", "90, -1", "70, 0")
def made(n, m):
    found = []
    for i in range(n):
        found.append([i] * m + [0.5, None] * 2 + [i, []])
        if len(found) > 60:
            found.pop(0)
            del found[-1]
    return found


@calls("[1, 2, 3] * 30, 100", "[1, 2, 3] * 30, -1")
def removed_out_of_bounds(xs, i):
    total = 0
    while xs:
        if len(xs) < 60:
            del xs[i]
        total += xs.pop(len(xs) // 2)
    return total


JUMPS = {1: 38, 4: 14, 9: 31, 16: 6, 21: 42, 28: 84, 36: 44, 64: 60}


@calls("200, 7", "0, 1")
def snakes_and_ladders(n, seed):
    jumps = {1: 38, 4: 14, 9: 31, 16: 6, 21: 42, 28: 84, 36: 44, 64: 60}
    place, found = 0, []
    for _ in range(n):
        seed = (seed * 1103515245 + 12345) % 2147483648
        place = (place + seed // 65536 % 6 + 1) % 70
        if place in jumps:
            place = jumps[place]
        found.append(jumps.get(place, place) + JUMPS.get(place, 0.5))
        if place in (3, 5, 7) or place in [8, 10.0]:
            place += 1
    return found


@calls("[1, 2, 3] * 30", "[0, 5, 1] * 30", "[True, 1] * 50")
def constant_tables(xs):
    weights, days = (0.25, 0.5, 0.25), (31, 28, 31, 30)
    total = 0
    for x in xs:
        total += weights[x - 1] + days[x] * len(days)
    return total


@calls("[1, 2, 3] * 30")
def tables_that_differ(xs):
    found = []
    for x in xs:
        table = {1: 2, 2: 3, 3: 5}
        if x > 1:
            table[x] = 7
        found.append(table[x])
        found.append({1: 2})
    found[1][5] = 6
    return found


@calls("[0.5, 2.5, 1.5] * 40, {0.5: 1, 2.5: 2}")
def results_that_nothing_uses(xs, table):
    total = 0
    while len(xs) > 3:
        xs.pop()
        xs.pop(0)
        table.get(xs[0], 0.5)
        first, _ = (xs[0], xs[1]), sorted(xs)
        x, _ = first
        total += x
    return total, xs
