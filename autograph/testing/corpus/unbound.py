"""Variables that only some paths bind."""

from autograph.testing.corpus import calls


@calls("3", "-3")
def on_one_path(x):
    if x > 0:
        y = x
    return y


@calls("3", "-3")
def read_on_the_same_condition(x):
    if x > 0:
        y = x * 2
    if x > 0:
        return y
    return x


@calls("3", "-3")
def bound_but_unused(x):
    if x > 0:
        y = x * 2
        x = y + 1
    return x


@calls("3", "0")
def target_of_a_loop(n):
    for i in range(n):
        pass
    return i


@calls("3", "0")
def bound_in_a_loop(n):
    while n > 0:
        last = n
        n -= 1
    return last


@calls("3", "-3")
def deleted(x):
    y = x
    if x < 0:
        del y
    return y
