"""What a program prints and raises, in which order."""

from tests.backends.jax.programs import tries

X = [1.0, -2.0, 3.0]


@tries((2,), (0,))
def prints(n):
    print("begin", n)
    for i in range(n):
        print("i is", i, sep=": ")
    if n > 1:
        print("many", end=";")
    else:
        print("few")
    print()
    return n


@tries((X,))
def prints_arrays(x):
    for e in x:
        print(e)
        x[0] = e
        print(x)
    return x.sum()


@tries((5,))
def prints_in_while(n):
    while n > 0:
        print(f"n = {n}")
        n = n - 2
    print(f"end {n:>5}")
    return n


@tries((1.5,), (0.5,))
def only_what_is_evaluated_prints(x):
    def show(text, value):
        print(text)
        return value

    if show("a", x > 1) and show("b", x > 0):
        print("both")
    if show("c", x > 1) or show("d", x > 0):
        print("one")
    y = show("then", 1.0) if x > 1 else show("else", 2.0)
    return y


@tries((3,))
def prints_in_callee(n):
    def count(k):
        for i in range(k):
            print(k, i)
        return k

    return count(n) + count(n - 1)


@tries((1,), (5,))
def raises_in_branch(n):
    if n > 3:
        raise ValueError(f"too large: {n}")
    return n * 2


@tries((X, 1.0), (X, 5.0))
def raises_in_loop(x, limit):
    total = 0.0
    for i, e in enumerate(x):
        if e > limit:
            raise KeyError("large")
        total += e
    return total


@tries((1,), (5,))
def asserts(n):
    assert n < 3, "n is too large"
    assert n > 0
    return n


@tries((1,), (5,))
def asserts_in_callee(n):
    def check(k):
        assert k < 3, f"k is {k}"
        return k

    return check(n) + check(n - 1)


@tries((1,), (5,), or_error=True)
def caught(n):
    def check(k):
        if k > 3:
            raise ValueError("large")
        return k

    try:
        return check(n)
    except ValueError:
        return -1


@tries((1,), (5,), (50,))
def raises_one_of_two(n):
    while n > 3:
        if n > 20:
            raise OverflowError("far too large")
        if n % 2:
            raise ValueError("odd")
        n = n // 2
    return n


@tries((2,), (0,))
def prints_then_raises(n):
    print("before")
    if n == 0:
        raise ZeroDivisionError("by zero")
    print("after")
    return 1 // n


@tries((3, True), (3, False))
def unreachable_raise_after_loop(n, b):
    for i in range(n):
        if i == 2:
            return i
    raise RuntimeError("nothing found")


@tries((1, 4), (9, 4))
def not_implemented_arm(n, k):
    if n < 5:
        return n + k
    else:
        raise NotImplementedError
