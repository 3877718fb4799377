"""`if`, `elif`, `else`, early `return` and conditional expressions."""

from autograph.testing.corpus import calls


@calls("3", "-2", "0", "2.5")
def sign(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    else:
        return 0


@calls("3.0", "-3.0")
def without_else(x):
    if x < 0:
        x = -x
    return x


@calls("4, 7", "7, 4")
def ordered(a, b):
    if a > b:
        a, b = b, a
    return a, b


@calls("1", "5", "12")
def nested(x):
    if x > 3:
        if x > 10:
            size = 3
        else:
            size = 2
    else:
        size = 1
    return size * 10


@calls("0", "1", "2", "3")
def chain(n):
    if n == 0:
        factor = 2
    elif n == 1:
        factor = 3
    elif n == 2:
        factor = 5
    else:
        factor = 7
    return factor * n


@calls("1.5", "-1.5")
def integer_or_float(x):
    if x > 0:
        y = 1
    else:
        y = 0.5
    return y * x


@calls("2", "-2")
def empty_branch(x):
    y = x
    if x > 0:
        pass
    else:
        y = 0
    return x, y


@calls("50.0", "120.0", "-1.0")
def early_return(x):
    if x > 100:
        return 100.0
    if x < 0:
        return 0.0
    x = x / 2
    return x


@calls("1, 1", "1, -1", "-1, 1", "-1, -1")
def return_from_within(a, b):
    if a > 0:
        if b > 0:
            return 1
        a = a + 10
    else:
        b = b + 20
    return a + b


@calls("3", "-3")
def both_branches_change_several(x):
    low, high = 0, 0
    if x > 0:
        high = x
        low = -x
    else:
        low = x
    return low, high


@calls("2.0, 3.0", "-2.0, 3.0")
def conditional_expression(x, y):
    return x * y if x > 0 else y - x


@calls("5", "50", "500")
def nested_conditional_expression(x):
    return 1 if x < 10 else 2 if x < 100 else 3


@calls("4.0", "0.0")
def guarded_division(x):
    return 1.0 / x if x != 0 else 0.0


@calls("np.array([1.0, -2.0, 3.0])", "np.array([-1.0, -2.0, -3.0])")
def by_an_element(xs):
    if xs[0] > 0:
        return xs * 2
    return xs - 1


@calls("np.array([3.0, 1.0, 2.0])", "np.array([-3.0, 1.0, 1.0])")
def by_a_sum(xs):
    total = xs.sum()
    if total > 0:
        xs = xs / total
    return xs
