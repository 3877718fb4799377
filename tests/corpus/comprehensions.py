"""Comprehensions: scopes, order, conditions, captured variables, failures half way."""

from tests.corpus import calls


@calls("[1, 2, 3]", "[]", "'ab'")
def all_four_kinds(xs):
    return [x * 2 for x in xs], {x for x in xs} == set(xs), {x: i for i, x in enumerate(xs)}, list(x for x in xs)


@calls("3", "0")
def nested_and_filtered(n):
    return [
        (i, j, k)
        for i in range(n) if i
        for j in range(i) if j < i if i + j < 5
        for k in "ab"
    ]


@calls("[[1, 2], [3], []]")
def nested_inside(xss):
    return [[x + len(xs) for x in xs if x != 2] for xs in xss], [x for x in [y for ys in xss for y in ys]]


@calls("[3, 1, 2]")
def order_of_evaluation(xs):
    def say(x, what):
        print(what, x)
        return x

    return {say(x, "key"): say(x + 1, "value") for x in say(xs, "iterable") if say(x, "if") > 1}


@calls("[1, 0, 2]", "[1]")
def fails_half_way(xs):
    done = []
    try:
        return [done.append(1 / x) or done[-1] for x in xs]
    except ZeroDivisionError:
        return "failed", done


@calls("[1, 2, 3]")
def lambdas_in_comprehension(xs):
    fs = [lambda: x for x in xs]
    gs = [lambda x=x: x for x in xs]
    x = "outer"
    return [f() for f in fs], [g() for g in gs], x


@calls("[1, 2, 3], 2", "[], 0")
def conditional_element(xs, n):
    return ["big" if x > n else "small" if x < n else "same" for x in xs], [x and y for x in xs for y in (0, n)]


@calls("5", "0")
def walrus_binds_outside(n):
    if any((hit := i) * i > 3 for i in range(n)):
        return "hit", hit
    return [last := i for i in range(n)], last


@calls("5")
def captures_and_updates(n):
    total = 0

    def add(x):
        nonlocal total
        total += x
        return total

    sums = [add(i) for i in range(n) if total < 4]
    return sums, total


@calls("3")
def in_loops_and_branches(n):
    out = []
    for i in range(n):
        if i:
            out += [j for j in range(i)]
            i = [i for i in out if i]
        else:
            out = [*(k for k in range(2))]
        out.append(i)
    return out, i


@calls("{'a': [1, 2], 'b': []}")
def over_dict(d):
    return {k: [v + 1 for v in vs] for k, vs in d.items() if vs}, {v: k for k in d for v in d[k]}


@calls("[(1, 2), (3, 4)]", "[(1, 2), (3,)]")
def unpacking_targets(pairs):
    return [a + b for a, b in pairs], {a: rest for a, *rest in pairs}, [x for (x, _) in pairs]


@calls("3")
def targets_that_are_no_names(n):
    box = [None]
    xs = [box[0] for box[0] in range(n)]
    return xs, box


@calls("[1, 2, 3]")
def first_iterable_is_evaluated_outside(xs):
    class Made:
        ys = xs
        zs = [y + 1 for y in ys]
        try:
            bad = [y for _ in ys for y in zs]
        except NameError as e:
            message = str(e)

    return Made.zs, Made.message


@calls("[1, 2, 3, 4]")
def consumed_once(xs):
    g = (x for x in xs if x % 2 == 0)
    out = [x for x in g], [x for x in g]
    it = iter(xs)
    return out, [(a, b) for a, b in zip(it, it)], 3 in (x for x in xs)


@calls("[5, 6]", "None")
def bad_iterable(xs):
    return [x for y in xs for x in y]


@calls("[1, 2, 3]")
def mutated_while_iterating(xs):
    return [xs.pop() for x in xs], xs


@calls("4")
def big_nesting(n):
    return [[[(i, j, k) for k in range(j)] for j in range(i) if j] for i in range(n) if i > 1]


@calls("[3, 4]", "[]")
def with_builtins(xs):
    return (
        sum(x * x for x in xs), any(x > 3 for x in xs), all(x > 3 for x in xs), sorted(-x for x in xs),
        max((x for x in xs), default="none"), ",".join(str(x) for x in xs), dict((x, -x) for x in xs),
        len([x for x in xs]), set(map(lambda x: x % 2, xs)), tuple(x for x in xs if (lambda: x)()),
    )


@calls("[3, 4, 6, 28]", "[]", "[2, 'a']", "['ab', 'c']")
def with_builtins_that_take_generators(xs):
    """The generators are gone before the next element."""
    divisors = [sum(d for d in range(1, x) if x % d == 0) == x for x in xs if any(x is not y for y in xs)]
    ordered = [sorted(xs, key=lambda y: abs(y - x))[0] - min(x * y for y in xs) for x in xs]
    return divisors, ordered, [" ".join(f"{x}{y}" for y in xs) for x in xs]


@calls("[3, 4, 6]")
def with_functions_that_keep_generators(xs):
    """All elements share one variable, of which these see the last value."""
    kept = []

    def sum(items, *rest):
        kept.append(items)
        return 0

    sums = [sum(x * y for y in xs) for x in xs]
    smallest = [min([9, 9], (x for _ in range(2)), key=lambda items: 0 if items is not xs else x) for x in xs]
    later = [iter(x + y for y in xs) for x in xs]
    return sums, [[*items] for items in kept], smallest, [[*items] for items in later]
