"""Variables that are unbound on some path, read in all the ways there are: the error comes where they are read."""

import numpy as np

from tests.corpus_staged import calls


def second(first, second=0):
    return second


@calls("2, True", "-2, True", "-2, False")
def copied(x, use):
    if x > 0:
        y = x
    z = y
    if use:
        return z
    return x


@calls("2", "-2")
def copied_in_vain(x):
    print("before")
    if x > 0:
        y = x
    z = y  # noqa: F841
    print("after")
    return x


@calls("2", "-2")
def in_a_tuple(x):
    if x > 0:
        y = x * 0.5
    pair = x, y
    print("after")
    return pair


@calls("2, []", "-2, []", "-2, [1]")
def in_a_list(x, xs):
    if x > 0:
        y = x
    xs.append(x)
    xs.append(y)
    xs.append(x)
    return [y, *xs]


@calls("2", "-2")
def in_a_dict(x):
    if x > 0:
        key = "a"
    print("before")
    table = {"b": 1, key: x}
    return table["b"]


@calls("2, np.zeros(3)", "-2, np.zeros(3)")
def stored(x, a):
    if x > 0:
        y = x
    a[0] = 1
    a[1:] = y
    return a


@calls("2", "-2")
def argument(x):
    if x > 0:
        y = x
    return second(y, x)


@calls("2", "-2")
def arguments_in_order(x):
    if x > 0:
        y = x
    second(print("first"), y)
    second(y, print("second"))
    return x


@calls("2", "-2")
def returned(x):
    if x > 0:
        y = x

    print("before")
    return y


@calls("2", "-2", "-5")
def returned_early(x):
    if x > 0:
        y = x
    if x > -3:
        return x, y
    return x


@calls("2", "-2")
def formatted(x):
    if x > 0:
        y = x
    text = f"{x} {y}"
    return len(text)


@calls("2", "-2")
def called(x):
    if x > 0:
        f = second
    return f(x, print("argument") or 1)


@calls("2", "-2")
def indexed(x):
    if x > 0:
        a = np.array([x, 1])
    a[print("index") or 0] = 3
    return a[0]


@calls("2, 3", "-2, 3", "2, -3", "-2, -3")
def augmented(x, y):
    if x > 0:
        n = x
    if y > 0:
        m = y
    n += m
    return n


@calls("2", "-2")
def augmented_in_order(x):
    if x > 0:
        n = [x]
    n += [print("right") or 1]
    return n


@calls("2, 1", "-2, 1", "-2, -1", "2, -1")
def chosen(x, y):
    if x > 0:
        z = x
    return (z if y > 0 else y), y > 0 and z


@calls("[]", "[1.0, 2.0]", "np.zeros(0)", "np.arange(4)")
def loop_targets(xs):
    total = 0
    for x in xs:
        total += x
    last = x
    return total


@calls("0", "1", "3")
def bound_in_a_while_loop(n):
    while n > 0:
        last = n
        n -= 1
    pair = [last]
    return pair


@calls("np.array([1.0, 2.0, 4.0])", "np.array([1.0])", "np.array([])")
def the_turn_before(xs):
    out = []
    for i in range(len(xs)):
        if i > 0:
            out.append(before)  # noqa: F821
        before = xs[i]
    return out


@calls("np.array([1, 2])", "np.array([-1, 2])", "np.array([1, -2, -3])")
def the_turn_before_last(xs):
    for x in xs:
        if x > 0:
            y = x
        z = y
    return z


@calls("2", "-2")
def by_an_inner_function(x):
    if x > 0:
        y = x

    def get():
        return y

    return get()


@calls("2, 1", "-2, 1", "-2, 0")
def by_an_inner_function_that_may_be_called(x, n):
    if x > 0:
        y = x

    def get():
        z = y
        return x

    if n > 0:
        return get()
    return 0


@calls("2", "-2")
def by_an_inner_function_before_it_is_bound(x):
    def get():
        return y

    if x > 0:
        y = x
    found = [get()]
    y = 0
    return found, get()


@calls("2", "-2")
def captured_but_not_read(x):
    if x > 0:
        y = x
    return lambda: y


@calls("2", "-2")
def by_a_lambda(x):
    if x > 0:
        y = x
    return (lambda n: (n, y))(1)


@calls("2, 3", "-2, 3", "-2, 0")
def by_a_comprehension(x, n):
    if x > 0:
        y = x
    return [y for _ in range(n)], {i: y for i in range(n)}


@calls("2, 3", "-2, 3")
def by_the_source_of_a_comprehension(x, n):
    if x > 0:
        ys = range(n)
    return [y * x for y in ys]


@calls("2", "-2")
def by_a_generator_expression(x):
    if x > 0:
        y = x
    return tuple(y for _ in range(2))


@calls("2", "-2")
def deleted(x):
    y = x
    if x > 0:
        del y
    z = y
    return x


@calls("2", "-2")
def deleted_twice(x):
    y = x
    if x > 0:
        del y
    print("before")
    del y
    return x


@calls("2", "-2")
def deleted_by_an_inner_function(x):
    y = x

    def forget():
        nonlocal y
        del y

    if x > 0:
        forget()
    z = y
    return x


@calls("2", "-2")
def set_by_an_inner_function(x):
    def put():
        nonlocal y
        if x > 0:
            y = x
        return y

    if x is None:
        y = 0
    return [put()], y


@calls("2", "-2")
def bound_again(x):
    if x > 0:
        y = x
    else:
        print("else")
        y = 1
    z = y
    del y
    if x > 0:
        y = z
    return z


@calls("2, 3", "2, -3", "-2, 3")
def in_branches(x, n):
    if x > 0:
        y = x
    if n > 0:
        z = y
    else:
        z = n
    return x, z


@calls("2", "-2")
def two_names(x):
    if x > 0:
        a = x
    b = a
    c = b
    return c


@calls("2", "-2")
def walrus(x):
    found = x > 0 and (y := x)
    z = y
    return found


@calls("2", "-2")
def never_bound(x):
    if x > 0:
        z = y  # noqa: F821
        y = 1
    return x


@calls("2", "-2")
def caught(x):
    if x > 0:
        y = x
    try:
        z = y
    except Exception as error:
        z = str(error)
    return z


@calls("[3, 1]", "[]", "[0]")
def in_an_element_under_a_condition(xs):
    """Before Python 3.12, a comprehension is a scope of its own, to which `x` is free."""
    for _ in range(2):
        continue
        x = 0
    return len([0 + x for i in xs if i != 0])
