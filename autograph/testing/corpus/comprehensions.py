"""Comprehensions, and generator expressions in `sum`, `any`, `all`, `min` and `max`."""

from autograph.testing.corpus import calls


@calls("np.array([1.0, 2.0, 3.0])")
def list_over_an_array(xs):
    squares = [x * x for x in xs]
    return squares[0] + squares[-1]


@calls("2.0")
def list_over_a_range(x):
    return [x * i for i in range(4)]


@calls("1, 2, 3")
def list_over_a_tuple(a, b, c):
    return [item + 1 for item in (a, b, c)]


@calls("2.0", "-2.0")
def with_a_branch(x):
    return [x if i % 2 else -x for i in range(3)]


@calls("2.0", "-2.0")
def with_a_staged_branch(x):
    return [x + i if x > 0 else x - i for i in range(3)]


@calls("3.0")
def with_a_plain_condition(x):
    return [x * i for i in range(6) if i % 2 == 0]


@calls("np.array([1.0, -2.0, 3.0])")
def with_a_staged_condition(xs):
    return sum([x for x in xs if x > 0])


@calls("2.0")
def dict_of_names(x):
    return {name: x * i for i, name in enumerate(("a", "b", "c"))}


@calls("2.0")
def nested(x):
    return [[x * i + j for j in range(2)] for i in range(2)]


@calls("1.0, 2.0")
def two_loops(x, y):
    return [a * b for a in (x, y) for b in (x, y)]


@calls("np.array([1.0, 2.0, 3.0])")
def sum_of_a_generator(xs):
    return sum(x * x for x in xs)


@calls("np.array([1.0, -2.0, 3.0])")
def sum_with_a_condition(xs):
    return sum(x for x in xs if x > 0)


@calls("5", "0")
def sum_over_a_range(n):
    return sum(i * i for i in range(n))


@calls("np.array([1.0, -2.0])", "np.array([1.0, 2.0])")
def any_of_a_generator(xs):
    return any(x < 0 for x in xs)


@calls("np.array([1.0, -2.0])", "np.array([1.0, 2.0])")
def all_of_a_generator(xs):
    return all(x > 0 for x in xs)


@calls("np.array([3.0, -2.0, 1.0])")
def extremes_of_generators(xs):
    return min(x * x for x in xs), max(x - 1 for x in xs)


@calls("np.array([1.0, 2.0]), np.array([3.0, 5.0])")
def zipped(xs, ys):
    return sum(x * y for x, y in zip(xs, ys))


@calls("3.0, 1.0", "1.0, 3.0")
def extremes_of_numbers(x, y):
    return min(x, y), max(x, y, 2.0)
