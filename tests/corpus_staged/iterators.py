"""Iterators, and functions, that go on in branches and loops, or outlive the call they were made in."""

import contextlib
import functools
import itertools
import json

import numpy as np

from tests.corpus_staged import calls


@calls("np.arange(3)", "[1, 2]")
def generator_returned(x):
    def each():
        for v in x:
            yield v * 2

    return list(each()), next(each())


@calls("np.arange(3)", "2.5")
def iterator_kept(x):
    made = [iter([x, x + 1])]
    return next(made[0]), [*made[0]]


@calls("np.arange(3)", "2.5")
def partial_made(x):
    add = functools.partial(np.add, x, dtype=float)
    return add(1), (add if x is None else add.args[0])


@calls("np.arange(3)", "[2.5, 1]")
def chained(x):
    return list(itertools.chain(x, x[:1])), list(zip(x, itertools.count(1)))


@calls("10", "0", "1")
def primes_of_a_generator(count):
    def primes():
        n = 2
        while True:
            if all(n % p for p in range(2, n)):
                yield n
            n += 1

    generator = primes()
    return [next(generator) for _ in range(count)]


@calls("3", "0")
def averages_of_what_is_sent(n):
    def average():
        total, count, value = 0, 0, None
        while True:
            x = yield value
            total += x
            count += 1
            value = total / count

    generator = average()
    next(generator)
    return [generator.send(i) for i in range(n)]


@calls("3", "-1", "0")
def next_in_a_branch(n):
    items = iter([1, 2, 3])
    if n > 0:
        a = next(items)
    else:
        next(items)
        a = next(items)
    return a, list(items)


@calls("3", "-1", "0")
def zip_takes_from_an_iterator(n):
    items = iter([1, 2, 3, 4])
    total = 0
    while n > 0:
        for a, b in zip(items, [10, 20]):
            total += a * b
        n -= 1
    return total, list(items)


@calls("3", "-1", "0")
def fresh_iterators_in_a_loop(n):
    total = i = 0
    while i < n:
        for j, x in enumerate([1, 2, 3]):
            total += j * x + i
        for a, b in zip([1, 2], [3, 4]):
            total += a * b
        squares = (q * q for q in range(3))
        total += next(squares) + sum(squares)
        total += next(iter((1, 2)))
        i += 1
    return total


@calls("3", "0", "5")
def counter_in_a_loop(n):
    counter = itertools.count(1)
    total = 0
    for i in range(n):
        total += next(counter) * i
    return total, next(counter)


@calls("3", "0", "12")
def cycle_in_a_loop(n):
    letters = itertools.cycle("abc")
    found = []
    while n > 0:
        found.append(next(letters))
        n -= 1
    return found


@calls("3, [1, 2, 3]", "0, [1]")
def pairs_of_one_iterator(n, xs):
    items = iter(xs)
    return [a * n + b for a, b in zip(items, items)], list(items)


class Stack:
    def __init__(self):
        self.items = []

    def push(self, x):
        self.items.append(x)

    def __len__(self):
        return len(self.items)

    @property
    def top(self):
        return self.items[-1] if self.items else None


@calls("3", "2.5", "0")
def top_of_a_stack_that_grew(n):
    stack = Stack()
    while n > 0:
        stack.push(n)
        n -= 1
    return stack.top, len(stack)


@calls("3, [3, 1, 2]", "0, [1]", "-1, [2, 4]")
def keys_that_read_a_loops_variable(n, xs):
    i = 0
    while i < n:
        best = max(range(i, 3), key=lambda r: -r * i)  # noqa: B023
        i += best + 1
    return i, min(xs, key=lambda v: abs(v - n)), sorted(xs, key=lambda v: v % (n + 2)), max(xs, key=xs.count)


@calls("3, [3, 1, 2]", "0, [1]")
def key_of_a_comparison(n, xs):
    return sorted(xs, key=functools.cmp_to_key(lambda a, b: (b - a) * n))


@calls("3, [3, 1, 2]", "0, [1]")
def partial_functions(n, xs):
    return sorted(xs, key=functools.partial(lambda a, b: (b - a) * a, n)), list(map(functools.partial(pow, n), xs))


@calls("5", "0", "-1", "30", "1")
def cached_inner_function(n):
    @functools.lru_cache(maxsize=None)
    def fibonacci(k):
        return k if k < 2 else fibonacci(k - 1) + fibonacci(k - 2)

    return fibonacci(n)


@calls("3, [3, 1, 2]", "0, [1.5]")
def library_that_looks_at_values(n, xs):
    return json.dumps({"n": n, "xs": xs}, sort_keys=True), json.loads("[1, 2]"), json.dumps([1])


@calls("[[1, 2], [3, 4]]", "[[1.5]]", "[[1, 2, 3]]")
def transposed(rows):
    return [list(column) for column in zip(*rows)], [sum(column) for column in zip(*rows)]


def doubled(n):
    for i in range(n):
        yield i * 2


@calls("1", "-1")
def next_in_both_branches(x):
    items = iter([1, 2, 3])
    if x > 0:
        first = next(items)
    else:
        first = next(items) + 10
    return first, list(items)


@calls("1", "2")
def count_is_returned(x):
    counter = itertools.count(x)
    return next(counter), next(counter), counter


@calls("1", "2")
def views_and_iterators_are_returned(x):
    d = {"a": x}
    values = d.values()
    d["b"] = x + 1
    return list(values), d.items(), zip([1, 2], [x, x])


@calls("iter([1, 2]), 1", "iter([1, 2]), 2", "(i for i in range(3)), 3")
def iterates_over_an_argument(items, x):
    return [x + v for v in items]


@calls("1", "-1")
def generator_into_a_list_that_grew(x):
    items, out = doubled(4), []
    first = next(items)
    if x > 0:
        out.append(x)
    out.extend(items)
    out.extend(map(lambda v: v + x, [1, 2]))
    out += (v * x for v in [1, 2])
    out += zip([1], [x])
    out += {1: x}.values()
    return out, first


@calls("1", "2", "0")
def next_in_a_branch_of_a_loop(x):
    items = doubled(5)
    for i in range(3):
        if x > i:
            next(items)
    return next(items)


@calls("[1, 2, 3]", "(4,)", "np.arange(3)")
def next_of_an_argument(x):
    items = iter(x)
    return next(items), next(items, None), list(items)


@calls("1", "2")
def skips_in_a_loop_over_an_iterator(x):
    items, total = iter(range(20)), 0
    for i in items:
        total += i * x
        if i % 3 == 0:
            next(items)
    return total


@calls("1", "-1")
def lazy_map_and_enumerate(x):
    mapped = map(lambda v: v + x, [1, 2, 3])
    numbered = enumerate(["a", "b"])
    if x > 0:
        next(mapped)
        next(numbered)
    return list(mapped), list(numbered)


@calls("[1, 2, 3]", "np.array([3, 4, 1])")
def enumerate_pairs_reversed(x):
    total = 0
    for i, (a, b) in enumerate(zip(x, reversed(x))):
        if a > b:
            total += i
    return total + np.sum(x)



@calls("5", "0", "1")
def take_from_a_cycle(n):
    out = []
    for x in itertools.cycle([1, 2, 3]):
        if len(out) >= n:
            break
        out.append(x)
    return out


@calls("5", "0", "40")
def count_until(n):
    for i in itertools.count(1):
        if i * i > n:
            return i


@calls("5", "0", "40")
def generator_that_prints(n):
    def each():
        for i in range(4):
            print("give", i)
            yield i
        print("end")
    total = 0
    for x in each():
        if total > n:
            break
        total += x * n
        print("took", x)
    return total


@calls("5", "0", "40")
def enumerated(n):
    total = 0
    for i, (a, b) in enumerate(zip([1, 2, 3], reversed([n, 5, 6]))):
        if total > 10:
            break
        total += i * a * b
    return total


@calls("5", "0", "40")
def over_a_dict(n):
    for key, value in {"a": 1, "b": 2, "c": 50}.items():
        if value > n:
            return key
    return None


@contextlib.contextmanager
def doubled(x):
    print("enter", x)
    yield x * 2
    print("exit", x)


@calls("3", "1.5")
def manager_of_a_generator(n):
    with doubled(n) as m:
        print(m)
    return m


@calls("[1, 2], 1", "[3], 0")
def generator_left_before_its_end(xs, n):
    def produce():
        try:
            for x in xs:
                yield x * n
        finally:
            print("closed")

    for x in produce():
        break
    print("left")
    return x


@calls("np.array([0.5, 0.2, 0.8])", "np.array([2, 3, 1])", "[0.5, 0.2, 0.8]")
def greatest_of_views_and_iterators(x):
    named = {"a": x[0], "b": x[1]}
    counted = {i: v for i, v in enumerate(x)}
    left = iter([x[0], x[1], x[2]])
    return (max(named.values()), sorted(named.values()), min(named.values(), default=3), sum(named.values()),
            any(named.values()), all(counted.values()), max(named), max(named.items(), key=lambda pair: pair[1]),
            max(iter([x[0], x[1]])), min(map(abs, [x[0], x[1]])), sorted(reversed([x[0], x[1]])),
            max(left), list(left))  # fmt: skip


@calls("np.arange(3.0)", "[2, 0.5]", "np.arange(2)")
def a_generator_that_tests_goes_on_in_a_loop(xs):
    def changed():
        for x in xs:
            if x > 1:
                yield x
            else:
                yield -x

    left, total = changed(), 0.0
    for _ in range(2):
        total += next(left)
    return total


@calls("[1, 2, 3, 4], 2", "[1.5, 2], 3", "[3, 1, 2], 1")
def itertools_that_count(xs, n):
    parts = [list(itertools.islice(part, i, None, n)) for i, part in enumerate(itertools.tee(xs, n))]
    total = 0
    for i in range(n):
        for x in itertools.islice(xs, i, None):
            total += x
        xs = xs + list(itertools.repeat(i, i))
    return parts, total, xs, list(itertools.combinations(xs, n))
