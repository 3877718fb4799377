"""Branches and loops: jumps, scopes, what is bound where, comprehensions, `match`, expressions."""

import jax.numpy as jnp

from tests.backends.jax.programs import tries

X, Y = [1.0, -2.0, 3.0, 0.5], [4.0, 5.0, -6.0, 7.0]


@tries((1,), (-1,), (0,))
def three_ways(n):
    if n > 0:
        return 1
    elif n < 0:
        return -1
    return 0


@tries((True,), (False,))
def bound_on_one_path_and_read(b):
    if b:
        t = 1.0
    return t


@tries((3,), (0,))
def loop_variable_after_loop(n):
    for i in range(n):
        pass
    return i


@tries((X, 0.0), (X, 10.0))
def variable_bound_in_loop(x, limit):
    for e in x:
        if e > limit:
            found = e
    return found


@tries((X, 2.0), (X, 100.0))
def loop_else(x, limit):
    for i, e in enumerate(x):
        if e > limit:
            break
    else:
        i = -1
    return i, e


@tries((10,), (1,))
def while_else(n):
    steps = 0
    while n > 1:
        n = n // 2
        steps += 1
        if steps > 2:
            break
    else:
        steps = -steps
    return n, steps


@tries((5, 2), (5, 9), (0, 0))
def nested_breaks(n, stop):
    total = 0
    for i in range(n):
        for j in range(n):
            if i * j > stop:
                break
            total += 1
        if total > 12:
            break
    return total, i if n > 0 else -1


@tries((6,), (0,))
def continue_in_while(n):
    total = 0
    while n > 0:
        n -= 1
        if n % 2:
            continue
        total += n
    return total


@tries((X, 1.0), (X, 5.0))
def return_from_inner_loop(x, limit):
    for i in range(4):
        for j in range(4):
            if x[i] + x[j] > limit:
                return i, j
    return -1, -1


@tries((7,), (1,))
def while_true(n):
    steps = 0
    while True:
        if n == 1:
            break
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


@tries((2.25, 0.5), (2.25, 2.0), (0.0, 0.0))
def tests_what_the_body_sets(a, b):
    count = 3
    while (a > 1 or b > 1) and count > 0:
        count -= 1
        a = -2.0
    return a, count


@tries((2.25, 0.5), (0.5, 2.25), (0.0, 0.0))
def tests_an_item_that_the_body_sets(a, b):
    items, is_first = [a, b], True
    while items[0] > 1 and is_first or items[1] > 1:
        items[0] += items[1]
        items[1] = -1.0
        is_first = False
    return items, is_first


@tries((4,), (0,), (-2,))
def range_of_data(n):
    total, last = 0, -1
    for i in range(n):
        total += i
        last = i
    return total, last


@tries((0, 10, 3), (10, 0, -3), (5, 5, 1), (0, 3, -1))
def range_of_three_data(a, b, c):
    total, times = 0, 0
    for i in range(a, b, c):
        total += i * i
        times += 1
    return total, times


@tries((X, Y))
def wrapped_iterables(x, y):
    total = 0.0
    for i, (a, b) in enumerate(zip(x, y[1:]), start=2):
        total += i * a * b
    for e in reversed(x):
        total = total * 0.5 + e
    for e in reversed([1.0, 2.0]):
        total = total * 0.5 + e
    for a, b, c in zip(range(2, 9), x, (10.0, 20.0)):
        total += a * b * c
    return total


@tries((X, Y))
def arrays_of_different_shapes(x, y):
    total = 0.0
    for part in (x, y[:2], x.reshape(2, 2)):
        total += part.sum() * part.ndim
    for a, b in [(x, y), (y, x)]:
        if a[0] > b[0]:
            total += a[1]
    return total


@tries((X,))
def loop_over_nothing(x):
    total = 1.0
    for e in x[:0]:
        total += e
    for e in []:
        total += e
    return total


@tries((1, 2.0), (2, 2.0), (7, 2.0))
def matched(n, x):
    match n:
        case 0:
            return x
        case 1 | 2 if x > 1:
            return x * n
        case k:
            return x + k


@tries((0.5,), (1.5,), (3.0,))
def nested_conditional_expressions(x):
    return (1.0 if x < 1 else 2.0 if x < 2 else 3.0) * (x if x > 1 else -x)


@tries((0.5, 0), (1.5, 2))
def values_of_and_or(x, n):
    a = n or 5
    b = n and 7
    c = x > 1 and x
    return a, b, (x > 1 or n > 0) and not n == 2, c if x > 1 else 0.0


@tries((1, 2, 3), (3, 2, 1), (2, 2, 2))
def chained_comparisons(a, b, c):
    return a < b < c, a <= b <= c != 1, (a < b) == (b < c), not a < b < c


@tries((X, 1.0), (X, 10.0))
def comprehensions(x, limit):
    squares = [e * e for e in x]
    nested = [[a * b for b in x[:2]] for a in x[:2]]
    table = {i: e + limit for i, e in enumerate(x)}
    return squares, nested, table, sum((e for e in x if e > limit), 0.0), max(e if e < limit else -e for e in x)


@tries((X, 1.0), (X, 10.0), (X, -5.0))
def any_and_all(x, limit):
    return any(e > limit for e in x), all(e > limit for e in x), any([e < 0 for e in x]), all(e != limit for e in x)


@tries((X, 1.0), or_error=True)
def filtered_list(x, limit):
    return len([e for e in x if e > limit])


@tries((X,))
def builtins(x):
    a, b = x[0], x[1]
    return max(a, b), min(a, b, 0.0), abs(b), sum(x), max(x), min(x), sum([a, b], 1.0), pow(a, 2), divmod(b, 2.0)


@tries((2.7,), (-2.7,), or_error=True)
def conversions(x):
    return int(x), float(x), bool(x), round(x), round(x, 1)


@tries((X,))
def appended(x):
    out, total = [], 0.0
    for e in x:
        total += e
        out.append(total)
    return out, len(out), out[-1], out[1:3]


@tries((X, 2), (X, 0), (X, 4), or_error=True)
def appended_while_data_say_so(x, n):
    out = []
    for i in range(n):
        out.append(x[i])
    return len(out), sum(out)


@tries((X, 0.0), (X, 10.0), or_error=True)
def appended_in_branch(x, limit):
    out = []
    for e in x:
        if e > limit:
            out.append(e)
    return len(out), sum(out)


@tries((X, 1), (X, 3), (X, -1))
def list_by_data(x, i):
    xs = [10.0, 20.0, 30.0, x[0]]
    y = xs[i]
    xs[i] = 5.0
    return y, xs


@tries((X,))
def dict_state(x):
    seen = {"n": 0, "sum": 0.0}
    for e in x:
        if e > 0:
            seen["n"] += 1
            seen["sum"] = seen["sum"] + e
    return seen


@tries((X, True), (X, False))
def keys_bound_in_branch(x, b):
    d = {"a": 1.0}
    if b:
        d["b"] = x[0]
    else:
        d["b"] = x[1]
    d["a"] += d.get("c", 2.0)
    return d


@tries((3,), (0,))
def function_defined_in_loop(n):
    total = 0
    for i in range(n):
        def f(k):
            return k * i

        total += f(2)
    return total


@tries((X, 2), (X, 0))
def deleted_variable(x, n):
    for i in range(n):
        t = x[i]
        del t
    return x.sum()


@tries((3, 2.0), (0, 2.0))
def none_until_set(n, x):
    best = None
    for i in range(n):
        y = x - i
        if best is None or y > best:
            best = y
    return 0.0 if best is None else best


@tries((5,), (2,))
def mutual_state(n):
    a, b, c = 1, 0, True
    while n > 0:
        a, b = b + 1, a
        c = not c
        n -= 1
    return a, b, c


@tries((2,), (9,))
def try_finally(n):
    log = 0
    try:
        if n > 5:
            return n, log
        log += 1
    finally:
        log += 10
    return n, log


@tries((X,))
def with_statement(x):
    from contextlib import nullcontext

    with nullcontext(2.0) as by:
        for e in x:
            if e > 0:
                by = by + e
    return by


@tries((2,), (8,))
def lambda_with_branch(n):
    f = lambda k: k if k > 5 else f(k + 1)  # noqa: E731
    return (lambda a: a * 2 if a > 4 else -a)(n)


@tries((X,))
def generator_function(x):
    def pairs():
        for i in range(3):
            yield x[i], x[i + 1]

    total = 0.0
    for a, b in pairs():
        total += a if a > b else b
    return total


@tries((X,))
def star_arguments(x):
    def f(*args, scale=1.0, **rest):
        total = 0.0
        for a in args:
            total += a if a > 0 else -a
        return total * scale + rest["more"]

    return f(*x, more=x[0]), f(*[x[0], x[1]], scale=2.0, more=1.0)


@tries((100,), (3,))
def long_static_loop(n):
    total = 0
    for i in range(100):
        if i < n:
            total += i
    return total


@tries((X,))
def while_over_list(x):
    xs = [1.0, 2.0, 3.0]
    total = 0.0
    while xs:
        total = total + xs.pop() * x[0]
    return total


@tries((3,), (5,))
def shapes_are_python(n):
    x = jnp.ones((2, 3))
    total = 0
    for i in range(x.shape[0]):
        if x.ndim == 2 and len(x) == 2:
            total += n * i + x.size
    return total


@tries((0.5,), (2.0,))
def condition_of_one_element(x):
    v = jnp.array([x])
    if v > 1:
        return 1
    return 0


@tries((0,), (1,))
def reads_a_variable_that_nothing_needs(n):
    if n:
        t = n
    copy = t
    return 5


@tries((0, True), (1, True), (1, False))
def reads_before_it_asserts(n, b):
    if n:
        t = n
    copy = t
    assert b, "no"
    return copy


@tries((0,), (1,))
def a_closure_reads_a_variable(n):
    if n:
        t = n

    def inner():
        copy = t
        return 3

    return inner()
