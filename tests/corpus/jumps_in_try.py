"""Jumps through `try`, `finally` and `with`."""

from tests.corpus import calls


@calls("[0, 1, 2]", "[5]", "[]")
def return_in_with(xs):
    class Log:
        def __enter__(self):
            print("enter")
            return self

        def __exit__(self, *exc):
            print("exit", exc[0])

    for x in xs:
        with Log() as log:
            if x == 1:
                return x, type(log).__name__
            if x == 5:
                break
            print("body", x)
    else:
        return "else"
    return "broke"


@calls("[0, 1, 2]", "[5, 6]", "[]")
def continue_in_try_finally(xs):
    out = []
    for x in xs:
        try:
            if x == 0:
                continue
            if x == 6:
                break
            out.append(x)
        finally:
            out.append(("finally", x))
        out.append("after")
    return out


@calls("2", "5", "0")
def return_in_try_finally_in_loop(n):
    out = []

    def run():
        for i in range(n):
            try:
                if i == 3:
                    return i
                out.append(i)
            finally:
                out.append("finally")
        else:
            return "else"

    return run(), out


@calls("True", "False")
def finally_overrides_return(flag):
    for i in range(2):
        try:
            if flag:
                return "try"
        finally:
            if i == 1:
                return "finally"
    return "end"


@calls("3")
def finally_swallows_by_break(n):
    out = []
    for i in range(n):
        try:
            out.append(10 // (i - 1))
        except ZeroDivisionError:
            raise KeyError(i)
        finally:
            if i == 1:
                break
    return out, i


@calls("3")
def finally_swallows_by_continue(n):
    out = []
    for i in range(n):
        try:
            out.append(10 // i)
        finally:
            continue
    return out


@calls("0", "1", "2", "3")
def jumps_in_except(n):
    for i in range(5):
        try:
            if i == n:
                raise ValueError(i)
        except ValueError:
            if n == 0:
                continue
            elif n == 1:
                break
            elif n == 2:
                return "returned"
        else:
            print("no error", i)
    return i


@calls("[1, 2]", "['x', 1]")
def try_else_after_jump(xs):
    for x in xs:
        try:
            if x == 1:
                continue
            y = x + 1
        except TypeError:
            print("type error")
        else:
            print("else", y)
    return "end"
