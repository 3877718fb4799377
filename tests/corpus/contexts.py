"""`with`: targets, what is swallowed, what is left bound."""

import contextlib

from tests.corpus import calls


class Swallow:
    """A context manager that swallows what it is told to."""

    def __init__(self, *kinds):
        self.kinds = kinds

    def __enter__(self):
        print("enter")
        return self.kinds

    def __exit__(self, kind, value, traceback):
        print("exit", kind and kind.__name__, value)
        return kind is not None and issubclass(kind, self.kinds)


@calls("ZeroDivisionError", "KeyError", "Exception")
def swallowing_with(kind):
    x = "before"
    with Swallow(kind) as kinds:
        x = "inside"
        x = 1 / 0
    return x, kinds


@calls("0", "1", "2")
def bound_in_swallowing_with(n):
    with Swallow(ZeroDivisionError):
        if n:
            x = 2 // (n - 1)
        y = x
    return y


@calls("3", "1")
def loop_in_swallowing_with(n):
    out = []
    with Swallow(ZeroDivisionError):
        for i in range(n):
            out.append(2 // (2 - i))
    return out, i


@calls("3", "0")
def with_in_loop(n):
    out = []
    for i in range(n):
        with Swallow(ValueError), contextlib.suppress(KeyError) as s:
            if i == 0:
                raise KeyError
            if i == 1:
                raise ValueError("one")
            out.append(i)
        out.append("after")
    return out


@calls("0", "1", "2")
def with_several_and_targets(n):
    class Pair:
        def __enter__(self):
            return 1, [2, 3]

        def __exit__(self, *exc):
            print("exit", exc[0] is not None)

    with (Pair() as (a, (b, c)), Pair() as (d, [e, *f])):
        if n == 1:
            return a, b, c
        while n:
            raise IndexError(n)
    return d, e, f


@calls("0", "1")
def enter_fails(n):
    class Fails:
        def __enter__(self):
            if n:
                raise OSError("enter")

        def __exit__(self, *exc):
            raise LookupError("exit") from exc[1]

    with Fails():
        print("inside")
        raise KeyError("body")


@contextlib.contextmanager
def _tag(name):
    print(f"<{name}>")
    try:
        yield name
    except LookupError as e:
        print("caught", repr(e))
    finally:
        print(f"</{name}>")


@calls("[1, 2]", "[1, 'x', 2]", "[1, None, 2]")
def generator_context_manager(xs):
    with _tag("a") as a:
        for x in xs:
            with _tag(x):
                if x == "x":
                    raise KeyError(x)
                if x is None:
                    raise TypeError(x)
                print(a, x)
    return a


@calls("3", "0")
def exit_stack(n):
    out = []
    with contextlib.ExitStack() as stack:
        for i in range(n):
            stack.callback(out.append, i)
            if i == 1:
                stack.callback(lambda: out.append(("last i", i)))
    return out
