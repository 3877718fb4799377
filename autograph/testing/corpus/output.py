"""`print`, f-strings, `assert`, `raise` and `try`."""

from autograph.testing.corpus import calls


@calls("3", "-1.5")
def printed(x):
    print("x is", x)
    return x + 1


@calls("3", "-3")
def printed_in_a_branch(x):
    if x > 0:
        print("positive", x)
    else:
        print("negative", -x)
    return x


@calls("3", "0")
def printed_in_a_loop(n):
    while n > 0:
        print(n, n * n, sep=": ")
        n -= 1
    print("done")


@calls("2")
def f_string(n):
    print(f"{n} squared is {n * n}")


@calls("2.5")
def f_string_with_format(x):
    print(f"[{x:8.3f}] {x!r}")


@calls("7")
def percent(n):
    print("%d apples" % n)


@calls("3", "-3")
def asserts(x):
    assert x > 0, "x must be positive"
    return x * 2


@calls("3", "-3")
def asserts_in_a_branch(x):
    if x < 10:
        assert x > 0
        x = x + 1
    return x


@calls("4.0", "-4.0")
def raises(x):
    if x < 0:
        raise ValueError("x is negative")
    return x ** 0.5


@calls("4", "-4")
def raises_with_the_value(x):
    if x < 0:
        raise ValueError(f"x is {x}")
    return x


@calls("np.array([1.0, 2.0])", "np.array([1.0, -2.0])")
def raises_in_a_loop(xs):
    total = 0.0
    for x in xs:
        if x < 0:
            raise ArithmeticError("a negative item")
        total += x
    return total


@calls("3", "-3")
def prints_before_it_raises(x):
    print("begin")
    if x < 0:
        raise KeyError("below")
    print("end")
    return x


@calls("3", "-3")
def caught(x):
    try:
        if x < 0:
            raise ValueError("below")
        y = x
    except ValueError:
        y = 0
    return y


@calls("3", "-3")
def finally_is_run(x):
    try:
        if x > 0:
            return x
        x = x - 1
    finally:
        print("left")
    return x
