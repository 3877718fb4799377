"""`for` over ranges, arrays, `enumerate`, `zip` and `reversed`."""

from autograph.testing.corpus import calls


@calls("5", "0")
def over_a_range(n):
    total = 0
    for i in range(n):
        total += i * i
    return total


@calls("2, 11", "5, 5")
def range_with_a_step(begin, end):
    total = 0
    for i in range(begin, end, 3):
        total += i
    return total


@calls("5", "1")
def range_backwards(n):
    digits = 0
    for i in range(n, 0, -1):
        digits = digits * 10 + i
    return digits


@calls("2.0", "0.5")
def range_of_constant_length(x):
    power = 1.0
    for _ in range(6):
        power *= x
    return power


@calls("1.01", "0.9")
def long_range(x):
    total = 0.0
    for i in range(100):
        total = total * x + i
    return total


@calls("np.array([1.0, 2.0, 4.0])", "np.array([-1.0])")
def over_an_array(xs):
    total = 0
    for x in xs:
        total += x * x
    return total


@calls("np.arange(6.0).reshape(2, 3)")
def over_rows(m):
    total = m[0] * 0
    for row in m:
        total = total + row
    return total


@calls("np.array([1.0, -2.0, 4.0])")
def branches_inside(xs):
    positive = 0.0
    negative = 0.0
    for x in xs:
        if x > 0:
            positive += x
        else:
            negative += x
    return positive, negative


@calls("np.array([3.0, 9.0, 4.0])", "np.array([5.0, 1.0, 4.0])")
def enumerated(xs):
    best = 0
    for i, x in enumerate(xs):
        if x > xs[best]:
            best = i
    return best


@calls("np.array([1.0, 2.0]), np.array([3.0, 4.0])")
def zipped(xs, ys):
    total = 0.0
    for x, y in zip(xs, ys):
        total += x * y
    return total


@calls("np.array([1.0, 2.0, 3.0]), np.array([3.0, 4.0])")
def zipped_and_enumerated(xs, ys):
    total = 0.0
    for i, (x, y) in enumerate(zip(xs, ys), start=1):
        total += i * (x - y)
    return total


@calls("np.array([1, 2, 3])")
def over_a_reversed_array(xs):
    number = 0
    for x in reversed(xs):
        number = number * 10 + x
    return number


@calls("4")
def over_a_reversed_range(n):
    number = 0
    for i in reversed(range(n)):
        number = number * 10 + i
    return number


@calls("np.arange(6.0).reshape(2, 3)")
def nested(m):
    total = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            total += m[i, j] * (i + j)
    return total


@calls("2.0", "-1.0")
def over_a_tuple(x):
    value = 0.0
    for coefficient in (1.0, -2.0, 3.0):
        value = value * x + coefficient
    return value


@calls("2.0, 3.0")
def over_a_tuple_of_arguments(a, b):
    product = 1
    for factor in (a, b, a + b):
        product *= factor
    return product


@calls("np.array([4.0, 5.0, 6.0])")
def target_lives_on(xs):
    for i, x in enumerate(xs):
        pass
    return i, x


@calls("np.array([1.0, 5.0, 2.0])")
def by_index(xs):
    total = 0.0
    for i in range(1, len(xs)):
        total += abs(xs[i] - xs[i - 1])
    return total


@calls("5", "2")
def triangle(n):
    total = 0
    for i in range(n):
        for j in range(i):
            total += j
    return total
