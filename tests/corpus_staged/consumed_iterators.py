"""Iterators of which only the graph knows how many items a loop, a builtin or an `in` has taken, and which go on."""

import copy
import functools
import itertools
import operator
import re

from tests.corpus_staged import calls

LISTS = ("[1, 2, 3, 4, 5], 2", "[1, 2, 3, 4, 5], 9", "[1, 2, 3, 4, 5], 0", "[], 1", "[5, 1], 3")
ITERATORS = ("iter([1, 2, 3, 4, 5]), 2", "iter([1, 2, 3, 4, 5]), 9", "iter([]), 2")


@calls(*LISTS)
def rest_after_a_break(xs, n):
    it = iter(xs)
    for v in it:
        if v > n:
            break
    return list(it)


@calls(*LISTS)
def two_loops_over_one_iterator(xs, n):
    it = iter(xs)
    a = b = 0
    for v in it:
        a += v
        if v > n:
            break
    for v in it:
        b += v
    return a, b


@calls(*LISTS)
def nested_loops_over_one_iterator(xs, n):
    it = iter(xs)
    out = []
    for v in it:
        for w in it:
            if w > n:
                break
        out.append(v)
    return out, list(it)


@calls(*LISTS)
def any_and_all_stop_early(xs, n):
    it = iter(xs)
    found = any(v > n for v in it), next(it, None), all(v != n for v in it)
    return found, list(it)


@calls(*LISTS)
def membership_stops_at_the_match(xs, n):
    it = iter(xs)
    return n in it, 4 in it, list(it)


@calls(*LISTS)
def enumerate_zip_and_reversed_go_on(xs, n):
    numbered, pairs, backwards = enumerate(xs, 1), zip(xs, xs[1:]), reversed(xs)
    for _, v in numbered:
        if v > n:
            break
    for a, b in pairs:
        if a + b > n:
            break
    for v in backwards:
        if v < n:
            break
    return list(numbered), list(pairs), list(backwards)


@calls(*LISTS)
def enumerate_of_an_iterator_with_a_name(xs, n):
    it = iter(xs)
    for i, v in enumerate(it):
        if i + v > n:
            break
    return list(it)


@calls(*LISTS)
def zip_of_one_iterator_twice(xs, n):
    it = iter(xs)
    for a, b in zip(it, it):
        if a + b > n:
            break
    return list(it)


@calls(*LISTS)
def map_and_filter_go_on(xs, n):
    doubled, large = map(lambda v: v * 2, xs), filter(lambda v: v > n, xs)
    for v in doubled:
        if v > n:
            break
    for v in large:
        if v > n + 1:
            break
    return list(doubled), list(large)


@calls(*LISTS)
def views_of_a_dict(xs, n):
    table = {x: x * 2 for x in xs}
    items, keys = iter(table.items()), iter(table)
    for _, v in items:
        if v > n:
            break
    for k in keys:
        if k > n:
            break
    return list(items), list(keys)


@calls("2", "40", "99", "-1")
def range_longer_than_what_is_unrolled(n):
    it = iter(range(100))
    for k in it:
        if k > n:
            break
    return sum(it)


@calls("2", "0", "11")
def characters_and_bytes(n):
    text, data = iter("hello world"), iter(b"abcdef")
    for k, _ in enumerate(text):
        if k >= n:
            break
    for c in data:
        if c > 97 + n:
            break
    return "".join(text), list(data)


@calls(*LISTS)
def counts_and_cycles(xs, n):
    numbers, colors = itertools.count(3), itertools.cycle([1, 2, 3])
    total = 0
    for k in numbers:
        if k > n:
            break
    for color in colors:
        total += color
        if total > n:
            break
    return next(numbers), next(colors), total


@calls(*LISTS)
def chains_slices_and_sums_so_far(xs, n):
    chained, so_far = itertools.chain(xs, [100]), itertools.accumulate(xs)
    first = list(itertools.islice(chained, 2))
    for v in chained:
        if v > n:
            break
    for v in so_far:
        if v > n:
            break
    return first, list(chained), list(so_far)


@calls(*LISTS)
def takewhile_and_dropwhile(xs, n):
    it = iter(xs)
    small = list(itertools.takewhile(lambda v: v < n, it))
    rest = itertools.dropwhile(lambda v: v < n, it)
    return small, next(rest, None), list(it)


@calls("3", "0", "20000")
def repeated_a_staged_number_of_times(n):
    x = 1
    for _ in itertools.repeat(None, n):
        x = x * 3 % 1001 + 1
    return x


@calls("3", "7")
def more_items_than_can_be_unrolled(n):
    x = n
    for i, k in enumerate(range(30_000)):
        x = (x * 3 + i - k) % 1001
    return x


@calls(*LISTS)
def helper_called_twice(xs, n):
    it = iter(xs)

    def following(items):
        for v in items:
            if v > n:
                return v
        return None

    return following(it), following(it), list(it)


class Holder:
    pass


@calls(*LISTS)
def in_an_attribute_a_list_and_a_closure(xs, n):
    holder, kept, captured = Holder(), [iter(xs)], iter(xs)
    holder.items = iter(xs)
    for v in holder.items:
        if v > n:
            break
    for v in kept[0]:
        if v > n:
            break

    def following():
        for v in captured:
            if v > n:
                return v
        return -1

    return list(holder.items), list(kept[0]), following(), following(), list(captured)


@calls(*LISTS)
def loop_with_else(xs, n):
    it = iter(xs)
    for v in it:
        if v > n:
            break
    else:
        v = None
    return v, next(it, "none"), list(it)


@calls(*LISTS)
def exhausted_before(xs, n):
    it = iter(xs)
    list(it)
    xs.append(9)
    for v in it:
        if v > n:
            break
    return list(it), xs


@calls(*LISTS)
def list_grows_afterwards(xs, n):
    it = iter(xs)
    for v in it:
        if v > n:
            break
    xs.append(77)
    return list(it), xs


@calls(*LISTS)
def list_grows_meanwhile(xs, n):
    for i, v in enumerate(xs):
        if v > n:
            break
        if i < 3:
            xs.append(v + 3)
    return xs


@calls(*LISTS)
def taken_from_in_a_branch(xs, n):
    it = iter([10, 20, 30, 40])
    if n > 1:
        a, *_ = next(it), next(it)
    else:
        a = 20 in it
    return a, list(it)


@calls(*LISTS)
def unpacked_in_a_branch(xs, n):
    it, out = iter([10, 20, 30, 40]), []
    if n > 2:
        a, b, *c = it
        out += [a, b]
    elif n > 1:
        out = [0, *it]
    return out, list(it)


@calls(*LISTS)
def generator_goes_on_in_a_branch(xs, n):
    def numbers():
        yield from (10, 20, 30)

    it, squares = numbers(), (v * v for v in [1, 2, 3])
    if n > 1:
        a, b, c = it
        out = [*squares]
    else:
        out = [a for a in squares if a > 1]
    return out, list(it), list(squares)


@calls(*LISTS)
def made_on_two_paths(xs, n):
    it = iter(xs) if n > 1 else iter([7, 8])
    for v in it:
        if v > n:
            break
    return list(it)


@calls(*LISTS)
def merged(xs, n):
    a, b = iter(xs), iter([2, 4, 6])
    out = []
    x, y = next(a, 100), next(b, 100)
    while x + y < 200:
        if x < y:
            out.append(x)
            x = next(a, 100)
        else:
            out.append(y)
            y = next(b, 100)
    return out, list(a), list(b)


@calls(*LISTS)
def tokens(xs, n):
    it = iter(["1", "+", "2", "(", "3", ")", "+"])
    out, depth = [], 0
    for token in it:
        if token == "(":
            out.append(next(it))
            next(it)
        elif token == "+":
            depth += n
    return out, depth


@calls(*LISTS)
def chunks(xs, n):
    it = iter(xs)
    out = []
    while True:
        chunk = tuple(itertools.islice(it, n + 1))
        if not chunk:
            break
        out.append(chunk)
    return out


@calls(*LISTS)
def consumers_of_the_rest(xs, n):
    its = [iter(xs) for _ in range(8)]
    for it in its:
        for v in it:
            if v > n:
                break
    a, b, c, d, e, f, g, h = its
    out = [0]
    out.extend(a)
    found = sum(b), max(c, default=None), sorted(d), tuple(e), set(f), dict(zip(g, g))
    return out, found, functools.reduce(operator.add, h, 0), [list(it) for it in its]


@calls(*LISTS)
def copied_and_asked_for_its_length(xs, n):
    it = iter([1, 2, 3])
    next(it)
    return operator.length_hint(it), list(copy.copy(it)), list(it), type(it).__name__, iter(it) is it, n


@calls(*LISTS)
def matches_of_a_pattern(xs, n):
    it = re.finditer(r"\d", "a1b2c3d4")
    for match in it:
        if int(match.group()) > n:
            break
    return [match.group() for match in it]


@calls(*LISTS)
def elements_are_computed_one_by_one(xs, n):
    def shown(v):
        print("computing", v)
        return v

    for i, v in enumerate(shown(x) for x in xs):
        print(i)
        if v > n:
            break
    it = iter(xs)
    for _, v in enumerate(v * 2 for v in it):
        if v > n:
            break
    return list(it)


@calls(*LISTS)
def ends_within_a_map(xs, n):
    it = iter(xs)
    return list(map(lambda a: a + next(it), [1, 2, 3])), list(it)


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n


@calls(*LISTS)
def iterators_of_the_users(xs, n):
    first, second, third = Countdown(5), Countdown(5), Countdown(9)
    return n in first, first.n, list(zip(xs, second)), second.n, list(itertools.islice(third, n)), third.n


@calls(*ITERATORS)
def given_by_the_caller(it, n):
    for v in it:
        if v > n:
            break
    return next(it, None)


@calls("iter([1, 2, 0, 4, 5]), 2", "iter([0]), 1", "iter([]), 1")
def given_by_the_caller_and_raises(it, n):
    total = 0
    try:
        for v in it:
            total += n // v
    except ZeroDivisionError:
        total = -1
    return total, list(it)


@calls(*ITERATORS)
def given_and_searched(it, n):
    return n in it, list(it)


@calls(*ITERATORS)
def returned_with_what_is_left(xs, n):
    it = enumerate(xs, 3)
    for _, v in it:
        if v > n:
            break
    return type(it), list(it), zip([1, 2], [3, n])
