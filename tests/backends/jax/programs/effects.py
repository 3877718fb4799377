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


@tries((7,), (3,), (-2,))
def raises_what_a_branch_computes(n):
    if n > 0:
        if n > 5:
            raise ValueError("large", n + 1)
        else:
            raise KeyError("small", n * 2)
    return n


@tries((1,), (-1,))
def raises_on_both_paths(n):
    if n > 0:
        raise ValueError(f"positive: {n + 1}")
    else:
        raise LookupError(n)


@tries((0,), (2,))
def raises_in_the_first_iteration(n):
    for i in range(n):
        raise IndexError(i)
    return n


@tries((0,), (1,), (2,))
def raises_in_the_first_iteration_of_while(n):
    i = 0
    while i < n:
        i = i + n
        if i > 3:
            raise ValueError("far", i)
        else:
            raise ValueError("near", i * 2)
    return i


@tries((2.0,), (-2.0,))
def prints_and_computes_before_it_raises(x):
    if x > 0:
        y = x * 3
        for i in range(30):
            y = y + i
        print("y", y)
        raise ArithmeticError("y", y)
    return x


@tries((1, 3), (5, 3), (1, 7), (1, 0))
def asserts_with_computed_messages(x, n):
    assert x < 3, f"x {x + n}"
    while n > 0:
        n -= 1
        assert n < 3, f"n {x * n}"
        if n == 1:
            return x
    raise LookupError(n + 1)


@tries((X,), ([-1.0, 2.0],))
def raises_in_a_loop_that_appends(x):
    out = []
    for e in x:
        if e < 0:
            raise ValueError(f"negative: {e * 2}")
        out.append(e)
    return out


@tries((1,), (2,), (3,))
def raises_in_each_case(n):
    match n:
        case 1:
            raise ValueError("one", n + 1)
        case 2:
            raise KeyError("two", n + 2)
        case _:
            raise IndexError("more", n + 3)


@tries((1,), (-1,))
def raises_in_an_operand(n):
    def fail(value):
        raise ValueError("operand", value)

    return n > 0 or fail(n + 1)


@tries((1,), (-1,), or_error=True)
def finally_after_raise(n):
    try:
        if n > 0:
            raise ValueError("positive")
    finally:
        print("finally")
    return n


class Limit(Exception):
    """Has another constructor than arguments, and an attribute."""

    def __init__(self, *, over):
        super().__init__(f"over by {over}")
        self.over = over


@tries((1,), (9,))
def raises_with_an_attribute(n):
    if n > 5:
        raise Limit(over=n - 5)
    return n


@tries((3,))
def raises_always(n):
    print("n", n)
    raise ValueError(n + 1)


@tries((1.0, 3), (-1.0, 3), (-1.0, 0))
def assertion_known_in_a_loop(x, n):
    limit = 0.5
    for _ in range(n):
        if x > 0:
            x = x + 1
        else:
            assert limit > 1, "small"
    return x


@tries((1,), (-1,))
def raises_something_else_before(n):
    print("n", n)
    if n > 0:
        raise ValueError("positive")
    raise KeyError("always")


@tries((1,))
def raises_with_the_words_of_jax(n):
    raise ValueError("this only supports numbers, and is not supported: Attempted boolean conversion")


@tries((1,), (-1,))
def raises_with_them_in_a_branch(n):
    if n > 0:
        raise TypeError("unhashable type: 'Text'")
    return n
