"""`print`, f-strings, formatting: what is shown, and when."""

import sys

import numpy as np  # noqa: F401

from tests.corpus_staged import calls


@calls("3", "2.5", "np.float32(0.1)", "True", "np.arange(3)", "[1, 2.0]")
def shows_values(x):
    print(x)
    print("x is", x, "and twice", x * 2)
    print(repr(x), str(x), [x], (x, 1), {"x": x})


@calls("3", "0")
def shows_progress(n):
    for i in range(n):
        print("step", i, end="; ")
    print()
    print("done", n, sep=": ", end=".\n")


@calls("np.array([1.0, 2.0])", "np.array([[1, 2], [3, 4]])", "np.array([])", "np.array(5)")
def shows_arrays(x):
    print(x)
    print(x.shape, x.dtype, len(x.shape))
    print(f"{x} has {x.size} elements, the sum is {x.sum()}")
    print(repr(x))


@calls("3.14159, 2", "-1, 5", "1e10, 0")
def formats(x, digits):
    return f"{x:.2f}|{x:>12}|{x!r:<10}|{x:+.{digits}e}|{x = }"


@calls("255", "-3", "0")
def formats_integers(n):
    return f"{n:d} {n:05d} {n:x} {n:#b} {n:,} {n:^9}", "%d %s %5.1f" % (n, n, n), "{0}-{0!r}-{1}".format(n, n + 1)


@calls("np.float64(0.5)", "np.int8(7)", "np.array(1.5)")
def formats_numpy(x):
    return f"{x} {x!r} {x:.3f}", "%.2f" % x, "{:>8}".format(x)


@calls("5", "-5")
def prints_in_branches(x):
    print("before")
    if x > 0:
        print("positive", x)
        y = 1
    else:
        print("not positive", x)
        y = -1
    print("after", y)
    return y


@calls("3", "0")
def prints_in_called_functions(n):
    def say(k):
        print("k =", k)
        return k > 1

    while n > 0 and say(n):
        n -= 1
    return say(n) or say(n - 1)


@calls("[3, 'a', None, 2.0]", "[]")
def prints_unpacked(xs):
    print(*xs)
    print(*xs, sep=", ")
    print(len(xs), *(type(x).__name__ for x in xs))


@calls("np.arange(3.0)", "np.array([])")
def prints_then_changes(x):
    print("before", x)
    x += 1
    print("after", x)
    y = x
    y *= 2
    print(x, y)


@calls("4", "1", "0")
def pyramid(n):
    for i in range(1, n + 1):
        print(" " * (n - i) + "*" * (2 * i - 1))


@calls("3", "0")
def multiplication_table(n):
    for i in range(1, n + 1):
        print("".join(f"{i * j:4d}" for j in range(1, n + 1)))
    return n


@calls("2")
def prints_to_a_file(n):
    print("to stdout", n, file=sys.stdout, flush=True)
    sys.stdout.write(f"written {n}\n")


@calls("2", "0")
def print_before_an_error(n):
    print("dividing by", n)
    print(1 / n)


@calls("[1, 2]")
def prints_in_comprehensions(xs):
    return [print(x, end=" ") or x for x in xs], {x: print(x) for x in xs}


@calls("1.0, np.nan", "np.inf, -0.0")
def special_floats(a, b):
    print(a, b, a + b, [a], -a)
    return str(a), repr(b), f"{a:.1f} {b:g}"


@calls("3", "np.int64(3)", "3.0")
def types_show(x):
    print(type(x), type(x + 1), [x, x / 2])


@calls("{'a': np.arange(2), 'b': [1.5]}")
def shows_structures(d):
    print(d)
    for k, v in sorted(d.items()):
        print(k, "->", v)
    return str(d["b"])
