"""`for` and `while`: what they run over, how they end, what is left."""

import numpy as np

from tests.corpus_staged import calls


@calls("10", "0", "1", "-3", "2.5")
def count_down(n):
    turns = 0
    while n > 0:
        n -= 1
        turns += 1
    return n, turns


@calls("np.array([1.0, 2.0, 3.5])", "np.array([])", "np.array([1, 2], dtype=np.int16)", "[1, 2.5]")
def total(x):
    result = 0
    for v in x:
        result += v
    return result


@calls("5", "0", "-1", "np.int64(4)")
def triangular(n):
    total = 0
    for i in range(n + 1):
        total += i
    return total


@calls("2, 20, 3", "20, 2, -3", "0, 0, 1", "1, 5, 0")
def range_of_three(start, stop, step):
    out = []
    for i in range(start, stop, step):
        out.append(i * i)
    return out


@calls("np.array([3.0, 1.0, 2.0])", "np.array([])", "[4, 5]")
def with_enumerate(x):
    weighted = 0.0
    for i, v in enumerate(x):
        weighted += i * v
    return weighted


@calls("[1, 2, 3]", "[]")
def enumerate_from(xs):
    out = {}
    for i, x in enumerate(xs, start=10):
        out[i] = x
    return out


@calls("np.array([1, 2, 3]), np.array([4, 5, 6])", "np.array([1, 2]), [1.5]", "[], []")
def dot(a, b):
    result = 0
    for x, y in zip(a, b):
        result += x * y
    return result


@calls("np.array([1, 2, 3])", "[1.5, 2]", "[]")
def backwards(x):
    number = 0
    for v in reversed(x):
        number = number * 10 + v
    return number


@calls("4", "0")
def backwards_range(n):
    out = []
    for i in reversed(range(n)):
        out.append(i)
    return out


@calls("[(1, (2, 3)), (4, (5, 6))]", "[]", "[(1, 2)]")
def nested_targets(rows):
    total = 0
    for a, (b, c) in rows:
        total += a * b - c
    return total


@calls("np.arange(6).reshape(3, 2)", "np.arange(3).reshape(3, 1)", "np.zeros((0, 2))")
def rows_unpacked(points):
    total = 0
    for x, y in points:
        total += x * y
    return total


@calls("[1, 2], np.array([0.5, 1.5]), 'ab'", "[], np.array([]), ''")
def zip_enumerate(xs, ys, names):
    out = []
    for i, (x, y, name) in enumerate(zip(xs, ys, names)):
        out.append(f"{i}{name}:{x * y}")
    return out


@calls("np.array([1, 5, -2, 7])", "np.array([1, 2])", "np.array([])")
def first_negative(x):
    for i, v in enumerate(x):
        if v < 0:
            return i
    return -1


@calls("np.array([1, 5, -2, 7])", "np.array([1, 2])", "np.array([], dtype=int)")
def found_or_else(x):
    for v in x:
        if v < 0:
            found = v
            break
    else:
        found = 0
    return found


@calls("7", "9", "2", "1")
def is_prime(n):
    if n < 2:
        return False
    d = 2
    while d * d <= n:
        if n % d == 0:
            return False
        d += 1
    return True


@calls("10, 3", "0, 1", "5, 5")
def while_else(n, stop):
    while n > 0:
        n -= 1
        if n == stop:
            break
    else:
        n = -100
    return n


@calls("np.array([1, -1, 2, -2, 3])", "np.array([-1])", "np.array([])")
def sum_of_positive(x):
    total = 0
    for v in x:
        if v <= 0:
            continue
        total += v
    return total


@calls("100", "5", "0")
def break_and_continue(limit):
    total, n = 0, 0
    while True:
        n += 1
        if n % 3 == 0:
            continue
        if total + n > limit:
            break
        total += n
    return total, n


@calls("27", "1", "8")
def collatz_steps(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@calls("3", "0")
def target_after_the_loop(n):
    last = None
    for i in range(n):
        last = i * 2
    return i, last


@calls("[3, 4]", "[]")
def target_shadows(xs):
    x = 100
    for x in xs:
        x = x + 1
    return x


@calls("np.eye(3)", "np.zeros((0, 0))", "np.array([[1, 2], [3, 4]])")
def trace_by_two_loops(a):
    total = 0
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if i == j:
                total += a[i, j]
    return total


@calls("np.array([[1, 2], [-3, 4]])", "np.array([[1, 2], [3, 4]])", "np.zeros((2, 0))")
def find_in_matrix(a):
    place = None
    for i, row in enumerate(a):
        for j, v in enumerate(row):
            if v < 0:
                place = i, j
                break
        if place is not None:
            break
    return place


@calls("6", "1", "0")
def nested_with_early_return(n):
    for i in range(n):
        for j in range(i):
            if i * j == 12:
                return i, j
    return n


@calls("4", "0")
def loop_variable_bounds_the_next(n):
    count = 0
    for i in range(n):
        for j in range(i, n):
            for k in range(j, n):
                count += i + j + k
    return count


@calls("1, 1e-6", "100.0, 1e-3", "0, 1e-3")
def until_it_settles(x, eps):
    guess, last = 1.0, 0.0
    while abs(guess - last) > eps:
        last = guess
        guess = 0.5 * (guess + x / guess)
    return guess


@calls("3", "0")
def dtype_widens_in_the_loop(n):
    x = 0
    for i in range(n):
        if i == 1:
            x = x + 0.5
        elif i == 2:
            x = x * 1j
        else:
            x = x + i
    return x


@calls("np.arange(3.0), 2", "np.arange(3.0), 0", "np.arange(0), 3")
def shape_grows_in_the_loop(x, n):
    for _ in range(n):
        x = np.concatenate([x, x[:1] + 1])
    return x, x.shape


@calls("4", "0")
def rank_changes_in_the_loop(n):
    x = 1.0
    for i in range(n):
        if i == 1:
            x = np.array([x, i])
        elif i == 3:
            x = x[None]
    return x


@calls("{'a': 1, 'b': 2}", "{}")
def over_a_dict(d):
    keys, total = [], 0
    for k in d:
        keys.append(k)
    for v in d.values():
        total += v
    for k, v in d.items():
        d[k] = v * 10
    return keys, total


@calls("'hello'", "''")
def over_text(s):
    out = ""
    for i, c in enumerate(s):
        out = c + out if i % 2 else out + c
    return out


@calls("{3, 1, 2}", "set()")
def over_a_set(s):
    total = 0
    for x in s:
        total += x
    return total


@calls("[1, 2, 3, 4]", "[]")
def over_an_iterator(xs):
    it = iter(xs)
    pairs = []
    for x in it:
        pairs.append((x, next(it, None)))
    return pairs


@calls("[[1, 2], [3], []]", "[]")
def over_nested_lists(rows):
    flat = []
    for row in rows:
        for x in row:
            if x != 2:
                flat.append(x)
    return flat


@calls("np.arange(24).reshape(2, 3, 4)", "np.zeros((1, 0, 2))")
def over_three_dimensions(a):
    total = 0
    for plane in a:
        for row in plane:
            for v in row:
                total = total * 2 + v
    return total


@calls("5, 2", "2, 5", "0, 0")
def two_conditions(a, b):
    turns = 0
    while a > 0 and b < 10:
        a -= 1
        b += 3
        turns += 1
    return a, b, turns


@calls("10", "0")
def nothing_but_pass(n):
    for i in range(n):
        pass
    while n > 20:
        pass
    return n


@calls("[5, 3, 8]", "[]")
def sentinel(xs):
    i = 0
    best = float("-inf")
    while i < len(xs):
        if xs[i] > best:
            best = xs[i]
            where = i
        i += 1
    if best > 0:
        return best, where
    return best


@calls("3, 4", "0, 2")
def accumulate_table(rows, columns):
    table = np.zeros((rows, columns), dtype=int)
    for i in range(rows):
        for j in range(columns):
            if (i + j) % 2:
                table[i, j] = i * 10 + j
            else:
                table[i, j] -= 1
    return table


@calls("np.array([3, 1, 2]), 2", "np.array([1]), 0", "np.array([1]), 3")
def index_by_loop_variable(x, n):
    out = []
    for i in range(n):
        out.append(x[i] + x[-1 - i])
    return out


@calls("1000", "0")
def long_loop(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, (a + b) % 1_000_007
    return a


@calls("5")
def walrus_in_a_loop(n):
    out = []
    while (n := n - 1) > 0:
        if (half := n // 2) > 0:
            out.append(half)
    return out, half


@calls("np.array([0.5, 0.2, 0.8])", "np.array([0.01, 0.2, 0.8])", "[0.5, 0.25, 1.0]")
def walrus_hands_on_to_the_body(x):
    total, i = 0.0, 0
    while (v := x[i % 3] * 0.9**i) > 0.05 and (half := v / 2) > 0.01:
        total += v if i % 2 == 0 else half
        i += 1
    return total, i, v


@calls("np.array([1.0, 2.0, 4.0])", "np.array([1.0])", "np.array([])")
def pairs_of_neighbours(x):
    out = []
    for a, b in zip(x, x[1:]):
        out.append(b - a)
    return np.array(out)


class Total:
    def __init__(self, amount):
        self.amount = amount
        self.asked = 0

    def below(self, limit):
        self.asked += self.amount > 3
        return self.amount < limit


@calls("Total(1), 3", "Total(0.5), 0")
def while_an_attribute_changes(total, n):
    i = 0
    while i < n:
        total.amount += i
        i += 1
    return total.amount


@calls("3", "0", "2.5")
def while_an_item_changes(n):
    totals = [0, {"a": 1}]
    i = 0
    while i < n:
        totals[0] += i
        totals[1]["a"] *= 2
        i += 1
    return totals


@calls("Total(1), 20", "Total(7.5), 3")
def while_the_test_changes_an_attribute(total, limit):
    while total.below(limit):
        total.amount *= 2
    return total.asked
